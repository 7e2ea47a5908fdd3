"""Codex's hook files: ``hooks.json`` and ``[hooks]`` in ``config.toml``, by Codex's own rules.

One value of a wrong type voids a whole file there, and everything fails open.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from glob import glob
from typing import Any, TypeAlias

from msgspec.structs import replace

from hookline.dialects._entries import is_strict_json, shown_to, voided
from hookline.dialects._files import Files
from hookline.dialects._located import Located, UnreadableText, read_json
from hookline.dialects._patterns import found
from hookline.dialects.codex import DIALECT
from hookline.dialects.codex.entries import NAME_LIST, Reading, is_matcher
from hookline.model.events import Event, PostToolUseFailure
from hookline.model.hook import Hook, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, NativePlace, Voids, Where
from hookline.model.tools import ToolKind

__all__ = ["FILES", "CodexFile", "CodexFiles", "read_toml"]

_NAMES = ("hooks.json", "config.toml")
_MANAGED = "requirements.toml"
_TOP = {"description", "hooks"}
# Which key of the payload a matcher looks at; on the other events it is not even read.
_MATCHED = {
    "PreToolUse": "tool_name",
    "PermissionRequest": "tool_name",
    "PostToolUse": "tool_name",
    "SessionStart": "source",
    "SessionEnd": "reason",
    "SubagentStart": "agent_type",
    "SubagentStop": "agent_type",
    "PreCompact": "trigger",
    "PostCompact": "trigger",
}
_ALIASES = {
    "apply_patch": ("apply_patch", "Write", "Edit"),
    "spawn_agent": ("spawn_agent", "Agent"),
}
# Moments of other platforms at which Codex would fire one of its events.
_ALSO = {
    "SessionStart": ("session_resume",),
    "UserPromptSubmit": ("steering_submit", "follow_up_submit"),
    # It has no event for failed tools, and fires this one for a command that failed.
    "PostToolUse": ("post_tool_use_failure",),
}
# Codex runs hooks with the person's own shell; one that is no absolute path could be anything.
_SHELL = 'case "${SHELL-}" in /*) ;; *) SHELL=/bin/sh ;; esac; exec "$SHELL" -c "$1"'


class CodexFile(NativeFile, frozen=True, kw_only=True):
    """One file, and what it says about hooks that stand in others."""

    switch: bool | None = None
    """What ``[features]`` says of hooks, if anything."""
    managed_only: bool = False
    disabled: frozenset[str] = frozenset()
    """Keys of hooks that a person has switched off."""


class CodexFiles(Files):
    """The hook files of Codex."""

    codec = DIALECT
    default_timeout = 600.0
    run_by = frozenset({"codex"})
    also = _ALSO

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """Files of a ``.codex`` folder, of the machine's, and of plugins installed there."""
        folder, name = os.path.split(path)
        if name == "hooks.json" and "/.codex/plugins/" in path:
            return True
        if folder.endswith("/etc/codex"):
            return name in {*_NAMES, _MANAGED}
        return os.path.basename(folder) == ".codex" and name in _NAMES

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """``hooks.json`` before ``config.toml``, as Codex reads them."""
        if os.path.basename(os.path.normpath(directory)) != ".codex":
            return None
        return [name for name in _NAMES if name in names]

    def places(self, where: Where) -> Sequence[NativePlace]:
        """The managed file, the machine's, the person's, the project's, then plugins."""
        machine = os.path.join(where.root, "etc/codex")
        home = where.env.get("CODEX_HOME") or os.path.join(where.home, ".codex")
        layers = (
            (machine, Layer.MANAGED, "system"),
            (home, Layer.USER, "user"),
            (os.path.join(where.project, ".codex"), Layer.PROJECT, "project"),
        )
        managed = os.path.join(machine, _MANAGED)
        plugins = sorted(glob("*/*/*/hooks/hooks.json", root_dir=f"{home}/plugins/cache"))
        return (
            NativePlace(path=managed, layer=Layer.MANAGED, scope="managed"),
            *(
                NativePlace(path=os.path.join(folder, name), layer=layer, scope=scope)
                for folder, layer, scope in layers
                for name in _NAMES
            ),
            *(
                NativePlace(path=f"{home}/plugins/cache/{each}", layer=Layer.USER, scope="plugin")
                for each in plugins
            ),
        )

    # ── what is in them ─────────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> CodexFile:
        """What stands in a file, JSON or TOML."""
        is_toml = path.endswith(".toml")
        try:
            root = read_toml(content) if is_toml else read_json(content)
        except UnreadableText as error:
            return _broken(path, error.line, error.message)
        if not isinstance(root.value, dict):
            return _broken(path, root.line, "the file must hold one object")
        reading = Reading(path)
        events = root.members.get("hooks", Located({}, root.line))
        entries = reading.events(events, state=is_toml)
        more = _switch_notes(root, events) if is_toml else _json_flaws(root, content)
        flaws = [*reading.flaws, *more]
        void = next((flaw.message for flaw in flaws if flaw.voids is Voids.FILE), "")
        if void:
            entries = voided(entries, f"Codex does not read this file: {void}")
        switch = _switch(root) if is_toml else None
        return CodexFile(
            dialect=self.dialect,
            path=path,
            entries=entries,
            flaws=tuple(sorted(flaws, key=lambda flaw: flaw.line)),
            off="`[features]` in it switches hooks off" if switch is False else "",
            switch=switch,
            managed_only=is_toml and root.get("allow_managed_hooks_only") is True,
            disabled=frozenset(_disabled(events)),
        )

    # ── rules ───────────────────────────────────────────────────────────────────────────────

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """A list of names, compared whole; anything else is a regex, found anywhere."""
        if isinstance(event, PostToolUseFailure) and event.tool.kind is not ToolKind.SHELL:
            return False  # of the tools that fail, Codex tells of commands only
        matcher, key = entry.matcher or "*", _MATCHED.get(entry.event)
        if not key or matcher == "*" or not is_matcher(matcher):
            return True
        value = str(shown_to(entry, event, self.codec).get(key, ""))
        names = _ALIASES.get(value, (value,))
        if NAME_LIST.fullmatch(matcher):
            return not set(names).isdisjoint(matcher.split("|"))
        return any(found(matcher, name) for name in names)

    def start(self, entry: NativeEntry) -> Start:
        """In the person's shell, where the event happened, with what a plugin is given."""
        return Start(
            interpreter=("/bin/sh", "-c", _SHELL, "sh"),
            in_cwd=True,
            variables=entry.env,
            background=entry.background,
        )

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """Without what one file says of the hooks in others: the switches reach across files."""
        own = [file for file in files if isinstance(file, CodexFile)]
        switches = [file.switch for file in own if file.switch is not None]
        if switches and not switches[-1]:
            return ()
        if any(file.managed_only for file in own):
            own = [file for file in own if os.path.basename(file.path) == _MANAGED]
        disabled = frozenset(key for file in own for key in file.disabled)
        kept = [
            replace(file, off="", entries=tuple(e for e in file.entries if _key(e) not in disabled))
            for file in own
        ]
        return super().hooks(kept, layer=layer, project_dir=project_dir)


