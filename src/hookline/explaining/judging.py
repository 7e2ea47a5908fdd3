"""Events judged once more, without what hooks do to the world.

Rules and builtins are asked for real. A hook that runs a program, a function or a request is taken
to say what it said when the event happened, if it ran then; else what it would say is not known.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.app import App
from hookline.explaining.cases import Case
from hookline.explaining.recorded import answer_of, file_of
from hookline.explaining.surroundings import key_of
from hookline.model.answers import PASS, Answer
from hookline.model.errors import HandlerError, HooklineError
from hookline.model.events import Event
from hookline.model.hook import Hook
from hookline.model.journal import Recorded
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller, Handler, HandlerModule, KeyProblem, Services

__all__ = ["Judge", "Judged"]

# These answer from what they are given.
_HARMLESS = frozenset({"rule", "builtin", "native"})


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
            kind: module if kind in _HARMLESS else _StandIn(module, self._asked)
            for kind, module in modules.items()
        }


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
        runs = self.then.runs if self.then is not None else ()
        mine = [run for run in runs if (run.hook, file_of(run.source)) == key_of(hook)]
        if not mine:
            self.unknown[hook.name] = None
            return PASS
        self.recalled[hook.name] = None
        # The last word is the one on the final input.
        if mine[-1].failed is not None:
            raise HandlerError(mine[-1].failed)
        return answer_of(mine[-1])


class _StandIn:
    """In place of a handler module: the same keys, and nothing is run."""

    def __init__(self, module: HandlerModule, asked: _Asked) -> None:
        self.KEYS = module.KEYS
        self.EXTRA_KEYS = module.EXTRA_KEYS
        self.COMBINES = module.COMBINES
        self._module = module
        self._asked = asked

    def check(
        self, values: Mapping[str, Any], hook: Hook, services: Services
    ) -> Sequence[KeyProblem]:
        """As the module itself does."""
        return self._module.check(values, hook, services)

    def make(self, hook: Hook, services: Services) -> Handler:
        """One that remembers."""
        return _Remembered(hook, self._asked)


class _Remembered:
    instant: ClassVar[Literal[True]] = True

    def __init__(self, hook: Hook, asked: _Asked) -> None:
        self._hook = hook
        self._asked = asked

    def answer(self, event: Event, caller: Caller) -> Answer:
        return self._asked.said_by(self._hook)
