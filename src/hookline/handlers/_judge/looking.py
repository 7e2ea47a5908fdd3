"""What a judge may look at before it answers: files of the project, and nothing else.

Read, Grep and Glob as Claude Code's agents know them, inside one directory, wherever links lead.
They change nothing and fire no hooks.
"""

import fnmatch
import os
from collections.abc import Callable, Iterator, Mapping
from time import monotonic
from typing import Any

from hookline.files import read_regular
from hookline.model.errors import HandlerUnavailable, IllegalValueError

__all__ = ["TOOLS", "Looking"]

_FILE_CAP = 2_000_000
_OUTPUT_CAP = 20_000
_SHOWN_CAP = 400_000
"""How much one judge is shown in all, in characters: each turn is sent all that came before."""
_MOST_FILES = 20_000
_MOST_LINES = 2_000
_LINE_CAP = 500
_UNSEEN = {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv"}


def _schema(required: str, **kinds: str) -> Mapping[str, Any]:
    properties = {name: {"type": kind} for name, kind in kinds.items()}
    return {"type": "object", "properties": properties, "required": [required]}


TOOLS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Read": (
        "Reads a text file of the project, with line numbers.",
        _schema("file_path", file_path="string", offset="integer", limit="integer"),
    ),
    "Grep": (
        "Searches files of the project for a regular expression, line by line.",
        _schema("pattern", pattern="string", path="string", glob="string"),
    ),
    "Glob": (
        "Lists files of the project whose path matches, such as **/*.py.",
        _schema("pattern", pattern="string", path="string"),
    ),
}


class Looking:
    """One judge's view of one directory, until its time is up.

    Raises HandlerUnavailable when that is no directory of a project's.
    """

    def __init__(self, root: str, cwd: str, deadline: float) -> None:
        self._root = os.path.realpath(root)
        if not root or not self._root.strip("/"):
            raise HandlerUnavailable("no project is known that the model could look at")
        self._cwd = cwd if cwd.startswith("/") else self._root
        self._deadline = deadline
        self._left = _SHOWN_CAP
        self._tools: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
            "Read": self._read,
            "Grep": self._grep,
            "Glob": self._glob,
        }

    def use(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What a tool finds; a mistake in its use is told to the model. Raises TimeoutError."""
        tool = self._tools.get(name)
        if tool is None:
            return f"There is no tool {name}; there are {', '.join(self._tools)}."
        try:
            found = tool(arguments)
        except IllegalValueError as error:
            return f"Error: {error}"
        except TimeoutError:
            raise
        except OSError as error:
            return f"Error: {error.strerror or error}"
        cap = min(_OUTPUT_CAP, self._left)
        self._left -= min(len(found), cap)
        if len(found) > cap:
            return f"{found[:cap]}\n… (cut: {len(found) - cap:,} more characters)"
        return found or "(nothing found)"

    def _read(self, arguments: Mapping[str, Any]) -> str:
        path = self._inside(_text(arguments, "file_path"))
        offset, limit = _number(arguments, "offset", 1), _number(arguments, "limit", _MOST_LINES)
        raw = _content(path)
        if raw is None:
            raise IllegalValueError("it is no text file that can be read")
        chosen = _lines(raw)[offset - 1 : offset - 1 + min(limit, _MOST_LINES)]
        return "\n".join(f"{n}\t{line}" for n, line in enumerate(chosen, offset))

    def _grep(self, arguments: Mapping[str, Any]) -> str:
        import re2

        try:
            pattern = re2.compile(_text(arguments, "pattern"))
        except re2.error as error:
            raise IllegalValueError(f"the pattern cannot be searched for: {error}") from error
        wanted = _text(arguments, "glob", "")
        found: list[str] = []
        for path in self._files(_text(arguments, "path", "")):
            if wanted and not fnmatch.fnmatchcase(os.path.basename(path), wanted):
                continue
            raw = _content(path) or ""
            # Taking secrets out is slow, and most files have nothing that is searched for.
            if not any(pattern.search(line) for line in raw.splitlines()):
                continue
            for number, line in enumerate(_lines(raw), 1):
                if pattern.search(line):
                    found.append(f"{os.path.relpath(path, self._root)}:{number}:{line}")
                    if len(found) >= _MOST_LINES:
                        return "\n".join(found)
        return "\n".join(found)

    def _glob(self, arguments: Mapping[str, Any]) -> str:
        pattern = _text(arguments, "pattern")
        names = (os.path.relpath(p, self._root) for p in self._files(_text(arguments, "path", "")))
        bare = pattern.removeprefix("**/")
        return "\n".join(
            name
            for name in names
            if fnmatch.fnmatchcase(name, pattern) or fnmatch.fnmatchcase(name, bare)
        )

    def _files(self, start: str) -> Iterator[str]:
        """The files below a directory in order; links are not followed."""
        top = self._inside(start) if start else self._root
        if os.path.isfile(top):
            yield top
            return
        count = 0
        for folder, folders, names in os.walk(top):
            folders[:] = sorted(name for name in folders if name not in _UNSEEN)
            for name in sorted(names):
                count += 1
                if count > _MOST_FILES:
                    return
                if monotonic() > self._deadline:
                    raise TimeoutError
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    yield path

    def _inside(self, path: str) -> str:
        """The real path. Raises IllegalValueError for one outside of the project."""
        if "\0" in path:
            raise IllegalValueError("a path has no NUL character")
        real = os.path.realpath(os.path.join(self._cwd, path))
        if real != self._root and not real.startswith(f"{self._root}/"):
            raise IllegalValueError(f"{path} is outside of the project")
        return real


def _content(path: str) -> str | None:
    """What a text file has in it; None for any other file."""
    try:
        raw = read_regular(path, _FILE_CAP + 1)
    except OSError:
        return None
    if b"\0" in raw or len(raw) > _FILE_CAP:
        return None
    return raw.decode("utf-8", "replace")


def _lines(content: str) -> list[str]:
    """The lines of a whole file without its secrets, each cut to what is worth reading."""
    from hookline.secrets import redact  # a large table, and most judges look at nothing

    # Before anything is cut: a part of a secret does not look like one.
    return [line[:_LINE_CAP] for line in redact(content).text.splitlines()]


def _text(arguments: Mapping[str, Any], key: str, default: str | None = None) -> str:
    value = arguments.get(key, default)
    if not isinstance(value, str):
        raise IllegalValueError(f"`{key}` must be a text")
    if not value.isascii() and value != value.encode("utf-8", "replace").decode():
        raise IllegalValueError(f"`{key}` has half characters in it")
    return value


def _number(arguments: Mapping[str, Any], key: str, default: int) -> int:
    value = arguments.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise IllegalValueError(f"`{key}` must be a whole number above 0")
    return value
