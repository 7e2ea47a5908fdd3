"""A person at a client's terminal who says yes to every question."""

import re
from collections.abc import Callable

from hookline.lab.ports import Dialogue

__all__ = ["LEAVE", "YES", "say_yes"]

YES = b"\r"
"""The key that says yes to a question: its first answer is chosen already."""
LEAVE = b"\x03\x03"
"""Ctrl-C twice: the client ends from wherever it is, and no command has to be typed."""

_ESCAPES = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_BOX = "╭"
_LINES = re.compile("[\u2500-\u257f]")


def say_yes(tell: Callable[[str], None], last_word: bytes, end: str) -> Callable[[Dialogue], None]:
    """Answers each question in a box once, and leaves when ``end`` is on the screen.

    ``last_word`` stands at the end of every question: from there on keys count. A question that
    is drawn again is the same one, and a second key would answer one that nobody has read.
    """

    def talk(client: Dialogue) -> None:
        answered = ""
        while not (drawn := client.read_until(last_word, end.encode())).endswith(end.encode()):
            screen = _ESCAPES.sub(b" ", drawn).decode(errors="replace")
            question = " ".join(_LINES.sub(" ", screen.rpartition(_BOX)[2]).split())
            if _BOX in screen and question != answered:
                tell(question)
                client.write(YES)
                answered = question
        client.write(LEAVE)

    return talk
