"""Tells the model what is in files such as AGENTS.md: the nearest one, and the person's own."""

import os
from collections.abc import Callable, Iterator

from msgspec import Struct

from hookline.builtin._docker_agent import CONTEXT_EVENTS
from hookline.files import text_of
from hookline.model.answers import PASS, Answer, context
from hookline.model.events import Event
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("turn_start",)
ALSO: tuple[str, ...] = CONTEXT_EVENTS
PRIORITY: int = 50
GUARD: bool = False
EFFECT: str = "context"
WAITS: bool = True

CAP = 1 << 20
"""Bytes of one file; what is longer is no instruction."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names of the files."""

    files: tuple[str, ...] = ()
    args: tuple[str, ...] | None = None
    """docker-agent's spelling; there, no names mean that nothing is told."""

    def __post_init__(self) -> None:
        if not self.files and self.args is None:
            raise ValueError("`files` is missing: the names to look for, such as AGENTS.md")


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    names = (*options.files, *(options.args or ()))

    def answer(event: Event, caller: Caller) -> Answer:
        found = (text_of(path, CAP) for name in names for path in _places(name, event.cwd, caller))
        texts = [text for text in found if text]
        return context("\n\n".join(texts)) if texts else PASS

    return answer


def _places(name: str, cwd: str, caller: Caller) -> Iterator[str]:
    """At most two: the nearest on the way up, and the one in the person's home."""
    nearest = _nearest(name, cwd) if os.path.isabs(cwd) else ""
    home = caller.env.get("HOME", "")
    own = os.path.normpath(os.path.join(home, name)) if os.path.isabs(home) else ""
    yield from dict.fromkeys(path for path in (nearest, own) if path)


def _nearest(name: str, cwd: str) -> str:
    directory = os.path.normpath(cwd)
    while True:
        path = os.path.normpath(os.path.join(directory, name))
        if os.path.isfile(path):
            return path
        above = os.path.dirname(directory)
        if above == directory:
            return ""
        directory = above
