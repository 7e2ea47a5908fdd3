"""Which files a hook names: what is pinned when its config is trusted, and what cannot be.

Knows what the values of a hook mean as names; must not know how trust is kept or given.
"""

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import takewhile
from typing import Any

from msgspec import Struct

from hookline.config.compile import compile_file
from hookline.config.discover import is_within, place_of, project_dir_of
from hookline.config.reading import Reader, Reading, file_names, too_much
from hookline.config.types import ConfigFile, Kit
from hookline.model.errors import ConfigError, Problem, TrustError
from hookline.model.hook import Hook, Layer
from hookline.shell import literal_words, split

__all__ = [
    "Draft",
    "HookPins",
    "draft",
    "glob_files",
    "glob_matches",
    "looks_like_file",
    "named_paths",
    "pins_of",
]

# How far a pattern may look around; a tree with more in it than this was not meant to be pinned.
MAX_LOOKED_AT = 50_000

# What only the shell can tell; our own variables hold data, not names of programs.
_COMPUTED = re.compile(r"\$(?!\{?HOOKLINE_)|[`*?]|(?<!\$)\{")

# What /bin/sh does by itself.
_SHELL_OWN = frozenset(
    [
        ".",
        ":",
        "[",
        "alias",
        "bg",
        "break",
        "cd",
        "command",
        "continue",
        "echo",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fg",
        "getopts",
        "hash",
        "jobs",
        "kill",
        "let",
        "local",
        "printf",
        "pwd",
        "read",
        "readonly",
        "return",
        "set",
        "shift",
        "source",
        "test",
        "time",
        "times",
        "trap",
        "true",
        "type",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "wait",
    ]
)

MCP_FILES = ("mcp.json", ".mcp.json", ".vscode/mcp.json")


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
        names=file_names,
    )
    hooks = pins_of(file, read)
    return Draft(place, sha256(raw).hexdigest(), file, read.readings, hooks)


def pins_of(file: ConfigFile, read: Reader) -> tuple[HookPins, ...]:
    """What is pinned and what is not, for every hook of a config and of what it includes."""
    own = [_pins_of_hook(hook, read) for hook in file.hooks]
    return (*own, *(pins for each in file.includes for pins in pins_of(each, read)))


def named_paths(hook: Hook) -> dict[str, str]:
    """Every path that a hook names literally, with the word that names it.

    Without looking at the disk: what is a file there today need not be one tomorrow.
    """
    words = [*_run_words(hook)[1], *_python_files(hook), *_server_files(hook)]
    # Of two words for one path the more telling one counts.
    words.sort(key=looks_like_file)
    return {os.path.normpath(os.path.join(hook.directory, word)): word for word in words}


def glob_files(hook: Hook) -> dict[str, None]:
    """Every regular file that the ``pins`` patterns of a hook match now."""
    return {path: None for pattern in hook.pins for path in _glob(hook, pattern)}


def glob_matches(hook: Hook, path: str) -> bool:
    """Whether a ``pins`` pattern of a hook matches a path, be there a file or not."""
    if not hook.pins or not is_within(path, hook.project_dir):
        return False
    parts = path[len(hook.project_dir.rstrip("/")) + 1 :].split("/")
    return any(_fits(_names(hook, pattern), parts) for pattern in hook.pins)


def looks_like_file(word: str) -> bool:
    """Whether a word that names nothing may be meant as the name of a file."""
    return ("/" in word or "." in word.strip(".")) and "://" not in word and word[0] != "-"


def _pins_of_hook(hook: Hook, read: Reader) -> HookPins:
    pinned: dict[str, None] = {}
    unpinned: list[str] = []
    for path, word in named_paths(hook).items():
        spelled = os.path.join(hook.directory, word)
        if os.path.realpath(spelled) != os.path.realpath(path):
            raise TrustError(f"{hook.source}: `{word}` goes through a link and back with `..`")
        if not os.path.isfile(path):
            if word in _run_words(hook)[1] and looks_like_file(word) and not os.path.lexists(path):
                unpinned.append(f"`{word}`: no such file; should one appear, the hook fails")
        elif (reading := _pin(path, hook, read)) is None:
            unpinned.append(f"`{word}`, which is outside the project")
        else:
            pinned[path] = None
            unpinned.append(_beyond(word, reading))
    for path in glob_files(hook):
        _pin(path, hook, read)
        pinned[path] = None
    return HookPins(hook, tuple(pinned), (*unpinned, *_elsewhere(hook)))


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


def _elsewhere(hook: Hook) -> Iterator[str]:
    """What the hook relies on that is no file of the project's."""
    values = hook.handler.values
    _, words = _run_words(hook)
    for program in _programs(hook):
        yield f"program `{program}` on PATH"
    for word in words:
        inner = literal_words(word) if any(map(str.isspace, word)) else ()
        for name in {each.text for each in inner}:
            if os.path.isfile(os.path.join(hook.directory, name)):
                yield f"`{name}`, which stands inside a quoted word"
    run = values.get("run")
    if isinstance(run, str) and _COMPUTED.search(run):
        yield "what the shell makes of `$…`, `*` or `{…}` in the command"
    for pattern in hook.pins:
        if not any(_glob(hook, pattern)):
            yield f"the pin `{pattern}`, which matches no file"
    files = (os.path.join(hook.project_dir, file) for file in _python_files(hook))
    if "python" in values and not any(map(os.path.isfile, files)):
        yield f"`{str(values['python']).rpartition(':')[0]}`, wherever Python finds it"
    for key, field in (("http", "url"), ("mcp", "tool"), ("judge", "model")):
        if key in values:
            yield f"what `{_field(values[key], field)}` does or answers"


def _field(value: Any, name: str) -> Any:
    inner = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value if inner is None else inner


def _run_words(hook: Hook) -> tuple[str, list[str]]:
    """The program, where it is one that is looked for on PATH, and every other literal word."""
    run = hook.handler.values.get("run", ())
    if not isinstance(run, str):
        leads, words = True, [*run]
    else:
        found = literal_words(run)
        leads = bool(found) and not run[: found[0].start].strip()
        words = [word.text for word in found]
    words = [word for word in words if word]
    if leads and words and "/" not in words[0]:
        return words[0], words[1:]
    return "", words


def _programs(hook: Hook) -> Iterator[str]:
    """Every program that the command looks for on PATH, whatever stands before it."""
    run = hook.handler.values.get("run", ())
    if not isinstance(run, str):
        yield from (word for word in run[:1] if word and "/" not in word)
        return
    found = (name for each in split(run).commands for name in (*each.wrappers, *each.words[:1]))
    for name in dict.fromkeys(found):
        if name and "/" not in name and "$" not in name and name not in _SHELL_OWN:
            yield name


def _python_files(hook: Hook) -> tuple[str, ...]:
    """The file of a ``python`` hook, or those that its module would have in the project."""
    source = hook.handler.values.get("python", "").rpartition(":")[0]
    if not source or source.endswith(".py") or "/" in source:
        return (source,) if source else ()
    path = source.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def _server_files(hook: Hook) -> tuple[str, ...]:
    """Where the project may declare the servers that an ``mcp`` hook talks to."""
    return MCP_FILES if "mcp" in hook.handler.values else ()


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
