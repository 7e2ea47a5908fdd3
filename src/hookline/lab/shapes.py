"""What payloads look like whatever they say: which fields there are, of which types, how often.

Knows JSON; must not know events or clients.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["Shape", "outline", "parent", "type_name"]

ROOT = ""


class Shape:
    """The shape of several values together.

    A field's path is ``tool_calls[].tool_name``. It is always there when every object that could
    have it has it, however often that object is there itself.
    """

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self.types: dict[str, set[str]] = {}
        self._times: Counter[str] = Counter()
        self._objects: Counter[str] = Counter()
        for value in values:
            self.add(value)

    def add(self, value: Any) -> None:
        """Count one more value in."""
        for path, each in _walk(value, ROOT):
            self._times[path] += 1
            self.types.setdefault(path, set()).add(type_name(each))
            if isinstance(each, dict):
                self._objects[path] += 1

    def __contains__(self, path: str) -> bool:
        return path in self.types

    def __iter__(self) -> Iterator[str]:
        return (path for path in self.types if path != ROOT)

    def has_object(self, path: str) -> bool:
        """Whether there is an object at this path, so that it shows which fields it has."""
        return self._objects[path] > 0

    def is_always_there(self, path: str) -> bool:
        """Whether every object that could have the field has it."""
        return path in self.types and self._times[path] == self._objects[parent(path)]

    def said(self, path: str) -> str:
        """The types of a field for people."""
        return " or ".join(sorted(self.types.get(path, ())))


def parent(path: str) -> str:
    """The path of the object that a field is in."""
    return path.rpartition(".")[0]


def type_name(value: Any) -> str:
    """The JSON type of a value, in words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "object"


def outline(value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """One value's fields and types, to compare with another's; how long its lists are is left out.

    Two payloads with the same outline teach the same.
    """
    shape = Shape([value])
    return tuple((path, tuple(sorted(shape.types[path]))) for path in sorted(shape))


def _walk(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every value inside with its path; the elements of a list share theirs."""
    yield path, value
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _walk(each, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for each in value:
            yield from _walk(each, f"{path}[]")
