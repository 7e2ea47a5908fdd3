"""What every event carries."""

import os
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

from msgspec import Raw, Struct, field

__all__ = ["Agent", "Budget", "Event", "Workspace", "new_id", "snake_case"]


def snake_case(name: str) -> str:
    """``PreToolUse`` → ``pre_tool_use``."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


def new_id() -> str:
    """One that no other event has."""
    try:
        return _ids.pop()
    except IndexError:
        # Some at once: each event draws one, and to ask the system takes as long as all the rest
        # of making an event.
        drawn = os.urandom(8 * _DRAWN).hex()
        _ids.extend(f"e{drawn[at : at + 16]}" for at in range(16, len(drawn), 16))
        return f"e{drawn[:16]}"


_DRAWN = 16
_ids: list[str] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ids.clear)  # or both would go on with the same ones


def _now() -> datetime:
    return datetime.now(UTC)


def _no_raw() -> Raw:
    return Raw(b"null")


class Agent(Struct, frozen=True, kw_only=True):
    """Who acted: the main agent at depth 0, or a sub-agent below it."""

    name: str = "root"
    depth: int = 0
    id: str | None = None
    parent: str | None = None


class Budget(Struct, frozen=True, kw_only=True):
    """How much of the session's allowance is gone, where the platform says so."""

    used_tokens: int | None = None
    effective_limit: int | None = None
    used_usd: float | None = None
    limit_usd: float | None = None


class Workspace(Struct, frozen=True, kw_only=True):
    """What the work is about: empty where neither git's files nor the environment tell."""

    repository: str = ""
    """``owner/name``."""
    branch: str = ""
    issue: str = ""
    """The number or key in the branch's name: ``145``, ``ABC-12``."""


class Event(Struct, frozen=True, kw_only=True, tag_field="event", tag=snake_case):
    """Something that happened in an agent's life, in canonical form."""

    # Blocking is possible somewhere on a gate event, so a failure there must close it.
    gate: ClassVar[bool] = False
    # Whether text for the model has a place to go.
    takes_context: ClassVar[bool] = False
    # Deny means "keep working, with this text".
    continues: ClassVar[bool] = False
    allows: ClassVar[bool] = False
    asks: ClassVar[bool] = False
    # Deny on a gate event blocks; on these others the model sees the reason instead of the output.
    hides: ClassVar[bool] = False
    rewrites: ClassVar[frozenset[str]] = frozenset()

    version: Literal[1] = field(default=1, name="hookline")
    id: str = field(default_factory=new_id)
    session_id: str = ""
    cwd: str = ""
    time: datetime = field(default_factory=_now)
    agent: Agent = Agent()
    dialect: str = "canonical"
    native_event: str = ""
    derived_from: str = ""
    """The event that told of this moment, where the platform has none of its own for it."""
    budget: Budget | None = None
    transcript_path: str = ""
    permission_mode: str = ""
    """The platform's own word: ``default``, ``plan``, ``bypassPermissions``, …"""
    model: str = ""
    turn_id: str = ""
    """Equal for all events between one prompt and the next, where the platform says so."""
    workspace: Workspace | None = None
    raw: Raw = field(default_factory=_no_raw)
    """The native payload, untouched."""

    @classmethod
    def event_id(cls) -> str:
        """The name in files: ``pre_tool_use``."""
        return str(cls.__struct_config__.tag)

    def matchable(self, key: str) -> Any:
        """The event's own value for a match key that is no tool field, if it has one."""
        return getattr(self, key, None)
