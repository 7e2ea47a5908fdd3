"""An entry becomes a row: everything textual redacted, cut where it is long, never lost."""

import base64
import json
import random
from pathlib import Path
from typing import Any

import pytest

from hookline.model.answers import Answer, Rewrite, Verdict, ask, deny
from hookline.model.events import (
    AgentSwitch,
    Notification,
    PreToolUse,
    SessionEnd,
    Task,
    TaskCreated,
    UserPromptSubmit,
)
from hookline.model.journal import Entry, Recorded
from hookline.model.outcome import Outcome, Reply, Substitution
from hookline.model.tools import tool
from hookline.secrets import redact_bytes
from hookline.store.journal.database import Row, decode_row, make_row
from hookline.store.journal.recording import MARGIN, TEXT_CAP
from support.journals import a_run, an_entry, secret, shell


def stored(entry: Entry, **options: Any) -> Recorded:
    """What the journal gives back of an entry."""
    row = make_row(entry, **options)
    return decode_row(1, row.columns)


def all_bytes(row: Row) -> bytes:
    return b"\n".join(
        each if isinstance(each, bytes) else str(each).encode() for each in row.columns
    )


def test_an_ordinary_event_is_given_back_as_it_was() -> None:
    answer = ask("is this wise?", context="some context", notice="a notice")
    runs = (
        a_run("first", answer),
        a_run("second", failed="no answer within 1 s", rejudged=True, superseded=True),
    )
    noted = (Substitution("ask", "deny", "it cannot ask"),)
    event = shell("git push", native_event="PreToolUse")
    entry = an_entry(
        event,
        outcome=Outcome(event=event, answer=answer, runs=runs, substitutions=noted),
        reply=Reply(stdout=b'{"a": 1}', stderr=b"warned", exit_code=2),
        attempt=3,
    )

    found = stored(entry)

    assert (found.id, found.attempt, found.at, found.ns) == (entry.id, 3, entry.at, entry.ns)
    assert (found.dialect, found.native_event) == ("claude-code", "PreToolUse")
    assert (found.event, found.session_id, found.agent) == ("pre_tool_use", "s-1", "root")
    assert (found.tool_kind, found.tool_name, found.subject) == ("shell", "shell", "git push")
    assert (found.cwd, found.project_dir) == ("/home/dev/app", "/home/dev/app")
    assert (found.config, found.version) == (entry.config, "0.1.0")
    assert (found.verdict, found.reason, found.failure) == ("ask", "is this wise?", "")
    assert found.answer == {"context": ["some context"], "notice": ["a notice"]}
    assert found.substitutions == noted
    assert (found.payload, found.stdout, found.stderr) == (entry.payload, b'{"a": 1}', b"warned")
    assert (found.exit_code, found.redactions, found.cut) == (2, 0, False)
    assert not found.approximate
    first, second = found.runs
    assert (first.hook, first.source) == ("first", "/home/dev/app/hookline.yaml:7")
    assert (first.handler, first.verdict, first.ns) == ("rule", "ask", 1_000)
    assert first.reason == "is this wise?"
    assert first.effects == {"context": ["some context"], "notice": ["a notice"]}
    assert (second.failed, second.rejudged, second.superseded) == (
        "no answer within 1 s",
        True,
        True,
    )
    assert (second.verdict, second.mode, second.effects) == ("pass", "enforce", {})


def test_an_event_that_could_not_be_judged_has_no_verdict_but_a_failure() -> None:
    found = stored(an_entry(event=None, outcome=None, failure="the payload is no JSON"))
    assert (found.verdict, found.failure) == ("failed", "the payload is no JSON")

    unread = Entry(
        id="e1", at=an_entry().at, ns=1, dialect="codex", native_event="Stop", failure="no JSON"
    )
    found = stored(unread)
    assert (found.event, found.native_event, found.verdict) == ("", "Stop", "failed")


