"""A platform's hook files run where that platform looks for them, when a person asks for it."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.app import App
from hookline.model.answers import Verdict
from hookline.model.errors import ConfigError
from hookline.model.hook import Layer
from hookline.pipeline.judge import judge
from hookline.testing import shell


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    (directory / ".git").mkdir(parents=True)
    return directory


def app_at(project: Path, *hosts: str) -> App:
    base = project.parent
    app = App(
        env={"PATH": os.environ["PATH"], "HOME": str(base / "person")},
        cwd=str(project),
        home=str(base / "state"),
        managed=str(base / "none/managed.yaml"),
    )
    app.host(*hosts)
    return app


def claude(path: Path, *commands: str, matcher: str = "Bash") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handlers = [{"type": "command", "command": command} for command in commands]
    hooks = {"PreToolUse": [{"matcher": matcher, "hooks": handlers}]}
    path.write_text(json.dumps({"hooks": hooks}))


def fire(app: App, **fields: Any) -> Any:
    return asyncio.run(judge(replace(shell("ls"), cwd=app.cwd, **fields), app))


def allow() -> str:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    return f"echo '{json.dumps({'hookSpecificOutput': own})}'"


def test_the_persons_and_the_projects_files_both_count(project: Path) -> None:
    claude(project / ".claude/settings.json", "echo project >&2; exit 2")
    claude(project.parent / "person/.claude/settings.json", "echo person >&2; exit 2")

    outcome = fire(app_at(project, "claude-code"))

    assert "project" in outcome.reason
    assert "person" in outcome.reason
    assert {run.hook.source.layer for run in outcome.runs} == {Layer.USER, Layer.PROJECT}


def test_a_hosted_file_needs_no_trust_and_no_config(project: Path) -> None:
    claude(project / ".claude/settings.json", '"$CLAUDE_PROJECT_DIR"/no.sh')
    script = project / "no.sh"
    script.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    script.chmod(0o755)

    assert fire(app_at(project, "claude-code")).verdict is Verdict.DENY


def test_an_allow_counts_from_the_persons_file_and_not_from_the_projects(project: Path) -> None:
    claude(project / ".claude/settings.json", allow())
    assert fire(app_at(project, "claude-code")).verdict is Verdict.PASS

    claude(project.parent / "person/.claude/settings.json", f"{allow()}; true")
    assert fire(app_at(project, "claude-code")).verdict is Verdict.ALLOW


def test_a_file_that_changes_counts_at_the_next_event(project: Path) -> None:
    app = app_at(project, "claude-code")
    assert fire(app).verdict is Verdict.PASS

    claude(project / ".claude/settings.json", "echo no >&2; exit 2")

    assert fire(app).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("host", "runs"), [("claude-code", False), ("cursor", False), ("vscode", True)]
)
def test_a_file_that_several_clients_read_is_run_by_the_rules_of_the_one_that_is_hosted(
    project: Path, host: str, runs: bool
) -> None:
    """VS Code ignores matchers, so there a hook for writing files runs for a command as well."""
    claude(project / ".claude/settings.json", "echo no >&2; exit 2", matcher="Write")

    assert bool(fire(app_at(project, host)).runs) is runs


def test_hooks_of_another_platform_keep_the_order_of_that_platform(project: Path) -> None:
    """VS Code's workspace comes first, although a person's own file outranks it elsewhere."""
    claude(project / ".claude/settings.json", "echo first >> order")
    claude(project.parent / "person/.claude/settings.json", "echo second >> order")

    fire(app_at(project, "vscode"))

    assert (project / "order").read_text() == "first\nsecond\n"


def test_a_file_that_cannot_be_read_is_an_error_and_not_nothing(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text("{")

    with pytest.raises(ConfigError, match=r"settings\.json"):
        fire(app_at(project, "claude-code"))


def test_an_unknown_platform_is_said(project: Path) -> None:
    with pytest.raises(ConfigError, match="claud-code"):
        app_at(project, "claud-code")


@pytest.mark.parametrize("host", ["copilot", "copilot-cloud", "vscode"])
def test_hooks_for_another_system_are_told_of_once_and_never_again(
    project: Path, host: str
) -> None:
    items = [{"type": "command", "powershell": f"./{name}.ps1"} for name in "abc"]
    path = project / ".github/hooks/windows.json"
    path.parent.mkdir(parents=True)
    hooks = {"preToolUse": items, "postToolUse": items}
    path.write_text(json.dumps({"version": 1, "hooks": hooks}, indent=1))
    app = app_at(project, host)

    first, second = (fire(app, session_id="s1") for _ in range(2))

    (told,) = first.answer.notice
    assert "`powershell`" in told
    assert "windows.json:5, 9, 13, 19, 23, 27:" in told
    assert second.answer.notice == ()
    assert [run.failed is None for run in second.runs] == [False] * 3
