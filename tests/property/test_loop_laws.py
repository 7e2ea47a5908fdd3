"""loop-guard finds every generated loop by its call, and holds back nothing that polls or tests."""

from pathlib import Path
from random import Random

import pytest

from hookline.model.answers import Verdict
from hookline.store.state import StateDatabase
from support.loops import LoopingAgent, make_harmless, make_loop

CASES = 200


@pytest.fixture
def seed() -> int:
    seed = Random().randrange(10**9)
    print(f"seed {seed}")
    return seed


def test_every_loop_is_warned_of_then_denied_then_halted(tmp_path: Path, seed: int) -> None:
    state = StateDatabase(str(tmp_path), brief=True)
    missed = []
    for number in range(CASES):
        kind, steps, due = make_loop(Random(f"{seed}-{number}"))
        agent = LoopingAgent(state, session=f"s{number}")
        said = agent.do_all(steps)
        acts = [each for each in said if each]
        first = next((place for place, each in enumerate(said, 1) if each), 0)
        stages = list(dict.fromkeys(acts))
        if first != due or stages != ["warn", "deny", "halt"]:
            missed.append((number, kind, steps[0].tool.command, first, due, said))
    assert missed == []


def test_what_polls_waits_or_tests_is_never_held_back(tmp_path: Path, seed: int) -> None:
    state = StateDatabase(str(tmp_path), brief=True)
    held = []
    for number in range(CASES):
        kind, steps = make_harmless(Random(f"{seed}-{number}"))
        agent = LoopingAgent(state, session=f"s{number}")
        agent.do_all(steps)
        if any(each.verdict >= Verdict.DENY for each in agent.said):
            held.append((number, kind, steps[0].tool.command or steps[0].tool.name))
    assert held == []
