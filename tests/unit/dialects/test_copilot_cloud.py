"""The Copilot cloud agent: the same protocol, nobody to ask, and less that it promises to hear."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.copilot import DIALECT as COPILOT
from hookline.dialects.copilot_cloud import DIALECT
from hookline.model.answers import Answer, Rewrite, Verdict, ask, deny, halt
from hookline.model.events import EVENTS, Event, Other, PermissionRequest
from hookline.model.outcome import Outcome
from support.clients import copilot_cloud as client
from support.clients.effects import Does


def decode(native: str, **extra: Any) -> Event:
    return DIALECT.decode(json.dumps(client.payload(native) | extra).encode(), native)


def told(native: str, answer: Answer) -> dict[str, Any]:
    reply = DIALECT.encode(Outcome(event=decode(native), answer=answer))
    body: dict[str, Any] = json.loads(reply.stdout or b"{}")
    return body


@pytest.mark.parametrize("native", DIALECT.support.events)
def test_every_event_of_the_reference_decodes_in_both_casings(native: str) -> None:
    event = decode(native)
    assert event.dialect == "copilot-cloud"
    assert type(event) is EVENTS[DIALECT.support.events[native].event]
    assert DIALECT.support.events[native].source.startswith("spec ")


def test_events_that_never_fire_there_are_not_promised() -> None:
    assert not client.NEVER_FIRE & set(DIALECT.support.events)
    sent = json.dumps(client.payload("permissionRequest")).encode()
    assert type(DIALECT.decode(sent, None)) is Other


@pytest.mark.parametrize("native", ["preToolUse", "PreToolUse"])
def test_an_ask_is_a_deny_with_the_reason(native: str) -> None:
    outcome = Outcome(event=decode(native), answer=ask("sure?"))
    assert [(s.was, s.now) for s in DIALECT.translate(outcome).substitutions] == [("ask", "deny")]
    assert told(native, ask("sure?")) == {
        "permissionDecision": "deny",
        "permissionDecisionReason": "sure?",
    }


def test_an_ask_of_a_hook_written_for_it_is_a_deny_too() -> None:
    out = b'{"permissionDecision": "ask", "permissionDecisionReason": "sure?"}'
    answer = DIALECT.read_answer(decode("preToolUse"), stdout=out, stderr=b"", exit_code=0)
    assert answer == deny("sure?")


@pytest.mark.parametrize("native", ["userPromptSubmitted", "UserPromptSubmit"])
@pytest.mark.parametrize("answer", [deny("no"), halt("no")])
def test_a_prompt_is_blocked_as_far_as_it_listens_and_that_is_recorded(
    native: str, answer: Answer
) -> None:
    assert told(native, answer) == {"decision": "block", "reason": "no"}
    translated = DIALECT.translate(Outcome(event=decode(native), answer=answer))
    assert ("deny", "notice") in [(s.was, s.now) for s in translated.substitutions]
    assert bool(translated.latch) == (answer.verdict is Verdict.HALT)


def test_a_prompt_is_replaced_as_far_as_it_listens_and_that_is_recorded() -> None:
    answer = Answer(rewrite=Rewrite(prompt="p"))
    assert told("userPromptSubmitted", answer) == {"modifiedPrompt": "p"}
    translated = DIALECT.translate(Outcome(event=decode("userPromptSubmitted"), answer=answer))
    assert translated.substitutions[0].was == "rewrite.prompt"


def test_a_result_is_hidden_by_the_word_it_promises_to_hear() -> None:
    reply = DIALECT.encode(Outcome(event=decode("postToolUse"), answer=deny("no")))
    assert client.obey("postToolUse", reply, {}).output == "Tool result blocked: no"


def test_events_of_the_other_agent_keep_their_bytes_and_keys() -> None:
    payload = json.dumps(client.payload("PreToolUse")).encode()
    event = COPILOT.decode(payload, "PreToolUse")
    assert DIALECT.stdin(event) == payload
    out = b'{"modifiedArgs": {"command": "ls", "description": "Remove"}}'
    answer = DIALECT.read_answer(event, stdout=out, stderr=b"", exit_code=0)
    assert answer.rewrite.input == {"command": "ls"}
    asked = COPILOT.decode(json.dumps(client.payload("permissionRequest")).encode(), None)
    assert isinstance(asked, PermissionRequest)
    assert DIALECT.native_of(asked) == ""


@given(st.sampled_from(["preToolUse", "PreToolUse"]), st.text(max_size=20))
def test_any_refusal_closes_the_gate(native: str, reason: str) -> None:
    for event in (native, None):
        found = client.obey(native, DIALECT.refuse(event, reason), {})
        assert found.does >= Does.BLOCKS
        assert found.reason
