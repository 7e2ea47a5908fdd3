"""hookline itself: installed and not in force, called twice, rewritten after; and its own config."""

import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.config.pause import start_pause
from hookline.installing.changes import apply, plan_install
from hookline.installing.records import Records
from hookline.model.findings import Severity
from hookline.model.installing import Call, Scope
from support.doctors import Ward

HOOK: dict[str, Any] = {"type": "command", "command": "true"}
DENY = "version: 1\nhooks:\n  - {name: no, on: pre_tool_use, deny: No.}\n"
OWN = str(Path(sys.executable).parent / "hookline")


def install(ward: Ward, dialect: str = "claude-code", scope: Scope = Scope.USER) -> Path:
    program = ward.bin / "hookline"
    program.touch(0o755)
    call = Call(program=(str(program),), home=str(ward.state), user_config=str(ward.home))
    records = Records(str(ward.state))
    installer = registry.installer(dialect)
    machine = replace(ward.machine, named=(str(ward.at("agent.yaml")),))
    chosen = scope if scope in installer.scopes else installer.scopes[0]
    changes = plan_install(installer, machine, chosen, call, records)
    for change in changes:
        apply(change, records)
    return Path(changes[0].file.path)


# ── the installation ──


@pytest.mark.parametrize("dialect", registry.installer_names())
def test_an_installation_in_order_has_no_guard_that_is_open(ward: Ward, dialect: str) -> None:
    ward.write("agent.yaml", "agents:\n  root:\n    model: x\n")
    install(ward, dialect)
    # What only a person can give, and what the cloud agent's own machine needs.
    known = {"hook-not-trusted", "folder-not-trusted", "hookline-not-active"}
    assert {each.id for each in ward.errors(dialect)} <= known
    assert {each.id for each in ward.findings(dialect)} <= {*known}


def test_a_program_that_is_gone_is_told(ward: Ward) -> None:
    file = install(ward)
    (ward.bin / "hookline").unlink()
    found = ward.one("hookline-program-missing")
    assert found.file == str(file)
    assert (found.dialect, found.severity) == ("claude-code", Severity.ERROR)
    assert f"`{ward.bin}/hookline`" in found.what
    assert "hookline install claude-code" in found.fix


def test_entries_that_somebody_took_out_are_told(ward: Ward) -> None:
    file = install(ward)
    file.write_text("{}")
    found = ward.one("hookline-gone")
    assert (found.severity, found.file) == (Severity.ERROR, str(file))
    assert found.fix == "hookline install claude-code --scope user"


def test_a_switch_that_keeps_hookline_from_running_is_told_once(ward: Ward) -> None:
    file = install(ward)
    tree = {"disableAllHooks": True, **json.loads(file.read_text())}
    file.write_text(json.dumps(tree, indent=2))
    assert [each.id for each in ward.errors()] == ["hooks-switched-off"]


def test_an_unknown_reason_of_an_installer_is_passed_on(ward: Ward) -> None:
    """The cloud agent's machine has no hookline, unless its setup says so."""
    file = install(ward, "copilot-cloud", Scope.PROJECT)
    found = ward.found("hookline-not-active", "copilot-cloud")
    assert str(file) in {each.file for each in found}
    assert any("copilot-setup-steps" in each.fix for each in found)


def test_reasons_about_our_entries_are_nothing_where_there_are_none(ward: Ward) -> None:
    ward.write(".github/hooks/a.json", {"version": 1, "hooks": {"preToolUse": [HOOK]}})
    assert not ward.findings("copilot-cloud")


def test_a_call_by_hand_that_lets_the_tool_run_when_hookline_is_gone_is_an_error(
    ward: Ward,
) -> None:
    hook = {**HOOK, "command": f"{OWN} hook claude-code PreToolUse"}
    tree = {"hooks": {"PreToolUse": [{"hooks": [hook]}]}}
    file = ward.write(".claude/settings.json", tree)
    found = ward.one("guard-fails-open", "claude-code")
    assert (found.severity, found.where) == (Severity.ERROR, f"{file}:6")
    assert found.fix == "hookline install claude-code"
    hook["onFailure"] = "block"
    ward.write(".claude/settings.json", tree)
    assert not ward.found("guard-fails-open", "claude-code")


