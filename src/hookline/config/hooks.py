"""The entries under ``hooks:``, one at a time: checked against everything known, and compiled.

Knows what keys mean together. Leaves files to ``compile``, and to each handler its own values.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from hookline.config.document import Document, brief
from hookline.config.exceptions import (
    Except,
    Partly,
    compile_exception,
    exception_flaws,
    subjects,
)
from hookline.config.firing import (
    Flaw,
    bad_patterns,
    find_event,
    never_fires,
    unknown_dialects,
)
from hookline.config.matchers import compile_match
from hookline.config.schema import (
    ENV_NAME,
    ExceptEntry,
    Format,
    HookEntry,
    MatchEntry,
    field_of,
)
from hookline.config.types import Kit, Narrowing
from hookline.model.errors import ConfigError, IllegalValueError, Problem
from hookline.model.events import EVENTS, Other
from hookline.model.hook import (
    DEFAULT_PRIORITY,
    DEFAULT_TIMEOUT,
    HandlerSpec,
    Hook,
    Layer,
    OnError,
    Source,
)
from hookline.model.ports import BuiltinModule, HandlerModule, Matcher

if TYPE_CHECKING:
    from hookline.config.patterns import Screen

__all__ = ["Entry", "HookCompiler", "Report", "seconds"]

T = TypeVar("T")

_USE = "use"
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(ms|s|m|h)")
_ENV_NAME = re.compile(ENV_NAME)

# Keys of every hook that some handlers have no use for: what they would change is not there.
_IDLE = {
    "env": ({"rule", "builtin"}, "it starts no program and calls no address"),
    "pins": ({"rule", "builtin", "http", "judge"}, "it runs no file"),
    "speaks": (
        {"rule", "builtin", "python", "judge"},
        "it has no answer to read in another dialect",
    ),
    "timeout": ({"rule"}, "it answers at once"),
}


class Report:
    """The problems found in one file."""

    def __init__(self, doc: Document) -> None:
        self.doc = doc
        self.problems: list[Problem] = []

    def add(self, path: Sequence[str | int], message: str, hint: str = "") -> None:
        """One more, on the line of the key or item at this path."""
        self.problems.append(Problem(self.doc.file, self.doc.line(*path), message, hint))


class Entry(Struct, frozen=True):
    """One entry: the keys that could be read, and all that were written."""

    index: int
    keys: HookEntry
    written: Mapping[str, Any]

    def at(self, *path: str | int) -> tuple[str | int, ...]:
        """The path of a part of this entry in its file."""
        return ("hooks", self.index, *path)

    @property
    def is_narrowing(self) -> bool:
        """Whether it only adds exceptions to hooks that are written elsewhere."""
        return "except" in self.written and self.written.keys() <= {"name", "except"}


class _Chosen(Struct, frozen=True):
    """The handler that an entry chose."""

    kind: str
    module: HandlerModule
    values: dict[str, Any]
    builtin: BuiltinModule | None = None


class HookCompiler:
    """Compiles the entries of one file; what is wrong with them goes to the report."""

    def __init__(
        self, report: Report, form: Format, kit: Kit, layer: Layer, project_dir: str
    ) -> None:
        self.report = report
        self.form = form
        self.kit = kit
        self.layer = layer
        self.project_dir = project_dir

    def compile(self, entry: Entry) -> Hook | Narrowing | None:
        """The hook without a name if it was given none, or None when it cannot be one."""
        self._check_words(entry)
        if entry.is_narrowing:
            return self._narrowing(entry)
        chosen = self._handler(entry)
        events = self._events(entry, chosen)
        timeout = self._timeout(entry)
        match = self._match(entry, chosen, events)
        if chosen is None or not events:
            return None
        keys = entry.keys
        builtin = chosen.builtin
        guard = builtin.GUARD if builtin else any(EVENTS[event].gate for event in events)
        # What a judge did not see must not be shown either, where it could have been hidden.
        closes = guard or (chosen.kind == "judge" and any(EVENTS[event].hides for event in events))
        closes = _or(keys.guard, closes)
        guard = _or(keys.guard, guard)
        hook = Hook(
            name=_or(keys.name, ""),
            events=events,
            native_names=self._native_names(entry),
            handler=HandlerSpec(chosen.kind, chosen.values),
            match=match,
            priority=_or(keys.priority, builtin.PRIORITY if builtin else DEFAULT_PRIORITY),
            timeout=timeout,
            on_error=_or(keys.on_error, OnError.BLOCK if closes else OnError.WARN),
            guard=guard,
            always=keys.always,
            mode=keys.mode,
            source=Source(self.report.doc.file, self.report.doc.line(*entry.at()), self.layer),
            project_dir=self.project_dir,
            env=tuple(keys.env),
            speaks=_or(keys.speaks, "canonical"),
            pins=tuple(keys.pins),
        )
        for problem in chosen.module.check(chosen.values, hook, self.kit.services):
            self.report.add(entry.at(problem.key), problem.message, problem.hint)
        return hook

    @cached_property
    def _screen(self) -> "Screen":
        """One for all patterns of the file; many files have none."""
        from hookline.config.patterns import Screen

        return Screen()

    def _check_words(self, entry: Entry) -> None:
        keys = entry.keys
        if keys.name is not UNSET and not (keys.name.strip() and keys.name.isprintable()):
            self.report.add(entry.at("name"), "`name` must be a line of text that one can read")
        for index, variable in enumerate(keys.env):
            if not _ENV_NAME.fullmatch(variable):
                hint = "write the names alone; values come from the caller"
                message = f"`{brief(variable)}` is not the name of a variable"
                self.report.add(entry.at("env", index), message, hint)
        if keys.speaks is not UNSET:
            self._known(entry.at("speaks"), self.kit.services.codec, keys.speaks)

    def _known(self, path: Sequence[str | int], look_up: Any, name: str) -> Any:
        """What ``look_up`` finds under this name, or None after a report."""
        try:
            return look_up(name)
        except ConfigError as error:
            for problem in error.problems:
                self.report.add(path, problem.message, problem.hint)
            return None

    def _narrowing(self, entry: Entry) -> Narrowing | None:
        if "name" not in entry.written:
            hint = "add the name of the hook that it narrows, or a handler"
            self.report.add(entry.at(), "`except` alone says not of which hook", hint)
        exceptions = self._exceptions(entry, MatchEntry(), ())
        if entry.keys.name is UNSET:
            return None
        line = self.report.doc.line(*entry.at())
        return Narrowing(entry.keys.name, exceptions, line)

    def _handler(self, entry: Entry) -> _Chosen | None:
        """The one handler with its values, or None when it is not clear or not whole."""
        found = [key for key in entry.written if key in self.form.owners]
        if not found:
            # A misspelt key has been reported already, and may well be the one that is missing.
            if entry.written.keys() <= self.form.known:
                hint = f"it takes one of {', '.join(self.form.owners)}"
                self.report.add(entry.at(), "the hook has no handler", hint)
            return None
        first, *others = found
        kind = self.form.owners[first]
        module = self.kit.handlers[kind]
        strangers = [key for key in others if self.form.owners[key] != kind or not module.COMBINES]
        for key in strangers:
            message = f"`{key}` and `{first}` are two handlers, and a hook has one"
            self.report.add(entry.at(key), message, "split it into two hooks")
        self._check_extras(entry, first, kind)
        values = self._values(entry, kind)
        if strangers or not all(key in values for key in found):
            return None
        if _USE not in values:
            return _Chosen(kind, module, values)
        builtin = self._known(entry.at(_USE), self.kit.services.builtin, values[_USE])
        return _Chosen(kind, module, values, builtin) if builtin is not None else None

    def _check_extras(self, entry: Entry, first: str, kind: str) -> None:
        for key in entry.written:
            partners = self.form.partners.get(key, ())
            if partners and key not in self.form.keys[kind]:
                hint = f"it goes with {' or '.join(f'`{partner}`' for partner in partners)}"
                self.report.add(entry.at(key), f"`{key}` means nothing beside `{first}`", hint)
            kinds, why = _IDLE.get(key, ((), ""))
            if kind in kinds:
                message = f"`{key}` means nothing beside `{first}`: {why}"
                self.report.add(entry.at(key), message, "leave it out")

    def _values(self, entry: Entry, kind: str) -> dict[str, Any]:
        """The handler's keys that could be read, those that chose it first."""
        own = [key for key in entry.written if key in self.form.keys[kind]]
        own.sort(key=lambda key: key not in self.form.owners)
        values = {key: getattr(entry.keys, field_of(key)) for key in own}
        return {key: value for key, value in values.items() if value is not UNSET}

    def _events(self, entry: Entry, chosen: _Chosen | None) -> tuple[str, ...]:
        """The events, or none when they cannot be known."""
        builtin = chosen.builtin if chosen is not None else None
        if entry.keys.on is UNSET:
            if builtin is not None:
                return builtin.EVENTS
            if "on" not in entry.written and _USE not in entry.written:
                hint = "say which event it is for, such as `on: pre_tool_use`"
                self.report.add(entry.at(), "the key `on` is missing", hint)
            return ()
        # Which of them a builtin can do something on, its handler knows.
        found = [
            self._known(entry.at("on", *at), self._find_event, name)
            for at, name in _each_name(entry.keys.on)
        ]
        return tuple(dict.fromkeys(found)) if all(found) else ()

    def _find_event(self, name: str) -> str:
        return find_event(name, self.kit.native_events)

    def _native_names(self, entry: Entry) -> Mapping[str, str]:
        names = () if isinstance(entry.keys.on, UnsetType) else _each_name(entry.keys.on)
        known = self.kit.native_events
        # What is no event at all is reported as that.
        own = [name for _, name in names if name not in EVENTS and len(known().get(name, ())) == 1]
        return {name: self._find_event(name) for name in own}

    def _timeout(self, entry: Entry) -> float:
        if entry.keys.timeout is UNSET:
            return DEFAULT_TIMEOUT
        try:
            return seconds(entry.keys.timeout)
        except IllegalValueError as error:
            self.report.add(entry.at("timeout"), str(error), "write 500ms, 10s or 2m")
            return DEFAULT_TIMEOUT

    def _match(
        self, entry: Entry, chosen: _Chosen | None, events: tuple[str, ...]
    ) -> Matcher | None:
        spec = self._narrow_other(entry, _or(entry.keys.match, MatchEntry()), events)
        self._check_reach(entry, ("match",), spec, events)
        every = chosen is not None and _holds(chosen, "every_command")
        partly = chosen is not None and _holds(chosen, "asks_about_parts")
        screen = self._screen if any(spec.patterns()) else None
        match: Matcher | None = None
        try:
            compiled = partial(compile_match, spec, project_dir=self.project_dir, screen=screen)
            match = whole = compiled(every=every)
            if partly and whole and (part := compiled(every=False)):
                match = Partly(whole, part)
        except IllegalValueError:
            self._report_flaws(entry.at("match"), bad_patterns(spec, every=every))
        exceptions = self._exceptions(entry, spec, events)
        return Except(match, exceptions) if exceptions else match

    def _narrow_other(self, entry: Entry, spec: MatchEntry, events: tuple[str, ...]) -> MatchEntry:
        """The condition, which holds for those events alone that `on` names by a platform's name
        and that have no canonical one.
        """
        names = [
            name for name, event in self._native_names(entry).items() if event == Other.event_id()
        ]
        if not names or not events or spec.native is not UNSET:
            return spec
        if isinstance(entry.keys.on, list) and len(names) < len(entry.keys.on):
            hint = "give it a hook of its own"
            self.report.add(entry.at("on"), f"`{names[0]}` has no canonical event", hint)
        return replace(spec, native=names)

    def _check_reach(
        self, entry: Entry, path: tuple[str | int, ...], spec: MatchEntry, events: tuple[str, ...]
    ) -> None:
        chosen = entry.keys.on is not UNSET and path == ("match",)
        flaws = never_fires(spec, events, chosen=chosen, known_tools=self.kit.known_tools)
        self._report_flaws(entry.at(*path), flaws)
        for index, word in unknown_dialects(spec, self.kit.dialects):
            self._known(entry.at(*path, "dialect", index), self.kit.services.codec, word)

    def _exceptions(
        self, entry: Entry, match: MatchEntry, events: tuple[str, ...]
    ) -> tuple[Matcher, ...]:
        about, clock = subjects(match), self.kit.clock
        found: list[Matcher] = []
        for at, each in _each_exception(entry.keys.except_):
            path: tuple[str | int, ...] = ("except", *at)
            if isinstance(each, ExceptEntry):
                self._check_reach(entry, path, each, events)
            try:
                found.append(
                    compile_exception(each, about=about, project_dir=self.project_dir, clock=clock)
                )
            except IllegalValueError:
                self._report_flaws(entry.at(*path), exception_flaws(each, about=about))
        return tuple(found)

    def _report_flaws(self, base: Sequence[str | int], flaws: Iterable[Flaw]) -> None:
        for path, message, hint in flaws:
            self.report.add((*base, *path), message, hint)


