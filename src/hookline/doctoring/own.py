"""How hookline's own config stands: trusted, paused, managed, and what it includes.

Knows the loader and what it notes; must not know any platform.
"""

import os
from collections.abc import Iterator
from tempfile import TemporaryFile

from hookline.app import App
from hookline.config.load import Standing
from hookline.config.types import Config, Note
from hookline.model.errors import ConfigError, HooklineError
from hookline.model.findings import Finding, Severity

__all__ = ["ID", "home_flaw", "own_config"]

ID = "hookline"
"""Stands for a dialect where the finding is about hookline's own config."""

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE


def own_config(app: App, project: str, *, managed: str) -> Iterator[Finding]:
    """What of the config that counts in a project is not active as it stands there."""
    flaw = home_flaw(app.home)
    if flaw:
        what = f"{flaw}, and hookline keeps its state here: every tool is blocked"
        yield _found(
            "state-not-writable",
            _E,
            app.home,
            0,
            what,
            f"make {app.home} writable (chmod u+rwx), or free space on its disk",
        )
    standings = [] if app.config is not None else [*app.loader.standings(project, app.cwd)]
    try:
        config = app.loader.load(project, app.cwd)
    except HooklineError as error:
        yield from (finding for each in standings for finding in _standing(each))
        yield from _broken(app, error)
        return
    noted = {note.file for note in config.notes}
    for each in standings:
        # One that HOOKLINE_TRUST vouches for is in force although nobody trusted it here.
        doubtful = each.changed if each.state == "changed" else (each.config,)
        if each.state not in {"untrusted", "changed"} or noted.intersection(doubtful):
            yield from _standing(each)
    known = {each.config for each in standings}
    for note in config.notes:
        if note.kind != "untrusted" or note.file not in known:
            yield from _noted(note, managed)
    yield from _not_run(config)
    for hook in config.hooks:
        for problem in app.loader.find_run_problems(hook, app.env):
            where = problem.file, problem.line
            yield _found(problem.id, _E, *where, problem.message, problem.hint)


def home_flaw(home: str) -> str:
    """Why nothing can be kept in the state directory; empty when it can, or can be made."""
    there = home
    while not os.path.lexists(there):
        there = os.path.dirname(there)
    if not os.path.isdir(there):
        return f"`{there}` is no directory"
    try:
        with TemporaryFile(dir=there) as file:
            file.write(bytes(4096))
    except OSError as error:
        return f"`{there}` cannot be written: {error.strerror}"
    return ""


def _broken(app: App, error: HooklineError) -> Iterator[Finding]:
    if not isinstance(error, ConfigError):
        yield _found("config-broken", _E, app.home, 0, str(error), "run hookline check")
        return
    for problem in error.problems:
        what = f"{problem.message}; until it is fixed, whatever can be blocked is denied"
        fix = problem.hint or "fix it; hookline check shows every mistake"
        yield _found("config-broken", _E, problem.file, problem.line, what, fix)


def _found(id: str, severity: Severity, file: str, line: int, what: str, fix: str) -> Finding:
    return Finding(id=id, dialect=ID, severity=severity, file=file, line=line, what=what, fix=fix)


def _standing(standing: Standing) -> Iterator[Finding]:
    """How it stands with one project file."""
    file, trust = standing.config, f"hookline trust {standing.config}"
    match standing.state:
        case "untrusted":
            what = "this config was never trusted, so none of its hooks runs"
            yield _found("config-not-trusted", _E, file, 0, what, trust)
        case "changed" if file in standing.changed:
            what = "this config changed since it was trusted, and the trusted version is active"
            yield _found("config-changed", _W, file, 0, what, trust)
        case "changed":
            changed = ", ".join(standing.changed)
            what = f"{changed} changed since it was trusted, and the trusted copy runs"
            yield _found("config-scripts-changed", _W, file, 0, what, trust)
        case "missing":
            what = "this config is gone, and its trusted version is still active"
            fix = f"put it back, or run hookline trust --revoke {file}"
            yield _found("config-missing", _W, file, 0, what, fix)
        case "damaged":
            yield _found("config-broken", _E, file, 0, standing.damage, trust)
        case _:
            pass


def _noted(note: Note, managed: str) -> Iterator[Finding]:
    if note.kind == "paused":
        fix = "hookline pause --off"
        yield _found("paused", _E, note.file, 0, note.message, fix)
    elif note.kind == "ignored" and note.file == managed:
        fix = f"sudo chown root {managed} && sudo chmod go-w {managed}, its folder alike"
        yield _found("managed-ignored", _E, note.file, 0, note.message, fix)
    elif note.kind == "ignored":
        fix = "hookline list shows which hooks are active"
        yield _found("config-ignored", _W, note.file, 0, note.message, fix)
    elif note.kind == "untrusted":
        yield _found("include-not-trusted", _E, note.file, 0, note.message, "hookline trust")
    elif note.kind == "broken":
        fix = f"fix {note.file}; hookline check shows every mistake"
        yield _found("include-broken", _W, note.file, 0, note.message, fix)


def _not_run(config: Config) -> Iterator[Finding]:
    """Included files of other platforms, which are not run for the clients that do it already."""
    told: set[str] = set()
    for hook in config.hooks:
        if hook.native and hook.run_by and hook.source.file not in told:
            told.add(hook.source.file)
            who = ", ".join(sorted(hook.run_by))
            what = f"hookline does not run this for events of {who}: that client does it itself"
            fix = "nothing, if that client really runs it; hookline doctor says what keeps it"
            yield _found("include-not-run", _N, hook.source.file, 0, what, fix)
