"""What a text holds beside the commands that are split off: assignments, inputs, redirections."""

from collections.abc import Sequence
from typing import NamedTuple

from hookline.shell.budget import Budget, Exhausted
from hookline.shell.fields import NOTHING, Reading, as_source
from hookline.shell.model import MAX_BYTES
from hookline.shell.script import Code, Command, Redirect

__all__ = ["Beside", "read_beside"]


class Beside(NamedTuple):
    """What the reader of a text as a whole found in it, of which ``split`` shows a part."""

    found: Sequence[Command | Code]
    redirects: Sequence[Redirect]
    steps: int
    """How much work it was."""


def read_beside(text: str, budget: Budget) -> Beside | None:
    """That of a text; None when there is more to it than is read."""
    # Plain texts need no reader, and reading takes a while to load.
    from hookline.shell.texts import TextReader

    if len(text) > MAX_BYTES:
        return None
    before = budget.left
    reading = Reading(as_source(text).replace("\0", ""), budget)
    try:
        reader = TextReader(reading, 0, NOTHING)
    except Exhausted:
        return None
    for script in reader.scripts:
        script.let_go()
    return Beside(reader.found, reading.redirects, before - budget.left)
