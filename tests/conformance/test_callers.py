"""Whoever is calling, the reply is obeyed: judged by the client models of all who may be reading."""

import itertools
import json
import random
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.engine.merge import fit
from hookline.model.answers import BLOCKING, Answer, Rewrite, Verdict
from hookline.model.errors import DecodeError, HandlerAnswerError
from hookline.model.events import EVENTS, Event
from hookline.model.outcome import Outcome, Reply
from hookline.model.rewriting import rewritten
from hookline.pipeline.joint_client import JointClient
from hookline.pipeline.recognition import Callers, recognise
from support.clients.effects import Does, Effect

DIALECTS = Path(registry.__file__).parent / "dialects"
# Those whose payloads have names of events in common, so that a broken one may be either's.
ALIKE = ("claude-code", "codex", "vscode", "copilot", "copilot-cloud", "gemini")
REWRITES: dict[str, Any] = {"input": {"command": "echo safe"}, "output": "MK_OUTPUT"}


def client(name: str) -> Any:
    return import_module(f"support.clients.{name.replace('-', '_')}")


def payload_of(name: str, native: str) -> dict[str, Any]:
    model = client(name)
    if hasattr(model, "payload"):
        found: dict[str, Any] = model.payload(native)
        return found
    tool = {"tool_name": "Bash", "tool_input": {"command": "rm x"}, "tool_use_id": "t1"}
    base = {"session_id": "s1", "cwd": "/srv/app", "hook_event_name": native}
    after = {"tool_response": {"stdout": "secret", "stderr": "", "interrupted": False}}
    return base | tool | (after if native.startswith("Post") else {})


# Codex runs nobody's files but its own and nobody runs its, so only a broken payload leaves it
# possible beside others. Then there is no answer that it and another both take where nothing can be
# closed any more (its strictness voids the other's words), nor on compaction, which it alone ends by
# `continue: false`: the first one's words are said there.
NOT_WITH_CODEX = {"PreCompact", "Stop", "SubagentStop"}
# The cloud agent never fires these.
NOT_IN_THE_CLOUD = {"permissionrequest", "notification"}


def pairs() -> list[Any]:
    """Every two clients that have an event of one name, and that event."""
    found = []
    for first, second in itertools.permutations(ALIKE, 2):
        ours = registry.dialect(first).support.events
        for native, row in ours.items():
            other = registry.dialect(second).support.find(native)
            if other is None or other.event != row.event:
                continue
            pair, gate = {first, second}, EVENTS[row.event].gate
            if "codex" in pair and (native in NOT_WITH_CODEX or not gate):
                continue
            if "copilot-cloud" in pair and native.lower() in NOT_IN_THE_CLOUD:
                continue
            found.append(pytest.param(first, second, native, id=f"{first}+{second}-{native}"))
    return found


def outcome_of(event: Event, verdict: Verdict, part: str | None) -> Outcome | None:
    change = Rewrite(**{part: REWRITES[part]}) if part else Rewrite()
    reason = "MK_REASON" if verdict in BLOCKING else ""
    follow_up = ("MK_MORE",) if event.continues and verdict is Verdict.PASS else ()
    answer = Answer(
        verdict=verdict,
        reason=reason,
        rewrite=change,
        context=("MK_CONTEXT",),
        follow_up=follow_up,
    )
    try:
        fitted, _ = fit(answer, event)
    except HandlerAnswerError:
        return None
    final = rewritten(event, fitted.rewrite, registry.tools(event.dialect))
    return Outcome(event=event, answer=fitted, final=None if final is event else final)


def cells(event: Event) -> list[Outcome]:
    parts = [None, *(part for part in REWRITES if part in event.rewrites)]
    made = (outcome_of(event, verdict, part) for verdict in Verdict for part in parts)
    return [outcome for outcome in made if outcome is not None]


