"""Takes the machine out of recorded payloads, and leaves what they say of the client.

Knows paths, ids, times, names and secrets; must not know any client. What was one id in a session
stays one id, and the same session gives the same text wherever and whenever it is recorded.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from hookline.lab.ports import Room
from hookline.secrets import redact_bytes

__all__ = ["Sanitiser", "names_of", "places_of"]

_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.I)
_ID_KEY = re.compile(r"(?:^|_)ids?$|Ids?$|ID$|[hH]ash$")
# What an id of a client's starts with says what it is of: toolu_, call_, hook-agent-, a….
_PREFIX = re.compile(r"(?:[A-Za-z]+[_-])*[A-Za-z]?")
# Shorter ones are counted (task 1, window 12), and say nothing of a machine.
_SHORTEST_ID = 8

# Times keep their shape; the day is one that every recording shares.
_DAY, _MILLISECONDS = ("2026", "01", "01"), 1_767_225_600_000
_MOMENT = re.compile(r"\b20\d\d-[01]\d-[0-3]\d(?=[T ]\d\d)|\b20\d\d/[01]\d/[0-3]\d\b")
_CLOCK = re.compile(r"(?<=2026-01-01)([T ])(\d\d)([:-])(\d\d)(?:([:-])(\d\d)(\.\d+)?)?")
_SPOKEN_DAY = re.compile(r"\b[A-Z][a-z]+day, [A-Z][a-z]+ [0-3]?\d, 20\d\d\b")
_TIME_KEY = re.compile(r"timestamp|(?:^|_)time$|Time$|_at$|At$")
_EARLIEST = 1_500_000_000
# How long something took, and the number of a process, are the machine's and say nothing.
_LASTING_KEY = re.compile(r"duration|elapsed|_ms$|Ms$|^seconds_")
_PROCESS = re.compile(r"(?<=\bPGID: )\d+|(?<=\bPID: )\d+|(?<=\bPIDs: )\d+")
_PORT = re.compile(r"(?<=127\.0\.0\.1:)\d{2,5}\b|(?<=localhost:)\d{2,5}\b")

# Names that everybody's machine has, and that are words as well.
_COMMON = {"root", "localhost", "dev", "user", "home", "admin", "runner", ""}


def places_of(room: Room, programs: Sequence[str] = (), own_home: str = "") -> dict[str, str]:
    """Where each place of a session is said to be, whoever recorded it.

    ``programs`` are what is run there, ``own_home`` is the home of whoever records: neither is in
    the room, but a client may name them.
    """
    shown = {
        room.project: "/home/dev/project",
        room.home: "/home/dev",
        room.tmp: "/tmp",  # noqa: S108 - what the reader is told, not a file of ours
        room.root: "/home/lab",
        own_home: "/home/dev",
    }
    for word in (each for each in programs if os.path.isabs(each)):
        shown[os.path.dirname(word)] = "/usr/local/bin"
    real = {os.path.realpath(path): name for path, name in shown.items() if path}
    both = {**real, **shown}
    return {path: name for path, name in both.items() if len(path) > 1}


def names_of(user: str, host: str) -> dict[str, str]:
    """What the person and the machine are called instead."""
    named = {user: "dev", host: "devhost", host.partition(".")[0]: "devhost"}
    return {name: said for name, said in named.items() if name.lower() not in _COMMON}


class Sanitiser:
    """One session's payloads, cleaned one after the other with the same memory of ids."""

    def __init__(
        self,
        places: Mapping[str, str],
        names: Mapping[str, str] | None = None,
        *,
        seed: str = "",
    ) -> None:
        """``seed`` sets the ids of one session apart from those of another."""
        self._seed = seed
        self._places = [
            *((_place(path), shown) for path, shown in _by_length(places)),
            *((re.compile(re.escape(path)), shown) for path, shown in _by_length(_slugs(places))),
        ]
        self._names = [(_word(name), shown) for name, shown in (names or {}).items()]
        self._ids: dict[str, str] = {}
        self._beginnings: dict[str, str] = {}

    def clean(self, payload: Any) -> Any:
        """The payload as it may be shown to anyone."""
        for found in _ids_in(payload):
            self._remember(found)
        cleaned = self._cleaned(payload)
        raw = json.dumps(cleaned, ensure_ascii=False).encode("utf-8", "surrogatepass")
        return json.loads(redact_bytes(raw).raw)

    def _cleaned(self, value: Any, key: str = "") -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {self._text(name): self._cleaned(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [self._cleaned(each, key) for each in value]
        if _TIME_KEY.search(key) and isinstance(value, int | float) and value > _EARLIEST:
            return _moment(value)
        if _LASTING_KEY.search(key) and isinstance(value, int | float):
            return type(value)(1)
        return value

    def _text(self, text: str) -> str:
        for pattern, shown in (*self._places, *self._names):
            text = pattern.sub(shown, text)
        for real, fake in _by_length(self._ids):
            text = text.replace(real, fake)
        for real, fake in self._beginnings.items():
            text = _word(real).sub(fake, text)
        text = _MOMENT.sub(lambda found: found[0][4].join(_DAY), text)
        text = _SPOKEN_DAY.sub("Thursday, January 1, 2026", text)
        text = _PROCESS.sub("4242", _CLOCK.sub(_midnight, text))
        return _PORT.sub("8080", text)

    def _remember(self, found: str) -> None:
        if found in self._ids:
            return
        fake = _fake(found, f"{self._seed} {len(self._ids) + 1}")
        self._ids[found] = fake
        # Clients name files after the first group of a session's id.
        if _UUID.fullmatch(found):
            self._beginnings.setdefault(found[:8], fake[:8])


def _ids_in(value: Any, key: str = "") -> Iterator[str]:
    """Every id in a payload, in the order in which it is written there."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _ids_in(each, name)
    elif isinstance(value, list):
        for each in value:
            yield from _ids_in(each, key)
    elif isinstance(value, str):
        yield from _UUID.findall(value)
        if _ID_KEY.search(key) and _is_id(value):
            yield value


def _is_id(value: str) -> bool:
    """Whether a machine made it: long, of one piece, and with a digit in it."""
    return (
        len(value) >= _SHORTEST_ID
        and re.fullmatch(r"[\w-]+", value) is not None
        and any(each.isdigit() for each in value)
        and not _UUID.search(value)
    )


def _fake(real: str, seed: str) -> str:
    """An id of the same form that nobody was ever given."""
    digits = iter(sha256(seed.encode()).hexdigest() * (len(real) // 64 + 1))
    if _UUID.fullmatch(real):
        # The version's digit is part of the form.
        return "".join(c if c == "-" or at == 14 else next(digits) for at, c in enumerate(real))
    start = _PREFIX.match(real)
    kept = start[0] if start else ""
    return kept + "".join(next(digits) if c.isalnum() else c for c in real[len(kept) :])


def _moment(value: float) -> float:
    """A number that counts from 1970, at the recordings' common day; as fine as it was."""
    unit = 1 if value > 100_000_000_000 else 1000
    return _MILLISECONDS // unit if isinstance(value, int) else _MILLISECONDS / unit


def _midnight(found: re.Match[str]) -> str:
    """The time of day in its own shape."""
    seconds = f"{found[5]}00" if found[5] else ""
    return f"{found[1]}00{found[3]}00{seconds}" + re.sub(r"\d", "0", found[7] or "")


def _place(path: str) -> re.Pattern[str]:
    """A path and what is below it. A short one may be the end of another, which is not meant."""
    before = r"(?<![\w.])" if path.count("/") < 3 else ""
    return re.compile(rf"{before}{re.escape(path)}(?![A-Za-z0-9])")


def _word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(text)}(?![A-Za-z0-9])")


def _slugs(places: Mapping[str, str]) -> dict[str, str]:
    """Paths as clients make file names of them: each character that is no letter a dash."""
    return {_slug(path): _slug(shown) for path, shown in places.items() if path.count("/") > 1}


def _slug(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def _by_length(pairs: Mapping[str, str]) -> list[tuple[str, str]]:
    """The longest first: a part must not be replaced before the whole is."""
    return sorted(pairs.items(), key=lambda pair: (-len(pair[0]), pair[0]))
