"""``hookline verify``: whether the agent on this machine obeys, shown in canary sessions."""

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from hookline.model.errors import HooklineError, UnknownNameError

if TYPE_CHECKING:
    from hookline.cli._verify_report import Report
    from hookline.lab.ports import Client, Program, Room
    from hookline.verifying.lines import Line, Scene
    from hookline.verifying.planning import Plan

__all__ = ["command"]

# Nothing was tried, so nothing can be said: neither 0 nor 1.
_NOT_RUN = 2
# A slow client on a busy machine takes minutes for the longest session.
_TIMEOUT = 300.0
_IN_FORCE = "in-force"


@click.command("verify")
@click.argument("dialect")
@click.option("--client", "path", type=click.Path(), help="The client's program file.")
@click.option("--pinned", is_flag=True, help="The version known best, from npm, kept in a cache.")
@click.option("--only", multiple=True, metavar="ID", help="Only this line; may be repeated.")
@click.option(
    "--timeout",
    type=click.FloatRange(1),
    help="Seconds until a session is ended; 300 if you do not say.",
)
@click.option("--keep", is_flag=True, help="Keep the temporary directory, and say where it is.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    dialect: str,
    path: str | None,
    pinned: bool,
    only: tuple[str, ...],
    timeout: float | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Show whether an agent obeys hookline here: the one you have, with the config you wrote.

    DIALECT is claude-code, codex, gemini, copilot, docker-agent or kodelet; of the last two you
    bring the program yourself. The agent is run for real in a temporary directory, against a
    scripted model on this machine: no account, no tokens, nothing else written. Your rules are in
    force there, and beside them hooks that are about random words.

    \b
      hookline verify claude-code
      hookline verify codex --client ~/bin/codex --json

    Each line is judged by what happened: which files were written, what the model was sent.
    `not observed` means that the effect could not be seen, and is never a pass; `cannot` names
    what this agent cannot be made to do, and what happens instead.

    Exits with 0 when every line is ok or named as impossible, with 1 when one failed or was not
    observed, and with 2 when the agent could not be run at all.
    """
    if path is not None and pinned:
        raise click.UsageError("--client and --pinned: one names your client, the other ours")
    try:
        report = _verified(dialect, path, pinned, only, timeout or _TIMEOUT, keep, quiet=as_json)
    except (HooklineError, OSError) as error:
        from hookline.cli._verify_report import tell_failure

        # A full disk or a port that cannot be had says nothing about the agent.
        tell_failure(dialect, error, as_json=as_json)
        sys.exit(_NOT_RUN)
    report.show(as_json=as_json)
    sys.exit(0 if report.passed else 1)


def _verified(
    dialect: str,
    path: str | None,
    pinned: bool,
    only: tuple[str, ...],
    timeout: float,
    keep: bool,
    *,
    quiet: bool,
) -> "Report":
    from hookline import registry
    from hookline.cli._client import chosen_program
    from hookline.cli._verify_report import Report
    from hookline.lab.finding import age
    from hookline.lab.playing import stage
    from hookline.lab.rooms import furnished_room
    from hookline.verifying.planning import chosen, make_plan
    from hookline.verifying.verifying import verify

    client = _driver(dialect)
    support = registry.dialect(dialect).support
    events = registry.installer(dialect).events()
    wanted = tuple(id for id in only if id != _IN_FORCE)
    probes = chosen(wanted) if wanted or not only else ()
    plan = make_plan(probes, client, support, events, limits=not only)
    with furnished_room(plan.files, keep=keep) as room:
        program = chosen_program(client, room, path, pinned=pinned)
        watch = _watch(support.client, program, quiet=quiet)
        with stage(
            client, room=room, program=program, prepare=lambda room: _prepare(room, client, plan)
        ) as on:
            lines = verify(
                plan,
                on,
                timeout=timeout,
                most_follow_ups=_most_follow_ups(room, support.stop_cap),
                watch=watch,
            )
            isolated = on.place.isolated
    here = (_standing_here(dialect),) if not only or _IN_FORCE in only else ()
    return Report(
        client=client.id,
        name=support.client,
        version=program.version,
        proven=client.package.version,
        known=age(program.version, client.package.version),
        isolated=isolated,
        lines=(*here, *lines),
        kept=room.root if keep else "",
    )


def _driver(dialect: str) -> "Client":
    """The client that speaks this dialect. Raises UnknownNameError or HooklineError."""
    from hookline import registry
    from hookline.lab.naming import client, client_names

    found = {each.dialect: each for each in map(client, client_names())}
    if dialect in found:
        return found[dialect]
    ready = tuple(name for name in found if name in registry.installer_names())
    if dialect not in registry.dialect_names():
        raise UnknownNameError("dialect", dialect, ready)
    raise HooklineError(
        f"{dialect} cannot be run without a person at it, so nothing can be verified; "
        f"verify knows {', '.join(ready)}, and `hookline doctor {dialect}` looks at your settings"
    )


def _prepare(room: "Room", client: "Client", plan: "Plan") -> None:
    """The person's rules as they are, ours beside them, and hookline in the client's settings."""
    from hookline.cli._lab_files import bring_along, trust_room
    from hookline.lab.hooked import install_hookline
    from hookline.verifying.verifying import place_canaries

    bring_along(room, None, ())
    install_hookline(room, client.dialect, *client.package.install_options(room.home))
    place_canaries(plan, room)
    trust_room(room)


def _most_follow_ups(room: "Room", stop_cap: int | None) -> int:
    """How often an agent is kept going at most, by the person's own word or else by ours."""
    from hookline.app import open_app
    from hookline.model.events import SessionStart
    from hookline.model.memory import MAX_FOLLOW_UPS

    app = open_app(room.env, room.project)
    config = app.config_for(SessionStart(cwd=room.project), room.project)
    limit = MAX_FOLLOW_UPS if config.max_follow_ups is None else config.max_follow_ups
    return min(limit, stop_cap or limit)


def _standing_here(dialect: str) -> "Line":
    """Whether hookline is in force outside of the room too: in the person's own settings."""
    from hookline import registry
    from hookline.cli._installing import machine_here, records_here
    from hookline.installing.status import standing
    from hookline.verifying.lines import Line, State

    found = standing(registry.installer(dialect), machine_here(os.environ), records_here())
    if found.inactive:
        said = "; ".join(f"{each.why}: {each.step}" for each in found.inactive)
        state, detail = State.FAILED, said
    elif found.installed:
        files = ", ".join(each.target.file for each in found.installed)
        state, detail = State.OK, files
    else:
        state = State.SKIPPED
        detail = f"hookline is not installed in it here: `hookline install {dialect}` does it"
    title = "hookline is active in your own settings"
    return Line(id=_IN_FORCE, title=title, state=state, detail=detail)


def _watch(client: str, program: "Program", *, quiet: bool) -> Callable[["Scene"], None]:
    """Says what is going on where somebody watches; what is piped stays plain."""
    from hookline.model.text import visible

    def tell(scene: "Scene") -> None:
        if not quiet and sys.stderr.isatty():
            version = f" {program.version}" if program.version else ""
            click.secho(visible(f"{client}{version}: {scene.title} …"), dim=True, err=True)

    return tell
