"""Every dialect × event × verdict × effect is answered, at least as strictly as it was meant.

The reply is judged by a small model of the client: what it really does with these bytes.
"""

import itertools
import json
from importlib import import_module
from typing import Any

import pytest

from hookline import registry
from hookline.engine.merge import fit
from hookline.model.answers import BLOCKING, Answer, Rewrite, Verdict
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import EVENTS, Event, ToolEvent
from hookline.model.outcome import Outcome
from hookline.model.rewriting import rewritten
from support.clients.effects import Does, Effect

NATIVE = [name for name in registry.dialect_names() if name != "canonical"]
REWRITES: dict[str, Any] = {
    "input": {"command": "echo safe"},
    "output": "MK_OUTPUT",
    "prompt": "MK_PROMPT",
    "messages": [{"role": "user", "content": "MK_MESSAGE"}],
    "summary": "MK_SUMMARY",
    "env": {"MK": "1"},
    "display": "MK_DISPLAY",
}
NEEDED = {
    Verdict.PASS: Does.GOES_ON,
    Verdict.ASK: Does.ASKS,
    Verdict.DENY: Does.BLOCKS,
    Verdict.HALT: Does.BLOCKS,  # the run ends, or the gate closes and a latch holds it
}


def client(name: str) -> Any:
    """The model of a client."""
    return import_module(f"support.clients.{name.replace('-', '_')}")


def native_event(name: str, native: str) -> tuple[Event, dict[str, Any]]:
    """An event of this platform, decoded from a payload it could have sent."""
    dialect = registry.dialect(name)
    row = dialect.support.events[native]
    model = client(name)
    payload = model.payload(native) if hasattr(model, "payload") else default_payload(name, native)
    event = dialect.decode(json.dumps(payload).encode(), native)
    assert type(event) is EVENTS[row.event]
    return event, payload


def default_payload(name: str, native: str) -> dict[str, Any]:
    """The keys that most platforms share."""
    dialect = registry.dialect(name)
    keys = dialect.keys
    cls = EVENTS[dialect.support.events[native].event]
    payload: dict[str, Any] = {keys.session: "s1", keys.cwd: "/srv/app", keys.event: native}
    if issubclass(cls, ToolEvent):
        shell = next(n for n, row in dialect.tools.rows.items() if row.kind == "shell")
        payload |= {keys.tool: shell, keys.input: {"command": "rm x"}, keys.call: "t1"}
        if native.lower().startswith(("post", "after")):
            payload[keys.response] = {"stdout": "secret", "stderr": "", "interrupted": False}
    return payload


def cells() -> list[Any]:
    found = []
    for name in NATIVE:
        for native, row in registry.dialect(name).support.events.items():
            for verdict, part in itertools.product(Verdict, [None, *REWRITES]):
                if part is None or part in EVENTS[row.event].rewrites:
                    id_ = f"{name}-{native}-{verdict.value}-{part or 'plain'}"
                    found.append(pytest.param(name, native, verdict, part, id=id_))
    return found


def outcome_of(event: Event, verdict: Verdict, part: str | None, name: str) -> Outcome | None:
    """The engine's outcome for one hook that says this; None when the laws do not let it."""
    change = Rewrite(**{part: REWRITES[part]}) if part else Rewrite()
    reason = "MK_REASON" if verdict in BLOCKING else ""
    answer = Answer(
        verdict=verdict, reason=reason, rewrite=change, context=("MK_CONTEXT",), notice=("MK_NOTE",)
    )
    try:
        fitted, _ = fit(answer, event)
    except HandlerAnswerError:
        return None
    final = rewritten(event, fitted.rewrite, registry.dialect(name).tools)
    return Outcome(event=event, answer=fitted, final=None if final is event else final)


@pytest.mark.parametrize(("name", "native", "verdict", "part"), cells())
def test_the_reply_is_at_least_as_strict_as_the_outcome(
    name: str, native: str, verdict: Verdict, part: str | None
) -> None:
    dialect = registry.dialect(name)
    event, payload = native_event(name, native)
    outcome = outcome_of(event, verdict, part, name)
    if outcome is None:
        return
    row = dialect.support.events[native]

    translated = dialect.translate(outcome)
    effect: Effect = client(name).obey(native, dialect.encode(outcome), payload)

    assert not effect.failed, f"the client throws the reply away: {effect.failed}"
    meant = outcome.verdict
    if meant is Verdict.ALLOW:
        assert effect.does in {Does.SKIPS_ITS_QUESTION, Does.GOES_ON, Does.BLOCKS}
    elif meant is Verdict.PASS:
        assert effect.does != Does.SKIPS_ITS_QUESTION, "pass must leave the question to the client"
    elif meant in {Verdict.DENY, Verdict.HALT} and not _blockable(row, meant):
        # Nothing can be stopped here; then it is said aloud that it was not.
        assert translated.substitutions or translated.latch or row.instead("deny") == "feedback"
    elif meant is Verdict.ASK and native in getattr(client(name), "ASKS_BY_ITSELF", ()):
        assert effect.does >= Does.GOES_ON
    elif EVENTS[row.event].hides and (meant is Verdict.DENY or translated.latch):
        assert effect.output is not None or "MK_REASON" in effect.context + effect.reason
    else:
        assert effect.does >= NEEDED[meant], (meant, effect)
    if meant is Verdict.HALT and effect.does < Does.ENDS_THE_RUN:
        assert translated.latch, "a halt that cannot be said is remembered"


def _blockable(row: Any, verdict: Verdict) -> bool:
    if verdict is Verdict.HALT and row.can("halt"):
        return True
    return row.can("deny") or row.instead("deny") == "halt"


@pytest.mark.parametrize(("name", "native", "verdict", "part"), cells())
def test_what_is_rewritten_is_rewritten_or_does_not_happen(
    name: str, native: str, verdict: Verdict, part: str | None
) -> None:
    dialect = registry.dialect(name)
    event, payload = native_event(name, native)
    outcome = outcome_of(event, verdict, part, name)
    if outcome is None or part not in {"input", "output"}:
        return

    translated = dialect.translate(outcome)
    effect: Effect = client(name).obey(native, dialect.encode(outcome), payload)

    if effect.does >= Does.BLOCKS:
        return
    if part == "input":
        assert effect.input is not None
        assert "echo safe" in json.dumps(effect.input)
    else:
        shown = json.dumps(effect.output or "")
        replaced = "MK_OUTPUT" in shown or "MK_REASON" in shown
        assert replaced or translated.substitutions


@pytest.mark.parametrize(("name", "native", "verdict", "part"), cells())
def test_context_reaches_the_model_or_its_loss_is_recorded(
    name: str, native: str, verdict: Verdict, part: str | None
) -> None:
    dialect = registry.dialect(name)
    event, payload = native_event(name, native)
    outcome = outcome_of(event, verdict, part, name)
    if outcome is None:
        return

    translated = dialect.translate(outcome)
    effect: Effect = client(name).obey(native, dialect.encode(outcome), payload)

    lost = [change for change in translated.substitutions if change.was == "context"]
    assert "MK_CONTEXT" in effect.context or lost or effect.does >= Does.BLOCKS
