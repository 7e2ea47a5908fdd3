"""What a record says by itself."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.explaining.cases import recorded_outcome
from hookline.explaining.recorded import (
    answer_of,
    as_json,
    deciders,
    event_of,
    file_of,
    rewrite_of,
)
from hookline.model.answers import PASS, Answer, Rewrite, ask, context, deny, rewrite
from hookline.model.events import PreToolUse
from hookline.model.hook import HandlerSpec, Hook, Layer, Mode, Source
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.outcome import Outcome, Run


def run(verdict: str = "pass", **fields: Any) -> RecordedRun:
    given = {"hook": "h", "source": "/p/hookline.yaml:3", "handler": "rule", **fields}
    return RecordedRun(verdict=verdict, **given)


def record(**fields: Any) -> Recorded:
    given: dict[str, Any] = {
        "seq": 1,
        "id": "e1",
        "attempt": 1,
        "at": datetime(2026, 1, 1, tzinfo=UTC),
        "ns": 2_500_000,
        "dialect": "canonical",
        "native_event": "",
        "event": "pre_tool_use",
        "verdict": "pass",
        **fields,
    }
    return Recorded(**given)


class TestWhoDecided:
    def test_nobody_on_a_pass(self) -> None:
        assert deciders(record(runs=[run(), run("allow")])) == []

    def test_all_who_said_what_came_out(self) -> None:
        runs = [run("ask", hook="a"), run("deny", hook="b"), run("deny", hook="c")]
        assert [each.hook for each in deciders(record(verdict="deny", runs=runs))] == ["b", "c"]

    def test_none_that_only_observes_or_was_overruled(self) -> None:
        runs = [run("deny", mode="observe"), run("deny", superseded=True), run("deny", hook="me")]
        assert [each.hook for each in deciders(record(verdict="deny", runs=runs))] == ["me"]

    def test_who_asked_where_that_came_out_as_a_deny(self) -> None:
        runs = [run("ask", hook="a"), run("allow", hook="b")]
        assert [each.hook for each in deciders(record(verdict="deny", runs=runs))] == ["a"]

    def test_who_kept_an_agent_going(self) -> None:
        runs = [run("deny", hook="a"), run(hook="b", effects={"follow_up": ["go"]}), run(hook="c")]
        assert [each.hook for each in deciders(record(event="stop", runs=runs))] == ["a", "b"]


class TestAnswers:
    @pytest.mark.parametrize(
        "answer",
        [
            deny("No.", context="mind", notice="told"),
            ask("Sure?"),
            context("a", "b"),
            rewrite(command="ls", env={"A": "1"}),
            PASS,
        ],
    )
    def test_what_was_recorded_is_read_back(self, answer: Answer) -> None:
        source = Source("/p/hookline.yaml", 3, Layer.PROJECT)
        hook = Hook(name="h", events=("stop",), handler=HandlerSpec("rule", {}), source=source)
        outcome = Outcome(event=PreToolUse(), answer=answer, runs=(Run(hook, answer, 5),))
        (recorded,) = recorded_outcome(outcome).runs
        assert answer_of(recorded) == answer
        assert (recorded.hook, recorded.source) == ("h", "/p/hookline.yaml:3")

    def test_the_mode_and_a_failure_are_recorded(self) -> None:
        hook = Hook(name="h", events=("stop",), handler=HandlerSpec("rule", {}), mode=Mode.OBSERVE)
        run = Run(hook, PASS, 5, "crashed", rejudged=True, superseded=True)
        (recorded,) = recorded_outcome(Outcome(event=PreToolUse(), runs=(run,))).runs
        assert (recorded.mode, recorded.failed) == ("observe", "crashed")
        assert recorded.rejudged
        assert recorded.superseded

    @pytest.mark.parametrize(
        "broken",
        [
            run("deny"),
            run("nonsense", reason="x"),
            run("deny", reason="x", effects={"context": 7}),
        ],
    )
    def test_what_cannot_be_an_answer_any_more_is_a_pass(self, broken: RecordedRun) -> None:
        assert answer_of(broken) is PASS

    def test_a_rewrite_is_read_where_there_is_one(self) -> None:
        assert rewrite_of(run()) is None
        assert rewrite_of(run(effects={"rewrite": {"input": {"a": 1}}})) == Rewrite(input={"a": 1})
        assert rewrite_of(run(effects={"rewrite": "…"})) is None


class TestEvents:
    def test_an_event_is_read_again_with_its_id_and_place(self) -> None:
        payload = b'{"event":"pre_tool_use","id":"other","tool":{"name":"shell","command":"ls"}}'
        event = event_of(record(payload=payload, cwd="/project")).event
        assert isinstance(event, PreToolUse)
        assert (event.id, event.cwd, event.tool.command) == ("e1", "/project", "ls")

    @pytest.mark.parametrize(
        ("fields", "why"),
        [
            ({}, "its payload was not stored"),
            ({"payload": b"{half"}, "JSON"),
            ({"payload": b"{half", "cut": True}, "the payload was cut when it was stored"),
            ({"payload": b"{}", "dialect": "gone"}, "no dialect is called `gone`"),
        ],
    )
    def test_one_that_cannot_be_read_says_why(self, fields: dict[str, Any], why: str) -> None:
        reading = event_of(record(**fields))
        assert reading.event is None
        assert why in reading.why


@pytest.mark.parametrize(
    ("source", "file"),
    [("/p/a.yaml:3", "/p/a.yaml"), ("/p/a:b", "/p/a:b"), ("/p/a", "/p/a"), ("", "")],
)
def test_the_file_of_a_source_is_what_stands_before_the_line(source: str, file: str) -> None:
    assert file_of(source) == file


@given(raw=st.binary(max_size=60))
def test_whatever_was_stored_can_be_printed_as_json(raw: bytes) -> None:
    shown = as_json(record(payload=raw, stdout=raw, stderr=raw))
    assert shown["ms"] == 2.5
    assert isinstance(shown["stdout"], str)
