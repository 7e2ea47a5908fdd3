"""``hookline handoff``: what the last session here would hand to the next one."""

import os
import time

import click

from hookline.cli._output import print_json
from hookline.model.text import visible
from hookline.store.handoffs import (
    Handoff,
    Handoffs,
    Place,
    count_tokens,
    describe_handoff,
    name_moment,
)
from hookline.store.state import StateDatabase

__all__ = ["command"]

_ALL = 100_000
_SHOWN = (
    *("session", "agent", "repository", "branch", "issue", "next_steps", "blockers", "decisions"),
    *("todos", "inherited", "plan", "files"),
)


@click.command("handoff")
@click.option("--list", "as_list", is_flag=True, help="List those of every branch here.")
@click.option("--forget", is_flag=True, help="Remove those of this branch; with --list, of all.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(as_list: bool, forget: bool, as_json: bool) -> None:
    """Show what the last session of this repository and branch left to the next one.

    `use: handoff` in a config keeps it (docs/handoff.md).
    """
    handoffs, place = _open()
    if forget:
        count = handoffs.forget(place, any_branch=as_list) if handoffs is not None else 0
        click.echo(f"{count} handoff{'s' * (count != 1)} removed")
        return
    found = handoffs.query(place, any_branch=as_list) if handoffs is not None else []
    if not as_list:
        found = found[:1]
    if as_json:
        print_json([_to_data(handoff, taken_by) for handoff, taken_by in found])
        return
    for handoff, taken_by in found:
        line = f"{_describe_state(handoff, taken_by)}  {visible(handoff.session)}"
        if as_list:
            branch = visible(handoff.branch) or "no branch"
            click.echo(f"{name_moment(handoff.touched)}  {branch}  {line}")
        else:
            click.secho(f"{name_moment(handoff.touched)}  {line}", bold=True)
            click.echo(describe_handoff(handoff, max_tokens=_ALL))
    if not found:
        click.echo("no session here has left anything; `use: handoff` keeps it")


def _open() -> tuple[Handoffs | None, Place]:
    from hookline.app import open_loader
    from hookline.config.discover import project_root
    from hookline.model.events import SessionStart
    from hookline.model.ports import Caller
    from hookline.workspace import find_place

    home = os.path.abspath(open_loader(os.environ).home)
    cwd = os.getcwd()
    caller = Caller(env=os.environ, project_dir=project_root(cwd, project_var=None))
    path, workspace = find_place(SessionStart(cwd=cwd), caller)
    place = Place(path, workspace.repository, visible(workspace.branch))
    kept = os.path.exists(os.path.join(home, "state.db"))
    return Handoffs(StateDatabase(home)) if kept else None, place


def _describe_state(handoff: Handoff, taken_by: str) -> str:
    if taken_by:
        return f"taken by {visible(taken_by)}"
    if handoff.rotated:
        return "rotated"
    if not handoff.is_over(time.time()):
        return "still at work"
    return "ended, open" if handoff.is_open else "ended, nothing open"


def _to_data(handoff: Handoff, taken_by: str) -> dict[str, object]:
    return {
        **{name: getattr(handoff, name) for name in _SHOWN},
        "state": _describe_state(handoff, taken_by),
        "written_by": handoff.reason,
        "at": name_moment(handoff.touched),
        "errors": [*handoff.failures.values()],
        "tokens": count_tokens(describe_handoff(handoff, max_tokens=_ALL)),
    }
