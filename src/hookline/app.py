"""Joins the parts: config files → hooks → engine. The only module that knows them all."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline import registry
from hookline.config.discover import MANAGED_FILE, home_dir
from hookline.config.load import Loader
from hookline.config.types import Config, Kit
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.errors import HooklineError
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import Hook, Layer
from hookline.model.journal import JournalSettings
from hookline.model.ports import PinnedFiles, Services, State
from hookline.store.duplicate_calls import DiskShelf, DuplicateCalls
from hookline.store.sessions import BriefMemories, MemoryRoots, SessionMemories, SessionRoots

if TYPE_CHECKING:
    from hookline.config.hosting import Hosted

__all__ = ["App", "open_app", "open_loader"]

_ENGINES_KEPT = 32


class App:
    """hookline for one caller's environment: its files, its hooks, and an engine for them."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        cwd: str,
        home: str | None = None,
        config: str | None = None,
        edited: bool = False,
        trust: str | None = None,
        remember: bool = False,
        managed: str = MANAGED_FILE,
        functions: Sequence[Bound] = (),
        person: Mapping[str, str] | None = None,
        root: str | None = None,
    ) -> None:
        """``person`` is the environment that says where the user's own files are.

        Agents pass on what a repository puts into their environment, so `hookline hook` gives an
        empty one here: then the user database says it.
        """
        person = env if person is None else person
        self.env = env
        self.cwd = cwd
        self.attempt = 1
        self.umask = -1
        self.arrived: float | None = None
        """When this caller's event came, by the monotonic clock; None: now."""
        self._journal: JournalSettings | None = None
        self.configured = True
        """Whether anything is in force there that could be missed."""
        self.config = None if config is None else _join(cwd, config)
        self.home = home or home_dir(person)
        services = Services(
            codec=registry.dialect,
            builtin=registry.builtin,
            pins=self._pins_for,
        )
        self.kit = Kit(
            registry.handlers(),
            services,
            natives=registry.native_files,
            native_events=registry.native_events,
            dialects=registry.dialect_names,
        )
        self.loader = Loader(
            self.kit,
            home=self.home,
            env=person,
            managed=managed,
            config_override=None if config is None else os.path.join(cwd, config),
            trust_env=trust,
            edited=edited,
        )
        own = (self.home, os.path.dirname(self.loader.user_file), self.config)
        self.own = tuple(dict.fromkeys(form for path in own if path for form in _forms(path)))
        self.roots = SessionRoots(self.home) if remember else MemoryRoots()
        self.memories = SessionMemories(self.home) if remember else BriefMemories()
        self.answers = DuplicateCalls(DiskShelf(self.home))
        self.open_state = _share_state(self.home, brief=not remember)
        self.policy = repr((self.config, self.loader.user_file, managed, trust, edited, root))
        self._functions = tuple(functions)
        self._hosted: Hosted | None = None
        self._person = person
        self.root = root
        self.explains = remember
        """Whether `hookline explain` can tell of it, since it goes on between processes."""
        self._engines: dict[int, tuple[Config, Engine]] = {}

    def for_caller(
        self,
        env: Mapping[str, str],
        cwd: str,
        *,
        attempt: int = 1,
        umask: int = -1,
        arrived: float | None = None,
    ) -> "App":
        """The same app with all that it has loaded, as another process calls it."""
        other = object.__new__(type(self))
        other.__dict__ = vars(self).copy()  # a fraction of what `copy` costs
        other.env, other.cwd, other.attempt, other.umask = env, cwd, attempt, umask
        other.arrived = arrived
        other._journal = None
        return other

    def without_state(self) -> "App":
        """The same app, which remembers nothing of the session beyond this event."""
        other = self.for_caller(self.env, self.cwd, attempt=self.attempt, umask=self.umask)
        other.roots, other.memories = MemoryRoots(), BriefMemories()
        return other

    def _pins_for(self, hook: Hook) -> PinnedFiles:
        if self._hosted is not None and hook.native and self._hosted.runs(hook):
            from hookline.config.copies import FreeFiles

            return FreeFiles()  # a person asked for them by name
        # The loader needs the services to check a config, and they need the loader to run it.
        return self.loader.pins_for(hook)

    def config_for(self, event: Event, root: str) -> Config:
        """Every hook in force for ``event``."""
        paths = event.tool.paths if isinstance(event, ToolEvent) else ()
        config = self.loader.load(root, event.cwd, paths, arrived=self.arrived)
        self._journal = config.journal
        self.configured = bool(config.files or config.notes or self._functions)
        return self._hosted.joined(config, root) if self._hosted is not None else config

    def journal(self) -> JournalSettings | None:
        """How the journal is to be kept; None where no config can be loaded that would say it."""
        if self._journal is None:
            place = self.cwd or "/"  # the person's own files say it anywhere
            with suppress(HooklineError):
                self._journal = self.loader.load(place, place).journal
        return self._journal

    def host(self, *dialects: str) -> None:
        """Run these platforms' own hook files too, wherever they look for them.

        For a person or a program who says so: such files need no trust step. Raises ConfigError.
        """
        from hookline.config.hosting import Hosted
        from hookline.model.native import Where

        home = self._person.get("HOME") or os.path.expanduser("~")
        self._hosted = Hosted(self.kit, dialects, Where(home=home, project="", env=self._person))

    def engine_for(self, config: Config) -> Engine:
        """The engine for a config; kept while the config stays the same."""
        kept = self._engines.get(id(config))
        if kept is None:
            while len(self._engines) >= _ENGINES_KEPT:
                self._engines.pop(next(iter(self._engines)))
            kept = self._engines[id(config)] = (config, self._build(config))
        return kept[1]

    def _build(self, config: Config) -> Engine:
        modules = self.kit.handlers
        services = replace(self.kit.services, models=config.models)
        managed = replace(services, models=config.managed_models)
        bound = [
            Bound(hook, modules[hook.handler.kind].make(hook, managed if above else services))
            for above, hooks in (
                (True, config.hooks[: config.managed]),
                (False, config.hooks[config.managed :]),
            )
            for hook in hooks
        ]
        # Layers in order; sorting is stable, so the order inside a layer stays as configured, and
        # among another platform's hooks as that platform has it.
        bound = sorted([*bound, *self._functions], key=lambda each: _rank(each.hook))
        explains = self.explains and config.journal.enabled
        return Engine(
            bound,
            tools=registry.tools,
            project_allow=config.project_allow,
            explains=explains,
            max_context=config.max_context,
        )

    def files_of(self, hook: Hook) -> str:
        """A digest of the files that a hook runs here; empty where there are none."""
        return self.loader.content_of(hook, self.env.get("HOME", ""))

    async def aclose(self) -> None:
        """Ends worker processes and connections of this app's handlers."""
        for module in self.kit.handlers.values():
            if (close := getattr(module, "aclose", None)) is not None:
                await close()


