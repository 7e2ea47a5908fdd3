"""``hookline lab capture`` and ``hookline lab drift``: what a client sends its hooks, and since
which version.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hookline.cli._output import print_json
from hookline.model.errors import HooklineError, nearest
from hookline.model.text import visible

if TYPE_CHECKING:
    from hookline.lab.capturing import Captured, Played, Recorder
    from hookline.lab.drift import Difference, Drift
    from hookline.lab.ports import Client, Program, Room
    from hookline.lab.scenarios import Scenario

__all__ = ["capture", "drift"]

# Long enough for an interpreter to start on a busy machine; the spy itself takes no time.
_SPY_TIMEOUT = 30


@click.command("capture")
@click.argument("name", metavar="CLIENT")
@click.option("--client", "path", type=click.Path(), help="The client's program file.")
@click.option("--pinned", is_flag=True, help="The version known best, from npm, kept in a cache.")
@click.option("--out", type=click.Path(file_okay=False), help="Where to; an empty directory.")
@click.option("--scenario", "wanted", multiple=True, metavar="NAME", help="Only this one.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def capture(
    name: str,
    path: str | None,
    pinned: bool,
    out: str | None,
    wanted: tuple[str, ...],
    as_json: bool,
) -> None:
    """Record what a client sends to its hooks, one payload of each shape.

    Plays scripted sessions with the client, in a temporary directory and against a scripted model,
    with a program that only listens as its hook. What is written says which client, which version
    and which day, and nothing of this machine: paths, names, ids and times are replaced, secrets
    redacted, and of the environment only names are kept.

    `hookline lab drift DIR` then says what is different from the payloads that hookline knows.
    Exits with 1 when a session did not end well.
    """
    from hookline.lab.naming import client as driver
    from hookline.lab.recordings import write_recordings
    from hookline.lab.scenarios import scenarios_for

    if path is not None and pinned:
        raise click.UsageError("--client and --pinned: one names your client, the other ours")
    client = driver(name)
    scenarios = _chosen(scenarios_for(client.id), wanted)
    install = _spy_installer(client)
    recorder = _recorder(client, _program_of(client, path, pinned), install)
    folder = out or f"captures-{client.id}-{recorder.version or 'unknown'}"
    _refuse_to_mix(folder)
    for scenario in scenarios:
        played = recorder.play(scenario)
        if not as_json:
            _tell_played(played)
    captured = recorder.captured()
    if not captured.recordings:
        raise HooklineError(_why_nothing(captured))
    names = write_recordings(folder, captured.recordings)
    if as_json:
        print_json({"version": recorder.version, "directory": folder, **_as_json(captured)})
    else:
        _tell_captured(client, captured, folder, len(names))
    sys.exit(0 if all(each.went_well for each in captured.played) else 1)


def _chosen(there: "Sequence[Scenario]", wanted: tuple[str, ...]) -> "Sequence[Scenario]":
    names = [each.name for each in there]
    for name in wanted:
        if name not in names:
            hint = nearest(name, names) or f"known: {', '.join(names)}"
            raise click.UsageError(f"--scenario: none is called `{visible(name)}`; {hint}")
    return [each for each in there if not wanted or each.name in wanted]


def _program_of(client: "Client", path: str | None, pinned: bool) -> "Program":
    from hookline.cli._client import chosen_program
    from hookline.lab.rooms import furnished_room

    with furnished_room() as room:
        return chosen_program(client, room, path, pinned=pinned, kept=True)


def _recorder(
    client: "Client", program: "Program", install: "Callable[[Room, tuple[str, ...]], None]"
) -> "Recorder":
    import getpass
    import socket
    from datetime import UTC, datetime

    from hookline.lab.capturing import Recorder
    from hookline.lab.sanitising import names_of

    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a number without a name, as in some containers
        user = ""
    return Recorder(
        client,
        program,
        day=datetime.now(UTC).date().isoformat(),
        install=install,
        names=names_of(user, socket.gethostname()),
        own_home=os.path.expanduser("~"),
    )


def _spy_installer(client: "Client") -> "Callable[[Room, tuple[str, ...]], None]":
    """Writes the spy into the client's settings as hookline itself would be written there."""
    from dataclasses import replace

    from hookline import registry
    from hookline.cli._installing import machine_here
    from hookline.installing.changes import apply, plan_install
    from hookline.installing.records import Records
    from hookline.model.installing import Call

    if client.dialect not in registry.installer_names():
        known = ", ".join(registry.installer_names())
        raise HooklineError(
            f"nothing is known yet of where {client.id} keeps its hooks, so it cannot be "
            f"listened to; known: {known}"
        )
    installer = registry.installer(client.dialect)

    def install(room: "Room", words: tuple[str, ...]) -> None:
        here = machine_here(room.env)
        named = tuple(os.path.join(room.home, each) for each in (client.package.file,) if each)
        machine = replace(here, home=room.home, project=room.project, converse=None, named=named)
        records = Records(os.path.join(room.root, "records"))
        call = Call(program=words, timeout=_SPY_TIMEOUT)
        for change in plan_install(installer, machine, installer.scopes[0], call, records):
            apply(change, records)

    return install


