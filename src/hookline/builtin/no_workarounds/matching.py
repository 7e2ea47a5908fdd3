"""Whether what a call would do is what was denied before: the same act to the same target."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import lru_cache

from hookline.builtin.no_workarounds.doings import Deed, Doing
from hookline.files import read_regular
from hookline.model.denials import DeniedAct

__all__ = ["ALL_OF_IT", "FILED", "in_python", "same"]

# What is the same as, or no less than, what was denied.
_SAME: Mapping[str, frozenset[Deed]] = {
    Deed.DELETE: frozenset({Deed.DELETE, Deed.EMPTY}),
    Deed.EMPTY: frozenset({Deed.DELETE, Deed.EMPTY}),
    Deed.WRITE: frozenset({Deed.WRITE, Deed.EMPTY, Deed.LINK, Deed.RESTORE}),
    Deed.READ: frozenset({Deed.READ, Deed.TAKE}),
    Deed.FETCH: frozenset({Deed.FETCH, Deed.SEND}),
    Deed.PUSH: frozenset({Deed.PUSH, Deed.FORCE_PUSH}),
}
FILED = frozenset({
    Deed.DELETE, Deed.EMPTY, Deed.WRITE, Deed.READ, Deed.TAKE, Deed.LINK, Deed.MODE, Deed.RESTORE,
})  # fmt: skip
"""Those that are done to files."""
ALL_OF_IT = frozenset({"*", "**", ".*", "*.*", "?*", "[!.]*", ".[!.]*"})
"""Patterns that mean everything in a directory."""
_CLASS = re.compile(r"\[(([:=.])[^\]]{0,24}?\2)\]")
_SET = re.compile(r"\[([!^]?)(\]?(?:\[([:=.])[^\]]{0,24}?\3\]|[^\]])*)\]")
_LONGEST_GLOB = 255
# Letters are also those of other languages.
_CLASSES: Mapping[str, str] = {
    ":digit:": "0-9",
    ":lower:": "a-z\x80-\U0010ffff",
    ":upper:": "A-Z\x80-\U0010ffff",
    ":alpha:": "a-zA-Z\x80-\U0010ffff",
    ":alnum:": "a-zA-Z0-9\x80-\U0010ffff",
    ":xdigit:": "0-9a-fA-F",
    ":word:": "a-zA-Z0-9_\x80-\U0010ffff",
}
_MAX_ENTRIES = 5_000
_MAX_INDEX = 32 << 20


def same(act: DeniedAct, doings: Sequence[Doing]) -> Doing | None:
    """The doing that is this act once more; one that is sure before one that may be."""
    alike = _SAME.get(act.did, frozenset({act.did}))
    meant = [each for each in doings if each.did in alike]
    found = [each for each in meant if _is_same(act, each)]
    if not found and act.did in {Deed.DELETE, Deed.EMPTY} and meant:
        found = _piecemeal(act.target, meant)
    unread = next((each for each in doings if each.did is Deed.UNREAD), None)
    return max(found, key=lambda each: each.sure, default=unread)


def _is_same(act: DeniedAct, doing: Doing) -> bool:
    if act.did in FILED or (act.did == Deed.RUN and doing.spots):
        return any(_reaches(act, doing, spot) for spot in doing.spots)
    if act.did == Deed.FETCH:
        return _is_below(doing.target, act.target)
    if act.did == Deed.SEND:
        return act.target.partition("/")[0] == doing.target.partition("/")[0]
    return doing.target in {act.target, "*"}


def _is_below(path: str, above: str) -> bool:
    return path == above or path.startswith(above.rstrip("/") + "/")


def _reaches(act: DeniedAct, doing: Doing, spot: str) -> bool:
    target = act.target
    if doing.untracked and _is_tracked(target):
        return False
    if spot == target:
        return True
    if doing.filled_from and _is_below(target, spot):
        return os.path.lexists(os.path.join(doing.filled_from, target[len(spot) :].lstrip("/")))
    removes = doing.did in {Deed.DELETE, Deed.EMPTY}
    if not doing.pattern:
        # To take a directory with all that is in it takes what lies there.
        return doing.deep and (removes or doing.did is Deed.TAKE) and _is_below(target, spot)
    wanted, parts = spot.split("/"), target.split("/")
    if removes and len(wanted) > len(parts) and _matches(wanted[: len(parts)], parts):
        return all(in_python(each) in ALL_OF_IT for each in wanted[len(parts) :])
    if "**" in wanted:
        at = wanted.index("**")
        below = _matches(wanted[:at], parts[:at]) and len(parts) > at
        return below and fnmatchcase(parts[-1], in_python(wanted[-1]))
    if len(wanted) > len(parts) or (len(wanted) < len(parts) and not (removes and doing.deep)):
        return False
    return _matches(wanted, parts[: len(wanted)])


def _matches(wanted: Sequence[str], parts: Sequence[str]) -> bool:
    return len(wanted) == len(parts) and all(
        fnmatchcase(part, in_python(glob)) for glob, part in zip(wanted, parts, strict=True)
    )


@lru_cache(1024)
def in_python(glob: str) -> str:
    """A shell's pattern as `fnmatch` has it, which knows neither `[^a]` nor `[[:lower:]]`."""
    if "[" not in glob:
        return glob
    if len(glob) > _LONGEST_GLOB:
        return "*"  # no name needs as much, and the search would take its time
    return _SET.sub(_one_set, glob)


def _one_set(found: re.Match[str]) -> str:
    negated, inside = found[1], found[2]
    if not _CLASS.search(inside):
        return f"[!{inside}]" if negated else found.group()
    if negated or any(each[1] not in _CLASSES for each in _CLASS.finditer(inside)):
        return "?"  # at least all that the set has
    return f"[{_CLASS.sub(lambda each: _CLASSES[each[1]], inside)}]"


def _piecemeal(target: str, doings: Iterable[Doing]) -> list[Doing]:
    """Of a directory, those that take everything in it, name by name."""
    pieces = [each for each in doings if any(spot.startswith(target + "/") for spot in each.spots)]
    if not pieces:
        return []
    number = 0
    with suppress(OSError, ValueError), os.scandir(target) as entries:
        for number, entry in enumerate(entries, start=1):
            act = DeniedAct(Deed.DELETE, entry.path)
            if number > _MAX_ENTRIES or not any(_is_same(act, each) for each in pieces):
                return []
    return pieces if number else []


def _is_tracked(path: str) -> bool:
    """Whether git knows a file or directory, as far as its index can be read."""
    directory = os.path.dirname(path)
    while len(directory) > 1:
        index = os.path.join(directory, ".git", "index")
        with suppress(OSError, ValueError):
            if os.path.getsize(index) > _MAX_INDEX:
                return False
            content = read_regular(index, _MAX_INDEX)
            return os.path.relpath(path, directory).encode("utf-8", "replace") in content
        directory = os.path.dirname(directory)
    return False
