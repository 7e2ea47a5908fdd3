"""BaseCoat's hook files: handlers in ``hooks.json``, and tools of MCP servers in ``mcp.json``.

Programs get the event envelope and answer with a response envelope. Files in ``.github/hooks``
belong to the platforms that run them, and speak as those do.
"""

import os
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.dialects._entries import number, texts, voided
from hookline.dialects._files import Files, NativeMatcher
from hookline.dialects._located import Located, UnreadableText, read_json
from hookline.dialects.basecoat import DIALECT
from hookline.model.errors import nearest
from hookline.model.events import Event, PostToolUse, Stop
from hookline.model.hook import DEFAULT_PRIORITY, HandlerSpec, Hook, Lane, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, NativePlace, Voids, Where

__all__ = ["CHAIN", "FILES", "BaseCoatFiles", "canonical", "is_moment"]

CHAIN = Lane(name="basecoat", piped=True, deny_ends=True)
"""Each sees what those before it made of the event, and a block is the end."""

_EVENTS = DIALECT.support.events
# Names that no other platform has for an event.
_OWN = {"UserPromptSubmitted", "OnError", "OnBudgetExceeded"}
# Moments of other platforms at which BaseCoat would fire one of its events.
_ALSO = {
    "PostToolUse": ("post_tool_use_failure",),
    "OnError": ("post_tool_use_failure", "post_tool_use"),
    "UserPromptSubmitted": ("steering_submit", "follow_up_submit"),
    "SessionEnd": ("stop",),
}
# Where BaseCoat takes the agent's stop for the end of the session: nothing comes after it there.
_END_WITH_STOP = frozenset({"vscode", "kodelet"})
_KEYS = {"type", "bash", "powershell", "command", "cwd", "env", "timeoutSec", "priority", "tool"}


def canonical(name: str) -> tuple[str, ...]:
    """The canonical events on which a BaseCoat event fires, under any platform's name."""
    own = DIALECT.to_own_name(name)
    row = DIALECT.support.find(own)
    return (row.event, *_ALSO.get(own, ())) if row is not None else ("other",)


def is_moment(own: str, event: Event) -> bool:
    """Whether one of ``canonical(own)`` is the moment of this BaseCoat event."""
    if own == "SessionEnd":
        return isinstance(event, Stop) == (event.dialect in _END_WITH_STOP)
    if own == "OnError" and isinstance(event, PostToolUse):
        return event.tool.ok is False
    return True


class BaseCoatFiles(Files):
    """The hook files of runtimes that follow BaseCoat."""

    codec = DIALECT
    default_timeout = 3.0
    run_by = frozenset({"basecoat"})

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """Only what cannot be another platform's: tools as handlers, or names it alone has."""
        name = os.path.basename(path)
        if not name.endswith(".json") or b'"' not in content:
            return False
        try:
            hooks = _hooks(read_json(content))
        except UnreadableText:
            return False
        if hooks is None or not any(DIALECT.to_own_name(key) in _EVENTS for key in hooks.members):
            return False
        entries = [entry for each in hooks.members.values() for entry in each.items]
        tools = any("tool" in entry.members for entry in entries)
        return tools or bool(hooks.members.keys() & _OWN) or _is_folder(os.path.dirname(path))

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """All JSON files of a folder called ``basecoat``, in the order of their names."""
        if not _is_folder(directory):
            return None
        return [name for name in sorted(names) if name.endswith(".json")]

    def places(self, where: Where) -> Sequence[NativePlace]:
        """Where a project has them; a specification prescribes no places for a person's own."""
        return [
            NativePlace(path=os.path.join(where.project, name), layer=Layer.PROJECT, scope=scope)
            for name, scope in (("hooks.json", "project"), ("mcp.json", "mcp"))
        ]

    # ── what stands in them ─────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """What stands in a file."""
        try:
            root = read_json(content)
        except UnreadableText as error:
            flaw = NativeFlaw(error.line, error.message, "correct the JSON", Voids.FILE)
            return NativeFile(dialect=self.dialect, path=path, flaws=(flaw,))
        flaws: list[NativeFlaw] = []
        hooks = _hooks(root)
        if hooks is None or (not hooks.members and hooks.value != {}):
            line = root.line if hooks is None else hooks.line
            flaws.append(
                NativeFlaw(line, "no object of events", 'write `"hooks": {…}`', Voids.FILE)
            )
            hooks = Located({}, line)
        entries = tuple(_entries(hooks, flaws))
        version = root.members.get("version")
        if version is not None and version.value != 1:
            why = "the `version` is not 1, the only one there is"
            flaws.append(NativeFlaw(version.line, why, 'write `"version": 1`', Voids.FILE))
            entries = voided(entries, why)
        return NativeFile(dialect=self.dialect, path=path, entries=entries, flaws=tuple(flaws))

    # ── its rules ───────────────────────────────────────────────────────────────────────────

    def canonical(self, native: str) -> tuple[str, ...]:
        """Under any platform's name."""
        return canonical(native)

    def native(self, entry: NativeEntry) -> str:
        """The name in envelopes."""
        return self.codec.to_own_name(entry.event)

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """There are no matchers; an error hook sees of finished tools those that failed, and each
        platform has one event for the end of a session.
        """
        return is_moment(self.native(entry), event)

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane:
        """One after another."""
        return CHAIN

    def start(self, entry: NativeEntry) -> Start:
        """In the project, with the shell that the entry was written for."""
        shell = entry.options.get("shell", "/bin/sh")
        return Start(interpreter=(shell, "-c"), directory=entry.directory, variables=entry.env)

    def handler(self, entry: NativeEntry) -> HandlerSpec:
        """A tool of an MCP server is called by no handler here."""
        if entry.type == "mcp" and not entry.flaw:
            why = f"the MCP tool `{entry.options['tool']}` cannot be called here yet"
            return HandlerSpec("native", {"why": why})
        return super().handler(entry)

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """By priority, the lowest first; what went wrong is told after what was done."""
        found = super().hooks(files, layer=layer, project_dir=project_dir)
        ranked = [replace(hook, priority=_priority(hook)) for hook in found]
        return tuple(sorted(ranked, key=lambda hook: (hook.priority, hook.native == "OnError")))