# ── beside others ──


@pytest.mark.parametrize("second", sorted({*registry.installer_names()} - {"docker-agent"}))
@pytest.mark.parametrize("first", ["claude-code", "copilot"])
def test_two_agents_with_hookline_in_them_are_no_problem_and_nobody_is_told_to_uninstall(
    ward: Ward, first: str, second: str
) -> None:
    """One agent may read the other's file: the second call has the first one's answer."""
    install(ward, first)
    install(ward, second)
    install(ward, first, Scope.PROJECT)
    findings = ward.findings()
    assert not [each for each in findings if "uninstall" in each.fix]
    ours = [each for each in findings if each.id.startswith("hookline-")]
    assert {each.dialect for each in ours} <= {"copilot-cloud"}, "which works on a clone"
    assert not [each for each in findings if each.id == "unknown-event"]


def test_other_hooks_that_may_rewrite_after_us_are_named(ward: Ward) -> None:
    """Law 5: a rewrite of another hook is not judged by ours."""
    install(ward)
    ward.script("a.sh", "#!/bin/sh\necho '{\"updatedInput\": {}}'\n")
    hooks = [{**HOOK, "command": "./a.sh"}, HOOK, {**HOOK, "async": True}]
    file = ward.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": hooks}]}})
    first, second = ward.found("may-rewrite-after", "claude-code")
    assert (first.severity, first.where) == (Severity.WARNING, f"{file}:6")
    assert (second.severity, second.where) == (Severity.NOTE, f"{file}:10")
    assert "rewrites a tool's input" in first.what
    assert "may rewrite" in second.what
    assert "hookline.yaml" in first.fix


def test_without_hookline_nobody_rewrites_after_it(ward: Ward) -> None:
    ward.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [HOOK]}]}})
    assert not ward.found("may-rewrite-after")


# ── its own config ──


def test_a_config_that_was_never_trusted_is_told(ward: Ward) -> None:
    file = ward.write("hookline.yaml", DENY)
    found = ward.one("config-not-trusted")
    assert (found.dialect, found.severity, found.file) == ("hookline", Severity.ERROR, str(file))
    assert found.fix == f"hookline trust {file}"
    ward.app.loader.trust(str(file))
    assert ward.findings() == ()


def test_a_config_that_somebody_vouches_for_is_in_force(ward: Ward) -> None:
    ward.write("hookline.yaml", DENY)
    ward.env["HOOKLINE_TRUST"] = "all"
    assert ward.findings() == ()


def test_a_config_or_a_script_that_changed_since_it_was_trusted_is_told(ward: Ward) -> None:
    script = ward.script("a.sh")
    text = "version: 1\nhooks:\n  - {name: a, on: stop, run: ./a.sh}\n"
    file = ward.write("hookline.yaml", text)
    ward.app.loader.trust(str(file))
    script.write_text("#!/bin/sh\nexit 1\n")
    found = ward.one("config-scripts-changed")
    assert (found.severity, found.file) == (Severity.WARNING, str(file))
    assert str(script) in found.what
    file.write_text(DENY)
    found = ward.one("config-changed")
    assert (found.severity, found.fix) == (Severity.WARNING, f"hookline trust {file}")
    file.unlink()
    found = ward.one("config-missing")
    assert found.fix == f"put it back, or run hookline trust --revoke {file}"


def test_a_config_of_the_persons_own_that_is_broken_is_told_with_its_line(ward: Ward) -> None:
    file = ward.write("~/hookline/hookline.yaml", "version: 1\nhooks:\n  - {on: nothing}\n")
    found = ward.found("config-broken")
    assert {each.file for each in found} == {str(file)}
    assert found[0].line == 3
    assert "whatever can be blocked is denied" in found[0].what


