"""A loop on the real clients: the model is warned, then the command is not run any more."""

from collections.abc import Callable

import pytest

from hookline.lab.clients.claude_code import CLIENT as CLAUDE_CODE
from hookline.lab.clients.codex import CLIENT as CODEX
from hookline.lab.ports import Client, Program
from hookline.lab.script import Script, Shell, Turn
from interop.arena import arena, config, witness

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

CLIENTS = pytest.mark.parametrize("client", [CLAUDE_CODE, CODEX], ids=lambda client: client.dialect)
FAILING = Shell("echo MK_RUN >> runs; cat MK_GONE")
TRIES = (Turn(do=(FAILING,)),) * 5


@CLIENTS
def test_a_command_that_fails_again_and_again_is_warned_of_and_then_denied(
    client: Client, program: Callable[[Client], Program]
) -> None:
    hooks = config({"use": "loop-guard"}, witness("loop_detected"))
    with arena(client, program(client), config=hooks) as place:
        played = place.play(Script(prompt="MK_PROMPT", turns=(*TRIES, Turn(say="MK_DONE"))))
        runs = place.file("runs").count("MK_RUN")
        told = [
            (event["kind"], event["count"], event["derived_from"]) for event in place.witnessed()
        ]
    assert runs == 3
    assert "Loop detected: identical failing command executed 3 times in 1 minute" in played.sent
    assert [each[:2] for each in told] == [("failure", 3)] * 3
    assert [each[2] for each in told[1:]] == ["pre_tool_use"] * 2


@CLIENTS
def test_the_third_time_that_it_comes_after_that_the_run_is_over(
    client: Client, program: Callable[[Client], Program]
) -> None:
    hooks = config({"use": "loop-guard"})
    more = (Turn(do=(FAILING,)), Turn(do=(Shell("echo MK_RUN >> after"),)), Turn(say="MK_DONE"))
    with arena(client, program(client), config=hooks) as place:
        place.play(Script(prompt="MK_PROMPT", turns=(*TRIES, *more)))
        runs, after = place.file("runs").count("MK_RUN"), place.ran("after")
    assert (runs, after) == (3, False)


@CLIENTS
def test_polling_is_let_be(client: Client, program: Callable[[Client], Program]) -> None:
    poll = Turn(do=(Shell("echo MK_RUN >> runs; sleep 0; cat MK_GONE"),))
    with arena(client, program(client), config=config({"use": "loop-guard"})) as place:
        played = place.play(Script(prompt="MK_PROMPT", turns=(*(poll,) * 8, Turn(say="MK_DONE"))))
        runs = place.file("runs").count("MK_RUN")
    assert runs == 8
    assert "Loop detected" not in played.sent
