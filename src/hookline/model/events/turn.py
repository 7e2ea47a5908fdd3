"""The agent's turns and its calls to a model."""

from typing import Any, ClassVar

from hookline.model.events.base import Event


class TurnEvent(Event, frozen=True, kw_only=True):
    """The turn and model family."""

    model: str = ""
    iteration: int | None = None
    messages: tuple[dict[str, Any], ...] = ()
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None


class AgentStart(TurnEvent, frozen=True, kw_only=True):
    """Fires when an agent's loop begins."""

    takes_context: ClassVar[bool] = True


class TurnStart(TurnEvent, frozen=True, kw_only=True):
    """Fires at the start of each turn of the loop."""

    takes_context: ClassVar[bool] = True


class TurnEnd(TurnEvent, frozen=True, kw_only=True):
    """Fires at the end of each turn of the loop."""

    reason: str = ""


class BeforeLlmCall(TurnEvent, frozen=True, kw_only=True):
    """Fires before each request to a model."""

    gate: ClassVar[bool] = True
    takes_context: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"messages"})


class AfterLlmCall(TurnEvent, frozen=True, kw_only=True):
    """Fires after each answer of a model."""

    hides: ClassVar[bool] = True


class ToolSelection(TurnEvent, frozen=True, kw_only=True):
    """Fires when the tools a model may choose from are picked."""

    gate: ClassVar[bool] = True
    tools: tuple[str, ...] = ()
