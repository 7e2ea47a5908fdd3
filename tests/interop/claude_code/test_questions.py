"""Questions that an MCP server has for the person go through hooks first."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Mcp, Script, Shell, Turn
from interop.arena import Arena, arena, config, rule, witness
from interop.claude_code import asking_server
from interop.claude_code.telling import heard

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


def when(word: str, then: str) -> str:
    return f"grep -q {word} && {{ {then}; }} || true"


HOOKS = config(
    witness("elicitation", "elicitation_result", "notification"),
    rule("no", "elicitation", run=when("MK_BAD", "echo MK_NO >&2; exit 2")),
    rule("yes", "elicitation", run=when("MK_FINE", """echo '{"verdict": "allow"}'""")),
    rule("end", "elicitation", run=when("MK_LAST", """echo '{"verdict": "halt", "reason": "MK_HALT"}'""")),
)  # fmt: skip

QUESTIONS = ("MK_PLAIN", "MK_BAD", "MK_FINE", "MK_LAST")


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS) as made:
        known = Path(made.room.home, ".claude.json")
        settings = json.loads(known.read_text())
        program = {"command": sys.executable, "args": ["-I", asking_server.__file__]}
        settings["mcpServers"]["asking"] = {"type": "stdio", **program}
        known.write_text(json.dumps(settings))
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    asking = (Turn(do=(Mcp("ask_person", {"message": each}, "asking"),)) for each in QUESTIONS)
    turns = (Turn(do=(Shell("touch first"),)), *asking, Turn(do=(Shell("touch never"),)))
    wish = Wish(extra=("--allowedTools", "mcp__asking"))
    return place.play(Script(prompt="MK_PROMPT", turns=turns), wish=wish)


@pytest.mark.proves("claude-code", "Elicitation.fires", "Elicitation.deny")
def test_a_denied_question_is_declined_before_anybody_sees_it(
    place: Arena, played: Session
) -> None:
    assert "MK_BECAME_cancel" in heard(played, "MK_PLAIN"), "nobody is there to answer its twin"
    assert "MK_BECAME_decline" in heard(played, "MK_BAD")
    assert [each["message"] for each in place.witnessed() if each["event"] == "elicitation"] == [
        *QUESTIONS
    ]


@pytest.mark.proves("claude-code", "Elicitation.allow=pass")
def test_an_allowed_question_is_left_to_the_person_like_any_other(played: Session) -> None:
    assert "MK_BECAME_cancel" in heard(played, "MK_PLAIN")
    assert "MK_BECAME_cancel" in heard(played, "MK_FINE")


@pytest.mark.proves("claude-code", "Elicitation.halt=deny")
def test_a_halt_at_a_question_declines_it_and_denies_all_that_follows(
    place: Arena, played: Session
) -> None:
    assert place.ran("first")
    assert "MK_BECAME_decline" in heard(played, "MK_LAST")
    assert "MK_HALT" in heard(played, "touch never")
    assert not place.ran("never")


@pytest.mark.proves("claude-code", "ElicitationResult.fires", "Notification.fires")
def test_what_became_of_a_question_is_seen(place: Arena, played: Session) -> None:
    seen = place.witnessed()
    results = [each["action"] for each in seen if each["native_event"] == "ElicitationResult"]
    assert results == ["cancel", "cancel"], "not of those that hooks declined"
    told = [each["kind"] for each in seen if each["native_event"] == "Notification"]
    assert told == ["elicitation_response", "elicitation_response"]
