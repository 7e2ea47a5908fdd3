"""``hookline explain``: why an event came out as it did, and why a hook did not run on it."""

import os
from collections.abc import Iterable, Sequence

import click
from msgspec import to_builtins
from msgspec.structs import replace

from hookline.app import App, open_app
from hookline.cli._journal import chosen, dsn_option, opened, verdict_word
from hookline.cli._output import print_json
from hookline.config.discover import project_root
from hookline.explaining.explain import events_of, explain
from hookline.explaining.explanation import Explanation, Ran, Told, Unrun
from hookline.model.errors import HooklineError, nearest
from hookline.model.journal import Recorded
from hookline.model.outcome import Substitution
from hookline.model.text import visible
from hookline.store.journal.reader import Filter, Queries

__all__ = ["command"]

# How many of the newest events say which projects there are.
_LOOKED_AT = 50


@click.command("explain")
@click.argument("event_id", required=False, metavar="[ID]")
@click.option("--last", is_flag=True, help="The last event, even if every hook let it pass.")
@click.option("--session", help="Of this session only.")
@click.option("--hook", "hook", metavar="NAME", help="Only what concerns this hook.")
@click.option(
    "--config", type=click.Path(), help="The hooks of this file instead of the project's own."
)
@dsn_option
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    event_id: str | None,
    last: bool,
    session: str | None,
    hook: str | None,
    config: str | None,
    dsn: str | None,
    as_json: bool,
) -> None:
    """Tell all about one event of the journal: ID as `hookline log` shows it, or its beginning.

    Without ID, the last event whose verdict is not pass, or on which some hook said another
    verdict, rewrote the tool's input or variables or the prompt, gave a follow-up or failed. With
    --hook, the last of this project on which that hook ran; if it never did, the last of a kind
    that it is on. If neither is in this project, the same anywhere.

    \b
      hookline explain                  why was this denied?
      hookline explain --hook my-hook   what did my hook say, or why did it not run?
    """
    if event_id is not None and last:
        raise click.UsageError("an ID and --last are two different events")
    if event_id is not None and session is not None:
        raise click.UsageError("an ID is one event, whatever its session: leave out --session")
    here = open_app(config=os.path.abspath(config) if config else None)
    with opened(here.home, dsn) as reader:
        meant = None
        if hook is not None and event_id is None and not last:
            meant = _last_of(hook, reader, here, session)
        recorded = meant or chosen(reader, event_id, last=last, session=session)
    # The hooks that hold at the event's own place, not at the person's.
    app = open_app(cwd=recorded.cwd or recorded.project_dir or None, config=here.config)
    explanation = explain(recorded, app)
    if hook is not None:
        explanation = _narrowed(explanation, hook)
    if as_json:
        print_json(to_builtins(explanation))
    else:
        _print(explanation)


def _last_of(hook: str, reader: Queries, app: App, session: str | None) -> Recorded | None:
    """The last event on which the hook ran, or of a kind that it is on; of this project, if any."""
    kinds = events_of(hook, app)
    anywhere = Filter(session=session, limit=1)
    # Another project may have a hook of the same name, so what ran there comes later.
    for place in (replace(anywhere, project=project_root(app.cwd, project_var=None)), anywhere):
        ran = reader.query(replace(place, hook=hook))
        found = ran[0] if ran else _last_of_kinds(kinds, reader, place)
        if found is not None:
            return found
    return None if kinds else _last_elsewhere(hook, reader, app, anywhere)


def _last_of_kinds(kinds: Sequence[str], reader: Queries, place: Filter) -> Recorded | None:
    found = [each for kind in kinds for each in reader.query(replace(place, event=kind))]
    return max(found, key=lambda each: each.seq, default=None)


def _last_elsewhere(hook: str, reader: Queries, app: App, anywhere: Filter) -> Recorded | None:
    """The last event of a kind that the hook is on, in the last project that knows it."""
    newest = reader.query(replace(anywhere, limit=_LOOKED_AT))
    for project in filter(os.path.isdir, dict.fromkeys(each.project_dir for each in newest)):
        kinds = events_of(hook, open_app(cwd=project, config=app.config))
        found = _last_of_kinds(kinds, reader, replace(anywhere, project=project))
        if found is not None:
            return found
    return None


