"""BaseCoat: what its envelopes mean, what goes back, and how its own hooks are read."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.dialects.basecoat import DIALECT
from hookline.model.answers import (
    PASS,
    Answer,
    Rewrite,
    Verdict,
    allow,
    ask,
    context,
    deny,
    halt,
    notice,
)
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerCrashed
from hookline.model.events import (
    EVENTS,
    Agent,
    Budget,
    Error,
    Event,
    Other,
    PostCompact,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SubagentStart,
    SubagentStop,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome, Reply
from hookline.model.rewriting import rewritten
from hookline.model.tools import ToolKind, tool
from support.clients import basecoat as client
from support.clients.effects import Does
from support.strategies import bare_event

NATIVE = sorted(DIALECT.support.events)
GATES = ["OnBudgetExceeded", "PreToolUse", "UserPromptSubmitted"]


def decode(native: str, **fields: Any) -> Event:
    return DIALECT.decode(json.dumps(client.payload(native) | fields).encode(), native)


def reply_to(native: str, answer: Answer) -> Reply:
    return DIALECT.encode(Outcome(event=decode(native), answer=answer))


def body_of(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply.stdout)
    return found


def read(native: str, body: Any = None, *, stdout: bytes = b"", code: int = 0) -> Answer:
    out = json.dumps(body).encode() if body is not None else stdout
    return DIALECT.read_answer(decode(native), stdout=out, stderr=b"boom", exit_code=code)


# Payloads


@pytest.mark.parametrize("native", NATIVE)
def test_each_event_is_understood_and_keeps_what_is_new_in_it(native: str) -> None:
    event = decode(native, later=[1])

    assert len(NATIVE) == 11
    assert type(event) is EVENTS[DIALECT.support.events[native].event]
    assert event.session_id == "sess_01J"
    assert event.time == datetime(2025, 4, 27, 18, 42, 31, tzinfo=UTC)
    assert event.budget == Budget(used_tokens=78124, effective_limit=160000)
    assert b"later" in bytes(event.raw)


def test_the_documented_envelope_is_understood() -> None:
    """It says nothing of the tool's input: only rules on its name can fire."""
    event = decode("PostToolUse", tool={"name": "powershell", "success": False, "durationMs": 6422})

    assert isinstance(event, PostToolUse)
    assert (event.tool.kind, event.tool.ok) == (ToolKind.SHELL, False)
    assert (event.tool.duration_ms, event.tool.command) == (6422, None)
    assert event.agent == Agent(name="backend-dev")


@pytest.mark.parametrize(
    ("alias", "native"),
    [
        ("Stop", "SessionEnd"),
        ("UserPromptSubmit", "UserPromptSubmitted"),
        ("errorOccurred", "OnError"),
        ("preToolUse", "PreToolUse"),
        ("posttooluse", "PostToolUse"),
    ],
)
def test_every_platforms_name_means_the_same_event(alias: str, native: str) -> None:
    for payload, given_name in ((client.payload(alias), None), ({}, alias)):
        event = DIALECT.decode(json.dumps(payload).encode(), given_name)
        assert event.native_event == native
    assert DIALECT.refuse(alias, "broken") == DIALECT.refuse(native, "broken")


def test_an_event_nobody_knows_is_other_under_its_own_name() -> None:
    event = decode("OnVacation")

    assert isinstance(event, Other)
    assert event.native_event == "OnVacation"


def test_objects_of_single_events_are_read() -> None:
    error = decode("OnError")
    assert isinstance(error, Error)
    assert (error.message, error.where) == ("no credentials", "powershell")
    bare = decode("OnError", tool=None, error={"class": "auth"})
    assert isinstance(bare, Error)
    assert (bare.message, bare.where) == ("", "auth")
    started = decode("SubagentStart")
    assert isinstance(started, SubagentStart)
    assert started.agent == Agent(name="tester", depth=1, parent="backend-dev")
    stopped = decode("SubagentStop", subagent={"result": "ok", "depth": True})
    assert isinstance(stopped, SubagentStop)
    assert stopped.agent == Agent(name="backend-dev", depth=1, parent="backend-dev")
    assert stopped.last_message == "ok"
    compaction = decode("PostCompact", compaction={"summary": "s", "inputTokens": 3})
    assert isinstance(compaction, PostCompact)
    assert (compaction.summary, compaction.input_tokens) == ("s", 3)
    ended = decode("SessionEnd", reason="rotation")
    assert isinstance(ended, SessionEnd)
    assert ended.reason == "rotation"


