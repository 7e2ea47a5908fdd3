"""Plays a plan on a client, session by session, and judges every probe by what happened."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hookline.lab.hooked import journal
from hookline.lab.playing import Stage
from hookline.lab.ports import Room, Session, Wish
from hookline.model.errors import HooklineError
from hookline.verifying.evidence import Evidence
from hookline.verifying.lines import ASKED, Finding, Line, Names, Scene, State
from hookline.verifying.planning import Plan, Played

__all__ = ["UnplayableError", "place_canaries", "reason", "verify"]

Journal = Sequence[Mapping[str, Any]]

_STRONG = ("halt", "deny", "ask")


def reason(journal: Journal, names: Names, claim: tuple[str, str] | None, *, failed: bool) -> str:
    """What hookline made of the probe's events, in one sentence.

    The journal never decides whether a line is good: it says what hookline thinks it did. Only of
    a line that ``failed`` is it known that the client did otherwise.
    """
    if not journal:
        return "hookline was never called, or keeps no journal"
    event = claim[0] if claim else ""
    about = [each for each in journal if _is_about(each, names, event)]
    if not about:
        what = event or "such an event"
        return f"{what} never reached hookline for it"
    if claim is None:
        return _of_the_person(about)
    broken = next((each["failure"] for each in about if each.get("failure")), "")
    if broken:
        return f"hookline failed at it: {broken}"
    said = next((word for word in _STRONG if any(e.get("verdict") == word for e in about)), "")
    if said:
        return f"hookline said {said}" + (", and the client did otherwise" if failed else "")
    # A part of a reply to several hooks is the canary's only if its text is in it.
    effects = {name: what for each in about for name, what in (each.get("answer") or {}).items()}
    if ours := [name for name, what in effects.items() if _is_ours(what, names)]:
        did = ", and the client did otherwise" if failed else ""
        return f"hookline answered with {' and '.join(ours)}{did}"
    hooks = {run["hook"] for each in about for run in each.get("runs") or ()}
    if any(hook.startswith(names.word) for hook in hooks):
        return f"the canary hook ran on {event}, and hookline made nothing of its answer"
    return f"hookline saw {event} and let it pass: the canary hook did not match"


def _is_ours(what: object, names: Names) -> bool:
    text = json.dumps(what, ensure_ascii=False)
    return names.mark in text or names.word in text


def _of_the_person(about: Journal) -> str:
    """What stopped an act that no canary hook is about: a rule of the person's own."""
    for each in about:
        if each.get("verdict") in (*_STRONG, "allow"):
            who = ", ".join(f"`{name}`" for name in each.get("decided_by") or ())
            return f"a hook of your own said {each['verdict']}: {who or each.get('reason')}"
    return "hookline let it pass"


def _is_about(recorded: Mapping[str, Any], names: Names, event: str) -> bool:
    if event and recorded.get("event") != event:
        return False
    text = json.dumps(recorded.get("payload"), default=str, ensure_ascii=False)
    # A session's start and end carry no word of ours.
    wordless = event in {"session_start", "stop"}
    return wordless or names.word in text


_LAST_WORDS = 3
_PERSON = "before a person who says yes"


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
        asked: list[str] = []
        wish = Wish(permission="ask", person=asked.append) if scene.person else None
        limit = min(filter(None, (scene.patience, timeout)), default=0.0)
        try:
            session = stage.play(plan.script(scene), wish=wish, timeout=limit)
        except HooklineError as error:
            if not scene.person:
                raise
            # The conversation broke off, which says nothing about the other sessions.
            broken = Finding(State.NOT_OBSERVED, f"{_PERSON}: {error}")
            findings = {each.probe.id: broken for each in plan.of(scene)} | findings
            continue
        if number == 0:
            _must_have_begun(session, stage.room)
        sessions[scene.id] = session
        for each in plan.of(scene):
            evidence = Evidence(
                session=session,
                names=each.names,
                how=each.promised.how,
                most_follow_ups=most_follow_ups,
                questions=tuple(asked),
            )
            found = _judge(each, evidence, findings, scene)
            findings[each.probe.id] = max(findings.get(each.probe.id, found), found, key=_badness)
    return tuple(_lines(plan, findings, sessions, journal(stage.room)))


def _badness(found: Finding) -> tuple[bool, bool]:
    return found.state is State.FAILED, found.state.is_bad


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


def _judge(
    each: Played, evidence: Evidence, before: Mapping[str, Finding], scene: Scene
) -> Finding:
    """What the probe says, unless the evidence cannot carry it."""
    found = each.probe.judge(evidence)
    twin = each.probe.twin
    if each.probe.person == scene:
        twin = ASKED
        if evidence.was_asked:
            ran = "it ran" if evidence.made() else "it did not run"
            return Finding(State.FAILED, f"the person was asked about it and said yes; {ran}")
        if found.state is not State.OK:
            return Finding(found.state, f"{_PERSON}: {found.detail}")
    if found.state is not State.OK:
        return found
    if evidence.session.cut and not each.probe.may_wait:
        return Finding(State.NOT_OBSERVED, evidence.end)
    control = before.get(twin)
    if twin and (control is None or control.state is not State.OK):
        return Finding(
            State.NOT_OBSERVED, f"it proves nothing while its control is not ok ({twin})"
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
        session = sessions.get(probe.scene.id)
        yield Line(
            id=probe.id,
            title=probe.title,
            state=found.state,
            detail=detail,
            seconds=round(session.seconds, 3) if session else 0.0,
        )
    yield from plan.known.values()
    yield from plan.limits
