"""What the active hooks say of an event, within what its session remembers: its project, latches,
follow-ups, denials, and what the model or the person has yet to be told.
"""

import os
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Protocol, cast

from msgspec.structs import replace

from hookline import registry
from hookline.app import App
from hookline.config.discover import project_root
from hookline.config.types import Config
from hookline.model.answers import PASS, Verdict
from hookline.model.denials import Denial, join_denials
from hookline.model.errors import DecodeError, HooklineError, StateError
from hookline.model.events import (
    Event,
    PermissionRequest,
    PreToolUse,
    SessionStart,
    TurnStart,
    UserPromptSubmit,
)
from hookline.model.hook import Layer, Mode
from hookline.model.memory import (
    MAX_FOLLOW_UPS,
    SessionMemory,
    add_failures,
    capped,
    carry,
    closed,
    is_persons_prompt,
    latched,
    on_event,
    taught,
)
from hookline.model.outcome import Outcome, Translated
from hookline.model.ports import Caller, CleaningBuiltin, Client, LearningBuiltin
from hookline.pipeline.call import Call
from hookline.pipeline.derivation import Moments, find_moments
from hookline.pipeline.report import first_notices
from hookline.store.duplicate_calls import Arrival

__all__ = ["MAX_DEPTH", "hook_depth", "judge", "judge_in_session", "judge_once"]

# A hook that runs an agent that runs hookline is normal; three levels of it are a loop.
MAX_DEPTH = 3
# Calls that are judged before they are made: what is denied there is what agents try again.
_JUDGED = (PreToolUse, PermissionRequest)
# What the model reads next, where some events have no way to it.
_BEGINNINGS = (TurnStart, UserPromptSubmit)


async def judge_once(event: Event, app: App, call: Call, client: Client) -> Outcome:
    """As ``judge``; but a call that was answered through another entry is not judged again."""
    entry, timeout = call.options.entry, call.time_left()
    arrival = Arrival.of(event, callers=client.ids, entry=entry, policy=app.policy)
    started = monotonic()
    async with app.answers.once(arrival, timeout=timeout) as slot:
        if slot.known is not None:
            return slot.known.outcome(event, registry.tools(event.dialect))
        left = None if timeout is None else timeout - (monotonic() - started)
        outcome = await judge(event, app, client=client, timeout=left, call=call)
        # An allow that could not be said here is still to be said through the other entry.
        if outcome.verdict is not Verdict.ALLOW or _can_allow(outcome, client):
            slot.keep(outcome)
    return outcome


async def judge(
    event: Event,
    app: App,
    *,
    client: Client | None = None,
    timeout: float | None = None,
    call: Call | None = None,
) -> Outcome:
    """What its hooks say. Raises HooklineError when the config cannot be loaded.

    ``client`` is who is told of it, where that is more than the event's own dialect; ``call`` is
    what brought it, where its session goes on in other processes.
    """
    client = client or registry.dialect(event.dialect)
    event = _with_whole_directory(event, app.cwd)
    try:
        return await _judge(event, app, client, timeout, call)
    except StateError as error:
        if not isinstance(event, UserPromptSubmit):
            raise
        # A prompt does nothing by itself. Tools stay closed: their project is not known.
        notice = f"{error}. Until it can, tools are blocked"
    outcome = await _judge(event, app.without_state(), client, timeout, None)
    return outcome.with_notices(*outcome.answer.notice, notice)


async def _judge(
    event: Event, app: App, client: Client, timeout: float | None, call: Call | None
) -> Outcome:
    # One name for each caller that the session may belong to: later events may tell better.
    session = event.session_id
    sessions = [f"{each}:{session}" if session else "" for each in client.ids]
    root, first, config = _find_hooks(event, app, sessions)
    caller = Caller(
        env=app.env,
        project_dir=root,
        deadline=None if timeout is None else monotonic() + timeout,
        attempt=app.attempt,
        depth=hook_depth(app.env),
        umask=app.umask,
        home=app.home,
        state=app.open_state,
        own=app.own,
    )
    engine = app.engine_for(config)
    moments = find_moments(engine, client, event, first=first)
    if call is not None and moments is not None and moments.awaits_end:
        from hookline.pipeline.session_end import keep_session_open  # on two platforms only

        keep_session_open(call, event, app)
    try:
        outcome = await judge_in_session(
            event,
            caller,
            client=client,
            config=config,
            engine=engine,
            memories=app.memories,
            sessions=sessions,
            moments=moments,
        )
    except HooklineError:
        # The session's memory failed; where no hook is active, it could hold nothing back.
        if app.configured:
            raise
        outcome = Outcome(event=event)
    starts = isinstance(event, SessionStart) or (first and isinstance(event, UserPromptSubmit))
    if starts or (first and config.notes):
        told = first_notices(event, config, app.loader, app.env, counts=app.explains)
        outcome = outcome.with_notices(*told, *outcome.answer.notice)
    return replace(_translate(outcome, client), project_dir=root, config=config.digest)