def test_a_tool_carries_its_input_and_output_where_the_runtime_adds_them() -> None:
    event = decode(
        "PostToolUse", tool={"name": "bash", "input": {"command": "ls"}, "error": "boom"}
    )
    assert isinstance(event, PostToolUse)
    assert (event.tool.command, event.tool.output) == ("ls", "boom")


@pytest.mark.parametrize("when", ["soon", 3, None, "2025-04-27T18:42:31"])
def test_a_time_that_cannot_be_read_loses_nothing_else(when: Any) -> None:
    event = decode("SessionStart", timestamp=when, budget={"usedTokens": "many"})

    assert event.time.tzinfo is not None
    assert event.budget is None


# Answers


@pytest.mark.parametrize("native", NATIVE)
def test_silence_is_silence(native: str) -> None:
    assert reply_to(native, PASS) == Reply()


def test_a_grant_is_nothing_and_a_question_a_block() -> None:
    assert reply_to("PreToolUse", allow("fine")) == Reply()
    body = body_of(reply_to("PreToolUse", ask("sure?")))
    assert (body["action"], body["reason"]) == ("block", "sure?")


@pytest.mark.parametrize("native", GATES)
@pytest.mark.parametrize("answer", [deny("no"), halt("no")])
def test_a_deny_is_a_block_with_its_reason(native: str, answer: Answer) -> None:
    outcome = Outcome(event=decode(native), answer=answer)
    body = body_of(DIALECT.encode(outcome))

    assert (body["action"], body["reason"]) == ("block", "no")
    assert body["metadata"] == {"hookId": "hookline"}
    assert DIALECT.translate(outcome).latch == ("no" if answer.verdict is Verdict.HALT else "")


def test_a_denied_output_is_taken_away_and_a_halt_stops_going_on() -> None:
    body = body_of(reply_to("PostToolUse", deny("hidden")))
    assert (body["action"], body["modifiedOutput"]) == ("modify", "hidden")
    assert body_of(reply_to("PostToolUse", halt("stop")))["action"] == "block"


def test_a_rewrite_is_a_modify_with_all_that_goes_with_it() -> None:
    event = decode("PreToolUse")
    change = Rewrite(input={"command": "ls"})
    answer = Answer(rewrite=change, context=("c",), notice=("n",), metadata={"risk": "low"})
    final = rewritten(event, change, DIALECT.tools)
    body = body_of(DIALECT.encode(Outcome(event=event, answer=answer, final=final)))

    assert (body["action"], body["modifiedInput"]) == ("modify", {"command": "ls"})
    assert "c" in body["additionalContext"][0]
    assert body["warnings"] == ["n"]
    assert body["metadata"] == {"risk": "low", "hookId": "hookline"}
    output = body_of(reply_to("PostToolUse", Answer(rewrite=Rewrite(output="clean"))))
    assert (output["action"], output["modifiedOutput"]) == ("modify", "clean")


def test_context_and_warnings_have_actions_of_their_own() -> None:
    assert body_of(reply_to("PostCompact", context("issue 145")))["action"] == "injectContext"
    body = body_of(reply_to("SessionEnd", notice("saved")))
    assert (body["action"], body["warnings"]) == ("passThrough", ["saved"])


def test_injected_context_stays_small_and_says_what_was_cut() -> None:
    outcome = Outcome(event=decode("SessionStart"), answer=context("x" * 9000))
    (text,) = body_of(DIALECT.encode(outcome))["additionalContext"]

    assert len(text) <= 4096
    assert "characters cut" in text


@pytest.mark.parametrize("native", ["SubagentStart", "PreCompact", "SubagentStop", "SessionEnd"])
def test_what_cannot_be_blocked_is_never_told_to_block(native: str) -> None:
    """A block of an end could be read as an order to go on."""
    outcome = Outcome(event=decode(native), answer=halt("no"))

    assert body_of(DIALECT.encode(outcome))["action"] != "block"
    assert DIALECT.translate(outcome).latch == "no"
    assert not DIALECT.support.has_stop_flag
    assert DIALECT.support.stop_cap is None


