"""Several things written down by one commit: who writes waits for nothing, one waits for all."""

from collections.abc import Callable
from typing import Protocol

__all__ = ["Together"]


class _Committing(Protocol):
    def commit(self, done: Callable[[str], None]) -> None:
        """Calls ``done`` when all that it was given will survive this process. Never raises.

        With a warning for the person, where it may not.
        """


class Together:
    """Whether what is written now is committed with what else is, and by whom."""

    def __init__(self) -> None:
        self.is_open = False
        """Whoever has opened it answers nobody before ``end`` says that it is done."""
        self._touched: dict[_Committing, None] = {}

    def begin(self) -> None:
        """From now on what is written may wait."""
        self.is_open = True

    def touch(self, journal: _Committing) -> None:
        """Something waits there."""
        self._touched[journal] = None

    def end(self, done: Callable[[str], None]) -> None:
        """Calls ``done`` when nothing waits any more, with what the person has to know."""
        self.is_open = False
        touched, self._touched = self._touched, {}
        left, warnings = len(touched), dict[str, None]()
        if not left:
            done("")
            return

        def one_done(warning: str) -> None:
            nonlocal left
            left -= 1
            warnings[warning] = None
            if not left:
                done(" ".join(filter(None, warnings)))

        for journal in touched:
            journal.commit(one_done)
