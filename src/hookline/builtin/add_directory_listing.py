"""Tells the model what lies in the working directory."""

import os
from collections.abc import Callable

from hookline.builtin._docker_agent import CONTEXT_EVENTS, ArgsOptions
from hookline.model.answers import PASS, Answer, context
from hookline.model.events import Event
from hookline.model.ports import Caller
from hookline.model.text import visible

EVENTS: tuple[str, ...] = ("session_start",)
ALSO: tuple[str, ...] = CONTEXT_EVENTS
PRIORITY: int = 50
GUARD: bool = False
EFFECT: str = "context"
WAITS: bool = True

MOST = 100


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    try:
        with os.scandir(event.cwd or os.devnull) as entries:
            names = sorted(_shown(entry) for entry in entries if not entry.name.startswith("."))
    except (OSError, ValueError):
        return PASS
    if not names:
        return PASS
    lines = [f"Top-level entries in {event.cwd}:", "", *(f"- {name}" for name in names[:MOST])]
    if len(names) > MOST:
        lines.append(f"... and {len(names) - MOST} more")
    return context("\n".join(lines))


def _shown(entry: os.DirEntry[str]) -> str:
    name = os.fsencode(entry.name).decode("utf-8", "replace")
    # One line each, whatever a file is called: a name must not be able to speak to the model.
    one_line = visible(name).replace("\n", "\u240a").replace("\t", "\u2409")
    return f"{one_line}/" if entry.is_dir(follow_symlinks=False) else one_line
