"""The nouns: one thing that a call would do, and the ground on which it is read."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct, structs

from hookline.builtin._paths import Places
from hookline.builtin._touch_code import Right

__all__ = ["RIGHTS", "Deed", "Doing", "Ground", "on_paths"]

_T = TypeVar("_T")
_MAX_DOINGS = 500
_MAX_TEXTS = 24
_MAX_FILES = 8
_MAX_DEPTH = 4
_SIGNS = re.compile(r"[*?\[]")


class Deed(StrEnum):
    """What is done, whatever does it."""

    DELETE = "delete"
    EMPTY = "empty"
    WRITE = "write"
    READ = "read"
    TAKE = "take"
    """Its content is put under another name, where it can be read."""
    LINK = "link"
    """It gets a second name, by which it can be changed."""
    MODE = "change the mode of"
    RESTORE = "take back changes to"
    RUN = "run"
    FETCH = "fetch"
    SEND = "send to"
    PUSH = "push to"
    FORCE_PUSH = "force-push to"
    DELETE_BRANCH = "delete the branch"
    COMMIT = "commit on"
    MERGE = "merge into"
    REBASE = "rebase"
    RESET = "move the branch"
    UNREAD = "do more than is read"
    """Some of it is beyond what is read of one call, and may be anything."""


RIGHTS: Mapping[Right, Deed] = {
    Right.READ: Deed.READ,
    Right.WRITE: Deed.WRITE,
    Right.DELETE: Deed.DELETE,
}
"""What a right means as a deed; to use a file may be anything, and is none."""


class Doing(Struct, frozen=True, kw_only=True):
    """One thing that a call would do."""

    did: Deed
    target: str
    """As it is written, for people and for the search in a reason."""
    spots: tuple[str, ...] = ()
    """Of a file: where it is, links unfollowed and followed."""
    deep: bool = False
    """Everything below it as well."""
    sure: bool = True
    pattern: bool = False
    """Its `*` and `?` stand for whatever is there."""
    by: tuple[str, ...] = ()
    """The programs or the tool that would do it, the innermost first."""
    untracked: bool = False
    """Only what git does not know."""
    filled_from: str = ""
    """Of a directory: the one whose files are put among its own."""


class Ground(Struct, kw_only=True):
    """Where a call is read from, and how much of it may still be read."""

    places: Places
    project: str
    env: Mapping[str, str] = {}
    depth: int = 0
    args: tuple[str, ...] = ()
    """What a script is given when it is run: `$1` and the rest."""
    spent: dict[str, int] = {}
    """One account for all texts of one call."""
    above: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = ()
    """The texts that this one is inside of, each with its arguments and directories."""

    def _spend(self, what: str, most: int) -> bool:
        self.spent[what] = self.spent.get(what, 0) + 1
        if self.spent[what] > most:
            self.overdraw()
            return False
        return True

    def overdraw(self) -> None:
        """Says that there is more to the call than is read of it."""
        self.spent["unread"] = 1

    def first(self, many: Sequence[_T], most: int) -> Sequence[_T]:
        """The first of them, which is all that is looked at."""
        if len(many) > most:
            self.overdraw()
        return many[:most]

    @property
    def overdrawn(self) -> bool:
        """Whether some of the call was not read."""
        return "unread" in self.spent

    def may_do(self) -> bool:
        """Whether one more doing may be looked at."""
        return self._spend("doings", _MAX_DOINGS)

    def may_read(self) -> bool:
        """Whether one more file may be read."""
        return self._spend("files", _MAX_FILES)

    def inner(
        self, text: str, bases: tuple[str, ...], args: tuple[str, ...] = ()
    ) -> "Ground | None":
        """For a text inside another one, which runs in these directories; None when too deep."""
        key = (text, args, bases)
        if key in self.above:
            return None  # it runs itself again, and does then what it does now
        if self.depth >= _MAX_DEPTH:
            self.overdraw()
            return None
        if not self._spend("texts", _MAX_TEXTS):
            return None
        places = structs.replace(self.places, bases=bases)
        above = (*self.above, key)
        return structs.replace(self, places=places, depth=self.depth + 1, args=args, above=above)


def on_paths(
    did: Deed,
    path: str,
    ground: Ground,
    bases: tuple[str, ...] = (),
    *,
    deep: bool = False,
    sure: bool = True,
    glob: bool = False,
) -> Iterator[Doing]:
    """The doing to one path, at every place that the path may mean."""
    if not path or "\n" in path or not ground.may_do():
        return
    places = structs.replace(ground.places, bases=bases) if bases else ground.places
    spots = tuple(each for each in places.spots(path) if each.startswith("/"))
    if spots:
        pattern = glob and _SIGNS.search(path) is not None
        yield Doing(did=did, target=path, spots=spots, deep=deep, sure=sure, pattern=pattern)
