"""Files of which nothing runs, or less than stands in them: mistakes, switches, and what is no file."""

import json

import pytest

from hookline.model.findings import Severity
from support.doctors import Ward

HOOK = {"type": "command", "command": "true"}
AGENT = "---\nname: a\nhooks:\n  Stop:\n    - type: command\n      command: 'true'\n---\n"


def claude(event: str, *hooks: object, **rest: object) -> dict[str, object]:
    return {"hooks": {event: [{"hooks": list(hooks)}]}, **rest}


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


# ── mistakes ──


def test_one_invalid_entry_takes_a_whole_settings_file_of_claude_code_along(ward: Ward) -> None:
    """observed 1.5: an invalid PreToolUse entry disables the whole file."""
    file = ward.write(".claude/settings.json", claude("PreToolUse", HOOK, {**HOOK, "timeout": "5"}))
    found = ward.one("file-void")
    assert (found.dialect, found.severity, found.file) == (
        "claude-code",
        Severity.ERROR,
        str(file),
    )
    assert found.line == line_of(file.read_text(), '"timeout"')
    assert "`timeout` must be a number of seconds" in found.what
    assert "Claude Code runs no hook of the whole file" in found.what
    ward.write(".claude/settings.json", claude("PreToolUse", HOOK, {**HOOK, "timeout": 5}))
    assert not ward.errors()


def test_the_same_mistake_elsewhere_costs_one_entry_only(ward: Ward) -> None:
    ward.write(".claude/settings.json", claude("PostToolUse", HOOK, {**HOOK, "timeout": "5"}))
    found = ward.one("entry-void")
    assert found.severity is Severity.ERROR
    assert "does not run it" in found.what


def test_an_unknown_type_voids_the_whole_hooks_json_of_codex(ward: Ward) -> None:
    """observed 2.2: `http` makes the whole hooks.json unusable."""
    file = ward.write("~/.codex/hooks.json", claude("Stop", {"type": "http", "url": "http://x"}))
    found = ward.one("unknown-handler-type")
    assert (found.dialect, found.severity) == ("codex", Severity.ERROR)
    assert found.where == f"{file}:{line_of(file.read_text(), 'http')}"
    assert "not `http`; for this Codex runs no hook of the whole file" in found.what
    ward.write("~/.codex/hooks.json", claude("Stop", HOOK))
    assert not ward.found("unknown-handler-type")


@pytest.mark.parametrize(
    ("file", "wrong", "right", "dialect"),
    [
        (".claude/settings.json", "BeforeTool", "PreToolUse", "claude-code"),
        ("~/.codex/hooks.json", "SubAgentStopp", "SubagentStop", "codex"),
        (".gemini/settings.json", "PreToolUse", "BeforeTool", "gemini"),
        (".gemini/settings.json", "Stop", "AfterAgent", "gemini"),
        (".cursor/hooks.json", "UserPromptSubmit", "beforeSubmitPrompt", "cursor"),
        (".github/hooks/a.json", "sesionStart", "sessionStart", "copilot"),
        ("hooks.json", "OnErrorr", "OnError", "basecoat"),
    ],
)
def test_an_event_that_the_platform_does_not_have_is_told_with_the_right_name(
    ward: Ward, file: str, wrong: str, right: str, dialect: str
) -> None:
    path = ward.write(file, {"hooks": {wrong: [{"hooks": [HOOK]} | HOOK]}})
    found = ward.one("unknown-event", dialect)
    assert (found.severity, found.dialect, found.file) == (Severity.ERROR, dialect, str(path))
    assert found.line == line_of(path.read_text(), f'"{wrong}"')
    assert f"no event `{wrong}`" in found.what
    assert found.fix == f"write `{right}`"


