"""Two sets of recordings are compared: what changed in the client counts, what was not played does not."""

from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline.lab.drift import (
    Difference,
    Drift,
    Kind,
    compare,
    compare_effects,
    effects,
    with_effects,
)
from hookline.lab.recordings import Recording, RecordingError, read_recordings

DIALECTS = Path(hookline.__file__).parent / "dialects"


def recording(
    event: str, *, ours: bool = True, scenario: str = "basic", **payload: Any
) -> Recording:
    """One payload, recorded by `hookline lab capture` or by another."""
    return Recording(
        client="claude-code",
        version="1",
        event=event,
        payload=payload,
        scenario=scenario,
        scenarios=(scenario,),
        recorded="2026-11-16" if ours else "",
    )


def seen(drift: Drift) -> list[tuple[Kind, str]]:
    """What counts, and what it is about."""
    return [(each.kind, each.field or each.event) for each in drift.differences]


def noted(drift: Drift) -> list[tuple[Kind, str]]:
    """What does not count, and what it is about."""
    return [(each.kind, each.field or each.event) for each in drift.notes]


@pytest.mark.parametrize("name", ["claude_code", "codex", "gemini", "copilot"])
def test_recordings_do_not_differ_from_themselves(name: str) -> None:
    recordings = read_recordings(str(DIALECTS / name / "captures"))
    drift = compare(recordings, recordings)
    assert len(recordings) > 20
    assert not drift.differences
    assert not drift.notes


def test_an_event_nobody_recorded_before_is_new() -> None:
    old = [recording("Stop")]
    drift = compare(old, [*old, recording("Start")])
    assert seen(drift) == [(Kind.NEW_EVENT, "Start")]


def test_an_event_has_vanished_when_its_script_was_played_again() -> None:
    old = [recording("Stop"), recording("Start")]
    drift = compare(old, [recording("Start")])
    assert drift.differences == (
        Difference(kind=Kind.VANISHED_EVENT, event="Stop", was="seen in basic"),
    )


def test_an_event_whose_script_was_not_played_was_not_seen() -> None:
    old = [recording("Stop", scenario="long"), recording("Start")]
    drift = compare(old, [recording("Start")])
    assert not drift.differences
    assert noted(drift) == [(Kind.EVENT_NOT_SEEN, "Stop")]


def test_the_script_of_another_recorder_is_no_promise_even_by_the_same_name() -> None:
    old = [recording("Stop", ours=False), recording("Start", ours=False)]
    drift = compare(old, [recording("Start")])
    assert noted(drift) == [(Kind.EVENT_NOT_SEEN, "Stop")]


def test_new_and_vanished_fields_are_named_with_their_types() -> None:
    drift = compare([recording("Stop", a="x", b=1)], [recording("Stop", a="x", c=True)])
    assert drift.differences == (
        Difference(kind=Kind.NEW_FIELD, event="Stop", field="c", now="flag"),
        Difference(kind=Kind.VANISHED_FIELD, event="Stop", field="b", was="number"),
    )


def test_a_field_that_was_there_sometimes_has_not_vanished() -> None:
    old = [recording("Stop", a=1), recording("Stop", a=1, b=1)]
    drift = compare(old, [recording("Stop", a=1)])
    assert not drift.differences
    assert noted(drift) == [(Kind.FIELD_NOT_SEEN, "b")]


def test_of_a_new_object_only_the_object_is_named() -> None:
    drift = compare([recording("Stop")], [recording("Stop", a={"b": {"c": 1}})])
    assert seen(drift) == [(Kind.NEW_FIELD, "a")]


def test_a_field_inside_a_list_is_missed_when_every_element_had_it() -> None:
    old = [recording("Stop", a=[{"b": 1, "c": 2}, {"b": 3}])]
    drift = compare(old, [recording("Stop", a=[{"d": 1}])])
    assert seen(drift) == [(Kind.NEW_FIELD, "a[].d"), (Kind.VANISHED_FIELD, "a[].b")]
    assert noted(drift) == [(Kind.FIELD_NOT_SEEN, "a[].c")]


def test_an_empty_list_or_null_shows_nothing_of_what_could_be_in_it() -> None:
    full = [recording("Stop", a=[{"b": 1}], c={"d": 1})]
    empty = [recording("Stop", a=[], c=None)]
    assert seen(compare(full, empty)) == [(Kind.CHANGED_TYPE, "c")]
    assert not compare(empty, full).differences


def test_a_changed_type_is_named_with_both_types() -> None:
    old = [recording("Stop", a=1), recording("Stop", a=None)]
    drift = compare(old, [recording("Stop", a="1")])
    assert drift.differences == (
        Difference(
            kind=Kind.CHANGED_TYPE, event="Stop", field="a", was="null or number", now="text"
        ),
    )


