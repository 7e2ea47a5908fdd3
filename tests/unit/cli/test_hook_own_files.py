"""hookline's own files are protected where they are, also where no variable of the agent tells."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.cli import Machine

GUARDS = "version: 1\nhooks:\n  - use: protect-paths\n"


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def installed_line(machine: Machine) -> list[str]:
    """What ``hookline install`` has the agent run before a tool."""
    machine.user_file.parent.mkdir(parents=True, exist_ok=True)
    machine.user_file.write_text(GUARDS, encoding="utf-8")
    done = machine.call("install", "claude-code")
    assert done.code == 0, done.err
    settings = json.loads((machine.person / ".claude/settings.json").read_bytes())
    line: str = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    return ["/bin/sh", "-c", line]


def decision(machine: Machine, line: list[str], tool: str, **given: str) -> str:
    """What an agent is told whose own variables say nothing of where hookline's files are."""
    payload = {
        "session_id": "s",
        "transcript_path": "/t.jsonl",
        "cwd": str(machine.project),
        "hook_event_name": "PreToolUse",
        "tool_name": tool,
        "tool_input": given,
        "tool_use_id": "t",
    }
    done = subprocess.run(
        line,
        input=json.dumps(payload).encode(),
        capture_output=True,
        cwd=machine.project,
        env={
            "PATH": machine.env["PATH"],
            "HOME": str(machine.person),
            "HOOKLINE_NO_DAEMON": "1",
        },
        timeout=60,
        check=True,
    )
    said: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    found: str = said.get("hookSpecificOutput", {}).get("permissionDecision", "")
    return found


def test_the_state_and_config_that_install_wrote_down_cannot_be_changed(machine: Machine) -> None:
    line = installed_line(machine)
    assert str(machine.state) in line[-1]

    def write(path: Path) -> str:
        return decision(machine, line, "Write", file_path=str(path), content="x")

    def run(command: str) -> str:
        return decision(machine, line, "Bash", command=command)

    assert write(machine.state / "pause.json") == "deny"
    assert write(machine.user_file) == "deny"
    assert run(f"rm -rf {machine.state}") == "deny"
    assert run(f"mv {machine.user_dir} /var/x") == "deny"
    assert run("rm -rf $HOOKLINE_HOME") == "deny"
    assert run(f"ls {machine.state}") == ""
    assert write(machine.base / "elsewhere") == ""
