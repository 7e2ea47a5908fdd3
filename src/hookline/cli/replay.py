"""``hookline replay``: recorded events against the hooks in force now, or those of another file."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from msgspec import to_builtins
from msgspec.structs import replace

from hookline.app import App, open_app
from hookline.cli._failing import trouble
from hookline.cli._journal import (
    dsn_option,
    filter_options,
    known_dialect,
    opened,
    verdict_word,
    wanted,
)
from hookline.cli._output import print_json
from hookline.cli._signals import run
from hookline.config.discover import NAMES, project_root
from hookline.explaining.cases import Case, case_in, case_of
from hookline.explaining.judging import Judge
from hookline.explaining.replay import CHANGES, Difference, Report, Side, replay
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.store.journal.reader import Filter

__all__ = ["command"]

_WORDS = {
    "same": "the same",
    "milder": "milder",
    "unknown": "not known: a hook that was not run is another one now, or new",
    "stricter": "stricter",
    "text": "in other words",
}
_COLOURS = {"milder": "red", "unknown": "magenta", "stricter": "yellow", "text": "cyan"}
_SHOWN = 1_000
"""Characters of one text of a difference."""


@click.command("replay")
@click.option("--config", type=click.Path(), help="Judge by this file instead of the project's.")
@click.option("--edited", is_flag=True, help="Judge by project files as they are on disk.")
@click.option(
    "--against", type=click.Path(), help="Compare with this file's hooks instead of the record."
)
@filter_options
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=1000,
    show_default=True,
    help="At most so many events of the journal, the newest.",
)
@click.option("--captures", type=click.Path(), help="Payloads in the files of this directory.")
@click.option(
    "--jsonl",
    type=click.Path(),
    help="Events of this file, one per line: payloads, or what `hookline log --json` printed.",
)
@click.option(
    "--as",
    "dialect_of",
    metavar="DIALECT",
    callback=known_dialect,
    help="Whose payloads, if they do not say.",
)
@click.option(
    "--run", "run_hooks", is_flag=True, help="Run programs, functions and requests for real."
)
@click.option(
    "--examples",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="How many differences of each kind to show.",
)
@dsn_option
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(
    config: str | None,
    edited: bool,
    against: str | None,
    limit: int,
    captures: str | None,
    jsonl: str | None,
    dialect_of: str | None,
    run_hooks: bool,
    examples: int,
    dsn: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Re-run recorded events against a config and show which verdicts change.

    Only rules are asked, and builtins that do nothing but answer. Any other hook is taken to say
    what it said then, if it is the same still; --run runs it instead. Exits with 0 when nothing
    comes out otherwise, with 1 when anything does or is not known, with 2 when nothing could be
    judged.

    \b
      hookline replay --edited --since 7d
      hookline replay --config new.yaml --against old.yaml --captures payloads/
    """
    _refuse_what_does_not_fit(captures, jsonl, dialect_of, {**given, "dsn": dsn})
    with trouble():
        if captures:
            cases = list(_captured(captures, dialect_of))
        elif jsonl:
            cases = list(_lines(jsonl, dialect_of))
        else:
            cases = _recorded(wanted(given, limit=limit), dsn)
        if not cases:
            raise HooklineError("there is no event to judge again")
        then = Judge(_opener(against, False), run=run_hooks) if against else None
        if then is None and all(case.then is None for case in cases):
            # Payloads alone have no outcome; what holds now is the one thing to compare with.
            if not config and not edited:
                raise click.UsageError("say what to compare with: --config, --edited or --against")
            then = Judge(_opener(None, False), run=run_hooks)
        now = Judge(_opener(config, edited), run=run_hooks)
        report = run(_replayed(cases, now, then, examples))
        if as_json:
            print_json({**to_builtins(report), "differs": report.differs})
        else:
            _print(report)
        if not report.judged:
            bare = (captures or jsonl) and report.unread
            hint = "; `--as DIALECT` says whose payloads they are" if bare else ""
            raise HooklineError(f"no event could be judged again{hint}")
    sys.exit(1 if report.differs else 0)


def _refuse_what_does_not_fit(
    captures: str | None, jsonl: str | None, dialect_of: str | None, given: Mapping[str, Any]
) -> None:
    if captures and jsonl:
        raise click.UsageError("--captures and --jsonl are two different places")
    context = click.get_current_context()
    counted = context.get_parameter_source("limit") is not ParameterSource.DEFAULT
    if (captures or jsonl) and (counted or any(value is not None for value in given.values())):
        raise click.UsageError("only the journal is searched: leave out what narrows it")
    if dialect_of is not None and not (captures or jsonl):
        raise click.UsageError("--as is for payloads: the journal knows whose its events are")


