"""The handoff through the installed line of every platform, in each one's own payloads."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from support.cli import Machine

OPEN, DONE = "MK_OPEN the parser", "MK_DONE the docs"
LOADED = "Handoff from the last"
AGAIN = "Noted before the compaction"


class Platform:
    """How a platform tells of a list of things to do, of the end, of a compaction and of a start."""

    def __init__(
        self,
        plan: tuple[str, Mapping[str, Any]],
        start: tuple[str, Mapping[str, Any]],
        end: str = "",
        compaction: tuple[str, ...] = (),
        afterwards: tuple[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.plan, self.start, self.end = plan, start, end
        self.compaction, self.afterwards = compaction, afterwards


def claude_like(name: str, given: Mapping[str, Any], **more: Any) -> tuple[str, Mapping[str, Any]]:
    return "PostToolUse", {"tool_name": name, "tool_input": given, "tool_response": {}, **more}


def items(text: str, status: str, done: str = "completed") -> list[dict[str, str]]:
    return [{text: OPEN, status: "pending"}, {text: DONE, status: done}]


STARTUP = {"source": "startup"}
PROMPT = {"prompt": "go"}
_COPILOT = Platform(
    ("postToolUse", {"toolName": "update_todo", "toolArgs": {"todos": f"- [ ] {OPEN}\n- [x] {DONE}"}, "toolResult": {"resultType": "success", "textResultForLlm": "ok"}}),
    ("sessionStart", {"source": "new"}),
    "sessionEnd",
    ("preCompact",),
    ("userPromptSubmitted", PROMPT),
)  # fmt: skip
PLATFORMS = {
    "basecoat": Platform(
        ("PostToolUse", {"tool": {"name": "TodoWrite", "input": {"todos": items("content", "status")}, "success": True}}),
        ("SessionStart", {}),
        "SessionEnd",
        ("PreCompact", "PostCompact"),
    ),
    "canonical": Platform(
        ("post_tool_use", {"tool": {"kind": "task", "name": "task", "input": {"todos": items("content", "status")}}}),
        ("session_start", STARTUP),
        "session_end",
        ("pre_compact", "post_compact"),
    ),
    "claude-code": Platform(
        claude_like("TodoWrite", {"todos": items("content", "status")}),
        ("SessionStart", STARTUP),
        "SessionEnd",
        ("PreCompact", "PostCompact"),
        ("UserPromptSubmit", PROMPT),
    ),
    "codex": Platform(
        claude_like("update_plan", {"plan": items("step", "status")}),
        ("SessionStart", STARTUP),
        "SessionEnd",
        ("PreCompact", "PostCompact"),
        ("SessionStart", {"source": "compact"}),
    ),
    "copilot": _COPILOT,
    "copilot-cloud": _COPILOT,
    "cursor": Platform(
        ("postToolUse", {"tool_name": "TodoWrite", "tool_input": {"todos": items("content", "status")}, "tool_output": "ok"}),
        ("sessionStart", {}),
        "sessionEnd",
    ),
    "docker-agent": Platform(
        ("post_tool_use", {"tool_name": "create_todos", "tool_input": {"descriptions": [OPEN]}, "tool_response": "ok"}),
        ("session_start", STARTUP),
        "session_end",
        ("pre_compact", "after_compaction"),
        ("turn_start", {}),
    ),
    "gemini": Platform(
        ("AfterTool", {"tool_name": "write_todos", "tool_input": {"todos": items("description", "status")}, "tool_response": {"llmContent": "ok"}}),
        ("SessionStart", STARTUP),
        "SessionEnd",
        ("PreCompress",),
        ("BeforeAgent", PROMPT),
    ),
    "vscode": Platform(
        claude_like("manage_todo_list", {"todoList": items("title", "status")}),
        ("SessionStart", STARTUP),
        compaction=("PreCompact",),
        afterwards=("UserPromptSubmit", PROMPT),
    ),
}  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    made = Machine(tmp_path, capfdbinary)
    made.user_file.parent.mkdir(parents=True)
    made.user_file.write_text("version: 1\nhooks:\n  - use: handoff\n")
    (made.project / ".git/HEAD").write_text("ref: refs/heads/fix/145-parser\n")
    return made


def send(
    machine: Machine, dialect: str, session: str, event: str, payload: Mapping[str, Any] = {}
) -> str:
    """What the platform is answered, with the text in it as a model reads it."""
    known: Any = registry.dialect(dialect)
    key = known.keys if dialect != "canonical" else None
    names = ("session_id", "event") if key is None else (key.session, key.event)
    whole = {names[0]: session, names[1]: event, "cwd": str(machine.project), **payload}
    done = machine.call("hook", dialect, event, *machine.own, stdin=json.dumps(whole))
    # Of Kodelet's hooks the last one that ends with 0 wins, so who is silent ends otherwise.
    assert done.code == 0 or (dialect, done.out) == ("kodelet", ""), done.err
    return done.out.replace("\\n", "\n")


def let_time_pass(machine: Machine) -> None:
    """Half an hour without an event."""
    with sqlite3.connect(machine.state / "state.db") as state:
        for session, body in state.execute("SELECT session, body FROM handoffs").fetchall():
            kept = {**json.loads(body), "touched": json.loads(body)["touched"] - 1801}
            state.execute(
                "UPDATE handoffs SET touched = ?, body = ? WHERE session = ?",
                (kept["touched"], json.dumps(kept).encode(), session),
            )


def test_every_platform_that_takes_text_is_here() -> None:
    taking = {
        name
        for name in registry.dialect_names()
        if any(
            row.can("context") and row.event in ("session_start", "user_prompt_submit")
            for row in registry.dialect(name).support.events.values()
        )
    }
    assert taking == {*PLATFORMS}


@pytest.mark.parametrize("dialect", PLATFORMS)
def test_the_next_session_hears_what_the_last_one_left_to_do(
    machine: Machine, dialect: str
) -> None:
    it = PLATFORMS[dialect]
    assert LOADED not in send(machine, dialect, "s1", *it.start)
    send(machine, dialect, "s1", *it.plan)
    if it.end:
        send(machine, dialect, "s1", it.end)
    else:
        assert LOADED not in send(machine, dialect, "s0", *it.start), "s1 may be at work still"
        let_time_pass(machine)
    said = send(machine, dialect, "s2", *it.start)
    assert LOADED in said
    assert f"> - [ ] {OPEN}" in said
    assert "> Issue: 145" in said
    assert LOADED not in send(machine, dialect, "s3", *it.start)


@pytest.mark.parametrize("dialect", [name for name, it in PLATFORMS.items() if it.compaction])
def test_after_a_compaction_the_model_hears_its_anchors_with_the_first_event_that_can_carry_them(
    machine: Machine, dialect: str
) -> None:
    it = PLATFORMS[dialect]
    send(machine, dialect, "s1", *it.start)
    said = [send(machine, dialect, "s1", name) for name in it.compaction]
    if it.afterwards:
        said.append(send(machine, dialect, "s1", *it.afterwards))
        assert AGAIN not in send(machine, dialect, "s1", *it.plan), "told once"
    (told,) = (each for each in said if AGAIN in each)
    assert "> Branch: fix/145-parser" in told, said


def test_kodelet_takes_no_text_so_what_was_left_stays_for_who_does(machine: Machine) -> None:
    plan = {"tool_name": "todo_write", "tool_input": {"todos": items("content", "status")}, "tool_output": {"success": True}}  # fmt: skip
    send(machine, "kodelet", "s1", "after_tool_call", plan)
    let_time_pass(machine)
    send(machine, "kodelet", "s2", "user_message_send", {"message": "go"})
    said = send(machine, "claude-code", "s3", "SessionStart", STARTUP)
    assert "Handoff from the last kodelet session" in said