def _refuse_to_mix(folder: str) -> None:
    """Two captures in one directory would look like one client that does both."""
    if os.path.isdir(folder) and os.listdir(folder):
        raise HooklineError(f"`{folder}` is not empty: name another directory with --out")


def _why_nothing(captured: "Captured") -> str:
    said = next((each.said for each in captured.played if each.said), "")
    last = f"; its last words: {visible(said)}" if said else ""
    return f"the client called no hook in any session, so nothing was written{last}"


def _tell_played(played: "Played") -> None:
    colour, word = ("green", "played") if played.went_well else ("red", "failed")
    count = sum(played.events.values())
    line = f"{click.style(word, fg=colour, bold=True)}  {played.scenario:<18}"
    click.echo(f"{line} {played.seconds:5.1f} s  {count:3} payloads of {len(played.events)} events")
    if not played.went_well:
        codes = ", ".join("cut off" if each is None else str(each) for each in played.exit_codes)
        ended = f"exit code {codes}: " if codes else ""
        click.echo(f"        {ended}{visible(played.said)}")


def _tell_captured(client: "Client", captured: "Captured", folder: str, count: int) -> None:
    from hookline import registry

    seen = {each.event for each in captured.recordings}
    never = [each for each in registry.installer(client.dialect).events() if each not in seen]
    click.echo(f"{count} shapes of {len(seen)} events are in {visible(folder)}")
    if never:
        click.echo(f"never seen: {', '.join(never)}")
    click.echo(f"`hookline lab drift {visible(folder)}` says what is new in them")


def _as_json(captured: "Captured") -> dict[str, object]:
    shapes = Counter(each.event for each in captured.recordings)
    return {"played": captured.played, "shapes": dict(shapes)}


# ── drift ───────────────────────────────────────────────────────────────────────────────────


@click.command("drift")
@click.argument("folders", nargs=-1, required=True, metavar="[OLD] NEW")
@click.option(
    "--effects",
    nargs=2,
    type=click.Path(exists=True, dir_okay=False),
    metavar="OLD NEW",
    help="Also compare two reports of `hookline verify --json`.",
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def drift(folders: tuple[str, ...], effects: tuple[str, str] | None, as_json: bool) -> None:
    """Compare what two versions of a client send to their hooks.

    OLD and NEW are directories of `hookline lab capture`. Without OLD, NEW is compared with the
    payloads that hookline was built on.

    An event counts as vanished only when a session that provoked it was played again, and a field
    when it used to be in every such payload. All else that is missing is listed as not seen.

    Exits with 1 when there is a difference, and with 0 when there is none.
    """
    from hookline.lab.drift import compare, with_effects
    from hookline.lab.recordings import read_recordings

    if len(folders) > 2:
        raise click.UsageError("two directories are compared: OLD and NEW")
    new = read_recordings(folders[-1])
    known = folders[:1] if len(folders) == 2 else _known(new[0].client)
    old = [each for folder in known for each in read_recordings(folder)]
    found = compare(old, new)
    if effects:
        found = with_effects(found, _compared(*effects))
    if as_json:
        print_json(found)
    else:
        _tell_drift(found)
    sys.exit(1 if found.differences else 0)


def _known(client: str) -> Sequence[str]:
    """Where the payloads of a client are that come with hookline, whoever recorded them."""
    folder = Path(__file__).parents[1] / "dialects" / client.replace("-", "_") / "captures"
    found = [str(each) for each in (folder, folder / "lab") if any(each.glob("*.json"))]
    if not found:
        raise HooklineError(f"hookline knows no payloads of {visible(client)}: name OLD as well")
    return found


def _compared(old: str, new: str) -> "Sequence[Difference]":
    from hookline.lab.drift import compare_effects, effects

    was, now = (effects(Path(each).read_bytes(), each) for each in (old, new))
    return compare_effects(was, now)


_COLOURS = {"new": "green", "vanished": "red", "changed": "yellow"}


def _tell_drift(found: "Drift") -> None:
    from hookline.lab.drift import Kind

    click.secho(f"{visible(found.client)} {visible(found.was)} → {visible(found.now)}", bold=True)
    for each in found.differences:
        word = click.style(f"{each.kind:<17}", fg=_COLOURS[each.kind.split()[0]], bold=True)
        click.echo(f"{word}  {visible(_about(each))}{visible(_types(each))}")
    missing = [each.event for each in found.notes if each.kind is Kind.EVENT_NOT_SEEN]
    if missing:
        click.secho(f"not seen this time: {visible(', '.join(missing))}", dim=True)
    for each in (each for each in found.notes if each.kind is not Kind.EVENT_NOT_SEEN):
        click.secho(f"{each.kind}: {visible(_about(each))}", dim=True)
    count = len(found.differences)
    click.echo("No difference." if not count else f"{count} difference{'s' * (count > 1)}.")


def _about(each: "Difference") -> str:
    return " ".join(part for part in (each.event, each.tool, each.field) if part)


def _types(each: "Difference") -> str:
    if each.was and each.now:
        return f": was {each.was}, is {each.now}"
    return f": {each.now or each.was}" if each.now or each.was else ""
