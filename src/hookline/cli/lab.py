"""``hookline lab``: real agents against a scripted model, to try hooks without spending a token."""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import click

from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from hookline.lab.ports import Room

__all__ = ["command"]

_ELSEWHERE = {"capture": "hookline.cli._lab_capture", "drift": "hookline.cli._lab_capture"}


class _Parts(click.Group):
    """Imports a part only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *_ELSEWHERE})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in _ELSEWHERE:
            found: click.Command = getattr(import_module(_ELSEWHERE[cmd_name]), cmd_name)
            return found
        return super().get_command(ctx, cmd_name)


@click.group("lab", cls=_Parts)
def command() -> None:
    """Run real agents against a scripted model on this machine: no account, no tokens spent.

    The agent is the one you have, unmodified. It runs in a temporary directory with a home of
    its own, gets none of your settings, keys and variables, and is kept to this machine.
    """
    if sys.platform == "win32":
        raise HooklineError("the lab needs Linux or macOS: start it in WSL")


@command.command("run")
@click.argument("name", metavar="CLIENT")
@click.option(
    "--script",
    required=True,
    type=click.Path(exists=True, dir_okay=False),
    help="What is asked and what the model answers, as YAML.",
)
@click.option("--client", "path", type=click.Path(), help="The client's program file.")
@click.option("--pinned", is_flag=True, help="The version known best, from npm, kept in a cache.")
@click.option(
    "--config",
    type=click.Path(exists=True, dir_okay=False),
    help="The hookline.yaml to try, instead of this project's.",
)
@click.option("--bring", multiple=True, type=click.Path(exists=True), help="Also this file.")
@click.option("--env", "names", multiple=True, metavar="NAME", help="Also this variable of yours.")
@click.option(
    "--ask", is_flag=True, help="Let the client ask for permission, as it does by itself."
)
@click.option("--timeout", type=click.FloatRange(1), help="Seconds until the client is ended.")
@click.option("--keep", is_flag=True, help="Keep the temporary directory, and say where it is.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def run(
    name: str,
    script: str,
    path: str | None,
    pinned: bool,
    config: str | None,
    bring: tuple[str, ...],
    names: tuple[str, ...],
    ask: bool,
    timeout: float | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Play a scripted session with an agent, with your hooks in force.

    CLIENT is claude-code, codex or another; `docs/lab.md` says how a script is written.

    \b
      hookline lab run claude-code --script session.yaml
      hookline lab run codex --script session.yaml --config strict.yaml --json

    Your project's hookline.yaml, the files it names and your own config are copied and put in
    force there. What happened is printed: each tool call, whether it ran, what the model was told
    of it, and the files that changed. Exits with 1 when the session did not take place.
    """
    from msgspec.structs import replace

    from hookline.cli._client import chosen_program
    from hookline.cli._lab_files import bring_along, trust_room
    from hookline.cli._lab_report import Report
    from hookline.lab.hooked import install_hookline, journal
    from hookline.lab.naming import client as driver
    from hookline.lab.playing import play
    from hookline.lab.ports import Wish
    from hookline.lab.reading import read_script
    from hookline.lab.rooms import furnished_room

    if path is not None and pinned:
        raise click.UsageError("--client and --pinned: one names your client, the other ours")
    client = driver(name)
    plot = read_script(script)
    with furnished_room(plot.files, keep=keep) as empty:
        room = replace(empty, env={**empty.env, **_variables(names)})
        program = chosen_program(client, room, path, pinned=pinned, kept=True)

        def prepare(there: "Room") -> None:
            bring_along(there, config, bring)
            install_hookline(there, client.dialect, *client.package.install_options(there.home))
            trust_room(there)

        session = play(
            client,
            plot,
            room=room,
            program=program,
            timeout=timeout or 0.0,
            wish=Wish(permission="ask" if ask else "all"),
            prepare=prepare,
        )
        report = Report.of(session, journal(room), pinned=client.package.version)
        kept = room.root if keep else ""
    report.show(as_json=as_json, kept=kept)
    sys.exit(0 if report.took_place else 1)


def _variables(names: tuple[str, ...]) -> dict[str, str]:
    missing = [name for name in names if name not in os.environ]
    if missing:
        raise HooklineError(f"--env {missing[0]}: there is no such variable here")
    return {name: os.environ[name] for name in names}
