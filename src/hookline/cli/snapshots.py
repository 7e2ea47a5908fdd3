"""``hookline snapshots``: what the turns of agents have changed here, as far as it was kept."""

import os
from datetime import UTC, datetime

import click

from hookline.cli._output import print_json
from hookline.cli.undo import open_shadow
from hookline.model.text import visible
from hookline.snapshots import Checkpoint, pages

__all__ = ["command"]


@click.command("snapshots")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(as_json: bool) -> None:
    """Show what `hookline undo` could take back in this work tree, the latest last.

    `use: snapshot` in a config keeps it, for each turn of an agent.
    """
    shadow = open_shadow(os.path.abspath("."))
    sessions = list(pages(shadow.directory))
    if as_json:
        print_json(
            [
                {"session": each.session, "checkpoints": each.checkpoints, "undone": each.undone}
                for each in sessions
            ]
        )
        return
    shown = [each for each in reversed(sessions) if each.checkpoints]
    for session in shown:
        click.secho(f"session {visible(session.session)}", bold=True)
        for number, point in enumerate(session.checkpoints, 1):
            click.echo(f"  {number:>3}  {_when(point)}  {_what(point)}")
    if not shown:
        click.echo("nothing is kept of this work tree; `use: snapshot` keeps it")


def _when(point: Checkpoint) -> str:
    return datetime.fromtimestamp(point.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _what(point: Checkpoint) -> str:
    count = len(point.files)
    names = ", ".join(visible(path) for path in list(point.files)[:3])
    more = f" and {count - 3} more" if count > 3 else ""
    return f"{count} file{'s' * (count != 1)}: {names}{more}"
