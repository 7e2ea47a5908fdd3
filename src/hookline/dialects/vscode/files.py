"""VS Code's hook files: ``.github/hooks``, agents' front matter, and Claude Code's settings.

Knows where they are and the client's rules for running what is in them: one after another, every
one of them, whatever the matchers say.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from glob import escape, glob
from typing import ClassVar

from hookline.dialects._files import PLUGIN_ROOTS, Files, with_plugin_root
from hookline.dialects._located import (
    MAX_BYTES,
    Located,
    UnreadableText,
    front_matter,
    read_json,
)
from hookline.dialects._native import JsonDialect
from hookline.dialects.vscode.codec import VSCode
from hookline.dialects.vscode.entries import native_event, read_hooks
from hookline.dialects.vscode.settings import (
    AGENT_HOOKS,
    HOOKS,
    PARENTS,
    PLACES,
    PLUGINS,
    PLUGINS_ON,
    Settings,
    is_settings,
    read_root,
)
from hookline.files import read_regular
from hookline.model.events import Event
from hookline.model.hook import Hook, Lane, Layer, Start
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, NativePlace, Voids, Where

__all__ = ["FILES", "VSCodeFiles"]

_SETTINGS = ("settings.local.json", "settings.json")
_FOLDERS = ((".github", "hooks"), (".copilot", "hooks"))
_AGENT = ".agent.md"
_WORKSPACE = (".github/hooks", *(f".claude/{name}" for name in _SETTINGS))
_USER = ("~/.copilot/hooks", "~/.claude/settings.json")
# A plugin in Claude Code's format or the open one, in Agent Plugins', and else in Copilot's own.
_MANIFESTS = (".claude-plugin", ".plugin")
_IN_CLAUDES_PLUGIN = "hooks/hooks.json"
_IN_EXTENSION = "com.github.copilot/hooks/hooks.json"
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
        """The workspace first, then the user's own, plugins, and agents last, as they are run."""
        settings = Settings(where.project, where.home, _content)
        rows = [*_files(where, settings), *_plugins(where, settings), *_agents(where, settings)]
        # They name no hook, and say what of all this is not run.
        layers = (Layer.PROJECT, Layer.USER, Layer.USER)
        rows += [
            (file, layer, "settings", False)
            for file, layer in zip(settings.files, layers, strict=True)
            if os.path.exists(file)
        ]
        return [
            NativePlace(
                path=path,
                layer=layer,
                scope=scope,
                dialect="claude-code" if _is_claudes(path) else "",
                is_off=is_off,
            )
            for path, layer, scope, is_off in dict.fromkeys(rows)
        ]

    # ── what is in them ─────────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """The hooks of a file."""
        agent = ""
        if is_settings(path):
            return _read_settings(path, content)
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
            entries, flaws = read_hooks(hooks, agent=agent, env=_plugin_variables(path))
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
        settings = [file for file in files if isinstance(file, SettingsFile)]
        if _is_off(file.hooks for file in settings):
            return ()
        no_agents = _is_off(file.agents for file in settings)
        scoped = [file for file in files if file.path.endswith(".md") and not no_agents]
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

    def _placed(self, entry: NativeEntry, project_dir: str) -> NativeEntry:
        return super()._placed(with_plugin_root(entry), project_dir)


class SettingsFile(NativeFile, frozen=True, kw_only=True):
    """A settings file: whether hooks run at all, and those of agents."""

    hooks: bool | None = None
    agents: bool | None = None


class _InClaudes(VSCodeFiles):
    """Claude Code's settings as VS Code reads them; others do so as well."""

    run_by = frozenset({"vscode", "claude-code", "cursor", "copilot"})


_IN_CLAUDES = _InClaudes()
FILES = VSCodeFiles()

_NOTHING_RUNS = "until it can be read, VS Code runs nothing of it"
_NOTHING_COUNTS = "until it can be read, nothing that it says of hooks counts"


Row = tuple[str, Layer, str, bool]


def _content(path: str) -> bytes | None:
    try:
        return read_regular(path, MAX_BYTES + 1)
    except (OSError, ValueError):
        return None