@pytest.mark.parametrize(
    ("file", "wrong", "right", "dialect"),
    [
        (".claude/settings.json", "preToolUse", "PreToolUse", "claude-code"),
        (".cursor/hooks.json", "PreToolUse", "preToolUse", "cursor"),
        ("~/.codex/hooks.json", "sessionStart", "SessionStart", "codex"),
        ("~/.config/cagent/config.yaml", "Session_Start", "session_start", "docker-agent"),
    ],
)
def test_an_event_in_another_casing_never_fires(
    ward: Ward, file: str, wrong: str, right: str, dialect: str
) -> None:
    grouped = dialect in {"claude-code", "codex"}
    tree: dict[str, object] = {"hooks": {wrong: [{"hooks": [HOOK]} if grouped else HOOK]}}
    if dialect == "docker-agent":
        tree = {"settings": tree}
    path = ward.write(file, tree)
    found = ward.one("event-casing", dialect)
    assert (found.severity, found.file) == (Severity.ERROR, str(path))
    assert found.fix == f"write `{right}`"
    ward.write(file, json.loads(path.read_text().replace(wrong, right)))
    assert not ward.found("event-casing", dialect)


def test_an_event_that_another_reader_of_the_file_has_is_only_worth_a_note(ward: Ward) -> None:
    """VS Code reads Copilot's folder too, and has fewer events."""
    ward.write(".github/hooks/a.json", {"hooks": {"errorOccurred": [HOOK], "preCompact": [HOOK]}})
    found = ward.one("unknown-event", "vscode")
    assert found.severity is Severity.NOTE
    assert not ward.found("unknown-event", "copilot")


def test_a_file_for_nobody_is_worth_nothing(ward: Ward) -> None:
    assert ward.findings() == ()
    assert ward.report().files == {}


# ── what is no file ──


@pytest.mark.parametrize(
    "junk", [b"\x00\xff\xfe\x01" * 9, b"", b"[1]", b'{"hooks": 3}', b"{" * 300]
)
@pytest.mark.parametrize(
    "file",
    [
        ".claude/settings.json",
        "~/.codex/hooks.json",
        "~/.codex/config.toml",
        ".gemini/settings.json",
        "~/.gemini/trustedFolders.json",
        ".cursor/hooks.json",
        ".github/hooks/a.json",
        ".vscode/settings.json",
        "~/.copilot/config.json",
        "~/.config/cagent/config.yaml",
        ".kodelet/hooks/a",
        "hooks.json",
        "hookline.yaml",
        "~/hookline/hookline.yaml",
    ],
)
def test_junk_in_any_file_is_a_finding_at_most_and_never_a_traceback(
    ward: Ward, file: str, junk: bytes
) -> None:
    ward.write(".gemini/settings.json", {"hooks": {"AfterTool": [{"hooks": [HOOK]}]}})
    ward.write(".github/hooks/b.json", {"hooks": {"Stop": [HOOK]}})
    ward.write(".github/agents/a.agent.md", AGENT)
    ward.write("~/.codex/hooks.json", claude("Stop", HOOK))
    path = ward.write(file, junk)
    findings = ward.findings()
    assert not [each for each in findings if each.id == "not-examined"]
    if junk.startswith(b"\0") and file in {".claude/settings.json", ".cursor/hooks.json"}:
        (found,) = [each for each in findings if each.file == str(path)]
        assert (found.id, found.severity) == ("file-void", Severity.ERROR)


def test_a_folder_or_a_dangling_link_in_the_place_of_a_file_is_told(ward: Ward) -> None:
    ward.at(".claude/settings.json").mkdir(parents=True)
    link = ward.at(".cursor/hooks.json")
    link.parent.mkdir()
    link.symlink_to(ward.project / "nowhere")
    folder, dangling = ward.found("file-unreadable", "claude-code", "cursor")
    assert (folder.severity, folder.file) == (
        Severity.ERROR,
        str(ward.at(".claude/settings.json")),
    )
    assert "folder" in folder.fix
    assert "is a link to nothing" in dangling.fix


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(ward: Ward) -> None:
    import os

    ward.at(".claude").mkdir()
    os.mkfifo(ward.at(".claude/settings.json"))
    found = ward.one("file-unreadable", "claude-code")
    assert "regular file" in found.fix


