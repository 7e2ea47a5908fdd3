"""The entries of one Gemini CLI file, and every mistake among them with what it does there."""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from hookline.dialects._entries import number, texts
from hookline.dialects._located import Located
from hookline.dialects.gemini import DIALECT
from hookline.model.errors import nearest
from hookline.model.native import NativeEntry, NativeFlaw, Voids

__all__ = ["LITERAL", "TOOL_EVENTS", "Reading"]

TOOL_EVENTS = {"BeforeTool", "AfterTool"}
# On these a matcher is one word of the payload, compared whole; on the rest it is not read.
LITERAL = {"SessionStart": "source", "SessionEnd": "reason", "PreCompress": "trigger"}
_SWITCHES = {"enabled", "disabled", "notifications"}
_CLAUDE_NAMES = {
    "Bash": "run_shell_command",
    "Read": "read_file",
    "Write": "write_file",
    "Edit": "replace",
    "Glob": "glob",
    "Grep": "grep_search",
    "LS": "list_directory",
}
_SHORT = 1000


class Reading:
    """One pass over a file; the mistakes found are in ``flaws``."""

    def __init__(self, path: str) -> None:
        self.flaws: list[NativeFlaw] = []
        folder = os.path.dirname(path)
        self._extension = os.path.dirname(folder) if os.path.basename(folder) == "hooks" else ""

    def events(self, events: Located) -> Iterator[NativeEntry]:
        """Every entry."""
        if not isinstance(events.value, dict):
            self._flaw(events.line, "`hooks` must be an object of events", "", Voids.FILE)
        for event, definitions in events.members.items():
            if event in _SWITCHES:
                continue
            unknown = ""
            if DIALECT.support.find(event) is None:
                hint = nearest(event, DIALECT.support.events)
                unknown = self._flaw(
                    definitions.line, f"Gemini CLI has no event `{event}`, and skips it", hint
                )
            elif not isinstance(definitions.value, list):
                self._flaw(definitions.line, f"`{event}` must be a list of definitions")
            for index, each in enumerate(definitions.items):
                yield from self._definition(event, f"{event}:{index}", each, unknown)

    def _definition(
        self, event: str, group: str, definition: Located, flaw: str
    ) -> Iterator[NativeEntry]:
        matcher, handlers = definition.get("matcher"), definition.members.get("hooks")
        if handlers is None or not isinstance(handlers.value, list):
            self._flaw(definition.line, "a definition needs a list `hooks`; it is discarded")
            return
        if not isinstance(matcher, str | None):
            line = definition.line_of("matcher")
            flaw = flaw or self._flaw(line, "`matcher` must be a text; this is discarded")
        elif matcher and not flaw:
            self._doubt(event, matcher, definition.line_of("matcher"))
        sequential = definition.get("sequential") is True
        for handler in handlers.items:
            entry = self._entry(event, handler, flaw)
            yield replace(
                entry,
                group=group,
                matcher=matcher if isinstance(matcher, str) else None,
                sequential=sequential,
            )

    def _doubt(self, event: str, matcher: str, line: int) -> None:
        """Says which matchers can hold for nothing here."""
        if event in LITERAL and "|" in matcher:
            message = f"the matcher `{matcher}` is compared whole on {event}, so it never holds"
            self._flaw(line, message, "write one definition for each word", Voids.NOTHING)
        foreign = [word for word in matcher.split("|") if word in _CLAUDE_NAMES]
        if event in TOOL_EVENTS and foreign:
            message = f"Gemini CLI has no tool `{foreign[0]}`"
            hint = f"did you mean `{_CLAUDE_NAMES[foreign[0]]}`?"
            self._flaw(line, message, hint, Voids.NOTHING)

    def _entry(self, event: str, handler: Located, flaw: str) -> NativeEntry:
        said: Mapping[str, Any] = handler.plain() if isinstance(handler.value, dict) else {}
        kind, command, name = (said.get(key) for key in ("type", "command", "name"))
        if flaw:
            pass
        elif kind != "command":
            message = f"`type` must be `command`, not `{kind}`; Gemini CLI discards this hook"
            flaw = self._flaw(handler.line_of("type"), message)
        elif not isinstance(command, str) or not command:
            flaw = self._flaw(handler.line_of("command"), "a hook needs a `command`")
        env = texts(said.get("env", {}))
        if env is None:
            self._flaw(
                handler.line_of("env"), "`env` must be an object of texts", "", Voids.NOTHING
            )
        return NativeEntry(
            event=event,
            type=kind if isinstance(kind, str) else "unknown",
            command=self._expanded(command) if isinstance(command, str) else "",
            name=name if isinstance(name, str) else "",
            timeout=self._timeout(handler, said),
            env=env or {},
            options={key: said[key] for key in ("description",) if key in said},
            line=handler.line,
            flaw=flaw,
        )

    def _timeout(self, handler: Located, said: Mapping[str, Any]) -> float | None:
        if said.get("timeout") is None:
            return None
        given, line = number(said["timeout"]), handler.line_of("timeout")
        if given is None:
            self._flaw(line, "`timeout` must be a number of milliseconds", "", Voids.NOTHING)
            return None
        if given < _SHORT:
            message = f"`timeout` is in milliseconds: {given:g} of them, then the tool runs"
            hint = f"write {given * 1000:g} for {given:g} seconds"
            self._flaw(line, message, hint, Voids.NOTHING)
        return max(given, 1) / 1000

    def _expanded(self, command: str) -> str:
        """An extension's own folder is written into its commands."""
        if not self._extension:
            return command
        return command.replace("${extensionPath}", self._extension).replace("${/}", "/")

    def _flaw(self, line: int, message: str, hint: str = "", voids: Voids = Voids.ENTRY) -> str:
        self.flaws.append(NativeFlaw(line, message, hint, voids))
        return message
