"""What the model is told later: of hooks that failed at an end, and what an event cannot carry."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.app import App
from hookline.model.answers import PASS, Answer
from hookline.model.events import (
    Agent,
    Event,
    PreToolUse,
    Stop,
    SubagentStop,
    TaskCompleted,
    TeammateIdle,
    UserPromptSubmit,
)
from hookline.pipeline.judge import judge

ENDINGS: list[type[Event]] = [Stop, SubagentStop, TeammateIdle, TaskCompleted]
PROMPT = UserPromptSubmit(prompt="go on", session_id="s")


class Session:
    """Events of one machine, each judged by an app of its own, as in processes of their own."""

    def __init__(self, directory: Path, hook: str, more: str = "") -> None:
        self.directory = directory
        events = ", ".join(each.event_id() for each in ENDINGS)
        config = f"version: 1\nhooks:\n  - {{name: check, on: [{events}], {hook}}}\n{more}"
        (directory / "hookline.yaml").write_text(config, encoding="utf-8")

    def fire(self, event: Event) -> tuple[str, ...]:
        """What the model is told."""
        app = App(
            env={"PATH": os.defpath, "HOME": str(self.directory)},
            cwd=str(self.directory),
            home=str(self.directory / "state"),
            config="hookline.yaml",
            remember=True,
            managed=str(self.directory / "none"),
        )
        outcome = asyncio.run(judge(event, app))
        self.notice = outcome.answer.notice
        assert not outcome.answer.follow_up
        return outcome.answer.context


@pytest.mark.parametrize("ending", ENDINGS)
def test_whichever_end_it_failed_on_the_next_prompt_tells_it_once(
    ending: type[Event], tmp_path: Path
) -> None:
    session = Session(tmp_path, "run: ./gone")
    assert session.fire(ending(session_id="s")) == ()
    assert "check" in session.notice[0]
    (line,) = session.fire(PROMPT)
    assert ending.event_id() in line
    assert "check" in line
    assert session.fire(PROMPT) == ()


@pytest.mark.parametrize(
    "event",
    [
        PreToolUse(session_id="s"),
        Stop(session_id="other"),
        UserPromptSubmit(prompt="x", session_id="other"),
        UserPromptSubmit(prompt="x", session_id="s", automatic=True),
        UserPromptSubmit(prompt="x", session_id="s", agent=Agent(name="helper", depth=1)),
        UserPromptSubmit(prompt="forbidden", session_id="s"),
    ],
)
def test_nothing_but_a_prompt_that_reaches_the_model_uses_the_line_up(
    event: Event, tmp_path: Path
) -> None:
    deny = "  - {name: no, on: user_prompt_submit, run: 'grep -q forbidden && exit 2 || true'}\n"
    session = Session(tmp_path, "run: ./gone", deny)
    session.fire(Stop(session_id="s"))
    assert session.fire(event) == ()
    assert len(session.fire(PROMPT)) == 1


@pytest.mark.parametrize(
    "hook", ["run: 'true'", "run: ./gone, mode: observe", "run: ./gone, on_error: ignore"]
)
def test_what_did_not_fail_or_does_not_count_is_not_told(hook: str, tmp_path: Path) -> None:
    session = Session(tmp_path, hook)
    session.fire(Stop(session_id="s"))
    assert session.notice == ()
    assert session.fire(PROMPT) == ()


def test_a_hook_that_fails_again_and_again_is_told_once_and_briefly(tmp_path: Path) -> None:
    session = Session(
        tmp_path, "run: 'echo x | head -c 900 /dev/zero | tr \"\\\\0\" x >&2; exit 9'"
    )
    for _ in range(3):
        session.fire(Stop(session_id="s"))
    (line,) = session.fire(PROMPT)
    assert len(line) <= 200


# ── context that an event cannot carry ──


def fire_native(event: Event, directory: Path) -> Answer:
    """What docker-agent is told of one of its events."""
    app = App(
        env={"PATH": os.defpath, "HOME": str(directory)},
        cwd=str(directory),
        home=str(directory / "state"),
        config="hookline.yaml",
        remember=True,
        managed=str(directory / "none"),
    )
    outcome = asyncio.run(judge(event, app))
    return registry.dialect("docker-agent").translate(outcome).answer


def native(name: str, session: str = "s", **fields: Any) -> Event:
    payload = {"hook_event_name": name, "session_id": session, "cwd": "/", **fields}
    return registry.dialect("docker-agent").decode(json.dumps(payload).encode(), name)


@pytest.mark.parametrize("dropped", ["post_tool_use", "stop"])
@pytest.mark.parametrize("carrier", ["turn_start", "user_prompt_submit"])
def test_context_that_the_client_drops_goes_out_once_with_what_begins_next(
    dropped: str, carrier: str, tmp_path: Path
) -> None:
    said = json.dumps({"context": ["MK_REMARK"]})
    config = f"version: 1\nhooks:\n  - {{on: [post_tool_use, stop], run: [echo, '{said}']}}\n"
    (tmp_path / "hookline.yaml").write_text(config, encoding="utf-8")
    for _ in range(2):  # said twice, it is told once
        assert fire_native(native(dropped, tool_name="shell", tool_response="a"), tmp_path) == PASS
    for other in (native(carrier, "other"), native("pre_compact"), native("turn_end")):
        assert fire_native(other, tmp_path).context == ()
    (told,) = fire_native(native(carrier), tmp_path).context
    assert "MK_REMARK" in told
    assert fire_native(native(carrier), tmp_path).context == ()
