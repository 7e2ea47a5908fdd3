"""One event through all its hooks: select → run → merge. Read this first.

The engine knows the laws and nothing else: not where hooks come from, how a handler works,
or what a platform can say.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import monotonic, perf_counter_ns
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.merge import (
    disagreements,
    drop_overwritten,
    find_news,
    fit,
    fit_beside,
    merge,
)
from hookline.engine.plan import Bound, Tier, plan
from hookline.model.answers import (
    BLOCKING,
    NOT_ASKED,
    PASS,
    Announcement,
    Answer,
    Rewrite,
    Verdict,
    deny,
    notice,
)
from hookline.model.errors import HandlerAnswerError, HandlerError, HandlerTimeout
from hookline.model.events import Event
from hookline.model.hook import Hook, Layer, OnError, loads_code
from hookline.model.outcome import Outcome, Run, Substitution
from hookline.model.ports import NOBODY, Call, Caller, Match, needs_loop
from hookline.model.rewriting import native_input, rewritten
from hookline.model.text import cut_texts, visible
from hookline.model.tools import CANONICAL_TOOLS, ToolTable

__all__ = ["Engine"]

# A handler ends itself at its deadline; this is for one that does not.
_BACKSTOP = 0.3
_ANY = Match()
_NO_MOMENTS: Mapping[str, Mapping[str, Any]] = {}
# As much of an id as tells events apart, and as a person would type: a client's begins with ten
# digits of time, and agents do several things in one millisecond.
_ID = 16
# Characters of all context together that one event gets, unless the person says otherwise.
_MAX_CONTEXT = 10_000
# Characters of a builtin's reason that the model gets.
_LONGEST = 200


class _Trail(Struct):
    """What has happened to one event so far."""

    event: Event
    runs: list[Run]
    said: list[tuple[Run, Answer]]
    substitutions: list[Substitution]
    ended: bool = False
    held: "_Held | None" = None


class Engine:
    """A fixed list of hooks, ready to judge events."""

    def __init__(
        self,
        hooks: Iterable[Bound],
        *,
        tools: Callable[[str], ToolTable] = lambda dialect: CANONICAL_TOOLS,
        project_allow: bool = False,
        explains: bool = False,
        max_context: int | None = None,
    ) -> None:
        self._plan = plan(hooks)
        self.heard = frozenset(event.event_id() for event in self._plan)
        """The ids of all events that some hook is for."""
        self._tools = tools
        self._project_allow = project_allow
        self._explains = explains
        self._max_context = _MAX_CONTEXT if max_context is None else max_context

    async def handle(self, event: Event, caller: Caller = NOBODY) -> Outcome:
        """The outcome of ``event``. A hook's failure is part of it, never an exception."""
        tiers = self._plan.get(type(event))
        if tiers is None:
            return Outcome(event=event)
        trail = _Trail(event, [], [], [])
        for tier in tiers:
            hooks = [bound for bound in tier.hooks if bound.always] if trail.ended else tier.hooks
            if tier.instant:
                runs, quiet = _run_instant(hooks, trail.event, caller)
            else:
                runs, quiet = await self._run(hooks, trail.event, caller), False
            if quiet:
                trail.runs += runs
            else:
                self._take_in(runs, trail)
        if trail.event is not event and not trail.ended:
            await self._rejudge(tiers, trail, caller)
        return self._conclude(event, trail)

    async def extend(
        self,
        outcome: Outcome,
        event: Event,
        caller: Caller,
        *,
        ended: bool = False,
        told: Sequence[Run] | None = None,
    ) -> Outcome:
        """The outcome with what hooks say of a further event of the same moment.

        A hook that has run is not asked twice, unless ``told`` are all that heard of this before.
        ``ended``: only hooks that always run are asked.
        """
        ran = {id(run.hook) for run in (outcome.runs if told is None else told)}
        trail = _Trail(event, [], [], [], ended)
        for tier in self._plan.get(type(event), ()):
            hooks = [
                bound
                for bound in tier.hooks
                if id(bound.hook) not in ran and (bound.always or not trail.ended)
            ]
            self._take_in(await self._run(hooks, trail.event, caller), trail)
        added = self._conclude(event, trail)
        if not added.runs:
            return outcome
        changes = [*outcome.substitutions, *added.substitutions]
        added = replace(added, answer=fit_beside(added.answer, outcome.event, changes))
        merged = self._limit(merge((outcome.answer, added.answer)), changes)
        return replace(
            outcome,
            answer=merged,
            runs=(*outcome.runs, *added.runs),
            substitutions=tuple(changes),
            signature="\n".join(
                each.signature
                for each in (outcome, added)
                if each.signature and each.verdict is merged.verdict
            ),
        )

    async def _run(self, hooks: Sequence[Bound], event: Event, caller: Caller) -> list[Run]:
        """The runs of one tier, in configured order whatever finishes first."""
        if any(bound.hook.lane for bound in hooks):
            await needs_loop()
            from hookline.engine.lanes import run_lanes

            table = self._tools(event.dialect)
            return await run_lanes(hooks, event, lambda b, e: _run_one(b, e, caller), table)
        # Before anybody waits: of many hooks most are not meant, and a process that has nothing
        # to wait for answers without an event loop.
        begun = [_begun(bound, event, caller) for bound in hooks]
        due = [place for place, each in enumerate(begun) if isinstance(each, _Due)]
        if due:
            await needs_loop()
            import asyncio

            waits = [_run_waiting(cast(_Due, begun[place])) for place in due]
            runs = [await waits[0]] if len(waits) == 1 else await asyncio.gather(*waits)
            for place, run in zip(due, runs, strict=True):
                begun[place] = run
        return [cast(Run, each) for each in begun if each is not None]

    def _take_in(self, runs: Sequence[Run], trail: _Trail) -> None:
        """Adds a tier's answers to the trail, and pipes its rewrites on to the next tier."""
        table = self._tools(trail.event.dialect)
        rewrites = []
        for each in runs:
            run, answer = self._fitted(each, trail, table)
            trail.runs.append(run)
            if not run.counts or answer is PASS:
                continue
            if answer.rewrite:
                trail.held = trail.held or _Held()
                rewrite, kept = trail.held.over(answer.rewrite, run.hook)
                trail.substitutions += kept
                answer = replace(answer, rewrite=rewrite)
                rewrites.append((run.hook, rewrite))
            trail.said.append((run, answer))
            trail.ended |= answer.verdict >= Verdict.DENY
        # Who saw the earlier rewrite and changes it again does not disagree with it.
        unaware = [(hook.name, rewrite) for hook, rewrite in rewrites if not hook.is_piped]
        if len(unaware) > 1:
            trail.substitutions += disagreements(unaware)
        for _, rewrite in rewrites:
            trail.event = rewritten(trail.event, rewrite, table)

    def _fitted(self, run: Run, trail: _Trail, table: ToolTable) -> tuple[Run, Answer]:
        """The run, and its answer as this event and this hook's layer let it count."""
        event, hook = trail.event, run.hook
        from_project = hook.source.layer >= Layer.PROJECT
        try:
            answer, changed = fit(run.answer, event)
            if from_project and answer.rewrite.env:
                _check_env(answer.rewrite.env)
        except HandlerAnswerError as exc:
            failed, answer = _explain_failure(hook, event, exc)
            run, changed = replace(run, answer=answer, failed=failed), []
        if answer.verdict is Verdict.ALLOW and from_project and not self._project_allow:
            why = f"`{hook.name}` is in a project file, and `project_allow` is not set"
            changed.append(Substitution("allow", "pass", why))
            answer = replace(answer, verdict=Verdict.PASS, reason="")
        if answer.rewrite.input is not None:
            patch = native_input(event, answer.rewrite.input, table)
            answer = replace(answer, rewrite=replace(answer.rewrite, input=patch))
        if run.counts:
            trail.substitutions += changed
        return run, answer

    async def _rejudge(self, tiers: Sequence[Tier], trail: _Trail, caller: Caller) -> None:
        """Law 5: every guard judges the final input, and none of them may still change it."""
        final, table = trail.event, self._tools(trail.event.dialect)
        judged = {id(run.hook) for run in trail.runs if run.seen is final}
        earlier = {id(run.hook): answer for run, answer in trail.said}
        guards = [
            bound
            for tier in tiers
            for bound in tier.hooks
            if bound.hook.guard and bound.counts and id(bound.hook) not in judged
        ]
        for each in await self._run(guards, final, caller):
            run, answer = self._fitted(each, trail, table)
            if rewritten(final, answer.rewrite, table) is not final:
                unsettled = replace(run, answer=_unsettled(run))
                run, answer = self._fitted(unsettled, trail, table)
            run = replace(run, rejudged=True)
            trail.runs.append(run)
            news = find_news(answer, earlier.get(id(run.hook), PASS))
            if news is not PASS:
                trail.said.append((run, news))

    def _conclude(self, event: Event, trail: _Trail) -> Outcome:
        if not trail.said and not trail.substitutions:
            return Outcome(event=event, runs=tuple(trail.runs))
        answers = []
        given: set[Verdict] = set()
        variables = {id(run) for run, said in trail.said if said.rewrite.env}
        for run, said in drop_overwritten(trail.said):
            answer = said
            # Variables are input, too: `LD_PRELOAD` turns an allowed command into another one.
            other_env = bool(variables - {id(run)})
            if answer.verdict is Verdict.ALLOW and (run.seen is not trail.event or other_env):
                why = f"`{run.hook.name}` allowed another input than the final one"
                trail.substitutions.append(Substitution("allow", "pass", why))
                answer = replace(answer, verdict=Verdict.PASS, reason="")
            answers.append(_with_one_reason(answer, run, given))
        merged = self._limit(merge(answers), trail.substitutions)
        signature = ""
        if merged.verdict in BLOCKING:
            hooks = [run.hook for run, said in trail.said if said.verdict is merged.verdict]
            explain = f"\nhookline explain {event.id[:_ID]}" if self._explains else ""
            signature = f"{_sign(hooks)}{explain}"
        return Outcome(
            event=event,
            answer=merged,
            runs=tuple(trail.runs),
            substitutions=tuple(trail.substitutions),
            final=None if trail.event is event else trail.event,
            signature=signature,
        )

    def _limit(self, merged: Answer, changes: list[Substitution]) -> Answer:
        """As much context as one event gets, and no follow-up of a run that ends."""
        if merged.context:
            kept, cut = cut_texts(merged.context, self._max_context)
            if cut:
                why = f"an event gets {self._max_context:,} characters (max_context); "
                why += f"{cut:,} were cut"
                changes.append(Substitution("context", "shorter context", why))
                merged = replace(merged, context=kept)
        if merged.verdict is Verdict.HALT and merged.follow_up:
            merged = replace(merged, follow_up=())
        return merged


