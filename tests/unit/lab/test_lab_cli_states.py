"""Whether a call ran, told from the journal by its id or, where there is none, by its arguments."""

from typing import Any

from hookline.cli._lab_report import states
from hookline.lab.exchanges import Exchange


def call(
    number: str = "t1", command: str = "ls", *, told: str | None = "x", error: bool = False
) -> Exchange:
    """A call that the model was told of."""
    arguments = {"command": command}
    return Exchange(id=number, name="shell", arguments=arguments, told=told, error=error)


def event(name: str, verdict: str = "pass", **payload: Any) -> dict[str, Any]:
    """A line of the journal."""
    return {"event": name, "verdict": verdict, "payload": payload}


def test_a_call_that_hookline_was_told_of_afterwards_ran() -> None:
    events = [event("pre_tool_use", tool_use_id="t1"), event("post_tool_use", tool_use_id="t1")]
    assert states([call()], events) == ("ran",)
    assert states([call(error=True)], events) == ("failed",)


def test_a_call_that_was_denied_and_ran_all_the_same_is_not_called_denied() -> None:
    events = [
        event("pre_tool_use", "deny", tool_use_id="t1"),
        event("post_tool_use", tool_use_id="t1"),
    ]
    assert states([call()], events) == ("ran",)
    assert states([call()], events[:1]) == ("denied",)


def test_without_ids_equal_calls_are_told_apart_by_their_order() -> None:
    same = {"command": "ls"}
    events = [
        event("pre_tool_use", "deny", tool_input=same),
        event("pre_tool_use", toolArgs=same),
        event("post_tool_use", toolArgs=same),
        event("pre_tool_use", tool_input=same),
        event("post_tool_use_failure", tool_input=same),
    ]
    calls = [call(str(number)) for number in range(4)]
    assert states(calls, events) == ("denied", "ran", "failed", "answered")


def test_without_a_word_in_the_journal_only_what_the_model_was_told_counts() -> None:
    calls = [call("1"), call("2", error=True), call("3", told=None)]
    assert states(calls, []) == ("answered", "failed", "not answered")
