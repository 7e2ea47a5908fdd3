"""``hookline daemon serve``: the daemon's own process. Clients start it, and wait for it.

So it goes without the command line library, like ``hook``, and loads what answers an event while
the event is on its way.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Sequence
from subprocess import DEVNULL, Popen
from typing import TYPE_CHECKING

from msgspec import Struct

from hookline.cli.hook import Arrived, Desk
from hookline.config.sight import forget_sight
from hookline.daemon.clean import start_clean
from hookline.daemon.crew import MANY
from hookline.daemon.frames import Request, Respond
from hookline.daemon.lifecycle import IDLE, Daemon, new_loop
from hookline.daemon.log import Log
from hookline.daemon.server import Limits
from hookline.journals import LastingJournals
from hookline.model.errors import HooklineError
from hookline.model.outcome import Reply
from hookline.processes.guarding import guard_runs
from hookline.store.brief_answers import BriefAnswers

if TYPE_CHECKING:
    from hookline.daemon.beside import Beside

__all__ = ["main", "responder"]

_USAGE = (
    "usage: hookline daemon serve (--home DIR [--beside NUMBER | --processes COUNT] | "
    "--fd NUMBER [--once]) [--idle SECONDS]"
)


def main(argv: Sequence[str]) -> int:
    """Runs a daemon to its end; 0 when it was one, 1 when another had the place."""
    words = _parsed(argv)
    given = start_clean(client=words.fd if words.beside is None else words.beside)
    guard_runs()
    desk = Desk(LastingJournals(), BriefAnswers(), forget_sight)
    log = Log(redact=_redacted)
    with asyncio.Runner(loop_factory=new_loop) as runner:
        if words.beside is not None:
            runner.run(_beside(desk, words, given, log).run())
            return 0
        daemon = Daemon(
            responder(desk),
            home=words.home,
            client=given,
            idle=words.idle,
            stays=not words.once,
            limits=Limits(always_beside=words.processes - 1),
            log=log,
            books=desk,
            start=_start_beside,
        )
        was_daemon = runner.run(daemon.run())
    return 0 if was_daemon or given is not None else 1


def _beside(desk: Desk, words: "_Words", channel: socket.socket | None, log: Log) -> "Beside":
    from hookline.daemon.beside import Beside

    assert words.home is not None
    assert channel is not None
    return Beside(responder(desk), home=words.home, channel=channel, log=log, books=desk)


def _start_beside(home: str, theirs: socket.socket) -> "Popen[bytes]":
    """Starts a process beside this one; it begins as clean as we did."""
    return Popen(  # noqa: S603 - our own interpreter and our own words
        [
            *(sys.executable, "-I", "-m", "hookline", "daemon", "serve"),
            *("--home", home, "--beside", "0"),
        ],
        cwd="/",
        env=dict(os.environ),
        stdin=theirs.fileno(),
        stdout=DEVNULL,
        stderr=DEVNULL,
        start_new_session=True,
    )


def responder(desk: Desk) -> Respond:
    """What answers a client's request: the desk, as if the client had called it itself."""

    def respond(request: Request) -> Awaitable[Reply]:
        argv = request.argv
        if not argv or argv[0] != "hook":
            return _turned_away()
        return desk.respond(
            Arrived(
                argv=argv[1:],
                payload=request.stdin,
                env=request.env,
                cwd=request.cwd,
                id=request.id,
                attempt=request.attempt,
                umask=request.umask,
                arrived=request.arrived,
            )
        )

    return respond


async def _turned_away() -> Reply:
    return Reply(stderr=b"a daemon answers `hook` only\n", exit_code=64)


def _redacted(text: str) -> str:
    from hookline.secrets import redact

    return redact(text).text


class _Words(Struct, frozen=True, kw_only=True):
    home: str | None
    fd: int | None
    beside: int | None
    processes: int
    idle: float
    once: bool


def _parsed(argv: Sequence[str]) -> _Words:
    words = iter(word for word in argv if word != "--once")
    given = {}
    for word in words:
        if word not in {"--home", "--fd", "--beside", "--processes", "--idle"}:
            raise HooklineError(f"unknown word `{word}`; {_USAGE}")
        given[word] = next(words, "")
    try:
        fd = int(given["--fd"]) if "--fd" in given else None
        beside = int(given["--beside"]) if "--beside" in given else None
        processes = int(given.get("--processes", 1))
        idle = float(given.get("--idle", IDLE))
    except ValueError:
        raise HooklineError(
            f"--fd, --beside, --processes and --idle take numbers; {_USAGE}"
        ) from None
    home, once = given.get("--home"), "--once" in argv
    apart = (home is None) != (fd is None) and not (once and home)
    if home is None:
        apart = apart and not {"--beside", "--processes"} & given.keys()
    if beside is not None:
        apart = apart and not {"--processes", "--idle"} & given.keys()
    if not apart or not 0 < idle < float("inf") or not 0 < processes <= 1 + MANY:
        raise HooklineError(_USAGE)
    if home is not None and not os.path.isabs(home):
        raise HooklineError(f"--home takes a whole path; {_USAGE}")
    return _Words(home=home, fd=fd, beside=beside, processes=processes, idle=idle, once=once)
