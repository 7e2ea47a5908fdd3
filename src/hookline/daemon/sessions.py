"""Which sessions have asked something lately, and whether their events held up the others."""

import re

from msgspec import Struct

from hookline.daemon.frames import Request

__all__ = ["QUICK", "Session", "Sessions", "depth_of", "session_of"]

QUICK = 0.02
"""Seconds: an event that holds up all others for longer is not quick."""

_RECENT = 900.0  # seconds: what a session asked before is long ago
_KEPT = 1024
_DEEPEST = 4
# Where a client names the session; only who waits for whom depends on it, never a verdict.
_SESSION = re.compile(rb'"(?:session_?[iI]d|conversation_id|thread_id)"\s*:\s*"([^"]{1,200})"')
_SESSION_WITHIN = 4096


class Session(Struct):
    """What is remembered of one."""

    name: str
    at: float = 0.0
    quick: bool = False
    """Whether its last event was quick to begin with: only then is the next one taken for quick."""


class Sessions:
    """The last sessions, by the name that their payloads give them."""

    def __init__(self) -> None:
        self._known: dict[str, Session] = {}

    def seen(self, name: str, now: float) -> Session:
        """Notes an event, and returns what is known of its session."""
        known = self._known.pop(name, None) or Session(name)
        known.at = now
        self._known[name] = known
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return known

    def recent(self, now: float) -> int:
        """How many have asked something lately."""
        return sum(now - known.at < _RECENT for known in self._known.values())


def session_of(request: Request) -> str:
    """The session's own name, or the directory that the client is in."""
    found = _SESSION.search(request.stdin, 0, _SESSION_WITHIN)
    return str(found[1], "utf-8", "replace") if found else request.cwd


def depth_of(request: Request) -> int:
    """How many hooks deep the agent is that asks."""
    text = request.env.get("HOOKLINE_DEPTH", "")
    return min(int(text[:2]), _DEEPEST) if text.isascii() and text.isdigit() else 0
