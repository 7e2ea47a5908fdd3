"""Lets only a person weaken hookline: never an agent, and never what comes on stdin.

Every command says in ``WEAKENS`` when it weakens. ``guard_weakening`` looks for an agent before
such a command looks at anything else, and ``confirm`` asks the person and tells every session.
"""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import signature
from typing import NamedTuple, ParamSpec, TypeVar

import click

from hookline.cli._agents import Process, find_agent, read_lineage
from hookline.installing.records import Records
from hookline.model.errors import TrustError
from hookline.model.text import visible
from hookline.store.sessions import last_weakening, record_weakening

__all__ = [
    "WEAKENS",
    "Host",
    "Weakens",
    "confirm",
    "guard_weakening",
    "is_under_agent",
    "print_last_weakening",
]

P = ParamSpec("P")
R = TypeVar("R")
_LONGEST = 1_000


class Weakens(NamedTuple):
    """When a command weakens what protects the person; options are named as parameters."""

    always: bool = False
    options: tuple[str, ...] = ()
    """With any of these; or, of a command that always does, not with these."""

    def applies(self, given: Mapping[str, object]) -> bool:
        """Whether it does with these values of its parameters."""
        return self.always != any(given.get(option) for option in self.options)


NEVER = Weakens()
ALWAYS = Weakens(always=True)

_HARMLESS = (
    "adapt, check, completion, convert, cost, daemon logs, daemon serve, daemon start, daemon "
    "status, demo, doctor, explain, fire, handoff, hook, init, lab capture, lab drift, lab run, "
    "list, log, matrix, mcp check, mcp list, replay, snapshots, status, trace, verify"
)
WEAKENS: Mapping[str, Weakens] = {
    **dict.fromkeys(_HARMLESS.split(", "), NEVER),
    "daemon stop": ALWAYS,
    # Without these it only adds hooks; what it replaces is asked about in any case.
    "install": Weakens(options=("trust_env", "yes")),
    "mcp forget": ALWAYS,
    "mcp pin": ALWAYS,
    "pause": Weakens(options=("duration",)),
    "trust": Weakens(always=True, options=("list_all",)),
    # It may bring back settings of an agent from before hookline was in them.
    "undo": ALWAYS,
    "uninstall": Weakens(always=True, options=("dry_run",)),
}


def guard_weakening(path: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """The function of a command that refuses agents wherever its entry in WEAKENS applies."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            if WEAKENS[path].applies(signature(function).bind(*args, **kwargs).arguments):
                _refuse_agents()
            return function(*args, **kwargs)

        return guarded

    return decorate


def is_under_agent() -> bool:
    """Whether an agent runs this command."""
    return bool(find_agent(host.lineage()))


def _refuse_agents() -> None:
    found = find_agent(host.lineage())
    if found:
        raise _refusal(f"{found} runs this command")


def confirm(question: str, *, weakening: str, yes: bool = False) -> None:
    """Return only when a person said yes; raises TrustError in every other case.

    ``weakening`` says what is about to happen, for every open session and for `status`; empty if
    nothing gets weaker. ``yes`` stands for the person where HOOKLINE_TRUST is set too and nothing
    is installed yet, as in the build of an image.
    """
    from hookline.app import open_loader

    _refuse_agents()
    home = os.path.abspath(open_loader(os.environ).home)
    vouched = yes and os.environ.get("HOOKLINE_TRUST") and not Records(home).has_any()
    if not vouched and host.ask(question).strip().lower() not in {"y", "yes"}:
        raise TrustError("nothing was changed")
    if weakening:
        record_weakening(home, weakening, now=time.time())


def print_last_weakening(home: str) -> None:
    """What a person did within a day that makes hookline protect less, if they did."""
    last = last_weakening(home)
    if last:
        click.secho(f"last weakened: {visible(last)}", fg="yellow")


def _refusal(why: str) -> TrustError:
    return TrustError(f"only a person can do this, in a terminal of your own: {why}")


def _ask_terminal(question: str) -> str:
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise _refusal("there is no terminal here") from error
    try:
        return _ask(terminal, question)
    except OSError as error:
        raise _refusal("the terminal went away") from error
    finally:
        os.close(terminal)


def _ask(terminal: int, question: str) -> str:
    import termios

    # A job in the background would be stopped for reading, and wait for ever.
    if os.tcgetpgrp(terminal) != os.getpgrp():
        raise _refusal("this runs in the background")
    # What was typed before the question was seen is no answer to it.
    termios.tcflush(terminal, termios.TCIFLUSH)
    os.write(terminal, f"{visible(question)} [y/N] ".encode(errors="replace"))
    answer = b""
    while not answer.endswith(b"\n") and len(answer) < _LONGEST:
        more = os.read(terminal, _LONGEST)
        if not more:
            return ""  # a line that was not finished is no answer
        answer += more
    return answer.decode(errors="replace")


class Host(NamedTuple):
    """Where a command runs: the processes that started it, and whom it can ask."""

    lineage: Callable[[], Iterable[Process]] = read_lineage
    ask: Callable[[str], str] = _ask_terminal


host = Host()