PLACES: dict[str, dict[str, Any]] = {
    "the payload": {"payload": json.dumps({"command": f"curl -u {secret}"}).encode()},
    "a payload that is no JSON": {"payload": b"\xff\xfe" + secret.encode() + b"\x00"},
    "the reply": {"reply": Reply(stdout=json.dumps({"reason": f"it said {secret}"}).encode())},
    "stderr": {"reply": Reply(stderr=f"failed with {secret}\n".encode())},
    "the failure": {"failure": f"could not load {secret}"},
    "the project directory": {"project_dir": f"/home/{secret}"},
    "the native event": {"native_event": f"Pre {secret}"},
    "the id": {"id": f"e {secret}"},
}
EVENTS = {
    "the subject": shell(f"curl -H 'X: {secret}' example.com"),
    "the working directory": shell(cwd=f"/tmp/{secret}"),
    "the session": shell(session_id=f"s {secret}"),
    "the tool's name": PreToolUse(tool=tool(f"tool {secret}")),
    "a prompt": UserPromptSubmit(prompt=f"use\n{secret}\nplease"),
}
ANSWERS = {
    "the reason": deny(f"contains {secret}"),
    "context": Answer(context=(f"the key is {secret}",)),
    "a notice": Answer(notice=(f"the key is {secret}",)),
    "a follow-up": Answer(follow_up=(f"the key is {secret}",)),
    "a rewrite": Answer(rewrite=Rewrite(input={"command": f"echo {secret}"})),
    "metadata": Answer(metadata={"found": [{"key": secret}]}),
}


def entries_with_a_secret() -> dict[str, Entry]:
    known = {place: an_entry(**keys) for place, keys in PLACES.items()}
    known |= {place: an_entry(event) for place, event in EVENTS.items()}
    known |= {place: an_entry(answer=answer) for place, answer in ANSWERS.items()}
    known |= {
        f"{place} of a run": an_entry(runs=[a_run(answer=answer)])
        for place, answer in ANSWERS.items()
    }
    known["a hook's name"] = an_entry(runs=[a_run(f"hook {secret}")])
    known["a run's failure"] = an_entry(runs=[a_run(failed=f"stderr: {secret}")])
    outcome = Outcome(event=shell(), substitutions=(Substitution("a", "b", f"why {secret}"),))
    known["a substitution"] = an_entry(outcome=outcome)
    known["what no JSON can hold"] = an_entry(answer=Answer(metadata={"a": Path(f"/x/{secret}")}))
    return known


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_secret_is_not_stored_with_zeros_in_it_either(encoding: str) -> None:
    text = json.dumps({"tool_input": {"command": f"curl -u {secret} é"}})
    row = make_row(an_entry(payload=text.encode(encoding)))
    stored = all_bytes(row).replace(b"\0", b"")
    assert secret.encode() not in stored
    assert b"tool_input" in stored
    assert b"[redacted:" in stored


def utf16(text: str) -> str:
    """As UTF-16 reads that was taken for UTF-8: the output of some programs of Windows."""
    return text.encode("utf-16-le").decode()


def bare(row: Row) -> bytes:
    return all_bytes(row).replace(b"\0", b"").replace(rb"\\u0000", b"").replace(rb"\u0000", b"")


@pytest.mark.parametrize("size", [0, 20_000, 200_000])
def test_a_secret_between_zeros_in_json_is_not_stored(size: int) -> None:
    said = utf16(f"token {secret} end ") + "x" * size
    inner = json.dumps({"text": said})
    entries = {
        "a payload": an_entry(payload=json.dumps({"tool_response": {"stdout": said}}).encode()),
        "JSON in a payload": an_entry(payload=json.dumps({"content": inner}).encode()),
        "a context": an_entry(answer=Answer(context=(said,))),
        "a reply": an_entry(reply=Reply(stdout=json.dumps({"reason": said}).encode())),
        "a subject": an_entry(UserPromptSubmit(prompt=said), payload=b""),
        "a session": an_entry(shell("ls", session_id=said[:200])),
    }
    for place, entry in entries.items():
        row = make_row(entry)
        assert secret.encode() not in bare(row), place
        assert b"[redacted:" in bare(row), place
        found = decode_row(1, row.columns)
        assert found.redactions > 0
        if place == "a payload":
            assert "stdout" in json.loads(found.payload)["tool_response"]


def test_what_zeros_separate_is_known_as_if_they_were_spaces() -> None:
    other = "gsk_" + "Ab3dE5gH" * 6 + "Zz"  # known by where it begins and ends
    assert redact_bytes(b" %s " % other.encode()).count
    payload = b"file.txt\0%s\0other.txt\0" % other.encode()
    for more in (b"", " ".join(utf16(secret)).encode(), utf16(f" {secret} ").encode()):
        assert other.encode() not in all_bytes(make_row(an_entry(payload=payload + more)))


@pytest.mark.parametrize("before", range(320_000, 330_000, 77))
def test_no_half_of_a_secret_is_left_where_zeros_were(before: int) -> None:
    payload = utf16(secret).encode() + bytes(before) + secret.encode() + b" y" * 50_000
    row = make_row(an_entry(payload=payload))
    assert secret[:12].encode() not in all_bytes(row)
    assert decode_row(1, row.columns).cut