def _broken(path: str, line: int, message: str) -> CodexFile:
    hint = "Codex skips the whole file"
    return CodexFile(
        dialect=DIALECT.id, path=path, flaws=(NativeFlaw(line, message, hint, Voids.FILE),)
    )


def _json_flaws(root: Located, content: bytes) -> Iterator[NativeFlaw]:
    if not is_strict_json(content):
        message = "it has comments or trailing commas, and Codex reads plain JSON only"
        yield NativeFlaw(root.line, message, "remove them", Voids.FILE)
    for key, part in root.members.items():
        if key not in _TOP:
            message = f"`{key}` is no key of this file, and Codex rejects the file for it"
            yield NativeFlaw(part.line, message, f"leave `{key}` out", Voids.FILE)
    if "hooks" not in root.members and any(name[:1].isupper() for name in root.members):
        hint = 'write `{"hooks": {…}}` around the events'
        yield NativeFlaw(root.line, "the events do not stand under `hooks`", hint, Voids.FILE)


def _switch_notes(root: Located, events: Located) -> Iterator[NativeFlaw]:
    """Hooks that stand elsewhere and do not run because of this file."""
    if root.get("allow_managed_hooks_only") is True:
        line = root.line_of("allow_managed_hooks_only")
        yield NativeFlaw(line, "no hooks but managed ones run", "", Voids.NOTHING)
    state = events.members.get("state", Located({}, 0))
    for key in _disabled(events):
        hint = "remove `enabled = false` to let it run"
        yield NativeFlaw(state.line_of(key), f"`{key}` is disabled here", hint, Voids.NOTHING)


def _switch(root: Located) -> bool | None:
    """The feature by its name, else by its older one."""
    features: Mapping[str, Any] = root.members.get("features", Located({}, 0)).members
    for name in ("hooks", "codex_hooks"):
        if name in features and isinstance(features[name].value, bool):
            return bool(features[name].value)
    return None


def _disabled(events: Located) -> Iterator[str]:
    state = events.members.get("state", Located({}, 0))
    for key, each in state.members.items():
        if each.get("enabled") is False:
            yield key


def _key(entry: NativeEntry) -> str:
    return str(entry.options.get("key", ""))


FILES = CodexFiles()


Name: TypeAlias = tuple[str, ...]

_HEADER = re.compile(r"\s*\[\[?\s*([^\[\]#]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
_WORD = re.compile(r"\"([^\"]*)\"|'([^']*)'|([^\s.\"']+)")


def read_toml(content: bytes) -> Located:
    """The root table. Raises UnreadableText."""
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise UnreadableText(f"this is no TOML: {why}", int(found[1]) if found else 1) from None
    return _Placing(_lines(text)).value(data, (), 1)


def _lines(text: str) -> Mapping[Name, list[int]]:
    """The lines of each table's headers and of each plain key in it."""
    lines: dict[Name, list[int]] = {}
    table: Name = ()
    for number, line in enumerate(text.split("\n"), 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header is not None:
            table = tuple("".join(word) for word in _WORD.findall(header[1]))
            lines.setdefault(table, []).append(number)
        elif key is not None:
            lines.setdefault((*table, key[1]), []).append(number)
    return lines


class _Placing:
    """Gives each value its line: the n-th table of a name is where its n-th header stands."""

    def __init__(self, lines: Mapping[Name, list[int]]) -> None:
        self._lines = lines
        self._seen: dict[Name, int] = {}

    def value(self, value: Any, name: Name, line: int) -> Located:
        if isinstance(value, list):
            items = [self._next(item, name, line) for item in value]
            return Located(items, items[0].line if items else line)
        if isinstance(value, dict):
            members = {key: self._member(item, (*name, key), line) for key, item in value.items()}
            return Located(members, line)
        # Dates and times are no values of any hook; as text they are at least no surprise.
        known = isinstance(value, str | int | float | bool)
        return Located(value if known else str(value), line)

    def _member(self, value: Any, name: Name, line: int) -> Located:
        tables = isinstance(value, list) and value and all(isinstance(i, dict) for i in value)
        return self.value(value, name, line) if tables else self._next(value, name, line)

    def _next(self, value: Any, name: Name, line: int) -> Located:
        index = self._seen.get(name, 0)
        self._seen[name] = index + 1
        known = self._lines.get(name, ())
        return self.value(value, name, known[index] if index < len(known) else line)
