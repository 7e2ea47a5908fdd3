"""Reads files that clients write line by line: what is new in them, and how they end.

Knows lines of JSON and where they begin; must not know what any client writes into them.
"""

import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any, BinaryIO

import msgspec
from msgspec import Struct

from hookline.files import open_regular
from hookline.model.usage import Mark

__all__ = [
    "LONGEST_TEXT",
    "NewLines",
    "decode_lines",
    "find_object",
    "read_last_lines",
    "read_new_lines",
    "read_time",
]

# An agent waits. What is left over is read at the next event.
_AT_ONCE = 4 << 20
_TAIL = 64
LONGEST_TEXT = 4_000
"""Characters of one message that anybody needs."""


class NewLines(Struct, frozen=True):
    """The whole lines behind a mark."""

    lines: list[bytes]
    state: Mapping[str, Any]
    """What the reader kept of the lines before; nothing where the file is another one now."""
    mark: Mark
    """The end of these lines, without a state."""
    complete: bool


def read_new_lines(path: str, mark: Mark | None) -> NewLines:
    """What was added behind a mark. Raises OSError or ValueError."""
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        place = status.st_dev, status.st_ino
        if (
            mark is None
            or place != (mark.device, mark.inode)
            or mark.offset > status.st_size
            or mark.tail != _digest_before(file, mark.offset)
        ):
            mark = Mark(*place)
        data = os.pread(file.fileno(), _AT_ONCE, mark.offset)
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].split(b"\n")
        if not whole and len(data) == _AT_ONCE:
            whole = len(data)  # a line that long is skipped: what is left of it is no JSON
        end = mark.offset + whole
        tail = _digest_before(file, end)
    at = Mark(*place, end, tail)
    return NewLines(lines, mark.state, at, len(data) < _AT_ONCE)


def read_last_lines(path: str) -> list[bytes]:
    """The last few megabytes of whole lines. Raises OSError or ValueError."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        start = max(0, size - _AT_ONCE)
        lines = os.pread(file.fileno(), _AT_ONCE, start).split(b"\n")
    return lines[1:] if start else lines


def decode_lines(lines: list[bytes], *marks: bytes) -> Iterator[dict[str, Any]]:
    """The objects in those lines that have one of these texts in them."""
    for each in lines:
        if any(mark in each for mark in marks):
            try:
                value = msgspec.json.decode(each)
            except (ValueError, RecursionError):
                continue  # no JSON, or none that the client wrote
            if isinstance(value, dict):
                yield value


def find_object(value: Mapping[str, Any], *names: str) -> Mapping[str, Any]:
    """The object at a path of keys; an empty one where there is none."""
    for name in names:
        found = value.get(name)
        value = found if isinstance(found, dict) else {}
    return value


def read_time(text: object) -> float | None:
    """An instant as clients write it."""
    try:
        return datetime.fromisoformat(text).timestamp() if isinstance(text, str) else None
    except (ValueError, OverflowError, OSError):
        return None


def _digest_before(file: BinaryIO, offset: int) -> str:
    start = max(0, offset - _TAIL)
    found = os.pread(file.fileno(), offset - start, start)
    return blake2b(found, digest_size=8).hexdigest()