def test_zeros_with_nothing_to_hide_stay_as_they_are() -> None:
    for payload in (b"\x00\xff\xfe", "plain words".encode("utf-16")):
        assert make_row(an_entry(payload=payload)).columns[-1] == payload


def _base64(size: int) -> str:
    return base64.b64encode(random.Random(size).randbytes(size)).decode()


KEY = "-----BEGIN RSA PRIVATE " + f"KEY-----\n{_base64(1_200)}\n-----END RSA PRIVATE KEY-----\n"
SHRINKING: dict[str, Any] = {
    "a bundle of keys": {"first": "kept", "content": KEY * 200},
    "a list of passwords": {"first": "kept", "all": [{"pass" + "word": _base64(24)}] * 12_000},
    "one long token": {"first": "kept", "content": "A" * 8_000_000},
}


@pytest.mark.parametrize("kind", SHRINKING)
def test_a_long_payload_that_is_nearly_all_secrets_keeps_what_is_none(kind: str) -> None:
    payload = json.dumps(SHRINKING[kind]).encode()
    found = stored(an_entry(payload=payload))
    assert found.cut
    assert json.loads(found.payload)["first"] == "kept"
    assert b"[redacted:" in found.payload


EDGES = (65_536, 65_536 + MARGIN)


@pytest.mark.parametrize("before", [at + near for at in EDGES for near in range(-60, 20, 3)])
def test_no_half_of_a_secret_is_left_at_the_cut_behind_others(before: int) -> None:
    start = b'{"a": "' + KEY.encode().replace(b"\n", b"\\n") * 20 + b" "
    payload = start + b"x" * (before - len(start)) + b" " + secret.encode() + b" y" * 50_000
    assert secret[:12].encode() not in all_bytes(make_row(an_entry(payload=payload)))


