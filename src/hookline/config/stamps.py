"""Whether files are still as they were seen, for as few questions to the system as will do.

Most places where a config may lie have none. Nothing comes into a directory without changing it, so
one look at a directory stands for a look at each of the files that are not in it.
"""

import os
import time
from collections.abc import Callable, Mapping
from errno import ENOENT

from hookline.config.reading import Stamp, are_settled, stamp_of

__all__ = ["Stamps"]

_ABSENT: Stamp = (ENOENT,)


class Stamps:
    """Files as they were seen, those that were not there included."""

    def __init__(
        self, seen: Mapping[str, Stamp], *, clock: Callable[[], float] = time.time
    ) -> None:
        """``clock`` is the one by which files are stamped."""
        self._clock = clock
        self._single: list[tuple[str, Stamp]] = []
        gaps: dict[str, list[str]] = {}
        for path, stamp in seen.items():
            directory = _above(path) if stamp == _ABSENT else ""
            if directory:
                gaps.setdefault(directory, []).append(path)
            else:
                self._single.append((path, stamp))
        self._gaps = [_Gap(directory, missing) for directory, missing in gaps.items()]

    def hold(self) -> bool:
        """Whether looking at every file again would find all of them as they were."""
        # Plain loops: every event of every agent waits for them.
        for path, stamp in self._single:
            if stamp_of(path) != stamp:
                return False
        now = self._clock()
        for gap in self._gaps:  # noqa: SIM110
            if not gap.is_open(now):
                return False
        return True


class _Gap:
    """A directory, and the files that are not below it, not even the beginning of their way."""

    __slots__ = ("_directory", "_known", "_missing")

    def __init__(self, directory: str, missing: list[str]) -> None:
        self._directory = directory
        self._missing = missing
        self._known: Stamp | None = None
        """The directory's, since it was old enough for an equal one to prove anything."""

    def is_open(self, now: float) -> bool:
        """Whether they are all missing still."""
        # First the directory: what comes while the files are looked at is seen the next time.
        found = stamp_of(self._directory)
        if found == self._known:
            return True
        for path in self._missing:
            if stamp_of(path) != _ABSENT:
                return False
        self._known = found if are_settled((found,), now) else None
        return True


def _above(path: str) -> str:
    """The directory into which something has to come before ``path`` can be there.

    Empty where that is not all: a link that leads nowhere may come to lead somewhere.
    """
    while (above := os.path.dirname(path)) != path:
        if os.path.lexists(path):
            return ""
        if os.path.isdir(above):
            return above
        path = above
    return ""
