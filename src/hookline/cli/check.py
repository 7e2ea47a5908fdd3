"""``hookline check``: every mistake in the configs that count here, and what is active."""

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import click
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookline.app import App, open_app
from hookline.cli._installing import machine_here
from hookline.cli._output import print_json
from hookline.cli._protection import print_protections
from hookline.cli._terminal import is_under_agent
from hookline.config.assemble import assemble
from hookline.config.discover import MANAGED_FILE, NAMES, managed_flaw, project_root
from hookline.config.load import Standing
from hookline.config.pins import HookPins
from hookline.config.types import ConfigFile, Note
from hookline.doctoring import coverage
from hookline.doctoring.own import home_flaw
from hookline.model.coverage import HookCoverage
from hookline.model.errors import ConfigError, HooklineError, Problem, TrustError
from hookline.model.hook import Layer
from hookline.model.text import visible

__all__ = ["command"]

# What each state means for the person who just edited the file.
_FORCE = {
    "own": "needs no trust",
    "ignored": "NOT active: a managed file must be owned by root and writable by nobody else",
    "broken": "NOT usable: whatever can be blocked is denied until it is fixed",
    "trusted": "trusted as it is",
    "changed": "NOT active: it changed since it was trusted, and the trusted version is active; "
    "run `hookline trust`",
    "scripts": "trusted, but files that it runs changed since, and their trusted copies run; "
    "run `hookline trust`",
    "grown": "trusted, but files that came into its directories since are not; "
    "run `hookline trust`",
    "untrusted": "NOT active: it was never trusted; run `hookline trust`",
    "wrong": "NOT active: fix it, then run `hookline trust`",
    "named": "needs no trust: a person names it (HOOKLINE_CONFIG)",
    "loose": "NOT active by itself: its name is not a config's; use it with --config",
    "home": "NOT usable: hookline keeps its state here, and every tool is blocked until it can",
    "missing": "trusted, and the trusted version is active: the file itself is gone",
    "damaged": "NOT usable: its trusted copy is damaged; run `hookline trust` again",
}


class _Checked(Struct, frozen=True):
    """What was found out about one file."""

    file: str
    state: str
    hooks: int
    problems: tuple[Problem, ...] = ()
    pins: tuple[HookPins, ...] = ()
    changed: tuple[str, ...] = ()
    """Files of it that are not as they were trusted."""
    new: tuple[str, ...] = ()
    """Files of it that were not there then."""
    draft: ConfigFile | None = None
    """The file as it is on disk, if it can be read at all."""
    warnings: tuple[Problem, ...] = ()
    """Hooks of which nothing comes on an agent installed here."""
    coverage: tuple[HookCoverage, ...] = ()
    """What becomes of each hook that some agent can fire, on those installed here."""

    def as_json(self) -> dict[str, Any]:
        """The file as ``--json`` shows it."""
        return {
            "file": self.file,
            "state": self.state,
            "hooks": self.hooks,
            "problems": to_builtins(self.problems),
            "warnings": to_builtins(self.warnings),
            "coverage": to_builtins(self.coverage),
            "changed": self.changed,
            "new": self.new,
            "pins": [
                {
                    "hook": pins.hook.name,
                    "pinned": pins.pinned,
                    "not_pinned": pins.unpinned,
                    **({"native_names": names} if (names := pins.hook.native_names) else {}),
                }
                for pins in self.pins
            ],
        }


