"""Which sessions have asked something lately, and whether their events held up the others."""

import re

from msgspec import Struct

from hookline.daemon.frames import Request

__all__ = ["Sessions", "depth_of", "session_of"]

_KEPT = 1024
_RECENT = 900.0
_QUICK = 0.02
_DEEPEST = 4
# Where a client names the session; only who waits for whom depends on it, never a verdict.
_SESSION = re.compile(rb'"(?:session_?[iI]d|conversation_id|thread_id)"\s*:\s*"([^"]{1,200})"')
_SESSION_WITHIN = 4096


class _Session(Struct):
    at: float = 0.0
    quick: bool = False


class Sessions:
    """The last sessions, by the name that their payloads give them."""

    def __init__(self) -> None:
        self._known: dict[str, _Session] = {}

    def seen(self, name: str, now: float) -> bool:
        """Notes an event; whether the one before it in this session was quick to begin with."""
        known = self._known.pop(name, None) or _Session()
        known.at = now
        self._known[name] = known
        if len(self._known) > _KEPT:
            del self._known[next(iter(self._known))]
        return known.quick

    def timed(self, name: str, seconds: float) -> None:
        """How long an event held up everything else when it began."""
        known = self._known.get(name)
        if known is not None:
            known.quick = seconds < _QUICK

    def recent(self, now: float) -> int:
        """How many have asked something in the last quarter of an hour."""
        return sum(now - known.at < _RECENT for known in self._known.values())


def session_of(request: Request) -> str:
    """The session's own name, or the directory that the client is in."""
    found = _SESSION.search(request.stdin, 0, _SESSION_WITHIN)
    return str(found[1], "utf-8", "replace") if found else request.cwd


def depth_of(request: Request) -> int:
    """How many hooks deep the agent is that asks."""
    text = request.env.get("HOOKLINE_DEPTH", "")
    return min(int(text[:2]), _DEEPEST) if text.isascii() and text.isdigit() else 0