@pytest.mark.parametrize("native", [*NATIVE, None, "never heard of"])
def test_a_refusal_blocks_every_gate_that_can_be_blocked(native: str | None) -> None:
    reply = DIALECT.refuse(native, "hookline broke: run `hookline doctor`")

    assert reply.exit_code == 0
    assert b"doctor" in reply.stderr
    effect = client.obey(native if native in NATIVE and native else "PreToolUse", reply, {})
    assert (effect.does is Does.BLOCKS) is (native in GATES or native not in NATIVE)


# Hooks written for BaseCoat


def payload_of(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DIALECT.stdin(event))
    return found


def test_its_own_bytes_are_passed_on_untouched() -> None:
    event = decode("PreToolUse", odd=[1])

    assert DIALECT.stdin(event) == bytes(event.raw)


def test_an_event_from_elsewhere_has_the_documented_envelope() -> None:
    done = replace(tool("Bash", command="ls"), output="a", ok=True, duration_ms=6421.7)
    when = datetime(2025, 4, 27, 20, 42, 31, 5, tzinfo=timezone(timedelta(hours=2)))
    event = PostToolUse(
        session_id="s",
        time=when,
        agent=Agent(name="root"),
        budget=Budget(used_tokens=1, effective_limit=2),
        tool=done,
    )
    assert payload_of(event) == {
        "hook": "PostToolUse",
        "timestamp": "2025-04-27T18:42:31Z",
        "sessionId": "s",
        "agent": "root",
        "repository": "",
        "branch": "",
        "cwd": "",
        "budget": {"usedTokens": 1, "effectiveLimit": 2},
        "tool": {
            "name": "Bash",
            "input": {"command": "ls"},
            "success": True,
            "durationMs": 6422,
            "output": "a",
        },
    }


def test_other_events_from_elsewhere_carry_what_they_are_about() -> None:
    failed = payload_of(PostToolUseFailure(tool=tool("Bash", command="ls"), error="boom"))
    assert failed["hook"] == "PostToolUse"
    assert (failed["tool"]["success"], failed["tool"]["error"]) == (False, "boom")
    assert "success" not in payload_of(PreToolUse(tool=tool("Bash", command="ls")))["tool"]
    assert payload_of(UserPromptSubmit(prompt="hi"))["prompt"] == "hi"
    assert payload_of(Error(message="m", where="w"))["error"] == {"class": "w", "message": "m"}
    assert payload_of(PreCompact(trigger="auto"))["compaction"] == {"trigger": "auto"}
    child = SubagentStart(agent=Agent(name="t", depth=2, parent="p"))
    assert payload_of(child)["subagent"] == {"name": "t", "parent": "p", "depth": 2}
    assert payload_of(SessionEnd(reason="clear"))["reason"] == "clear"


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_every_canonical_event_can_be_given_to_such_a_hook(name: str) -> None:
    assert isinstance(payload_of(bare_event(name)), dict)


@pytest.mark.parametrize("native", NATIVE)
@pytest.mark.parametrize(
    "stdout", [b"", b"\n", b"{}", b'{"action": "passThrough", "priority": 50}']
)
def test_nothing_said_is_a_pass(native: str, stdout: bytes) -> None:
    assert read(native, stdout=stdout) == PASS


@pytest.mark.parametrize("code", [1, 2])
def test_an_exit_code_says_only_that_the_hook_broke(code: int) -> None:
    with pytest.raises(HandlerCrashed, match="boom"):
        read("PreToolUse", {"action": "block", "reason": "no"}, code=code)


@pytest.mark.parametrize(
    "body",
    [
        {"action": "deny", "reason": "no"},
        {"reason": "no"},
        {"modifiedInput": {"command": "ls"}},
        {"action": "modify"},
        {"action": "modify", "modifiedInput": "ls"},
        {"action": "block", "reason": 3},
        {"action": "injectContext", "additionalContext": [3]},
        [],
        "block",
    ],
)
def test_what_is_no_response_envelope_is_a_failure(body: Any) -> None:
    with pytest.raises(HandlerAnswerError):
        read("PreToolUse", body)


