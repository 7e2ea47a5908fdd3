"""The entries of one Copilot file, and every mistake among them with what Copilot makes of it."""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from hookline.dialects._copilot.names import camel_name, is_pascal
from hookline.dialects._entries import number, texts
from hookline.dialects._located import Located
from hookline.dialects._patterns import is_pattern
from hookline.model.errors import nearest
from hookline.model.native import NativeEntry, NativeFlaw, Voids
from hookline.model.support import Support

__all__ = ["EVERYTHING", "MATCHED", "Reading", "added_variables", "by_claude_rules"]

MATCHED = {"preToolUse", "postToolUse", "permissionRequest"} | {
    "notification",
    "preCompact",
    "subagentStart",
}
"""Events on which a matcher is read."""
EVERYTHING = ("*", "**")
_CLAUDE_RULES = {"preToolUse", "permissionRequest"}
_TYPES = ("command", "http", "prompt")
_OBJECTS = ("env", "headers")
_VARIABLE = re.compile(r"\$(\w+)")
_PLUGIN_VARIABLES = ("PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT")
_KEPT = ("prompt", "allowedEnvVars", "powershell")
_ELSEWHERE = "it has a `powershell` command only, which does not run on this system"


def by_claude_rules(entry: NativeEntry) -> bool:
    """Whether its matcher reads as Claude Code's would: in a group, or under its event names."""
    pascal = is_pascal(entry.event) and camel_name(entry.event) in _CLAUDE_RULES
    return bool(entry.group) or pascal


def added_variables(path: str) -> dict[str, str]:
    """What Copilot tells the hooks of a file about its place."""
    # A place may be a folder of such files.
    folder = path if path.endswith("/hooks") else os.path.dirname(path)
    added = {"COPILOT_HOOK_DIR": folder}
    if "/installed-plugins/" in path:
        root = os.path.dirname(folder) if os.path.basename(folder) == "hooks" else folder
        added |= dict.fromkeys(_PLUGIN_VARIABLES, root)
    return added


