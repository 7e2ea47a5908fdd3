"""What a platform can say on which of its events, as data; ``support.toml`` in each dialect."""

from collections.abc import Mapping

from msgspec import Struct

from hookline.model.errors import IllegalValueError
from hookline.model.events import EVENTS

__all__ = ["CELLS", "SUBSTITUTES", "EventSupport", "Support"]

# What may stand in a cell beside "yes": what is said instead, never weaker than what was meant.
# `later` is the next turn of the session, or the next prompt.
SUBSTITUTES: Mapping[str, frozenset[str]] = {
    "allow": frozenset({"pass"}),
    "ask": frozenset({"deny"}),
    "deny": frozenset({"feedback", "halt", "none"}),
    "halt": frozenset({"deny", "latch"}),
    "context": frozenset({"later", "notice", "none"}),
    "notice": frozenset({"none"}),
    "follow_up": frozenset({"none"}),
    "input": frozenset({"deny"}),
    "output": frozenset({"deny", "feedback", "none"}),
    "prompt": frozenset({"deny", "none"}),
    "messages": frozenset({"deny", "none"}),
    "summary": frozenset({"deny", "none"}),
    "env": frozenset({"deny", "none"}),
    "display": frozenset({"none"}),
}
CELLS = tuple(SUBSTITUTES)


class EventSupport(Struct, frozen=True, kw_only=True):
    """One native event: which canonical one it is, and what can be said on it."""

    native: str
    event: str
    cells: Mapping[str, str]
    source: str = ""
    """Where this is known from: a page of the specification, or what the real client did."""

    def __post_init__(self) -> None:
        for cell, value in self.cells.items():
            if cell not in SUBSTITUTES:
                raise IllegalValueError(f"{self.native}: no capability is called `{cell}`")
            if value != "yes" and value not in SUBSTITUTES[cell]:
                raise IllegalValueError(f"{self.native}.{cell}: `{value}` is no substitute")

    @property
    def is_gate(self) -> bool:
        """Whether the event can be blocked, and a block does not keep the agent going."""
        return EVENTS[self.event].gate and not EVENTS[self.event].continues

    @property
    def can_block(self) -> bool:
        """Whether a deny holds something back here: what is about to happen, or its output."""
        return self.is_gate or EVENTS[self.event].hides

    def can(self, cell: str) -> bool:
        """Whether the platform can say this here."""
        return self.cells.get(cell) == "yes"

    def instead(self, cell: str) -> str:
        """What is said here instead."""
        return self.cells.get(cell, "none")


class Support(Struct, frozen=True, kw_only=True):
    """A whole platform."""

    id: str
    client: str
    version: str
    events: Mapping[str, EventSupport]
    project_variable: str | None = None
    context_limit: int | None = None
    """How many characters of context the client passes on uncut."""
    stop_cap: int | None = None
    """After how many continuations the client ends the turn by itself; None when never."""
    has_stop_flag: bool = True
    """Whether stop events tell that a continuation is under way."""
    tells_failure: bool = True
    """Whether what comes after a tool says that it failed."""
    tells_resume: bool = True
    """Whether what begins a session says that it is an earlier one."""
    beyond: tuple[str, ...] = ()
    """What no hook reaches on this client, a sentence each."""

    def find(self, native: str) -> EventSupport | None:
        """The event with this native name."""
        return self.events.get(native)

    def own_name(self, name: str) -> str:
        """The platform's own spelling of an event's name, where only the spelling is another."""
        if name in self.events:
            return name
        plain = _plain(name)
        return next((each for each in self.events if _plain(each) == plain), name)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()
