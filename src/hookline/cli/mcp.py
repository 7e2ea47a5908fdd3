"""``hookline mcp``: what MCP servers say of their tools, seen and pinned by a person."""

import asyncio
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence

import click

from hookline.cli._output import print_json
from hookline.cli._terminal import confirm, guard_weakening
from hookline.config.discover import project_root
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.pinning.asking import CannotAsk
from hookline.pinning.checking import SECONDS, asked, check, pin_for
from hookline.pinning.definitions import Definition, Surroundings, definitions
from hookline.pinning.pins import Change, Pin, compared, pin_of, redefined
from hookline.pinning.store import PROJECT_FILE, PinStore

__all__ = ["command"]

_json = click.option("--json", "in_json", is_flag=True, help="Print data for programs.")
_yes = click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
_timeout = click.option(
    "--timeout",
    type=click.FloatRange(0, 600, min_open=True),
    default=SECONDS,
    help="Seconds for each server.",
)


@click.group("mcp")
def command() -> None:
    """Record what the MCP servers of your agents say of their tools, and report changes.

    `use: mcp-guard` with `pins: require` holds agents to what you have pinned.
    """


@command.command("pin")
@click.argument("names", nargs=-1, metavar="[SERVER]…")
@click.option("--project", "into_project", is_flag=True, help=f"Write {PROJECT_FILE}, to commit.")
@click.option(
    "--accept", is_flag=True, help=f"Start nothing; let the project's {PROJECT_FILE} count."
)
@_timeout
@_yes
@_json
@guard_weakening("mcp pin")
def pin(
    names: tuple[str, ...],
    into_project: bool,
    accept: bool,
    timeout: float,
    yes: bool,
    in_json: bool,
) -> None:
    """Start servers as their agents do, show what they offer, and pin it as it is.

    Without SERVER, every server that the agents know here. Starting one runs its program, so it is
    shown and asked about first; pinning is asked about a second time, with all that was said.
    """
    store, where = _opened()
    if accept:
        if names or into_project:
            raise click.UsageError("--accept stands alone: the file says which servers")
        _accept(store, where, yes, in_json)
        return
    servers = _chosen(names, where, into_project)
    if not servers:
        raise HooklineError("no MCP server is known here; see `hookline mcp list`")
    click.echo("\n".join(_shown_servers(servers)), err=in_json)
    confirm(f"Start {_counted(servers)} to see the tools?", weakening="", yes=yes)
    pins, flaws = _asked(store, servers, where, timeout, in_json)
    if pins:
        named = ", ".join(each.name for each in pins)
        told = f"the tools of {named} were pinned as they are"
        confirm("Pin these tools as shown?", weakening=told, yes=yes)
        if into_project:
            store.pin_project(where.project, pins)
        else:
            store.pin(pins)
    if in_json:
        print_json({"pinned": [_as_json(each) for each in pins], "not_reached": flaws})
    else:
        click.secho(f"pinned {_counted(pins)}", fg="green" if pins else "yellow")
    sys.exit(1 if flaws else 0)


def _asked(
    store: PinStore,
    servers: Sequence[Definition],
    where: Surroundings,
    timeout: float,
    in_json: bool,
) -> tuple[list[Pin], list[Change]]:
    """What each server offers, shown beside what was pinned of it; and those not reached."""
    standing = store.standing(where.project)
    pins: list[Pin] = []
    flaws: list[Change] = []
    answers = asyncio.run(asked(servers, where, timeout=timeout))
    for server, answer in zip(servers, answers, strict=True):
        if isinstance(answer, CannotAsk):
            flaws.append(Change(server=server.name, kind="not reached", text=str(answer)))
            continue
        pins.append(pin_of(server, answer, now=time.time()))
        old = pin_for(standing, server)
        changes = compared(old, answer, whole=True) if old is not None else []
        # Whoever reads data from stdout still has to see what they are asked about.
        click.echo("\n".join(_shown_pin(pins[-1], changes, known=old is not None)), err=in_json)
    if flaws:
        click.echo("\n".join(_shown_changes(flaws)), err=True)
    return pins, flaws


@command.command("check")
@click.argument("names", nargs=-1, metavar="[SERVER]…")
@_timeout
@_json
def check_(names: tuple[str, ...], timeout: float, in_json: bool) -> None:
    """Ask the pinned servers again; exits with 1 when anything is not as it was pinned.

    Only servers that are defined as they were pinned are started.
    """
    store, where = _opened()
    done = asyncio.run(check(store, where, names=names, timeout=timeout))
    if in_json:
        print_json(done)
    else:
        if done.changes:
            click.echo("\n".join(_shown_changes(done.changes)))
        for flaw in done.flaws:
            click.secho(visible(flaw), fg="yellow", err=True)
        for name in done.servers:
            click.echo(f"{click.style('as pinned', fg='green')}  {visible(name)}")
        if not done.changes and not done.servers:
            click.echo("no MCP server is known here")
    sys.exit(1 if done.changes or done.flaws else 0)


@command.command("list")
@_json
def list_(in_json: bool) -> None:
    """Show the servers that the agents know here, and which of them are pinned. Starts nothing."""
    store, where = _opened()
    standing = store.standing(where.project)
    servers, flaws = definitions(where)
    rows = [(each, pin_for(standing, each)) for each in servers]
    if in_json:
        print_json([_row(server, pin) for server, pin in rows])
    else:
        states = {id(server): _state(server, pin) for server, pin in rows}
        click.echo("\n".join(_shown_servers(servers, states)) or "no MCP server is known here")
    for text in (*(flaw.text for flaw in flaws), *([standing.note] if standing.note else [])):
        click.secho(visible(text), fg="yellow", err=True)