class Reading:
    """One pass over a file; the mistakes found are in ``flaws``."""

    def __init__(self, path: str, support: Support) -> None:
        self.flaws: list[NativeFlaw] = []
        self._support = support
        # In settings one bad entry takes all hooks along; in a folder of hooks only itself.
        self._voids = Voids.FILE if is_settings(path) else Voids.ENTRY
        self._env = added_variables(path)

    def events(self, root: Located) -> Iterator[NativeEntry]:
        """Every entry."""
        if root.get("version") not in (None, 1):
            line = root.line_of("version")
            self._flaw(line, "`version` must be 1", "Copilot rejects the file", Voids.FILE)
        events = root.members.get("hooks", Located({}, root.line))
        if not isinstance(events.value, dict):
            self._flaw(events.line, "`hooks` must be an object of events", "", Voids.FILE)
        for event, items in events.members.items():
            unknown = ""
            if self._support.find(event) is None:
                message = f"{self._support.client} has no event `{event}`, and ignores it"
                hint = nearest(event, self._support.events)
                unknown = self._flaw(items.line, message, hint, Voids.ENTRY)
            elif not isinstance(items.value, list):
                hint = "Copilot rejects the file"
                self._flaw(items.line, f"`{event}` must be a list", hint, Voids.FILE)
            for index, item in enumerate(items.items):
                yield from self._item(event, f"{event}:{index}", item, unknown)

    def _item(self, event: str, group: str, item: Located, flaw: str) -> Iterator[NativeEntry]:
        inner = item.members.get("hooks")
        if inner is None:
            yield self._entry(event, item, item, "", flaw)
            return
        if not isinstance(inner.value, list):
            self._flaw(inner.line, "`hooks` must be a list")
        for each in inner.items:
            yield self._entry(event, each, item, group, flaw)

    def _entry(
        self, event: str, item: Located, matched: Located, group: str, flaw: str
    ) -> NativeEntry:
        said: Mapping[str, Any] = item.plain() if isinstance(item.value, dict) else {}
        kind, cwd, matcher = said.get("type", "command"), said.get("cwd"), matched.get("matcher")
        flaw = flaw or self._mistake(event, item, said)
        fine = flaw in ("", _ELSEWHERE)
        entry = NativeEntry(
            event=event,
            type=kind if isinstance(kind, str) else "unknown",
            command="" if flaw else _command(said),
            url="" if flaw else str(said.get("url", "")),
            matcher=matcher if isinstance(matcher, str) else None,
            timeout=number(said.get("timeoutSec", said.get("timeout"))) if fine else None,
            directory=cwd if isinstance(cwd, str) else "",
            env={**self._env, **(texts(said.get("env")) or {})},
            group=group,
            options={key: said[key] for key in _KEPT if key in said},
            line=item.line,
            flaw=flaw,
            elsewhere=flaw == _ELSEWHERE,
        )
        headers = texts(said.get("headers"))
        if headers:
            written = {name: _VARIABLE.sub(r"${\1}", value) for name, value in headers.items()}
            entry = replace(entry, options={**entry.options, "headers": written})
        if flaw or "matcher" not in matched.members:
            return entry
        return replace(entry, flaw=self._matcher_mistake(entry, matcher, matched))

    def _matcher_mistake(self, entry: NativeEntry, matcher: Any, item: Located) -> str:
        line = item.line_of("matcher")
        if not isinstance(matcher, str | None):
            return self._flaw(line, "`matcher` must be a text")
        if matcher is None or camel_name(entry.event) not in MATCHED:
            return ""
        if by_claude_rules(entry):
            fine = matcher in EVERYTHING or (
                not entry.group if not matcher else is_pattern(matcher)
            )
        else:
            fine = bool(matcher) and is_pattern(matcher)
        if fine:
            return ""
        message = f"Copilot skips this hook: the matcher `{matcher}` is none"
        return self._flaw(line, message, "leave `matcher` out to match everything", Voids.ENTRY)

    def _mistake(self, event: str, item: Located, said: Mapping[str, Any]) -> str:
        """Why Copilot drops the entry."""
        kind = said.get("type", "command")
        if not isinstance(item.value, dict):
            return self._flaw(item.line, "a hook must be an object")
        if kind not in _TYPES:
            message = f"`type` is one of {', '.join(_TYPES)}, not `{kind}`"
            return self._flaw(item.line_of("type"), message)
        for key in _OBJECTS:
            if texts(said.get(key, {})) is None:
                return self._flaw(item.line_of(key), f"`{key}` must be an object of texts")
        for key in ("timeoutSec", "timeout"):
            given = number(said.get(key, 1))
            if given is None or given <= 0:
                message = f"`{key}` must be a number of seconds above 0"
                return self._flaw(item.line_of(key), message)
        if not isinstance(said.get("cwd", ""), str):
            return self._flaw(item.line_of("cwd"), "`cwd` must be a text")
        return {"command": self._no_command, "http": self._bad_url, "prompt": self._bad_prompt}[
            kind
        ](event, item, said)

    def _no_command(self, event: str, item: Located, said: Mapping[str, Any]) -> str:
        if _command(said):
            return ""
        if isinstance(said.get("powershell"), str):
            hint = "add `bash`, or `command` for both"
            return self._flaw(item.line, _ELSEWHERE, hint, Voids.ENTRY)
        return self._flaw(item.line, "a hook needs `bash`, `powershell` or `command`")

    def _bad_url(self, event: str, item: Located, said: Mapping[str, Any]) -> str:
        url, allowed = said.get("url"), said.get("allowedEnvVars", [])
        if not isinstance(url, str) or not url:
            return self._flaw(item.line_of("url"), "a hook of type `http` needs a `url`")
        if not isinstance(allowed, list) or not all(isinstance(name, str) for name in allowed):
            return self._flaw(item.line_of("allowedEnvVars"), "`allowedEnvVars` is a list of names")
        try:
            secure = urlsplit(url).scheme == "https"
        except ValueError:
            secure = False
        if not secure:
            message = "Copilot skips hooks behind a URL that is not https"
            return self._flaw(item.line_of("url"), message, "", Voids.ENTRY)
        return ""

    def _bad_prompt(self, event: str, item: Located, said: Mapping[str, Any]) -> str:
        if camel_name(event) != "sessionStart":
            message = "hooks of type `prompt` run on sessionStart only"
            return self._flaw(item.line_of("type"), message)
        if not isinstance(said.get("prompt"), str):
            return self._flaw(item.line_of("prompt"), "a hook of type `prompt` needs a `prompt`")
        return ""

    def _flaw(self, line: int, message: str, hint: str = "", voids: Voids | None = None) -> str:
        voids = voids or self._voids
        hint = hint or ("Copilot drops all hooks of this file" if voids is Voids.FILE else "")
        self.flaws.append(NativeFlaw(line, message, hint, voids))
        return message


def is_settings(path: str) -> bool:
    """Whether hooks stand in this file among other settings."""
    return os.path.basename(path) in {"settings.json", "settings.local.json"}


def _command(said: Mapping[str, Any]) -> str | tuple[str, ...]:
    """What runs on this system: its own key, else the one for every system."""
    program, arguments = said.get("exec"), said.get("args", [])
    if isinstance(program, str) and program and isinstance(arguments, list):
        return (program, *map(str, arguments))
    lines = (said.get("bash"), said.get("command"))
    return next((text for text in lines if isinstance(text, str) and text.strip()), "")
