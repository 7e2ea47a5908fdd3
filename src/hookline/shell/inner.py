"""What one command may have run by another: separate words, or code and where it comes from."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hookline.shell.fields import Field

__all__ = ["Argv", "Code", "Inner", "Stdin", "Unseen", "Words", "without_schedule"]

Words = Sequence[Field]

_SCHEDULE = re.compile(r"^[ \t]*(?:@\w+|(?:[^\s#=]+[ \t]+){4}[^\s=]+)[ \t]+", re.MULTILINE)


class Argv(NamedTuple):
    """A command given as separate words."""

    words: Words


class Code(NamedTuple):
    """Shell code given as text; ``same_shell`` when it sees the variables set around it."""

    text: Field
    same_shell: bool = False
    arguments: Words = ()
    """``$0``, ``$1`` and so on, when it is given any."""


class Stdin(NamedTuple):
    """Shell code read from standard input; when ``scheduled``, each line says when to run it."""

    scheduled: bool = False


class Unseen(NamedTuple):
    """Shell code from somewhere the text does not show, and what the text says of it."""

    source: str = ""


Inner = Argv | Code | Stdin | Unseen


def without_schedule(table: Field) -> Field:
    """The commands of a crontab."""
    return Field(_SCHEDULE.sub("", table.text), table.exact)
