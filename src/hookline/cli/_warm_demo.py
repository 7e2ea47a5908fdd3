"""The end of the demo: the same judgement by the client that agents start, cold and warm."""

import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import click
import msgspec

from hookline._version import __version__
from hookline.client import fastest
from hookline.daemon.instance import holder
from hookline.journals import journal_file
from hookline.store.journal.reader import Reader

__all__ = ["show_warm_path"]

_WARM = 20
_PATIENCE = 5.0
_ASKED = {
    "session_id": "demo",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf ~"},
}


def show_warm_path(scratch: Path, config: bytes) -> None:
    """Runs the client some times, and says what it cost; its daemon ends with the demo."""
    user, state = scratch / "user", scratch / "state"
    (user / "hookline").mkdir(parents=True)
    (user / "hookline/hookline.yaml").write_bytes(config)
    (scratch / "payload").write_bytes(msgspec.json.encode({**_ASKED, "cwd": str(scratch)}))
    client = [*fastest(sys.executable), "hook", "claude-code", "PreToolUse"]
    client += ["--home", str(state), "--user-config", str(user), "--timeout", "60"]
    try:
        first = _seconds(client, scratch)
        warm = median(_seconds(client, scratch) for _ in range(_WARM))
        bare = median(_seconds(["/bin/true"], scratch) for _ in range(_WARM))
        _tell(first, warm, bare, state)
    finally:
        _end(str(state))


def _seconds(argv: list[str], scratch: Path) -> float:
    """How long a program takes with the payload on stdin; by the means that costs the least."""
    opened = [
        (os.POSIX_SPAWN_OPEN, 0, str(scratch / "payload"), os.O_RDONLY, 0),
        *((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)),
    ]
    started = perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=opened)
    os.waitpid(pid, 0)
    return perf_counter() - started


def _tell(first: float, warm: float, bare: float, state: Path) -> None:
    click.secho("As agents ask: the client, and the daemon it starts.", italic=True, dim=True)
    with Reader(journal_file(str(state))) as journal:
        last = journal.last()
    if last is not None:
        click.echo(f"{last.verdict}   {last.native_event} of {last.dialect}: {last.subject}")
        click.echo(f"       in the journal; `hookline explain {last.id[:16]}` would tell more")
    click.echo(
        f"       {first * 1e3:.0f} ms for the first event, which started the daemon; "
        f"{warm * 1e3:.1f} ms for each of the next {_WARM}; "
        f"/bin/true takes {bare * 1e3:.1f} ms here\n"
    )


def _end(home: str) -> None:
    """Ends the daemon, and waits for that: its files are about to go."""
    found = holder(home, __version__)
    until = perf_counter() + _PATIENCE
    with suppress(ProcessLookupError):
        while found is not None and perf_counter() < until:
            os.kill(found.pid, signal.SIGTERM)
            sleep(0.01)
