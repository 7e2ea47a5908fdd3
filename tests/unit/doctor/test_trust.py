"""Hooks that a client skips in silence until somebody trusts them, or the folder they are in."""

import pytest

from hookline import registry
from hookline.dialects.codex.doctor import hook_hash
from hookline.model.findings import Severity
from hookline.model.native import NativeEntry
from support.doctors import Ward

HOOK = {"type": "command", "command": "true"}


def codex(**groups: dict[str, object]) -> dict[str, object]:
    return {"hooks": {event: [{"hooks": [HOOK]} | more] for event, more in groups.items()}}


# ── Codex ──


def test_the_hash_is_the_one_that_codex_computes() -> None:
    """From hooks/list of a real client: no matcher on prompts, 600 seconds by default."""
    command = "'/Applications/GWT.app/Contents/MacOS/gwtd' hook event PostToolUse"
    entry = NativeEntry(event="PostToolUse", matcher="*", command=command)
    expected = "sha256:9c3ce103f03f0b27a28bc4a30883f7e98a80b5df566b4572fcbb2955ebf5ba62"
    assert hook_hash(entry) == expected
    command = (
        'gwt_bin="${GWT_BIN_PATH:-/Applications/GWT.app/Contents/MacOS/gwtd}"; '
        '"$gwt_bin" hook event UserPromptSubmit'
    )
    entry = NativeEntry(event="UserPromptSubmit", matcher="*", command=command)
    expected = "sha256:1a86ba6796c5b5bf1601fd1af1d6094846287ec85e9f1ad4d39335c6b306e2fa"
    assert hook_hash(entry) == expected


def test_where_the_hash_is_not_known_for_sure_none_is_given() -> None:
    assert hook_hash(NativeEntry(event="SessionEnd", command="true")) is None
    assert hook_hash(NativeEntry(event="Stop", type="mcp_tool")) is None
    limit = {"additionalContextLimit": 5}
    assert hook_hash(NativeEntry(event="Stop", command="true", options=limit)) is None


def trusted(ward: Ward, file: str, *events: str, path: str = "") -> None:
    """Have Codex trust the hooks in a file, as they are now."""
    place = ward.at(file)
    read = registry.native_files()["codex"].read(str(place), place.read_bytes())
    rows = [
        f'[hooks.state."{str(entry.options["key"]).replace(str(place), path or str(place))}"]\n'
        f'trusted_hash = "{hook_hash(entry)}"\n'
        for entry in read.entries
        if entry.event in events
    ]
    known = f'[projects."{ward.project}"]\ntrust_level = "trusted"\n'
    ward.write("~/.codex/config.toml", known + "".join(rows))


def test_codex_hooks_that_nobody_trusted_are_told_with_their_lines(ward: Ward) -> None:
    file = ward.write("~/.codex/hooks.json", codex(Stop={}, PreToolUse={"matcher": "Bash"}))
    found = ward.one("hook-not-trusted")
    assert (found.dialect, found.severity) == ("codex", Severity.ERROR)
    assert found.where == f"{file}:6"
    assert "Stop on line 6, PreToolUse on line 16" in found.what
    assert "/hooks" in found.fix
    trusted(ward, "~/.codex/hooks.json", "Stop")
    assert "PreToolUse on line 16" in ward.one("hook-not-trusted").what
    trusted(ward, "~/.codex/hooks.json", "Stop", "PreToolUse")
    assert not ward.errors()


def test_a_codex_hook_that_changed_since_it_was_trusted_is_told(ward: Ward) -> None:
    file = ward.write("~/.codex/hooks.json", codex(Stop={}))
    trusted(ward, "~/.codex/hooks.json", "Stop")
    assert not ward.errors()
    file.write_text(file.read_text().replace('"true"', '"true 1"'))
    found = ward.one("hook-changed")
    assert (found.severity, found.where) == (Severity.ERROR, f"{file}:6")
    assert "changed since they were trusted" in found.what


def test_trust_that_codex_wrote_under_the_real_path_counts(ward: Ward) -> None:
    real = ward.home / "dotfiles"
    real.mkdir()
    (ward.home / ".codex").symlink_to(real)
    ward.write("~/.codex/hooks.json", codex(Stop={}))
    trusted(ward, "~/.codex/hooks.json", "Stop", path=str(real / "hooks.json"))
    assert not ward.errors()


def test_a_codex_hook_that_is_switched_off_is_told(ward: Ward) -> None:
    file = ward.write("~/.codex/hooks.json", codex(Stop={}))
    ward.write("~/.codex/config.toml", f'[hooks.state."{file}:stop:0:0"]\nenabled = false\n')
    found = ward.one("hook-disabled")
    assert (found.severity, found.where) == (Severity.WARNING, f"{file}:6")


def test_managed_hooks_and_those_of_plugins_need_no_trust_of_this_kind(ward: Ward) -> None:
    ward.write("/etc/codex/hooks.json", codex(Stop={}))
    ward.write("~/.codex/plugins/cache/a/b/c/hooks/hooks.json", codex(Stop={}))
    assert not ward.found("hook-not-trusted")


def test_a_project_that_codex_does_not_trust_is_told(ward: Ward) -> None:
    ward.write(".codex/hooks.json", codex(Stop={}))
    found = ward.one("project-not-trusted")
    assert (found.severity, found.file) == (Severity.ERROR, str(ward.project))
    assert found.fix == f"start codex in {ward.project} and choose to trust it"
    trusted(ward, ".codex/hooks.json", "Stop")
    assert not ward.errors()


# ── Gemini CLI ──


def test_a_folder_that_gemini_does_not_trust_is_told(ward: Ward) -> None:
    ward.write(".gemini/settings.json", {"hooks": {"AfterTool": [{"hooks": [HOOK]}]}})
    found = ward.one("folder-not-trusted")
    assert (found.dialect, found.severity) == ("gemini", Severity.ERROR)
    assert found.file == str(ward.project)
    assert f"start gemini in {ward.project}" in found.fix
    ward.write("~/.gemini/trustedFolders.json", {str(ward.project): "TRUST_FOLDER"})
    assert not ward.errors()


def test_without_hooks_nobody_asks_for_trust(ward: Ward) -> None:
    ward.write(".gemini/settings.json", {"theme": "dark"})
    assert not ward.findings()


# ── Copilot CLI ──


@pytest.mark.parametrize("key", ["trustedFolders", "trusted_folders"])
def test_a_folder_that_copilot_does_not_trust_is_told(ward: Ward, key: str) -> None:
    ward.write(".github/hooks/a.json", {"version": 1, "hooks": {"preToolUse": [HOOK]}})
    found = ward.one("folder-not-trusted", "copilot")
    assert (found.severity, found.file) == (Severity.ERROR, str(ward.project))
    assert f"start copilot in {ward.project}" in found.fix
    ward.write("~/.copilot/config.json", {key: [str(ward.project)]})
    assert not ward.errors("copilot")


def test_copilot_trust_is_nobodys_concern_who_does_not_use_it(ward: Ward) -> None:
    """VS Code reads the same folder."""
    ward.write(".github/hooks/a.json", {"hooks": {"Stop": [HOOK]}})
    assert not ward.found("folder-not-trusted")
    ward.script("~/../bin/copilot")
    assert ward.found("folder-not-trusted")