def _find_hooks(event: Event, app: App, sessions: Sequence[str]) -> tuple[str, bool, Config]:
    """The session's project root, fixed at its first event; whether this was the first; and the
    config that is active there.
    """
    try:
        root, first = _find_root(event, app, sessions)
    except HooklineError:
        # Without a place to remember the root, only an empty config is safe to go on with.
        config = app.config_for(event, event.cwd)
        if config.files or config.notes:
            raise
        return event.cwd, True, config
    return root, first, app.config_for(event, root)


def _find_root(event: Event, app: App, sessions: Sequence[str]) -> tuple[str, bool]:
    def first_guess() -> str:
        variable = registry.dialect(event.dialect).support.project_variable
        return app.root or project_root(event.cwd, project_var=app.env.get(variable or ""))

    root, first = app.roots.root_for(sessions[0], first_guess)
    for other in sessions[1:]:
        app.roots.root_for(other, lambda: root)
    return root, first


def _with_whole_directory(event: Event, cwd: str) -> Event:
    """The event, whose directory may be meant from where the client called."""
    if "\0" in event.cwd:
        raise DecodeError("the event's cwd has a NUL character in it, which no directory has")
    if event.cwd.startswith("/"):
        return event
    if not cwd:
        raise HooklineError("nobody can say where this happened: the directory is gone")
    return replace(event, cwd=os.path.normpath(os.path.join(cwd, event.cwd)))


def hook_depth(env: Mapping[str, str]) -> int:
    """How many hooklines are above this one. Raises HooklineError when it is too many."""
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


def _can_allow(outcome: Outcome, client: Client) -> bool:
    return _translation(outcome, client).answer.verdict is Verdict.ALLOW


def _translate(outcome: Outcome, client: Client) -> Outcome:
    """The outcome with its translation, which is made once for each answer."""
    ids = "+".join(client.ids)
    if outcome.answer is PASS or outcome.translation_for(ids):
        return outcome
    made = replace(client.translate(outcome), source=outcome.answer, client=ids)
    return replace(outcome, translation=made)


def _translation(outcome: Outcome, client: Client) -> Translated:
    return outcome.translation_for("+".join(client.ids)) or client.translate(outcome)


# ── what the session remembers ──────────────────────────────────────────────────────────────


class Memories(Protocol):
    """Where sessions keep what they remember."""

    def read(self, session: str) -> SessionMemory:
        """What a session remembers. Raises HooklineError."""

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what an event has changed. Raises HooklineError."""


class Judge(Protocol):
    """Whoever runs the hooks of an event: the engine, or one that stands before it."""

    async def handle(self, event: Event, caller: Caller) -> Outcome:
        """What they say together."""


async def judge_in_session(
    event: Event,
    caller: Caller,
    *,
    client: Client,
    config: Config,
    engine: Judge,
    memories: Memories,
    sessions: Sequence[str],
    moments: Moments | None = None,
) -> Outcome:
    """The engine's outcome, within what the session remembers under each of its names."""
    has_stop_flag = client.support.has_stop_flag
    before, after = [], []
    outcome: Outcome | None = None
    denied: tuple[Denial, ...] = ()
    carried: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    # One plain loop: nearly always there is one name and nothing remembered, on every event.
    for session in sessions:
        old = memories.read(session)
        new = on_event(old, event, has_stop_flag=has_stop_flag)
        before.append(old)
        after.append(new)
        outcome = outcome or latched(new, event)
        denied = join_denials((denied, new.denials)) if new.denials else denied
        carried = carried or new.carried
        untold = untold or new.untold
    if outcome is None:
        caller = replace(caller, denied=denied) if denied else caller
        outcome = await engine.handle(event, caller)
        if moments is not None:
            outcome = await moments.add_beside(outcome, caller, before[0])
        outcome = _clean(outcome, config)
        if outcome.answer.follow_up:
            after, outcome = _cap(after, outcome, client, config)
        if moments is not None:
            outcome = _clean(await moments.add_after(outcome, caller), config)
            after = [moments.remember(memory, outcome) for memory in after]
        # What passes without a word leaves nothing to remember, but may end what was.
        if denied or outcome.answer is not PASS:
            after, outcome = _conclude(after, outcome, caller, client, config)
        if event.continues:
            after = [add_failures(memory, outcome) for memory in after]
        elif carried and (told := _tell_model(carried, outcome, client)):
            after, outcome = [replace(memory, carried=()) for memory in after], told
    if untold and (told := _tell_person(untold, outcome, client)):
        after, outcome = [replace(memory, untold=()) for memory in after], told
    if after != before:
        for session, old, new in zip(sessions, before, after, strict=True):
            if new is not old:
                memories.write(session, old, new)
    return outcome