def _run_instant(hooks: Sequence[Bound], event: Event, caller: Caller) -> tuple[list[Run], bool]:
    """The runs of hooks that wait for nothing, and whether every one of them passed.

    An embedding program pays for this loop on each of its own tool calls, so it is one frame
    round the hooks' own and reads the clock once per hook.
    """
    runs: list[Run] = []
    quiet = True
    started = perf_counter_ns()
    for bound in hooks:
        failed, moments = None, _NO_MOMENTS
        try:
            if bound.match is not None and bound.match.find(event, caller) is None:
                continue
            assert bound.answer is not None
            answer = bound.answer(event, caller)
            if answer is not PASS:
                quiet = False
                answer, moments = _open_answer(answer)
        except KeyboardInterrupt:
            raise
        except BaseException as exc:  # a hook that calls sys.exit() has failed, no more than that
            failed, answer = _explain_failure(bound.hook, event, exc)
            quiet = False
        now = perf_counter_ns()
        runs.append(Run(bound.hook, answer, now - started, failed, event, moments=moments))
        started = now
    return runs, quiet


class _Due(Struct, frozen=True):
    """A hook that is meant, and that has to be waited for."""

    bound: Bound
    event: Event
    caller: Caller
    match: Match
    started: int


def _begun(bound: Bound, event: Event, caller: Caller) -> Run | _Due | None:
    """As much of a run as waits for nothing: all of it, None if it is not meant, or what is due."""
    if bound.handler.instant:
        runs, _ = _run_instant((bound,), event, caller)
        return runs[0] if runs else None
    started = perf_counter_ns()
    try:
        match = bound.match.find(event, caller) if bound.match is not None else _ANY
    except KeyboardInterrupt:
        raise
    except BaseException as exc:
        failed, answer = _explain_failure(bound.hook, event, exc)
        return Run(bound.hook, answer, perf_counter_ns() - started, failed, event)
    return None if match is None else _Due(bound, event, caller, match, started)