@click.command("check")
@click.argument("files", nargs=-1, type=click.Path())
@click.option(
    "--installed", is_flag=True, help="A hook that an agent installed here cannot fire is an error."
)
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(files: tuple[str, ...], installed: bool, as_json: bool) -> None:
    """Find every mistake in FILES, or in all configs that count here.

    Says of each file whether it is trusted, and at the end how many hooks are active here. A hook
    that no agent can fire is a mistake; one that an agent installed here cannot fire is a warning.
    Exit 1 when there is a mistake.
    """
    app = open_app()
    notes: list[Note] = []
    agents = coverage.find_installed(machine_here(app.env), app.home)
    files_here = list(_checked_files(app, files, notes))
    hooks = [pins.hook for each in files_here for pins in each.pins]
    with suppress(HooklineError):  # which is a mistake of its own
        hooks += app.loader.load(project_root(app.cwd, project_var=None), app.cwd).hooks
    active = coverage.list_builtins(hooks)
    checked = [_add_coverage(each, agents, active, strict=installed) for each in files_here]
    if as_json:
        print_json([each.as_json() for each in checked])
    else:
        for each in checked:
            _print(each)
        for note in notes:
            where = f"{visible(note.file)}: " if note.file else ""
            click.secho(f"note: {where}{visible(note.message)}", fg="yellow")
        if not files:
            told = [p.hint for each in checked for p in (*each.problems, *each.warnings)]
            print_protections(app, told=told)
    wrong = any(each.problems for each in checked)
    trustable = {"changed", "scripts", "grown", "untrusted"}
    edited = [each.file for each in checked if each.state in trustable]
    if edited and not wrong and not as_json and _can_ask(app):
        _offer_trust(edited)
    if wrong:
        raise SystemExit(1)


def _add_coverage(
    checked: _Checked, agents: Sequence[str], active: Collection[str], *, strict: bool
) -> _Checked:
    """With the hooks that no agent can fire, and those that one installed here cannot."""
    found = [(pins.hook, coverage.explain_death(pins.hook)) for pins in checked.pins]
    alive = [
        coverage.cover(hook, agent, active) for hook, dead in found if not dead for agent in agents
    ]
    gaps = [coverage.explain_gap(each) for each in alive if each.why]
    problems = [*checked.problems, *(dead for _, dead in found if dead), *gaps * strict]
    warnings = tuple(gaps * (not strict))
    return replace(checked, problems=tuple(problems), warnings=warnings, coverage=tuple(alive))


def _checked_files(app: App, files: tuple[str, ...], notes: list[Note]) -> Iterator[_Checked]:
    own = [path for path in (MANAGED_FILE, app.loader.user_file) if os.path.lexists(path)]
    root = project_root(app.cwd, project_var=None)
    found = [_check_home(app.home)] if home_flaw(app.home) else []
    if files:
        for place in map(os.path.abspath, files):
            is_own = place in own
            found.append(
                _own_file(app, place) if is_own else _check(app, app.loader.standing(place))
            )
    else:
        found += [_own_file(app, path) for path in own]
        if app.config is not None:
            found.append(_drafted(app, app.config, "named"))
        else:
            found += [_check(app, standing) for standing in app.loader.standings(root, app.cwd)]
    yield from found
    in_force: tuple[ConfigFile, ...] = ()
    try:
        loaded = app.loader.load(root, app.cwd)
        in_force = loaded.files
        # The others are told by what is said of each file.
        if not files:
            notes += [note for note in loaded.notes if note.kind in {"ignored", "paused"}]
    except HooklineError as exc:
        # What is in force may be wrong where the files are right: a trusted copy, the store.
        if not files and not any(each.problems for each in found):
            yield _Checked(app.home, "damaged", 0, _problems(exc, app.home))
    notes += [note for note in _would_ignore(found, in_force) if note not in notes]


def _would_ignore(found: Sequence[_Checked], in_force: Sequence[ConfigFile]) -> Iterator[Note]:
    """What would be ignored of project files if they were in force as they are on disk."""
    for each in found:
        if each.draft is not None and each.state not in {"own", "trusted"}:
            others = [file for file in in_force if file.file != each.file]
            known = assemble(others).notes
            yield from (n for n in assemble((*others, each.draft)).notes if n not in known)


def _check_home(home: str) -> _Checked:
    return _Checked(home, "home", 0, (Problem(home, 0, home_flaw(home)),))


def _own_file(app: App, path: str) -> _Checked:
    """A file that holds as it is on disk, unless it is the machine's and not safely so."""
    flaw = managed_flaw(path) if path == MANAGED_FILE else None
    if flaw is not None:
        return _Checked(path, "ignored", 0, (Problem(path, 0, flaw),))
    return _drafted(app, path, "own")


