"""Tells the model what has changed in the git work tree."""

from collections.abc import Callable

from hookline.builtin._docker_agent import CONTEXT_EVENTS, ArgsOptions
from hookline.builtin._git import ask_git
from hookline.model.answers import PASS, Answer, context
from hookline.model.events import Event
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("turn_start",)
ALSO: tuple[str, ...] = CONTEXT_EVENTS
PRIORITY: int = 50
GUARD: bool = False
EFFECT: str = "context"
NEEDS = ("git",)
WAITS: bool = True

# What has changed inside a submodule git would ask that submodule's own repository.
_QUESTION = ("status", "--short", "--branch", "--ignore-submodules=dirty")


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    status = ask_git(event.cwd, caller, *_QUESTION) if event.cwd else ""
    return context(f"Current git status:\n\n{status}") if status else PASS
