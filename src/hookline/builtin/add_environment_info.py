"""Tells the model where it works: directory, git repository or not, system, processor."""

import os
import stat
import sys
from collections.abc import Callable

from hookline.builtin._docker_agent import CONTEXT_EVENTS, ArgsOptions
from hookline.model.answers import PASS, Answer, context
from hookline.model.events import Event
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("session_start",)
ALSO: tuple[str, ...] = CONTEXT_EVENTS
PRIORITY: int = 50
GUARD: bool = False
EFFECT: str = "context"

_SYSTEMS = {"darwin": "MacOS", "win32": "Windows", "linux": "Linux"}
# As Go names processors, since that is what docker-agent shows.
_PROCESSORS = {
    "x86_64": "x64",
    "amd64": "x64",
    "aarch64": "arm64",
    "i386": "386",
    "i686": "386",
    "armv6l": "arm",
    "armv7l": "arm",
}


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    if not event.cwd:
        return PASS
    import platform  # slow to load, and only the start of a session wants it

    machine = platform.machine().lower()
    lines = (
        "Here is useful information about the environment you are running in:",
        "<env>",
        f"Working directory: {event.cwd}",
        f"Is directory a git repo: {'Yes' if _in_repository(event.cwd) else 'No'}",
        f"Operating System: {_SYSTEMS.get(sys.platform, sys.platform)}",
        f"CPU Architecture: {_PROCESSORS.get(machine, machine)}",
        "</env>",
    )
    # The tabs are docker-agent's; models see the same text here and there.
    return context("\n\t".join(lines))


def _in_repository(directory: str) -> bool:
    """Whether a ``.git`` directory lies here or above; a work tree's ``.git`` file is none."""
    here = os.path.normpath(os.path.join("/", directory))
    while True:
        try:
            if stat.S_ISDIR(os.stat(os.path.join(here, ".git")).st_mode):
                return True
        except FileNotFoundError:
            pass
        except (OSError, ValueError):
            return False
        above = os.path.dirname(here)
        if above == here:
            return False
        here = above