def seconds(value: float | str) -> float:
    """A timeout in seconds. Raises IllegalValueError."""
    if isinstance(value, str):
        found = _DURATION.fullmatch(value)
        if found is None:
            raise IllegalValueError(f"`{brief(value)}` is no length of time")
        number = float(found[1]) * _UNITS[found[2]]
    else:
        number = float(value)
    if number <= 0:
        raise IllegalValueError("`timeout` must be more than 0 seconds")
    return number


def _holds(chosen: _Chosen, predicate: str) -> bool:
    """What the handler says about itself, if it says anything."""
    says = getattr(chosen.module, predicate, None)
    return says is not None and bool(says(chosen.values))


def _each_exception(
    written: str | ExceptEntry | list[str | ExceptEntry] | UnsetType,
) -> Iterator[tuple[tuple[int, ...], str | ExceptEntry]]:
    if isinstance(written, list):
        for index, each in enumerate(written):
            yield (index,), each
    elif not isinstance(written, UnsetType):
        yield (), written


def _each_name(on: str | list[str]) -> list[tuple[tuple[int, ...], str]]:
    return [((), on)] if isinstance(on, str) else [((at,), name) for at, name in enumerate(on)]


def _or(value: T | UnsetType, otherwise: T) -> T:
    return otherwise if isinstance(value, UnsetType) else value
