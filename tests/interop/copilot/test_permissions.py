"""Hooks decide where Copilot CLI would ask a person, and where it would ask nobody."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Session, Wish
from interop.arena import Arena, arena, config, conversation, rule, witness
from interop.copilot.telling import heard
from interop.copilot.wording import command, commands, halting

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, ASKED = "pre_tool_use", "permission_request"

HOOKS = config(
    witness(ASKED, "notification"),
    rule("may", PRE, match=command("touch allowed"), allow=True),
    rule("may not", PRE, match=command("touch both"), deny="MK_MAY_NOT"),
    rule("may after all", PRE, match=command("touch both"), allow=True),
    rule("granted", ASKED, match=command("touch granted"), allow=True),
    rule("refused", ASKED, match=command("touch refused"), deny="MK_REFUSED"),
    rule("left", ASKED, match=command("touch left"), ask="MK_LEFT"),
    rule("changed", ASKED, match=command("touch changed"), rewrite={"input": {"command": "touch sly"}}),
    rule("env", ASKED, match=command("touch with-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("enough", ASKED, match=command("touch halted"), run=halting("MK_HALT")),
)  # fmt: skip


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def wary(place: Arena) -> Session:
    """The client lets nothing run that nobody allowed."""
    script = commands("touch allowed", "touch both", "touch granted", "touch plain")
    return place.play(script, wish=Wish(permission="ask"))


@pytest.fixture(scope="module")
def trusting(place: Arena, wary: Session) -> Session:
    """The client lets everything run."""
    names = ("free", "refused", "left", "changed", "with-env", "free-too")
    return place.play(commands(*(f"touch {name}" for name in names)))


# ── where the client asks ──


@pytest.mark.proves("copilot", "preToolUse.allow")
def test_what_a_hook_allows_runs_unasked_and_its_twin_does_not(place: Arena, wary: Session) -> None:
    assert "allowed" in wary.changed
    assert "plain" not in wary.changed
    assert "no interactive user response was available" in heard(wary, "touch plain")


@pytest.mark.proves("copilot", "several.allow-and-deny")
def test_an_allow_does_not_lift_another_hooks_deny(place: Arena, wary: Session) -> None:
    assert "allowed" in wary.changed
    assert "both" not in wary.changed
    assert "MK_MAY_NOT" in heard(wary, "touch both")


@pytest.mark.proves("copilot", "permissionRequest.fires", "permissionRequest.allow")
def test_a_question_that_a_hook_answers_with_yes_lets_the_command_run(
    place: Arena, wary: Session
) -> None:
    assert "granted" in wary.changed
    assert "plain" not in wary.changed
    seen = [each for each in place.witnessed() if each["native_event"] == "permissionRequest"]
    assert "touch granted" in [each["tool"]["command"] for each in seen]


# ── where it does not ──


@pytest.mark.proves("copilot", "permissionRequest.deny")
def test_what_a_hook_refuses_does_not_run_where_everything_may(
    place: Arena, trusting: Session
) -> None:
    assert "free" in trusting.changed
    assert "refused" not in trusting.changed
    assert "MK_REFUSED" in heard(trusting, "touch refused")


@pytest.mark.proves("copilot", "permissionRequest.ask=deny")
def test_a_question_for_the_person_is_a_refusal_where_silence_would_let_it_run(
    place: Arena, trusting: Session
) -> None:
    assert "free" in trusting.changed
    assert "left" not in trusting.changed
    assert "MK_LEFT" in heard(trusting, "touch left")


@pytest.mark.proves("copilot", "permissionRequest.input=deny")
def test_a_rewrite_of_what_is_asked_about_lets_neither_command_run(
    place: Arena, trusting: Session
) -> None:
    assert "free" in trusting.changed
    assert "changed" not in trusting.changed
    assert "sly" not in trusting.changed
    assert "touch sly" in heard(trusting, "touch changed")


@pytest.mark.proves("copilot", "permissionRequest.env=deny")
def test_variables_for_what_is_asked_about_are_refused(place: Arena, trusting: Session) -> None:
    assert "free" in trusting.changed
    assert "with-env" not in trusting.changed
    assert "MK_NAME" in heard(trusting, "touch with-env")


@pytest.mark.proves("copilot", "permissionRequest.halt")
def test_a_halt_at_the_question_ends_the_run_before_the_model_is_asked_again(
    place: Arena, trusting: Session
) -> None:
    assert "free-too" in trusting.changed, "a refusal alone does not end it"
    halted = place.play(commands("touch first", "touch halted", "touch later"))
    assert set(halted.changed) == {"first"}
    assert len(conversation(halted)) == 2
