"""What the hooks in force say of an event, within what its session remembers."""

import os
from collections.abc import Callable, Mapping
from time import monotonic

from msgspec.structs import replace

from hookline import registry
from hookline.app import App
from hookline.model.errors import DecodeError, HooklineError, StateError
from hookline.model.events import Event, SessionStart, UserPromptSubmit
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller, Client
from hookline.model.verdicts import Verdict
from hookline.pipeline.report import first_notices
from hookline.pipeline.session import judge_in_session
from hookline.store.answers import Arrival

__all__ = ["MAX_DEPTH", "hook_depth", "judge", "judge_once"]

# A hook that runs an agent that runs hookline is normal; three levels of it are a loop.
MAX_DEPTH = 3


async def judge_once(
    event: Event,
    app: App,
    *,
    entry: str,
    client: Client | None = None,
    timeout: float | None = None,
    again: Callable[[], Event] | None = None,
) -> Outcome:
    """As ``judge``; but a call that was answered through another entry is not judged again.

    ``again`` reads the same event once more, so that this one need not be kept to compare.
    """
    client = client or registry.dialect(event.dialect)
    arrival = Arrival.of(event, callers=client.ids, entry=entry, policy=app.policy, again=again)
    started = monotonic()
    async with app.answers.once(arrival, timeout=timeout) as slot:
        if slot.known is not None:
            return slot.known.outcome(event, registry.tools(event.dialect))
        left = None if timeout is None else timeout - (monotonic() - started)
        outcome = await judge(event, app, client=client, timeout=left)
        # An allow that could not be said here is still to be said through the other entry.
        said = outcome.verdict
        if said is Verdict.ALLOW:
            said = client.translate(outcome).answer.verdict
        if said is outcome.verdict:
            slot.keep(outcome)
    return outcome


async def judge(
    event: Event, app: App, *, client: Client | None = None, timeout: float | None = None
) -> Outcome:
    """What its hooks say. Raises HooklineError when the config cannot be loaded.

    ``client`` is who is told of it, where that is more than the event's own dialect.
    """
    client = client or registry.dialect(event.dialect)
    event = _with_whole_directory(event, app.cwd)
    try:
        return await _judge(event, app, client, timeout)
    except StateError as error:
        if not isinstance(event, UserPromptSubmit):
            raise
        # A prompt does nothing by itself. Tools stay closed: their project is not known.
        notice = f"{error}. Until it can, tools are blocked"
    outcome = await _judge(event, app.without_state(), client, timeout)
    return outcome.with_notices(*outcome.answer.notice, notice)


async def _judge(event: Event, app: App, client: Client, timeout: float | None) -> Outcome:
    # One name for each caller that the session may belong to: later events may tell better.
    session = event.session_id
    sessions = [f"{each}:{session}" if session else "" for each in client.ids]
    root, first, config = app.settle(event, sessions)
    caller = Caller(
        env=app.env,
        project_dir=root,
        deadline=None if timeout is None else monotonic() + timeout,
        attempt=app.attempt,
        depth=hook_depth(app.env),
        umask=app.umask,
        home=app.home,
        own=app.own,
    )
    try:
        outcome = await judge_in_session(
            event,
            caller,
            client=client,
            config=config,
            engine=app.engine_for(config),
            memories=app.memories,
            sessions=sessions,
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
    return replace(outcome, project_dir=root, config=config.digest)


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
