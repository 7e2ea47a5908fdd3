"""Stops an agent after a number of model calls."""

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from hookline.builtin._docker_agent import positive
from hookline.model.answers import PASS, Answer, deny
from hookline.model.events import Event, TurnEvent
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("before_llm_call",)
PRIORITY: int = 20
GUARD: bool = True


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many model calls."""

    limit: Annotated[int, Meta(ge=1)] | None = None
    args: tuple[str, ...] | None = None
    """docker-agent's spelling; there, a missing or senseless number means no limit."""

    def __post_init__(self) -> None:
        if self.limit is None and self.args is None:
            raise ValueError("`limit` is missing: after how many model calls to stop")


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    limit = options.limit or positive(options.args or ())

    def answer(event: Event, caller: Caller) -> Answer:
        calls = event.iteration if isinstance(event, TurnEvent) else None
        if limit is None or calls is None or calls <= limit:
            return PASS
        return deny(f"terminated by max_iterations: the limit of {limit} model calls is reached")

    return answer