def obeyed(name: str, native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    effect: Effect = client(name).obey(native, reply, payload)
    return effect


def check(clients: JointClient, outcome: Outcome, native: str, payload: Mapping[str, Any]) -> None:
    """The joint reply is at least as strict under each client as that client's own reply."""
    reply = clients.encode(outcome)
    latched = bool(clients.translate(outcome).latch)
    raw = json.dumps(payload).encode()
    for name in clients.ids:
        dialect: Any = registry.dialect(name)
        event = dialect.decode(raw, native)
        final = None
        if outcome.final is not None:
            final = rewritten(event, outcome.answer.rewrite, dialect.tools)
        own_reply = dialect.encode(Outcome(event=event, answer=outcome.answer, final=final))
        own = obeyed(name, event.native_event, own_reply, payload)
        got = obeyed(name, event.native_event, reply, payload)
        where = (name, native, outcome.answer, own, got, own_reply, reply)
        floor = min(own.does, Does.BLOCKS) if latched else own.does
        assert got.does >= floor, where
        if got.does < Does.BLOCKS:
            assert got.input == own.input, where
            assert (got.output is None) <= (own.output is None), where
        assert bool(got.follow_up) >= bool(own.follow_up and not latched), where
        if not own.follow_up and own.does < Does.BLOCKS:
            assert not got.follow_up, where


@pytest.mark.parametrize(("first", "second", "native"), pairs())
def test_a_reply_to_either_of_two_is_at_least_as_strict_under_both(
    first: str, second: str, native: str
) -> None:
    payload = payload_of(first, native)
    clients = JointClient(Callers(named=None, ids=(first, second)))
    event = clients.decode(json.dumps(payload).encode(), native)
    for outcome in cells(event):
        check(clients, outcome, native, payload)


@pytest.mark.parametrize(("first", "second", "native"), pairs())
def test_a_refusal_closes_the_gate_of_both(first: str, second: str, native: str) -> None:
    payload = payload_of(first, native)
    clients = JointClient(Callers(named=first, ids=(first, second)))
    reply = clients.refuse(native, "MK_REASON")
    for name in clients.ids:
        own = obeyed(name, native, registry.dialect(name).refuse(native, "MK_REASON"), payload)
        assert obeyed(name, native, reply, payload).does >= own.does, (name, reply)


# ── Claude Code's file, run by others ───────────────────────────────────────────────────────

THROUGH_CLAUDE_CODE = [
    pytest.param(name, native, id=f"{name}-{native}")
    for name, natives in {
        "copilot": ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart"),
        "vscode": ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SessionStart"),
        "cursor": ("preToolUse", "postToolUse", "beforeSubmitPrompt", "stop", "sessionStart"),
    }.items()
    for native in natives
]
CLAUDE_NAMES = {
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "stop": "Stop",
    "sessionStart": "SessionStart",
}


@pytest.mark.parametrize(("name", "native"), THROUGH_CLAUDE_CODE)
def test_claude_codes_file_is_answered_in_the_words_of_the_client_that_runs_it(
    name: str, native: str
) -> None:
    payload = payload_of(name, native)
    asked = CLAUDE_NAMES.get(native, native)
    callers = recognise("claude-code", asked, json.dumps(payload).encode(), {})
    assert name in callers.ids
    assert "claude-code" not in callers.ids
    clients = JointClient(callers)
    for outcome in cells(clients.decode(json.dumps(payload).encode(), asked)):
        check(clients, outcome, native, payload)


# ── broken payloads ─────────────────────────────────────────────────────────────────────────

CAPTURES = sorted(DIALECTS.glob("*/captures/*.json"))


def mutilated(data: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    gone = rng.sample(sorted(data), k=rng.randint(1, max(1, len(data) - 1)))
    return {key: value for key, value in data.items() if key not in gone}


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_payload_with_keys_missing_is_answered_no_weaker_by_anyone_who_may_have_sent_it(
    path: Path,
) -> None:
    recorded = json.loads(path.read_text(encoding="utf-8"))
    rng = random.Random(path.name)
    for named in (None, "claude-code", path.parts[-3].replace("_", "-")):
        payload = mutilated(recorded["payload"], rng)
        raw = json.dumps(payload).encode()
        callers = recognise(named, recorded["event"], raw, {})
        if not callers.ids:
            continue
        clients = JointClient(callers)
        try:
            event = clients.decode(raw, recorded["event"])
        except DecodeError as exc:
            clients.refuse(recorded["event"], str(exc))
            continue
        deny = outcome_of(event, Verdict.DENY, None)
        if deny is None or not event.gate or event.continues:
            continue
        reply = clients.encode(deny)
        for name in callers.ids:
            dialect: Any = registry.dialect(name)
            own = dialect.decode(raw, recorded["event"])
            row = dialect.support.find(own.native_event)
            if row is None or not EVENTS[row.event].gate or not row.can("deny"):
                continue
            effect = obeyed(name, own.native_event, reply, payload)
            assert effect.does >= Does.BLOCKS, (name, callers, payload, reply, effect)
