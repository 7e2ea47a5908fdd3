"""Claude Code's hook files: settings, plugins, and the front matter of agents and skills.

Knows where they are and the client's rules for running what is in them.
"""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from typing import ClassVar

from msgspec.structs import replace

from hookline.dialects._files import Files, with_plugin_root
from hookline.dialects._located import Located, UnreadableText, front_matter, read_json
from hookline.dialects._native import JsonDialect
from hookline.dialects.claude_code.codec import ClaudeCode
from hookline.dialects.claude_code.conditions import Surroundings, holds, parse_rule
from hookline.dialects.claude_code.judges import JUDGES, judge_of
from hookline.dialects.claude_code.matchers import is_matched
from hookline.dialects.claude_code.plugins import PLUGIN_FILES, find_plugins, list_named_files
from hookline.dialects.claude_code.policy import in_force
from hookline.dialects.claude_code.reading import (
    MANAGED,
    MANAGED_MORE,
    read_scoped,
    read_settings,
    unreadable,
)
from hookline.model.events import Event, PermissionDecided, ToolEvent
from hookline.model.hook import HandlerSpec, Hook, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativePlace, Where

__all__ = ["FILES", "ClaudeFiles"]

_SETTINGS = ("settings.local.json", "settings.json")
# Other platforms keep their own files in a folder of the same name.
_FOREIGN = {".github", ".copilot", ".kodelet", ".codex", ".cursor", ".gemini", ".hookline"}
_SHELLS = {
    "bash": ("bash", "-c"),
    "powershell": ("pwsh", "-NoProfile", "-NonInteractive", "-Command"),
}
_PLACEHOLDERS = re.compile(r"\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT)\}")
_PLACEHOLDERS_IN_POWERSHELL = re.compile(
    r"\$\{(CLAUDE_PROJECT_DIR|CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA)\}"
)


class ClaudeFiles(Files):
    """Everything in which Claude Code looks for hooks."""

    codec: ClassVar[JsonDialect] = ClaudeCode()
    default_timeout = 600.0
    run_by = frozenset({"claude-code", "vscode", "cursor", "copilot"})
    also: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "UserPromptSubmit": ("steering_submit", "follow_up_submit")
    }

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """By name and folder; plugins and front matter also by what is in them."""
        folder, name = os.path.split(path)
        parent = os.path.basename(folder)
        if name in _SETTINGS:
            return parent == ".claude"
        if name == MANAGED or parent == MANAGED_MORE:
            return name.endswith(".json")
        if (parent, name) == (".claude-plugin", "plugin.json"):
            return True
        if (parent, name) == ("hooks", "hooks.json") and not _is_foreign(folder):
            return _has_groups(content)
        if name.endswith(".md") and not name.endswith(".agent.md"):
            return _is_scoped(path) and _has_front_hooks(content)
        return False

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """Of ``.claude`` the settings; of the other folders what Claude Code reads in them."""
        folder = os.path.basename(directory.rstrip("/"))
        parent = os.path.basename(os.path.dirname(directory.rstrip("/")))
        if folder == ".claude":
            return [name for name in _SETTINGS if name in names]
        if folder == MANAGED_MORE:
            return sorted(name for name in names if name.endswith(".json"))
        if parent == ".claude" and folder in {"agents", "commands"}:
            return sorted(name for name in names if name.endswith(".md"))
        if parent == "skills" and "SKILL.md" in names:
            return ["SKILL.md"]
        if folder == ".claude-plugin":
            return [name for name in ("plugin.json",) if name in names]
        if folder == "hooks" and "hooks.json" in names and not _is_foreign(directory):
            return ["hooks.json"]
        return None

    def places(self, where: Where) -> Sequence[NativePlace]:
        """Managed, local, project and user settings, then agents, commands and plugins."""
        managed = os.path.join(where.root, *_managed_folder())
        project = os.path.join(where.project, ".claude")
        user = where.env.get("CLAUDE_CONFIG_DIR") or os.path.join(where.home, ".claude")
        rows = [
            (managed, MANAGED, Layer.MANAGED, "managed"),
            (managed, MANAGED_MORE, Layer.MANAGED, "managed"),
            (project, "settings.local.json", Layer.PROJECT, "local"),
            (project, "settings.json", Layer.PROJECT, "project"),
            (user, "settings.json", Layer.USER, "user"),
            (project, "agents", Layer.PROJECT, "agent"),
            (project, "commands", Layer.PROJECT, "skill"),
            (user, "agents", Layer.USER, "agent"),
            (user, "commands", Layer.USER, "skill"),
        ]
        ranked = [(os.path.join(folder, name), layer) for folder, name, layer, _ in rows]
        files = [each for each in ranked if each[0].endswith(".json")]
        rows += [
            (root, name, layer, "plugin")
            for root, layer in find_plugins(files, user, where.project)
            for name in (*PLUGIN_FILES, *list_named_files(root))
        ]
        return [
            NativePlace(path=os.path.join(folder, name), layer=layer, scope=scope)
            for folder, name, layer, scope in rows
        ]

    # ── what is in them ─────────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """The hooks of a file, and what else it says about hooks."""
        known = frozenset(self.codec.support.events)
        try:
            if path.endswith(".md"):
                found = front_matter(content)
                return read_scoped(path, Located({}, 1) if found is None else found, known)
            return read_settings(path, read_json(content), known)
        except UnreadableText as error:
            return unreadable(path, error)

    # ── rules ───────────────────────────────────────────────────────────────────────────────

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """The matcher, and ``if`` on events that have a tool."""
        if isinstance(event, PermissionDecided) and event.decision != "deny":
            return False  # the client tells its hooks of denials only
        tool = event.tool if isinstance(event, ToolEvent) else None
        name = self.codec.native_tool(tool) if tool is not None else ""
        if not is_matched(entry.matcher, entry.event, event, name):
            return False
        if not entry.condition:
            return True
        rule = parse_rule(entry.condition)
        if rule is None or tool is None:
            return False
        at = Surroundings(event.cwd, str(entry.options.get("source", "")))
        return holds(rule, tool, name, self.codec.native_input(tool), at)

    def twin(self, entry: NativeEntry) -> object:
        """The same command or address under the same ``if``, whatever the matchers say."""
        if entry.flaw or entry.type not in {"command", "http"}:
            return None
        what = entry.command or entry.url
        shell = entry.options.get("shell", "")
        return entry.type, what, entry.condition, shell, entry.options.get("from", "")

    def start(self, entry: NativeEntry) -> Start:
        """In the session's directory, by ``sh`` unless the entry names another shell."""
        named = _SHELLS.get(entry.options.get("shell", ""))
        usual = super().start(entry)
        return replace(
            usual, interpreter=named or usual.interpreter, strict_exit=bool(entry.fails_closed)
        )

    def handler(self, entry: NativeEntry) -> HandlerSpec:
        """As everywhere, and a model for hooks that ask one."""
        if entry.type in JUDGES and not entry.flaw:
            return judge_of(entry)
        return super().handler(entry)

    # ── together ────────────────────────────────────────────────────────────────────────────

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """The hooks of files that are in force together, what counts first first."""
        ready = [_sourced(file, project_dir) for file in in_force(files)]
        shared = self._closed([file for file in ready if not file.path.endswith(".md")])
        own = [file for file in ready if file.path.endswith(".md")]
        made = (
            *super().hooks(shared, layer=layer, project_dir=project_dir),
            *Files.hooks(_ALONE, own, layer=layer, project_dir=project_dir),
        )
        return tuple(_with_variables(hook) for hook in made)

    def _closed(self, files: Sequence[NativeFile]) -> list[NativeFile]:
        """Of entries that run as one the strictest word on failure counts for all."""
        strict = {
            (entry.event, self.twin(entry))
            for file in files
            if not file.off
            for entry in file.entries
            if entry.fails_closed
        }

        def closed(entry: NativeEntry) -> NativeEntry:
            if self.twin(entry) is None or (entry.event, self.twin(entry)) not in strict:
                return entry
            return replace(entry, fails_closed=True)

        return [replace(file, entries=tuple(map(closed, file.entries))) for file in files]

    def _placed(self, entry: NativeEntry, project_dir: str) -> NativeEntry:
        """Placeholders: by us where no shell will do it, and where PowerShell would not."""
        if isinstance(entry.command, str):
            if entry.options.get("shell") != "powershell":
                return super()._placed(with_plugin_root(entry), project_dir)
            written = _PLACEHOLDERS_IN_POWERSHELL.sub(r"${env:\1}", entry.command)
            return replace(entry, command=written)
        values = {"CLAUDE_PROJECT_DIR": project_dir, **entry.env}

        def value(found: re.Match[str]) -> str:
            return values.get(found[1], found[0])

        words = tuple(_PLACEHOLDERS.sub(value, word) for word in entry.command)
        return replace(entry, command=words)