def _cap(
    memories: list[SessionMemory], outcome: Outcome, client: Client, config: Config
) -> tuple[list[SessionMemory], Outcome]:
    """The outcome without a follow-up that would be one too many, and the count of them."""
    limit = MAX_FOLLOW_UPS if config.max_follow_ups is None else config.max_follow_ups
    limit = min(limit, client.support.stop_cap or limit)
    if config.project_follow_ups is not None and _only_projects_continue(outcome):
        limit = min(limit, config.project_follow_ups)
    for place, memory in enumerate(memories):
        memories[place], outcome = capped(memory, outcome, limit=limit)
    return memories, outcome


def _conclude(
    memories: list[SessionMemory],
    outcome: Outcome,
    caller: Caller,
    client: Client,
    config: Config,
) -> tuple[list[SessionMemory], Outcome]:
    """The outcome as the session lets it stand, and what is to be remembered of it."""
    event = outcome.event
    outcome = _translate(outcome, client)
    said = _translation(outcome, client)
    if said.latch:
        memories = [closed(memory, event, said.latch) for memory in memories]
    if said.later:
        memories = [carry(memory, said.later) for memory in memories]
    verdict = said.answer.verdict
    if (caller.denied or verdict >= Verdict.DENY) and isinstance(event, _JUDGED):
        denial = _recall_denial(outcome, config, caller) if verdict >= Verdict.DENY else None
        memories = [taught(memory, event, verdict, denial) for memory in memories]
    return memories, outcome


def _clean(outcome: Outcome, config: Config) -> Outcome:
    """The outcome without secrets in what its hooks say, where an active builtin takes them out."""
    answer = outcome.answer
    if answer.context or answer.notice or answer.reason or answer.follow_up:
        for hook in config.hooks:
            if hook.handler.kind == "builtin" and not hook.native and hook.mode is Mode.ENFORCE:
                module = registry.builtin(hook.handler.values["use"])
                if hasattr(module, "clean_answer"):
                    cleaning = cast(CleaningBuiltin, module)
                    answer = cleaning.clean_answer(answer, hook.handler.values.get("with", {}))
    return outcome if answer is outcome.answer else replace(outcome, answer=answer)


def _only_projects_continue(outcome: Outcome) -> bool:
    """Whether no hook of the person's or the organisation's wants the work to go on."""
    said = (run for run in outcome.runs if run.counts and run.answer is not PASS)
    return all(
        run.hook.source.layer >= Layer.PROJECT
        for run in said
        if run.answer.follow_up or run.answer.verdict is Verdict.DENY
    )


def _tell_model(lines: Sequence[str], outcome: Outcome, client: Client) -> Outcome | None:
    """The outcome with what the model has yet to hear; None where this event cannot carry it."""
    rows = client.support.events.values()
    if any(row.instead("context") == "later" for row in rows):
        if outcome.event.agent.depth or not isinstance(outcome.event, _BEGINNINGS):
            return None
    elif any(row.event == "user_prompt_submit" and row.can("context") for row in rows):
        if not is_persons_prompt(outcome.event):
            return None
    elif outcome.event.agent.depth:
        return None
    answer = replace(outcome.answer, context=(*lines, *outcome.answer.context))
    told = _translate(replace(outcome, answer=answer), client)
    # A prompt that is blocked never reaches the model, and its context does not either.
    said = _translation(told, client).answer
    return told if said.context and said.verdict < Verdict.ASK else None


def _tell_person(texts: Sequence[str], outcome: Outcome, client: Client) -> Outcome | None:
    """The outcome with these notices; None where this event cannot show them."""
    answer = replace(outcome.answer, notice=(*texts, *outcome.answer.notice))
    told = _translate(replace(outcome, answer=answer), client)
    return told if {*texts} <= {*_translation(told, client).answer.notice} else None


def _recall_denial(outcome: Outcome, config: Config, caller: Caller) -> Denial | None:
    """What is to be remembered of a denied call, where an active builtin has such remembered."""
    for hook in config.hooks:
        if hook.handler.kind == "builtin":
            module = registry.builtin(hook.handler.values["use"])
            if hasattr(module, "learn"):
                return cast(LearningBuiltin, module).learn(outcome, caller)
    return None
