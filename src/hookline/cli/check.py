"""``hookline check``: every mistake in the configs that count here, and what is in force."""

import os
import sys
from collections.abc import Iterator
from typing import Any

import click
from msgspec import Struct, to_builtins

from hookline.app import App, open_app
from hookline.cli._output import print_json
from hookline.cli._terminal import agent_marker
from hookline.config.discover import project_root
from hookline.config.load import Standing
from hookline.config.pins import HookPins
from hookline.model.errors import ConfigError, HooklineError, Problem
from hookline.model.text import visible

__all__ = ["command"]

# What each state means for the person who just edited the file.
_FORCE = {
    "trusted": "in force: this version is trusted",
    "changed": "NOT in force: it changed since it was trusted, and the trusted version holds; "
    "run `hookline trust`",
    "untrusted": "NOT in force: it was never trusted; run `hookline trust`",
    "missing": "in force from its trusted copy: the file itself is gone",
    "damaged": "NOT usable: its trusted copy is damaged; run `hookline trust` again",
}


class _Checked(Struct, frozen=True):
    """What was found out about one file."""

    file: str
    state: str
    hooks: int
    problems: tuple[Problem, ...] = ()
    pins: tuple[HookPins, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The file as ``--json`` shows it."""
        return {
            "file": self.file,
            "state": self.state,
            "hooks": self.hooks,
            "problems": to_builtins(self.problems),
            "pins": [
                {"hook": pins.hook.name, "pinned": pins.pinned, "not_pinned": pins.unpinned}
                for pins in self.pins
            ],
        }


@click.command("check")
@click.argument("files", nargs=-1, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(files: tuple[str, ...], as_json: bool) -> None:
    """Find every mistake in FILES, or in all configs that count here.

    The last line says whether an edited file is in force. Exit 1 when there is a mistake.
    """
    app = open_app()
    checked = list(_checked_files(app, files))
    if as_json:
        print_json([each.as_json() for each in checked])
    else:
        for each in checked:
            _print(each)
        if not checked:
            click.echo("No config counts here. `hookline init` writes one.")
    wrong = any(each.problems for each in checked)
    edited = [each.file for each in checked if each.state in {"changed", "untrusted"}]
    if edited and not wrong and not as_json and _can_ask(app):
        _offer_trust(edited)
    if wrong:
        raise SystemExit(1)


def _checked_files(app: App, files: tuple[str, ...]) -> Iterator[_Checked]:
    if files:
        standings = [app.loader.standing(os.path.abspath(name)) for name in files]
    else:
        try:
            # Managed and user files need no trust; loading them is checking them.
            app.loader.load(project_root(app.cwd, project_var=None), app.cwd)
        except ConfigError as exc:
            yield _Checked(exc.problems[0].file, "trusted", 0, exc.problems)
        except HooklineError as exc:
            yield _Checked(app.home, "damaged", 0, (Problem(app.home, 0, str(exc)),))
        if os.path.exists(app.loader.user_file):
            yield from _own_file(app, app.loader.user_file)
        standings = list(app.loader.standings(project_root(app.cwd, project_var=None), app.cwd))
    for standing in standings:
        yield _check(app, standing)


def _own_file(app: App, path: str) -> Iterator[_Checked]:
    try:
        draft = app.loader.draft(path)
    except ConfigError:
        return  # reported already
    yield _Checked(path, "trusted", len(draft.hooks))


def _check(app: App, standing: Standing) -> _Checked:
    if standing.state == "missing":
        hooks = standing.trusted.files if standing.trusted else ()
        return _Checked(standing.config, standing.state, len(hooks))
    try:
        draft = app.loader.draft(standing.config)
    except ConfigError as exc:
        return _Checked(standing.config, standing.state, 0, exc.problems)
    except HooklineError as exc:
        return _Checked(
            standing.config, standing.state, 0, (Problem(standing.config, 0, str(exc)),)
        )
    return _Checked(standing.config, standing.state, len(draft.hooks), (), draft.hooks)


def _print(checked: _Checked) -> None:
    for problem in checked.problems:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {visible(str(problem))}")
    if not checked.problems and checked.state != "missing":
        click.echo(f"{visible(checked.file)}: {checked.hooks} hooks, no mistakes")
    for pins in checked.pins:
        for what in pins.unpinned:
            click.secho(f"  not pinned: {visible(what)} ({visible(pins.hook.name)})", dim=True)
    colour = "green" if checked.state == "trusted" and not checked.problems else "yellow"
    click.secho(f"{visible(checked.file)}: {_FORCE[checked.state]}", fg=colour)


def _can_ask(app: App) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and agent_marker(app.env) is None


def _offer_trust(files: list[str]) -> None:
    from hookline.cli.trust import command as trust

    trust.main(args=files, standalone_mode=False)
