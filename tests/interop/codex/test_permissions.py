"""Hooks decide where Codex would ask a person, who refuses all that they are asked here."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients._codex_talk import approve
from hookline.lab.ports import Program, Session
from hookline.lab.script import Mcp, Script, Shell, Turn, Write
from interop.arena import Arena, config, conversation, rule
from interop.codex.ground import Spoken, command, guarded, halting, notice, one_by_one, speak
from interop.codex.telling import heard, shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, ASKED = "pre_tool_use", "permission_request"

HOOKS = config(
    rule("may", PRE, match=command("touch allowed"), allow=True),
    rule("milder", PRE, match=command("touch strong"), rewrite={"input": {"command": "touch mild"}}),
    rule("safer", PRE, match=command("touch unsafe"), rewrite={"input": {"command": "touch safe"}}),
    rule("safe", ASKED, match=command("touch safe"), allow=True),
    rule("unsafe", ASKED, match=command("touch unsafe"), deny="MK_UNSAFE"),
    rule("granted", ASKED, match=command("touch granted"), allow=True),
    rule("refused", ASKED, match=command("touch refused"), deny="MK_REFUSED"),
    rule("both", ASKED, match=command("touch both"), allow=True),
    rule("and not", ASKED, match=command("touch both"), deny="MK_AND_NOT"),
    rule("left", ASKED, match=command("touch left"), ask="MK_LEFT"),
    rule("changed", ASKED, match=command("touch changed"), rewrite={"input": {"command": "touch sly"}}),
    rule("env", ASKED, match=command("touch with-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("told", ASKED, match=command("touch told"), run="echo MK_TOLD"),
    rule("people", ASKED, match=command("touch noticed"), run=notice("MK_NOTICE")),
    rule("patch", ASKED, match={"tool": "write", "path": "granted.txt"}, allow=True),
    rule("mcp", ASKED, match={"mcp": "lab.echo_text"}, run="if grep -q MK_MCP_GOOD; then echo '{\"verdict\": \"allow\"}'; fi"),
    rule("enough", ASKED, match=command("touch halted"), run=halting("MK_HALT")),
)  # fmt: skip

COMMANDS = (
    *("plain", "allowed", "granted", "refused", "both", "left", "changed", "with-env"),
    *("told", "noticed", "strong", "unsafe"),
)
SCRIPT = one_by_one(
    *(Shell(f"touch {each}") for each in COMMANDS),
    Write("granted.txt", "MK_NEW\n"),
    Write("left.txt", "MK_NEW\n"),
    Mcp("echo_text", {"text": "MK_MCP_GOOD"}),
    Mcp("echo_text", {"text": "MK_MCP_LEFT"}),
)


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    with guarded(codex, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def spoken(place: Arena) -> Spoken:
    return speak(place, SCRIPT, permission=True)


@pytest.fixture(scope="module")
def played(spoken: Spoken) -> Session:
    return spoken.session


def questions(spoken: Spoken) -> list[str]:
    """The commands that the person was asked about."""
    return [str(each["params"].get("command", "")) for each in spoken.talk.questions]


def asked_about(spoken: Spoken, text: str) -> bool:
    return any(f"'{text}'" in each for each in questions(spoken))


@pytest.mark.proves("codex", "PermissionRequest.fires", "PermissionRequest.allow")
def test_what_a_hook_grants_runs_unasked_and_its_twin_is_asked_about(
    place: Arena, spoken: Spoken
) -> None:
    assert place.ran("granted")
    assert not asked_about(spoken, "touch granted")
    assert not place.ran("plain")
    assert asked_about(spoken, "touch plain")


@pytest.mark.proves("codex", "PermissionRequest.deny")
def test_a_question_that_a_hook_answers_with_no_is_not_put_and_the_model_is_told_why(
    place: Arena, spoken: Spoken
) -> None:
    assert place.ran("granted")
    assert not place.ran("refused")
    assert not asked_about(spoken, "touch refused")
    assert "MK_REFUSED" in heard(spoken.session, "touch refused")


@pytest.mark.proves("codex", "several.deny-beats-allow")
def test_of_two_answers_to_one_question_the_no_counts(place: Arena, spoken: Spoken) -> None:
    assert place.ran("granted")
    assert not place.ran("both")
    assert "MK_AND_NOT" in heard(spoken.session, "touch both")


@pytest.mark.proves("codex", "PermissionRequest.ask")
def test_a_question_that_a_hook_leaves_to_the_person_is_put_with_the_reason(
    place: Arena, spoken: Spoken
) -> None:
    assert not place.ran("left")
    assert asked_about(spoken, "touch left")
    assert "MK_LEFT" in shown(spoken.talk, "permissionRequest")


@pytest.mark.proves("codex", "PermissionRequest.input=deny")
def test_a_rewrite_of_what_is_asked_about_lets_neither_command_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("granted")
    assert not place.ran("changed")
    assert not place.ran("sly")
    assert "touch sly" in heard(played, "touch changed")


@pytest.mark.proves("codex", "PermissionRequest.env=deny")
def test_variables_for_what_is_asked_about_are_refused(place: Arena, spoken: Spoken) -> None:
    assert not place.ran("with-env")
    assert not asked_about(spoken, "touch with-env")
    assert "MK_NAME" in heard(spoken.session, "touch with-env")


@pytest.mark.proves("codex", "PermissionRequest.context=notice")
def test_context_for_a_question_is_shown_to_the_person(spoken: Spoken) -> None:
    assert asked_about(spoken, "touch told")
    assert "MK_TOLD" in shown(spoken.talk, "permissionRequest")
    assert "MK_TOLD" not in spoken.session.sent


@pytest.mark.proves("codex", "PermissionRequest.notice")
def test_a_notice_at_a_question_is_shown_to_the_person(spoken: Spoken) -> None:
    assert asked_about(spoken, "touch noticed")
    assert "MK_NOTICE" in shown(spoken.talk, "permissionRequest")
    assert "MK_NOTICE" not in spoken.session.sent


@pytest.mark.proves("codex", "PreToolUse.allow=pass")
def test_what_a_hook_allows_before_the_question_is_asked_about_all_the_same(
    place: Arena, spoken: Spoken
) -> None:
    assert place.ran("granted")
    assert not place.ran("allowed")
    assert asked_about(spoken, "touch allowed")


@pytest.mark.proves("codex", "PreToolUse.input")
def test_a_rewritten_command_is_asked_about_as_it_is_now(place: Arena, spoken: Spoken) -> None:
    """The client takes a rewrite only with an allow, and that allow grants nothing."""
    assert asked_about(spoken, "touch mild")
    assert not asked_about(spoken, "touch strong")
    assert not place.ran("mild")
    assert not place.ran("strong")


@pytest.mark.proves("codex", "PreToolUse.input", "PermissionRequest.allow")
def test_hooks_that_answer_the_question_judge_the_rewritten_command(
    place: Arena, spoken: Spoken
) -> None:
    assert place.ran("safe")
    assert not place.ran("unsafe")
    assert "MK_UNSAFE" not in spoken.session.sent


@pytest.mark.proves("codex", "PermissionRequest.allow", "patch.allow")
def test_a_patch_that_a_hook_grants_is_made_and_its_twin_is_not(
    place: Arena, played: Session
) -> None:
    assert place.file("granted.txt") == "MK_NEW\n"
    assert not place.ran("left.txt")
    assert "rejected" in heard(played, "left.txt")


@pytest.mark.proves("codex", "PermissionRequest.allow", "mcp.allow")
def test_an_mcp_call_that_a_hook_grants_is_made_and_its_twin_is_not(played: Session) -> None:
    assert "MK_MCP_GOOD" in heard(played, "MK_MCP_GOOD")
    assert "MK_MCP_LEFT" not in heard(played, "MK_MCP_LEFT")
    assert "rejected" in heard(played, "MK_MCP_LEFT")


@pytest.mark.proves("codex", "PermissionRequest.halt=latch")
def test_after_a_halt_at_a_question_nothing_runs_that_the_person_would_approve(
    place: Arena, spoken: Spoken
) -> None:
    acts = ("touch before-halt", "touch halted", "touch later")
    script = Script(prompt="MK_PROMPT", turns=tuple(Turn(do=(Shell(each),)) for each in acts))
    halted = speak(place, script, permission=True, answer=approve)
    assert set(halted.session.changed) == {"before-halt"}
    assert len(conversation(halted.session)) == len(acts) + 1, "the client itself goes on"
    assert "MK_HALT" in heard(halted.session, "touch halted")
    assert "MK_HALT" in heard(halted.session, "touch later")
