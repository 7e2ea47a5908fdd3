"""Law 3: a hook that fails is part of the outcome; it never stops the engine or the agent."""

import asyncio
from time import monotonic
from typing import Any

import pytest

from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, ask, context, deny, rewrite
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerTimeout,
    HandlerUnavailable,
)
from hookline.model.events import Event, PreToolUse
from hookline.model.hook import HandlerSpec, Hook, Mode, OnError
from hookline.model.outcome import Outcome
from hookline.model.ports import Call, Caller, Match
from hookline.model.tools import tool
from support.engines import Waiting, bound, fire, run, shell
from support.strategies import bare_event


class Unprintable(Exception):
    """An exception that cannot even be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no text either")


class Rude(BaseException):
    """What ``except Exception`` lets through."""


async def for_ever(call: Call) -> None:
    await asyncio.get_running_loop().create_future()


def failing(says: Any, **keys: Any) -> Bound:
    return bound("guard", says, **{"on_error": OnError.BLOCK, "guard": True, **keys})


def blocked(outcome: Outcome) -> str:
    assert outcome.verdict is Verdict.DENY
    (run,) = outcome.runs
    assert run.failed is not None
    return run.failed


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (HandlerCrashed("exit code 7: boom"), "exit code 7: boom"),
        (HandlerTimeout(2.5), "no answer within 2.5 s"),
        (HandlerUnavailable("no such program"), "no such program"),
        (HandlerAnswerError("not an answer"), "not an answer"),
        (KeyError("command"), "KeyError: 'command'"),
        (TimeoutError(), "no answer within 60 s"),
    ],
)
@pytest.mark.parametrize("waits", [False, True], ids=["instant", "waiting"])
def test_what_failed_is_told_in_the_run_and_in_the_reason(
    failure: Exception, told: str, waits: bool
) -> None:
    outcome = fire([failing(failure, waits=waits)], shell("ls"))

    assert blocked(outcome) == told
    assert f"hook `guard` failed: {told}" in outcome.reason


@pytest.mark.parametrize(
    "failure",
    [SystemExit(3), Rude("!"), asyncio.CancelledError(), Unprintable()],
    ids=lambda failure: type(failure).__name__,
)
@pytest.mark.parametrize("waits", [False, True], ids=["instant", "waiting"])
@pytest.mark.parametrize(
    "company", [[], [bound("other", PASS, waits=True)]], ids=["alone", "in a tier"]
)
def test_whatever_a_hook_raises_stays_in_the_engine(
    failure: BaseException, waits: bool, company: list[Bound]
) -> None:
    outcome = fire([failing(failure, waits=waits), *company], shell("ls"))

    assert outcome.verdict is Verdict.DENY
    assert outcome.runs[0].failed


@pytest.mark.parametrize("waits", [False, True], ids=["instant", "waiting"])
def test_a_person_at_the_keyboard_interrupts_whatever_runs(waits: bool) -> None:
    with pytest.raises(KeyboardInterrupt):
        fire([failing(KeyboardInterrupt(), waits=waits)], shell("ls"))


@pytest.mark.parametrize("nonsense", [None, "deny", {"verdict": "deny"}, Answer], ids=str)
@pytest.mark.parametrize("waits", [False, True], ids=["instant", "waiting"])
def test_a_handler_that_returns_no_answer_has_failed(nonsense: object, waits: bool) -> None:
    outcome = fire([failing(lambda event: nonsense, waits=waits)], shell("ls"))

    assert blocked(outcome)


def test_a_rewrite_that_means_nothing_on_the_event_is_a_failure() -> None:
    outcome = fire([failing(rewrite(prompt="be nice"))], shell("ls"))

    assert blocked(outcome) == (
        "`rewrite.prompt` has no meaning on `pre_tool_use`, where env, input can be rewritten"
    )


def test_where_nothing_can_be_rewritten_a_rewrite_says_so() -> None:
    hook = bound("h", rewrite(output="x"), events=("session_end",))

    outcome = fire([hook], bare_event("session_end"))

    assert "where nothing can be rewritten" in outcome.answer.notice[0]


def test_variables_can_be_set_for_shell_tools_only() -> None:
    sets = Answer(rewrite=Rewrite(env={"A": "1"}))
    read = PreToolUse(tool=tool("read", path="a.txt"))

    assert fire([failing(sets)], shell("ls")).answer.rewrite.env == {"A": "1"}
    assert "shell tools only" in blocked(fire([failing(sets)], read))


def test_variables_can_be_set_when_a_session_starts() -> None:
    sets = bound("h", Answer(rewrite=Rewrite(env={"A": "1"})), events=("session_start",))

    assert fire([sets], bare_event("session_start")).answer.rewrite.env == {"A": "1"}


def test_a_hook_that_hangs_fails_when_its_time_is_over() -> None:
    outcome = fire([failing(PASS, pause=for_ever, timeout=5.0)], shell("ls"))

    assert blocked(outcome) == "no answer within 5 s"


def test_a_hook_that_hangs_does_not_take_the_others_answers_with_it() -> None:
    hooks = [
        bound("hangs", PASS, pause=for_ever, on_error=OnError.WARN),
        bound("answers", ask("sure?"), waits=True),
    ]

    outcome = fire(hooks, shell("ls"))

    assert outcome.verdict is Verdict.ASK
    assert outcome.answer.notice == ("hook `hangs` failed: no answer within 60 s",)


def test_a_condition_that_cannot_be_decided_is_a_failure() -> None:
    def undecidable(event: Event) -> bool:
        raise HandlerTimeout(0.1)

    for waits in (False, True):
        outcome = fire([failing(PASS, when=undecidable, waits=waits)], shell("ls"))
        assert blocked(outcome) == "no answer within 0.1 s"


def test_a_failed_hook_that_is_only_observed_blocks_nothing() -> None:
    outcome = fire([failing(OSError("disk"), mode=Mode.OBSERVE)], shell("ls"))

    assert outcome.answer == PASS
    assert outcome.runs[0].failed == "OSError: disk"


def test_a_wrong_answer_that_is_only_observed_blocks_nothing() -> None:
    outcome = fire([failing(rewrite(prompt="x"), mode=Mode.OBSERVE)], shell("ls"))

    assert outcome.answer == PASS
    assert outcome.runs[0].failed


def test_text_about_a_failure_can_always_be_written_out() -> None:
    """A file name that is no Unicode reaches us as an unpaired surrogate in the error's text."""
    unspeakable = HandlerUnavailable("cannot read caf\udce9\x1b[2J.py")

    outcome = fire([bound("h", unspeakable)], shell("ls"))

    (text,) = outcome.answer.notice
    assert text.encode()
    assert "\x1b" not in text


