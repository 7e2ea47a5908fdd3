"""A hookline that is told to end, or whose files are swapped under it, leaves nothing open."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.model.outcome import Reply
from support.clients.claude_code import obey
from support.clients.effects import Does

PAYLOAD = {
    "session_id": "s1",
    "transcript_path": "/t.jsonl",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "toolu_1",
}


def started(tmp_path: Path, *words: str, hook: str) -> "subprocess.Popen[bytes]":
    (tmp_path / "config.yaml").write_text(
        f"version: 1\nhooks:\n  - {{name: slow, on: pre_tool_use, run: {json.dumps(hook)}}}\n"
    )
    return subprocess.Popen(
        [sys.executable, "-m", "hookline", *words, "--config", str(tmp_path / "config.yaml")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")},
    )


def until_it_runs(thread: Path) -> int:
    """The reading end of a pipe that the hook's programs hold, once they hold it."""
    return os.open(thread, os.O_RDONLY)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_ends_its_hooks_and_shuts_the_gate(
    tmp_path: Path, number: signal.Signals
) -> None:
    thread = tmp_path / "thread"
    os.mkfifo(thread)
    hook = f"exec 9> {thread}; sleep 300 & setsid sleep 300 & sleep 300"
    words = ("hook", "claude-code", "PreToolUse", "--home", str(tmp_path / "state"))
    process = started(tmp_path, *words, hook=hook)
    assert process.stdin is not None
    process.stdin.write(json.dumps({**PAYLOAD, "cwd": str(tmp_path)}).encode())
    process.stdin.close()
    process.stdin = None
    end = until_it_runs(thread)

    process.send_signal(number)
    out, err = process.communicate(timeout=60)

    reply = Reply(stdout=out, stderr=err, exit_code=process.returncode)
    assert obey("PreToolUse", reply, PAYLOAD).does >= Does.BLOCKS
    assert number.name.encode() in out + err
    assert os.read(end, 1) == b"", "a program of the hook is still alive"
    os.close(end)


def test_a_fire_that_is_told_to_end_leaves_no_program_behind(tmp_path: Path) -> None:
    thread = tmp_path / "thread"
    os.mkfifo(thread)
    words = ("fire", "pre_tool_use", "--tool", "shell", "--command", "ls")
    process = started(tmp_path, *words, hook=f"exec 9> {thread}; sleep 300 & sleep 300")
    end = until_it_runs(thread)

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)

    assert process.returncode != 0
    assert os.read(end, 1) == b""
    os.close(end)
