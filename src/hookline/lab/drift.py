"""What a newer client sends and does differently from the one that was recorded. Pure functions.

Knows recordings; must not know where they are, nor how differences are shown.

Absence proves nothing by itself: no script provokes every event, and a field may be there on some
occasions only. So what is missing counts when it should have been there: an event when a script
that provoked it was played again, a field when it was in every such payload. The rest is named as
not seen this time.

Recordings of ours and of others may stand side by side. What is in any of them is known, so it is
not new; but where there are any of ours, only they say what has to be there again.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.lab.recordings import ASKED, Recording, RecordingError
from hookline.lab.shapes import Shape, parent

__all__ = [
    "Difference",
    "Drift",
    "Kind",
    "compare",
    "compare_effects",
    "effects",
    "with_effects",
]


class Kind(StrEnum):
    """How two versions of a client differ."""

    NEW_EVENT = "new event"
    VANISHED_EVENT = "vanished event"
    NEW_FIELD = "new field"
    VANISHED_FIELD = "vanished field"
    CHANGED_TYPE = "changed type"
    NEW_VARIABLE = "new variable"
    VANISHED_VARIABLE = "vanished variable"
    NEW_EFFECT = "new effect"
    VANISHED_EFFECT = "vanished effect"
    CHANGED_EFFECT = "changed effect"
    # What says nothing about the client yet.
    EVENT_NOT_SEEN = "event not seen"
    FIELD_NOT_SEEN = "field not seen"
    EFFECT_NOT_SEEN = "effect not seen"
    TOOL_NOT_KNOWN = "tool not recorded before"
    SCENARIO_NOT_KNOWN = "scenario not played before"
    SCRIPTED = "asked for differently"

    @property
    def counts(self) -> bool:
        """Whether the client is different; otherwise only what was played is."""
        return self not in _NOTES


_NOTES = {
    Kind.EVENT_NOT_SEEN,
    Kind.FIELD_NOT_SEEN,
    Kind.EFFECT_NOT_SEEN,
    Kind.TOOL_NOT_KNOWN,
    Kind.SCENARIO_NOT_KNOWN,
    Kind.SCRIPTED,
}


class Difference(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that is not as it was."""

    kind: Kind
    event: str = ""
    tool: str = ""
    field: str = ""
    """The field, the variable, or the effect that it is about."""
    was: str = ""
    now: str = ""


class Drift(Struct, frozen=True, kw_only=True):
    """Everything that differs between two sets of recordings of one client."""

    client: str
    was: str
    """The version of the older recordings."""
    now: str
    differences: tuple[Difference, ...] = ()
    notes: tuple[Difference, ...] = ()
    """What was not provoked, or was scripted differently: no difference of the client's."""


def compare(old: Sequence[Recording], new: Sequence[Recording]) -> Drift:
    """What the newer recordings have that the older have not, and the other way round."""
    if {each.client for each in old} != {each.client for each in new}:
        was, now = (_named({each.client for each in side}) for side in (old, new))
        raise RecordingError(f"recordings of {was} and of {now} cannot be compared: one client")
    earlier = _played(old)
    # The other way round, too: a session that was not played before shows what nobody looked for.
    again = [
        each for each in new if not earlier or not each.recorded or earlier & set(each.scenarios)
    ]
    found = [
        *(each for each in _compared(old, again) if each.kind in _OF_NEW),
        *(each for each in _compared(old, new) if each.kind not in _OF_NEW),
        *(
            Difference(kind=Kind.SCENARIO_NOT_KNOWN, field=name)
            for name in sorted(_played(new) - earlier if earlier else ())
        ),
    ]
    return Drift(
        client=_named({each.client for each in new}),
        was=_named({each.version for each in old}),
        now=_named({each.version for each in new}),
        differences=tuple(each for each in found if each.kind.counts),
        notes=tuple(each for each in found if not each.kind.counts),
    )


_OF_NEW = {
    Kind.NEW_EVENT,
    Kind.NEW_FIELD,
    Kind.NEW_VARIABLE,
    Kind.CHANGED_TYPE,
    Kind.TOOL_NOT_KNOWN,
}


def _compared(old: Sequence[Recording], new: Sequence[Recording]) -> Iterator[Difference]:
    before, after = _by_event(old), _by_event(new)
    yield from _events(before, after)
    for event in (each for each in before if each in after):
        yield from _fields(event, before[event], after[event])
        yield from _tools(event, before[event], after[event])
        yield from _variables(event, before[event], after[event])


# ── events ──────────────────────────────────────────────────────────────────────────────────


def _events(
    before: Mapping[str, Sequence[Recording]], after: Mapping[str, Sequence[Recording]]
) -> Iterator[Difference]:
    for event in (each for each in after if each not in before):
        yield Difference(kind=Kind.NEW_EVENT, event=event)
    played = {name for recordings in after.values() for name in _played(recordings)}
    for event in (each for each in before if each not in after):
        again = sorted(_played(before[event]) & played)
        if again:
            was = f"seen in {', '.join(again)}"
            yield Difference(kind=Kind.VANISHED_EVENT, event=event, was=was)
        else:
            yield Difference(kind=Kind.EVENT_NOT_SEEN, event=event)


def _played(recordings: Iterable[Recording]) -> set[str]:
    """The scripts of ours that provoked these; another recorder's names are no promise."""
    return {name for each in _ours(recordings) for name in each.scenarios}


def _ours(recordings: Iterable[Recording]) -> list[Recording]:
    """Those that were made with the scripts there still are."""
    return [each for each in recordings if each.recorded]


# ── fields ──────────────────────────────────────────────────────────────────────────────────


