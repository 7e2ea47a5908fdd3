"""The hard stop after a number of model calls."""

from typing import Any

import pytest
from msgspec import ValidationError, convert

from hookline.builtin import max_iterations
from hookline.model.answers import PASS, Verdict
from hookline.model.events import BeforeLlmCall, Event, PreToolUse
from hookline.model.ports import NOBODY


def verdict(event: Event, **options: Any) -> Any:
    module: Any = max_iterations
    answer = module.make(convert(options, module.Options))(event, NOBODY)
    return None if answer is PASS else (answer.verdict, answer.reason)


@pytest.mark.parametrize("options", [{"limit": 3}, {"args": ["3"]}])
def test_exactly_the_limit_of_calls_happens(options: dict[str, Any]) -> None:
    said = [verdict(BeforeLlmCall(iteration=number), **options) for number in range(1, 6)]
    assert said[:3] == [None, None, None]
    for decided, reason in said[3:]:
        assert decided is Verdict.DENY
        assert "limit of 3" in reason
        assert "terminated" in reason


@pytest.mark.parametrize("args", [[], ["x"], ["0"], ["-1"]])
def test_a_senseless_limit_from_docker_agent_is_no_limit(args: list[str]) -> None:
    assert verdict(BeforeLlmCall(iteration=99), args=args) is None


def test_without_a_count_nothing_is_stopped() -> None:
    assert verdict(BeforeLlmCall(), limit=1) is None
    assert verdict(PreToolUse(), limit=1) is None


@pytest.mark.parametrize("options", [{}, {"limit": 0}, {"limit": "3"}, {"limt": 3}])
def test_a_config_of_ours_must_say_a_sensible_limit(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        convert(options, max_iterations.Options)


def test_it_is_a_guard_that_runs_early() -> None:
    assert max_iterations.GUARD
    assert max_iterations.PRIORITY == 20
