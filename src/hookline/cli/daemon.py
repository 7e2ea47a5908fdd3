"""``hookline daemon``: start, stop and look at the process that answers agents' events."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from hookline._version import __version__
from hookline.cli._output import print_json
from hookline.cli._terminal import confirm, guard_weakening
from hookline.daemon.control import DaemonStatus, ask_status, wait_until
from hookline.daemon.control import stop as stop_daemon
from hookline.daemon.instance import find_holder
from hookline.daemon.lifecycle import IDLE
from hookline.daemon.log import log_path
from hookline.model.errors import HooklineError
from hookline.model.text import visible

if TYPE_CHECKING:
    from typing import TextIO

__all__ = ["command"]

_START = 20.0
_POLL = 0.05
_json = click.option("--json", "as_json", is_flag=True, help="Print data for programs.")


@click.group("daemon")
def command() -> None:
    """Start, stop or look at the daemon that answers agents' events, so that none waits for Python.

    It starts by itself with the first event, and goes when nothing was asked for half an hour.
    """


@command.command("start")
@click.option(
    "--idle",
    type=click.FloatRange(0, min_open=True),
    default=IDLE,
    help="Seconds without an event before it goes.",
)
@_json
def start(idle: float, as_json: bool) -> None:
    """Start the daemon now, instead of with the next event."""
    home = _home()
    if not _answers(home):
        _started(home, idle)
    _tell(home, _found(home), as_json)


@command.command("stop")
@click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
@_json
@guard_weakening("daemon stop")
def stop(yes: bool, as_json: bool) -> None:
    """End the daemon, after the events that it is working on.

    No guard is lost by it: the next event is answered without it, and starts a new one.
    """
    home = _home()
    found = find_holder(home, __version__)
    killed = False
    if found is not None:
        question = f"Stop hookline's daemon, process {found.pid}?"
        confirm(question, weakening="hookline's daemon was stopped", yes=yes)
        killed = stop_daemon(home, found)
    if as_json:
        pid = found.pid if found else None
        print_json({"stopped": found is not None, "pid": pid, "killed": killed})
    elif found is None:
        click.echo("no daemon is running")
    elif killed:
        click.echo(f"killed process {found.pid}: it was told to end and did not")
    else:
        click.echo(f"stopped process {found.pid}")


@command.command("status")
@_json
def status(as_json: bool) -> None:
    """Say whether a daemon is running and what it does; exits with 1 if none answers."""
    home = _home()
    found = ask_status(home, version=__version__)
    _tell(home, found, as_json)
    sys.exit(0 if found is not None else 1)


@command.command("logs")
@click.option("-n", "--lines", type=click.IntRange(0), default=100, help="How many, at most.")
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on.")
@_json
def logs(lines: int, follow: bool, as_json: bool) -> None:
    """Show the log of the daemon: its starts and ends, and what went wrong."""
    path = log_path(_home())
    for line in _last_lines(path, lines):
        _show(line, as_json)
    if follow:
        for line in _new_lines(path):
            _show(line, as_json)


@command.command("serve", hidden=True, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1)
def serve(words: tuple[str, ...]) -> None:
    """Be the daemon."""
    from hookline.cli._serve import main

    sys.exit(main(words))


def _home() -> str:
    from hookline.app import open_loader

    return os.path.abspath(open_loader(os.environ).home)


def _started(home: str, idle: float) -> None:
    """Starts the daemon as clients do. Raises HooklineError."""
    words = ["daemon", "serve", "--home", home, "--idle", f"{idle:g}"]
    process = subprocess.Popen(  # noqa: S603 - our own interpreter and our own words
        [sys.executable, "-I", "-m", "hookline", *words],
        cwd="/",
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    wait_until(lambda: process.poll() is not None or _answers(home), _START)
    # One that ended at once may have found another that was quicker; then that one answers.
    if not _answers(home):
        raise HooklineError(
            f"the daemon did not start; `hookline daemon logs` may say why ({log_path(home)})"
        )
    process.returncode = 0  # it outlives us, and is not ours to wait for


def _answers(home: str) -> bool:
    return ask_status(home, version=__version__) is not None


def _found(home: str) -> DaemonStatus:
    found = ask_status(home, version=__version__)
    if found is None:
        raise HooklineError("the daemon went away again; `hookline daemon logs` may say why")
    return found


def _tell(home: str, found: DaemonStatus | None, as_json: bool) -> None:
    held = None if found is not None else find_holder(home, __version__)
    if as_json:
        nobody = {"pid": held.pid if held else None, "version": __version__}
        state = "running" if found is not None else "silent" if held is not None else "none"
        print_json({"daemon": state, **(_as_json(found) if found is not None else nobody)})
    elif found is not None:
        _tell_status(found)
    elif held is not None:
        click.secho(f"process {held.pid} is the daemon, and does not answer", fg="yellow")
        click.echo("  next: hookline daemon stop")
    else:
        click.echo("no daemon is running; it starts by itself with the next event")


def _as_json(found: DaemonStatus) -> dict[str, object]:
    return {name: getattr(found, name) for name in found.__struct_fields__}


def _tell_status(found: DaemonStatus) -> None:
    click.echo(f"{click.style('running', fg='green', bold=True)}: process {found.pid}")
    minutes = f"{found.uptime / 60:.0f} min" if found.uptime >= 90 else f"{found.uptime:.0f} s"
    click.echo(f"  version {visible(found.version)}, for {minutes}")
    click.echo(
        f"  {found.answered} events answered, {found.running} running, {found.waiting} waiting, "
        f"{found.sessions} sessions lately"
    )
    if found.abandoned or found.refused or found.failed:
        click.echo(
            f"  {found.abandoned} given up by their client, {found.refused} refused, "
            f"{found.failed} failed"
        )
    click.echo(f"  {found.memory / 2**20:.0f} MB of memory, {found.connections} connections")
    click.echo(f"  socket {visible(found.socket)}")


def _last_lines(path: str, count: int) -> list[str]:
    lines: list[str] = []
    for each in (f"{path}.1", path):
        with suppress(FileNotFoundError), open(each, encoding="utf-8", errors="replace") as file:
            lines += file.read().splitlines()
    return lines[-count:] if count else []


def _new_lines(path: str) -> Iterator[str]:
    """What is appended from now on, through every change of the file."""
    file = _at_end(path)
    rest = ""
    while True:
        rest += file.read() if file is not None else ""
        *whole, rest = rest.split("\n")
        yield from whole
        if not whole:
            time.sleep(_POLL)
            if file is None or _replaced(path, file.fileno()):
                if file is not None:
                    rest += file.read()
                    file.close()
                file = _opened(path)


def _at_end(path: str) -> "TextIO | None":
    file = _opened(path)
    if file is not None:
        file.seek(0, os.SEEK_END)
    return file


def _opened(path: str) -> "TextIO | None":
    try:
        return open(path, encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None


def _replaced(path: str, number: int) -> bool:
    try:
        return not os.path.samestat(os.stat(path), os.fstat(number))
    except FileNotFoundError:
        return False


def _show(line: str, as_json: bool) -> None:
    if not as_json:
        click.echo(visible(line))
        return
    at, pid, text = (*line.split(" ", 2), "", "")[:3]
    if line.startswith(" ") or not pid.isdigit():
        print_json({"time": None, "pid": None, "text": line.strip()}, pretty=False)
    else:
        print_json({"time": at, "pid": int(pid), "text": text}, pretty=False)
