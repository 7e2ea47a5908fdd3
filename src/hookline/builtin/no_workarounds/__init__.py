"""Remembers what was denied in a session, and denies the same act by any other route.

Goes by what a call would do and to what, not by its words. The model is told which hook denied it
before, and why. docs/guards.md says what it does not see.
"""

from collections.abc import Callable
from typing import Annotated, Literal

from msgspec import Meta, Struct

from hookline.builtin._paths import Names
from hookline.model.answers import PASS, Answer
from hookline.model.denials import Denial
from hookline.model.events import Event, ToolEvent
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("pre_tool_use",)
ALSO: tuple[str, ...] = ("permission_request",)
PRIORITY: int = 20
GUARD: bool = True

_NAME = "no-workarounds"


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long a denial holds, and whose."""

    after_prompt: Literal["ask", "deny", "forget"] = "ask"
    """What is said once the person has sent another prompt, which may have granted it."""
    ignore: tuple[Annotated[str, Meta(min_length=1)], ...] = ()
    """Globs of names of hooks whose denials are not held against other routes."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    ignored = Names(options.ignore)

    def answer(event: Event, caller: Caller) -> Answer:
        # Nearly always nothing was denied before, and nothing more needs to be loaded.
        if not caller.denied or not isinstance(event, ToolEvent):
            return PASS
        held = [
            each
            for each in caller.denied
            if not ignored(each.hook) and not (each.prompted and options.after_prompt == "forget")
        ]
        if not held:
            return PASS
        from hookline.builtin.no_workarounds import answering

        return answering.answer(event, caller, held, asks=options.after_prompt == "ask")

    return answer


def learn(outcome: Outcome, caller: Caller) -> Denial | None:
    """What to remember of a call that was denied, whichever hook denied it."""
    from hookline.builtin.no_workarounds import remembering

    try:
        return remembering.learned(outcome, caller, _NAME)
    except Exception:  # it is denied all the same, and must not become an error by this
        return None
