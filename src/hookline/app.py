"""Joins the parts: config files → hooks → engine. The only module that knows them all."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from hookline import registry
from hookline.config.discover import MANAGED_FILE, home_dir, project_root
from hookline.config.load import Loader
from hookline.config.types import Config, Kit
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.errors import DecodeError, HooklineError, StateError
from hookline.model.events import Event, SessionStart, ToolEvent, UserPromptSubmit
from hookline.model.hook import Hook, Layer
from hookline.model.journal import JournalSettings
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller, PinnedFiles, Services
from hookline.model.verdicts import Verdict
from hookline.reporting import first_notices
from hookline.sessions import Speaker, judge
from hookline.store.answers import Answers, Arrival, FirstAnswers
from hookline.store.memory import BriefMemories, SessionMemories
from hookline.store.sessions import MemoryRoots, SessionRoots

if TYPE_CHECKING:
    from hookline.config.hosting import Hosted

__all__ = ["MAX_DEPTH", "App", "Client"]

# A hook that runs an agent that runs hookline is normal; three levels of it are a loop.
MAX_DEPTH = 3
_ENGINES_KEPT = 32


class Client(Speaker, Protocol):
    """Whoever is calling, where that is more than the one dialect of the event."""

    @property
    def ids(self) -> Sequence[str]:
        """The dialects that the caller may speak."""


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
        self.attempt = 1
        self.umask = -1
        self.arrived: float | None = None
        """When this caller's event came, by the monotonic clock; None: now."""
        self._journal: JournalSettings | None = None
        self.configured = True
        """Whether anything is in force there that could be missed."""
        self.config = None if config is None else _joined(cwd, config)
        self.home = home or home_dir(person)
        services = Services(
            codec=registry.dialect,
            builtin=registry.builtin,
            pins=self._pins_for,
        )
        self.kit = Kit(registry.handlers(), services, natives=registry.native_files)
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
        self._own = tuple(dict.fromkeys(form for path in own if path for form in _forms(path)))
        self._roots = SessionRoots(self.home) if remember else MemoryRoots()
        self._memories = SessionMemories(self.home) if remember else BriefMemories()
        self.answers: FirstAnswers = Answers(self.home)
        self._policy = repr((self.config, self.loader.user_file, managed, trust, edited, root))
        self._functions = tuple(functions)
        self._hosted: Hosted | None = None
        self._person = person
        self._root = root
        # Only what goes on between processes is in the journal.
        self._explains = remember
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

    def _pins_for(self, hook: Hook) -> PinnedFiles:
        if self._hosted is not None and hook.native and self._hosted.runs(hook):
            from hookline.config.copies import FreeFiles

            return FreeFiles()  # a person asked for them by name
        # The loader needs the services to check a config, and they need the loader to run it.
        return self.loader.pins_for(hook)

    def root_for(self, event: Event, client: Client | None = None) -> tuple[str, bool]:
        """The session's project root, fixed at its first event; and whether this was the first."""
        return self._root_for(event, _sessions(event, client))

    def _root_for(self, event: Event, sessions: Sequence[str]) -> tuple[str, bool]:
        def first_guess() -> str:
            variable = registry.dialect(event.dialect).support.project_variable
            return self._root or project_root(event.cwd, project_var=self.env.get(variable or ""))

        root, first = self._roots.root_for(sessions[0], first_guess)
        if len(sessions) > 1:
            for other in sessions[1:]:
                self._roots.root_for(other, lambda: root)
        return root, first

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
        explains = self._explains and config.journal.enabled
        return Engine(
            bound, tools=registry.tools, project_allow=config.project_allow, explains=explains
        )

    async def answer(
        self,
        event: Event,
        *,
        entry: str,
        timeout: float | None = None,
        client: Client | None = None,
        again: Callable[[], Event] | None = None,
    ) -> Outcome:
        """As ``fire``; but a call that was answered through another entry is not judged again.

        ``again`` reads the same event once more, so that this one need not be kept to compare.
        """
        callers = client.ids if client is not None else (event.dialect,)
        arrival = Arrival.of(event, callers=callers, entry=entry, policy=self._policy, again=again)
        started = monotonic()
        async with self.answers.once(arrival, timeout=timeout) as slot:
            if slot.known is not None:
                return slot.known.outcome(event, registry.tools(event.dialect))
            left = None if timeout is None else timeout - (monotonic() - started)
            outcome = await self.fire(event, timeout=left, client=client)
            # An allow that could not be said here is still to be said through the other entry.
            if outcome.verdict is not Verdict.ALLOW or _is_said(outcome, client):
                slot.keep(outcome)
        return outcome

    async def fire(
        self, event: Event, *, timeout: float | None = None, client: Client | None = None
    ) -> Outcome:
        """Runs the hooks of ``event``. Raises HooklineError when the config cannot be loaded."""
        try:
            return await self._fire(event, timeout, client)
        except StateError as error:
            if not isinstance(event, UserPromptSubmit):
                raise
            # A prompt does nothing by itself. Tools stay closed: their project is not known.
            notice = f"{error}. Until it can, tools are blocked"
        brief = self.for_caller(self.env, self.cwd, attempt=self.attempt, umask=self.umask)
        brief._roots, brief._memories = MemoryRoots(), BriefMemories()
        outcome = await brief._fire(event, timeout, client)
        return outcome.with_notices(*outcome.answer.notice, notice)

    async def _fire(self, event: Event, timeout: float | None, client: Client | None) -> Outcome:
        if "\0" in event.cwd:
            raise DecodeError("the event's cwd has a NUL character in it, which no directory has")
        if not event.cwd.startswith("/"):
            if not self.cwd:
                raise HooklineError("nobody can say where this happened: the directory is gone")
            event = replace(event, cwd=_joined(self.cwd, event.cwd))
        sessions = _sessions(event, client)
        root, first, config = self._settle(event, sessions)
        caller = Caller(
            env=self.env,
            project_dir=root,
            deadline=None if timeout is None else monotonic() + timeout,
            attempt=self.attempt,
            depth=_depth(self.env),
            umask=self.umask,
            home=self.home,
            own=self._own,
        )
        try:
            outcome = await judge(
                event,
                caller,
                speaker=client or registry.dialect(event.dialect),
                config=config,
                engine=self.engine_for(config),
                memories=self._memories,
                sessions=sessions,
            )
        except HooklineError:
            # The session's memory failed; where no hook is active, it could hold nothing back.
            if self.configured:
                raise
            outcome = Outcome(event=event)
        starts = isinstance(event, SessionStart) or (first and isinstance(event, UserPromptSubmit))
        if starts or (first and config.notes):
            told = first_notices(event, config, self.loader, self.env, counts=self._explains)
            outcome = outcome.with_notices(*told, *outcome.answer.notice)
        return replace(outcome, project_dir=root, config=config.digest)

    def files_of(self, hook: Hook) -> str:
        """A digest of the files that a hook runs here; empty where there are none."""
        return self.loader.content_of(hook, self.env.get("HOME", ""))

    def _settle(self, event: Event, sessions: Sequence[str]) -> tuple[str, bool, Config]:
        """The session's root and the config in force there."""
        try:
            root, first = self._root_for(event, sessions)
        except HooklineError:
            # Without a place to remember the root, only an empty config is safe to go on with.
            config = self.config_for(event, event.cwd)
            if config.files or config.notes:
                raise
            return event.cwd, True, config
        return root, first, self.config_for(event, root)

    async def aclose(self) -> None:
        """Ends worker processes and connections of this app's handlers."""
        for module in self.kit.handlers.values():
            if (close := getattr(module, "aclose", None)) is not None:
                await close()


