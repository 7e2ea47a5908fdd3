"""``hookline list``: the hooks in force here, where each comes from, and what is pinned."""

from typing import Any

import click

from hookline import registry
from hookline.app import App, open_app
from hookline.cli._output import print_json
from hookline.config.discover import project_root
from hookline.config.pins import HookPins, pins_of
from hookline.config.reading import Reader
from hookline.config.types import Config
from hookline.model.hook import Hook, Source
from hookline.model.text import visible

__all__ = ["command"]


@click.command("list")
@click.option("--event", help="Only hooks on this event.")
@click.option("--config", type=click.Path(), help="Use this file instead of the project's own.")
@click.option("--edited", is_flag=True, help="Project files as they are on disk, trusted or not.")
@click.option("--builtins", is_flag=True, help="List the builtins that `use:` can name instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    event: str | None, config: str | None, edited: bool, builtins: bool, as_json: bool
) -> None:
    """Show the hooks in force in this directory, in the order in which they run."""
    if builtins:
        _list_builtins(as_json)
        return
    app = open_app(config=config, edited=edited)
    loaded = app.loader.load(project_root(app.cwd, project_var=None), app.cwd)
    hooks = [hook for hook in loaded.hooks if event is None or event in hook.events]
    hooks.sort(key=lambda hook: hook.priority)
    if as_json:
        print_json(_as_json(app, loaded, hooks))
        return
    pins = _pins(loaded)
    for hook in hooks:
        _print(hook, pins.get(hook.source))
    for note in loaded.notes:
        click.secho(f"note: {visible(note.file)} {visible(note.message)}", fg="yellow")
    if not hooks:
        click.echo("No hook is in force here. `hookline init` writes a starter config.")


def _pins(config: Config) -> dict[Source, HookPins]:
    read = Reader()
    found = {}
    for file in config.files:
        for pins in pins_of(file, read):
            found[pins.hook.source] = pins
    return found


def _as_json(app: App, config: Config, hooks: list[Hook]) -> dict[str, Any]:
    pins = _pins(config)
    return {
        "hooks": [
            {
                "name": hook.name,
                "on": hook.events,
                "handler": hook.handler.kind,
                "priority": hook.priority,
                "timeout": hook.timeout,
                "on_error": hook.on_error.value,
                "guard": hook.guard,
                "always": hook.always,
                "mode": hook.mode.value,
                "layer": hook.source.layer.name.lower(),
                "source": str(hook.source),
                "pinned": pins[hook.source].pinned if hook.source in pins else (),
                "not_pinned": pins[hook.source].unpinned if hook.source in pins else (),
            }
            for hook in hooks
        ],
        "notes": [{"file": n.file, "kind": n.kind, "message": n.message} for n in config.notes],
    }


def _print(hook: Hook, pins: HookPins | None) -> None:
    events = ", ".join(hook.events)
    flags = [
        word
        for word, on in (
            ("guard", hook.guard),
            ("always", hook.always),
            ("observe", hook.mode.value == "observe"),
        )
        if on
    ]
    name = click.style(visible(hook.name), bold=True)
    click.echo(
        f"{hook.priority:>3}  {name}  {events}  {hook.handler.kind} {' '.join(flags)}".rstrip()
    )
    click.secho(f"     {visible(str(hook.source))}, {hook.source.layer.name.lower()}", dim=True)
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
