"""Compares what ``hookline verify`` saw two versions of a client do."""

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.lab.drift import Difference, Drift, Kind
from hookline.lab.recordings import RecordingError

__all__ = ["compare_effects", "effects", "with_effects"]

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
