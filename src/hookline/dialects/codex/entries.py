"""The entries of one Codex file, and every mistake among them with what Codex makes of it."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.dialects._entries import number
from hookline.dialects._located import Located
from hookline.dialects._patterns import is_pattern
from hookline.dialects.codex import DIALECT
from hookline.model.errors import nearest
from hookline.model.native import NativeEntry, NativeFlaw, Voids

__all__ = ["NAME_LIST", "Reading", "is_matcher"]

_TYPES = ("command", "mcp_tool", "prompt", "agent")
_TEXTS = ("command", "commandWindows", "command_windows", "statusMessage", "server", "tool")
_UNMATCHED = {"UserPromptSubmit", "Stop"}
# What a session or a turn ends with is given a moment: the least it has, and the most.
_MOMENT = (1.0, 3.0)
_MOMENTARY = {"SessionEnd", "Interrupt"}
_PLUGIN_VARIABLES = ("PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")
_ENTRY_KEYS = {"type", "command", "timeout", "async"}
_NEEDED: Mapping[str, tuple[str, ...]] = {"command": ("command",), "mcp_tool": ("server", "tool")}
NAME_LIST = re.compile(r"[A-Za-z0-9_|]*")
"""A matcher of these characters is a list of names; with any other it is a regex."""
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


class Reading:
    """One pass over a file; the mistakes found are in ``flaws``."""

    def __init__(self, path: str) -> None:
        self.flaws: list[NativeFlaw] = []
        self._path = path
        folder = os.path.dirname(path)
        is_plugin = os.path.basename(folder) == "hooks"
        self._plugin = os.path.dirname(folder) if is_plugin else ""

    def events(self, events: Located, *, state: bool) -> tuple[NativeEntry, ...]:
        """Every entry; ``state`` for a file in which the hooks' state stands beside them."""
        if not isinstance(events.value, dict):
            self._void(events.line, "`hooks` must be an object of events")
            return ()
        beside = {"state", "managed_dir", "windows_managed_dir"} if state else set()
        return tuple(
            entry
            for event, groups in events.members.items()
            if event not in beside
            for entry in self._event(event, groups)
        )

    def _event(self, event: str, groups: Located) -> Iterator[NativeEntry]:
        unknown = ""
        if DIALECT.support.find(event) is None:
            unknown = f"Codex has no event `{event}`, and ignores what stands under it"
            hint = nearest(event, DIALECT.support.events)
            self.flaws.append(NativeFlaw(groups.line, unknown, hint or "", Voids.ENTRY))
        elif not isinstance(groups.value, list):
            self._void(groups.line, f"`{event}` must be a list of groups")
        for index, group in enumerate(groups.items):
            yield from self._group(event, index, group, unknown)

    def _group(self, event: str, index: int, group: Located, flaw: str) -> Iterator[NativeEntry]:
        handlers = group.members.get("hooks", Located([], group.line))
        matcher = group.get("matcher")
        if not isinstance(group.value, dict) or not isinstance(handlers.value, list):
            self._void(group.line, f"a group of `{event}` must be an object with a list `hooks`")
        elif not isinstance(matcher, str | None):
            self._void(group.line_of("matcher"), "`matcher` must be a text")
        elif matcher and event not in _UNMATCHED and not is_matcher(matcher):
            line = group.line_of("matcher")
            flaw = flaw or f"the matcher `{matcher}` is no regex, so Codex skips its group"
            self.flaws.append(NativeFlaw(line, flaw, "write `*` for everything", Voids.ENTRY))
        for place, handler in enumerate(handlers.items):
            key = f"{self._path}:{_snake(event)}:{index}:{place}"
            yield self._entry(event, str(index), matcher, handler, key, flaw)

    def _entry(
        self, event: str, group: str, matcher: Any, handler: Located, key: str, flaw: str
    ) -> NativeEntry:
        said = handler.plain() if isinstance(handler.value, dict) else {}
        flaw = flaw or self._flaw(event, handler, said)
        command = said.get("command")
        kind = said.get("type")
        return NativeEntry(
            event=event,
            type=kind if isinstance(kind, str) else "unknown",
            command=self._expanded(command) if isinstance(command, str) else "",
            matcher=matcher if isinstance(matcher, str) else None,
            timeout=self._timeout(event, handler, said),
            env=dict.fromkeys(_PLUGIN_VARIABLES, self._plugin) if self._plugin else {},
            background=self._background(event, handler, said),
            group=group,
            options={"key": key, **{k: v for k, v in said.items() if k not in _ENTRY_KEYS}},
            line=handler.line,
            flaw=flaw,
        )

    def _flaw(self, event: str, handler: Located, said: Mapping[str, Any]) -> str:
        """Why Codex runs neither this entry nor, in most cases, any other of the file."""
        kind = said.get("type")
        void = self._type_mistake(handler, said)
        if void:
            return self._void(*void)
        blank = next((key for key in _NEEDED.get(str(kind), ()) if not said[key].strip()), "")
        if blank:
            return self._skip(handler.line_of(blank), f"`{blank}` is blank")
        if kind in {"prompt", "agent"}:
            return self._skip(handler.line, f"Codex does not run hooks of type `{kind}` yet")
        if kind == "mcp_tool" and event == "SessionEnd":
            return self._skip(handler.line, "Codex runs no `mcp_tool` on SessionEnd")
        return ""

    def _type_mistake(
        self, handler: Located, said: Mapping[str, Any]
    ) -> tuple[int, str] | tuple[()]:
        if not isinstance(handler.value, dict):
            return handler.line, "a hook must be an object"
        kind = said.get("type")
        if kind not in _TYPES:
            known = ", ".join(_TYPES)
            return handler.line_of("type"), f"`type` is one of {known}, not `{kind}`"
        for key in _NEEDED.get(kind, ()):
            if key not in said:
                return handler.line, f"a hook of type `{kind}` needs `{key}`"
        for key in _TEXTS:
            if key in said and not isinstance(said[key], str):
                return handler.line_of(key), f"`{key}` must be a text"
        for key in ("timeout", "additionalContextLimit"):
            value = said.get(key)
            if value is not None and not _is_count(value):
                return handler.line_of(key), f"`{key}` must be a whole number, 0 or more"
        if not isinstance(said.get("async", False), bool):
            return handler.line_of("async"), "`async` must be true or false"
        return ()

    def _timeout(self, event: str, handler: Located, said: Mapping[str, Any]) -> float | None:
        given = number(said.get("timeout"))
        if event not in _MOMENTARY:
            return None if given is None else max(given, 1.0)
        low, high = _MOMENT
        if given is not None and not low <= given <= high:
            message = f"Codex gives {event} {low:g} to {high:g} seconds, whatever is written"
            line = handler.line_of("timeout")
            self.flaws.append(NativeFlaw(line, message, "", Voids.NOTHING))
        return low if given is None else min(max(given, low), high)

    def _background(self, event: str, handler: Located, said: Mapping[str, Any]) -> bool:
        asked = said.get("async") is True
        if asked and event == "SessionEnd":
            message = "Codex waits for hooks of SessionEnd, `async` or not"
            line = handler.line_of("async")
            self.flaws.append(NativeFlaw(line, message, "leave `async` out", Voids.NOTHING))
            return False
        return asked

    def _expanded(self, command: str) -> str:
        """A plugin's own folder is written into the command before a shell sees it."""
        if not self._plugin:
            return command
        for name in _PLUGIN_VARIABLES:
            command = command.replace(f"${{{name}}}", self._plugin)
        return command

    def _void(self, line: int, message: str) -> str:
        hint = "Codex skips the whole file for it"
        self.flaws.append(NativeFlaw(line, message, hint, Voids.FILE))
        return message

    def _skip(self, line: int, message: str) -> str:
        self.flaws.append(NativeFlaw(line, message, "Codex skips this hook", Voids.ENTRY))
        return message


def is_matcher(matcher: str) -> bool:
    """Whether Codex can use this: everything, a list of names, or a regex."""
    return matcher == "*" or bool(NAME_LIST.fullmatch(matcher)) or is_pattern(matcher)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64


def _snake(event: str) -> str:
    return _CAPITAL.sub("_", event).lower()
