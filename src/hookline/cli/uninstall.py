"""``hookline uninstall``: take hookline out of an agent's settings again."""

import os
from collections.abc import Sequence
from contextlib import nullcontext

import click

from hookline.cli._installing import installers, machine_here, records_here
from hookline.cli._output import print_json
from hookline.cli._terminal import confirm, guard_weakening
from hookline.installing.changes import Change, apply, plan_uninstall
from hookline.installing.records import Records
from hookline.installing.status import standing
from hookline.installing.trusting import distrust
from hookline.model.installing import Installer, Machine, Scope, Trusting
from hookline.model.text import visible

__all__ = ["command"]


@click.command("uninstall")
@click.argument("dialects", nargs=-1, required=True, metavar="DIALECT…")
@click.option("--scope", type=click.Choice([scope.value for scope in Scope]), help="Only there.")
@click.option("--file", "files", multiple=True, type=click.Path(), help="Settings to look into.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@guard_weakening("uninstall")
def command(
    dialects: tuple[str, ...],
    scope: str | None,
    files: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Take hookline out of an agent's settings: yours, and this project's.

    A file that nobody edited since becomes what it was, byte for byte; from any other, exactly
    hookline's entries go. It asks on the terminal.
    """
    machine = machine_here(os.environ, files)
    records = records_here()
    chosen = installers(dialects, files)
    only = Scope(scope) if scope else None
    with nullcontext() if dry_run else records.locked():
        changes = [
            change for each in chosen for change in plan_uninstall(each, machine, only, records)
        ]
        if changes and not dry_run:
            names = ", ".join(dict.fromkeys(change.file.path for change in changes))
            confirm(
                f"Take hookline out of {names}?",
                weakening=f"hookline was uninstalled from {', '.join(dialects)} ({names})",
                yes=yes and not any(map(_names_a_home, changes)),
            )
            # Two platforms may share a file, so each is planned again on what the other left.
            changes = []
            for each in chosen:
                going = plan_uninstall(each, machine, only, records)
                _distrust(each, going, machine, records)
                for change in going:
                    apply(change, records)
                changes += going
    if as_json:
        print_json([_as_json(change, dry_run) for change in changes])
        return
    for change in changes:
        _tell(change, dry_run)
    if not changes:
        click.echo("nothing to do: hookline is in none of these settings")


def _names_a_home(change: Change) -> bool:
    """Whether it is in force for a state home, be it another than the one looked at."""
    entries = change.installer.inspect(change.target, change.file.content or b"")
    return any("--home" in entry.words for entry in entries)


def _distrust(
    installer: Installer, going: Sequence[Change], machine: Machine, records: Records
) -> None:
    files = {change.file.path for change in going}
    there = standing(installer, machine, records).installed
    distrust(installer, machine, [each for each in there if each.target.file in files], records)


def _tell(change: Change, dry_run: bool) -> None:
    file = visible(change.file.path)
    if dry_run:
        click.echo(f"would write {file}\n{visible(change.diff())}")
    elif change.is_none:
        click.echo(f"{file} has no hookline in it any more")
    elif change.after is None:
        click.echo(f"{file} is gone, as it was before hookline")
    elif change.exact:
        click.echo(f"{file} is what it was before, byte for byte")
    else:
        click.echo(f"{file} is without hookline's entries; the rest was edited since, and kept")
        if isinstance(change.installer, Trusting):
            client = change.installer.support.client
            click.echo(f"  {client} knows hooks by their place: trust those behind them again")


def _as_json(change: Change, dry_run: bool) -> dict[str, object]:
    return {
        "dialect": change.installer.id,
        "file": change.file.path,
        "scope": change.target.scope,
        "exact": change.exact,
        "removed": change.after is None,
        "written": not dry_run,
        "diff": change.diff(),
    }