def _recorded(filters: Filter, dsn: str | None) -> list[Case]:
    """The newest events of the journal, the oldest of them first."""
    limit = filters.limit
    with opened(open_app().home, dsn) as reader:
        found = reader.query(replace(filters, limit=limit + 1))
    if len(found) > limit:
        click.echo(f"note: only the newest {limit} events; --limit says how many", err=True)
    return [case_of(each) for each in reversed(found[:limit])]


def _opener(config: str | None, edited: bool) -> Callable[[str], App]:
    """Opens an app for a project; for one that nobody here knows, that of the person's own."""
    here = open_app(config=os.path.abspath(config) if config else None, edited=edited)
    own = project_root(here.cwd, project_var=None)

    def open_for(project_dir: str) -> App:
        # Of a project that was removed, what was trusted there is still in force.
        known = os.path.isdir(project_dir) or any(
            here.loader.is_trusted(os.path.join(project_dir, name)) for name in NAMES
        )
        root = project_dir if project_dir and known else own
        return App(
            env=here.env,
            cwd=here.cwd,
            home=here.home,
            config=here.config,
            edited=edited,
            trust=here.env.get("HOOKLINE_TRUST") or None,
            root=root,
        )

    return open_for


def _captured(directory: str, dialect: str | None) -> Iterator[Case]:
    files = sorted(Path(directory).rglob("*.json"))
    if not files:
        raise HooklineError(f"`{directory}` has no file that ends in .json")
    for file in files:
        yield case_in(_read(file), str(file), dialect)


def _lines(file: str, dialect: str | None) -> Iterator[Case]:
    for number, line in enumerate(_read(Path(file)).splitlines(), 1):
        if line.strip():
            yield case_in(line, f"{file}:{number}", dialect)


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise HooklineError(f"`{file}` cannot be read: {error.strerror}") from error


async def _replayed(cases: list[Case], now: Judge, then: Judge | None, examples: int) -> Report:
    try:
        return await replay(cases, now, then, examples=examples)
    finally:
        await now.aclose()
        if then is not None:
            await then.aclose()


def _print(report: Report) -> None:
    for change in CHANGES:
        for each in report.differences:
            if each.change == change:
                _print_difference(each)
    counts = report.counts
    click.secho(f"Events judged again: {sum(counts.values())}", bold=True)
    _print_counts(counts)
    if any(report.approximate.values()):
        total = sum(report.approximate.values())
        click.secho(f"Approximate, since they were stored redacted or cut: {total}", bold=True)
        _print_counts(report.approximate)
    for why, count in report.skipped.items():
        click.echo(f"{count:>7} left out: {why}")
    for name, why in report.unread:
        click.secho(f"        {visible(name)}: {visible(why)}", dim=True)
    for note in report.notes:
        click.secho(f"note: {visible(note)}", fg="yellow")
    for label, hooks in (
        ("were not run and taken to say what they said then", report.recalled),
        (
            "were not run and counted as pass, since what they would say is not known",
            report.unknown,
        ),
    ):
        if hooks:
            names = ", ".join(f"{visible(name)} ({count})" for name, count in hooks.items())
            click.secho(f"note: hooks that {label}: {names}; --run runs them", fg="yellow")


def _print_counts(counts: dict[str, int]) -> None:
    for change, count in counts.items():
        if count:
            click.echo(f"{count:>7} {click.style(_WORDS[change], fg=_COLOURS.get(change))}")


def _print_difference(each: Difference) -> None:
    word = click.style(each.change, fg=_COLOURS[each.change], bold=True)
    doubts = ["approximate"] if each.approximate else []
    doubts += [f"{name} not run" for name in each.unknown]
    note = f"  ({visible(', '.join(doubts))})" if doubts else ""
    click.echo(f"{word}  {each.event}  {visible(each.subject)}{note}")
    click.secho(f"    {visible(each.name)}", dim=True)
    _print_side("was", each.was, each.now)
    _print_side("now", each.now, each.was)


def _print_side(label: str, side: Side, other: Side) -> None:
    by = f"  {visible(', '.join(side.by))}" if side.by else ""
    click.echo(f"    {label} {verdict_word(side.verdict)}{by}")
    for text in (*side.reasons, *(each for each in side.texts if each not in other.texts)):
        more = f"\n… and {len(text) - _SHOWN} more characters" if len(text) > _SHOWN else ""
        click.echo("        " + (visible(text[:_SHOWN]) + more).replace("\n", "\n        "))
