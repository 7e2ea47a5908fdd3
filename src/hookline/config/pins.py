"""What is pinned with each hook when its config is trusted, and what cannot be.

Knows files; what a hook's values name is for ``named``, and how trust is kept for ``trust``.
"""

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import takewhile

from msgspec import Struct

from hookline.config.compile import compile_file
from hookline.config.discover import is_within, place_of, project_dir_of
from hookline.config.named import elsewhere, find_executed_files
from hookline.config.reading import Reader, Reading, file_names, too_much
from hookline.config.types import ConfigFile, Kit
from hookline.model.errors import ConfigError, Problem, TrustError
from hookline.model.hook import Hook, Layer
from hookline.shell import PathWord

__all__ = [
    "Draft",
    "HookPins",
    "draft",
    "glob_files",
    "glob_matches",
    "pins_of",
]

# How far a pattern may look around; a tree with more in it than this was not meant to be pinned.
MAX_LOOKED_AT = 50_000


class HookPins(Struct, frozen=True):
    """What trusting a config means for one of its hooks."""

    hook: Hook
    pinned: tuple[str, ...]
    """Absolute paths of the files that will run in exactly these bytes."""
    unpinned: tuple[str, ...]
    """What may change without being noticed, in words for people."""


class Draft(Struct, frozen=True):
    """What would be trusted: every byte was read once, and these bytes are what is stored."""

    config: str
    """Its place."""
    digest: str
    """The sha256 of the config alone, as HOOKLINE_TRUST names it."""
    file: ConfigFile
    readings: tuple[Reading, ...]
    hooks: tuple[HookPins, ...]


def draft(config: str, kit: Kit) -> Draft:
    """What trusting ``config`` as it is on disk would mean.

    Raises ConfigError for one that is wrong or cannot be read, TrustError for one that pins more
    than is sensible.
    """
    place = place_of(config)
    read = Reader()
    try:
        raw = read(place)
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
        raise ConfigError([Problem(place, 0, message)]) from error
    file = compile_file(
        raw,
        file=place,
        layer=Layer.PROJECT,
        project_dir=project_dir_of(place),
        kit=kit,
        read=read,
        names=lambda directory, speaks: file_names(directory),
    )
    hooks = pins_of(file, read)
    return Draft(place, sha256(raw).hexdigest(), file, read.readings, hooks)


def pins_of(file: ConfigFile, read: Reader) -> tuple[HookPins, ...]:
    """What is pinned and what is not, for every hook of a config and of what it includes."""
    own = [_pins_of_hook(hook, read) for hook in file.hooks]
    return (*own, *(pins for each in file.includes for pins in pins_of(each, read)))


def glob_files(hook: Hook) -> dict[str, None]:
    """Every regular file that the ``pins`` patterns of a hook match now."""
    return {path: None for pattern in hook.pins for path in _glob(hook, pattern)}


def glob_matches(hook: Hook, path: str) -> bool:
    """Whether a ``pins`` pattern of a hook matches a path, be there a file or not."""
    if not hook.pins or not is_within(path, hook.project_dir):
        return False
    parts = path[len(hook.project_dir.rstrip("/")) + 1 :].split("/")
    return any(_fits(_names(hook, pattern), parts) for pattern in hook.pins)


def _pins_of_hook(hook: Hook, read: Reader) -> HookPins:
    pinned: dict[str, None] = {}
    unpinned: list[str] = []
    for path, word in find_executed_files(hook).items():
        spelled = os.path.join(hook.directory, word.path)
        if os.path.realpath(spelled) != os.path.realpath(path):
            raise TrustError(f"{hook.source}: `{word.text}` goes through a link and back with `..`")
        if not os.path.isfile(path):
            if os.path.isdir(path) and word.interpreter:
                unpinned.append(f"what is in `{word.text}`, a directory: name it under `pins`")
            elif not os.path.lexists(path):
                unpinned += _missing(hook, word)
        elif (reading := _pin(path, hook, read)) is None:
            unpinned.append(f"`{word.text}`, which is outside the project")
        else:
            pinned[path] = None
            unpinned.append(_beyond(word.text, reading))
            if word.doubt:
                unpinned.append(_elsewhere_after_cd(word))
    for path in glob_files(hook):
        _pin(path, hook, read)
        pinned[path] = None
    return HookPins(hook, tuple(pinned), (*unpinned, *elsewhere(hook), *_idle(hook)))


def _idle(hook: Hook) -> Iterator[str]:
    for pattern in hook.pins:
        if not any(_glob(hook, pattern)):
            yield f"the pin `{pattern}`, which matches no file"


def _missing(hook: Hook, word: PathWord) -> Iterator[str]:
    if "run" not in hook.handler.values:
        return  # a module that may be installed, or a place where no servers are declared
    if word.doubt:
        yield _elsewhere_after_cd(word)
    elif word.path.endswith(f"/{word.text}"):
        # Should that `cd` fail, the shell looks for the file where it is.
        yield f"`{word.text}`, which is not where the `cd` before it leads"
    else:
        yield f"`{word.text}`: no such file; should one appear, the hook fails"


def _elsewhere_after_cd(word: PathWord) -> str:
    return f"`{word.text}` in another directory, should a `cd` before it lead there"


def _pin(path: str, hook: Hook, read: Reader) -> Reading | None:
    """Pin a file that is the project's, by its own name or by what it leads to."""
    try:
        if is_within(os.path.realpath(path), hook.project_dir) or "python" in hook.handler.values:
            return read.pin(path)
        if is_within(path, hook.project_dir):
            return read.pin_direction(path)
    except OSError as error:
        message = f"`{path}` cannot be read: {error.strerror}"
        raise ConfigError([Problem(hook.source.file, hook.source.line, message)]) from error
    return None


def _beyond(word: str, reading: Reading) -> str:
    if reading.content is None:
        return f"what is in `{reading.real}`; that `{word}` leads there is pinned"
    return f"what `{word}` sources, imports or starts"


def _glob(hook: Hook, pattern: str) -> Iterator[str]:
    """Regular files that match; links to directories are not entered."""
    names = _names(hook, pattern)
    fixed = list(takewhile(lambda name: not any(sign in name for sign in "*?["), names[:-1]))
    deepest = None if "**" in names else len(names)
    left = iter(range(MAX_LOOKED_AT))
    todo = [fixed]
    while todo:
        parts = todo.pop()
        for entry in _entries(os.path.join(hook.project_dir, *parts)):
            if next(left, None) is None:
                raise too_much(f"patterns that look at more than {MAX_LOOKED_AT:,} files")
            inner = [*parts, entry.name]
            if entry.is_dir(follow_symlinks=False):
                if deepest is None or len(inner) < deepest:
                    todo.append(inner)
            elif _fits(names, inner) and entry.is_file():
                yield entry.path


def _names(hook: Hook, pattern: str) -> list[str]:
    spelled = f"{pattern}**" if pattern.endswith("/") else pattern
    names = [name for name in spelled.split("/") if name not in {"", "."}]
    if pattern.startswith("/") or ".." in names:
        raise TrustError(f"{hook.source}: the pin `{pattern}` is not below the project")
    return names


def _fits(names: Sequence[str], parts: Sequence[str]) -> bool:
    if not names:
        return not parts
    name, rest = names[0], names[1:]
    if name == "**":
        return any(_fits(rest or ("*",), parts[at:]) for at in range(len(parts)))
    return bool(parts) and fnmatchcase(parts[0], name) and _fits(rest, parts[1:])


def _entries(directory: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []
