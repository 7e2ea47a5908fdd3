"""``hookline install``: write hookline into an agent's own hook settings."""

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Literal

import click

from hookline import registry
from hookline.app import open_app
from hookline.cli._installing import (
    installers,
    machine_here,
    records_here,
    user_config_dir,
)
from hookline.cli._output import print_json
from hookline.cli._protection import (
    Protection,
    find_protections,
    print_firing,
    print_protection,
)
from hookline.cli._terminal import confirm, guard_weakening
from hookline.git import GitError, open_view
from hookline.installing.changes import Change, apply, plan_install
from hookline.installing.program import own_client, own_program
from hookline.installing.records import Records
from hookline.installing.trusting import trust as give_trust
from hookline.model.errors import HooklineError
from hookline.model.events import EVENTS
from hookline.model.installing import (
    Call,
    Installer,
    InstallError,
    Machine,
    Scope,
    Trusting,
)
from hookline.model.text import visible

__all__ = ["command", "travels"]

_SCOPES = [scope.value for scope in Scope]


@click.command("install")
@click.argument("dialects", nargs=-1, required=True, metavar="AGENT…")
@click.option(
    "--scope",
    type=click.Choice(_SCOPES),
    help="For all your projects (user, the default) or for this one.",
)
@click.option("--file", "files", multiple=True, type=click.Path(), help="The settings to write to.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--shared", is_flag=True, help="Write the project's file that others get by git.")
@click.option("--trust", is_flag=True, help="Let the agent's own client trust the entries.")
@click.option("--trust-env", is_flag=True, help="Believe HOOKLINE_* and HOME when called: for CI.")
@click.option("--no-daemon", is_flag=True, help="Start hookline anew for each event; slower.")
@click.option("--timeout", type=click.IntRange(min=5), help="The agent's limit, in seconds.")
@click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@guard_weakening("install")
def command(
    dialects: tuple[str, ...],
    scope: str | None,
    files: tuple[str, ...],
    dry_run: bool,
    shared: bool,
    trust: bool,
    trust_env: bool,
    no_daemon: bool,
    timeout: int | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Write hookline into an agent's hook settings, beside what is there.

    AGENT is claude-code, codex, gemini or another. What is in the file stays as it is, and
    `hookline uninstall` takes the entries out again. At the end the new line is tested, and you
    see how many hooks are active here; `hookline status` shows the same later.
    """
    chosen = installers(dialects, files)
    _refuse_what_cannot_be(chosen, scope, shared=shared, trust=trust, dry_run=dry_run)
    machine = machine_here(os.environ, files)
    records = records_here()
    call = Call(program=("hookline",), timeout=timeout, trust_env=trust_env, shared=shared)
    call = _located(call, records, daemon=not no_daemon)
    problems: list[str] = []
    with nullcontext() if dry_run else records.locked():
        # All are planned before any is made: where one cannot be, none is.
        changes = _planned(chosen, machine, scope, call, records)
        if not dry_run:
            _ask_before_replacing(changes, yes)
            # Two platforms may share a file, so each is planned again on what the other left.
            changes = []
            for each in chosen:
                for change in _planned([each], machine, scope, call, records):
                    apply(change, records)
                    changes.append(change)
            if trust:
                problems = _trust(chosen, machine, records)
    steps: set[str] = set()
    found = find_protections(open_app(), machine, [each.id for each in chosen])
    for installer, protection in zip(chosen, found, strict=True) if not as_json else ():
        _tell(installer, changes, dry_run)
        if trust and not problems and isinstance(installer, Trusting):
            click.echo(f"  {installer.support.client} trusts hookline's entries now")
        if not dry_run:
            print_protection(protection, steps)
            print_firing(protection)
    if as_json:
        pairs = zip(chosen, found, strict=True)
        print_json([_as_json(*pair, changes, dry_run) for pair in pairs])
    for problem in problems:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {visible(problem)}", err=True)
    if problems:
        sys.exit(1)


def _refuse_what_cannot_be(
    chosen: Sequence[Installer], scope: str | None, *, shared: bool, trust: bool, dry_run: bool
) -> None:
    if sys.platform == "win32":
        raise HooklineError("install writes lines for /bin/sh, which Windows does not have")
    if shared and scope == Scope.USER.value:
        raise click.UsageError("--shared is about a project's file: leave --scope user out")
    if trust and dry_run:
        raise click.UsageError("--trust and --dry-run: a dry run asks no client, writes nothing")
    if trust and not any(isinstance(each, Trusting) for each in chosen):
        clients = " and ".join(each.support.client for each in chosen)
        raise click.UsageError(f"--trust: {clients} cannot be told to trust single hooks")


def _trust(chosen: Sequence[Installer], machine: Machine, records: Records) -> list[str]:
    """What could not be trusted; the entries are in place either way."""
    problems = []
    for installer in chosen:
        if not isinstance(installer, Trusting):
            continue  # that client trusts whatever stands in its settings
        try:
            give_trust(installer, machine, records)
        except InstallError as error:
            problems.append(str(error))
    return problems


def _located(call: Call, records: Records, *, daemon: bool) -> Call:
    if call.shared:
        # Nobody else's machine has our directories: there hookline finds its own.
        return call
    if call.trust_env:
        # What is on the command line would win, and the environment is to be believed. A daemon
        # is found by the state directory, and that only the environment knows.
        return replace(call, program=own_program())
    program = own_client() if daemon else own_program()
    home, user_config = records.home, user_config_dir(os.environ)
    return replace(call, program=program, home=home, user_config=user_config)


def _planned(
    chosen: Sequence[Installer], machine: Machine, scope: str | None, call: Call, records: Records
) -> list[Change]:
    changes = []
    for installer in chosen:
        wanted = Scope.PROJECT if call.shared else installer.scopes[0]
        wanted = Scope(scope) if scope else wanted
        if wanted not in installer.scopes:
            client, there = installer.support.client, " and ".join(installer.scopes)
            raise InstallError(f"{client} has no settings of scope {wanted}: only {there}")
        for change in plan_install(installer, machine, wanted, call, records):
            _refuse_to_travel(installer, change, machine, call)
            changes.append(change)
    return changes


def _refuse_to_travel(installer: Installer, change: Change, machine: Machine, call: Call) -> None:
    """Paths of this machine must not reach others through git."""
    target = change.target
    if call.shared or target.scope is Scope.USER:
        return
    how = travels(target.file, machine.env)
    if how == "tracked" or (how == "untracked" and not target.personal):
        seen = "is tracked by git" if how == "tracked" else "is not ignored by git"
        raise InstallError(
            f"`{target.file}` {seen}, and paths of this machine would travel with it. "
            f"`hookline install {installer.id} --shared` writes lines that work on every machine; "
            "or have git ignore the file (.git/info/exclude) and run this again; "
            "or leave --scope project out, to install for all your projects"
        )


def _ask_before_replacing(changes: Sequence[Change], yes: bool) -> None:
    """An active entry says where the rules are: only a person may have it say else."""
    replaced = [change for change in changes if change.replaced]
    for change in replaced:
        for entry in change.replaced[:1]:
            said = f"in {visible(change.file.path)} is now: {visible(' '.join(entry.words))}"
            click.echo(said, err=True)
    if replaced:
        files = ", ".join(change.file.path for change in replaced)
        confirm(
            f"Replace hookline's entries in {files}?",
            weakening=f"hookline's entries in {files} were replaced",
            yes=yes and all("--home" not in each.words for c in replaced for each in c.replaced),
        )


def _tell(installer: Installer, changes: Sequence[Change], dry_run: bool) -> None:
    client = installer.support.client
    for change in (each for each in changes if each.installer is installer):
        file = visible(change.file.path)
        if change.is_none:
            click.echo(f"{client}: {file} has hookline in it already, nothing to change")
        elif dry_run:
            click.echo(f"{client}: would write {file}\n{visible(change.diff())}")
        else:
            click.secho(f"{client}: hookline is in {file} now", fg="green")
    click.echo(f"  covers {len(installer.events())} events; --json names them")
    for sentence in installer.support.beyond:
        click.echo(f"  no hook can lift this limit: {sentence}")


def _as_json(
    installer: Installer, found: Protection, changes: Sequence[Change], dry_run: bool
) -> dict[str, object]:
    own = [change for change in changes if change.installer is installer]
    heard = registry.delivered(installer.id)
    return {
        "dialect": installer.id,
        "files": [
            {
                "file": change.file.path,
                "scope": change.target.scope,
                "changed": not change.is_none,
                "written": not change.is_none and not dry_run,
                "diff": change.diff(),
            }
            for change in own
        ],
        "events": installer.events(),
        "left_out": dict(installer.left_out),
        "coverage": found.hooks,
        "undeliverable": [e for e in EVENTS if e not in heard and e != "other"],
        "hooks": found.active,
        "active": found.is_full,
        "inactive": [{"why": each.why, "step": each.step} for each in found.gaps],
    }


Travels = Literal["tracked", "untracked", "ignored", "no"]

_CAP = 1 << 20


def travels(path: str, env: Mapping[str, str]) -> Travels:
    """How git sees a file, which need not exist; "untracked" when git cannot be asked."""
    directory = os.path.dirname(path)
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    with suppress(GitError), open_view(directory, env) as view:
        if view is None:
            return "no"
        if view.ask("ls-files", "--error-unmatch", "--", path, cap=_CAP).code == 0:
            return "tracked"
        if view.ask("check-ignore", "--quiet", "--", path, cap=_CAP).code == 0:
            return "ignored"
    return "untracked"
