"""The command line as a person runs it: no agent around it, and an answer to every question.

The product has no switch for that. What it would look at is put in place of what is there: here
for this process, and by ``command_line`` for a process of its own.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from hookline.cli import _terminal
from hookline.cli._agents import Process
from hookline.cli._terminal import Host
from hookline.model.errors import TrustError

__all__ = ["alone", "at_terminal", "command_line", "lineage", "no_terminal", "run"]

_TESTS = str(Path(__file__).parents[1])
_START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from support.person import run; run()"


def lineage() -> list[Process]:
    """This process, started by nobody."""
    return [Process(variables=frozenset(name for name, value in os.environ.items() if value))]


def no_terminal(question: str) -> NoReturn:
    """Nobody is there to answer."""
    raise TrustError(f"only a person can do this: there is no terminal here for `{question}`")


alone = Host(lineage, no_terminal)


@contextmanager
def at_terminal(says: str | None) -> Iterator[None]:
    """With somebody who gives this answer; None: whoever is there already stays."""
    there = _terminal.host
    with patch.object(_terminal, "host", there._replace(ask=lambda _: says) if says else there):
        yield


def command_line(*words: str, says: str = "") -> list[str]:
    """What starts hookline in a process of its own; without an answer, it asks the terminal."""
    return [sys.executable, "-c", _START, _TESTS, says, *words]


def run() -> None:
    """Be that process."""
    from hookline.__main__ import program

    says = sys.argv.pop(1)
    ask = (lambda _: says) if says else _terminal.host.ask
    _terminal.host = Host(lineage, ask)
    program()
