"""Conditions that are no patterns, and conditions that no event can ever meet.

Knows which fields events and tools carry; nothing of files or handlers.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TypeAlias

from hookline.config.matchers import CARRIED_BY, pattern_flaw
from hookline.config.schema import MatchEntry
from hookline.config.types import NativeEvents
from hookline.model.errors import (
    ConfigError,
    IllegalValueError,
    Problem,
    nearest,
)
from hookline.model.events import EVENTS
from hookline.model.tools import CANONICAL_TOOLS, KIND_FIELDS, ToolKind

__all__ = ["Flaw", "bad_patterns", "find_event", "never_fires", "unknown_dialects"]

Flaw: TypeAlias = tuple[tuple[str | int, ...], str, str]
"""Where in a ``match``, what is wrong, and what to write instead."""

_KINDS = {kind.value: kind for kind in ToolKind}
_TOOL_FIELDS = ("command", "path", "url", "mcp")
_EXACT = "`/^name$/` matches a platform's own tool by its exact name"


def find_event(name: str, natives: Callable[[], NativeEvents]) -> str:
    """The canonical event that is called so, here or on a platform. Raises ConfigError."""
    if name in EVENTS:
        return name
    known = natives()
    meant = known.get(name, {})
    if len(meant) == 1:
        return next(iter(meant))
    if not meant:
        message, hint = f"no event is called `{name}`", nearest(name, [*EVENTS, *known])
        raise ConfigError([Problem("", 0, message, hint)])
    each = (f"`{event}` ({', '.join(dialects)})" for event, dialects in sorted(meant.items()))
    message = f"`{name}` means {' or '.join(each)}"
    raise ConfigError([Problem("", 0, message, "write the one that is meant")])


def bad_patterns(match: MatchEntry, *, every: bool) -> Iterator[Flaw]:
    """Every pattern that is none."""
    for key, sources in match.patterns():
        for index, source in enumerate(sources):
            if flaw := pattern_flaw(key, source, every=every):
                yield (key, index), flaw, ""


def never_fires(
    match: MatchEntry, events: Sequence[str], *, chosen: bool, known_tools: Collection[str]
) -> Iterator[Flaw]:
    """Every part that no event can meet.

    Events that a person has ``chosen`` must all be able to; of a builtin's own one is enough.
    """
    given = dict(match.patterns())
    for key in given:
        yield from _missing_field(key, events, chosen=chosen)
    wanted = [key for key in _TOOL_FIELDS if key in given]
    for index, source in enumerate(given.get("tool", ())):
        kind = _kind(source)
        if kind is not None:
            yield from _missing_in_kind(source, kind, wanted)
        elif not _may_be_a_tool(source, known_tools):
            hint = nearest(source, [*_KINDS, *CANONICAL_TOOLS.rows, *known_tools])
            hint = f"{hint} {_EXACT}" if hint else f"a kind is one of {', '.join(_KINDS)}; {_EXACT}"
            yield ("tool", index), f"no tool is called `{source}`", hint


def unknown_dialects(
    match: MatchEntry, known: Callable[[], Collection[str]]
) -> Iterator[tuple[int, str]]:
    """Every word under ``dialect`` that is not known, with its index; a plug-in may have it."""
    for index, source in enumerate(dict(match.patterns()).get("dialect", ())):
        if _is_word(source) and source not in known():
            yield index, source


def _missing_field(key: str, events: Sequence[str], *, chosen: bool) -> Iterator[Flaw]:
    carried_by = CARRIED_BY[key]
    missing = [event for event in events if event not in carried_by]
    if missing and (chosen or len(missing) == len(events)):
        names = ", ".join(f"`{event}`" for event in missing)
        yield (key,), f"{names} never has a `{key}`", f"events that have one: {_list(carried_by)}"


def _missing_in_kind(source: str, kind: ToolKind, wanted: Sequence[str]) -> Iterator[Flaw]:
    for key in wanted:
        if key not in KIND_FIELDS[kind]:
            kinds = [str(other) for other, fields in KIND_FIELDS.items() if key in fields]
            message = f"the tool `{source}` never has a `{key}`"
            yield (key,), message, f"kinds of tools that have one: {_list(kinds)}"


def _kind(source: str) -> ToolKind | None:
    if source in _KINDS:
        return _KINDS[source]
    row = CANONICAL_TOOLS.rows.get(source)
    return row.kind if row is not None else None


def _may_be_a_tool(source: str, known_tools: Collection[str]) -> bool:
    # What is no pattern at all is reported as that.
    return source in known_tools or source.startswith("mcp__") or not _is_word(source)


def _is_word(source: str) -> bool:
    """Whether a pattern can match one text only."""
    from hookline.config.globs import is_glob
    from hookline.config.patterns import is_regex

    if is_regex(source):
        return False
    try:
        return not is_glob(source)
    except IllegalValueError:
        return False


def _list(names: Collection[str]) -> str:
    return ", ".join(sorted(names))
