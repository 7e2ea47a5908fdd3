"""Events judged once more, without what hooks do to the world.

Rules are asked for real, and builtins that only answer. Any other hook is taken to say what it said
when the event happened, if it ran then, is the same still and is asked the same; else what it would
say is not known.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from msgspec import Struct, convert
from msgspec.structs import replace

from hookline.app import App
from hookline.explaining.cases import Case
from hookline.explaining.recorded import answer_of, file_of
from hookline.model.answers import PASS, Announcement, Answer
from hookline.model.errors import HandlerError, HooklineError
from hookline.model.events import Event
from hookline.model.hook import Hook
from hookline.model.journal import UNTOLD, RecordedRun
from hookline.model.outcome import Outcome
from hookline.model.ports import Call, Caller, Handler, HandlerModule, KeyProblem, Services
from hookline.model.rewriting import changed
from hookline.pipeline.judge import judge

__all__ = ["Doing", "Judge", "Judged"]

Doing: TypeAlias = tuple[str, str]
"""What a hook does: the digests of its entry, and of the files that it runs."""

# These answer from what they are given; of builtins, those that do not say otherwise.
_HARMLESS = frozenset({"rule", "native"})
_SOMETIMES = "builtin"


class Judged(Struct, frozen=True):
    """What the hooks of one config say of one event."""

    outcome: Outcome
    recalled: tuple[str, ...] = ()
    """Hooks that were not run, and are taken to say what they said then."""
    unknown: Mapping[Doing, str] = {}
    """Hooks that were not run, and of which nothing is known: they count as pass."""


class Judge:
    """One config, asked about many events."""

    def __init__(self, open_for: Callable[[str], App], *, run: bool = False) -> None:
        """``open_for`` gives an app for a project directory; ``run`` runs hooks for real."""
        self._open_for = open_for
        self._run = run
        self._apps: dict[str, App] = {}
        self._asked = _Asked()
        self._notes: dict[str, None] = {}

    async def judge(self, case: Case) -> Judged:
        """What they say. Raises HooklineError when the config cannot be loaded."""
        if case.event is None:
            raise HooklineError(f"{case.name} has no event: {case.why}")
        app = self._app_for(case.project_dir)
        self._asked.begin(case, app)
        outcome = await judge(case.event, app)
        notes = app.config_for(outcome.event, outcome.project_dir).notes
        self._notes.update((note.message, None) for note in notes if note.kind != "doubt")
        return Judged(outcome, tuple(self._asked.recalled), self._asked.unknown)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the configs that were asked, such as an edit not trusted."""
        return tuple(self._notes)

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
            else _StandIn(module, self._asked, _of_builtin if kind == _SOMETIMES else _of_any)
            for kind, module in modules.items()
        }


class _Care(Struct, frozen=True):
    """What is to be minded when a hook is asked again."""

    acts: frozenset[str]
    """The events on which it does more than answer, and is not asked."""
    moment: bool = False
    """It answers from how things are just then: what it said then counts before that."""


def _of_any(hook: Hook, services: Services) -> _Care:
    return _Care(frozenset(hook.events))


def _of_builtin(hook: Hook, services: Services) -> _Care:
    values = hook.handler.values
    module = services.builtin(values["use"])
    options = convert(values.get("with", {}), module.Options)

    def stated(name: str) -> Any:
        found = getattr(module, name, ())
        return found(options) if callable(found) else found

    return _Care(frozenset(stated("ACTS")).intersection(hook.events), bool(stated("MOMENT")))


class _Asked:
    """What the event at hand is known to have been told, and who was asked in vain."""

    def __init__(self) -> None:
        self._case: Case
        self._app: App
        self._doings: dict[int, tuple[Hook, Doing]] = {}
        self.recalled: dict[str, None] = {}
        self.unknown: dict[Doing, str] = {}

    def begin(self, case: Case, app: App) -> None:
        self._case, self._app = case, app
        self.recalled, self.unknown = {}, {}

    def said_by(self, hook: Hook, event: Event) -> Answer:
        """What the hook said then; pass when nothing is known. Raises HandlerError if it failed."""
        answer = self.recall(hook, event)
        if answer is None:
            self.unknown[self._doing(hook)] = hook.name
            return PASS
        return answer

    def recall(self, hook: Hook, event: Event) -> Answer | None:
        """The same; None when nothing is known."""
        run = self._run_of(hook, self._doing(hook), event)
        if run is None:
            return None
        self.recalled[hook.name] = None
        if run.failed is not None:
            raise HandlerError(run.failed)
        return answer_of(run)

    def _doing(self, hook: Hook) -> Doing:
        kept = self._doings.get(id(hook))
        if kept is None or kept[0] is not hook:
            doing = hook.doing(), self._app.files_of(hook)
            kept = self._doings[id(hook)] = (hook, doing)
        return kept[1]

    def _run_of(self, hook: Hook, doing: Doing, event: Event) -> RecordedRun | None:
        """What the hook did then, if it would do the same today."""
        case = self._case
        if case.then is None or case.event is None or UNTOLD in doing:
            return None
        same = (*doing, changed(event, case.event))
        mine = [run for run in case.then.runs if (run.doing, run.files, run.saw) == same]
        # It may have another name or place by now; where several do the same, its own counts.
        for own in ((hook.name, hook.source.file), (hook.name,)):
            named = [run for run in mine if (run.hook, file_of(run.source))[: len(own)] == own]
            mine = named or mine
        return mine[-1] if mine else None


class _StandIn:
    """In place of a handler module: the same keys, and nothing happens to the world."""

    def __init__(
        self, module: HandlerModule, asked: _Asked, care: Callable[[Hook, Services], _Care]
    ) -> None:
        self.KEYS = module.KEYS
        self.EXTRA_KEYS = module.EXTRA_KEYS
        self.COMBINES = module.COMBINES
        self._module = module
        self._asked = asked
        self._care = care

    def check(
        self, values: Mapping[str, Any], hook: Hook, services: Services
    ) -> Sequence[KeyProblem]:
        """As the module itself does."""
        return self._module.check(values, hook, services)

    def make(self, hook: Hook, services: Services) -> Handler:
        """One that remembers, where the hook itself would act."""
        care = self._care(hook, services)
        if care.acts.issuperset(hook.events):
            return _Remembered(hook, self._asked)
        made = self._module.make(hook, services)
        return _Careful(hook, self._asked, care, made) if care.acts or care.moment else made


class _Remembered:
    instant: ClassVar[Literal[True]] = True

    def __init__(self, hook: Hook, asked: _Asked) -> None:
        self._hook = hook
        self._asked = asked

    def answer(self, event: Event, caller: Caller) -> Answer:
        return self._asked.said_by(self._hook, event)


class _Careful:
    """One that remembers where it has to, and asks the hook itself where it can."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, hook: Hook, asked: _Asked, care: _Care, made: Handler) -> None:
        self._hook = hook
        self._asked = asked
        self._care = care
        self._made = made

    async def run(self, call: Call) -> Answer | Announcement:
        if call.event.event_id() in self._care.acts:
            return self._asked.said_by(self._hook, call.event)
        if self._care.moment:
            known = self._asked.recall(self._hook, call.event)
            if known is not None:
                return known
        if self._made.instant:
            return self._made.answer(call.event, call.caller)
        return await self._made.run(call)
