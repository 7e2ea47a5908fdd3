"""Events to be judged again, from whatever they were written down in."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

import hookline
from hookline.explaining.cases import case_in
from hookline.explaining.recorded import as_json
from hookline.model.errors import HooklineError
from hookline.model.events import PermissionRequest, PreToolUse
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.outcome import Substitution

CAPTURE = (
    Path(hookline.__file__).parent / "dialects/claude_code/captures/PermissionRequest-Bash.json"
)
PAYLOAD = b'{"event":"pre_tool_use","tool":{"name":"shell","command":"ls"}}'


def test_a_bare_payload_is_canonical_unless_said_otherwise() -> None:
    case = case_in(PAYLOAD, "a.jsonl:1")
    assert isinstance(case.event, PreToolUse)
    assert (case.name, case.then) == ("a.jsonl:1", None)
    payload = json.dumps(json.loads(CAPTURE.read_text())["payload"]).encode()
    assert isinstance(case_in(payload, "x", "claude-code").event, PermissionRequest)


def test_a_capture_says_whose_payload_it_is() -> None:
    case = case_in(CAPTURE.read_bytes(), "x")
    assert isinstance(case.event, PermissionRequest)
    assert case.event.dialect == "claude-code"


def test_a_line_of_the_log_brings_its_outcome_along() -> None:
    recorded = Recorded(
        seq=7,
        id="e7",
        attempt=1,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        ns=5,
        dialect="canonical",
        native_event="",
        event="pre_tool_use",
        verdict="deny",
        reason="No.",
        project_dir="/p",
        payload=PAYLOAD,
        stdout=b"out\n",
        redactions=1,
        runs=(
            RecordedRun(hook="h", source="/p/a:1", handler="rule", verdict="deny", reason="No."),
        ),
        substitutions=(Substitution("ask", "deny", "why"),),
    )
    case = case_in(json.dumps(as_json(recorded)).encode(), "x")
    assert (case.name, case.project_dir) == ("e7", "/p")
    assert isinstance(case.event, PreToolUse)
    assert case.then is not None
    assert case.then.approximate
    assert list(case.then.runs) == list(recorded.runs)
    assert list(case.then.substitutions) == list(recorded.substitutions)
    assert json.loads(case.then.payload) == json.loads(PAYLOAD)
    assert (case.then.stdout, case.then.verdict) == (b"out\n", "deny")


def test_a_payload_that_is_no_event_says_why() -> None:
    case = case_in(b'{"event":"pre_tool_use","tool":7}', "x")
    assert case.event is None
    assert case.why


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"[1]", "x: expected one JSON object"),
        (b"\xff", "x: expected one JSON object"),
        (
            b'{"dialect":"canonical","payload":{},"seq":"a","verdict":"deny"}',
            "no line of `hookline",
        ),
        (b'{"dialect":"gone","payload":{}}', "no dialect is called `gone`"),
    ],
)
def test_what_is_no_case_is_refused(raw: bytes, why: str) -> None:
    with pytest.raises(HooklineError, match=why):
        case_in(raw, "x")
