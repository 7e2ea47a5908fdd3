"""``hookline status``: what is installed where, what it covers, and whether it is in force."""

import os
import sys
from collections.abc import Sequence

import click

from hookline.cli._installing import installers, machine_here, print_inactive, records_here
from hookline.cli._output import print_json
from hookline.cli._terminal import print_last_weakening
from hookline.installing.status import Standing, standing
from hookline.model.text import visible

__all__ = ["command"]


@click.command("status")
@click.argument("dialects", nargs=-1, metavar="[DIALECT]…")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(dialects: tuple[str, ...], as_json: bool) -> None:
    """Say in which agents hookline is installed, and whether it is in force there right now.

    Exits with 1 while anything that is installed is not in force, or a DIALECT that was named is
    not installed.
    """
    machine, records = machine_here(os.environ), records_here()
    standings = [standing(each, machine, records) for each in installers(dialects)]
    if as_json:
        print_json([_as_json(each) for each in standings])
    else:
        print_last_weakening(records.home)
        _tell(
            [
                each
                for each in standings
                if dialects or each.installed or each.inactive or each.elsewhere
            ]
        )
    wanting = [each for each in standings if each.inactive or (dialects and not each.installed)]
    sys.exit(1 if wanting else 0)


def _tell(standings: Sequence[Standing]) -> None:
    if not standings:
        click.echo("hookline is installed in no agent here; `hookline install DIALECT` does it")
    for each in standings:
        word, colour = _word(each)
        click.echo(f"{each.client}: {click.style(word, fg=colour, bold=True)}")
        for installed in each.installed:
            target = installed.target
            click.echo(f"  {target.scope.value:<7} {visible(target.file)}")
        for file in each.elsewhere:
            click.echo(f"  elsewhere {visible(file)}")
        if each.installed:
            click.echo(f"  covers {len(each.covered)} events: {', '.join(each.covered)}")
        if each.installed and each.missing:
            click.echo(f"  does not cover: {', '.join(each.missing)}")
            click.echo(f"    next: hookline install {each.dialect}")
        for event, matcher in _narrowed(each):
            click.echo(f"  {event} is narrowed to {visible(matcher)} by the settings")
        print_inactive(each.inactive)
    inactive = [each.dialect for each in standings if each.inactive]
    if inactive:
        click.echo(f"`hookline doctor {' '.join(inactive)}` says more, and how to mend it")


def _word(each: Standing) -> tuple[str, str]:
    if each.active:
        return "active", "green"
    if each.installed:
        return "installed, not active", "yellow"
    return "not installed", "yellow"


def _narrowed(each: Standing) -> list[tuple[str, str]]:
    entries = (entry for installed in each.installed for entry in installed.entries)
    return [
        (entry.event, entry.matcher)
        for entry in entries
        if entry.matcher and entry.event not in each.covered
    ]


def _as_json(each: Standing) -> dict[str, object]:
    return {
        "dialect": each.dialect,
        "client": each.client,
        "active": each.active,
        "installed": [
            {
                "file": installed.target.file,
                "scope": installed.target.scope,
                "entries": [
                    {"event": entry.event, "call": entry.words, "matcher": entry.matcher}
                    for entry in installed.entries
                ],
            }
            for installed in each.installed
        ],
        "elsewhere": each.elsewhere,
        "covered": each.covered,
        "missing": each.missing,
        "inactive": [{"why": item.why, "step": item.step} for item in each.inactive],
    }