class _Alone(ClaudeFiles):
    """Front matter, which no other client reads the hooks of."""

    run_by = frozenset({"claude-code"})


_ALONE = _Alone()
FILES = ClaudeFiles()


def _managed_folder() -> tuple[str, ...]:
    if sys.platform == "darwin":
        return ("Library", "Application Support", "ClaudeCode")
    return ("etc", "claude-code")


def _is_foreign(folder: str) -> bool:
    return os.path.basename(os.path.dirname(folder.rstrip("/"))) in _FOREIGN


def _is_scoped(path: str) -> bool:
    parts = path.split("/")
    return parts[-1] == "SKILL.md" or bool({"agents", "commands"} & set(parts[:-1]))


def _has_groups(content: bytes) -> bool:
    """Whether some event has entries with ``hooks`` inside, as only Claude Code's have."""
    try:
        events = read_json(content).members.get("hooks")
    except UnreadableText:
        return False
    groups = [group for each in events.members.values() for group in each.items] if events else []
    return any("hooks" in group.members for group in groups)


def _has_front_hooks(content: bytes) -> bool:
    try:
        found = front_matter(content)
    except UnreadableText:
        return b"hooks:" in content
    return found is not None and "hooks" in found.members


def _sourced(file: NativeFile, project_dir: str) -> NativeFile:
    """Each entry with the directory that its settings are for: ``/…`` in a rule starts there."""
    folder = os.path.dirname(file.path)
    source = os.path.dirname(folder) if os.path.basename(folder) == ".claude" else project_dir
    entries = tuple(
        replace(entry, options={**entry.options, "source": source}) for entry in file.entries
    )
    return replace(file, entries=entries)


def _with_variables(hook: Hook) -> Hook:
    """An http hook has asked for the variables in its headers by listing them."""
    if hook.handler.kind != "http":
        return hook
    headers = hook.handler.values["http"]["headers"]
    names = {name for text in headers.values() for name in re.findall(r"\$\{(\w+)\}", text)}
    return replace(hook, env=tuple(sorted(names)))
