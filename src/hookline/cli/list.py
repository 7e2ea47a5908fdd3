"""``hookline list``: the hooks in force here, where each comes from, and what is pinned."""

from typing import Any

import click

from hookline import registry
from hookline.app import App, open_app
from hookline.cli._installing import machine_here
from hookline.cli._journal import known_event
from hookline.cli._output import print_json
from hookline.config.discover import project_root
from hookline.config.pins import HookPins, pins_of
from hookline.config.reading import Reader
from hookline.config.types import Config
from hookline.doctoring import coverage
from hookline.model.events import SessionStart
from hookline.model.hook import Hook, Source, is_enforcing
from hookline.model.text import visible

__all__ = ["command"]


@click.command("list")
@click.option("--event", callback=known_event, help="Only hooks on this event.")
@click.option("--config", type=click.Path(), help="Use this file instead of the project's own.")
@click.option("--edited", is_flag=True, help="Project files as they are on disk, trusted or not.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="DIALECT",
    help="Also the hooks in this platform's own files, wherever it looks; may be repeated.",
)
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=click.Choice(coverage.agents()),
    metavar="DIALECT",
    help="How each hook fires on this agent, event by event; may be repeated.",
)
@click.option("--builtins", is_flag=True, help="List the builtins that `use:` can name instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    event: str | None,
    config: str | None,
    edited: bool,
    hosts: tuple[str, ...],
    agents: tuple[str, ...],
    builtins: bool,
    as_json: bool,
) -> None:
    """Show the hooks that are active in this directory, in the order in which they run.

    An enforcing hook can block; an advisory one cannot.
    """
    if builtins and (event or config or edited or hosts or agents):
        raise click.UsageError("--builtins stands alone: it lists what `use:` can name")
    if builtins:
        _list_builtins(as_json)
        return
    app = open_app(config=config, edited=edited)
    if hosts:
        app.host(*hosts)
    root = project_root(app.cwd, project_var=None)
    loaded = app.config_for(SessionStart(cwd=app.cwd), root)
    hooks = [hook for hook in loaded.hooks if event is None or event in hook.events]
    hooks.sort(key=lambda hook: hook.priority)
    shown = agents or coverage.find_installed(machine_here(app.env), app.home)
    if as_json:
        print_json(_as_json(app, loaded, hooks, shown))
        return
    pins = _pins(loaded)
    active = coverage.list_builtins(loaded.hooks)
    for hook in hooks:
        _print(hook, pins.get(_key(hook)))
        covered = [coverage.cover(hook, agent, active) for agent in shown]
        lines = (f"{each.agent}: {line}" for each in covered for line in coverage.describe(each))
        for line in lines if agents else filter(None, [coverage.summarise(covered)]):
            click.secho(f"     {visible(line)}", dim=True)
        for problem in app.loader.find_run_problems(hook, app.env):
            line = f"error: {problem.message} ({problem.hint})"
            click.secho(f"     {visible(line)}", fg="red")
    for note in loaded.notes:
        click.secho(f"note: {visible(note.message)}", fg="yellow")
    if not hooks:
        hint = "" if event or loaded.notes else " `hookline init` writes a starter config."
        click.echo(f"No hook is active here.{hint}")


def _key(hook: Hook) -> tuple[Source, str]:
    # The name too: two hooks may stand on one line.
    return hook.source, hook.name


def _is_enforcing(hook: Hook) -> bool:
    name = hook.handler.values.get("use")
    builtin = None if name is None else registry.builtin(name)
    judges = builtin is None or builtin.GUARD or getattr(builtin, "JUDGES", False)
    cells = registry.dialect(hook.speaks).support.find(hook.native) if hook.native else None
    if cells is not None:  # it can say no more than its own platform would hear
        judges = judges and any(map(cells.can, ("deny", "ask", "halt", "follow_up")))
    return is_enforcing(hook, judges=judges)


def _pins(config: Config) -> dict[tuple[Source, str], HookPins]:
    read = Reader()
    return {_key(pins.hook): pins for file in config.files for pins in pins_of(file, read)}


def _as_json(
    app: App, config: Config, hooks: list[Hook], agents: tuple[str, ...]
) -> dict[str, Any]:
    pins = _pins(config)
    active = coverage.list_builtins(config.hooks)
    return {
        "hooks": [
            {
                "name": hook.name,
                "on": hook.events,
                "handler": hook.handler.kind,
                "priority": hook.priority,
                "timeout": hook.timeout,
                "on_error": hook.on_error.value,
                "enforcing": _is_enforcing(hook),
                "guard": hook.guard,
                "always": hook.always,
                "mode": hook.mode.value,
                "layer": hook.source.layer.name.lower(),
                "source": str(hook.source),
                "native": hook.native or None,
                "not_run_for": sorted(hook.run_by),
                "agents": {agent: coverage.cover(hook, agent, active) for agent in agents},
                "pinned": found.pinned if (found := pins.get(_key(hook))) else (),
                "not_pinned": found.unpinned if found else (),
                "problems": app.loader.find_run_problems(hook, app.env),
                **({"native_names": hook.native_names} if hook.native_names else {}),
            }
            for hook in hooks
        ],
        "notes": [{"file": n.file, "kind": n.kind, "message": n.message} for n in config.notes],
    }


def _print(hook: Hook, pins: HookPins | None) -> None:
    events = ", ".join(hook.events)
    flags = ["enforcing" if _is_enforcing(hook) else "advisory"]
    flags += [
        word
        for word, on in (
            ("guard", hook.guard),
            ("always", hook.always),
            ("observe", hook.mode.value == "observe"),
        )
        if on
    ]
    name = click.style(visible(hook.name), bold=True)
    click.echo(f"{hook.priority:>3}  {name}  {events}  {hook.handler.kind} {' '.join(flags)}")
    click.secho(f"     {visible(str(hook.source))}, {hook.source.layer.name.lower()}", dim=True)
    for native, event in hook.native_names.items():
        click.secho(f"     {visible(native)} is {event}", dim=True)
    if hook.run_by:
        who = ", ".join(sorted(hook.run_by))
        click.secho(f"     not run for events of {who}: that client runs it itself", dim=True)
    for path in pins.pinned if pins else ():
        click.secho(f"     pinned: {visible(path)}", dim=True)
    for what in pins.unpinned if pins else ():
        click.secho(f"     not pinned: {visible(what)}", dim=True)


def _list_builtins(as_json: bool) -> None:
    found = []
    for name in registry.builtin_names():
        module = registry.builtin(name)
        about = (module.__doc__ or "").strip().splitlines()[0]
        found.append({"name": name, "about": about, "on": list(module.EVENTS)})
    if as_json:
        print_json(found)
        return
    for each in found:
        click.echo(f"{click.style(str(each['name']), bold=True):<34} {each['about']}")