async def _run_one(bound: Bound, event: Event, caller: Caller) -> Run | None:
    begun = _begun(bound, event, caller)
    return await _run_waiting(begun) if isinstance(begun, _Due) else begun


async def _run_waiting(due: _Due) -> Run | None:
    import asyncio

    hook, handler, event, caller = due.bound.hook, due.bound.handler, due.event, due.caller
    assert not handler.instant
    failed, moments = None, _NO_MOMENTS
    try:
        left = hook.timeout if caller.deadline is None else caller.deadline - monotonic()
        timeout = min(hook.timeout, left)
        if timeout <= 0:
            raise HandlerTimeout(0)
        async with asyncio.timeout(timeout + _BACKSTOP):
            answer = await handler.run(Call(event, hook, caller, due.match, timeout))
        if answer is NOT_ASKED:
            return None
        answer, moments = _open_answer(answer)
    except KeyboardInterrupt:
        raise
    except BaseException as exc:
        if isinstance(exc, asyncio.CancelledError) and _is_cancelled():
            raise  # it is the event that was given up, not the hook that failed
        failed, answer = _explain_failure(hook, event, exc)
    took = perf_counter_ns() - due.started
    return Run(hook, answer, took, failed, event, moments=moments)


def _open_answer(said: object) -> tuple[Answer, Mapping[str, Mapping[str, Any]]]:
    answer, moments = said, _NO_MOMENTS
    if type(said) is Announcement:
        answer, moments = said.answer, said.moments
    if type(answer) is not Answer:
        raise HandlerAnswerError(f"answered with a {type(answer).__name__}, not an Answer")
    return answer, moments


