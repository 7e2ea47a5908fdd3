"""What hooks say about tools is what Claude Code does: one session, in which each act has its hook."""

import json
from collections.abc import Iterator

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Edit, Read, Script, Shell, Turn, Write
from interop.arena import Arena, arena, config, rule, witness
from interop.claude_code.telling import heard, shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST, FAILED = "pre_tool_use", "post_tool_use", "post_tool_use_failure"

FILES = {
    "open.txt": "MK_OPEN\n",
    "secret.txt": "MK_SECRET\n",
    "hidden.txt": "MK_HIDDEN\n",
    "read.txt": "MK_READ\n",
    "edited.txt": "before\n",
    "guarded.txt": "before\n",
}


def command(text: str) -> dict[str, str]:
    return {"tool": "shell", "command": text}


def notice(text: str) -> str:
    """A program that has something to say to the person."""
    return f"""echo '{{"notice": ["{text}"]}}'"""


HOOKS = config(
    witness(PRE, POST, FAILED, "post_tool_batch"),
    rule("denied", PRE, match=command("touch denied"), deny="MK_DENIED"),
    rule("asked", PRE, match=command("touch asked"), ask="MK_ASKED"),
    rule("first", PRE, match=command("touch twice-denied"), deny="MK_FIRST"),
    rule("second", PRE, match=command("touch twice-denied"), deny="MK_SECOND"),
    rule("told", PRE, match=command("touch told"), context="MK_TOLD"),
    rule("no", PRE, match=command("touch told-no"), deny="MK_NO"),
    rule("and why", PRE, match=command("touch told-no"), context="MK_WHY"),
    rule("other", PRE, match=command("touch original"), rewrite={"input": {"command": "touch other"}}),
    rule("worse", PRE, match=command("touch harmless"), rewrite={"input": {"command": "touch harmful"}}),
    rule("not that", PRE, match=command("touch harmful"), deny="MK_HARMFUL"),
    rule("env", PRE, match=command("touch with-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("people", PRE, match=command("touch noticed"), run=notice("MK_NOTICE")),
    rule("redact", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("hide", POST, match=command("cat hidden.txt"), deny="MK_NOT_SHOWN"),
    rule("after", POST, match=command("touch plain"), context="MK_AFTER"),
    rule("unread", POST, match={"tool": "read", "path": "read.txt"}, rewrite={"output": "MK_UNREAD"}),
    rule("seen", POST, match=command("touch plain"), run=notice("MK_SEEN")),
    rule("pity", FAILED, match=command("exit 3"), run=notice("MK_PITY")),
    rule("all done", "post_tool_batch", run=notice("MK_ALL_DONE")),
    rule("fails", FAILED, match=command("exit 3"), context="MK_FAILED"),
    rule("blames", FAILED, match=command("exit 4"), run="echo MK_BLAMED >&2; exit 2"),
    rule("batch", "post_tool_batch", run="grep -q 'touch batched' && echo MK_BATCH || true"),
    rule("long", PRE, match=command("touch long"), run="printf MK_HEAD; head -c 30000 /dev/zero | tr '\\0' x"),
    rule("no write", PRE, match={"tool": "write", "path": "guarded-new.txt"}, deny="MK_NO_WRITE"),
    rule("no edit", PRE, match={"tool": "edit", "path": "guarded.txt"}, deny="MK_NO_EDIT"),
    rule("other text", PRE, match={"tool": "write", "path": "rewritten.txt"}, rewrite={"input": {"content": "MK_BETTER\n"}}),
)  # fmt: skip

COMMANDS = (
    "touch plain",
    "touch denied",
    "touch asked",
    "touch twice-denied",
    "touch told",
    "touch told-no",
    "touch original",
    "touch harmless",
    "touch with-env",
    "touch noticed",
    "cat open.txt",
    "cat secret.txt",
    "cat hidden.txt",
    "exit 3",
    "exit 4",
    "touch batched",
    "touch long",
)

SCRIPT = Script(
    prompt="MK_PROMPT",
    turns=(
        *(Turn(do=(Shell(each),)) for each in COMMANDS),
        Turn(do=(Read("read.txt"),)),
        Turn(do=(Read("edited.txt"),)),
        Turn(do=(Read("guarded.txt"),)),
        Turn(do=(Write("new.txt", "MK_NEW\n"),)),
        Turn(do=(Write("guarded-new.txt", "MK_NEW\n"),)),
        Turn(do=(Write("rewritten.txt", "MK_WORSE\n"),)),
        Turn(do=(Edit("edited.txt", "before", "after"),)),
        Turn(do=(Edit("guarded.txt", "before", "after"),)),
    ),
)


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS, files=FILES) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


# ── before a tool runs ──


@pytest.mark.proves("claude-code", "PreToolUse.fires", "PreToolUse.deny")
def test_a_denied_command_does_not_run_and_its_twin_does(place: Arena, played: Session) -> None:
    assert place.ran("plain")
    assert not place.ran("denied")
    assert "MK_DENIED" in heard(played, "touch denied")


@pytest.mark.proves("claude-code", "PreToolUse.ask")
def test_what_a_person_has_to_be_asked_does_not_run_where_nobody_is(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("asked")
    assert "MK_ASKED" in heard(played, "touch asked")


@pytest.mark.proves("claude-code", "PreToolUse.input")
def test_a_rewritten_command_is_the_one_that_runs(place: Arena, played: Session) -> None:
    assert place.ran("other")
    assert not place.ran("original")


@pytest.mark.proves("claude-code", "PreToolUse.input")
def test_a_rewritten_file_has_the_other_content(place: Arena, played: Session) -> None:
    assert place.file("new.txt") == "MK_NEW\n"
    assert place.file("rewritten.txt") == "MK_BETTER\n"


@pytest.mark.proves("claude-code", "PreToolUse.context")
def test_context_reaches_the_model_beside_the_tools_result(place: Arena, played: Session) -> None:
    assert place.ran("told")
    assert "MK_TOLD" in heard(played, 'touch told"')
    assert "MK_TOLD" not in heard(played, "touch plain")


@pytest.mark.proves("claude-code", "limits.context")
def test_context_that_is_too_long_is_cut_by_us_and_not_put_away_by_the_client(
    place: Arena, played: Session
) -> None:
    assert place.ran("long")
    told = heard(played, "touch long")
    assert "MK_HEADxxxx" in told
    assert 8_000 < told.count("x") < 10_000
    assert "persisted-output" not in told


@pytest.mark.proves("claude-code", "PreToolUse.notice")
def test_a_notice_is_shown_to_the_person_and_not_to_the_model(
    place: Arena, played: Session
) -> None:
    assert place.ran("noticed")
    assert "MK_NOTICE" in shown(played)
    assert "MK_NOTICE" not in played.sent


@pytest.mark.proves("claude-code", "PreToolUse.env=deny")
def test_a_command_that_wants_variables_it_cannot_have_does_not_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("with-env")
    assert "MK_NAME" in heard(played, "touch with-env")


@pytest.mark.proves("claude-code", "PreToolUse.deny")
def test_a_denied_file_is_not_written_and_its_twin_is(place: Arena, played: Session) -> None:
    assert place.ran("new.txt")
    assert not place.ran("guarded-new.txt")
    assert "MK_NO_WRITE" in heard(played, "guarded-new.txt")


@pytest.mark.proves("claude-code", "PreToolUse.deny", "patch.deny")
def test_a_denied_edit_leaves_the_file_and_its_twin_is_made(place: Arena, played: Session) -> None:
    assert place.file("edited.txt") == "after\n"
    assert place.file("guarded.txt") == "before\n"
    assert "MK_NO_EDIT" in heard(played, 'guarded.txt", "old')


# ── several hooks at once ──


@pytest.mark.proves("claude-code", "several.denies")
def test_of_two_denies_both_reasons_reach_the_model(place: Arena, played: Session) -> None:
    assert not place.ran("twice-denied")
    told = heard(played, "touch twice-denied")
    assert "MK_FIRST" in told
    assert "MK_SECOND" in told


@pytest.mark.proves("claude-code", "several.deny-and-context")
def test_context_beside_a_deny_reaches_the_model_too(place: Arena, played: Session) -> None:
    assert not place.ran("told-no")
    told = heard(played, "touch told-no")
    assert "MK_NO" in told
    assert "MK_WHY" in told


@pytest.mark.proves("claude-code", "several.rewrite-judged-again")
def test_what_a_hook_rewrites_is_judged_again_before_it_runs(place: Arena, played: Session) -> None:
    assert place.ran("other"), "a rewrite that no guard minds does run"
    assert not place.ran("harmless")
    assert not place.ran("harmful")
    assert "MK_HARMFUL" in heard(played, "touch harmless")


# ── after it ran ──


@pytest.mark.proves("claude-code", "PostToolUse.fires", "PostToolUse.output", "secrets.output")
def test_redacted_output_is_what_the_model_sees(played: Session) -> None:
    assert "MK_OPEN" in heard(played, "cat open.txt")
    assert "MK_REDACTED" in heard(played, "cat secret.txt")
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("claude-code", "PostToolUse.output")
def test_a_file_that_was_read_is_redacted_too(played: Session) -> None:
    assert "before" in heard(played, 'Read {"file_path": "edited.txt')
    assert "MK_UNREAD" in heard(played, "read.txt")
    assert "MK_READ" not in played.sent


@pytest.mark.proves("claude-code", "PostToolUse.deny")
def test_output_that_is_denied_never_reaches_the_model(played: Session) -> None:
    assert "MK_OPEN" in played.sent
    assert "MK_NOT_SHOWN" in heard(played, "cat hidden.txt")
    assert "MK_HIDDEN" not in played.sent


@pytest.mark.proves("claude-code", "PostToolUse.context")
def test_context_after_a_tool_reaches_the_model(played: Session) -> None:
    assert "MK_AFTER" in heard(played, "touch plain")
    assert "MK_AFTER" not in heard(played, 'touch told"')


@pytest.mark.proves("claude-code", "PostToolUse.notice")
def test_a_notice_after_a_tool_is_shown_to_the_person(played: Session) -> None:
    assert "MK_SEEN" in shown(played)
    assert "MK_SEEN" not in played.sent


@pytest.mark.proves("claude-code", "PostToolUseFailure.fires", "PostToolUseFailure.context")
def test_context_about_a_failure_reaches_the_model(played: Session) -> None:
    assert "MK_FAILED" in heard(played, "exit 3")
    assert "MK_FAILED" not in heard(played, "exit 4")


@pytest.mark.proves("claude-code", "PostToolUseFailure.deny=feedback")
def test_a_deny_of_what_has_failed_stands_beside_the_error(played: Session) -> None:
    told = heard(played, "exit 4")
    assert "Exit code 4" in told
    assert "MK_BLAMED" in told


@pytest.mark.proves("claude-code", "PostToolUseFailure.notice")
def test_a_notice_about_a_failure_is_shown_to_the_person(played: Session) -> None:
    assert "MK_PITY" in shown(played)
    assert "MK_PITY" not in played.sent


@pytest.mark.proves("claude-code", "PostToolBatch.fires", "PostToolBatch.context")
def test_context_after_a_batch_reaches_the_model(played: Session) -> None:
    assert "MK_BATCH" in heard(played, "touch batched")
    assert "MK_BATCH" not in heard(played, "touch plain")


@pytest.mark.proves("claude-code", "PostToolBatch.notice")
def test_a_notice_after_a_batch_is_shown_to_the_person(played: Session) -> None:
    assert "MK_ALL_DONE" in shown(played)
    assert "MK_ALL_DONE" not in played.sent


# ── the session as a whole ──


@pytest.mark.proves("claude-code", "daemon.answers")
def test_one_daemon_answered_the_whole_session(place: Arena, played: Session) -> None:
    """The client asks it over its socket; else each event would have had a process of its own."""
    said = json.loads(place.hookline("daemon", "status", "--json").stdout)
    assert said.get("answered", 0) > len(SCRIPT.turns), said


def test_the_client_ends_well_and_only_what_was_let_through_is_there(played: Session) -> None:
    assert played.exit_code == 0, played.stderr.decode()
    assert set(played.changed) == {
        "batched",
        "edited.txt",
        "long",
        "new.txt",
        "noticed",
        "other",
        "plain",
        "rewritten.txt",
        "told",
    }
