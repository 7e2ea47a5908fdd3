"""TOML as values that know their lines, as far as a text of tables tells them."""

import re
import tomllib
from collections.abc import Mapping
from typing import Any, TypeAlias

from hookline.dialects._located import Located, UnreadableText

__all__ = ["read_toml"]

Name: TypeAlias = tuple[str, ...]

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_WORD = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s.\"']+)")


def read_toml(content: bytes) -> Located:
    """The root table. Raises UnreadableText."""
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableText(f"this is no TOML: {why}", int(found[1]) if found else 1) from None
    return _Placing(_lines(text)).value(data, (), 1)


def _lines(text: str) -> Mapping[Name, list[int]]:
    """The lines of each table's headers and of each plain key in it."""
    lines: dict[Name, list[int]] = {}
    table: Name = ()
    for number, line in enumerate(text.split("\n"), 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            table = tuple("".join(word) for word in _WORD.findall(header[1]))
            lines.setdefault(table, []).append(number)
        elif key is not None:
            lines.setdefault((*table, key[1]), []).append(number)
    return lines


class _Placing:
    """Gives each value its line: the n-th table of a name is where its n-th header stands."""

    def __init__(self, lines: Mapping[Name, list[int]]) -> None:
        self._lines = lines
        self._seen: dict[Name, int] = {}

    def value(self, value: Any, name: Name, line: int) -> Located:
        if isinstance(value, list):
            items = [self._next(item, name, line) for item in value]
            return Located(items, items[0].line if items else line)
        if isinstance(value, dict):
            members = {key: self._member(item, (*name, key), line) for key, item in value.items()}
            return Located(members, line)
        # Dates and times are no values of any hook; as text they are at least no surprise.
        known = isinstance(value, str | int | float | bool)
        return Located(value if known else str(value), line)

    def _member(self, value: Any, name: Name, line: int) -> Located:
        tables = isinstance(value, list) and value and all(isinstance(i, dict) for i in value)
        return self.value(value, name, line) if tables else self._next(value, name, line)

    def _next(self, value: Any, name: Name, line: int) -> Located:
        index = self._seen.get(name, 0)
        self._seen[name] = index + 1
        known = self._lines.get(name, ())
        return self.value(value, name, known[index] if index < len(known) else line)
