"""``hookline log``: the events that were written down, one line each."""

import os
import time
from contextlib import suppress
from typing import Any

import click
from msgspec.structs import replace

from hookline.cli._journal import (
    JournalReader,
    dsn_option,
    filter_options,
    opened,
    verdict_word,
    wanted,
)
from hookline.cli._output import print_json
from hookline.explaining.recorded import as_json, deciders
from hookline.journals import journal_file
from hookline.model.errors import HooklineError
from hookline.model.journal import Recorded
from hookline.model.text import visible
from hookline.opening import open_app
from hookline.store.journal.filters import Filter

__all__ = ["command"]

_POLL = 0.2
_AT_ONCE = 500
_LONGEST = 90


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
    home = open_app().home
    filters = wanted(given, limit=limit)
    try:
        with opened(home, dsn) as reader:
            newest = reader.query(Filter(limit=1))
            found = list(reversed(reader.query(filters)))
    except HooklineError:
        if not follow:
            raise
        newest, found = [], []  # it may be that nothing was written down yet
    for recorded in found:
        _print(recorded, lines)
    if follow:
        after = max((each.seq for each in (*newest, *found)), default=0)
        _Follower(home, dsn, replace(filters, after_seq=after, limit=_AT_ONCE), lines).follow()
    elif not found and not lines:
        click.echo("No such event has been written down.", err=True)


class _Follower:
    """Prints new events as they are written."""

    def __init__(self, home: str, dsn: str | None, filters: Filter, lines: bool) -> None:
        self._home = home
        self._dsn = dsn
        self._filters = filters
        self._lines = lines

    def follow(self) -> None:
        """Until the person has seen enough."""
        try:
            while True:
                place = self._place()
                # What cannot be read now may be there again, or for the first time, in a moment.
                with suppress(HooklineError), opened(self._home, self._dsn) as reader:
                    self._read(reader, place)
                time.sleep(_POLL)
        except KeyboardInterrupt:
            return

    def _read(self, reader: JournalReader, place: int) -> None:
        """What comes, while the journal is the one that was opened."""
        newest = reader.query(Filter(limit=1))
        if not newest or newest[0].seq < (self._filters.after_seq or 0):
            self._filters = replace(self._filters, after_seq=0)
        seen: int | None = None
        while self._place() == place:
            version = reader.version()
            if version != seen:
                seen = version
                self._print_new(reader)
            time.sleep(_POLL)

    def _print_new(self, reader: JournalReader) -> None:
        while found := reader.query(self._filters):
            for recorded in found:
                _print(recorded, self._lines)
            self._filters = replace(self._filters, after_seq=found[-1].seq)

    def _place(self) -> int:
        """Which file it is: one that was found damaged is set aside, and a new one begun."""
        try:
            return 0 if self._dsn else os.stat(journal_file(self._home)).st_ino
        except OSError:
            return 0


def _print(recorded: Recorded, lines: bool) -> None:
    if lines:
        print_json(as_json(recorded), pretty=False)
        return
    when = click.style(f"{recorded.at.astimezone():%Y-%m-%d %H:%M:%S}", dim=True)
    by = ", ".join(dict.fromkeys(run.hook for run in deciders(recorded)))
    decided = f"  {click.style(visible(by), fg='cyan')}" if by else ""
    tool = f"{recorded.tool_name} " if recorded.tool_name != recorded.subject else ""
    about = " ".join(visible(f"{tool}{recorded.subject or recorded.failure}").split())
    about = about if len(about) <= _LONGEST else f"{about[: _LONGEST - 1]}…"
    machine = f"{visible(recorded.machine):<12}  " if recorded.machine else ""
    click.echo(
        f"{when}  {verdict_word(recorded.verdict, 6)}  {recorded.event or '(unreadable)':<19}  "
        f"{machine}{visible(recorded.dialect):<12} {recorded.ns / 1e6:8.2f} ms  "
        f"{click.style(visible(recorded.id), dim=True)}  {about}{decided}"
    )