def test_a_trusted_copy_that_is_damaged_is_told(ward: Ward) -> None:
    file = ward.write("hookline.yaml", DENY)
    ward.app.loader.trust(str(file))
    for each in (ward.state / "trust").rglob("*"):
        if each.is_file():
            each.write_bytes(b"junk")
    assert ward.found("config-broken")


def test_a_pause_is_told(ward: Ward) -> None:
    ward.write("~/hookline/hookline.yaml", DENY)
    start_pause(str(ward.state), 600, now=time.time())
    found = ward.one("paused")
    assert (found.severity, found.fix) == (Severity.ERROR, "hookline pause --off")


def test_a_managed_file_that_anybody_may_write_is_ignored_and_told(ward: Ward) -> None:
    ward.managed.parent.mkdir()
    ward.managed.write_text(DENY)
    ward.managed.chmod(0o666)
    found = ward.one("managed-ignored")
    assert (found.severity, found.file) == (Severity.ERROR, str(ward.managed))
    assert "chown root" in found.fix


def test_a_word_that_a_file_may_not_speak_is_told(ward: Ward) -> None:
    file = ward.write("hookline.yaml", "version: 1\nhooks: []\nproject_allow: true\n")
    ward.app.loader.trust(str(file))
    found = ward.one("config-ignored")
    assert (found.severity, found.file) == (Severity.WARNING, str(file))
    assert "`project_allow`" in found.what


def test_an_included_file_that_a_client_runs_itself_is_worth_a_note(ward: Ward) -> None:
    ward.script("a.sh")
    native = ward.write(
        ".github/hooks/a.json",
        {"version": 1, "hooks": {"preToolUse": [{**HOOK, "bash": "./a.sh"}], "what": [HOOK]}},
    )
    file = ward.write("hookline.yaml", "version: 1\nhooks: []\ninclude: [.github/hooks]\n")
    ward.app.loader.trust(str(file))
    found = ward.one("include-not-run")
    assert (found.severity, found.file) == (Severity.NOTE, str(native))
    assert "copilot" in found.what
    assert ward.one("include-broken").file == str(native)
    ward.write(".github/hooks/b.json", {"version": 1, "hooks": {}})
    newcomer = ward.one("include-not-trusted")
    assert (newcomer.severity, newcomer.fix) == (Severity.ERROR, "hookline trust")


def test_a_state_home_that_cannot_be_read_is_a_finding(
    ward: Ward, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    ward.state.write_text("junk")
    assert not ward.found("not-examined")
    monkeypatch.setattr(Records, "all", refuse)
    found = ward.found("not-examined", "claude-code")
    assert "Permission denied" in found[0].what


def test_what_was_installed_in_another_project_is_no_concern_of_this_one(ward: Ward) -> None:
    install(ward, scope=Scope.PROJECT)
    ward.project = ward.project.parent / "elsewhere"
    ward.project.mkdir()
    assert ward.report().files == {}


def test_for_single_platforms_the_config_is_left_alone(ward: Ward) -> None:
    ward.write("hookline.yaml", DENY)
    assert not ward.findings("claude-code")


def test_a_file_that_a_person_names_is_examined_by_the_platform_that_owns_it(ward: Ward) -> None:
    from hookline.doctoring.examine import examine

    text = (
        "agents:\n  root:\n    hooks:\n      stop:\n        - {type: command, command: ./none.sh}\n"
    )
    file = ward.write("agent.yaml", text)
    named = replace(ward.machine, named=(str(file), str(ward.at("nothing.yaml"))))
    report = examine(ward.app, named, dialects=("docker-agent",), root=str(ward.root))
    assert [(each.id, each.where) for each in report.findings] == [("script-missing", f"{file}:5")]
    assert report.files == {"docker-agent": (str(file),)}
