"""Law 1, on values alone: what many answers are as one."""

from functools import reduce
from itertools import pairwise, product
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hookline.engine.merge import disagreements, fit, merge
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, allow, ask, deny, halt
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import Event
from hookline.model.rewriting import overlay
from support.strategies import PARTS, answers, any_event, inputs, rewrites, words

many = st.lists(answers(), max_size=6)
HELD_BACK = (Verdict.ASK, Verdict.DENY, Verdict.HALT)


# Verdicts alone are few enough to try them all.
OPINIONS = (PASS, allow("a"), ask("b"), deny("c"), halt("d"))
UP_TO_THREE = [said for length in range(4) for said in product(OPINIONS, repeat=length)]


def test_the_strictest_of_ask_deny_and_halt_wins_else_an_allow_else_pass() -> None:
    for said in UP_TO_THREE:
        verdicts = {answer.verdict for answer in said}
        expected = next(
            (verdict for verdict in (*reversed(HELD_BACK), Verdict.ALLOW) if verdict in verdicts),
            Verdict.PASS,
        )
        assert merge(said).verdict is expected, said


def test_one_more_answer_never_lowers_an_ask_a_deny_or_a_halt() -> None:
    for said, more in product(UP_TO_THREE, OPINIONS):
        before = merge(said).verdict
        for place in range(len(said) + 1):
            after = merge([*said[:place], more, *said[place:]]).verdict
            assert before not in HELD_BACK or after >= before, (said, place, more)


@given(many, st.sampled_from([PASS, Answer()]), st.data())
def test_pass_changes_nothing_wherever_it_stands(
    said: list[Answer], nothing: Answer, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(said)))

    assert merge([*said[:place], nothing, *said[place:]]) == merge(said)


@given(st.lists(many, max_size=4))
def test_answers_may_be_merged_group_by_group(groups: list[list[Answer]]) -> None:
    flat = [answer for group in groups for answer in group]

    assert merge(merge(group) for group in groups) == merge(flat)


@given(answers(), answers(), answers())
def test_merging_three_is_merging_two_and_then_the_third(a: Answer, b: Answer, c: Answer) -> None:
    assert merge([merge([a, b]), c]) == merge([a, b, c]) == merge([a, merge([b, c])])


@given(many.flatmap(lambda said: st.tuples(st.just(said), st.permutations(said))))
def test_the_verdict_does_not_depend_on_the_order(
    orders: tuple[list[Answer], list[Answer]],
) -> None:
    configured, other = orders

    assert merge(other).verdict is merge(configured).verdict


@given(many)
def test_every_text_arrives_once_and_in_configured_order(said: list[Answer]) -> None:
    merged = merge(said)

    assert merged.context == tuple(text for answer in said for text in answer.context)
    assert merged.notice == tuple(text for answer in said for text in answer.notice)
    assert merged.follow_up == tuple(text for answer in said for text in answer.follow_up)


@given(many)
def test_the_reason_is_made_of_the_reasons_for_the_verdict_that_won(said: list[Answer]) -> None:
    merged = merge(said)
    winners = [answer.reason for answer in said if answer.verdict is merged.verdict]

    assert merged.reason == "\n".join(reason for reason in winners if reason)


@given(many)
def test_on_a_key_of_the_metadata_the_later_answer_counts(said: list[Answer]) -> None:
    assert merge(said).metadata == reduce(
        lambda older, newer: older | newer.metadata, said, dict[str, Any]()
    )


@given(inputs, st.lists(answers(rewrites(["input"])), max_size=4))
def test_a_merged_rewrite_of_the_input_does_what_the_rewrites_did_one_after_another(
    before: dict[str, Any], said: list[Answer]
) -> None:
    one_by_one = before
    for answer in said:
        one_by_one = overlay(one_by_one, answer.rewrite.input or {})

    assert overlay(before, merge(said).rewrite.input or {}) == one_by_one


@given(many)
def test_on_every_other_part_of_a_rewrite_the_later_answer_counts(said: list[Answer]) -> None:
    merged = merge(said).rewrite.parts()
    for part in PARTS.keys() - {"input", "env"}:
        wanted = [getattr(answer.rewrite, part) for answer in said]
        last = [value for value in wanted if value is not None][-1:]
        assert [merged[part]] == last if part in merged else not last


@given(st.lists(st.tuples(words, rewrites()), max_size=4))
def test_disagreements_name_exactly_the_keys_on_which_neighbours_differ(
    wanted: list[tuple[str, Rewrite]],
) -> None:
    values: dict[str, list[object]] = {}
    for _, rewrite in wanted:
        for part, value in rewrite.parts().items():
            leaves = value if isinstance(value, dict) else {"": value}
            for key, leaf in leaves.items():
                values.setdefault(f"{part}.{key}" if key else part, []).append(leaf)
    differing = sorted(
        name
        for name, all_of_them in values.items()
        for one, next_one in pairwise(all_of_them)
        if one != next_one
    )

    found = disagreements(wanted)

    assert sorted(record.was.split("`")[0] for record in found) == [
        f"rewrite of {name} by " for name in differing
    ]


@given(answers(), any_event())
def test_an_answer_fitted_to_an_event_fits_it(answer: Answer, event: Event) -> None:
    try:
        fitted, _ = fit(answer, event)
    except HandlerAnswerError:
        assert not answer.rewrite.parts().keys() <= event.rewrites
    else:
        assert fit(fitted, event) == (fitted, [])


@given(answers(rewrites(())), any_event())
def test_fitting_never_loses_the_words_of_somebody_who_objects(
    answer: Answer, event: Event
) -> None:
    fitted, _ = fit(answer, event)
    kept = (fitted.reason, *fitted.context, *fitted.notice, *fitted.follow_up)

    objections = {answer.reason} if answer.verdict in HELD_BACK else set()
    assert objections | {*answer.context, *answer.notice, *answer.follow_up} <= set(kept)


@given(answers(rewrites(())), any_event())
def test_fitting_lowers_a_verdict_only_on_record_or_into_a_follow_up(
    answer: Answer, event: Event
) -> None:
    fitted, changed = fit(answer, event)

    if fitted.verdict is not answer.verdict:
        keeps_working = answer.verdict is Verdict.DENY and answer.reason in fitted.follow_up
        assert keeps_working or changed[0].was == answer.verdict
