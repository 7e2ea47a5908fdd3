"""Tells the model what differs in the git work tree from what was staged last."""

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
_QUESTION = ("diff", "--ignore-submodules=dirty")


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether the lines themselves are told, or only how many."""

    full: bool = False


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    full = options.full or options.args[:1] == ("full",)
    question = _QUESTION if full else (*_QUESTION, "--stat")
    head = "Current working-tree diff:" if full else "Current working-tree diff (stat):"

    def answer(event: Event, caller: Caller) -> Answer:
        diff = ask_git(event.cwd, caller, *question) if event.cwd else ""
        return context(f"{head}\n\n{diff}") if diff else PASS

    return answer
