"""VS Code's hook files: ``.github/hooks``, agents' front matter, and Claude Code's settings.

Knows where they are and the client's rules for running what is in them: one after another, every
one of them, whatever the matchers say.
"""

import os
from collections.abc import Mapping, Sequence
from typing import ClassVar

from hookline.dialects._files import Files
from hookline.dialects._located import Located, UnreadableText, front_matter, read_json
from hookline.dialects._native import JsonDialect
from hookline.dialects.vscode.codec import VSCode
from hookline.dialects.vscode.entries import native_event, read_hooks
from hookline.model.events import Event
from hookline.model.hook import Hook, Lane, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, NativePlace, Voids, Where

__all__ = ["FILES", "VSCodeFiles"]

_SETTINGS = ("settings.local.json", "settings.json")
_FOLDERS = ((".github", "hooks"), (".copilot", "hooks"))
_AGENT = ".agent.md"
_LANE = Lane(name="vscode", halt_ends=True)


class VSCodeFiles(Files):
    """Everything in which VS Code looks for hooks."""

    codec: ClassVar[JsonDialect] = VSCode()
    default_timeout = 30.0
    run_by = frozenset({"vscode", "copilot", "copilot-cloud"})
    adopts = frozenset({"claude-code"})
    also: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "UserPromptSubmit": ("steering_submit", "follow_up_submit")
    }

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """By folder. A file with a version is Copilot CLI's, and Claude Code has its own."""
        folder, name = os.path.split(path)
        if name.endswith(_AGENT):
            return b"hooks:" in content
        if _parents(folder) not in _FOLDERS or not name.endswith(".json"):
            return False
        try:
            return "version" not in read_json(content).members
        except UnreadableText:
            return True

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """Every ``*.json`` in a folder of hooks, and every agent in a folder of agents."""
        parents = _parents(directory.rstrip("/"))
        if parents in _FOLDERS:
            return sorted(name for name in names if name.endswith(".json"))
        if parents == (".github", "agents"):
            return sorted(name for name in names if name.endswith(_AGENT))
        return None

    def places(self, where: Where) -> Sequence[NativePlace]:
        """The workspace first, then the user's own, agents last, as they are run."""
        project, home = where.project, where.home
        rows = [
            (project, (".github", "hooks"), Layer.PROJECT, "workspace", ""),
            *(
                (project, (".claude", name), Layer.PROJECT, "workspace", "claude-code")
                for name in _SETTINGS
            ),
            (home, (".copilot", "hooks"), Layer.USER, "user", ""),
            (home, (".claude", "settings.json"), Layer.USER, "user", "claude-code"),
            (project, (".github", "agents"), Layer.PROJECT, "agent", ""),
        ]
        return [
            NativePlace(path=os.path.join(base, *parts), layer=layer, scope=scope, dialect=whose)
            for base, parts, layer, scope, whose in rows
        ]

    # ── what is in them ─────────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """The hooks of a file."""
        agent = ""
        try:
            if path.endswith(".md"):
                root = front_matter(content) or Located({}, 1)
                named = root.get("name")
                stem = os.path.basename(path).removesuffix(".md").removesuffix(".agent")
                agent = named if isinstance(named, str) and named else stem
            else:
                root = read_json(content)
        except UnreadableText as error:
            flaw = NativeFlaw(error.line, error.message, _NOTHING_RUNS, Voids.FILE)
            return NativeFile(dialect=self.dialect, path=path, flaws=(flaw,))
        flaws = _shape(root)
        hooks = root.members.get("hooks")
        entries: tuple[NativeEntry, ...] = ()
        if hooks is not None and not flaws:
            entries, flaws = read_hooks(hooks, agent=agent)
        is_off = _is_claudes(path) and root.get("disableAllHooks") is True
        return NativeFile(
            dialect=self.dialect,
            path=path,
            entries=entries,
            flaws=flaws,
            off="`disableAllHooks` is true" if is_off else "",
        )

    # ── rules ───────────────────────────────────────────────────────────────────────────────

    def canonical(self, native: str) -> tuple[str, ...]:
        """The file may spell it as Copilot CLI does."""
        return super().canonical(native_event(native))

    def native(self, entry: NativeEntry) -> str:
        """The event's name as payloads have it."""
        return native_event(entry.event)

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """Always: matchers are read and then ignored."""
        return True

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane | None:
        """All hooks of an event one after another."""
        return _LANE

    def start(self, entry: NativeEntry) -> Start:
        """In the workspace, or where ``cwd`` says."""
        return Start(directory=os.path.expanduser(entry.directory), variables=entry.env)

    # ── together ────────────────────────────────────────────────────────────────────────────

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """The hooks in the order of their files; those for one agent come last."""
        scoped = [file for file in files if file.path.endswith(".md")]
        shared = [file for file in files if not file.path.endswith(".md")]
        return tuple(
            hook
            for file in [*shared, *scoped]
            for hook in Files.hooks(
                _IN_CLAUDES if _is_claudes(file.path) else self,
                [file],
                layer=layer,
                project_dir=project_dir,
            )
        )


class _InClaudes(VSCodeFiles):
    """Claude Code's settings as VS Code reads them; others do so as well."""

    run_by = frozenset({"vscode", "claude-code", "cursor", "copilot"})


_IN_CLAUDES = _InClaudes()
FILES = VSCodeFiles()

_NOTHING_RUNS = "until it can be read, VS Code runs nothing of it"


def _parents(folder: str) -> tuple[str, str]:
    head, name = os.path.split(folder)
    return os.path.basename(head), name


def _is_claudes(path: str) -> bool:
    folder, name = os.path.split(path)
    return name in _SETTINGS and os.path.basename(folder) == ".claude"


def _shape(root: Located) -> tuple[NativeFlaw, ...]:
    hooks = root.members.get("hooks")
    if not isinstance(root.value, dict):
        return (NativeFlaw(root.line, "the file must hold an object", _NOTHING_RUNS, Voids.FILE),)
    if hooks is not None and not isinstance(hooks.value, dict):
        message = "`hooks` must be an object of events"
        return (NativeFlaw(hooks.line, message, _NOTHING_RUNS, Voids.FILE),)
    return ()