def _check(app: App, standing: Standing) -> _Checked:
    trusted = standing.trusted
    if trusted is None and not os.path.lexists(standing.config):
        return _drafted(app, standing.config, "absent")
    if standing.state != "missing" or trusted is None:
        checked = _drafted(app, standing.config, _state(standing))
        new = tuple(path for path in standing.changed if not trusted or not trusted.find(path))
        changed = tuple(path for path in standing.changed if path not in new)
        return replace(checked, changed=changed, new=new)
    try:
        file = app.loader.trusted_file(trusted)
    except HooklineError as exc:
        return _Checked(standing.config, "damaged", 0, _problems(exc, standing.config))
    return _Checked(standing.config, standing.state, _count(file))


def _state(standing: Standing) -> str:
    """The standing's own word, or a better one for the person who asks."""
    if standing.state == "changed" and standing.trusted is not None:
        if not any(map(standing.trusted.find, standing.changed)):
            return "grown"
        return standing.state if standing.config in standing.changed else "scripts"
    is_config = standing.config.endswith(tuple(f"/{name}" for name in NAMES))
    return "loose" if standing.state == "untrusted" and not is_config else standing.state


def _drafted(app: App, path: str, state: str) -> _Checked:
    try:
        draft = app.loader.draft(path)
    except HooklineError as exc:
        # What holds as it is on disk and cannot be read is not merely out of force.
        broken = {"own": "broken", "named": "broken", "trusted": "broken", "untrusted": "wrong"}
        return _Checked(path, broken.get(state, state), 0, _problems(exc, path))
    hooks = [pins.hook for pins in draft.hooks]
    if state in {"own", "named"}:  # no step there is about trust
        hooks = [replace(each, source=replace(each.source, layer=Layer.USER)) for each in hooks]
    found = (app.loader.find_run_problems(each, app.env, on_disk=True) for each in hooks)
    problems = tuple(chain.from_iterable(found))
    return _Checked(path, state, len(draft.hooks), problems, draft.hooks, draft=draft.file)


def _problems(exc: HooklineError, file: str) -> tuple[Problem, ...]:
    return exc.problems if isinstance(exc, ConfigError) else (Problem(file, 0, str(exc)),)


def _count(file: ConfigFile) -> int:
    return len(file.hooks) + sum(map(_count, file.includes))


def _print(checked: _Checked) -> None:
    for problem in checked.problems:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {visible(str(problem))}")
    for problem in checked.warnings:
        click.echo(f"{click.style('warning:', fg='yellow', bold=True)} {visible(str(problem))}")
    if not checked.problems and checked.state != "missing":
        hooks = "1 hook" if checked.hooks == 1 else f"{checked.hooks} hooks"
        click.echo(f"{visible(checked.file)}: {hooks}, no mistakes")
    names = {name: event for pins in checked.pins for name, event in pins.hook.native_names.items()}
    for native, event in names.items():
        click.secho(f"  {visible(native)} is {event}", dim=True)
    for pins in checked.pins if checked.state not in {"own", "named"} else ():
        for word, things in (("pinned", pins.pinned), ("not pinned", pins.unpinned)):
            for what in things:
                click.secho(f"  {word}: {visible(what)} ({visible(pins.hook.name)})", dim=True)
    for path in checked.changed:
        click.secho(f"  changed: {visible(path)}", fg="yellow")
    for path in checked.new:
        click.secho(f"  new: {visible(path)}", fg="yellow")
    if checked.state == "absent":
        return  # nothing that could be trusted
    colour = "green" if checked.state in {"own", "trusted"} else "yellow"
    click.secho(f"{visible(checked.file)}: {_FORCE[checked.state]}", fg=colour)


def _can_ask(app: App) -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and not is_under_agent()


def _offer_trust(files: list[str]) -> None:
    from hookline.cli.trust import command as trust

    try:
        trust.main(args=files, standalone_mode=False)
    except TrustError as exc:
        click.echo(visible(str(exc)))  # the person said no, which is no mistake
