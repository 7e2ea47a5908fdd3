"""Why a line is bad: whether hookline was asked, what it said, and who else had a say."""

from typing import Any

from hookline.verifying.lines import Names
from hookline.verifying.verifying import reason

NAMES = Names("canary-x-1f", "MK1fxMK")
DENY = ("pre_tool_use", "deny")


def entry(event: str = "pre_tool_use", word: str = NAMES.word, **more: Any) -> dict[str, Any]:
    return {"event": event, "verdict": "pass", "payload": {"command": f"touch {word}"}, **more}


def test_an_empty_journal_means_that_hookline_was_never_called() -> None:
    assert "never called" in reason([], NAMES, DENY, failed=True)


def test_an_event_that_is_not_in_the_journal_never_arrived() -> None:
    others = [entry(word="canary-y-1f"), entry(event="post_tool_use")]
    assert reason(others, NAMES, DENY, failed=True) == "pre_tool_use never reached hookline for it"


def test_what_hookline_said_is_told_and_only_a_failure_blames_the_client() -> None:
    said = [entry(verdict="deny")]
    assert reason(said, NAMES, DENY, failed=False) == "hookline said deny"
    assert "and the client did otherwise" in reason(said, NAMES, DENY, failed=True)


def test_context_that_hookline_gave_was_lost_on_the_way() -> None:
    said = [entry(event="session_start", word="", answer={"context": [NAMES.mark]})]
    claim = ("session_start", "context")
    told = reason(said, NAMES, claim, failed=True)
    assert told == "hookline answered with context, and the client did otherwise"
    theirs = [entry(event="session_start", word="", answer={"context": ["from another hook"]})]
    assert "did not match" in reason(theirs, NAMES, claim, failed=True)


def test_a_rewrite_that_hookline_answered_with_is_not_called_a_hook_that_did_not_match() -> None:
    claim = ("pre_tool_use", "input")
    answer = {"rewrite": {"input": {"command": f"touch {NAMES.word}-instead"}}}
    told = reason([entry(answer=answer)], NAMES, claim, failed=True)
    assert told == "hookline answered with rewrite, and the client did otherwise"
    lost = [entry(answer={}, runs=[{"hook": NAMES.hook}])]
    assert "the canary hook ran on pre_tool_use" in reason(lost, NAMES, claim, failed=True)


def test_a_hook_that_did_not_match_and_a_hookline_that_failed_are_told_apart() -> None:
    assert "did not match" in reason([entry()], NAMES, DENY, failed=True)
    broken = [entry(verdict="deny", failure="no space left")]
    assert "failed at it: no space left" in reason(broken, NAMES, DENY, failed=True)


def test_a_rule_of_the_persons_own_that_stops_a_control_is_named() -> None:
    theirs = [entry(verdict="deny", decided_by=["no shell"])]
    said = reason(theirs, NAMES, None, failed=False)
    assert said == "a hook of your own said deny: `no shell`"
    assert reason([entry()], NAMES, None, failed=False) == "hookline let it pass"


def test_a_rule_of_the_persons_own_that_spares_them_the_question_is_named() -> None:
    theirs = [entry(verdict="allow", decided_by=["touch is fine"])]
    said = reason(theirs, NAMES, None, failed=True)
    assert said == "a hook of your own said allow: `touch is fine`"
