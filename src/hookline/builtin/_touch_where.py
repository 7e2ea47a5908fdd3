"""Follows where a shell is while it runs a text: every directory that may be the current one."""

import os
import re
from functools import cached_property

from hookline.builtin._paths import Places
from hookline.shell import SimpleCommand

__all__ = ["Whereabouts"]

# Between two commands of which the second runs where the first one left the shell.
_ONWARD = re.compile(rb"(?:\s|;|&&|\(|\{|\bthen\b|\bdo\b|\b(?:el)?if\b|!)*")
_SCOPES = re.compile(r"[()]|\|\||\bif\b|\bwhile\b|\|(?!\|)|(?<![&>])&(?![&>])|\bpopd\b")
_MAX_BASES = 12


class Whereabouts:
    """The directories of one text, told its commands one by one."""

    def __init__(self, text: str, places: Places) -> None:
        self.bases = places.bases
        """Those that may be the current one now."""
        self.been = dict.fromkeys(places.bases)
        """All that ever were."""
        self.lost = False
        """Whether it may be one that nobody knows."""
        self._places = places
        self._text = text
        self._end = 0
        # Whether the directory of the last `cd` is not there, so that it may have failed.
        self._weak = False

    def arrive(self, command: SimpleCommand) -> None:
        """Joins the directories that may be the current one, where a `cd` may not have held."""
        # Before the first `cd` there is nothing to join.
        if len(self.been) > len(self.bases) and not self._holds_until(command):
            self.bases = tuple(dict.fromkeys((*self.bases, *self.been)))
        self._weak = False
        self._end = max(self._end, command.end)

    def _holds_until(self, command: SimpleCommand) -> bool:
        """Whether a command runs where the one before it left the shell."""
        if command.start >= self._end:
            between = self._bytes[self._end : command.start]
            sure = _ONWARD.fullmatch(between) is not None
        else:  # in a text that another command runs
            between = self._bytes
            sure = self._is_straight
        return sure and not (self._weak and b"&&" not in between)

    @cached_property
    def _bytes(self) -> bytes:
        return self._text.encode("utf-8", "surrogatepass")

    @cached_property
    def _is_straight(self) -> bool:
        """Whether nothing in the text could leave the shell somewhere else than its last `cd`."""
        return _SCOPES.search(self._text) is None

    def move(self, target: str) -> None:
        """Goes there, from wherever it may be."""
        if len(self.been) >= _MAX_BASES:
            self.lost = True  # nobody needs so many
            self.bases = tuple(self.been)
            return
        moved = tuple(dict.fromkeys(self.reach(self.bases, target)))
        self._weak = not any(map(os.path.isdir, moved))
        self.been |= dict.fromkeys(moved)
        self.bases = moved

    def reach(self, bases: tuple[str, ...], path: str) -> tuple[str, ...]:
        """The path from each of these directories."""
        if path == "~" or path.startswith("~/"):
            return tuple(home + path[1:] for home in self._places.homes)
        return tuple(os.path.join(base, path) for base in bases)