def _sessions(event: Event, client: Client | None) -> Sequence[str]:
    """The session's names, one for each caller it may belong to: later events may tell better."""
    session = event.session_id
    if client is None:
        return (f"{event.dialect}:{session}" if session else "",)
    return [f"{each}:{session}" if session else "" for each in client.ids]


def _is_said(outcome: Outcome, client: Client | None) -> bool:
    """Whether the caller is told the verdict as it is."""
    said = (client or registry.dialect(outcome.event.dialect)).translate(outcome).answer
    return said.verdict is outcome.verdict


def _rank(hook: Hook) -> int:
    return Layer.PROJECT if hook.native else min(hook.source.layer, Layer.PROJECT)


def _joined(cwd: str, path: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))


def _forms(path: str) -> tuple[str, str]:
    """A whole path as it is written, and with its links followed."""
    return os.path.abspath(path), os.path.realpath(path)


def _depth(env: Mapping[str, str]) -> int:
    text = env.get("HOOKLINE_DEPTH")
    if text is None:
        return 0  # as it is unless a hook has started the agent
    depth = int(text) if text.isdecimal() and len(text) < 10 else MAX_DEPTH + 1
    if depth > MAX_DEPTH:
        raise HooklineError(
            f"HOOKLINE_DEPTH is `{text[:20]}`: hooks start agents whose hooks start agents; "
            f"more than {MAX_DEPTH} levels are refused"
        )
    return depth
