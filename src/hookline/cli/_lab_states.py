"""Whether a tool call ran, from what hookline wrote down before and after it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from hookline.lab.exchanges import Exchange

__all__ = ["states"]

_Events: TypeAlias = Sequence[Mapping[str, Any]]

_AFTER = {"post_tool_use": "ran", "post_tool_use_failure": "failed"}


def states(calls: Sequence[Exchange], events: _Events) -> tuple[str, ...]:
    """One word for each call: ``ran``, ``failed``, ``denied``, ``answered``, ``not answered``.

    What was said after a call counts before what was decided of it: a call that was denied and ran
    all the same has to be seen.
    """
    found = []
    for number, call in enumerate(calls):
        same = sum(each.arguments == call.arguments for each in calls[:number])
        found.append(_state(call, _about(call, same, events)))
    return tuple(found)


def _state(call: Exchange, own: _Events) -> str:
    for event in own:
        if event.get("event") in _AFTER:
            return "failed" if call.error else _AFTER[event["event"]]
    if any(event.get("verdict") in {"deny", "halt"} for event in own):
        return "denied"
    if call.told is None:
        return "not answered"
    return "failed" if call.error else "answered"


def _about(call: Exchange, same: int, events: _Events) -> _Events:
    """The events of a call: those with its id, or the n-th that have its arguments."""
    named = [each for each in events if call.id in _values(each)]
    if named or not call.arguments:
        return named
    alike = [each for each in events if call.arguments in _values(each)]
    begins = [n for n, each in enumerate(alike) if each.get("event") == "pre_tool_use"]
    if same >= len(begins):
        return ()
    end = begins[same + 1] if same + 1 < len(begins) else len(alike)
    return alike[begins[same] : end]


def _values(event: Mapping[str, Any]) -> list[Any]:
    payload = event.get("payload")
    return list(payload.values()) if isinstance(payload, Mapping) else []
