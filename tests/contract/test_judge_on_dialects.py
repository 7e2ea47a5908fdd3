"""A model as a judge, on every platform: what it denies is stopped, and so is what it cannot judge."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hookline.lab.script import Shell
from support.clients.effects import Does, Effect
from support.endpoints import Endpoint, Raw
from support.guard_cases import SHOWN, TOKEN
from support.guarded import Place, guarded, lanes

DENIES = json.dumps({"verdict": "deny", "reason": "MK_DENIED by a model"})
PASSES = json.dumps({"verdict": "pass", "reason": "fine"})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with guarded(tmp_path_factory.mktemp("judged")) as made:
        yield made


def judged(url: str) -> dict[str, Any]:
    asked = {"model": "openai/scripted", "endpoint": url, "prompt": "Fine? {{ tool.command }}"}
    return {"name": "judge", "on": "pre_tool_use", "judge": {**asked, "cache": False}}


@pytest.mark.parametrize("lane", lanes(Shell("")))
def test_the_models_word_is_what_the_client_does(place: Place, lane: str) -> None:
    with Endpoint(DENIES, PASSES) as model:
        denied = place.does(Shell(f"deploy {TOKEN}"), lane, judged(model.url))[1]
        passed = place.does(Shell("deploy it"), lane, judged(model.url))[1]
    assert denied.does == Does.BLOCKS
    assert "MK_DENIED" in denied.reason
    assert passed == Effect()
    first, second = (each.said("user") for each in model.asked)
    assert f"deploy {SHOWN}" in first
    assert TOKEN not in first
    assert "deploy it" in second


@pytest.mark.parametrize("lane", lanes(Shell("")))
def test_what_a_model_cannot_judge_does_not_run(place: Place, lane: str) -> None:
    with Endpoint(Raw(status=400, body=b"no"), "I would rather not say") as model:
        for _ in range(2):
            assert place.does(Shell("deploy it"), lane, judged(model.url))[1].does == Does.BLOCKS
    gone = place.does(Shell("deploy it"), lane, judged(model.url))[1]
    assert gone.does == Does.BLOCKS
