"""A tree of calls: who called whom, through tasks and waits, and nothing that is nobody's business."""

import asyncio
from collections.abc import Iterator

import pytest

from hookline.engine.engine import Engine
from hookline.explaining.watching import Step, every_step, glance, is_stage, stages, watch
from hookline.model.answers import PASS, context, deny
from hookline.model.events import PreToolUse, SessionStart
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.outcome import Outcome, Reply, Run
from hookline.model.ports import Caller
from hookline.model.tools import tool
from support.engines import bound

EVENT = PreToolUse(tool=tool("shell", command="git push"))


def named(steps: list[Step], name: str) -> Iterator[tuple[int, Step]]:
    return ((depth, step) for depth, step in every_step(steps) if step.name == name)


async def _yielding(_: object) -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_tasks_stand_below_the_step_that_made_them() -> None:
    engine = Engine(
        [
            bound("a", deny("No."), pause=_yielding),
            bound("b", context("Mind."), pause=_yielding),
        ]
    )
    result, steps = watch(lambda: asyncio.run(engine.handle(EVENT)))
    assert isinstance(result, Outcome)
    ((depth, tier),) = named(steps, "Engine._run")
    waiting = list(named(steps, "_run_waiting"))
    assert [each for each, _ in waiting] == [depth + 1, depth + 1]
    assert [step.came_out for _, step in waiting] == [
        "Run of `a`: deny",
        "Run of `b`: pass + context",
    ]
    assert tier.ended >= max(step.ended for _, step in waiting)


def test_what_was_raised_comes_back_as_a_value() -> None:
    def fail() -> None:
        raise ValueError("x")

    result, steps = watch(fail)
    assert isinstance(result, ValueError)
    assert steps == []


def test_the_five_files_are_told_from_all_others() -> None:
    engine = Engine([bound("a", deny("No."))])
    _, steps = watch(lambda: asyncio.run(engine.handle(EVENT)))
    shown = [step.name for _, step in stages(steps)]
    assert shown[0] == "Engine.handle"
    assert "merge" in shown
    assert all(is_stage(step.file) for _, step in stages(steps))
    assert len(shown) < len(list(every_step(steps)))


@pytest.mark.parametrize(
    ("file", "is_one"),
    [
        ("cli/hook.py", True),
        ("pipeline/answer.py", True),
        ("pipeline/call.py", False),
        ("dialects/codex/codec.py", True),
        ("handlers/http.py", True),
        ("handlers/_exchange.py", False),
        ("dialects/codex/files.py", False),
        ("config/load.py", False),
        ("cli/list.py", False),
    ],
)
def test_a_stage_is_a_file_in_which_an_event_is_followed(file: str, is_one: bool) -> None:
    assert is_stage(file) is is_one


HOOK = Hook(name="guard", events=("stop",), handler=HandlerSpec("rule", {}))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (EVENT, "PreToolUse shell git push"),
        (SessionStart(), "SessionStart"),
        (deny("No.", context="x"), "Answer deny + context"),
        (Outcome(event=EVENT), "Outcome pass of 0 runs"),
        (Run(HOOK, PASS, 1), "Run of `guard`: pass"),
        ([Run(HOOK, PASS, 1)] * 3, "Run of `guard`: pass and 2 more"),
        (Reply(stdout=b"yes\n"), "Reply exit 0 yes"),
        (HOOK, "Hook `guard`"),
        (b"a\x1b[2J", "5 bytes a␛[2J"),
        (b"x" * 200, "200 bytes " + "x" * 69 + "…"),
        (Caller(env={"KEY": "value"}), ""),
        ({"KEY": "value"}, ""),
        ("text", ""),
        ([], ""),
        (None, ""),
    ],
)
def test_a_value_is_shown_in_a_line_or_not_at_all(value: object, shown: str) -> None:
    assert glance(value) == shown
