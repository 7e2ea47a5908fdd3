"""Ends sessions of which no event tells that they are over.

Such a session is over when its agent's process is gone, or after half an hour without an event;
never because another one starts. The daemon looks for them, and so does each process that answers
an event without one. A session that speaks again is resumed.
"""

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pwd import getpwuid
from time import perf_counter_ns

from msgspec.structs import replace

from hookline import registry
from hookline._version import __version__
from hookline.app import App
from hookline.model.errors import HooklineError
from hookline.model.events import Event, SessionEnd, SessionStart, UserPromptSubmit
from hookline.model.journal import Entry
from hookline.model.outcome import Outcome
from hookline.pipeline.call import Call
from hookline.pipeline.judge import judge
from hookline.pipeline.parts import BriefJournals, Parts
from hookline.processes.ancestry import find_agent, is_running
from hookline.store.sessions import OpenSession, OpenSessions

__all__ = ["conclude_sessions", "keep_session_open"]

# In a line with --trust-env; what it trusts is not kept.
_BELIEVED = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "HOOKLINE_HOME", "HOOKLINE_CONFIG")


async def keep_session_open(
    call: Call, event: Event, app: App, *, clock: Callable[[], float] = time.time
) -> None:
    """Remembers a session that no event will end; one that was over before is ended first."""
    if not event.session_id:
        return
    left = call.time_left()
    parts = Parts(BriefJournals())
    await conclude_sessions(
        parts, app.home, only=_name(event), timeout=left and left / 2, clock=clock
    )
    await parts.aclose()

    def describe() -> OpenSession:
        believed = _BELIEVED if call.options.trust_env else ()
        return OpenSession(
            session_id=event.session_id,
            dialect=event.dialect,
            argv=tuple(call.argv),
            cwd=event.cwd,
            agent=find_agent(call.client_pid or os.getpid()),
            believed={name: call.env[name] for name in believed if name in call.env},
        )

    begins = isinstance(event, SessionStart | UserPromptSubmit)
    OpenSessions(app.home).keep_open(_name(event), describe, anew=begins)


async def conclude_sessions(
    parts: Parts,
    home: str,
    *,
    only: str = "",
    timeout: float | None = None,
    clock: Callable[[], float] = time.time,
) -> None:
    """Runs the hooks for the end of every session that is over, or of ``only`` this one."""
    for session, why in OpenSessions(home).take_over(clock(), is_running, only=only):
        env = {**_make_environment(), **session.believed}
        call = Call(argv=session.argv, payload=b"", env=env, cwd=session.cwd)
        await _conclude(session, why, call, parts, timeout)


async def _conclude(
    session: OpenSession, why: str, call: Call, parts: Parts, timeout: float | None
) -> None:
    at, started = datetime.now(UTC), perf_counter_ns()
    event = SessionEnd(
        session_id=session.session_id,
        cwd=session.cwd,
        dialect=session.dialect,
        reason=why,
        derived_from="silence",
    )
    app: App | None = None
    outcome: Outcome | None = None
    failure = ""
    try:
        app = parts.app_for(call)
        client = registry.dialect(session.dialect)
        outcome = await judge(event, app, client=client, timeout=timeout)
        before = app.memories.read(_name(event))
        app.memories.write(_name(event), before, replace(before, over=True))
    except HooklineError as error:
        failure = str(error)
    entry = Entry(
        id=event.id,
        at=at,
        ns=perf_counter_ns() - started,
        dialect=session.dialect,
        event=event,
        outcome=outcome,
        failure=failure,
        project_dir=outcome.project_dir if outcome is not None else "",
        config=outcome.config if outcome is not None else "",
        version=__version__,
    )
    await parts.record(entry, app)


def _name(event: Event) -> str:
    """As the session's memory is called."""
    return f"{event.dialect}:{event.session_id}"


def _make_environment() -> Mapping[str, str]:
    """No caller is there, and a caller's environment is never stored."""
    try:
        home = getpwuid(os.getuid()).pw_dir
    except KeyError:
        home = "/"
    return {"PATH": os.defpath, "HOME": home}