def test_what_may_not_be_read_is_told(ward: Ward, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    file = ward.write(".claude/settings.json", {})
    folder = ward.at(".github/hooks")
    folder.mkdir(parents=True)
    open_, list_ = os.open, os.listdir

    def refuse(path: str, *rest: int) -> int:
        if path == str(file):
            raise PermissionError(13, "Permission denied")
        return open_(path, *rest)

    def refuse_folder(path: str) -> list[str]:
        if path == str(folder):
            raise PermissionError(13, "Permission denied")
        return list_(path)

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(os, "listdir", refuse_folder)
    found = ward.found("file-unreadable", "claude-code", "copilot")
    assert [each.file for each in found] == [str(file), str(folder)]
    assert "Permission denied" in found[0].what
    assert f"chmod u+r {file}" in found[0].fix


def test_a_reader_that_stumbles_is_a_finding_and_the_others_are_examined(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hookline.dialects.codex import doctor
    from hookline.dialects.cursor.files import CursorFiles

    def fall(*_: object) -> None:
        raise ZeroDivisionError("by 0")

    monkeypatch.setattr(CursorFiles, "read", fall)
    monkeypatch.setattr(doctor, "findings", fall)
    ward.write(".cursor/hooks.json", {})
    ward.write(".claude/settings.json", claude("Nothing", HOOK))
    found = ward.findings()
    assert {(each.dialect, each.id) for each in found} == {
        ("cursor", "not-examined"),
        ("codex", "not-examined"),
        ("claude-code", "unknown-event"),
    }
    assert "ZeroDivisionError: by 0" in found[0].what


# ── switches ──


def test_disable_all_hooks_of_any_settings_file_is_told_where_it_stands(ward: Ward) -> None:
    ward.write("~/.claude/settings.json", claude("Stop", HOOK))
    file = ward.write(".claude/settings.local.json", {"model": "x", "disableAllHooks": True})
    found = ward.one("hooks-switched-off")
    assert (found.severity, found.where) == (Severity.ERROR, f"{file}:3")
    assert found.fix == f"take `disableAllHooks` out of {file}"
    ward.write(".claude/settings.local.json", {"model": "x", "disableAllHooks": False})
    assert not ward.errors()


def test_a_switch_where_there_is_nothing_to_fire_is_nothing(ward: Ward) -> None:
    ward.write(".claude/settings.json", {"disableAllHooks": True})
    assert not ward.findings()


def test_managed_hooks_only_is_told_with_the_managed_file(ward: Ward) -> None:
    ward.write("~/.claude/settings.json", claude("Stop", HOOK))
    path = "/etc/claude-code/managed-settings.json"
    file = ward.write(path, {"allowManagedHooksOnly": True})
    found = ward.one("hooks-switched-off", "claude-code")
    assert found.where == f"{file}:2"
    assert "allowManagedHooksOnly" in found.fix
    ward.write(path, {"allowManagedHooksOnly": False})
    assert not ward.errors()


def test_an_address_that_the_settings_do_not_list_is_told(ward: Ward) -> None:
    hook = {"type": "http", "url": "https://example.org/hook"}
    ward.write(
        ".claude/settings.json", claude("Stop", hook, allowedHttpHookUrls=["https://other/*"])
    )
    found = ward.one("hook-not-allowed")
    assert "add `https://example.org/hook` to `allowedHttpHookUrls`" in found.fix
    ward.write(".claude/settings.json", claude("Stop", hook))
    assert not ward.errors()


def test_codex_features_that_switch_hooks_off_are_told(ward: Ward) -> None:
    ward.write("~/.codex/hooks.json", claude("Stop", HOOK))
    file = ward.write("~/.codex/config.toml", 'model = "x"\n\n[features]\nhooks = false\n')
    found = ward.one("hooks-switched-off")
    assert (found.dialect, found.severity, found.where) == ("codex", Severity.ERROR, f"{file}:4")
    assert f"out of [features] in {file}" in found.fix
    ward.write("~/.codex/config.toml", "[features]\nhooks = true\n")
    assert not ward.found("hooks-switched-off")


def test_codex_with_managed_hooks_only_is_told(ward: Ward) -> None:
    ward.write("~/.codex/hooks.json", claude("Stop", HOOK))
    file = ward.write("/etc/codex/requirements.toml", "allow_managed_hooks_only = true\n")
    found = ward.one("hooks-switched-off")
    assert (found.severity, found.where) == (Severity.ERROR, f"{file}:1")


def test_gemini_hooks_that_are_not_enabled_are_told(ward: Ward) -> None:
    tree = {"hooksConfig": {"enabled": False}, "hooks": {"AfterTool": [{"hooks": [HOOK]}]}}
    file = ward.write(".gemini/settings.json", tree)
    found = ward.one("hooks-switched-off")
    assert (found.dialect, found.severity, found.where) == ("gemini", Severity.ERROR, f"{file}:3")
    assert "set `hooksConfig.enabled` to true" in found.fix
    ward.write(".gemini/settings.json", {**tree, "hooksConfig": {"enabled": True}})
    assert not ward.found("hooks-switched-off")


def test_a_gemini_hook_that_is_disabled_by_name_is_worth_a_note(ward: Ward) -> None:
    tree = {
        "hooksConfig": {"disabled": ["lint"]},
        "hooks": {"AfterTool": [{"hooks": [{**HOOK, "name": "lint"}, {**HOOK, "name": "a"}]}]},
    }
    ward.write(".gemini/settings.json", tree)
    found = ward.one("hook-disabled")
    assert (found.severity, found.fix) == (
        Severity.NOTE,
        "/hooks enable lint, inside Gemini CLI",
    )


@pytest.mark.parametrize(
    ("key", "value"),
    [("chat.useHooks", False), ("chat.hookFilesLocations", {".github/hooks": False})],
)
def test_settings_of_vs_code_that_switch_hooks_off_are_told(
    ward: Ward, key: str, value: object
) -> None:
    ward.write(".github/hooks/a.json", {"hooks": {"Stop": [HOOK]}})
    file = ward.write(".vscode/settings.json", {"editor.x": 1, key: value})
    found = ward.one("hooks-switched-off", "vscode")
    assert (found.severity, found.where) == (Severity.ERROR, f"{file}:3")
    assert "true" in found.fix
    ward.write(".vscode/settings.json", {})
    assert not ward.errors("vscode")


def test_hooks_of_an_agent_have_a_switch_of_their_own_in_vs_code(ward: Ward) -> None:
    file = ward.write(".github/agents/a.agent.md", AGENT)
    found = ward.one("agent-hooks-off", "vscode")
    assert (found.severity, found.where) == (Severity.WARNING, f"{file}:5")
    settings = ward.write("~/.config/Code/User/settings.json", {"chat.useCustomAgentHooks": False})
    found = ward.one("agent-hooks-off", "vscode")
    assert (found.severity, found.where) == (Severity.ERROR, f"{settings}:2")
    assert f'set "chat.useCustomAgentHooks": true in {settings}' == found.fix
    ward.write("~/.config/Code/User/settings.json", {"chat.useCustomAgentHooks": True})
    assert not ward.findings("vscode")


def test_copilot_files_that_are_switched_off_are_told(ward: Ward) -> None:
    tree = {"disableAllHooks": True, "hooks": {"preToolUse": [HOOK]}}
    file = ward.write("~/.copilot/hooks/a.json", tree)
    found = ward.one("hooks-switched-off", "copilot")
    assert found.where == f"{file}:2"
    ward.write("~/.copilot/hooks/a.json", {"hooks": {"preToolUse": [HOOK]}})
    assert not ward.errors("copilot")


def test_a_kodelet_hook_that_is_no_program_or_switched_off_is_told(ward: Ward) -> None:
    bare = ward.script(".kodelet/hooks/bare", "echo hook\n")
    found = ward.one("script-without-interpreter")
    assert (found.severity, found.where) == (Severity.ERROR, f"{bare}:1")
    assert "#!" in found.fix
    bare.write_text("#!/bin/sh\necho hook\n")
    assert not ward.errors()
