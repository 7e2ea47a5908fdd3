"""What ``include:`` names: files of ours and of other platforms, and directories of either.

Knows paths and who may include whom; must not know what is in a file.
"""

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from hookline.config.document import brief
from hookline.config.hooks import Report
from hookline.config.schema import IncludeEntry
from hookline.config.types import Kit, ListNames, ReadFile
from hookline.model.errors import TrustError, UnknownNameError
from hookline.model.ports import NativeFiles

__all__ = ["MAX_INCLUDES", "Included", "Includes", "no_directories"]

MAX_INCLUDES = 8
"""How deep files may include each other."""

_KINDS = "a file in this format ends in .yaml or .yml; for another platform's, say `speaks:` too"


class Included(Struct, frozen=True):
    """The contents of included files, by path."""

    ours: dict[str, bytes]
    native: dict[str, tuple[NativeFiles, bytes]]


def no_directories(path: str, speaks: str | None) -> Sequence[str]:
    """For configs that nobody reads from a disk."""
    raise NotADirectoryError(f"`{path}` cannot be looked into")


class Includes:
    """Reads included files, each once however often it is named."""

    def __init__(self, kit: Kit, read: ReadFile, names: ListNames) -> None:
        self._kit = kit
        self._read = read
        self._names = names
        self.seen: set[str] = set()

    def read(
        self, entries: Sequence[str | IncludeEntry], stack: tuple[str, ...], report: Report
    ) -> Included:
        """What these entries name and is not in force already; ``stack`` is who includes it."""
        found = Included({}, {})
        for index, entry in enumerate(entries):
            name = entry if isinstance(entry, str) else entry.file
            speaks = None if isinstance(entry, str) else entry.speaks
            path = os.path.normpath(os.path.join(os.path.dirname(stack[-1]), name))
            for flaw, hint in self._take(path, speaks, stack, found):
                report.add(("include", index), f"cannot include `{brief(name)}`: {flaw}", hint)
        return found

    def _take(
        self, path: str, speaks: str | None, stack: tuple[str, ...], found: Included
    ) -> Iterator[tuple[str, str]]:
        """Adds what is at ``path`` to what was found; yields what is wrong with it."""
        from hookline.config.natives import members

        try:
            paths = members(self._kit, path, self._names(path, speaks), speaks)
        except OSError:
            paths = [path]  # a file, or nothing at all, which reading it will tell
        if not paths:
            yield "there are no hooks in this directory", _KINDS
        for each in paths:
            if each in stack:
                yield f"it would include itself ({_way(each, stack)})", ""
            elif len(stack) > MAX_INCLUDES:
                yield f"files include each other more than {MAX_INCLUDES} levels deep", ""
            elif each not in self.seen:
                yield from self._take_file(each, speaks, found)

    def _take_file(
        self, path: str, speaks: str | None, found: Included
    ) -> Iterator[tuple[str, str]]:
        from hookline.config.natives import owner

        try:
            content = self._read(path)
            platform = owner(self._kit, path, content, speaks)
        except UnknownNameError as error:
            yield error.problems[0].message, error.problems[0].hint
            return
        except (OSError, TrustError) as error:
            yield getattr(error, "strerror", None) or str(error), ""
            return
        if platform is None and not path.endswith((".yaml", ".yml")):
            yield "it is no hookline file, and no other platform's by its name", _KINDS
            return
        self.seen.add(path)
        if platform is None:
            found.ours[path] = content
        else:
            found.native[path] = (platform, content)


def _way(path: str, stack: tuple[str, ...]) -> str:
    return " → ".join(map(os.path.basename, (*stack[stack.index(path) :], path)))
