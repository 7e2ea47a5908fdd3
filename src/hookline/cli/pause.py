"""``hookline pause``: for a while, only the managed hooks are in force."""

import os
import time
from datetime import datetime

import click

from hookline.cli._output import print_json
from hookline.cli._terminal import confirm, guard_weakening
from hookline.config.pause import end_pause, parse_duration, read_pause, start_pause
from hookline.model.errors import HooklineError

__all__ = ["command"]


@click.command("pause")
@click.argument("duration", required=False)
@click.option("--off", is_flag=True, help="End the pause now.")
@click.option("--status", is_flag=True, help="Say whether there is a pause.")
@click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@guard_weakening("pause")
def command(duration: str | None, off: bool, status: bool, yes: bool, as_json: bool) -> None:
    """Pause all hooks but the managed ones for DURATION, such as 90s, 10m or 2h.

    It asks on the terminal, ends by itself after a day at most, and every session is told.
    """
    from hookline.app import open_loader

    if (duration is not None) + off + status != 1:
        raise HooklineError("say how long, such as `hookline pause 10m`, or --off, or --status")
    home = open_loader(os.environ).home
    now = time.time()
    if duration is not None:
        seconds = parse_duration(duration)
        question = f"Pause all hooks but the managed ones for {duration}?"
        confirm(question, weakening=f"hookline was paused for {duration}", yes=yes)
        start_pause(home, seconds, now=now)
    was = read_pause(home)
    if off:
        end_pause(home)
    over = off and was is not None and was.holds(now)
    ended = "the pause is over; `hookline status` shows what is active here"
    _tell(home, now, as_json, ended if over else "not paused")


def _tell(home: str, now: float, as_json: bool, otherwise: str) -> None:
    pause = read_pause(home)
    paused = pause is not None and pause.holds(now)
    until = datetime.fromtimestamp(pause.until).astimezone() if pause and paused else None
    if as_json:
        print_json({"paused": paused, "until": until})
    elif until:
        click.secho(f"paused until {until:%H:%M:%S}; `hookline pause --off` ends it", fg="yellow")
    else:
        click.echo(otherwise)
