"""What a session remembers of denials: the newest, each call once, and whether a person has spoken."""

import pytest
from msgspec.structs import replace

from hookline.model.answers import Verdict
from hookline.model.denials import (
    MAX_ACTS,
    Denial,
    DeniedAct,
    call_digest,
    join_denials,
    with_denial,
)
from hookline.model.events import Agent, PreToolUse, UserPromptSubmit
from hookline.model.memory import SessionMemory, combined, on_event, taught
from hookline.model.tools import tool

CALL = PreToolUse(tool=tool("shell", command="rm x"), cwd="/p")


def denial(call: str = "c", acts: int = 1, **fields: object) -> Denial:
    made = tuple(DeniedAct("delete", f"/{call}/{at}") for at in range(acts))
    return replace(Denial(call=call, hook="h", reason="r", acts=made), **fields)


def test_the_oldest_make_room_for_the_newest() -> None:
    kept = with_denial((denial("a", 40), denial("b", 20)), denial("c", 10))
    assert [each.call for each in kept] == ["b", "c"]


def test_one_call_with_too_many_acts_is_cut() -> None:
    (kept,) = with_denial((denial("a"),), denial("b", MAX_ACTS + 5))
    assert kept.call == "b"
    assert len(kept.acts) == MAX_ACTS


def test_the_same_call_is_remembered_once_as_it_was_denied_last() -> None:
    kept = with_denial((denial("a", prompted=True), denial("b")), denial("a"))
    assert [(each.call, each.prompted) for each in kept] == [("b", False), ("a", False)]


def test_a_denial_of_nothing_that_could_be_read_is_not_remembered() -> None:
    assert with_denial((denial("a"),), denial("b", 0)) == (denial("a"),)


def test_what_several_names_of_a_session_remember_is_told_once() -> None:
    assert join_denials([(denial("a"),), (denial("a"), denial("b"))]) == (denial("a"), denial("b"))


@pytest.mark.parametrize(
    ("prompt", "prompted"),
    [
        (UserPromptSubmit(prompt="yes, do it"), True),
        (UserPromptSubmit(prompt="do it", agent=Agent(name="helper", depth=1)), False),
        (UserPromptSubmit(prompt="finish the tests"), False),
    ],
)
def test_only_a_prompt_of_the_person_reopens_the_matter(
    prompt: UserPromptSubmit, prompted: bool
) -> None:
    memory = SessionMemory(denials=(denial(),), last_follow_up="finish the tests")
    seen = on_event(memory, prompt, has_stop_flag=True)
    assert [each.prompted for each in seen.denials] == [prompted]


@pytest.mark.parametrize(
    ("said", "kept"),
    [(Verdict.PASS, False), (Verdict.ALLOW, False), (Verdict.ASK, True), (Verdict.DENY, True)],
)
def test_a_denial_is_lifted_only_when_the_same_call_is_let_through(
    said: Verdict, kept: bool
) -> None:
    other = denial("other")
    memory = SessionMemory(denials=(denial(call_digest(CALL)), other))
    left = taught(memory, CALL, said, None).denials
    assert [each.call for each in left] == ([call_digest(CALL)] if kept else []) + ["other"]


def test_a_denial_that_is_lifted_while_another_is_made_leaves_the_other() -> None:
    known = denial(call_digest(CALL))
    before = SessionMemory(denials=(known,))
    lifted = taught(before, CALL, Verdict.PASS, None)
    stored = taught(before, CALL, Verdict.DENY, denial("new"))
    assert combined(before, lifted, stored).denials == (denial("new"),)


def test_a_call_with_half_a_character_in_it_is_known_again() -> None:
    odd = PreToolUse(tool=tool("shell", command="rm \ud800"), cwd="/p")
    assert call_digest(odd) == call_digest(odd)
    assert call_digest(odd) != call_digest(CALL)


def test_a_call_of_a_servers_tool_is_another_one_if_anything_in_it_is() -> None:
    def digest(name: str, **input: str) -> str:
        return call_digest(PreToolUse(tool=tool(name, path="a.txt", **input)))

    assert digest("mcp__files__file", action="read") != digest("mcp__files__file", action="delete")
    assert digest("mcp__files__file", action="read") == digest("mcp__files__file", action="read")