# Deadlines nest


class Recorder:
    """A handler that notes how long it may take."""

    def __init__(self) -> None:
        self.timeouts: list[float] = []

    async def __call__(self, call: Call) -> None:
        self.timeouts.append(call.timeout)


def test_a_hooks_time_is_its_own_when_the_event_has_no_deadline() -> None:
    recorder = Recorder()

    fire([bound("h", PASS, pause=recorder, timeout=7.0)], shell("ls"))

    assert recorder.timeouts == [7.0]


def test_a_hooks_time_is_cut_to_what_is_left_of_the_events() -> None:
    recorder = Recorder()
    caller = Caller(deadline=monotonic() + 30)

    fire([bound("slow", PASS, pause=recorder, timeout=300.0)], shell("ls"), caller)
    fire([bound("quick", PASS, pause=recorder, timeout=2.0)], shell("ls"), caller)

    cut, own = recorder.timeouts
    assert 0 < cut <= 30
    assert own == 2.0


def test_a_guard_that_is_due_after_the_deadline_fails_closed_without_being_started() -> None:
    recorder = Recorder()
    late = Caller(deadline=monotonic() - 1)

    outcome = fire([failing(PASS, pause=recorder)], shell("ls"), late)

    assert blocked(outcome) == "no answer within 0 s"
    assert recorder.timeouts == []


def test_a_hook_that_waits_for_nothing_answers_even_after_the_deadline() -> None:
    late = Caller(deadline=monotonic() - 1)

    assert fire([failing(deny("no"))], shell("ls"), late).reason.startswith("no")


def test_the_handler_is_told_the_event_the_hook_the_caller_and_the_match() -> None:
    seen: list[Call] = []

    class Prod:
        def find(self, event: Event, caller: Caller) -> Match | None:
            return Match(path="/src/app.py")

        def identity(self) -> object:
            return "prod"

    async def note(call: Call) -> None:
        seen.append(call)

    hook = Hook(
        name="h", events=("pre_tool_use",), handler=HandlerSpec("fake", {}), match=Prod(), timeout=9
    )
    event, caller = shell("ls"), Caller(env={"A": "1"})

    fire([Bound(hook, Waiting(context("seen"), note))], event, caller)

    assert seen == [Call(event, hook, caller, Match(path="/src/app.py"), 9)]


def test_cancelling_the_engine_cancels_its_hooks() -> None:
    ended: list[str] = []

    async def until_cancelled(call: Call) -> None:
        try:
            await for_ever(call)
        finally:
            ended.append(call.hook.name)

    async def main() -> None:
        hooks = [failing(PASS, pause=until_cancelled), bound("b", PASS, pause=until_cancelled)]
        handling = asyncio.create_task(Engine(hooks).handle(shell("ls")))
        await asyncio.sleep(1)
        handling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await handling

    run(main())

    assert sorted(ended) == ["b", "guard"]


def test_an_engine_that_is_thrown_away_half_way_starts_nothing_more() -> None:
    begun: list[str] = []

    async def begin(call: Call) -> None:
        begun.append(call.hook.name)
        await for_ever(call)

    async def main() -> None:
        hooks = [bound("first", PASS, pause=begin), bound("second", PASS, pause=begin, priority=60)]
        handling = Engine(hooks).handle(shell("ls"))
        handling.send(None)
        handling.close()

    run(main())

    assert begun == ["first"]
