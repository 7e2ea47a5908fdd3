"""What one session shows about one probe. Effects only: files, and what the model was sent."""

import json
from collections.abc import Iterator

from msgspec import Struct

from hookline.lab.exchanges import Exchange, exchanges
from hookline.lab.ports import Asked, Session
from hookline.verifying.lines import Names

__all__ = ["CALLED", "NEW", "Evidence"]

CALLED = "-called"
"""The suffix of the file by which a guard shows that it was called."""
NEW = "-instead"
"""The suffix of the file that a rewritten command writes."""


class Evidence(Struct, frozen=True, kw_only=True):
    """A finished session, as one probe looks at it."""

    session: Session
    names: Names
    how: str = "yes"
    """What the support table promises: ``yes``, or what is said instead."""
    most_follow_ups: int = 8
    """How often hookline keeps an agent going at most."""

    questions: tuple[str, ...] = ()
    """What the client asked the person, who said yes each time."""

    def made(self, suffix: str = "") -> bool:
        """Whether the probe's file was written or changed."""
        return self.session.changed.get(self.names.word + suffix) in {"added", "changed"}

    @property
    def was_asked(self) -> bool:
        """Whether the person was asked about the probe's act."""
        return any(self.names.word in each for each in self.questions)

    @property
    def call(self) -> Exchange | None:
        """The tool call of the probe, as the client sent it back; None when it never did."""
        return next(self._calls(), None)

    @property
    def told(self) -> str | None:
        """What the model was told of the probe's tool call; None when it was told nothing."""
        return next((each.told for each in self._calls() if each.told is not None), None)

    def _calls(self) -> Iterator[Exchange]:
        """Later calls first: a file is read before it is edited, and the edit is meant."""
        for each in reversed(exchanges(self.session.asked)):
            if self.names.word in json.dumps(dict(each.arguments), default=str):
                yield each

    @property
    def conversation(self) -> tuple[Asked, ...]:
        """The requests of the main conversation."""
        return tuple(each for each in self.session.asked if not each.side and not each.lane)

    def reached(self, text: str) -> bool:
        """Whether the model was sent this text in any conversation."""
        return text in self.session.sent

    @property
    def continuations(self) -> int:
        """How many requests of the main conversation carry what the hook said."""
        mark = self.names.mark
        return sum(mark in json.dumps(each.body, ensure_ascii=False) for each in self.conversation)

    @property
    def end(self) -> str:
        """How the client ended, in words."""
        session = self.session
        if session.cut:
            return f"the client was ended: {session.cut}"
        if session.exit_code == 0:
            return "the client ended by itself"
        return f"the client ended with exit code {session.exit_code}"
