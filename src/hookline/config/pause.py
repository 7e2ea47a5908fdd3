"""A pause in which only managed hooks are in force: from now, for a while, never for long.

Knows the file that says so; must not know who may ask for a pause.
"""

import os
import re
from contextlib import suppress

import msgspec
from msgspec import Struct

from hookline.config.reading import make_private, read_file, write_file
from hookline.model.errors import HooklineError

__all__ = ["Pause", "end_pause", "parse_duration", "pause_file", "read_pause", "start_pause"]

LONGEST = 24 * 3600.0

_DURATION = re.compile(r"(\d{1,6})\s*(s|m|h)")
_SECONDS = {"s": 1, "m": 60, "h": 3600}


class Pause(Struct, frozen=True, forbid_unknown_fields=True, rename={"since": "from"}):
    """When hooks are not in force, in seconds since 1970."""

    since: float
    until: float

    def holds(self, now: float) -> bool:
        """Whether it is on; a clock that was put back does not make it longer."""
        return self.since <= now < self.until <= self.since + LONGEST


def pause_file(home: str) -> str:
    """The file that says so."""
    return os.path.join(home, "pause.json")


def read_pause(home: str) -> Pause | None:
    """The pause that was last asked for, over or not; None when what is there is no pause."""
    try:
        raw, _ = read_file(pause_file(home), limit=1_000)
        return msgspec.json.decode(raw, type=Pause)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return None


def start_pause(home: str, seconds: float, *, now: float) -> Pause:
    """Pause from now on; replaces a pause that is on."""
    pause = Pause(now, now + seconds)
    try:
        make_private(home)
        write_file(pause_file(home), msgspec.json.encode(pause))
    except OSError as error:
        raise HooklineError(f"`{home}` cannot be written: {error.strerror}") from error
    return pause


def end_pause(home: str) -> bool:
    """Put all hooks in force again; False when there was no pause."""
    with suppress(FileNotFoundError):
        os.unlink(pause_file(home))
        return True
    return False


def parse_duration(text: str) -> float:
    """The seconds in ``90s``, ``10m`` or ``2h``; raises HooklineError, also for more than a day."""
    found = _DURATION.fullmatch(text.strip())
    if not found:
        raise HooklineError(f"`{text}` is no duration: write 90s, 10m or 2h")
    seconds = float(int(found[1]) * _SECONDS[found[2]])
    if not 0 < seconds <= LONGEST:
        raise HooklineError(f"`{text}`: a pause lasts more than nothing and at most 24h")
    return seconds
