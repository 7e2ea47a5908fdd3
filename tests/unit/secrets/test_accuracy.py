"""Redaction on texts of every kind: many, each of them once, and both halves about equally well."""

from collections import Counter

import pytest
from accuracy.secrets_run import Judged, judge, report, written

from hookline.secrets import RULES


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    """What the builtin makes of them all."""
    return judge({})


def test_there_are_enough_texts_with_and_without_a_secret_and_each_is_there_once() -> None:
    cases = list(written())
    assert Counter(case.text for case in cases).most_common(1)[0][1] == 1
    assert sum(case.secret for case in cases) >= 300
    assert sum(not case.secret for case in cases) >= 300
    held = sum(case.held_back for case in cases) / len(cases)
    assert 0.25 < held < 0.42


def test_every_family_of_the_table_is_among_them() -> None:
    assert {rule.name for rule in RULES} <= {case.family for case in written() if case.secret}


def test_no_whole_token_stands_in_the_files() -> None:
    for case in written():
        if case.secret:
            assert "{" in case.text.partition("«")[2].partition("»")[0], case.text


@pytest.mark.parametrize("half", ["in sight", "held back"])
def test_secrets_are_taken_out_exactly_and_others_are_left_alone(
    judged: list[Judged], half: str
) -> None:
    halves = report(judged)["halves"]
    assert isinstance(halves, dict)
    assert halves[half]["exact"] >= 0.98
    assert halves[half]["touched"] <= 0.01


def test_what_was_redacted_once_is_not_redacted_again(judged: list[Judged]) -> None:
    from hookline.secrets import Scope, redact

    for each in judged:
        assert redact(each.shown, scope=Scope.LIKELY).text == each.shown