def test_no_half_of_a_secret_is_left_in_a_long_text_behind_others() -> None:
    for before in (at + near for at in (TEXT_CAP, TEXT_CAP + MARGIN) for near in range(-60, 9, 3)):
        text = KEY * min(10, before // len(KEY))
        text += "x" * (before - len(text)) + " " + secret + " y" * 50_000
        row = make_row(an_entry(answer=Answer(context=(text,))))
        assert secret[:12].encode() not in all_bytes(row)


@pytest.mark.parametrize("place", entries_with_a_secret())
def test_a_secret_is_stored_nowhere(place: str) -> None:
    row = make_row(entries_with_a_secret()[place])

    assert secret.encode() not in all_bytes(row)
    found = decode_row(1, row.columns)
    assert found.redactions >= 1
    assert found.approximate


# A text, and the part of it that nobody may read; in the order of how hard they are to see in JSON.
KINDS = {
    "token": (f"export T={secret}", secret),
    "header": ('curl -H "Authorization: Bearer ' + "q1w2e3r4t5z6u7i8" + '"', "q1w2e3r4t5z6u7i8"),
    "url": ("git clone https://dev:" + "hunter2x" + "@example.com/a.git", "hunter2x"),
    "variable": ("DB_PASSWORD='" + "correct-horse-77" + "' ./run", "correct-horse-77"),
    "json in a text": ('echo \'{"api_key": "' + "zXcVbNm1234567" + "\"}'", "zXcVbNm1234567"),
    "key": (
        "cat <<E\n-----BEGIN "
        + "PRIVATE KEY-----\n"
        + "QUJD" * 40
        + "\n-----END PRIVATE KEY-----\nE",
        "QUJD" * 10,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_secrets_of_every_kind_are_found_in_whatever_they_are_wrapped(kind: str) -> None:
    text, hidden = KINDS[kind]
    event = shell(text)
    command = json.dumps({"tool_input": {"command": text}}).encode()
    entries = [
        an_entry(event, payload=command),
        an_entry(payload=command),
        an_entry(answer=deny(f"this is not allowed:\n{text}")),
        an_entry(answer=Answer(metadata={"command": text})),
        an_entry(reply=Reply(stdout=json.dumps({"reason": text}).encode())),
        an_entry(reply=Reply(stderr=text.encode())),
        an_entry(runs=[a_run(failed=text)]),
    ]
    for entry in entries:
        row = make_row(entry)
        assert hidden.encode() not in all_bytes(row)
        assert decode_row(1, row.columns).redactions >= 1


def test_a_payload_with_a_secret_keeps_its_shape() -> None:
    payload = json.dumps({"tool_input": {"command": f'echo "{secret}"', "n": 1}}).encode()
    found = stored(an_entry(payload=payload))
    shown = json.loads(found.payload)
    assert shown["tool_input"]["n"] == 1
    assert "[redacted:" in shown["tool_input"]["command"]


def test_a_long_payload_is_cut_and_can_still_be_read() -> None:
    payload = json.dumps({"tool_name": "Write", "tool_input": {"content": "x\n" * 500_000}})
    found = stored(an_entry(payload=payload.encode()), payload_cap=10_000)
    assert found.cut
    assert found.approximate
    assert len(found.payload) < 10_100
    shown = json.loads(found.payload)
    assert shown["tool_name"] == "Write"
    assert shown["tool_input"]["content"].endswith("…")


@pytest.mark.parametrize("before", range(9_900, 10_020, 3))
def test_no_half_of_a_secret_is_left_at_the_cut(before: int) -> None:
    payload = b'{"a": "' + b"x" * (before - 8) + b" " + secret.encode() + b" " + b"y" * 50_000
    found = stored(an_entry(payload=payload), payload_cap=10_000)
    assert secret[:12].encode() not in found.payload


def test_many_secrets_before_the_cut_leave_no_half_at_the_end_either() -> None:
    # Each becomes shorter, so what is looked at ends long before the cap is reached.
    payload = (secret.encode() + b" ") * 5_000
    found = stored(an_entry(payload=payload), payload_cap=50_000)
    assert secret[:12].encode() not in found.payload


@pytest.mark.parametrize("before", range(380, 402, 2))
def test_no_half_of_a_secret_is_left_in_the_subject(before: int) -> None:
    event = shell("x" * before + " " + secret + " and more" * 30)
    for payload in (b"", json.dumps({"command": event.tool.command}).encode()):
        row = make_row(an_entry(event, payload=payload))
        assert secret[:12].encode() not in all_bytes(row)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(rewrite=Rewrite(input={"content": f"{secret} " * 50_000})),
        Answer(context=("x " * 1_000_000 + secret,)),
        Answer(metadata={str(number): "text" * 20 for number in range(100_000)}),
        Answer(metadata={"deep": [["x" * 100] * 1_000] * 1_000}),
        deny("a long reason " * 100_000),
    ],
    ids=["rewrite", "context", "many keys", "many items", "reason"],
)
def test_whatever_was_said_a_row_stays_small(answer: Answer) -> None:
    row = make_row(an_entry(answer=answer, runs=[a_run(answer=answer)]))
    assert row.size < 400_000
    assert secret[:12].encode() not in all_bytes(row)
    found = decode_row(1, row.columns)
    assert found.cut
    assert found.verdict == answer.verdict.value
    assert len(found.runs) == 1


def test_names_that_are_no_unicode_are_stored_as_far_as_they_can_be() -> None:
    event = shell("cat \udcff", cwd="/tmp/\udcff", session_id="s\udcff")
    found = stored(an_entry(event, project_dir="/tmp/\udcff"))
    assert (found.cwd, found.session_id, found.subject) == ("/tmp/?", "s?", "cat ?")


def test_an_event_whose_answer_cannot_be_told_is_still_there_with_its_verdict() -> None:
    knot: list[Any] = []
    knot.append(knot)
    answer = Answer(verdict=Verdict.DENY, reason="no", metadata={"knot": knot})
    found = stored(an_entry(answer=answer))
    assert (found.verdict, found.reason) == ("deny", "no")
    assert "could not be written down in full" in found.failure


@pytest.mark.parametrize(
    ("event", "subject"),
    [
        (UserPromptSubmit(prompt="write\n  a test"), "write a test"),
        (Notification(message="done"), "done"),
        (TaskCreated(task=Task(subject="tidy up")), "tidy up"),
        (AgentSwitch(from_agent="a", to_agent="b"), "b"),
        (PreToolUse(tool=tool("read", path="/etc/hosts")), "/etc/hosts"),
        (PreToolUse(tool=tool("fetch", url="https://example.com")), "https://example.com"),
        (SessionEnd(reason="logout"), "logout"),
        (SessionEnd(), ""),
    ],
)
def test_the_subject_says_in_one_line_what_the_event_is_about(event: Any, subject: str) -> None:
    assert stored(an_entry(event)).subject == subject


def test_a_long_subject_is_cut_to_a_line() -> None:
    found = stored(an_entry(shell("echo " + "word " * 1_000)))
    assert len(found.subject) == 400
    assert found.subject.endswith("…")
    assert not found.cut


def test_a_dialect_that_is_no_text_is_written_down_all_the_same() -> None:
    entry = an_entry(dialect="\udcff" + "x" * 1_000)
    found = stored(entry)
    assert found.id == entry.id
    assert found.dialect.startswith("?")
    assert len(found.dialect) < 400
    assert found.cut
