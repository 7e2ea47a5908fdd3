"""Verdicts that were given already, for as long as the config says.

Belongs to one hook of one loaded config, so that no other config's verdict is ever taken for its
own; what failed is not in it.
"""

from collections import OrderedDict
from hashlib import sha256
from time import monotonic

import msgspec

from hookline.handlers._judge.questions import Question
from hookline.model.answers import Answer

__all__ = ["Remembered", "key_of"]


class Remembered:
    """The last verdicts, the oldest forgotten first."""

    def __init__(self, seconds: float, entries: int) -> None:
        self._seconds = seconds
        self._entries = entries
        self._kept: OrderedDict[bytes, tuple[float, Answer]] = OrderedDict()

    def get(self, key: bytes) -> Answer | None:
        """The verdict, unless it is too old."""
        found = self._kept.get(key)
        if found is None:
            return None
        until, answer = found
        if monotonic() >= until:
            del self._kept[key]
            return None
        return answer

    def keep(self, key: bytes, answer: Answer) -> None:
        """Remember a verdict."""
        self._kept.pop(key, None)
        self._kept[key] = (monotonic() + self._seconds, answer)
        while len(self._kept) > self._entries:
            self._kept.popitem(last=False)


def key_of(model: str, question: Question) -> bytes:
    """Equal for the same question to the same model; says nothing of what was asked."""
    return sha256(model.encode() + b"\0" + msgspec.json.encode(question)).digest()
