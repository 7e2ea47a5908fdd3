"""What reaches a person, and what a person is asked."""

from typing import Any, ClassVar

from hookline.model.events.base import Event


class Notification(Event, frozen=True, kw_only=True):
    """Fires when the host tells the person something."""

    kind: str = ""
    message: str = ""


class UserInput(Event, frozen=True, kw_only=True):
    """Fires when the host waits for the person."""

    why: str = ""


class Elicitation(Event, frozen=True, kw_only=True):
    """Fires when an MCP server wants to ask the person something."""

    gate: ClassVar[bool] = True
    allows: ClassVar[bool] = True
    server: str = ""
    message: str = ""
    schema: dict[str, Any] | None = None


class ElicitationResult(Event, frozen=True, kw_only=True):
    """Fires when the person answered an MCP server."""

    action: str = ""
    content: Any = None


class MessageDisplay(Event, frozen=True, kw_only=True):
    """Fires when the model's text is about to be shown."""

    rewrites: ClassVar[frozenset[str]] = frozenset({"display"})
    text: str = ""
    final: bool = False
