"""The handoff on the real clients: over a compaction, and from one session to the next."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from hookline.lab.clients._codex_talk import Talk
from hookline.lab.clients.claude_code import CLIENT as CLAUDE_CODE
from hookline.lab.clients.codex import CLIENT as CODEX
from hookline.lab.clients.gemini import CLIENT as GEMINI
from hookline.lab.ports import Client, Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn, Write
from interop.arena import Arena, arena, config, conversation, texts
from interop.codex.ground import guarded, speak

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config({"use": "handoff"})
LAST = "All for now.\n\nNext step: MK_NEXT the parser\nBlocker: MK_BLOCKER of the vendor"
BRANCH = Turn(do=(Shell("git switch -q -c fix/145-parser"),))
WORK = (BRANCH, Turn(do=(Write("src/made.py", "x = 1\n"),)), Turn(do=(Shell("cat MK_GONE"),)))
ANCHORS = ("Branch: fix/145-parser", "Issue: 145", "Next step: MK_NEXT", "Blocker: MK_BLOCKER")
LOADED = "Handoff from the last"
AGAIN = "Noted before the compaction"
LIMITS = {CLAUDE_CODE: 13_000, CODEX: 9_200}
FULL = Wish(extra=("-c", "model_auto_compact_token_limit=1000"))
"""So few tokens that every answer of the model fills them."""


def first(prompt: str = "MK_FIRST") -> Script:
    return Script(prompt=prompt, turns=(*WORK, Turn(LAST)))


def short(prompt: str) -> Script:
    return Script(prompt=prompt, turns=(Turn("Yes."),))


def last_request(session: Session) -> str:
    return texts(conversation(session)[-1].body)


def metrics(place: Arena) -> Iterator[dict[str, Any]]:
    """What the journal has of each compaction."""
    for each in place.journal():
        answer = each["answer"] or {}
        found = answer.get("metadata", {}).get("handoff", {})
        if found.get("retained") is not None:
            yield found


@pytest.mark.parametrize("client", [CLAUDE_CODE, CODEX, GEMINI], ids=lambda client: client.dialect)
def test_the_next_session_of_the_branch_hears_once_what_the_last_one_left(
    client: Client, program: Callable[[Client], Program]
) -> None:
    with arena(client, program(client), config=HOOKS) as place:
        begun = place.play(first())
        second = place.play(short("MK_SECOND"))
        third = place.play(short("MK_THIRD"))
    assert LOADED not in begun.sent
    for each in (*ANCHORS, "src/made.py (changed 1x)"):
        assert each in second.sent
    assert LOADED not in third.sent


def test_claude_code_hears_of_its_anchors_again_after_a_compaction(
    program: Callable[[Client], Program],
) -> None:
    with arena(CLAUDE_CODE, program(CLAUDE_CODE), config=HOOKS) as place:
        place.play(first())
        compacted = place.play(Script(prompt="/compact"), wish=Wish(resume=True))
        after = place.play(short("MK_AFTER"), wish=Wish(resume=True))
        (measured,) = metrics(place)
    (summing,) = (texts(each.body) for each in compacted.asked if each.side)
    told = last_request(after)
    assert told.count(AGAIN) == 1
    for each in ANCHORS:
        assert each in summing, "who sums up is asked to keep them"
        assert each in told[told.index(AGAIN) :]
    assert measured["anchors"] == 4
    assert measured["lost"] == ["Issue", "Branch", "Blocker", "Next step"]
    assert 0 < measured["ratio"] < 1


def test_codex_hears_of_its_anchors_again_after_a_compaction_that_was_asked_for(
    program: Callable[[Client], Program],
) -> None:
    def talk(it: Talk) -> Sequence[str]:
        return [it.say("MK_FIRST"), it.compact(), it.say("MK_SECOND")]

    script = Script(prompt="MK_FIRST", turns=(*first().turns, Turn("Yes.")))
    with guarded(program(CODEX), config=HOOKS) as place:
        told = last_request(speak(place, script, talk).session)
        (measured,) = metrics(place)
    assert told.count(AGAIN) == 1
    for each in ANCHORS:
        assert each in told[told.index(AGAIN) :]
    assert measured["lost"] == ["Issue", "Branch", "Blocker", "Next step"]


def test_codex_hears_of_its_anchors_in_the_turn_in_which_its_context_was_full(
    program: Callable[[Client], Program],
) -> None:
    with arena(CODEX, program(CODEX), config=HOOKS) as place:
        played = place.play(Script(prompt="MK_FULL", turns=(*WORK[:2], Turn("Yes."))), wish=FULL)
    assert AGAIN in last_request(played)
    assert ANCHORS[0] in last_request(played)


@pytest.mark.parametrize("client", LIMITS, ids=lambda client: client.dialect)
def test_a_session_that_used_up_its_budget_is_rotated(
    client: Client, program: Callable[[Client], Program]
) -> None:
    # Nothing is left open here: what hands it over is that the budget was used up.
    budget = {"use": "budget", "with": {"limit": LIMITS[client] // 40}}
    with arena(client, program(client), config=config(budget, {"use": "handoff"})) as place:
        place.play(Script(prompt="MK_FIRST", turns=(*WORK, WORK[-1], Turn("Done."))))
        second = place.play(short("MK_SECOND"))
    assert "whose token budget was used up" in second.sent
    assert "src/made.py (changed 1x)" in second.sent
