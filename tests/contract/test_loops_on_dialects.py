"""A loop is found and its call denied on every platform, from the events as its client sends them."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.lab.script import Shell
from support.cli import Machine
from support.clients.effects import Does
from support.guarded import Place, guarded
from support.native_acts import Arrival, Printed, Prompt

LOOP = Shell("cat src/app.py")
HOOKS: list[dict[str, Any]] = [{"use": "loop-guard"}]
# What comes before a call and after it, by the names that `hookline install` writes; of docker-agent
# the payload after a tool is that of the event before it, with what came of it.
LANES = {
    "basecoat": ("PreToolUse", "PostToolUse", "UserPromptSubmitted"),
    "canonical": ("pre_tool_use", "post_tool_use", "user_prompt_submit"),
    "claude-code": ("PreToolUse", "PostToolUse", "UserPromptSubmit"),
    "codex": ("PreToolUse", "PostToolUse", "UserPromptSubmit"),
    "copilot": ("PreToolUse", "PostToolUse", "UserPromptSubmit"),
    "copilot-cloud": ("preToolUse", "postToolUse", "userPromptSubmitted"),
    "cursor": ("preToolUse", "postToolUse", "beforeSubmitPrompt"),
    "docker-agent": ("pre_tool_use", "tool_response_transform", "user_prompt_submit"),
    "gemini": ("BeforeTool", "AfterTool", "BeforeAgent"),
    "kodelet": ("before_tool_call", "after_tool_call", "user_message_send"),
    "vscode": ("PreToolUse", "PostToolUse", "UserPromptSubmit"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with guarded(tmp_path_factory.mktemp("loops")) as made:
        yield made


@pytest.mark.parametrize("dialect", LANES)
def test_the_sixth_same_outcome_is_a_loop_and_a_prompt_ends_it(place: Place, dialect: str) -> None:
    before, after, prompt = (f"{dialect} {native}" for native in LANES[dialect])
    told = 0
    for _ in range(6):
        assert place.does(LOOP, before, *HOOKS, home=dialect)[1].does == Does.GOES_ON
        arrival = _after(place.arrival(Printed(LOOP, "a = 1"), after))
        reply = place.reply(arrival, place.config(*HOOKS), dialect)
        told += b"Loop detected" in reply.stdout + reply.stderr
    # Where nothing after a tool reaches anybody, the denial is the first that is heard of it.
    assert told == (dialect not in {"kodelet"})
    denied = place.does(LOOP, before, *HOOKS, home=dialect)[1]
    assert denied.does >= Does.BLOCKS
    assert "Loop detected: identical command with the same result 6 times" in denied.reason
    assert place.does(Shell("ls"), before, *HOOKS, home=dialect)[1].does == Does.GOES_ON
    place.does(Prompt("go on"), prompt, *HOOKS, home=dialect)
    assert place.does(LOOP, before, *HOOKS, home=dialect)[1].does == Does.GOES_ON


def _after(arrival: Arrival) -> Arrival:
    if arrival.dialect != "docker-agent":
        return arrival
    native = "post_tool_use"
    return replace(arrival, native=native, payload={**arrival.payload, "hook_event_name": native})


def test_lines_of_fire_remember_each_other_and_leave_no_file(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path, capfdbinary)
    machine.trust("version: 1\nhooks:\n  - use: loop-guard\n")
    tool = {"name": "shell", "command": "make"}
    events = [
        {"event": name, "session_id": "s1", "tool": tool, **extra}
        for _ in range(4)
        for name, extra in (
            ("pre_tool_use", {}),
            ("post_tool_use_failure", {"error": "make: *** [all] Error 1"}),
        )
    ]
    lines = "".join(json.dumps(each) + "\n" for each in events)
    told = machine.run("fire", "--jsonl", stdin=lines).lines
    assert [each["verdict"] for each in told] == ["pass"] * 6 + ["deny", "pass"]
    assert "Loop detected" in told[5]["context"][0]
    assert list(machine.state.rglob("state.db*")) == []
    assert machine.run("fire", "--jsonl", stdin=lines).lines[0]["verdict"] == "pass"


def test_processes_share_what_they_remember(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path, capfdbinary)
    machine.write(machine.user_file, "version: 1\nhooks:\n  - use: loop-guard\n")
    call = {"session_id": "s1", "cwd": str(machine.project), "tool_name": "Bash",
            "tool_input": {"command": "make"}}  # fmt: skip

    def send(native: str, **own: Any) -> Any:
        payload = json.dumps({**call, "hook_event_name": native, **own})
        words = ("--home", str(machine.state), "--user-config", str(machine.user_dir))
        return machine.run("hook", "claude-code", native, *words, stdin=payload)

    for number in range(3):
        warned = send("PostToolUseFailure", error="Error: exit code 2", tool_use_id=f"t{number}")
    assert "Loop detected" in warned.out
    denied = send("PreToolUse", tool_use_id="t4").json["hookSpecificOutput"]
    assert denied["permissionDecision"] == "deny"
    assert "identical failing command executed 3 times in 1 minute" in denied[
        "permissionDecisionReason"
    ]  # fmt: skip
    (database,) = machine.state.glob("state.db")
    assert database.stat().st_mode & 0o077 == 0
