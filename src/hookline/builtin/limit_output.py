"""Keeps large tool outputs out of the model's context: a part is shown, all of it is in a file."""

from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct

from hookline.builtin._spill import Limits, forget, spilled
from hookline.model.answers import PASS, Answer, Rewrite
from hookline.model.events import Event, SessionEnd, ToolEvent
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("post_tool_use", "tool_response_transform", "session_end")
PRIORITY: int = 60
GUARD: bool = False
EFFECT: str = "output"
ACTS: tuple[str, ...] = EVENTS


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of an output is shown, and which end of it."""

    max_bytes: Annotated[int, Meta(ge=1, le=100_000_000)] = 51_200
    max_lines: Annotated[int, Meta(ge=1, le=10_000_000)] = 2_000
    keep: Literal["tail", "head"] = "tail"


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    head = options.keep == "head"
    limits = Limits(bytes=options.max_bytes, lines=options.max_lines, head=head)

    def answer(event: Event, caller: Caller) -> Answer:
        if isinstance(event, SessionEnd):
            forget(caller, event.session_id)
            return PASS
        if not isinstance(event, ToolEvent) or event.derived_from:
            return PASS  # what a failed tool said cannot be replaced
        shown = spilled(event.tool.output or "", limits, caller, event.session_id)
        return PASS if shown is None else Answer(rewrite=Rewrite(output=shown))

    return answer
