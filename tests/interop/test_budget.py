"""A conversation that fills up, on the real clients: what is said, held back and counted."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from hookline.lab.clients._codex_talk import Talk
from hookline.lab.clients.claude_code import CLIENT as CLAUDE_CODE
from hookline.lab.clients.codex import CLIENT as CODEX
from hookline.lab.ports import Client, Program, Wish
from hookline.lab.script import Agent, Read, Script, Shell, Turn
from interop.arena import Arena, arena, config, witness
from interop.codex.ground import guarded, speak

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

# As much as the client's own first request has, and then some.
LIMITS = {CLAUDE_CODE: 13_000, CODEX: 9_200}
CLIENTS = pytest.mark.parametrize("client", LIMITS, ids=lambda client: client.dialect)
FILES = {"medium.txt": "MK_MEDIUM a line of text\n" * 350, "big.txt": "MK_BIG a line\n" * 4_000}


def hooks(client: Client) -> str:
    return config(
        {"use": "budget", "with": {"limit": LIMITS[client]}},
        witness("budget_exceeded"),
    )


def cost(place: Arena, by: str = "agent") -> Mapping[str, Any]:
    done = place.hookline("cost", "--json", "--by", by)
    assert done.exit_code == 0, done.stderr
    found: Mapping[str, Any] = json.loads(done.stdout)
    return found


@CLIENTS
def test_at_seventy_per_cent_it_is_told_and_at_eighty_large_loads_end(
    client: Client, program: Callable[[Client], Program]
) -> None:
    turns = (
        Turn(do=(Shell("touch first"),)),
        Turn(do=(Read("medium.txt"),)),
        # Claude Code writes down what a call used a moment after its tools are judged.
        Turn(do=(Shell("touch between"),)),
        Turn(do=(Read("big.txt"),)),
        Turn(do=(Agent(prompt="MK_SUB", turns=(Turn(say="MK_SUB_DONE"),)),)),
        Turn(do=(Shell("touch last"),)),
        Turn(say="MK_DONE"),
    )
    with arena(client, program(client), config=hooks(client), files=FILES) as place:
        played = place.play(Script(prompt="MK_PROMPT", turns=turns))
        (exceeded,) = place.witnessed()
        used = cost(place)
        assert place.ran("first")
        assert place.ran("last")
    assert played.sent.count("Load only what the task needs.") >= 1
    assert "MK_MEDIUM" in played.sent
    assert "Large reads and new sub-agents are blocked." in played.sent
    # Before it is read, or where the client had not yet written what fills it, right after.
    assert "at most 32 KB" in played.sent
    assert "MK_BIG" not in played.sent
    assert "No new sub-agent begins" in played.sent
    assert "MK_SUB_DONE" not in played.sent
    assert exceeded["scope"] == "context"
    assert exceeded["limit"] == LIMITS[client]
    assert 80 <= exceeded["percent"] < 120
    assert used["total"]["calls"] == len([each for each in played.asked if not each.side])
    assert used["total"]["sessions_without_usage"] == 0


@CLIENTS
def test_sub_agents_are_counted_once(client: Client, program: Callable[[Client], Program]) -> None:
    sub = Agent(prompt="MK_SUB", turns=(Turn(do=(Shell("touch sub"),)), Turn(say="MK_SUB_DONE")))
    only = config({"use": "budget"})
    with arena(client, program(client), config=only) as place:
        played = place.play(
            Script(prompt="MK_PROMPT", turns=(Turn(do=(sub,)), Turn(say="MK_DONE")))
        )
        used = cost(place)
        assert place.ran("sub")
    calls = {row["agent"]: row["calls"] for row in used["rows"]}
    name = client.dialect
    assert calls[f"{name} (sub-agents)"] == 2
    assert sum(calls.values()) == len([each for each in played.asked if not each.side])


def test_after_a_compaction_of_claude_code_there_is_room_again(
    program: Callable[[Client], Program],
) -> None:
    with arena(CLAUDE_CODE, program(CLAUDE_CODE), config=hooks(CLAUDE_CODE), files=FILES) as place:
        # No Read: a file that was read is put back into what a compaction leaves.
        place.play(Script(prompt="MK_PROMPT", turns=(Turn(do=(Shell("cat medium.txt"),)),)))
        place.play(Script(prompt="MK_ON", turns=(Turn(say="MK_FULL"),)), wish=Wish(resume=True))
        assert len(place.witnessed()) == 1
        place.play(Script(prompt="/compact"), wish=Wish(resume=True))
        again = place.play(
            Script(prompt="MK_AGAIN", turns=(Turn(do=(Read("big.txt"),)),)), wish=Wish(resume=True)
        )
        assert "big.txt is 55 KB" not in again.sent
        assert "MK_BIG" in again.sent


def test_after_a_compaction_of_codex_there_is_room_again(
    program: Callable[[Client], Program],
) -> None:
    def talk(it: Talk) -> Sequence[str]:
        return [it.say("MK_FIRST"), it.compact(), it.say("MK_SECOND")]

    turns = (
        Turn(do=(Read("medium.txt"),)),
        Turn(do=(Read("big.txt"),)),
        Turn(say="MK_FULL"),
        Turn(do=(Read("big.txt"),)),
        Turn(say="MK_DONE"),
    )
    with guarded(program(CODEX), config=hooks(CODEX), files=FILES) as place:
        spoken = speak(place, Script(prompt="MK_FIRST", turns=turns), talk)
        # Once in each prompt: what is read in the second one fills it again.
        assert len(place.witnessed()) == 2
        used = cost(place)
    first, _, second = spoken.session.sent.partition("MK_SECOND")
    assert "big.txt is 55 KB" in first
    assert "MK_BIG" not in first
    assert "MK_BIG" in second
    assert used["total"]["sessions_without_usage"] == 0
