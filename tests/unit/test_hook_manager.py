"""Kodelet's hooks for a Python program: the calls of ADR 021's hook manager."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hookline import HooklineError, HookManager
from hookline.hook_manager import HookResult


def write(directory: Path, name: str, event: str, run: str) -> None:
    file = directory / ".kodelet/hooks" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    script = f'#!/bin/sh\ncase "$1" in\nhook) echo {event} ;;\nrun) {run} ;;\nesac\n'
    file.write_text(script, "utf-8")
    file.chmod(0o755)


def manage(directory: Path, **options: Any) -> HookManager:
    env = {"PATH": "/usr/bin:/bin"}
    return HookManager(".kodelet/hooks", cwd=directory, env=env, **options)


def test_each_call_gives_what_its_hooks_said(tmp_path: Path) -> None:
    write(tmp_path, "a", "user_message_send", """echo '{"blocked": true, "reason": "no"}'""")
    write(tmp_path, "b", "before_tool_call", """echo '{"input": {"command": "ls -l"}}'""")
    write(tmp_path, "c", "agent_stop", """echo '{"follow_up_messages": ["test it"]}'""")
    new = '{"toolName": "bash", "success": true, "metadataType": "bash", "metadata": %s}'
    write(tmp_path, "d", "after_tool_call", f"""echo '{{"output": {new % '{"output": "x"}'}}}'""")
    manager = manage(tmp_path)
    said = asyncio.run(manager.user_message_send("hello"))
    assert said == HookResult(blocked=True, reason="no")
    assert asyncio.run(manager.before_tool_call("bash", {"command": "ls"})).input == {
        "command": "ls -l"
    }
    shell = {"command": "ls"}
    sent = {
        "toolName": "bash",
        "success": True,
        "metadataType": "bash",
        "metadata": {"output": "y"},
    }
    output = asyncio.run(manager.after_tool_call("bash", shell, sent)).output
    assert output is not None
    assert output["metadata"]["output"] == "x"
    assert asyncio.run(manager.agent_stop([])).follow_up_messages == ("test it",)


def test_a_hook_reads_the_payload_of_its_moment(tmp_path: Path) -> None:
    write(tmp_path, "a", "before_tool_call", f"cat > {tmp_path}/told")
    asyncio.run(manage(tmp_path).before_tool_call("bash", {"command": "ls"}, "t1", conv_id="c1"))
    told = (tmp_path / "told").read_text("utf-8")
    assert '"conv_id":"c1"' in told
    assert '"tool_user_id":"t1"' in told
    assert f'"cwd":"{tmp_path}"' in told


def test_a_hook_that_takes_too_long_says_nothing(tmp_path: Path) -> None:
    late = """sleep 60; echo '{"blocked": true, "reason": "no"}'"""
    write(tmp_path, "a", "before_tool_call", late)
    manager = manage(tmp_path, timeout=0.5)
    assert asyncio.run(manager.before_tool_call("bash", {})) == HookResult()


def test_without_hooks_every_result_is_empty(tmp_path: Path) -> None:
    manager = HookManager(cwd=tmp_path, env={"PATH": "/bin", "HOME": str(tmp_path)})
    assert asyncio.run(manager.agent_stop([])) == HookResult()


def test_another_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(HooklineError, match="no directory of Kodelet's"):
        HookManager(tmp_path, cwd=tmp_path)
