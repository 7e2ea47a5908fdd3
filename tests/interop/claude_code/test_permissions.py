"""Hooks decide where Claude Code would ask a person: nobody answers here, so only hooks let run."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, rule, witness
from interop.claude_code.telling import ended, heard, told_at

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, ASKED = "pre_tool_use", "permission_request"


def command(text: str) -> dict[str, str]:
    return {"tool": "shell", "command": text}


def saying(answer: str) -> str:
    """A program that answers with this."""
    return f"echo '{answer}'"


HOOKS = config(
    witness(ASKED),
    rule("may", PRE, match=command("touch allowed"), allow=True),
    rule("may again", PRE, match=command("touch allowed-again"), allow=True),
    rule("may not", PRE, match=command("touch both"), deny="MK_MAY_NOT"),
    rule("may after all", PRE, match=command("touch both"), allow=True),
    rule("granted", ASKED, match=command("touch granted"), allow=True),
    rule("refused", ASKED, match=command("touch refused"), deny="MK_REFUSED"),
    rule("left", ASKED, match=command("touch left"), ask="MK_LEFT"),
    rule("changed", ASKED, match=command("touch changed"), rewrite={"input": {"command": "touch sly"}}),
    rule("env", ASKED, match=command("touch with-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("enough", ASKED, match=command("touch halted"), run=saying('{"verdict": "halt", "reason": "MK_HALT"}')),
)  # fmt: skip

COMMANDS = ("allowed", "both", "plain", "granted", "refused", "left", "changed", "with-env")


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    turns = tuple(Turn(do=(Shell(f"touch {each}"),)) for each in COMMANDS)
    return place.play(Script(prompt="MK_PROMPT", turns=turns), wish=Wish(permission="ask"))


@pytest.fixture(scope="module")
def halted(place: Arena, played: Session) -> Session:
    turns = tuple(
        Turn(do=(Shell(f"touch {each}"),)) for each in ("allowed-again", "halted", "later")
    )
    return place.play(Script(prompt="MK_PROMPT", turns=turns), wish=Wish(permission="ask"))


@pytest.mark.proves("claude-code", "PreToolUse.allow")
def test_what_a_hook_allows_runs_unasked_and_its_twin_does_not(
    place: Arena, played: Session
) -> None:
    assert place.ran("allowed")
    assert not place.ran("plain")
    assert "needs approval" in heard(played, "touch plain")


@pytest.mark.proves("claude-code", "several.allow-and-deny")
def test_an_allow_does_not_lift_another_hooks_deny(place: Arena, played: Session) -> None:
    assert place.ran("allowed")
    assert not place.ran("both")
    assert "MK_MAY_NOT" in heard(played, "touch both")


@pytest.mark.proves("claude-code", "PermissionRequest.fires", "PermissionRequest.allow")
def test_a_question_that_a_hook_answers_with_yes_lets_the_command_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("granted")
    assert not place.ran("plain")
    assert "touch granted" in [each["tool"]["command"] for each in place.witnessed()]


@pytest.mark.proves("claude-code", "PermissionRequest.deny")
def test_a_question_that_a_hook_answers_with_no_tells_the_model_why(
    place: Arena, played: Session
) -> None:
    assert not place.ran("refused")
    assert "MK_REFUSED" in heard(played, "touch refused")


@pytest.mark.proves("claude-code", "PermissionRequest.ask")
def test_a_question_that_a_hook_leaves_to_the_person_stays_one(
    place: Arena, played: Session
) -> None:
    assert place.ran("granted")
    assert not place.ran("left")
    assert "needs approval" in heard(played, "touch left")


@pytest.mark.proves("claude-code", "PermissionRequest.input=deny")
def test_a_rewrite_of_what_is_asked_about_lets_neither_command_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("granted")
    assert not place.ran("changed")
    assert not place.ran("sly")
    assert "touch sly" in heard(played, "touch changed")


@pytest.mark.proves("claude-code", "PermissionRequest.env=deny")
def test_variables_for_what_is_asked_about_are_refused(place: Arena, played: Session) -> None:
    assert place.ran("granted")
    assert not place.ran("with-env")
    assert "MK_NAME" in heard(played, "touch with-env")


@pytest.mark.proves("claude-code", "PermissionRequest.halt")
def test_a_halt_at_the_question_ends_the_run_before_the_model_is_asked_again(
    place: Arena, halted: Session
) -> None:
    assert place.ran("allowed-again")
    assert not place.ran("halted")
    assert not place.ran("later")
    assert halted.exit_code == 1
    assert ended(halted)["subtype"] == "error_during_execution"
    assert "touch halted" not in told_at(halted, -1)