def _fields(event: str, old: Sequence[Recording], new: Sequence[Recording]) -> Iterator[Difference]:
    """What every tool's payload of an event has around what is the tool's own."""
    known, promised, after = (
        Shape(each.around for each in side) for side in (old, _ours(old) or old, new)
    )
    yield from _own_fields(event, "", known, promised, after, inside=False)


def _tools(event: str, old: Sequence[Recording], new: Sequence[Recording]) -> Iterator[Difference]:
    """What each tool was asked, and what it answered."""
    before, after = _by_tool(old), _by_tool(new)
    for tool in after:
        if tool and tool not in before:
            yield Difference(kind=Kind.TOOL_NOT_KNOWN, event=event, tool=tool)
    for tool in (each for each in before if each in after):
        ours = _ours(before[tool])
        known, promised, now = (
            Shape(each.own for each in side)
            for side in (before[tool], ours or before[tool], after[tool])
        )
        for found in _own_fields(event, tool, known, promised, now, inside=True):
            # With the same scripts the model asks the same: only then is it the client's doing.
            asked = found.field.partition(".")[0] in ASKED
            scripted = asked and not ours and found.kind is not Kind.CHANGED_TYPE
            yield replace(found, kind=Kind.SCRIPTED) if scripted else found


def _own_fields(
    event: str, tool: str, known: Shape, promised: Shape, after: Shape, *, inside: bool
) -> Iterator[Difference]:
    """What one of both has alone: with ``inside``, only below the top."""
    for path in _there_is_a_place_for(known, after):
        if parent(path) or not inside:
            now = after.said(path)
            yield Difference(kind=Kind.NEW_FIELD, event=event, tool=tool, field=path, now=now)
    for path in _there_is_a_place_for(after, known):
        if parent(path) or not inside:
            kind = Kind.VANISHED_FIELD if promised.is_always_there(path) else Kind.FIELD_NOT_SEEN
            was = known.said(path)
            yield Difference(kind=kind, event=event, tool=tool, field=path, was=was)
    yield from _types(event, tool, known, after)


def _there_is_a_place_for(here: Shape, there: Shape) -> Iterator[str]:
    """Fields only there, of objects that are here too; of a new object only the object itself."""
    for path in there:
        if path not in here and not path.endswith("]") and here.has_object(parent(path)):
            yield path


def _types(event: str, tool: str, before: Shape, after: Shape) -> Iterator[Difference]:
    for path in (each for each in before if each in after):
        was, now = before.types[path], after.types[path]
        # A field that was empty so far had no type yet.
        if now <= was or was == {"null"}:
            continue
        yield Difference(
            kind=Kind.CHANGED_TYPE,
            event=event,
            tool=tool,
            field=path,
            was=before.said(path),
            now=after.said(path),
        )


# ── what the client sets for its hooks ──────────────────────────────────────────────────────


def _variables(
    event: str, old: Sequence[Recording], new: Sequence[Recording]
) -> Iterator[Difference]:
    """Names that the client adds to the environment; another recorder did not tell them apart."""
    ours, theirs = _ours(old), _ours(new)
    if not ours or not theirs:
        return
    before, after = ([set(each.env_added) for each in side] for side in (ours, theirs))
    for name in sorted(set().union(*after) - set().union(*before)):
        yield Difference(kind=Kind.NEW_VARIABLE, event=event, field=name)
    for name in sorted(set.intersection(*before) - set().union(*after)):
        yield Difference(kind=Kind.VANISHED_VARIABLE, event=event, field=name)


# ── sorting ─────────────────────────────────────────────────────────────────────────────────


def _by_event(recordings: Iterable[Recording]) -> Mapping[str, Sequence[Recording]]:
    found: dict[str, list[Recording]] = defaultdict(list)
    for each in recordings:
        found[each.event].append(each)
    return found


def _by_tool(recordings: Iterable[Recording]) -> Mapping[str, Sequence[Recording]]:
    found: dict[str, list[Recording]] = defaultdict(list)
    for each in recordings:
        found[each.tool].append(each)
    return found


def _named(words: Iterable[str]) -> str:
    return ", ".join(sorted(words))


# What a report says of an effect that nobody saw, this way or that.
_UNSEEN = {"not observed", "skipped"}


def effects(report: bytes, name: str) -> Mapping[str, str]:
    """What each line of a ``hookline verify --json`` report says. Raises RecordingError."""
    try:
        lines = msgspec.json.decode(report, type=_Report).lines
    except msgspec.DecodeError as error:
        wanted = "expected what `hookline verify --json` prints"
        raise RecordingError(f"`{name}` is no report of effects: {error}; {wanted}") from error
    return {each.id: each.state for each in lines}


class _Line(Struct, frozen=True):
    id: str
    state: str


class _Report(Struct, frozen=True):
    lines: tuple[_Line, ...]


def compare_effects(old: Mapping[str, str], new: Mapping[str, str]) -> Sequence[Difference]:
    """Which effects are others than they were; the kind says whether that counts."""
    return [
        Difference(kind=_effect(was, now), field=effect, was=was, now=now)
        for effect in dict.fromkeys((*old, *new))
        if (was := old.get(effect, "")) != (now := new.get(effect, ""))
    ]


def _effect(was: str, now: str) -> Kind:
    if was in _UNSEEN or now in _UNSEEN:
        return Kind.EFFECT_NOT_SEEN
    if not was:
        return Kind.NEW_EFFECT
    return Kind.CHANGED_EFFECT if now else Kind.VANISHED_EFFECT


def with_effects(drift: Drift, found: Sequence[Difference]) -> Drift:
    """The drift with what differs in effects."""
    return replace(
        drift,
        differences=(*drift.differences, *(each for each in found if each.kind.counts)),
        notes=(*drift.notes, *(each for each in found if not each.kind.counts)),
    )
