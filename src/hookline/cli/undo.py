"""``hookline undo``: take back what the last turn of an agent has changed in files."""

import os

import click

from hookline.cli._output import print_json
from hookline.cli._snapshots import opened
from hookline.cli._terminal import confirm, guard_weakening
from hookline.git import GitError
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.snapshots import (
    Checkpoint,
    HalfDone,
    Page,
    Session,
    Shadow,
    pages,
    step,
)

__all__ = ["command"]

_WORDS = {"A": "remove", "D": "bring back"}


@click.command("undo")
@click.option("--session", help="Of this session; without it, the one that changed files last.")
@click.option("--keep", type=click.IntRange(0), help="Undo all turns but the first so many.")
@click.option("--redo", is_flag=True, help="Take the last undoing back instead.")
@click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@guard_weakening("undo")
def command(session: str | None, keep: int | None, redo: bool, yes: bool, as_json: bool) -> None:
    """Bring the files of this work tree back to what they were before an agent's last turn.

    Shows which files, and asks. Files that the turn did not touch stay as they are; what was
    changed in the others since is kept, and `--redo` brings it back.
    """
    if redo and keep is not None:
        raise click.UsageError("--redo goes one step at a time: leave --keep out")
    shadow = opened(os.path.abspath("."))
    chosen, points = _chosen(shadow, session, redo)
    going = points[-1:] if keep is None else points[keep:]
    # Of several turns the first says what was there before all of them.
    files = {path: how for point in reversed(going) for path, how in point.files.items()}
    for path, how in sorted(files.items()):
        click.echo(f"{_WORDS.get(how, 'put back'):<10} {visible(path)}", err=as_json)
    if going:
        question = f"Change these {len(files)} files in {shadow.root}?"
        weakening = f"{len(files)} files in {shadow.root} were brought back by `hookline undo`"
        confirm(question, weakening=weakening, yes=yes)
        _go(shadow, chosen, going, redo)
    if as_json:
        print_json({"session": chosen.session, "files": files})
        return
    back = "hookline undo" if redo else "hookline undo --redo"
    click.secho(f"done; `{back}` takes it back" if going else "nothing to undo", fg="green")


def _go(shadow: Shadow, chosen: Session, going: list[Checkpoint], redo: bool) -> None:
    page = Page(shadow.directory, chosen.session)
    for done, point in enumerate(reversed(going)):
        try:
            step(shadow, page, point, again=redo)
        except HalfDone as error:
            raise HooklineError(str(error)) from error
        except (GitError, OSError) as error:
            whole = len(going)
            so_far = f"only {done} of {whole} turns were undone" if done else "nothing was undone"
            raise HooklineError(f"{so_far}: {error}") from error


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
