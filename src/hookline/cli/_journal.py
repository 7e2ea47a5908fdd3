"""What commands that read the journal share: which one, which events of it, and their verdicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Protocol, TypeVar

import click

from hookline import registry
from hookline.cli._output import verdict_word as coloured
from hookline.explaining.times import moment
from hookline.journals import journal_file
from hookline.model.errors import HooklineError, UnknownNameError, nearest
from hookline.model.events import EVENTS
from hookline.model.journal import Recorded
from hookline.model.text import visible
from hookline.model.tools import ToolKind
from hookline.model.verdicts import Verdict
from hookline.opening import open_app
from hookline.store.journal.filters import Filter

__all__ = [
    "JournalReader",
    "chosen",
    "dsn_option",
    "filter_options",
    "known_dialect",
    "opened",
    "verdict_word",
    "wanted",
]

F = TypeVar("F", bound=Callable[..., Any])

_FAILED = "failed"  # in place of a verdict, where an event could not be judged


class JournalReader(Protocol):
    """A journal, wherever it is kept."""

    def find(self, name: str) -> Recorded:
        """The event with this id, or the only one whose id begins so. Raises HooklineError."""

    def query(self, wanted: Filter) -> Sequence[Recorded]:
        """The newest first; after a given one, the oldest first. Raises HooklineError."""

    def version(self) -> int:
        """A number that changes when something was written. Raises HooklineError."""


def dsn_option(command: F) -> F:
    """``--dsn``."""
    words = "Read the journal of many machines from this PostgreSQL database."
    return click.option("--dsn", metavar="DSN", help=words)(command)


def filter_options(command: F) -> F:
    """The options that say which events are meant."""
    for option in reversed(
        [
            click.option("--session", help="Of this session; the beginning of its id will do."),
            click.option("--event", callback=_event, help="The event, such as pre_tool_use."),
            click.option(
                "--verdict",
                type=click.Choice([*(each.value for each in Verdict), _FAILED]),
                help="What came out.",
            ),
            click.option(
                "--tool", help=f"The tool's own name, or {', '.join(ToolKind)}; in any case."
            ),
            click.option("--hook", metavar="NAME", help="Only where this hook ran."),
            click.option(
                "--dialect", callback=known_dialect, help="Of this platform, such as claude-code."
            ),
            click.option(
                "--since", callback=_moment, help="Not before 30m, 2h or 3d ago, a day, or a time."
            ),
            click.option(
                "--until", callback=_moment, help="Not after; as for --since, a day as a whole."
            ),
            click.option("--text", metavar="WORD", help="With this text anywhere in it."),
        ]
    ):
        command = option(command)
    return command


def _event(ctx: click.Context, param: click.Parameter, event: str | None) -> str | None:
    if event is not None and event not in EVENTS:
        hint = nearest(event, EVENTS) or "`hookline matrix --events` lists them"
        raise click.BadParameter(f"no event is called `{visible(event)}`; {hint}")
    return event


def known_dialect(ctx: click.Context, param: click.Parameter, name: str | None) -> str | None:
    """For an option that takes a platform. Raises BadParameter for one that there is not."""
    try:
        if name is not None:
            registry.dialect(name)
    except UnknownNameError as error:
        known = ", ".join(registry.dialect_names())
        message = f"no platform is called `{visible(name or '')}`; known: {known}"
        raise click.BadParameter(message) from error
    return name


def _moment(ctx: click.Context, param: click.Parameter, text: str | None) -> datetime | None:
    now = datetime.now().astimezone()
    try:
        return None if text is None else moment(text, now, end=param.name == "until")
    except HooklineError as error:
        raise click.BadParameter(str(error)) from error


def wanted(given: Mapping[str, Any], *, limit: int) -> Filter:
    """The filter that the options spell out. Raises UsageError where nothing can match it."""
    since, until = given.get("since"), given.get("until")
    if since is not None and until is not None and since > until:
        raise click.UsageError("--since is later than --until: no event can be in between")
    keys = [key for key in Filter.__struct_fields__ if given.get(key) is not None]
    return Filter(**{key: given[key] for key in keys}, limit=limit)


@contextmanager
def opened(home: str, dsn: str | None) -> Iterator[JournalReader]:
    """The journal of a state directory, or of many machines. Raises HooklineError."""
    from hookline.store.journal.reader import NoJournal, Reader

    if dsn is not None:
        from hookline.store.journal.postgres_reader import PostgresReader

        reader: Reader | PostgresReader = PostgresReader(dsn)
    else:
        try:
            reader = Reader(journal_file(home))
        except NoJournal as error:
            raise _switched_off(home) or error from error
    try:
        yield reader
    finally:
        reader.close()


def _switched_off(home: str) -> HooklineError | None:
    """Why there will be no journal; None when there will be one."""
    app = open_app()
    try:
        config = app.loader.load(app.cwd, app.cwd)
    except HooklineError:
        return None
    if config.journal.enabled:
        return None
    places = (each.file for each in config.files if each.journal == config.journal)
    return HooklineError(
        f"there is no journal at {journal_file(home)}, and none will begin: `journal.enabled` is "
        f"false in {next(places, 'the config')}"
    )


def chosen(
    reader: JournalReader, event_id: str | None, *, last: bool, session: str | None
) -> Recorded:
    """The event a person means: by its id, or the last that has something to explain."""
    if event_id is not None:
        return reader.find(event_id)
    for telling in (False,) if last else (True, False):
        found = reader.query(Filter(session=session, telling=telling, limit=1))
        if found:
            return found[0]
    of = f" of session `{session}`" if session else ""
    raise HooklineError(f"no event{of} has been written down yet")


def verdict_word(verdict: str, width: int = 0) -> str:
    """The verdict in its colour; ``failed`` where there was none."""
    if verdict in set(Verdict):
        return coloured(Verdict(verdict), width)
    return click.style(f"{visible(verdict):<{width}}", fg="red", bold=True)
