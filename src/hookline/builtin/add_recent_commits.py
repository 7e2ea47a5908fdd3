"""Tells the model the latest commits."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta

from hookline.builtin._docker_agent import CONTEXT_EVENTS, ArgsOptions, positive
from hookline.builtin._git import ask_git
from hookline.model.answers import PASS, Answer, context
from hookline.model.events import Event
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("session_start",)
ALSO: tuple[str, ...] = CONTEXT_EVENTS
PRIORITY: int = 50
GUARD: bool = False
EFFECT: str = "context"
NEEDS = ("git",)
WAITS: bool = True

DEFAULT = 10


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many commits."""

    limit: Annotated[int, Meta(ge=1)] | None = None


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    limit = options.limit or positive(options.args) or DEFAULT

    def answer(event: Event, caller: Caller) -> Answer:
        log = ask_git(event.cwd, caller, "log", "--oneline", "-n", str(limit)) if event.cwd else ""
        return context(f"Recent commits:\n\n{log}") if log else PASS

    return answer
