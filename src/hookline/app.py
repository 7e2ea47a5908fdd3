"""Joins the parts: config files → hooks → engine. The only module that knows them all."""

import os
from collections.abc import Mapping, Sequence
from time import monotonic

from msgspec.structs import replace

from hookline import registry
from hookline.config.discover import MANAGED_FILE, home_dir, project_root
from hookline.config.load import Loader
from hookline.config.types import Config, Kit
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.errors import HooklineError
from hookline.model.events import Event, SessionStart, ToolEvent
from hookline.model.hook import Hook
from hookline.model.memory import MAX_FOLLOW_UPS, capped, latched, on_event
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller, PinnedFiles, Services
from hookline.model.text import visible
from hookline.store.memory import BriefMemories, SessionMemories
from hookline.store.sessions import MemoryRoots, SessionRoots

__all__ = ["MAX_DEPTH", "App", "open_app", "open_loader"]

# A hook that runs an agent that runs hookline is normal; three levels of it are a loop.
MAX_DEPTH = 3
_ENGINES_KEPT = 32


class App:
    """hookline for one caller's environment: finds the hooks for an event and fires them."""

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
        self.config = None if config is None else _joined(cwd, config)
        self.home = home or home_dir(person)
        services = Services(
            codec=registry.dialect,
            builtin=registry.builtin,
            pins=self._pins_for,
        )
        self.kit = Kit(registry.handlers(), services)
        self.loader = Loader(
            self.kit,
            home=self.home,
            env=person,
            managed=managed,
            config_override=None if config is None else os.path.join(cwd, config),
            trust_env=trust,
            edited=edited,
        )
        self._roots = SessionRoots(self.home) if remember else MemoryRoots()
        self._memories = SessionMemories(self.home) if remember else BriefMemories()
        self._functions = tuple(functions)
        self._root = root
        self._engines: dict[int, tuple[Config, Engine]] = {}

    def _pins_for(self, hook: Hook) -> PinnedFiles:
        # The loader needs the services to check a config, and they need the loader to run it.
        return self.loader.pins_for(hook)

    def root_for(self, event: Event) -> tuple[str, bool]:
        """The session's project root, fixed at its first event; and whether this was the first."""
        variable = registry.dialect(event.dialect).support.project_variable
        return self._roots.root_for(
            f"{event.dialect}:{event.session_id}" if event.session_id else "",
            lambda: self._root or project_root(event.cwd, project_var=self.env.get(variable or "")),
        )

    def config_for(self, event: Event, root: str) -> Config:
        """Every hook in force for ``event``."""
        paths = event.tool.paths if isinstance(event, ToolEvent) else ()
        return self.loader.load(root, event.cwd, paths)

    def engine_for(self, config: Config) -> Engine:
        """The engine for a config; kept while the config stays the same."""
        kept = self._engines.get(id(config))
        if kept is None:
            while len(self._engines) >= _ENGINES_KEPT:
                self._engines.pop(next(iter(self._engines)))
            kept = self._engines[id(config)] = (config, self._build(config))
        return kept[1]

    def _build(self, config: Config) -> Engine:
        modules, services = self.kit.handlers, self.kit.services
        bound = [
            Bound(hook, modules[hook.handler.kind].make(hook, services)) for hook in config.hooks
        ]
        # Layers in order; sorting is stable, so the order inside a layer stays as configured.
        bound = sorted([*bound, *self._functions], key=lambda each: min(each.hook.source.layer, 3))
        return Engine(bound, tools=registry.tools, project_allow=config.project_allow)

    async def fire(self, event: Event, *, timeout: float | None = None) -> Outcome:
        """Runs the hooks of ``event``. Raises HooklineError when the config cannot be loaded."""
        depth = _depth(self.env)
        if not event.cwd.startswith("/"):
            # A directory that nobody finds would leave the project's hooks out of force.
            event = replace(event, cwd=_joined(self.cwd, event.cwd))
        root, first, config = self._settle(event)
        caller = Caller(
            env=self.env,
            project_dir=root,
            deadline=None if timeout is None else monotonic() + timeout,
            depth=depth,
        )
        try:
            outcome = await self._judge(event, config, caller)
        except HooklineError:
            # Only what the session remembers can fail here, and where no hook is in force there
            # is nothing it could hold back.
            if config.files or config.notes or self._functions:
                raise
            outcome = Outcome(event=event)
        if config.notes and (first or isinstance(event, SessionStart)):
            # Once a session: what is not in force must not go unnoticed.
            noted = (visible(note.message) for note in config.notes)
            notices = (*noted, *outcome.answer.notice)
            outcome = replace(outcome, answer=replace(outcome.answer, notice=notices))
        return outcome

    async def _judge(self, event: Event, config: Config, caller: Caller) -> Outcome:
        """The engine's outcome, within what the session remembers."""
        dialect = registry.dialect(event.dialect)
        limit = min(MAX_FOLLOW_UPS, dialect.support.stop_cap or MAX_FOLLOW_UPS)
        session = f"{event.dialect}:{event.session_id}" if event.session_id else ""
        with self._memories.open(session) as page:
            page.memory = on_event(page.memory, event, has_stop_flag=dialect.support.has_stop_flag)
            held = latched(page.memory, event)
            if held is not None:
                return held
            outcome = await self.engine_for(config).handle(event, caller)
            page.memory, outcome = capped(page.memory, outcome, limit=limit)
            latch = dialect.translate(outcome).latch
            if latch:
                page.memory = replace(page.memory, latch=latch)
        return outcome

    def _settle(self, event: Event) -> tuple[str, bool, Config]:
        """The session's root and the config in force there."""
        try:
            root, first = self.root_for(event)
        except HooklineError:
            # Without a place to remember the root, only an empty config is safe to go on with:
            # then there is nothing that leaving the project could take out of force.
            config = self.config_for(event, event.cwd)
            if config.files or config.notes:
                raise
            return event.cwd, True, config
        return root, first, self.config_for(event, root)

    async def aclose(self) -> None:
        """Ends worker processes and connections of this app's handlers."""
        for module in self.kit.handlers.values():
            close = getattr(module, "aclose", None)
            if close is not None:
                await close()


def _joined(cwd: str, path: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))


def _depth(env: Mapping[str, str]) -> int:
    text = env.get("HOOKLINE_DEPTH", "0")
    depth = int(text) if text.isdecimal() and len(text) < 10 else MAX_DEPTH + 1
    if depth > MAX_DEPTH:
        raise HooklineError(
            f"HOOKLINE_DEPTH is `{text[:20]}`: hooks start agents whose hooks start agents; "
            f"more than {MAX_DEPTH} levels are refused"
        )
    return depth


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