def _files(where: Where, settings: Settings) -> Iterator[Row]:
    """Files and folders of hooks; the settings add some and take others away."""
    said = settings.paths(PLACES)
    # A path of the person's that the workspace names is still the workspace's word.
    more = {path: each.is_workspace for path, each in said.items() if each.value is True}
    own = [path for path in (*_WORKSPACE, *more) if not path.startswith(("~", "/"))]
    users = [path for path in (*_USER, *more) if path.startswith("~/")]
    off = {path for path, each in said.items() if each.value is not True}
    for base in _bases(where.project, settings):
        for path in dict.fromkeys(own):
            for each in _spread(os.path.normpath(os.path.join(base, path))):
                yield each, Layer.PROJECT, "workspace", path in off
    for path in dict.fromkeys(users):
        layer = Layer.PROJECT if more.get(path) and path not in _USER else Layer.USER
        for each in _spread(os.path.join(where.home, path[2:])):
            yield each, layer, "user", path in off


def _bases(project: str, settings: Settings) -> Iterator[str]:
    """The workspace and, where it is no repository, the folders up to the one that it is in."""
    yield project
    wanted = settings.find(PARENTS)
    if wanted is None or wanted.value is not True:
        return
    above = [project]
    while not os.path.exists(os.path.join(above[-1], ".git")):
        parent = os.path.dirname(above[-1])
        if parent == above[-1]:
            return
        above.append(parent)
    yield from above[1:]


def _spread(path: str) -> Sequence[str]:
    """The hook files in a folder that only the settings know."""
    if _parents(path) in _FOLDERS or not os.path.isdir(path):
        return [path]
    return sorted(glob(os.path.join(escape(path), "*.json")))


def _agents(where: Where, settings: Settings) -> Iterator[Row]:
    for base in _bases(where.project, settings):
        yield os.path.join(base, ".github", "agents"), Layer.PROJECT, "agent", False


def _plugins(where: Where, settings: Settings) -> Iterator[Row]:
    """The hooks of plugins that the settings name, and of those that Copilot CLI has installed."""
    if settings.is_off(PLUGINS_ON):
        return
    said = {
        os.path.normpath(os.path.join(where.project, _from_home(path, where.home))): each
        for path, each in settings.paths(PLUGINS).items()
    }
    installed = glob(os.path.join(escape(where.home), ".copilot", "installed-plugins", "*", "*"))
    for root in sorted({*said, *installed}):
        found = said.get(root)
        if found is None or found.value is True:
            layer = Layer.PROJECT if found is not None and found.is_workspace else Layer.USER
            yield os.path.join(root, _plugin_file(root)), layer, "plugin", False


def _from_home(path: str, home: str) -> str:
    return os.path.join(home, path[2:]) if path.startswith("~/") else path


def _plugin_file(root: str) -> str:
    """Where a plugin of this format has its hooks."""
    if any(os.path.exists(os.path.join(root, each, "plugin.json")) for each in _MANIFESTS):
        return _IN_CLAUDES_PLUGIN
    extended = os.path.exists(os.path.join(root, _IN_EXTENSION))
    return _IN_EXTENSION if extended else "hooks.json"


def _plugin_variables(path: str) -> Mapping[str, str]:
    """What a plugin's hooks know their own directory by; nothing for other files."""
    if _parents(os.path.dirname(path)) in _FOLDERS:
        return {}
    for name in (_IN_EXTENSION, _IN_CLAUDES_PLUGIN, "hooks.json"):
        if path.endswith(f"/{name}"):
            return dict.fromkeys(PLUGIN_ROOTS, path.removesuffix(f"/{name}"))
    return {}


def _read_settings(path: str, content: bytes) -> NativeFile:
    try:
        root = read_root(content)
    except UnreadableText as error:
        flaw = NativeFlaw(error.line, error.message, _NOTHING_COUNTS, Voids.FILE)
        return NativeFile(dialect="vscode", path=path, flaws=(flaw,))
    off = [
        NativeFlaw(root.line_of(key), f"`{key}` is false: VS Code runs {what}", "", Voids.NOTHING)
        for key, what in ((HOOKS, "no hooks"), (AGENT_HOOKS, "no hooks of an agent's own"))
        if root.get(key) is False
    ]
    return SettingsFile(
        dialect="vscode",
        path=path,
        flaws=tuple(off),
        hooks=root.get(HOOKS),
        agents=root.get(AGENT_HOOKS),
    )


def _is_off(said: Iterable[bool | None]) -> bool:
    """Whether the first that says something says no."""
    return next((each for each in said if each is not None), None) is False


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
