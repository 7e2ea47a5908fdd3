"""``hookline undo``: take back what the last turn of an agent has changed in files."""

import os

import click

from hookline.cli._output import print_json
from hookline.cli._terminal import confirm, guard_weakening
from hookline.git import GitError, find_repository
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.snapshots import (
    Change,
    Checkpoint,
    HalfDone,
    Page,
    Plan,
    Session,
    Shadow,
    make_plan,
    pages,
    undo,
)

__all__ = ["command", "open_shadow"]

_WORDS = {"A": "remove", "D": "bring back", "M": "put back"}
_NAMED = 3


@click.command("undo")
@click.option("--session", help="Of this session; without it, the one that changed files last.")
@click.option("--keep", type=click.IntRange(0), help="Undo all turns but the first so many.")
@click.option("--redo", is_flag=True, help="Take the last undoing back instead.")
@click.option("--force", is_flag=True, help="Also change files that somebody else changed since.")
@click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@guard_weakening("undo")
def command(
    session: str | None, keep: int | None, redo: bool, force: bool, yes: bool, as_json: bool
) -> None:
    """Bring the files of this work tree back to what they were before an agent's last turn.

    Shows which files, and asks. Files that the turn did not touch stay as they are. Nothing is
    undone where you or another session changed one of the files since, unless you say `--force`;
    what is there now is kept either way, and `--redo` brings it back.
    """
    if redo and keep is not None:
        raise click.UsageError("--redo goes one step at a time: leave --keep out")
    shadow = open_shadow(os.path.abspath("."))
    chosen, points = _chosen(shadow, session, redo)
    going = points[-1:] if keep is None else points[keep:]
    # By what the turns did to a file, as git says it, and not by what is done now.
    letters: dict[str, str] = {}
    if going:
        plan = _planned(shadow, going, force)
        for path, change in plan.files.items():
            letters[path] = Change(change.after, change.before).how
            click.echo(f"{_WORDS[letters[path]]:<10} {visible(path)}", err=as_json)
        question = f"Change these {len(letters)} files in {shadow.root}?"
        weakening = f"{len(letters)} files in {shadow.root} were brought back by `hookline undo`"
        confirm(question, weakening=weakening, yes=yes)
        try:
            undo(shadow, Page(shadow.directory, chosen.session), going, plan, again=redo)
        except HalfDone as error:
            raise HooklineError(str(error)) from error
        except (GitError, OSError) as error:
            raise HooklineError(f"nothing was undone: {error}") from error
    if as_json:
        print_json({"session": chosen.session, "files": letters})
        return
    back = "hookline undo" if redo else "hookline undo --redo"
    click.secho(f"done; `{back}` takes it back" if going else "nothing to undo", fg="green")


def _planned(shadow: Shadow, points: list[Checkpoint], force: bool) -> Plan:
    try:
        plan = make_plan(shadow, points)
    except (GitError, OSError) as error:
        raise HooklineError(f"nothing was undone: {error}") from error
    if plan.changed_since and not force:
        names = ", ".join(f"`{visible(path)}`" for path in plan.changed_since[:_NAMED])
        more = len(plan.changed_since) - _NAMED
        named = f"{names} and {more} more" if more > 0 else names
        raise HooklineError(
            f"nothing was undone: {named} changed after the turn\n"
            "keep your copy of them, or add --force: `hookline undo --redo` brings them back"
        )
    return plan


def _chosen(shadow: Shadow, name: str | None, redo: bool) -> tuple[Session, list[Checkpoint]]:
    found = [
        (points, each)
        for each in pages(shadow.directory)
        if (points := each.undone if redo else each.checkpoints)
        and (name is None or each.session == name)
    ]
    if not found:
        of = f" of the session `{name}`" if name else ""
        raise HooklineError(f"there is nothing{of} to {'redo' if redo else 'undo'} here")
    points, session = max(found, key=lambda each: each[0][-1].time)
    return session, points


def open_shadow(cwd: str) -> Shadow:
    """The shadow of the work tree that ``cwd`` is in. Raises HooklineError outside of one."""
    from hookline.app import open_loader

    try:
        repository = find_repository(cwd)
    except GitError as error:
        raise HooklineError(str(error)) from error
    if repository is None:
        raise HooklineError(f"`{cwd}` is in no git work tree, so nothing is kept of it")
    home = os.path.abspath(open_loader(os.environ).home)
    return Shadow(os.path.join(home, "snapshot"), repository, env=os.environ)
