"""``except``, compiled: when a hook that matches stays silent after all; and partial matches.

Knows conditions only as something that holds or not; nothing of hooks, files or layers.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeAlias, cast

from msgspec import UNSET

from hookline.config.firing import Flaw, bad_patterns
from hookline.config.matchers import Conditions, pattern_flaw
from hookline.config.schema import ExceptEntry, MatchEntry
from hookline.config.types import utc_now
from hookline.model.errors import IllegalValueError
from hookline.model.events import Event, PostToolBatch
from hookline.model.ports import Caller, Match, Matcher

__all__ = ["Clock", "Except", "Partly", "compile_exception", "exception_flaws", "subjects"]

Clock: TypeAlias = Callable[[], datetime]

_ANY = Match()


class Except:
    """A condition that holds unless an exception does."""

    __slots__ = ("_exceptions", "_match")

    def __init__(self, match: Matcher | None, exceptions: Sequence[Matcher]) -> None:
        self._match = match
        self._exceptions = tuple(exceptions)

    def identity(self) -> object:
        """Equal for equal conditions with equal exceptions."""
        match = self._match.identity() if self._match is not None else None
        return match, frozenset(exception.identity() for exception in self._exceptions)

    def find(self, event: Event, caller: Caller) -> Match | None:
        """The match, or None when there is none or an exception holds."""
        found = self._match.find(event, caller) if self._match is not None else _ANY
        if found is None or any(each.find(event, caller) for each in self._exceptions):
            return None
        return found

    def can_hold(self, key: str, words: Sequence[str]) -> bool:
        """Whether a key of the condition holds for one of these words."""
        can_hold = getattr(self._match, "can_hold", None)
        return can_hold is None or bool(can_hold(key, words))

    def why_not(self, event: Event, caller: Caller) -> str:
        """Which keys of the condition do not hold, or which exception does; empty for a match."""
        match = self._match
        if match is not None and match.find(event, caller) is None:
            why_not = getattr(match, "why_not", None)
            return why_not(event, caller) if why_not else "its condition does not hold"
        held = (each for each in self._exceptions if each.find(event, caller))
        return next((f"an exception holds: {_described(each)}" for each in held), "")


class Partly:
    """A condition on all of an event that tells when it holds for a part of it."""

    __slots__ = ("_part", "_whole")

    def __init__(self, whole: Conditions, part: Conditions) -> None:
        self._whole = whole
        self._part = part

    def identity(self) -> object:
        """Equal for equal keys."""
        return self._whole.identity()

    def can_hold(self, key: str, words: Sequence[str]) -> bool:
        """Whether a key holds for one of these words."""
        return self._whole.can_hold(key, words)

    def find(self, event: Event, caller: Caller) -> Match | None:
        """The match of all, else of a part where a person can be asked about that."""
        found = self._whole.find(event, caller)
        if found is not None or not event.asks:
            return found
        found = self._part.find(event, caller)
        return None if found is None else Match(found.path, self._part.parts(event, caller))

    def why_not(self, event: Event, caller: Caller) -> str:
        """Which keys do not hold, in words for people; empty when all of them do."""
        return (self._part if event.asks else self._whole).why_not(event, caller)


class _Until:
    """A condition that stops holding at a given time."""

    __slots__ = ("_clock", "_end", "_match")

    def __init__(self, match: Matcher, end: datetime, clock: Clock) -> None:
        self._match = match
        self._end = end
        self._clock = clock

    def identity(self) -> object:
        return self._match.identity(), self._end

    def find(self, event: Event, caller: Caller) -> Match | None:
        return self._match.find(event, caller) if self._clock() < self._end else None


class _Bare:
    """A glob that says not what it is about: the command where there is one, else the paths."""

    __slots__ = ("_command", "_path")

    def __init__(self, command: Matcher, path: Matcher) -> None:
        self._command = command
        self._path = path

    def identity(self) -> object:
        return self._command.identity(), self._path.identity()

    def find(self, event: Event, caller: Caller) -> Match | None:
        acts = event.calls if type(event) is PostToolBatch else (getattr(event, "tool", event),)
        has_command = any(getattr(each, "command", None) is not None for each in acts)
        return (self._command if has_command else self._path).find(event, caller)


def _described(exception: Matcher) -> str:
    """The exception as a person wrote it, and when it ends."""
    match exception:
        case _Until():
            return f"{_described(exception._match)}, until {exception._end:%Y-%m-%d %H:%M %Z}"
        case _Bare():
            return _described(exception._command).removeprefix("command ")
        case Conditions():
            keys = cast(tuple[Mapping[str, frozenset[str]]], exception.identity())[0]
            return ", ".join(
                f"{key} {' or '.join(f'`{each}`' for each in sorted(sources))}"
                for key, sources in sorted(dict(keys).items())
            )
        case _:
            return "one without words"


def subjects(match: MatchEntry) -> tuple[str, ...]:
    """What a bare glob is about, beside this ``match``: ``command``, ``path``, or either."""
    given = dict(match.patterns())
    return tuple(key for key in ("command", "path") if key in given) or ("command", "path")


def compile_exception(
    entry: ExceptEntry | str, *, about: Sequence[str], project_dir: str, clock: Clock = utc_now
) -> Matcher:
    """The exception: it holds only for all of a command, or for every path.

    ``about`` is what a bare glob may be about. Raises IllegalValueError.
    """
    if isinstance(entry, str):
        found = [_strict({key: (entry,)}, project_dir) for key in _readings(entry, about)]
        return found[0] if len(found) == 1 else _Bare(*found)
    given = dict(entry.patterns())
    if not given:
        raise IllegalValueError(_NO_CONDITION)
    match = _strict(given, project_dir)
    return match if entry.until is UNSET else _Until(match, _end_of(entry.until), clock)


def exception_flaws(entry: ExceptEntry | str, *, about: Sequence[str]) -> Iterator[Flaw]:
    """Everything that keeps the entry from being an exception."""
    if isinstance(entry, str):
        flaws = [pattern_flaw(key, entry, every=True) for key in _readings(entry, about)]
        yield from (((), flaw, "") for flaw in flaws[:1] if flaw)
        return
    if not dict(entry.patterns()):
        yield (), _NO_CONDITION, ""
    yield from bad_patterns(entry, every=True)
    if entry.until is not UNSET:
        try:
            _end_of(entry.until)
        except IllegalValueError as error:
            yield ("until",), str(error), ""


_NO_CONDITION = "an exception without a condition would silence the hook for good"


def _readings(glob: str, about: Sequence[str]) -> Sequence[str]:
    """``about``, without the path where a command was clearly meant."""
    from hookline.config.patterns import looks_like_directory

    no_path = len(about) > 1 and pattern_flaw("path", glob, every=True)
    if not no_path:
        return about
    return ("path",) if looks_like_directory(glob) else ("command",)


def _strict(given: Mapping[str, tuple[str, ...]], project_dir: str) -> Conditions:
    return Conditions(given, every=True, project_dir=project_dir)


def _end_of(until: str) -> datetime:
    """The moment at which ``until:`` is over: a day is over when it begins, in UTC."""
    try:
        end = datetime.fromisoformat(until)
    except ValueError:
        end = None
    if end is not None and len(until) == len("2026-12-01"):
        return end.replace(tzinfo=UTC)
    if end is None or end.tzinfo is None:
        raise IllegalValueError(
            f"`{until}` is no day such as 2026-12-01 and no time such as 2026-12-01T18:00:00Z"
        )
    return end
