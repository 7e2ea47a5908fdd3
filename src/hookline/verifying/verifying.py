"""Plays a plan on a client, session by session, and judges every probe by what happened."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import time

from hookline.lab.hooked import journal
from hookline.lab.playing import Stage
from hookline.lab.ports import Room, Session
from hookline.model.errors import HooklineError
from hookline.verifying.evidence import CALLED, Evidence
from hookline.verifying.lines import Finding, Line, Scene, State
from hookline.verifying.planning import Plan, Played
from hookline.verifying.reasons import Journal, reason

__all__ = ["UnplayableError", "place_canaries", "verify"]

_LAST_WORDS = 3


class UnplayableError(HooklineError):
    """The client cannot be run at all, so there is nothing to say about it."""


def place_canaries(plan: Plan, room: Room) -> None:
    """Write the canary hooks into a file above the project: none of the person's changes."""
    Path(room.root, "hookline.yaml").write_bytes(plan.config)


def verify(
    plan: Plan,
    stage: Stage,
    *,
    timeout: float = 0.0,
    most_follow_ups: int = 8,
    watch: Callable[[Scene], None] = lambda scene: None,
) -> tuple[Line, ...]:
    """Every line of the plan, judged. ``watch`` is told of each session before it begins.

    Raises UnplayableError when the client does not get as far as asking its model.
    """
    sessions: dict[str, Session] = {}
    findings: dict[str, Finding] = {}
    for number, scene in enumerate(plan.scenes):
        watch(scene)
        session = stage.play(plan.script(scene), timeout=_limit(scene, timeout))
        ended = time()
        if number == 0:
            _must_have_begun(session, stage.room)
        sessions[scene.id] = session
        for each in plan.of(scene):
            evidence = Evidence(
                session=session,
                names=each.names,
                how=each.promised.how,
                most_follow_ups=most_follow_ups,
                waited=_waited(stage.room, each, ended),
            )
            findings[each.probe.id] = _judged(each, evidence, findings)
    return tuple(_lines(plan, findings, sessions, journal(stage.room)))


def _must_have_begun(session: Session, room: Room) -> None:
    """A client that breaks before anything else is no client that disobeys."""
    asked = any(not each.side for each in session.asked)
    if asked or session.cut or session.exit_code == 0 or journal(room):
        return
    said = (session.stderr.strip() or session.stdout.strip()).decode(errors="replace")
    words = " / ".join(said.splitlines()[-_LAST_WORDS:])[-600:] or "it said nothing"
    raise UnplayableError(
        f"the client ended with exit code {session.exit_code} before it asked its model "
        f"anything: {words}"
    )


def _limit(scene: Scene, timeout: float) -> float:
    return min(filter(None, (scene.patience, timeout)), default=0.0)


def _waited(room: Room, each: Played, ended: float) -> float:
    """How long the session went on after the probe's guard was called; 0 when it was not."""
    try:
        called = os.stat(os.path.join(room.project, each.names.word + CALLED)).st_mtime
    except OSError:
        return 0.0
    return max(0.0, ended - called)


def _judged(each: Played, evidence: Evidence, before: Mapping[str, Finding]) -> Finding:
    """What the probe says, unless the evidence cannot carry it."""
    found = each.probe.judge(evidence)
    if found.state is not State.OK:
        return found
    if evidence.session.cut and not each.probe.may_wait:
        return Finding(State.NOT_OBSERVED, evidence.end)
    twin = before.get(each.probe.twin)
    if each.probe.twin and (twin is None or twin.state is not State.OK):
        return Finding(
            State.NOT_OBSERVED,
            f"nothing happened, but nor did it without a guard ({each.probe.twin})",
        )
    if each.promised.cannot:
        return Finding(State.CANNOT, f"{each.promised.cannot} (seen)")
    return found


def _lines(
    plan: Plan, findings: Mapping[str, Finding], sessions: Mapping[str, Session], written: Journal
) -> Iterator[Line]:
    for each in plan.played:
        probe, found = each.probe, findings[each.probe.id]
        detail = found.detail
        if found.state.is_bad:
            failed = found.state is State.FAILED
            why = reason(written, each.names, probe.claim, failed=failed)
            detail = f"{detail}: {why}" if detail else why
        session = sessions[probe.scene.id]
        yield Line(
            id=probe.id,
            title=probe.title,
            state=found.state,
            detail=detail,
            seconds=round(session.seconds, 3),
        )
    yield from plan.known.values()
    yield from plan.limits