@command.command("forget")
@click.argument("names", nargs=-1, required=True, metavar="SERVER…")
@_yes
@_json
@guard_weakening("mcp forget")
def forget(names: tuple[str, ...], yes: bool, in_json: bool) -> None:
    """Drop your own pins of servers; their tools are then as unknown as before."""
    store, where = _opened()
    question = f"Forget what was pinned of {', '.join(names)}?"
    confirm(question, weakening=f"the pins of {', '.join(names)} were forgotten", yes=yes)
    gone = store.forget(names, where.project)
    if in_json:
        print_json({"forgotten": gone})
    else:
        click.echo(
            f"forgot {visible(', '.join(gone))}" if gone else "nothing of that name is pinned"
        )


def _opened() -> tuple[PinStore, Surroundings]:
    from hookline.app import open_loader

    cwd = os.path.abspath(".")
    project = project_root(cwd, project_var=None)
    home = os.environ.get("HOME") or os.path.expanduser("~")
    where = Surroundings(project=project, home=home, env=dict(os.environ), cwd=cwd)
    return PinStore(os.path.abspath(open_loader(os.environ).home)), where


def _chosen(names: Sequence[str], where: Surroundings, into_project: bool) -> list[Definition]:
    known, flaws = definitions(where)
    for flaw in flaws:
        click.secho(visible(flaw.text), fg="yellow", err=True)
    servers = [each for each in known if each.project or not into_project]
    unknown = [name for name in names if all(each.name != name for each in servers)]
    if unknown:
        names_known = ", ".join(sorted({each.name for each in servers})) or "none"
        raise HooklineError(f"no MCP server is called `{unknown[0]}` here; known: {names_known}")
    return [each for each in servers if not names or each.name in names]


def _accept(store: PinStore, where: Surroundings, yes: bool, in_json: bool) -> None:
    found = store.project_file(where.project)
    if found is None:
        path = os.path.join(where.project, PROJECT_FILE)
        raise HooklineError(f"there is no `{path}`; `hookline mcp pin --project` writes one")
    path, content, pins = found
    servers, _ = definitions(where)
    for each in pins:
        told = next((server for server in servers if each.is_as(server)), None)
        if told is not None and told.origin != each.origin:
            raise HooklineError(
                f"`{path}` says that `{each.name}` is `{each.origin}`, and it is `{told.origin}`: "
                "whoever wrote that file did not write what it was made from; do not accept it"
            )
        click.echo("\n".join(_shown_pin(each, [], known=False)), err=in_json)
    # A hash does not show what it is of; a check compares the words as well.
    click.echo("shown as the file has it; `hookline mcp check` asks the servers", err=in_json)
    confirm(f"Let {path} count as shown?", weakening=f"the pins in {path} count now", yes=yes)
    store.accept(path, content, pins)
    if in_json:
        print_json({"accepted": path, "pinned": [_as_json(each) for each in pins]})
    else:
        click.secho(f"accepted {visible(path)}", fg="green")


def _state(server: Definition, pin: Pin | None) -> str:
    change = redefined(server, [pin] if pin else [])
    return change.kind if change else "pinned"


def _row(server: Definition, pin: Pin | None) -> dict[str, object]:
    return {
        "server": server.name,
        "clients": server.clients,
        "file": server.file,
        "origin": server.origin,
        "state": _state(server, pin),
        "tools": sorted(pin.tools) if pin else [],
    }


def _counted(things: Sequence[object]) -> str:
    return f"{len(things)} server" + ("" if len(things) == 1 else "s")


# All that is shown is a server's or a repository's own words: nothing in it may act on a terminal.
_COLOURS = {"pinned": "green", "not pinned": "yellow", "defined otherwise": "red"}
_LONGEST = 160


def _shown_servers(
    servers: Sequence[Definition], states: Mapping[int, str] | None = None
) -> Iterator[str]:
    """Each server: who knows it, and what would be started or called."""
    for each in servers:
        state = states.get(id(each), "") if states else ""
        word = click.style(f"{state:<17} ", fg=_COLOURS.get(state)) if state else ""
        clients = ", ".join(each.clients)
        yield f"{word}{click.style(_line(each.name), bold=True)} ({clients}, {_line(each.file)})"
        yield f"    {_line(each.origin)}"


def _shown_pin(pin: Pin, changes: Sequence[Change], *, known: bool) -> Iterator[str]:
    """One server with its tools: all of them when it is new, else what is different."""
    yield click.style(_line(pin.name), bold=True) + f": {len(pin.tools)} tools"
    yield f"  {_line(pin.origin)}"
    if known:
        yield from ("  as pinned",) if not changes else _shown_changes(changes)
        return
    for name, tool in pin.tools.items():
        yield f"  {click.style(_line(name), fg='cyan')}"
        # All of it: what is not shown nobody can have said yes to.
        yield from (f"    {line}" for line in visible(tool.text).splitlines())


def _shown_changes(changes: Sequence[Change]) -> Iterator[str]:
    """Every change, with the lines that came and went."""
    for each in changes:
        what = f"{_line(each.server)}" + (f".{_line(each.tool)}" if each.tool else "")
        yield f"{click.style(each.kind, fg='red' if each.is_told else 'yellow')}  {what}"
        for line in visible(each.text).splitlines():
            colour = {"+": "green", "-": "red"}.get(line[:1])
            yield "    " + (click.style(line, fg=colour) if colour else line)


def _as_json(pin: Pin) -> dict[str, object]:
    """A pin for programs."""
    return {
        "server": pin.name,
        "clients": pin.clients,
        "project": pin.project,
        "origin": pin.origin,
        "tools": {name: tool.sha256 for name, tool in pin.tools.items()},
    }


def _line(text: str) -> str:
    line = " ".join(visible(text).split(" ")).replace("\n", "␊").replace("\t", " ")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
