"""``hookline hook DIALECT [EVENT]``: what agents call. Payload on stdin, answer on stdout.

The dialect is only a hint, since clients run each other's hook files; ``auto`` stands for none.
Nothing heavy is imported before it is needed, stdout belongs to the protocol, and whatever goes
wrong here is answered as the platform obeys it: a gate closes.
"""

import os
import sys
from collections.abc import Sequence
from contextlib import aclosing, suppress
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.cli._signals import ENDINGS, INTERRUPT, Ended, limit_time, note_signals, run_light
from hookline.client.thin_io import (
    GRACE,
    Signals,
    deliver,
    find_directory,
    find_number,
    read_payload,
)
from hookline.model.errors import HooklineError
from hookline.model.outcome import Reply
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call, Exchange, time_limit
from hookline.pipeline.parts import BriefJournals, Parts

if TYPE_CHECKING:
    import click

__all__ = ["command", "main", "main_alone"]


def main(argv: Sequence[str], began: float | None = None) -> int:
    """Answers the event on stdin; returns the exit code.

    ``began`` is when the agent started to wait, by the monotonic clock; None: now.
    """
    began = monotonic() if began is None else began
    until = began + time_limit(argv)
    cwd = os.fsdecode(find_directory()[0])
    call = Call(argv=argv, payload=b"", env=dict(os.environ), cwd=cwd, arrived=began)
    with note_signals():
        try:
            # What judges should be over by then; what has not come back gets no longer.
            with limit_time(until - monotonic() + GRACE / 2, lambda: _give_up(call)):
                call = replace(call, payload=_read(until))
                reply = run_light(_answer(call))
        except (Exception, KeyboardInterrupt) as exc:
            reply = _begin(call).refuse(exc)
        with note_signals(INTERRUPT, *ENDINGS):
            code = _hand_over(call, reply, max(until, monotonic() + GRACE))
        _end_sessions(call, code, until)
        return code


def _read(until: float) -> bytes:
    """The payload. Raises HooklineError when it is not there in time, or cannot be."""
    number = find_number(sys.stdin)
    if number < 0:
        raise HooklineError("there is no payload: stdin is closed")
    payload = read_payload(number, until)
    if payload is None and Signals.told:
        raise Ended("it was told to end before the payload had come")
    if payload is None:
        raise HooklineError("the payload did not come to its end in time")
    return payload


def _hand_over(call: Call, reply: Reply, until: float) -> int:
    """Writes the reply; returns the exit code."""
    numbers = find_number(sys.stdout), find_number(sys.stderr)
    if deliver(reply.stdout, reply.stderr, until, numbers):
        return reply.exit_code
    event = _begin(call).event
    # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
    word = b"hookline: the answer could not be written to stdout\n"
    deliver(b"", word, monotonic() + GRACE, numbers)
    return 2 if event is None or (event.gate and not event.continues) else 1


def _give_up(call: Call) -> None:
    """The last answer, given from wherever this process waits. Does not return."""
    reply = _begin(call).refuse(HooklineError("its hooks did not answer in time"))
    os._exit(_hand_over(call, reply, monotonic() + GRACE))


def main_alone(argv: Sequence[str]) -> int:
    """The same in a process that was started for this event: its time began with it."""
    from hookline.daemon.process import read_start_time

    return main(argv, read_start_time())


async def _answer(call: Call) -> Reply:
    async with aclosing(Parts(BriefJournals())) as parts:
        return await answer(call, parts)


def _end_sessions(call: Call, code: int, until: float) -> None:
    """Where no daemon does it, and after the answer: the client has that already."""
    with suppress(HooklineError, KeyboardInterrupt):
        home = call.options.home or Parts(BriefJournals()).app_for(call).home
        left = until - monotonic()
        if left > 0 and os.path.isdir(os.path.join(home, "open-sessions")):
            with limit_time(left, lambda: os._exit(code)):
                run_light(_conclude_sessions(home))


async def _conclude_sessions(home: str) -> None:
    from hookline.pipeline.session_end import conclude_sessions

    async with aclosing(Parts(BriefJournals())) as parts:
        await conclude_sessions(parts, home)


def _begin(call: Call) -> Exchange:
    """As much of an exchange as can be had: who is calling, and for what."""
    exchange = Exchange(call)
    with suppress(HooklineError):
        exchange.recognise()
        exchange.decode()
    return exchange


def command() -> "click.Command":
    """For ``--help`` and completion only: agents take the short way through ``main``."""
    import click

    @click.command("hook", context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, metavar="DIALECT|auto [EVENT]")
    def hook(words: tuple[str, ...]) -> None:
        """Answer an agent's event: payload on stdin, answer on stdout.

        Options: --home DIR (hookline's state), --user-config DIR (where your own config is),
        --config FILE (instead of the project's), --timeout SECONDS (the platform's own limit),
        --trust-env (believe the environment about HOOKLINE_*, HOME and XDG_*).
        """
        sys.exit(main(words))

    return hook
