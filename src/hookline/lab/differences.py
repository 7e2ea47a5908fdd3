"""The nouns of a drift report: how two versions of a client differ, and whether that counts."""

from enum import StrEnum

from msgspec import Struct

__all__ = ["Difference", "Drift", "Kind"]


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
