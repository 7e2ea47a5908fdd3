"""Each probe's judgement of a session: only what was seen counts, and only beside its twin."""

from collections.abc import Mapping
from typing import Any

import pytest

from hookline.lab.ports import Asked, Session
from hookline.verifying.evidence import Evidence
from hookline.verifying.lines import Finding, Names, State
from hookline.verifying.planning import probes

NAMES = Names("canary-x-1f", "MK1fxMK")
PROBES = {probe.id: probe for probe in probes()}


def asked(*told: tuple[Mapping[str, Any], str], lane: str = "", prompt: str = "Go") -> Asked:
    """A request that carries these calls and what came of them."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    for number, (arguments, text) in enumerate(told):
        call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": arguments}
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        messages.append({"role": "assistant", "content": [call]})
        messages.append({"role": "user", "content": [result]})
    return Asked("anthropic", "/v1/messages", {"messages": messages}, lane)


def session(
    *requests: Asked,
    changed: Mapping[str, str] | None = None,
    exit_code: int | None = 0,
    cut: str = "",
) -> Session:
    return Session(
        client="claude-code",
        version="1.0",
        exit_code=exit_code,
        stdout=b"",
        stderr=b"",
        asked=requests,
        seconds=1.0,
        cut=cut,
        changed=changed or {},
    )


def judged(id: str, found: Session, how: str = "yes", most: int = 8) -> Finding:
    evidence = Evidence(session=found, names=NAMES, how=how, most_follow_ups=most)
    return PROBES[id].judge(evidence)


TOUCH = {"command": f"touch {NAMES.word}"}
RAN = {NAMES.word: "added"}
CALLED = {f"{NAMES.word}-called": "added"}
GUARDED = [
    "deny",
    "deny-write",
    "edit",
    "sub-agent",
    "crash",
    "killed",
    "hung",
    "ask-alone",
    "halt",
]


@pytest.mark.parametrize("id", GUARDED)
def test_a_guarded_act_whose_file_was_written_has_failed_whatever_the_model_was_told(
    id: str,
) -> None:
    found = session(asked((TOUCH, f"denied: {NAMES.mark}")), changed=RAN | CALLED)
    assert judged(id, found).state is State.FAILED


@pytest.mark.parametrize("id", GUARDED)
def test_a_guarded_act_that_was_never_reached_is_not_observed(id: str) -> None:
    assert judged(id, session(asked())).state is State.NOT_OBSERVED
    assert judged(id, session()).state is State.NOT_OBSERVED


@pytest.mark.parametrize("id", [id for id in GUARDED if id != "halt"])
def test_a_guarded_act_that_left_no_file_and_an_answer_is_ok(id: str) -> None:
    found = judged(id, session(asked((TOUCH, f"denied: {NAMES.mark}"))))
    assert found.state is State.OK


def test_an_edit_that_nothing_happened_to_is_not_observed_when_the_guard_did_not_speak() -> None:
    read = {"file_path": NAMES.word}
    assert judged("edit", session(asked((read, "before")))).state is State.NOT_OBSERVED


def test_a_client_that_ends_at_an_ask_obeys_only_if_the_guard_was_called() -> None:
    ended = session(asked(), changed=CALLED)
    assert judged("ask-alone", ended).state is State.OK
    broken = session(asked(), changed=CALLED, exit_code=1)
    assert judged("ask-alone", broken).state is State.NOT_OBSERVED


def test_a_rewritten_input_is_ok_when_it_ran_and_the_original_did_not() -> None:
    new = {f"{NAMES.word}-instead": "added"}
    told = asked((TOUCH, ""))
    assert judged("rewrite", session(told, changed=new)).state is State.OK
    assert judged("rewrite", session(told, changed=new | RAN)).state is State.FAILED
    assert judged("rewrite", session(told)).state is State.FAILED
    assert judged("rewrite", session()).state is State.NOT_OBSERVED


def test_where_an_input_cannot_be_rewritten_the_call_has_to_be_denied() -> None:
    told = asked((TOUCH, f"denied: run touch {NAMES.word}-instead"))
    assert judged("rewrite", session(told), "deny").state is State.OK
    new = {f"{NAMES.word}-instead": "added"}
    assert judged("rewrite", session(told, changed=new), "deny").state is State.FAILED
    assert judged("rewrite", session(asked((TOUCH, "")), changed=RAN), "deny").state is State.FAILED


def test_context_is_ok_only_where_the_model_was_sent_it() -> None:
    assert judged("context-start", session(asked(prompt=f"Go {NAMES.mark}"))).state is State.OK
    assert judged("context-start", session(asked())).state is State.FAILED
    assert judged("context-start", session()).state is State.NOT_OBSERVED


def test_what_a_side_request_carries_has_not_reached_the_conversation() -> None:
    aside = Asked("anthropic", "/v1/messages", {"text": NAMES.mark}, side=True)
    assert judged("context-start", session(asked(), aside)).state is State.FAILED


def test_redacted_output_is_nowhere_and_its_replacement_is_there() -> None:
    secret = f"{NAMES.mark[::-1]}-hidden"
    cat = {"command": f"cat {NAMES.word}"}
    assert judged("redact", session(asked((cat, NAMES.mark)))).state is State.OK
    assert judged("redact", session(asked((cat, f"{NAMES.mark} {secret}")))).state is State.FAILED
    assert judged("redact", session(asked((cat, "empty")))).state is State.FAILED
    assert judged("redact", session(asked((cat, "blocked"))), "deny").state is State.OK
    assert judged("redact", session(asked())).state is State.NOT_OBSERVED


def test_an_mcp_tool_was_stopped_only_if_the_model_was_told_why() -> None:
    call = {"text": NAMES.word}
    assert judged("mcp", session(asked((call, f"no: {NAMES.mark}")))).state is State.OK
    assert judged("mcp", session(asked((call, NAMES.word)))).state is State.FAILED
    assert judged("mcp", session(asked((call, "no such tool")))).state is State.NOT_OBSERVED


def test_a_prompt_was_blocked_only_if_the_guard_was_called_and_the_model_was_not() -> None:
    assert judged("prompt", session(changed=CALLED)).state is State.OK
    assert judged("prompt", session()).state is State.NOT_OBSERVED
    reached = session(asked(prompt=NAMES.word), changed=CALLED)
    assert judged("prompt", reached).state is State.FAILED


def test_a_halt_is_ok_when_nothing_ran_after_it_either() -> None:
    later = {f"{NAMES.word}-later": "added"}
    assert judged("halt", session(asked(), changed=CALLED)).state is State.OK
    assert judged("halt", session(asked(), changed=CALLED | later)).state is State.FAILED
    told = asked((TOUCH, "no"))
    assert judged("halt", session(told, changed=CALLED | later), "deny").state is State.OK


@pytest.mark.parametrize(
    ("times", "most", "expected"),
    [
        pytest.param(0, 8, State.FAILED, id="none"),
        pytest.param(1, 8, State.OK, id="once"),
        pytest.param(8, 8, State.OK, id="as often as promised"),
        pytest.param(9, 8, State.FAILED, id="too often"),
        pytest.param(3, 2, State.FAILED, id="more often than the person wants"),
        pytest.param(0, 0, State.SKIPPED, id="the person wants none"),
    ],
)
def test_continuations_happen_and_are_counted(times: int, most: int, expected: State) -> None:
    more = [asked(prompt=f"Go {NAMES.mark} {number}") for number in range(times)]
    found = session(asked(), *more, changed=RAN)
    assert judged("stop", found, most=most).state is expected


def test_continuations_without_end_have_failed_and_a_session_that_never_stopped_proves_nothing() -> (
    None
):
    more = [asked(prompt=f"Go {NAMES.mark} {number}") for number in range(3)]
    endless = session(*more, changed=RAN, exit_code=None, cut="it took longer than 9 seconds")
    assert judged("stop", endless).state is State.FAILED
    assert judged("stop", session(asked())).state is State.NOT_OBSERVED


@pytest.mark.parametrize("id", [id for id in PROBES if id.startswith("control-")])
def test_a_control_without_an_effect_is_not_observed(id: str) -> None:
    assert judged(id, session(asked())).state is State.NOT_OBSERVED


@pytest.mark.parametrize("id", ["deny", "mcp", "edit"])
def test_an_answer_that_the_client_could_not_read_is_no_reason_even_if_nothing_ran(
    id: str,
) -> None:
    raw = f'invalid: {{"reason": "{NAMES.mark}\\n— a, hookline.yaml:3"}}'
    found = judged(id, session(asked((TOUCH, raw))))
    assert found.state is State.FAILED


def test_an_act_that_something_else_stopped_is_no_pass() -> None:
    found = judged("deny", session(asked((TOUCH, "the disk is full"))))
    assert found.state is State.FAILED
    assert "not for our reason; the model read: the disk is full" in found.detail


def test_a_guard_that_broke_is_known_by_its_name() -> None:
    told = f"hook `{NAMES.hook}` failed: no answer within 1 s"
    assert judged("hung", session(asked((TOUCH, told)))).state is State.OK


def test_a_client_that_only_waits_where_nobody_can_be_asked_is_no_pass() -> None:
    cut = session(asked(), changed=CALLED, exit_code=None, cut="it took longer than 60 seconds")
    found = judged("ask-alone", cut)
    assert found.state is State.CANNOT
    assert "the client only waits; the client was ended" in found.detail
    early = session(asked(), exit_code=None, cut="it took longer than 60 seconds")
    assert judged("ask-alone", early).state is State.NOT_OBSERVED


@pytest.mark.parametrize("id", ["control-asked", "ask", "pass", "rewrite-asked"])
@pytest.mark.parametrize(
    ("question", "ran", "expected"),
    [
        (NAMES.word, True, State.OK),
        ("about something else", True, State.FAILED),
        ("", True, State.FAILED),
        (NAMES.word, False, State.FAILED),
        ("", False, State.FAILED),
    ],
)
def test_what_has_to_be_asked_is_ok_only_if_the_person_was_asked_and_it_ran(
    id: str, question: str, ran: bool, expected: State
) -> None:
    found = session(asked((TOUCH, "done")), changed=RAN if ran else {})
    evidence = Evidence(session=found, names=NAMES, questions=(question,))
    assert PROBES[id].judge(evidence).state is expected


def test_a_session_that_did_not_get_as_far_as_a_question_shows_nothing() -> None:
    assert judged("control-asked", session()).state is State.NOT_OBSERVED


def test_where_a_client_cannot_ask_the_person_an_ask_has_to_be_a_deny() -> None:
    told = session(asked((TOUCH, f"denied: {NAMES.mark}")))
    assert judged("ask", told, "deny").state is State.OK
    assert judged("ask", session(asked((TOUCH, "")), changed=RAN), "deny").state is State.FAILED