def _narrowed(explanation: Explanation, name: str) -> Explanation:
    """Only one hook of it. Raises HooklineError when there is none of this name."""
    ran = tuple(each for each in explanation.ran if each.hook == name)
    not_run = tuple(each for each in explanation.not_run if each.hook == name)
    if not ran and not not_run:
        if not explanation.event:
            raise HooklineError(
                f"no hook was asked on event {explanation.id}, `{name}` neither: what came in "
                f"could not be read. `hookline explain {explanation.id}` tells more"
            )
        known = [each.hook for each in explanation.ran]
        known += [each.hook for each in explanation.not_run]
        place = explanation.project_dir or explanation.cwd
        hint = nearest(name, known) or "`hookline list` there shows those that do"
        where = f"for `{place}`" if place else "there"
        raise HooklineError(f"no hook called `{name}` counts {where}; {hint}")
    return replace(explanation, ran=ran, not_run=not_run)


def _print(told: Explanation) -> None:
    _print_head(told)
    if told.payload:
        _title("What came in")
        source = f"{told.native_event or told.event} of {told.dialect}"
        click.echo(f"  {visible(source)}: {_indented(told.payload, 4)}")
    if told.ran:
        _title("Hooks that ran, in order")
        for ran in told.ran:
            _print_ran(ran)
    _title("How that became one outcome")
    for text in told.merge:
        click.echo(f"  {_indented(text, 2)}")
    for change in told.substitutions:
        click.echo(f"  {_indented(_change(change), 2)}")
    _print_told(told.told)
    if told.not_run:
        _title("Hooks that did not run")
        for unrun in told.not_run:
            _print_unrun(unrun)
    for note in told.notes:
        click.secho(f"note: {_indented(note, 6)}", fg="yellow")


def _print_head(told: Explanation) -> None:
    name = click.style(told.event or "(unreadable)", bold=True)
    click.echo(f"{verdict_word(told.verdict)}  {name}  {visible(told.subject)}")
    facts = [
        f"{told.at.astimezone():%Y-%m-%d %H:%M:%S}",
        f"{told.ms:.2f} ms",
        f"session {told.session_id}" if told.session_id else "",
        f"agent {told.agent}" if told.agent not in {"", "root"} else "",
        f"in {told.cwd}" if told.cwd else "",
        f"on {told.machine}" if told.machine else "",
        f"attempt {told.attempt}" if told.attempt > 1 else "",
        told.id,
    ]
    click.secho(f"  {visible(', '.join(filter(None, facts)))}", dim=True)
    for text in filter(None, (told.reason, told.failure)):
        click.echo(f"  {_indented(text, 2)}")


def _print_ran(ran: Ran) -> None:
    tier = f"{ran.tier:>3}" if ran.tier is not None else "  ?"
    word = "failed" if ran.failed is not None else ran.verdict
    notes = f" ({', '.join(ran.notes)})" if ran.notes else ""
    where = click.style(visible(ran.source), dim=True)
    line = f"{verdict_word(word, 6)} {ran.ms:8.2f} ms  {ran.handler}  {visible(ran.hook)}"
    click.echo(f"  {tier}  {line}{notes}  {where}")
    for text in filter(None, (ran.failed, ran.reason)):
        click.echo(f"       {_indented(text, 7)}")
    for key, value in ran.effects.items():
        said = value if isinstance(value, str | dict) else "\n".join(map(str, value))
        click.echo(f"       {key}: {_indented(str(said), 9)}")


def _change(change: Substitution) -> str:
    return f"{change.was} → {change.now}: {change.why}"


def _print_told(told: Told) -> None:
    _title(f"What {told.client} got")
    click.echo(f"  exit code {told.exit_code}")
    for stream, text in (("stdout", told.stdout), ("stderr", told.stderr)):
        if text:
            click.echo(f"  {stream}: {_indented(text, 4)}")
    if told.means:
        click.echo(f"  To {visible(told.client)} that is {_indented(told.means, 4)}")


def _print_unrun(unrun: Unrun) -> None:
    where = click.style(visible(unrun.source), dim=True)
    click.echo(f"  {click.style(visible(unrun.hook), bold=True)}  {where}")
    click.echo(f"      {_indented(unrun.why, 6)}")


def _title(text: str) -> None:
    click.secho(visible(text), underline=True)


def _indented(text: str, width: int) -> str:
    """Text of any origin, safe on a terminal, its further lines below its first."""
    lines: Iterable[str] = visible(text.rstrip("\n")).split("\n")
    return f"\n{' ' * width}".join(lines)