def test_plain_text_is_a_failure() -> None:
    with pytest.raises(HandlerAnswerError):
        read("PreToolUse", stdout=b"blocked!")


def test_the_documented_response_is_understood() -> None:
    body = {
        "action": "passThrough",
        "priority": 50,
        "additionalContext": [],
        "warnings": [],
        "metadata": {"hookId": "anti-loop-detector"},
    }
    assert read("PostToolUse", body) == Answer(metadata={"hookId": "anti-loop-detector"})


def test_a_block_is_a_deny_where_something_can_be_blocked() -> None:
    body = {"action": "block", "reason": "Loop detected."}

    for native in ("PreToolUse", "PostToolUse", "UserPromptSubmitted", "OnBudgetExceeded"):
        assert read(native, body) == deny("Loop detected.")
    assert read("PreToolUse", {"action": "block"}).reason.strip()
    assert read("SessionStart", body) == halt("Loop detected.")
    for native in ("SessionEnd", "SubagentStop", "PostCompact"):
        assert read(native, body) == notice("Loop detected.")


def test_texts_are_taken_with_any_action() -> None:
    body = {"action": "block", "reason": "r", "additionalContext": "c", "warnings": "w"}
    assert read("PreToolUse", body) == deny("r", context="c", notice="w")
    texts = {"action": "injectContext", "additionalContext": ["a", "", "b"]}
    assert read("SessionStart", texts) == context("a", "b")
    assert read("SessionStart", {"warnings": ["w"]}) == notice("w")


def test_a_modification_hands_on_the_whole_payload() -> None:
    changed = read("PreToolUse", {"action": "modify", "modifiedInput": {"cmd": "ls"}})
    assert changed.rewrite.input == {"cmd": "ls", "command": None}
    prompt = read("UserPromptSubmitted", {"action": "modify", "modifiedInput": "hi"})
    assert prompt.rewrite.prompt == "hi"
    text = read("PostToolUse", {"action": "modify", "modifiedOutput": "clean"})
    assert text.rewrite.output == "clean"
    shaped = {"action": "modify", "modifiedOutput": {"summary": "s", "redacted": True}}
    assert read("PostToolUse", shaped).rewrite.output == '{"summary":"s","redacted":true}'


# Anything at all


@given(st.binary(max_size=60), st.sampled_from([*NATIVE, "Stop", None]))
def test_any_bytes_are_an_event_or_are_not_understood(payload: bytes, native: str | None) -> None:
    try:
        assert isinstance(DIALECT.decode(payload, native), Event)
    except DecodeError:
        return


INNER = (
    "name", "input", "output", "usedTokens", "depth", "parent", "trigger", "inputTokens", "class",
    "message", "success", "durationMs",
)  # fmt: skip
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(INNER), inner, max_size=3)
    ),
    max_leaves=5,
)
KEYS = ["tool", "budget", "agent", "subagent", "compaction", "error", "prompt", "timestamp"]


@given(st.sampled_from(NATIVE), st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_any_values_under_known_keys_are_an_event_or_not_understood(
    native: str, fields: dict[str, Any]
) -> None:
    try:
        event = decode(native, **fields)
    except DecodeError:
        return
    assert DIALECT.encode(Outcome(event=event)) == Reply()


@given(st.sampled_from(NATIVE), st.binary(max_size=40), st.integers(0, 2))
def test_any_output_is_an_answer_or_a_failed_hook(native: str, stdout: bytes, code: int) -> None:
    try:
        assert isinstance(read(native, stdout=stdout, code=code), Answer)
    except (HandlerAnswerError, HandlerCrashed):
        return


@given(st.sampled_from(GATES), st.text(min_size=1).filter(str.strip))
def test_a_refusal_of_a_gate_blocks_whatever_its_words(native: str, reason: str) -> None:
    effect = client.obey(native, DIALECT.refuse(native, reason), {})

    assert effect.does is Does.BLOCKS
    assert effect.reason.strip()
