"""The entries of one Cursor file, and every mistake among them.

Cursor is closed source: where nobody has said what it does with a mistake, the entry is kept as
one that fails, under what the entry itself says of failure.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.dialects._entries import number
from hookline.dialects._located import Located
from hookline.dialects._patterns import is_pattern
from hookline.dialects.cursor import DIALECT
from hookline.model.errors import nearest
from hookline.model.native import NativeEntry, NativeFlaw, Voids

__all__ = ["Reading"]

_TYPES = ("command", "prompt")
_ENTRY_KEYS = {"type", "command", "timeout", "matcher", "failClosed"}
_SLOW = 1000


class Reading:
    """One pass over a file; the mistakes found are in ``flaws``."""

    def __init__(self) -> None:
        self.flaws: list[NativeFlaw] = []

    def events(self, root: Located) -> Iterator[NativeEntry]:
        """Every entry."""
        if root.get("version") not in (None, 1):
            message = "`version` must be 1: of any other nothing is known"
            self._flaw(root.line_of("version"), message, 'write `"version": 1`', Voids.NOTHING)
        events = root.members.get("hooks", Located({}, root.line))
        if not isinstance(events.value, dict):
            self._flaw(events.line, "`hooks` must be an object of events", "", Voids.FILE)
        for event, entries in events.members.items():
            unknown = ""
            if DIALECT.support.find(event) is None:
                hint = nearest(event, DIALECT.support.events)
                unknown = self._flaw(
                    entries.line, f"Cursor has no event `{event}`, and nothing there runs", hint
                )
            elif not isinstance(entries.value, list):
                self._flaw(entries.line, f"`{event}` must be a list of hooks")
            for entry in entries.items:
                yield self._entry(event, entry, unknown)

    def _entry(self, event: str, entry: Located, flaw: str) -> NativeEntry:
        said: Mapping[str, Any] = entry.plain() if isinstance(entry.value, dict) else {}
        kind, command, matcher = (said.get(key) for key in ("type", "command", "matcher"))
        flaw = flaw or self._mistake(entry, said)
        return NativeEntry(
            event=event,
            type=kind if isinstance(kind, str) else "command",
            command=command if isinstance(command, str) else "",
            matcher=matcher if isinstance(matcher, str) else None,
            timeout=self._timeout(entry, said),
            fails_closed=True if said.get("failClosed") is True else None,
            options={key: value for key, value in said.items() if key not in _ENTRY_KEYS},
            line=entry.line,
            flaw=flaw,
        )

    def _mistake(self, entry: Located, said: Mapping[str, Any]) -> str:
        kind, matcher = said.get("type", "command"), said.get("matcher")
        needed = "prompt" if kind == "prompt" else "command"
        if not isinstance(entry.value, dict):
            return self._flaw(entry.line, "a hook must be an object")
        if "hooks" in said:
            hint = "put `matcher` beside `command`"
            return self._flaw(entry.line, "Cursor's hooks stand in no groups", hint)
        if kind not in _TYPES:
            message = f"`type` is one of {', '.join(_TYPES)}, not `{kind}`"
            return self._flaw(entry.line_of("type"), message)
        if not isinstance(said.get(needed), str) or not said[needed].strip():
            return self._flaw(entry.line_of(needed), f"the hook has no `{needed}`")
        if matcher is not None and not isinstance(matcher, str):
            return self._flaw(entry.line_of("matcher"), "`matcher` must be a text")
        if matcher and matcher != "*" and not is_pattern(matcher):
            line = entry.line_of("matcher")
            return self._flaw(line, f"the matcher `{matcher}` is no regex")
        if not isinstance(said.get("failClosed", False), bool):
            return self._flaw(entry.line_of("failClosed"), "`failClosed` must be true or false")
        return ""

    def _timeout(self, entry: Located, said: Mapping[str, Any]) -> float | None:
        if said.get("timeout") is None:
            return None
        given, line = number(said["timeout"]), entry.line_of("timeout")
        if given is None or given <= 0:
            message = "`timeout` must be a number of seconds above 0"
            self._flaw(line, message, "", Voids.NOTHING)
            return None
        if given >= _SLOW:
            message = f"`timeout` is in seconds: this is {given / 60:.0f} minutes"
            self._flaw(line, message, f"write {given / 1000:g}", Voids.NOTHING)
        return given

    def _flaw(self, line: int, message: str, hint: str = "", voids: Voids = Voids.ENTRY) -> str:
        self.flaws.append(NativeFlaw(line, message, hint, voids))
        return message
