"""Real clients are recorded, and send what was recorded of them before: no field more or less."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.lab.naming import client as driver
from hookline.lab.ports import Client, Program
from support.cli import Machine

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

# What each client shows of itself in the scenarios that are played here.
PLAYED = {
    "claude-code": ("basic", "mcp", "sub-agent", "asking", "compact", "plan"),
    "codex": ("basic", "mcp", "sub-agent", "asking", "compact-thread", "interrupt"),
    "copilot": ("basic", "mcp", "sub-agent", "asking", "compact-session"),
    "gemini": ("basic", "mcp", "sub-agent"),
}
SEEN = {
    "claude-code": {
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse"),
        *("PostToolUseFailure", "PostToolBatch", "SubagentStart", "SubagentStop", "PreCompact"),
        *("PostCompact", "MessageDisplay", "Stop", "SessionEnd"),
    },
    "codex": {
        *("SessionStart", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "PreToolUse"),
        *("PermissionRequest", "PostToolUse", "SubagentStart", "SubagentStop", "PreCompact"),
        *("PostCompact", "Interrupt", "Stop", "SessionEnd"),
    },
    "copilot": {
        *("sessionStart", "userPromptSubmitted", "userPromptTransformed", "preToolUse"),
        *("permissionRequest", "postToolUse", "postToolUseFailure", "subagentStart"),
        *("subagentStop", "preCompact", "agentStop", "sessionEnd"),
    },
    "gemini": {
        *("SessionStart", "BeforeAgent", "PreCompress", "BeforeModel", "BeforeToolSelection"),
        *("AfterModel", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"),
    },
}


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    there = Machine(tmp_path, capfdbinary)
    there.env["PATH"] = os.environ["PATH"]
    return there


@pytest.mark.parametrize("name", sorted(PLAYED))
def test_a_fresh_recording_of_the_pinned_client_differs_in_nothing(
    name: str, machine: Machine, program: Callable[[Client], Program]
) -> None:
    (path,) = program(driver(name)).argv
    words = [word for scenario in PLAYED[name] for word in ("--scenario", scenario)]

    done = machine.call("lab", "capture", name, "--client", path, "--out", "new", *words)

    assert done.code == 0, done.out + done.err
    new = machine.project / "new"
    recorded = [json.loads(each.read_bytes()) for each in new.glob("*.json")]
    assert SEEN[name] <= {each["event"] for each in recorded}
    written = json.dumps(recorded)
    assert str(machine.base) not in written
    assert "/hl-" not in written
    assert os.path.dirname(path) not in written

    drift = machine.call("lab", "drift", "new", "--json")

    assert drift.json["differences"] == []
    assert drift.code == 0
