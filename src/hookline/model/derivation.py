"""Which moments follow from others: what a platform does not tell, and what it tells instead.

A hook fires wherever its moment exists, whatever the platform calls it. Data and pure questions;
``pipeline/derivation.py`` makes the events.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from hookline.model.events import EVENTS
from hookline.model.support import EventSupport, Support

__all__ = ["COUNTED", "DERIVATIONS", "Coverage", "Derivation"]
__all__ += ["carries_text", "find_carriers", "find_coverage", "needs_derivation"]


class Derivation(Struct, frozen=True):
    """One moment that is derived where a platform has no event of its own for it."""

    event: str
    sources: tuple[str, ...]
    """The canonical events that it follows from; empty: it follows from silence."""
    when: str
    """What must be so, for people: ``from SOURCE, when …``."""
    beside_own: bool = False
    """Also where the platform has an event of its own, which then comes for other calls only."""
    found_by: tuple[str, ...] = ()
    """The builtins of ours that announce it, where it follows from what they count."""


DERIVATIONS = (
    Derivation("session_start", ("user_prompt_submit",), "with the session's first prompt"),
    Derivation("session_resume", ("session_start",), "when its source is `resume`"),
    Derivation("agent_start", ("user_prompt_submit", "subagent_start"), ""),
    Derivation("turn_start", ("user_prompt_submit",), ""),
    Derivation("post_tool_use_failure", ("post_tool_use",), "when the tool failed", True),
    Derivation("post_tool_use", ("post_tool_use_failure",), "when the tool failed", True),
    Derivation(
        "post_compact", ("pre_compact",), "with the next event that can carry text for the model"
    ),
    Derivation("turn_end", ("stop", "stop_failure"), "unless a hook keeps the agent going"),
    Derivation(
        "error",
        ("post_tool_use_failure", "post_tool_use", "stop_failure"),
        "when a tool, the turn or a hook failed",
    ),
    Derivation(
        "session_end", (), "when the agent's process is gone, or after 30 minutes without an event"
    ),
    Derivation("budget_exceeded", (), "", found_by=("budget",)),
    Derivation("loop_detected", (), "", beside_own=True, found_by=("loop-guard",)),
)
"""In the order in which they fire."""

COUNTED = frozenset({"budget_exceeded", "loop_detected"})
"""Those that follow from no other event, but from what builtins count."""

# They bring something only where they say that the tool failed.
_OF_TOOLS = frozenset({"post_tool_use", "post_tool_use_failure"})
_BY_EVENT = {each.event: each for each in DERIVATIONS}


class Coverage(Struct, frozen=True):
    """Whether hooks on one canonical event fire on one platform, and how."""

    how: Literal["native", "derived", "none"]
    by: tuple[str, ...] = ()
    """The native events that bring it, or would; none for what follows from silence."""
    why: str = ""
    """For a derived moment, what must be so; where nothing brings it, what is missing."""

    @property
    def fires(self) -> bool:
        """Whether it fires at all."""
        return self.how != "none"


def needs_derivation(derivation: Derivation, support: Support) -> bool:
    """Whether the platform does not tell the moment by itself."""
    told = any(row.event == derivation.event for row in support.events.values())
    return derivation.beside_own or not told


def carries_text(row: EventSupport) -> bool:
    """Whether text for the model goes out with this event."""
    return EVENTS[row.event].takes_context and row.can("context")


def find_coverage(
    event: str,
    support: Support,
    left_out: Mapping[str, str] = {},
    announced: Mapping[str, Sequence[str]] = {},
    active: Collection[str] | None = None,
) -> Coverage:
    """How hooks on a canonical event fire on a platform.

    ``left_out``: native events on which hookline is not installed there, and why. ``announced``:
    events that builtins from elsewhere announce, and which do. ``active``: the builtins that are
    active beside the hook; None where that is not asked.
    """
    own = _natives(event, support)
    heard = tuple(name for name in own if name not in left_out)
    if heard:
        return Coverage("native", heard)
    if own:
        return Coverage("none", own, f"hookline is not installed on {own[0]}: {left_out[own[0]]}")
    derivation = _BY_EVENT.get(event)
    if derivation is None or event in COUNTED:
        names = (*derivation.found_by, *announced.get(event, ())) if derivation else ()
        found = [each for each in names if active is None or each in active]
        if found:
            return Coverage("derived", (), f"when {' or '.join(found)} finds it")
        if names:
            return Coverage("none", why=f"`use: {names[0]}`, which finds it, is not active here")
        return Coverage("none", why=f"{support.client} has no event for {event}")
    by = tuple(
        name
        for source in derivation.sources
        if source not in _OF_TOOLS or (support.tells_failure and _tells_alone(source, support))
        if source != "session_start" or support.tells_resume
        for name in _natives(source, support)
        if name not in left_out
    )
    if event == "error" and not by:
        return Coverage("derived", (), "when a hook failed")
    if by or event == "session_end":
        return Coverage("derived", by, derivation.when)
    if event == "session_resume" and not _natives("session_end", support):
        return Coverage("derived", (), "when it speaks again after it was taken to be over")
    what = f"has no event for {event}"
    if _OF_TOOLS.intersection(derivation.sources):
        what = "does not say that a tool failed"
    elif event == "session_resume" and not support.tells_resume:
        what = "does not say that a session is resumed"
    return Coverage("none", why=f"{support.client} {what}")


def find_carriers(
    event: str, coverage: Coverage, support: Support, left_out: Mapping[str, str] = {}
) -> tuple[str, ...]:
    """The native events with which hooks on a canonical one run, and with which they answer."""
    if (event, coverage.how) != ("post_compact", "derived"):
        return coverage.by
    rows = ((name, row) for name, row in support.events.items() if name not in left_out)
    return tuple(name for name, row in rows if carries_text(row))


def _tells_alone(source: str, support: Support) -> bool:
    """Whether this event tells of failed tools: what succeeds has its own where failures have."""
    return source != "post_tool_use" or not _natives("post_tool_use_failure", support)


def _natives(event: str, support: Support) -> tuple[str, ...]:
    return tuple(name for name, row in support.events.items() if row.event == event)
