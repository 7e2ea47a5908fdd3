"""What commands that read the journal share: which one, which events of it, and their verdicts."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import click

from hookline import registry
from hookline.app import open_app
from hookline.cli._output import verdict_word as coloured
from hookline.model.answers import Verdict
from hookline.model.errors import HooklineError, UnknownNameError, nearest
from hookline.model.events import EVENTS
from hookline.model.journal import Recorded
from hookline.model.text import visible
from hookline.model.tools import ToolKind
from hookline.pipeline.parts import journal_file
from hookline.store.journal.reader import Filter, Queries

__all__ = [
    "chosen",
    "dsn_option",
    "filter_options",
    "known_dialect",
    "known_event",
    "moment",
    "opened",
    "verdict_word",
    "wanted",
]

F = TypeVar("F", bound=Callable[..., Any])

_FAILED = "failed"  # in place of a verdict, where an event could not be judged


def dsn_option(command: F) -> F:
    """``--dsn``."""
    words = "Read the journal of many machines from this PostgreSQL database."
    return click.option("--dsn", metavar="DSN", help=words)(command)


def filter_options(command: F) -> F:
    """The options that say which events are meant."""
    for option in reversed(
        [
            click.option("--session", help="Of this session; the beginning of its id will do."),
            click.option("--event", callback=known_event, help="The event, such as pre_tool_use."),
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


def known_event(ctx: click.Context, param: click.Parameter, event: str | None) -> str | None:
    """For an option that takes an event. Raises BadParameter for one that there is not."""
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
def opened(home: str, dsn: str | None) -> Iterator[Queries]:
    """The journal of a state directory, or of many machines. Raises HooklineError."""
    from hookline.store.journal.reader import JournalReader, NoJournal

    if dsn is not None:
        from hookline.store.journal.postgres import PostgresReader

        reader: Queries = PostgresReader(dsn)
    else:
        try:
            reader = JournalReader(journal_file(home))
        except NoJournal as error:
            raise _switched_off(home) or error from error
    with reader:
        yield reader


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


def chosen(reader: Queries, event_id: str | None, *, last: bool, session: str | None) -> Recorded:
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


_AGO = re.compile(r"(\d{1,6})\s*(s|m|h|d|w)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_TIME = re.compile(r"\d{4}(-?)\d\d\1\d\d[Tt ].+")


def moment(text: str, now: datetime, *, end: bool = False) -> datetime:
    """The moment meant by ``2h``, ``3d``, ``2026-12-01`` or ``2026-12-01T18:00``.

    A time without a zone is that of clocks here, at that time of the year. A day alone is its
    first moment, or with ``end`` its last. Raises HooklineError.
    """
    text = text.strip()
    found = _AGO.fullmatch(text)
    try:
        if found:
            return now - timedelta(**{_UNITS[found[2]]: int(found[1])})
        return _written(text, end)
    except (ValueError, OverflowError):
        raise HooklineError(
            f"`{text}` is no time: write 30m, 2h or 3d for so long ago, a day such as 2026-12-01, "
            "or a time such as 2026-12-01T18:00"
        ) from None


def _written(text: str, end: bool) -> datetime:
    """Raises ValueError, also for a week: that is no day, though Python takes it for its Monday."""
    is_day = _DAY.fullmatch(text)
    if not is_day and not _TIME.fullmatch(text):
        raise ValueError(text)
    given = datetime.fromisoformat(text)
    if not end or not is_day:
        return given if given.tzinfo is not None else _here(given)
    if given.date() == datetime.max.date():
        return datetime.max.replace(tzinfo=UTC)
    return _here(given + timedelta(days=1)) - timedelta(microseconds=1)


def _here(given: datetime) -> datetime:
    """By the clocks here; by UTC at both ends of the calendar, where there may be no such time."""
    try:
        return given.astimezone()
    except (ValueError, OverflowError):
        return given.replace(tzinfo=UTC)
