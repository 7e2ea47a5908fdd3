"""How many answers became one outcome, in sentences."""

from datetime import UTC, datetime
from typing import Any

from hookline.explaining.explain import how_merged
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.outcome import Substitution


def ran(hook: str, verdict: str = "pass", **fields: Any) -> RecordedRun:
    return RecordedRun(
        hook=hook, source=f"/p/hookline.yaml:{len(hook)}", handler="rule", verdict=verdict, **fields
    )


def told(verdict: str, *runs: RecordedRun, event: str = "pre_tool_use", **fields: Any) -> list[str]:
    recorded = Recorded(
        seq=1,
        id="e1",
        attempt=1,
        at=datetime(2026, 1, 1, tzinfo=UTC),
        ns=1,
        dialect="canonical",
        native_event="",
        event=event,
        verdict=verdict,
        runs=runs,
        **fields,
    )
    return list(how_merged(recorded))


def test_with_no_hook_the_client_decides() -> None:
    assert told("pass") == ["No hook ran, so the decision was left to the client."]


def test_hooks_that_all_pass_leave_it_to_the_client() -> None:
    assert told("pass", ran("a"), ran("b")) == [
        "pass: no hook held it back, so the decision was left to the client."
    ]


def test_one_that_holds_back_is_named_with_its_line() -> None:
    assert told("deny", ran("a"), ran("bb", "deny", reason="no")) == [
        "deny: `bb` (/p/hookline.yaml:2) said so, and nothing stricter was said."
    ]


def test_the_strictest_is_told_beside_what_it_outweighs() -> None:
    said = told(
        "deny", ran("a", "allow"), ran("bb", "ask"), ran("ccc", "deny"), ran("dddd", "deny")
    )
    assert said == [
        "deny: `ccc` (/p/hookline.yaml:3) and `dddd` (/p/hookline.yaml:4) said so, "
        "the strictest of deny, ask, allow."
    ]


def test_an_allow_wins_only_against_silence() -> None:
    assert told("allow", ran("a", "allow"), ran("b")) == [
        "allow: `a` (/p/hookline.yaml:1) allowed it, and no hook asked, denied or halted."
    ]


def test_an_allow_that_does_not_count_leaves_a_pass() -> None:
    change = Substitution("allow", "pass", "`a` is in a project file")
    assert told("pass", ran("a", "allow"), substitutions=[change]) == [
        "pass: none of what was said counts here, so the decision was left to the client."
    ]


def test_a_failed_guard_is_a_deny_by_its_policy() -> None:
    said = told("deny", ran("g", "deny", failed="exit code 3", reason="hook `g` failed"))
    assert said[1] == (
        "`g` failed: exit code 3. With `on_error: block`, as guards have it, that is a deny."
    )


def test_a_failed_hook_that_warns_or_ignores_goes_on() -> None:
    warned = ran("w", failed="crashed", effects={"notice": ["hook `w` failed"]})
    assert told("pass", warned)[1] == (
        "`w` failed: crashed. With `on_error: warn`, the person is told and the event goes on."
    )
    assert told("pass", ran("i", failed="crashed"))[1] == (
        "`i` failed: crashed. With `on_error: ignore`, so be it."
    )


def test_one_that_observes_is_told_apart() -> None:
    assert told("pass", ran("o", "deny", mode="observe"))[1] == (
        "`o` would have said deny; `mode: observe` only writes that down."
    )


def test_a_second_look_and_an_overruled_one_are_told() -> None:
    said = told("pass", ran("a", rejudged=True), ran("b", superseded=True))
    assert "`a` judged the input once more, after another hook had rewritten it." in said
    assert "`b` was overruled by a later hook of its file, as its own platform has it." in said


def test_what_could_not_be_judged_closes_a_gate_only() -> None:
    (gate,) = told("failed", failure="the config is wrong")
    assert gate == (
        "No hook's word counted: the config is wrong. What cannot be judged is not let through."
    )
    (other,) = told("failed", event="session_end", failure="the config is wrong")
    assert other.endswith("Nothing can be held back on `session_end`.")
    (unreadable,) = told("failed", event="", failure="not JSON")
    assert unreadable.endswith("is not let through.")


def test_a_second_arrival_got_the_first_answer() -> None:
    change = Substitution("its hooks", "the first answer", "this call was answered already")
    (said,) = told("deny", reason="no", substitutions=[change])
    assert "that answer was given again" in said


def test_a_halted_session_is_told() -> None:
    (said,) = told("deny", reason="stop now")
    assert "the session had been halted" in said


def test_a_deny_on_stop_keeps_the_agent_going() -> None:
    (said,) = told("pass", ran("tests", "deny", reason="fix them"), event="stop")
    assert said == (
        "`tests` (/p/hookline.yaml:5) kept the agent going; on `stop` a deny means that."
    )


def test_a_deny_where_nothing_can_be_held_back_is_told() -> None:
    said = told("pass", ran("a", "deny", reason="no"), event="session_end")
    assert said[1] == "`a` said deny, and nothing can be held back on `session_end`."


def test_a_stricter_word_than_any_hook_said_is_still_theirs() -> None:
    (said,) = told("deny", ran("a", "ask", reason="sure?"), event="before_llm_call")
    assert said.startswith("deny: `a` (/p/hookline.yaml:1) said so")
