"""Tells the model who the user is: login, full name, host."""

import os
from collections.abc import Callable, Iterator

from hookline.builtin._docker_agent import CONTEXT_EVENTS, ArgsOptions
from hookline.model.answers import PASS, Answer, context
from hookline.model.events import Event
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("session_start",)
ALSO: tuple[str, ...] = CONTEXT_EVENTS
PRIORITY: int = 50
GUARD: bool = False
EFFECT: str = "context"
WAITS: bool = True


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    lines = [*_person(), *_host()]
    return context("\n".join(["Current user:", "", *lines])) if lines else PASS


def _person() -> Iterator[str]:
    # Asked of the system, not of $USER, which anybody may set.
    import pwd

    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return
    yield f"User: {entry.pw_name}"
    # The first part is the name; `&` in it stands for the login, capitalised.
    name = entry.pw_gecos.partition(",")[0].replace("&", entry.pw_name.capitalize()).strip()
    if name:
        yield f"Full name: {name}"


def _host() -> Iterator[str]:
    host = os.uname().nodename
    if host:
        yield f"Hostname: {host}"
