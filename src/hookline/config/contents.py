"""What lies in the files that a hook names, as one digest: by it a hook is seen to be the same.

Of the files that trust pins, the bytes that run; of all others, those on the disk. Programs on
PATH, and what a program reads or loads by itself, are not looked at.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from stat import S_ISREG

from hookline.config.named import find_named_files, looks_like_file
from hookline.config.pins import glob_files, glob_matches
from hookline.config.reading import read_file
from hookline.config.trust import TrustedSet
from hookline.model.hook import Hook, Layer, digest
from hookline.shell import split

__all__ = ["Contents"]

_MOST_KEPT = 1_000
_HOMES = ("~/", "$HOME/", "${HOME}/")
_GONE = "-"
# An event waits for this. What is larger is hardly a script, and told by its size and time.
_LARGEST = 1 << 20


class Contents:
    """Remembers what it has read, for as long as the file stays the same."""

    def __init__(self) -> None:
        self._named: dict[int, tuple[Hook, dict[str, tuple[str, bool]]]] = {}
        self._read: dict[str, tuple[tuple[int, ...], str]] = {}

    def of(self, hook: Hook, trusted: TrustedSet | None, home: str) -> str:
        """Empty for a hook that names no file. Raises TrustError when there are too many."""
        found: dict[str, str] = {}
        for path, (word, is_executed) in self._words(hook).items():
            at_home = word.startswith(_HOMES)
            place = os.path.join(home, word.partition("/")[2]) if at_home else path
            content = self._content(place, trusted if is_executed else None)
            # Most words are no names at all, until there is a file of that name.
            if content and (content != _GONE or looks_like_file(word)):
                found[word] = content
        for path in _pinned(hook, trusted):
            found[os.path.relpath(path, hook.project_dir)] = self._content(path, trusted)
        return digest(found) if found else ""

    def _words(self, hook: Hook) -> dict[str, tuple[str, bool]]:
        """The paths that a hook names, with the words that name them, and if they are executed."""
        kept = self._named.get(id(hook))
        if kept is None or kept[0] is not hook:
            if len(self._named) >= _MOST_KEPT:
                self._named.clear()
            named = find_named_files(hook).items()
            words = {path: (word.text, word.is_executed) for path, word in named}
            words.update((word, (word, False)) for word in _at_home(hook))
            kept = self._named[id(hook)] = (hook, words)
        return kept[1]

    def _content(self, path: str, trusted: TrustedSet | None) -> str:
        """A digest of what is at a path; empty for what is no file, such as a directory."""
        file = trusted.find(path) if trusted is not None else None
        if file is not None and file.sha256:
            return file.sha256
        try:
            stat = os.stat(path)
        except (OSError, ValueError):
            return _GONE
        if not S_ISREG(stat.st_mode):
            return ""
        if stat.st_size > _LARGEST:
            return f"{stat.st_size} {stat.st_mtime_ns}"
        seen = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        kept = self._read.get(path)
        if kept is None or kept[0] != seen:
            if len(self._read) >= _MOST_KEPT:
                self._read.clear()
            kept = self._read[path] = (seen, _digest(path))
        return kept[1]


def _digest(path: str) -> str:
    try:
        return sha256(read_file(path, limit=_LARGEST)[0]).hexdigest()
    except OSError:
        return _GONE


def _at_home(hook: Hook) -> Iterator[str]:
    """Words that a shell looks up in the person's own directory."""
    run = hook.handler.values.get("run", ())
    if isinstance(run, str):
        for each in split(run).commands:
            yield from (word for word in each.words if word.startswith(_HOMES))


def _pinned(hook: Hook, trusted: TrustedSet | None) -> Iterator[str]:
    """What the patterns of the hook add; those of a person's own files pin nothing."""
    if not hook.pins or hook.source.layer < Layer.PROJECT:
        return
    if trusted is None:
        yield from glob_files(hook)
    else:
        yield from (file.path for file in trusted.files if glob_matches(hook, file.path))