def _share_state(home: str, *, brief: bool) -> Callable[[], State]:
    """Opens the state once for all who ask, and not before somebody does."""

    @cache
    def open_state() -> State:
        from hookline.store.state import StateDatabase

        return StateDatabase(home, brief=brief)

    return open_state


def _rank(hook: Hook) -> int:
    return Layer.PROJECT if hook.native else min(hook.source.layer, Layer.PROJECT)


def _join(cwd: str, path: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))


def _forms(path: str) -> tuple[str, str]:
    """A whole path as it is written, and with its links followed."""
    return os.path.abspath(path), os.path.realpath(path)


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError as exc:
        raise HooklineError(f"the current directory cannot be used: {exc.strerror}") from exc


def _from_here(path: str | None) -> str | None:
    """A name in the environment is meant from where the person is, not the event."""
    return os.path.join(_directory(), path) if path else None


def open_loader(
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    *,
    config: str | None = None,
    edited: bool = False,
) -> Loader:
    """A loader for people's commands, which may take their settings from the environment."""
    return open_app(env, cwd, config=config, edited=edited).loader


def open_app(
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    *,
    config: str | None = None,
    edited: bool = False,
    remember: bool = False,
) -> App:
    """An app for people's commands: HOOKLINE_HOME, _CONFIG and _TRUST are honoured."""
    env = os.environ if env is None else env
    return App(
        env=dict(env),
        cwd=os.path.abspath(cwd) if cwd else _directory(),
        home=env.get("HOOKLINE_HOME") or None,
        config=config or _from_here(env.get("HOOKLINE_CONFIG")),
        edited=edited,
        trust=env.get("HOOKLINE_TRUST") or None,
        remember=remember,
    )
