"""Changes to a text as values, and the one place where they are made."""

from collections.abc import Iterable
from dataclasses import dataclass

from hookline.jsontext.reading import read

__all__ = ["Edit", "apply"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Puts ``text`` in the place of what is between ``start`` and ``end``."""

    start: int
    end: int
    text: str = ""

    @classmethod
    def insert(cls, offset: int, text: str) -> "Edit":
        return cls(offset, offset, text)


def apply(text: str, edits: Iterable[Edit]) -> bytes:
    """``text`` with ``edits`` made, none of which overlap; those in one place keep their order."""
    parts = []
    done = 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        parts += [text[done : edit.start], edit.text]
        done = edit.end
    edited = "".join([*parts, text[done:]]).encode("utf-8")
    # Nobody's settings are replaced by a text that we could not read again.
    read(edited)
    return edited
