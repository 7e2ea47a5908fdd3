"""``hookline status``: how many hooks are active here for each agent, and what is missing."""

import sys
from functools import partial

import click

from hookline.app import open_app
from hookline.cli._failing import trouble
from hookline.cli._output import print_json
from hookline.cli._protection import (
    Protection,
    find_protections,
    is_protected,
    print_protections,
)
from hookline.cli._terminal import print_last_weakening
from hookline.model.text import visible

__all__ = ["command"]


@click.command("status")
@click.argument("dialects", nargs=-1, metavar="[AGENT]…")
@click.option("-v", "--verbose", is_flag=True, help="Also name the events that are covered.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(dialects: tuple[str, ...], verbose: bool, as_json: bool) -> None:
    """Say how many hooks are active in this directory, for each AGENT or for all.

    Each line that hookline wrote into an agent's settings is run with a test that no hook sees.

    \b
    Exit code 0: protected. Every agent that hookline is installed in runs its hooks here.
    Exit code 1: not protected, or not by all hooks; what to do is said.
    Exit code 2: an error, so nothing is known.
    """
    with trouble():
        app = open_app()
        found = find_protections(app, dialects=dialects)
    if as_json:
        print_json([_as_json(each) for each in found])
    else:
        print_last_weakening(app.home)
        print_protections(app, dialects, found, partial(_print_places, verbose=verbose))
    sys.exit(0 if is_protected(found, named=bool(dialects)) else 1)


def _print_places(each: Protection, *, verbose: bool) -> None:
    """Where hookline is installed, and what it hears there."""
    stands = each.standing
    for installed in stands.installed:
        target = installed.target
        click.echo(f"  {target.scope.value:<7} {visible(target.file)}")
    for file in stands.elsewhere:
        click.echo(f"  elsewhere {visible(file)}")
    for word, events in (("covers", stands.covered), ("does not cover", stands.missing)):
        if stands.installed and events:
            names = f": {', '.join(events)}" if verbose else ""
            click.echo(f"  {word} {len(events)} events{names}")


def _as_json(each: Protection) -> dict[str, object]:
    stands = each.standing
    return {
        "dialect": stands.dialect,
        "client": stands.client,
        "hooks": each.active,
        "active": each.is_full,
        "installed": [
            {
                "file": installed.target.file,
                "scope": installed.target.scope,
                "entries": [
                    {"event": entry.event, "call": entry.words, "matcher": entry.matcher}
                    for entry in installed.entries
                ],
            }
            for installed in stands.installed
        ],
        "elsewhere": stands.elsewhere,
        "covered": stands.covered,
        "missing": stands.missing,
        "inactive": [{"why": item.why, "step": item.step} for item in each.gaps],
        "notes": [{"why": item.why, "step": item.step} for item in each.remarks],
    }
