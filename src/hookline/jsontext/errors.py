"""The one error of this package: what is wrong with a text, where, and what to do about it."""

import re

__all__ = ["BOM", "JsonTextError", "place"]

BOM = "\ufeff"

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class JsonTextError(Exception):
    """The text cannot be read, or cannot be edited as asked; lines and columns count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message, line, column)
        self.message = message
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.message}"

    @classmethod
    def at(cls, text: str, offset: int, message: str) -> "JsonTextError":
        """The error at ``offset`` of ``text``."""
        return cls(message, *place(text, offset))


def place(text: str, offset: int) -> tuple[int, int]:
    """The line and column of ``offset``, as an editor counts them."""
    # Editors do not show the byte order mark, so it takes no column.
    lines = _LINE_BREAK.split(text[:offset].removeprefix(BOM))
    return len(lines), len(lines[-1]) + 1
