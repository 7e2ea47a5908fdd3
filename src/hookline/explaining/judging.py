"""Events judged once more, without what hooks do to the world.

Rules are asked for real, and builtins that only answer. Any other hook is taken to say what it said
when the event happened, if it ran then and is the same still; else what it would say is not known.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar, Literal

from msgspec import Struct, convert
from msgspec.structs import replace

from hookline.app import App
from hookline.config.named import named_paths
from hookline.config.pins import glob_files
from hookline.explaining.cases import Case
from hookline.explaining.recorded import answer_of, file_of
from hookline.model.answers import PASS, Answer
from hookline.model.errors import HandlerError, HooklineError
from hookline.model.events import Event
from hookline.model.hook import Hook
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.outcome import Outcome
from hookline.model.ports import Call, Caller, Handler, HandlerModule, KeyProblem, Services

__all__ = ["Judge", "Judged"]

# These answer from what they are given; of builtins, those that do not say otherwise.
_HARMLESS = frozenset({"rule", "native"})
_SOMETIMES = "builtin"


class Judged(Struct, frozen=True):
    """What the hooks of one config say of one event."""

    outcome: Outcome
    recalled: tuple[str, ...] = ()
    """Hooks that were not run, and are taken to say what they said then."""
    unknown: tuple[str, ...] = ()
    """Hooks that were not run, and of which nothing is known: they count as pass."""


class Judge:
    """One config, asked about many events."""

    def __init__(self, open_for: Callable[[str], App], *, run: bool = False) -> None:
        """``open_for`` gives an app for a project directory; ``run`` runs hooks for real."""
        self._open_for = open_for
        self._run = run
        self._apps: dict[str, App] = {}
        self._asked = _Asked()

    async def judge(self, case: Case) -> Judged:
        """What they say. Raises HooklineError when the config cannot be loaded."""
        if case.event is None:
            raise HooklineError(f"{case.name} has no event: {case.why}")
        self._asked.begin(case.then)
        outcome = await self._app_for(case.project_dir).fire(case.event)
        return Judged(outcome, tuple(self._asked.recalled), tuple(self._asked.unknown))

    async def aclose(self) -> None:
        """Ends what hooks have started."""
        for app in self._apps.values():
            await app.aclose()

    def _app_for(self, project_dir: str) -> App:
        app = self._apps.get(project_dir)
        if app is None:
            app = self._apps[project_dir] = self._open_for(project_dir)
            if not self._run:
                # The loader keeps the real ones: they say what is wrong with a config.
                app.kit = replace(app.kit, handlers=self._harmless(app.kit.handlers))
        return app

    def _harmless(self, modules: Mapping[str, HandlerModule]) -> dict[str, HandlerModule]:
        return {
            kind: module
            if kind in _HARMLESS
            else _StandIn(module, self._asked, _acts if kind == _SOMETIMES else _always)
            for kind, module in modules.items()
        }


def _always(hook: Hook, services: Services) -> frozenset[str]:
    return frozenset(hook.events)


def _acts(hook: Hook, services: Services) -> frozenset[str]:
    """The events of the hook on which a builtin does more than answer."""
    values = hook.handler.values
    module = services.builtin(values["use"])
    acts = getattr(module, "ACTS", ())
    told = acts(convert(values.get("with", {}), module.Options)) if callable(acts) else acts
    return frozenset(told).intersection(hook.events)


class _Asked:
    """What the event at hand is known to have been told, and who was asked in vain."""

    def __init__(self) -> None:
        self.then: Recorded | None = None
        self.recalled: dict[str, None] = {}
        self.unknown: dict[str, None] = {}

    def begin(self, then: Recorded | None) -> None:
        self.then = then
        self.recalled, self.unknown = {}, {}

    def said_by(self, hook: Hook) -> Answer:
        """What the hook said then; pass when nothing is known. Raises HandlerError if it failed."""
        run = self._run_of(hook)
        if run is None:
            self.unknown[hook.name] = None
            return PASS
        self.recalled[hook.name] = None
        if run.failed is not None:
            raise HandlerError(run.failed)
        return answer_of(run)

    def _run_of(self, hook: Hook) -> RecordedRun | None:
        """What the hook did then, if it would do the same today."""
        then, doing = self.then, hook.doing()
        if then is None or _was_changed(hook, then.at):
            return None
        mine = [run for run in then.runs if (run.hook, run.doing) == (hook.name, doing)]
        # It may have been copied to another file; where several have it, that of its own counts.
        own = [run for run in mine if file_of(run.source) == hook.source.file] or mine
        # The last word is the one on the final input.
        return own[-1] if own else None


def _was_changed(hook: Hook, since: datetime) -> bool:
    """Whether a file that the hook names has come or been written to since a moment.

    The time at which its entry was last touched tells it, which nobody can set back.
    """
    moment = since.timestamp()
    for path in dict.fromkeys((*named_paths(hook), *glob_files(hook))):
        try:
            if os.stat(path).st_ctime > moment:
                return True
        except (OSError, ValueError):
            continue  # a word that is no name of a file, or of one that is not there
    return False


class _StandIn:
    """In place of a handler module: the same keys, and nothing happens to the world."""

    def __init__(
        self, module: HandlerModule, asked: _Asked, acts: Callable[[Hook, Services], frozenset[str]]
    ) -> None:
        self.KEYS = module.KEYS
        self.EXTRA_KEYS = module.EXTRA_KEYS
        self.COMBINES = module.COMBINES
        self._module = module
        self._asked = asked
        self._acts = acts

    def check(
        self, values: Mapping[str, Any], hook: Hook, services: Services
    ) -> Sequence[KeyProblem]:
        """As the module itself does."""
        return self._module.check(values, hook, services)

    def make(self, hook: Hook, services: Services) -> Handler:
        """One that remembers, where the hook itself would act."""
        acts = self._acts(hook, services)
        if acts.issuperset(hook.events):
            return _Remembered(hook, self._asked)
        made = self._module.make(hook, services)
        return _Partly(_Remembered(hook, self._asked), acts, made) if acts else made


class _Remembered:
    instant: ClassVar[Literal[True]] = True

    def __init__(self, hook: Hook, asked: _Asked) -> None:
        self._hook = hook
        self._asked = asked

    def answer(self, event: Event, caller: Caller) -> Answer:
        return self._asked.said_by(self._hook)


class _Partly:
    """One that remembers on some events, and asks the hook itself on the others."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, remembered: _Remembered, acts: frozenset[str], made: Handler) -> None:
        self._remembered = remembered
        self._acts = acts
        self._made = made

    async def run(self, call: Call) -> Answer:
        if call.event.event_id() in self._acts:
            return self._remembered.answer(call.event, call.caller)
        if self._made.instant:
            return self._made.answer(call.event, call.caller)
        return await self._made.run(call)
