"""Answers: verdicts in their order, effects beside them, and what cannot be said at all."""

from collections.abc import Callable

import pytest
from hypothesis import given

from hookline.model import answers
from hookline.model.answers import BLOCKING, NO_REWRITE, PASS, Answer, Rewrite, Verdict
from hookline.model.errors import HooklineError, IllegalValueError
from support.strategies import rewrites


def test_verdicts_are_ordered_by_strictness() -> None:
    ascending = [Verdict.ALLOW, Verdict.PASS, Verdict.ASK, Verdict.DENY, Verdict.HALT]

    assert [verdict.strictness for verdict in ascending] == [0, 1, 2, 3, 4]
    shuffled = [Verdict.HALT, Verdict.ALLOW, Verdict.DENY, Verdict.PASS, Verdict.ASK]
    assert sorted(shuffled) == ascending
    assert max(shuffled) is Verdict.HALT
    for place, verdict in enumerate(ascending):
        for stricter in ascending[place + 1 :]:
            assert verdict < stricter
            assert verdict <= stricter
            assert stricter > verdict
            assert stricter >= verdict
            assert not verdict >= stricter
            assert not verdict > stricter
            assert not stricter <= verdict
            assert not stricter < verdict
        assert verdict <= verdict  # noqa: PLR0124 - reflexive on purpose
        assert not verdict < verdict  # noqa: PLR0124 - irreflexive on purpose


def test_a_verdict_compares_with_its_name() -> None:
    assert Verdict.ASK < "deny"
    with pytest.raises(ValueError, match="perhaps"):
        assert Verdict.ASK < "perhaps"


@pytest.mark.parametrize("verdict", sorted(BLOCKING))
@pytest.mark.parametrize("reason", ["", "  ", "\n\t"])
def test_nobody_is_held_back_without_a_reason(verdict: Verdict, reason: str) -> None:
    with pytest.raises(IllegalValueError, match=f"verdict `{verdict}` needs a reason"):
        Answer(verdict=verdict, reason=reason)


@pytest.mark.parametrize("build", [answers.ask, answers.deny, answers.halt])
def test_the_words_that_hold_somebody_back_need_a_reason_too(
    build: Callable[[str], Answer],
) -> None:
    with pytest.raises(ValueError, match="needs a reason") as caught:
        build("")
    assert isinstance(caught.value, HooklineError)


def test_allow_and_pass_need_no_reason() -> None:
    assert answers.allow() == Answer(verdict=Verdict.ALLOW)
    assert Answer() == PASS


def test_ask_deny_and_halt_take_effects_beside_the_reason() -> None:
    for build, verdict in (
        (answers.ask, Verdict.ASK),
        (answers.deny, Verdict.DENY),
        (answers.halt, Verdict.HALT),
    ):
        said = build("why", context="one", notice=["two", "three"], metadata={"k": 1})
        assert said == Answer(
            verdict=verdict,
            reason="why",
            context=("one",),
            notice=("two", "three"),
            metadata={"k": 1},
        )


def test_allow_takes_a_notice_and_metadata() -> None:
    assert answers.allow("fine", notice="look", metadata={"k": 1}) == Answer(
        verdict=Verdict.ALLOW, reason="fine", notice=("look",), metadata={"k": 1}
    )


def test_effects_alone_pass() -> None:
    assert answers.context("a", "b") == Answer(context=("a", "b"))
    assert answers.notice("a", "b") == Answer(notice=("a", "b"))
    assert answers.follow_up("a", "b") == Answer(follow_up=("a", "b"))


def test_a_keyword_that_names_no_part_of_a_rewrite_is_tool_input() -> None:
    said = answers.rewrite(command="ls", path="/a", output="o", env={"A": "1"})

    assert said.rewrite == Rewrite(
        input={"command": "ls", "path": "/a"}, output="o", env={"A": "1"}
    )


def test_every_part_of_a_rewrite_can_be_asked_for() -> None:
    parts = {"prompt": "p", "messages": [{"role": "user"}], "summary": "s", "display": "d"}

    assert answers.rewrite(**parts).rewrite.parts() == parts  # type: ignore[arg-type]  # one by one


@given(rewrites())
def test_a_rewrite_is_true_exactly_if_it_has_a_part(rewrite: Rewrite) -> None:
    assert bool(rewrite) == bool(rewrite.parts())
    assert Rewrite(**rewrite.parts()) == rewrite


def test_no_rewrite_is_false() -> None:
    assert not NO_REWRITE
    assert not Rewrite()


def test_answers_do_not_change() -> None:
    with pytest.raises(AttributeError):
        PASS.reason = "x"  # type: ignore[misc]  # the point of the test
