"""Rules of the Copilot cloud agent's that no other test shows: what fires there, and how hooks run."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.copilot_cloud import DIALECT
from hookline.dialects.copilot_cloud.files import FILES
from hookline.model.answers import Verdict
from hookline.model.events import Event, PreToolUse
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

SHELL = PreToolUse(tool=tool("shell", command="ls"))


def hosted(project: Path, event: Event, *items: dict[str, Any]) -> Outcome:
    content = json.dumps({"version": 1, "hooks": {"preToolUse": items}}).encode()
    file = FILES.read(str(project / ".github/hooks/made.json"), content)
    return host(FILES, [file], event, project=project)


def test_sub_agents_are_told_of_and_what_needs_a_person_is_not() -> None:
    known = set(DIALECT.support.events)
    assert {"subagentStart", "subagentStop", "preCompact", "sessionStart"} <= known
    assert not {"permissionRequest", "PermissionRequest", "notification", "Notification"} & known


def test_a_powershell_command_alone_denies_nothing_and_is_told(tmp_path: Path) -> None:
    outcome = hosted(tmp_path, SHELL, {"type": "command", "powershell": "exit 2"})
    assert outcome.verdict is Verdict.PASS
    assert "powershell" in outcome.answer.notice[0]


@pytest.mark.parametrize("line", ["exit 2", "exit 1", "./missing.sh"])
def test_a_hook_that_crashes_before_a_tool_denies_it(tmp_path: Path, line: str) -> None:
    assert hosted(tmp_path, SHELL, {"bash": line}).verdict is Verdict.DENY


def test_hooks_run_in_order_and_a_deny_ends_the_row(tmp_path: Path) -> None:
    items = [{"bash": "echo 1 >> order; exit 2"}, {"command": "echo 2 >> order"}]
    assert hosted(tmp_path, SHELL, *items).verdict is Verdict.DENY
    assert (tmp_path / "order").read_text() == "1\n"
