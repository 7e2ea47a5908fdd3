"""Finds an agent that repeats itself without getting anywhere, warns it, and then holds it back.

Judges calls and what came of them: the third identical failure within six minutes, other
repetitions by the sixth, calls in turn whose outcomes stay the same, compaction again and again.
Waiting, polling and tests with edits between them are no loops. See docs/loop-guard.md.
"""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from hookline.model.answers import PASS, Announcement, Answer
from hookline.model.events import (
    Event,
    PreCompact,
    SessionEnd,
    ToolEvent,
    UserPromptSubmit,
)
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = (
    *("pre_tool_use", "post_tool_use", "post_tool_use_failure"),
    *("pre_compact", "user_prompt_submit", "session_end"),
)
# After all that rewrite a call: what is held back is the call that would be made.
PRIORITY: int = 95
# It holds back what is of no use, not what is dangerous: when it fails, the agent goes on.
GUARD: bool = False
JUDGES: bool = True
ALL_OF: tuple[str, ...] = ("pre_tool_use", "post_tool_use")
FIRES: tuple[str, ...] = ("loop_detected",)
# It remembers what it is asked about.
ACTS: tuple[str, ...] = EVENTS

_HEARD = (ToolEvent, PreCompact, UserPromptSubmit, SessionEnd)


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What counts as a loop, and what is done about it."""

    failures: Annotated[int, Meta(ge=2, le=30)] = 3
    """How often the same call may fail in the same way."""
    repeats: Annotated[int, Meta(ge=3, le=40)] = 6
    """How often the same call may have the same outcome otherwise."""
    minutes: Annotated[int, Meta(ge=1, le=24 * 60)] = 6
    """Within how many minutes."""
    halt: bool = True
    """Whether the run is stopped when a call that was denied twice comes again."""


def make(options: Options) -> Callable[[Event, Caller], Answer | Announcement]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer | Announcement:
        if not event.session_id or caller.state is None or not isinstance(event, _HEARD):
            return PASS
        from hookline.builtin.loop_guard import answering

        return answering.answer(event, caller.state(), options)

    return answer
