"""Entries of other platforms that nothing here can run: loaded, listed, and failing aloud.

Knows how to say so; what the failure means is the hook's ``on_error``, as its platform has it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from hookline.model.answers import Answer
from hookline.model.errors import HandlerUnavailable
from hookline.model.events import Event
from hookline.model.hook import Hook
from hookline.model.ports import Caller, Handler, KeyProblem, Services

__all__ = ["COMBINES", "EXTRA_KEYS", "KEYS", "check", "make"]

# No key of a config chooses it: only native files do, for what they have and we do not.
KEYS: Mapping[str, Any] = {}
EXTRA_KEYS: Mapping[str, Any] = {}
COMBINES: bool = False


def check(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    """Nothing a person could have mistaken."""
    return ()


def make(hook: Hook, services: Services) -> Handler:
    """The handler that says why there is none."""
    return Unrunnable(hook.handler.values["why"])


class Unrunnable:
    """A hook that always fails, with its reason."""

    instant: ClassVar[Literal[True]] = True

    def __init__(self, why: str) -> None:
        self._why = why

    def answer(self, event: Event, caller: Caller) -> Answer:
        """Never one."""
        raise HandlerUnavailable(self._why)
