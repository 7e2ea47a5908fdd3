"""Judges shell commands by what they would do, where, and whether it can be undone.

Denies what nothing brings back, asks about what is risky or cannot be read, and leaves the rest
alone; text that only mentions danger is no danger. docs/shell-guard.md says what it does not see.
"""

from collections.abc import Callable
from functools import cache
from typing import Annotated, Literal

from msgspec import Meta, Struct

from hookline.model.answers import PASS, Answer
from hookline.model.events.base import Event
from hookline.model.events.tool import ToolEvent
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("pre_tool_use",)
PRIORITY: int = 20
GUARD: bool = True

Category = Literal[
    "deletes", "overwrites", "discards-work", "rewrites-history", "publishes", "sends-out",
    "reads-secret", "escalates", "kills", "changes-system", "changes-remote", "runs-unseen-code",
    "weakens-guard", "unreadable", "protected",
]  # fmt: skip
Texts = tuple[Annotated[str, Meta(min_length=1)], ...]


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How strict to be, and what is always or never meant."""

    mode: Literal["strict", "balanced", "autonomous"] = "balanced"
    """strict denies what is risky; autonomous asks nobody: it passes or denies."""
    allow: Texts = ()
    """Commands that pass, as globs over the words of one simple command."""
    deny: Texts = ()
    """Commands that are denied."""
    protect: Texts = ()
    """Paths, and all below them, that are neither written nor removed."""
    ignore: tuple[Category, ...] = ()
    """Kinds of harm that are none here."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer:
        command = event.tool.command if isinstance(event, ToolEvent) else None
        if not command:
            return PASS
        return _answer()(command, event, caller, options)

    return answer


@cache
def _answer() -> Callable[[str, Event, Caller, Options], Answer]:
    """What answers, loaded with the first command."""
    from hookline.builtin.shell_guard import answering

    return answering.answer