def test_each_tool_has_its_own_answer() -> None:
    old = [
        recording("After", tool_name="Bash", tool_response={"stdout": ""}),
        recording("After", tool_name="Read", tool_response="text"),
    ]
    assert not compare(old, old[:1]).differences
    new = [recording("After", tool_name="Bash", tool_response={"out": ""})]
    drift = compare(old, new)
    assert [(each.kind, each.tool, each.field) for each in drift.differences] == [
        (Kind.NEW_FIELD, "Bash", "tool_response.out"),
        (Kind.VANISHED_FIELD, "Bash", "tool_response.stdout"),
    ]


def test_a_tool_nobody_recorded_before_is_noted_and_its_envelope_compared() -> None:
    old = [recording("Before", tool_name="Bash", tool_input={"command": "ls"})]
    new = [recording("Before", tool_name="Grep", tool_input={"pattern": "x"}, turn_id="t")]
    drift = compare(old, new)
    assert seen(drift) == [(Kind.NEW_FIELD, "turn_id")]
    assert [(each.kind, each.tool) for each in drift.notes] == [(Kind.TOOL_NOT_KNOWN, "Grep")]


def test_what_another_script_had_the_model_ask_is_no_difference_of_the_client() -> None:
    theirs = [recording("Before", ours=False, tool_name="Bash", tool_input={"command": "", "x": 1})]
    new = [recording("Before", tool_name="Bash", tool_input={"command": ""})]
    assert noted(compare(theirs, new)) == [(Kind.SCRIPTED, "tool_input.x")]
    assert not compare(theirs, new).differences


def test_with_the_same_script_it_is() -> None:
    old = [recording("Before", tool_name="Bash", tool_input={"command": ""})]
    new = [recording("Before", tool_name="Bash", tool_input={"cmd": ""})]
    assert seen(compare(old, new)) == [
        (Kind.NEW_FIELD, "tool_input.cmd"),
        (Kind.VANISHED_FIELD, "tool_input.command"),
    ]


def test_what_another_recorded_is_known_and_what_we_recorded_has_to_be_there_again() -> None:
    old = [
        recording("Stop", ours=False, rare=1),
        recording("Stop", ours=False, common=1),
        recording("Stop", common=1),
    ]
    drift = compare(old, [recording("Stop", rare=1)])
    assert seen(drift) == [(Kind.VANISHED_FIELD, "common")]


def test_what_only_a_session_shows_that_was_not_played_before_is_not_new() -> None:
    old = [recording("Stop", a=1)]
    new = [
        *old,
        recording("Stop", scenario="long", a="x", b=1),
        recording("Start", scenario="long"),
    ]
    drift = compare(old, new)
    assert not drift.differences
    assert noted(drift) == [(Kind.SCENARIO_NOT_KNOWN, "long")]


def test_variables_that_the_client_sets_are_compared_between_recordings_of_ours() -> None:
    def with_names(*names: str, ours: bool = True) -> Recording:
        return Recording(
            client="c",
            version="1",
            event="Stop",
            payload={},
            env_added=names,
            recorded="2026-11-16" if ours else "",
        )

    drift = compare([with_names("A", "B")], [with_names("B", "C")])
    assert seen(drift) == [(Kind.NEW_VARIABLE, "C"), (Kind.VANISHED_VARIABLE, "A")]
    assert not compare([with_names("A", ours=False)], [with_names("C")]).differences


def test_recordings_of_two_clients_are_not_compared() -> None:
    other = Recording(client="codex", version="1", event="Stop", payload={})
    with pytest.raises(RecordingError, match="claude-code and of codex"):
        compare([recording("Stop")], [other])


def test_effects_that_changed_are_named_with_what_they_were() -> None:
    old = effects(
        b'{"lines": [{"id": "deny", "state": "ok"}, {"id": "ask", "state": "ok"}]}', "old"
    )
    new = effects(
        b'{"lines": [{"id": "deny", "state": "broken", "said": "ran"}, {"id": "halt", "state": "ok"}]}',
        "new",
    )
    assert compare_effects(old, new) == [
        Difference(kind=Kind.CHANGED_EFFECT, field="deny", was="ok", now="broken"),
        Difference(kind=Kind.VANISHED_EFFECT, field="ask", was="ok"),
        Difference(kind=Kind.NEW_EFFECT, field="halt", now="ok"),
    ]


def test_an_effect_that_nobody_saw_is_no_difference() -> None:
    found = compare_effects({"deny": "ok", "ask": "skipped"}, {"deny": "not observed", "ask": "ok"})
    assert [each.kind for each in found] == [Kind.EFFECT_NOT_SEEN] * 2
    drift = with_effects(compare([recording("Stop")], [recording("Stop")]), found)
    assert not drift.differences
    assert noted(drift) == [(Kind.EFFECT_NOT_SEEN, "deny"), (Kind.EFFECT_NOT_SEEN, "ask")]


def test_a_file_that_is_no_report_is_named() -> None:
    with pytest.raises(RecordingError, match=r"`old\.json` is no report of effects"):
        effects(b'{"rows": []}', "old.json")
