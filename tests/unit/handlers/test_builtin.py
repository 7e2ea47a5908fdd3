"""How builtins are chosen, checked and called."""

import asyncio
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from hookline.handlers import builtin
from hookline.model.answers import PASS, Answer, context, deny
from hookline.model.errors import HandlerAnswerError, HandlerCrashed, HandlerTimeout
from hookline.model.events import BeforeLlmCall, Event, SessionStart
from hookline.model.ports import NOBODY, Caller, Services

CALLER = Caller(env={"PATH": "/usr/bin:/bin"})


class Options(Struct, frozen=True, forbid_unknown_fields=True):
    """Of the builtin below."""

    word: str = "hi"


@pytest.fixture
def greet(kit: Any) -> Callable[..., Services]:
    """Services whose one builtin is the given function."""

    def services(function: Callable[[Event, Caller], Answer], **more: Any) -> Services:
        module = SimpleNamespace(
            EVENTS=("session_start",), Options=Options, make=lambda options: function, **more
        )
        made: Services = replace(kit.services(), builtin=lambda name: module)
        return made

    return services


def problems(kit: Any, values: dict[str, Any], *events: str) -> list[tuple[str, str, str]]:
    found = builtin.check(values, kit.hook(values, *events), kit.services())
    return [(problem.key, problem.message, problem.hint) for problem in found]


@pytest.mark.parametrize("name", ["max-iterations", "max_iterations"])
def test_a_builtin_is_chosen_by_name_with_its_options(kit: Any, name: str) -> None:
    values = {"use": name, "with": {"limit": 1}}
    assert problems(kit, values, "before_llm_call") == []
    handler = builtin.make(kit.hook(values, "before_llm_call"), kit.services())
    assert handler.instant
    assert handler.answer(BeforeLlmCall(iteration=1), NOBODY) is PASS
    assert handler.answer(BeforeLlmCall(iteration=2), NOBODY).reason


def test_options_may_be_left_out(kit: Any) -> None:
    assert problems(kit, {"use": "add-date"}, "turn_start") == []


def test_an_unknown_builtin_gets_the_nearest_name(kit: Any) -> None:
    [(key, message, hint)] = problems(kit, {"use": "add-dat"})
    assert key == "use"
    assert "`add-dat`" in message
    assert hint == "did you mean `add-date`?"


@pytest.mark.parametrize(
    ("name", "options", "message", "hint"),
    [
        ("max-iterations", {"limt": 3}, "no option `limt`", "did you mean `limit`?"),
        ("max-iterations", {"zzz": 3}, "no option `zzz`", "it takes limit, args"),
        ("max-iterations", {"limit": "3"}, "Expected `int | null`, got `str`", ""),
        ("max-iterations", {"limit": 0}, ">= 1", ""),
        ("max-iterations", {}, "`limit` is missing", ""),
    ],
)
def test_options_that_do_not_fit_are_explained(
    kit: Any, name: str, options: dict[str, Any], message: str, hint: str
) -> None:
    [(key, text, advice)] = problems(kit, {"use": name, "with": options}, "before_llm_call")
    assert key == "with"
    assert message in text
    assert hint in advice


def test_a_builtin_without_options_says_so(kit: Any, greet: Callable[..., Services]) -> None:
    class Nothing(Struct, forbid_unknown_fields=True):
        pass

    services = greet(lambda event, caller: PASS)
    module: Any = services.builtin("any")
    module.Options = Nothing
    values = {"use": "any", "with": {"x": 1}}
    [problem] = builtin.check(values, kit.hook(values, "session_start"), services)
    assert problem.hint == "it takes none"


def test_an_event_the_builtin_cannot_serve_is_refused(kit: Any) -> None:
    [(key, message, hint)] = problems(kit, {"use": "add-date"}, "turn_start", "stop")
    assert (key, message) == ("on", "`add-date` can do nothing on `stop`")
    assert "user_prompt_submit" in hint


def test_context_may_be_given_on_other_events_than_a_builtins_own(kit: Any) -> None:
    assert problems(kit, {"use": "add-git-status"}, "user_prompt_submit", "session_start") == []


def run(kit: Any, services: Services, **more: Any) -> Answer:
    hook = kit.hook({"use": "any"}, "session_start")
    handler = builtin.make(hook, services)
    assert not handler.instant
    return asyncio.run(handler.run(kit.call(SessionStart(), hook, **more)))


def test_a_builtin_that_waits_does_so_in_a_thread(kit: Any, greet: Callable[..., Services]) -> None:
    def slow(event: Event, caller: Caller) -> Answer:
        return context(threading.current_thread().name)

    answer = run(kit, greet(slow, WAITS=True))
    assert answer.context[0] != threading.current_thread().name


@pytest.mark.parametrize("outer", [None, 0.5, 1000.0])
def test_a_builtin_that_waits_knows_its_deadline(
    kit: Any, greet: Callable[..., Services], outer: float | None
) -> None:
    seen: list[float] = []

    def note(event: Event, caller: Caller) -> Answer:
        assert caller.deadline is not None
        seen.append(caller.deadline - time.monotonic())
        return PASS

    deadline = None if outer is None else time.monotonic() + outer
    assert run(kit, greet(note, WAITS=True), timeout=20.0, deadline=deadline) is PASS
    assert 0 < seen[0] <= min(20.0, outer or 20.0)


def test_a_builtin_past_its_time_is_a_timeout(kit: Any, greet: Callable[..., Services]) -> None:
    release = threading.Event()

    def slow(event: Event, caller: Caller) -> Answer:
        release.wait(10)
        return PASS

    async def scenario() -> None:
        hook = kit.hook({"use": "any"}, "session_start")
        handler = builtin.make(hook, greet(slow, WAITS=True))
        assert not handler.instant
        try:
            with pytest.raises(HandlerTimeout):
                await handler.run(kit.call(SessionStart(), hook, timeout=0.05))
        finally:
            release.set()

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (OSError("disk"), HandlerCrashed, "OSError: disk"),
        (HandlerAnswerError("mine"), HandlerAnswerError, "mine"),
    ],
)
def test_a_builtin_that_fails_is_a_failed_hook(
    kit: Any, greet: Callable[..., Services], error: Exception, kind: type[Exception], text: str
) -> None:
    def fails(event: Event, caller: Caller) -> Answer:
        raise error

    with pytest.raises(kind, match=text):
        run(kit, greet(fails, WAITS=True))


def test_an_instant_builtin_is_called_without_a_frame_of_ours(
    kit: Any, greet: Callable[..., Services]
) -> None:
    def says_no(event: Event, caller: Caller) -> Answer:
        return deny("no")

    handler = builtin.make(kit.hook({"use": "any"}, "session_start"), greet(says_no))
    assert handler.instant
    assert handler.answer is says_no
