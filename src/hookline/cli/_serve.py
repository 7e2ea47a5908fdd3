"""``hookline daemon serve``: the daemon's own process. Clients start it, and wait for it.

So it goes without the command line library, like ``hook``, and loads what answers an event while
the event is on its way.
"""

import asyncio
import os
from collections.abc import Awaitable, Sequence

from msgspec import Struct

from hookline.config.sight import forget_sight
from hookline.daemon.frames import ClientRequest, Respond
from hookline.daemon.lifecycle import IDLE, Daemon
from hookline.daemon.log import Log
from hookline.daemon.process import start_clean
from hookline.model.errors import HooklineError
from hookline.model.outcome import Reply
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import LastingJournals, Parts
from hookline.processes.strays import guard_runs
from hookline.store.duplicate_calls import DuplicateCalls, MemoryShelf

__all__ = ["main", "responder"]

_USAGE = "usage: hookline daemon serve (--home DIR | --fd NUMBER [--once]) [--idle SECONDS]"


def main(argv: Sequence[str]) -> int:
    """Runs a daemon to its end; 0 when it was one, 1 when another had the place."""
    words = _parse(argv)
    client = start_clean(client=words.fd)
    guard_runs()
    parts = Parts(LastingJournals(), DuplicateCalls(MemoryShelf()), forget_sight)
    with asyncio.Runner() as runner:
        daemon = Daemon(
            responder(parts),
            home=words.home,
            client=client,
            idle=words.idle,
            stays=not words.once,
            log=Log(redact=_redact),
            look_after=lambda home: _end_sessions(parts, home),
            on_end=parts.aclose,
        )
        was_daemon = runner.run(daemon.run())
    return 0 if was_daemon or client is not None else 1


def responder(parts: Parts) -> Respond:
    """What answers a client's request: the pipeline, as if the client had called it itself."""

    def respond(request: ClientRequest) -> Awaitable[Reply]:
        argv = request.argv
        if not argv or argv[0] != "hook":
            return _turned_away()
        return answer(
            Call(
                argv=argv[1:],
                payload=request.stdin,
                env=request.env,
                cwd=request.cwd,
                id=request.id,
                attempt=request.attempt,
                umask=request.umask,
                client_pid=request.client_pid,
                arrived=request.arrived,
            ),
            parts,
        )

    return respond


async def _end_sessions(parts: Parts, home: str) -> None:
    from hookline.pipeline.session_end import conclude_sessions  # by the first minute, not before

    await conclude_sessions(parts, home)


async def _turned_away() -> Reply:
    return Reply(stderr=b"a daemon answers `hook` only\n", exit_code=64)


def _redact(text: str) -> str:
    from hookline.secrets import redact

    return redact(text).text


class _ServeOptions(Struct, frozen=True, kw_only=True):
    home: str | None
    fd: int | None
    idle: float
    once: bool


def _parse(argv: Sequence[str]) -> _ServeOptions:
    words = iter(word for word in argv if word != "--once")
    given = {}
    for word in words:
        if word not in {"--home", "--fd", "--idle"}:
            raise HooklineError(f"unknown word `{word}`; {_USAGE}")
        given[word] = next(words, "")
    try:
        fd = int(given["--fd"]) if "--fd" in given else None
        idle = float(given.get("--idle", IDLE))
    except ValueError:
        raise HooklineError(f"--fd and --idle take numbers; {_USAGE}") from None
    home, once = given.get("--home"), "--once" in argv
    if (home is None) == (fd is None) or (once and home) or not 0 < idle < float("inf"):
        raise HooklineError(_USAGE)
    if home is not None and not os.path.isabs(home):
        raise HooklineError(f"--home takes a whole path; {_USAGE}")
    return _ServeOptions(home=home, fd=fd, idle=idle, once=once)