def _is_cancelled() -> bool:
    import asyncio

    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _unsettled(run: Run) -> Answer:
    """In place of an answer that would change what was rewritten already, at least as strict."""
    verdict = max(run.answer.verdict, Verdict.DENY)
    why = (
        f"hook `{run.hook.name}` would change the rewritten input once more. A rewrite must "
        "settle: let it leave its own result alone, or set `guard: false` on it."
    )
    reason = f"{run.answer.reason}\n{why}" if verdict is run.answer.verdict else why
    return Answer(verdict=verdict, reason=reason)


def _with_one_reason(answer: Answer, run: Run, said: set[Verdict]) -> Answer:
    """Of builtins that hold back the same act, the first gives a reason, read at a glance."""
    if answer.verdict not in BLOCKING or run.hook.handler.kind != "builtin" or run.failed:
        return answer
    if answer.verdict in said:
        return replace(answer, verdict=Verdict.PASS, reason="")
    said.add(answer.verdict)
    reason = answer.reason
    return answer if len(reason) <= _LONGEST else replace(answer, reason=f"{reason[:199]}…")


def _sign(hooks: Sequence[Hook]) -> str:
    """A person who is held back reads by whom: each hook's name, file and line."""
    places = (f", {hook.source}" if hook.source.file else "" for hook in hooks)
    return "\n".join(f"— {hook.name}{place}" for hook, place in zip(hooks, places, strict=True))


# What one file may rewrite of what another has rewritten, and what no project may


class _Held:
    """Who has rewritten what so far; a hook of a lower layer cannot take it back.

    Guards judge rewritten input again, so no rewrite of it passes them. Output, prompts and the
    rest have no guards: there the higher layer has the last word.
    """

    __slots__ = ("_by",)

    def __init__(self) -> None:
        self._by: dict[str, Hook] = {}

    def over(self, rewrite: Rewrite, hook: Hook) -> tuple[Rewrite, list[Substitution]]:
        """As much of a rewrite as this hook may do, and what became of the rest."""
        kept: dict[str, Any] = {}
        changed: list[Substitution] = []
        for part in rewrite.parts():
            if part == "input":
                continue
            if part == "env":
                kept[part] = self._variables(rewrite, hook, changed)
            elif not self._may(part, hook, changed):
                kept[part] = None
        return (replace(rewrite, **kept) if kept else rewrite), changed

    def _variables(
        self, rewrite: Rewrite, hook: Hook, changed: list[Substitution]
    ) -> dict[str, Any] | None:
        env = rewrite.env or {}
        return {name: env[name] for name in env if self._may(f"env.{name}", hook, changed)} or None

    def _may(self, part: str, hook: Hook, changed: list[Substitution]) -> bool:
        other = self._by.setdefault(part, hook)
        if other.source.layer >= hook.source.layer:
            self._by[part] = hook
            return True
        changed.append(
            Substitution(
                f"rewrite of {part} by `{hook.name}`",
                f"rewrite of {part} by `{other.name}`",
                f"{other.source} outranks {hook.source}",
            )
        )
        return False


def _check_env(variables: Iterable[str]) -> None:
    """Raises HandlerAnswerError for a variable by which a project would choose what runs."""
    names = [name for name in variables if loads_code(name)]
    if names:
        raise HandlerAnswerError(
            f"`rewrite.env` sets {', '.join(names)}, which chooses code that programs load; "
            "only the user's own config may"
        )


# What it means that a hook failed


def _explain_failure(hook: Hook, event: Event, exc: BaseException) -> tuple[str, Answer]:
    """Law 3: what a hook's failure means is the hook's own choice, within what the event can do."""
    what = _name_failure(exc, hook)
    text = f"hook `{hook.name}` failed: {what}"
    if hook.on_error is OnError.BLOCK and not event.continues and (event.gate or event.hides):
        reason = f"{text}. It guards this, so this is blocked until it works again."
        return what, deny(reason)
    where = f" ({hook.source})" if hook.source.file else ""
    return what, PASS if hook.on_error is OnError.IGNORE else notice(f"{text}{where}")


def _name_failure(exc: BaseException, hook: Hook) -> str:
    """What happened, in words; never empty, whatever the exception makes of itself."""
    try:
        text = visible(str(exc))
    except Exception:
        text = "(it cannot be shown)"
    if isinstance(exc, HandlerError):
        return text or type(exc).__name__
    if isinstance(exc, TimeoutError):
        return text or f"no answer within {hook.timeout:g} s"
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__
