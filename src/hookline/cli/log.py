"""``hookline log``: the events that were written down, one line each."""

import os
import time
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import click
from msgspec.structs import replace

from hookline.app import open_app
from hookline.cli._failing import complain
from hookline.cli._journal import (
    dsn_option,
    filter_options,
    opened,
    verdict_word,
    wanted,
)
from hookline.cli._output import print_json
from hookline.explaining.recorded import as_json, deciders, event_of
from hookline.explaining.replies import substitutions
from hookline.model.answers import Verdict
from hookline.model.errors import HooklineError
from hookline.model.journal import Recorded
from hookline.model.text import visible
from hookline.pipeline.parts import journal_file
from hookline.store.journal.reader import Filter, NoJournal, Queries

__all__ = ["command"]

_POLL = 0.2
_AT_ONCE = 500
_LONGEST = 90
_LASTING = 2

Place: TypeAlias = tuple[int, int] | None


@click.command("log")
@filter_options
@click.option(
    "-n",
    "limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="At most so many, the newest.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on with new events until Ctrl-C.")
@dsn_option
@click.option("--json", "lines", is_flag=True, help="One JSON object per line.")
def command(limit: int, follow: bool, dsn: str | None, lines: bool, **given: Any) -> None:
    """Show what was written down of events, the newest last.

    \b
      hookline log --verdict deny --since 2h
      hookline log -f --tool shell
    """
    if follow and given["until"] is not None:
        raise click.UsageError(
            "-f shows what is still to come, and --until ends before it: leave out one of them"
        )
    home = open_app().home
    filters = wanted(given, limit=limit)
    if follow:
        _Follower(home, dsn, filters, lines).follow()
        return
    with opened(home, dsn) as reader:
        found = reader.query(filters)
    for recorded in reversed(found):
        _print(recorded, lines)
    if not found and not lines:
        click.echo("No such event has been written down.", err=True)


class _Follower:
    """Prints the newest events, and then new ones as they are written."""

    def __init__(self, home: str, dsn: str | None, filters: Filter, lines: bool) -> None:
        self._file = None if dsn else journal_file(home)
        self._home = home
        self._dsn = dsn
        self._filters = filters
        self._lines = lines
        self._after: int | None = None
        """The number behind which events are new; None before any were read."""
        self._last = ""
        """The id of the event with that number, by which a journal is known again."""
        self._place: Place = None
        """Where the journal was when it was last there."""
        self._failures = 0

    def follow(self) -> None:
        """Until the person has seen enough."""
        while True:
            self._look()
            time.sleep(_POLL)

    def _look(self) -> None:
        """Reads the journal that is there now, for as long as it is that one."""
        place, before = self._where(), self._place
        if place is not None:
            self._place = place
            if before is not None and place != before and self._after is not None:
                self._after = 0  # in another file the numbers begin again
        if self._file and place is None and (self._after is not None or self._has_complained):
            return  # a new one may begin
        try:
            with opened(self._home, self._dsn) as reader:
                self._read(reader, place)
        except NoJournal as error:
            if self._after is None:
                click.echo(f"waiting: {visible(str(error))}", err=True)
                self._after = 0  # all that will be in it is new
        except HooklineError as error:
            self._complain(error)

    @property
    def _has_complained(self) -> bool:
        return self._failures >= _LASTING

    def _complain(self, error: HooklineError) -> None:
        """Once; and not of what is over in a moment, such as a journal that is being made."""
        self._failures += 1
        if self._failures == _LASTING:
            complain(str(error))

    def _read(self, reader: Queries, place: Place) -> None:
        """What comes, while the journal is the one that was opened."""
        if self._where() != place:
            return  # it was replaced before it was opened
        if self._after is None:
            newest, found = reader.query(Filter(limit=1)), reader.query(self._filters)
            for recorded in reversed(found):
                _print(recorded, self._lines)
            self._after = 0
            self._go_on_from((*found, *newest))
        seen: int | None = None
        while self._where() == place:
            version = reader.version()
            if version != seen:
                seen = version
                self._print_new(reader, self._after)
            self._failures = 0
            time.sleep(_POLL)

    def _print_new(self, reader: Queries, after: int) -> None:
        newest = reader.query(Filter(limit=1))
        if not newest or newest[0].seq < after or self._is_another(reader, after):
            self._after = after = 0  # it was emptied, or is a new one in the place of the old
        while found := reader.query(replace(self._filters, after_seq=after, limit=_AT_ONCE)):
            for recorded in found:
                _print(recorded, self._lines)
            after = found[-1].seq
            self._go_on_from(found)
        # Behind what the filter left out, too: it need not be looked at again.
        self._go_on_from(newest)

    def _is_another(self, reader: Queries, after: int) -> bool:
        """Whether the event that was read last is not the one with its number here."""
        found = reader.query(Filter(after_seq=after - 1, limit=1)) if after else ()
        return bool(found) and found[0].seq == after and found[0].id != self._last

    def _go_on_from(self, events: Sequence[Recorded]) -> None:
        """Behind the newest of these, unless that was passed already."""
        last = max(events, key=lambda each: each.seq, default=None)
        if last is not None and last.seq > (self._after or 0):
            self._after, self._last = last.seq, last.id

    def _where(self) -> Place:
        """Which file it is: one that was found damaged is set aside, and a new one begun."""
        if self._file is None:
            return None
        try:
            found = os.stat(self._file)
        except OSError:
            return None
        return found.st_dev, found.st_ino


def _print(recorded: Recorded, lines: bool) -> None:
    if lines:
        print_json(as_json(recorded), pretty=False)
        return
    when = click.style(f"{recorded.at.astimezone():%Y-%m-%d %H:%M:%S}", dim=True)
    by = ", ".join(dict.fromkeys(run.hook for run in deciders(recorded)))
    decided = f"  {click.style(visible(by), fg='cyan')}" if by else ""
    marks = "".join(f"  {click.style(mark, fg='yellow')}" for mark in _marks(recorded))
    tool = f"{recorded.tool_name} " if recorded.tool_name != recorded.subject else ""
    about = " ".join(visible(f"{tool}{recorded.subject or recorded.failure}").split())
    about = about if len(about) <= _LONGEST else f"{about[: _LONGEST - 1]}…"
    machine = f"{visible(recorded.machine):<12}  " if recorded.machine else ""
    click.echo(
        f"{when}  {verdict_word(recorded.verdict, 6)}  {recorded.event or '(unreadable)':<19}  "
        f"{machine}{visible(recorded.dialect):<12} {recorded.ns / 1e6:8.2f} ms  "
        f"{click.style(visible(recorded.id), dim=True)}  {about}{decided}{marks}"
    )


def _marks(recorded: Recorded) -> Iterator[str]:
    """What the verdict does not tell."""
    if recorded.answer.get("rewrite") and _is_rewritten(recorded):
        yield "rewritten"
    failed = len({(run.hook, run.source) for run in recorded.runs if run.failed is not None})
    if failed:
        yield f"{failed} hook{'s' if failed > 1 else ''} failed"


def _is_rewritten(recorded: Recorded) -> bool:
    """Whether a rewrite reached the client: nothing was held back, also not in place of it."""
    changes = substitutions(recorded, event_of(recorded).event)
    said_otherwise = any(each.was.startswith("rewrite.") for each in changes)
    return not said_otherwise and recorded.verdict not in {Verdict.DENY, Verdict.HALT}