def _is_folder(directory: str) -> bool:
    return os.path.basename(directory.rstrip("/")) in {"basecoat", ".basecoat"}


def _priority(hook: Hook) -> int:
    assert isinstance(hook.match, NativeMatcher)
    given = hook.match.entries[0].priority
    return DEFAULT_PRIORITY if given is None else given


def _hooks(root: Located) -> Located | None:
    """The object of events: under ``hooks``, or the whole of an ``mcp.json`` that has no more."""
    if "hooks" in root.members:
        return root.members["hooks"]
    events = {k: v for k, v in root.members.items() if DIALECT.to_own_name(k) in _EVENTS}
    return Located(events, root.line) if events else None


def _entries(hooks: Located, flaws: list[NativeFlaw]) -> Iterator[NativeEntry]:
    for event, listed in hooks.members.items():
        unknown = ""
        if DIALECT.to_own_name(event) not in _EVENTS:
            unknown = f"BaseCoat has no event `{event[:60]}`"
            flaws.append(NativeFlaw(listed.line, unknown, nearest(event, _EVENTS)))
        if not isinstance(listed.value, list):
            why = f"`{event[:60]}` is no list of handlers"
            flaws.append(NativeFlaw(listed.line, why, "write `[{…}]`"))
        for item in listed.items:
            entry = _entry(event, item, flaws)
            yield replace(entry, flaw=unknown) if unknown else entry


def _entry(event: str, item: Located, flaws: list[NativeFlaw]) -> NativeEntry:
    def wrong(key: str, why: str, hint: str, voids: Voids = Voids.NOTHING) -> str:
        flaws.append(NativeFlaw(item.line_of(key), why, hint, voids))
        return why

    for key in item.members:
        if key not in _KEYS:
            wrong(key, f"`{key[:60]}` is not read here", "")
    priority = item.members.get("priority")
    if priority is not None and type(priority.value) is not int:
        wrong("priority", "`priority` is no whole number", "write a number; 50 is taken")
    seconds = number(item.get("timeoutSec"))
    if "timeoutSec" in item.members and (seconds is None or seconds <= 0):
        wrong("timeoutSec", "`timeoutSec` is no number above 0", "write seconds; 3 are taken")
    env = texts(item.get("env")) if "env" in item.members else {}
    if env is None:
        wrong("env", "`env` is no object of texts", 'write `{"NAME": "value"}`')
    common: dict[str, Any] = {
        "event": event,
        "priority": priority.value if priority and type(priority.value) is int else None,
        "timeout": seconds if seconds and seconds > 0 else None,
        "directory": _text(item, "cwd"),
        "env": env or {},
        "sequential": True,
        "line": item.line,
    }
    tool = _text(item, "tool")
    if tool:
        return NativeEntry(**common, type="mcp", name=tool, options={"tool": tool})
    kind = _text(item, "type")
    command, shell, windows = _text(item, "bash"), "/bin/bash", _text(item, "powershell")
    if not command:
        command, shell = _text(item, "command"), "/bin/sh"
    flaw, only = "", False
    if kind != "command":
        why = f"no handler is of type `{kind[:60]}`" if kind else "a handler has no `type`"
        flaw = wrong("type", why, 'write `"type": "command"`, or name a `tool`', Voids.ENTRY)
    elif not command:
        only = bool(windows)
        why = "only `powershell` is given, which is for Windows" if only else "there is no command"
        flaw = wrong("powershell", why, "add `bash` or `command`", Voids.ENTRY)
    return NativeEntry(
        **common,
        type=kind or "command",
        command=command,
        options={"shell": shell, **({"powershell": windows} if windows else {})},
        flaw=flaw,
        elsewhere=only,
    )


def _text(item: Located, key: str) -> str:
    found = item.members.get(key)
    return found.value.strip() if found is not None and isinstance(found.value, str) else ""


FILES = BaseCoatFiles()
