"""What hooks say about tools is what Copilot CLI does: one session, in which each act has its hook."""

import json
from collections.abc import Iterator

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Edit, Mcp, Read, Shell, Write
from interop.arena import Arena, arena, config, rule, witness
from interop.copilot.telling import heard
from interop.copilot.wording import command, if_seen, one_by_one, saying

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST, FAILED = "pre_tool_use", "post_tool_use", "post_tool_use_failure"
ECHO = {"mcp": "lab.echo_text"}

FILES = {
    "open.txt": "MK_OPEN\n",
    "secret.txt": "MK_SECRET\n",
    "hidden.txt": "MK_HIDDEN\n",
    "emptied.txt": "MK_EMPTIED\n",
    "read.txt": "MK_READ\n",
    "edited.txt": "before\n",
    "guarded.txt": "before\n",
}

HOOKS = config(
    witness(PRE, POST, FAILED),
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
    rule("people", PRE, match=command("touch noticed"), run=saying(notice=["MK_NOTICE"])),
    rule("redact", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("empty", POST, match=command("cat emptied.txt"), rewrite={"output": ""}),
    rule("hide", POST, match=command("cat hidden.txt"), deny="MK_NOT_SHOWN"),
    rule("after", POST, match=command("touch plain"), context="MK_AFTER"),
    rule("unread", POST, match={"tool": "read", "path": "read.txt"}, rewrite={"output": "MK_UNREAD"}),
    rule("fails", FAILED, match={"tool": "read", "path": "absent-1.txt"}, context="MK_FAILED"),
    rule("blames", FAILED, match={"tool": "read", "path": "absent-2.txt"}, deny="MK_BLAMED"),
    rule("no write", PRE, match={"tool": "write", "path": "guarded-new.txt"}, deny="MK_NO_WRITE"),
    rule("no edit", PRE, match={"tool": "edit", "path": "guarded.txt"}, deny="MK_NO_EDIT"),
    rule("other text", PRE, match={"tool": "write", "path": "rewritten.txt"}, rewrite={"input": {"file_text": "MK_BETTER\n"}}),
    rule("no mcp", PRE, match=ECHO, run=if_seen("MK_MCP_BAD", "echo MK_NO_MCP >&2; exit 2")),
    rule("mcp in", PRE, match=ECHO, run=if_seen("MK_MCP_OLD", saying(rewrite={"input": {"text": "MK_MCP_NEW"}}))),
    rule("mcp out", POST, match=ECHO, run=if_seen("MK_MCP_SECRET", saying(rewrite={"output": "MK_MCP_GONE"}))),
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
    "cat emptied.txt",
)

SCRIPT = one_by_one(
    *map(Shell, COMMANDS),
    Read("read.txt"),
    Read("open.txt"),
    Read("absent-1.txt"),
    Read("absent-2.txt"),
    Write("new.txt", "MK_NEW\n"),
    Write("guarded-new.txt", "MK_NEW\n"),
    Write("rewritten.txt", "MK_WORSE\n"),
    Edit("edited.txt", "before", "after"),
    Edit("guarded.txt", "before", "after"),
    Mcp("echo_text", {"text": "MK_MCP_GOOD"}),
    Mcp("echo_text", {"text": "MK_MCP_BAD"}),
    Mcp("echo_text", {"text": "MK_MCP_SECRET"}),
    Mcp("echo_text", {"text": "MK_MCP_OLD"}),
    Mcp("fail_text", {"text": "MK_MCP_FAILED"}),
)


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS, files=FILES) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


# ── before a tool runs ──


@pytest.mark.proves("copilot", "preToolUse.fires", "preToolUse.deny")
def test_a_denied_command_does_not_run_and_its_twin_does(place: Arena, played: Session) -> None:
    assert place.ran("plain")
    assert not place.ran("denied")
    assert "Denied by preToolUse hook: MK_DENIED" in heard(played, "touch denied")


@pytest.mark.proves("copilot", "preToolUse.ask")
def test_what_a_person_has_to_be_asked_does_not_run_where_nobody_is(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("asked")
    told = heard(played, "touch asked")
    assert "unable to ask user for confirmation" in told
    assert "MK_ASKED" in told


@pytest.mark.proves("copilot", "preToolUse.input")
def test_a_rewritten_command_is_the_one_that_runs(place: Arena, played: Session) -> None:
    assert place.ran("other")
    assert not place.ran("original")


@pytest.mark.proves("copilot", "preToolUse.input")
def test_a_rewritten_file_has_the_other_content(place: Arena, played: Session) -> None:
    assert place.file("new.txt") == "MK_NEW\n"
    assert place.file("rewritten.txt") == "MK_BETTER\n"


@pytest.mark.proves("copilot", "preToolUse.context")
def test_context_reaches_the_model_beside_the_tools_result(place: Arena, played: Session) -> None:
    assert place.ran("told")
    assert "MK_TOLD" in heard(played, 'touch told"')
    assert "MK_TOLD" not in heard(played, "touch plain")


@pytest.mark.proves("copilot", "preToolUse.env=deny")
def test_a_command_that_wants_variables_it_cannot_have_does_not_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("with-env")
    assert "MK_NAME" in heard(played, "touch with-env")


@pytest.mark.proves("copilot", "limits.notices-are-lost")
def test_a_notice_reaches_nobody_and_the_tool_runs(place: Arena, played: Session) -> None:
    assert place.ran("noticed")
    assert "MK_NOTICE" not in played.sent
    assert b"MK_NOTICE" not in played.stdout + played.stderr
    assert "MK_NOTICE" in json.dumps(place.journal())


@pytest.mark.proves("copilot", "preToolUse.deny")
def test_a_denied_file_is_not_written_and_its_twin_is(place: Arena, played: Session) -> None:
    assert place.ran("new.txt")
    assert not place.ran("guarded-new.txt")
    assert "MK_NO_WRITE" in heard(played, "guarded-new.txt")


@pytest.mark.proves("copilot", "preToolUse.deny")
def test_a_denied_edit_leaves_the_file_and_its_twin_is_made(place: Arena, played: Session) -> None:
    assert place.file("edited.txt") == "after\n"
    assert place.file("guarded.txt") == "before\n"
    assert "MK_NO_EDIT" in heard(played, "guarded.txt")


# ── several hooks at once ──


@pytest.mark.proves("copilot", "several.denies")
def test_of_two_denies_both_reasons_reach_the_model(place: Arena, played: Session) -> None:
    assert not place.ran("twice-denied")
    told = heard(played, "touch twice-denied")
    assert "MK_FIRST" in told
    assert "MK_SECOND" in told


@pytest.mark.proves("copilot", "several.deny-and-context")
def test_context_beside_a_deny_reaches_the_model_too(place: Arena, played: Session) -> None:
    assert not place.ran("told-no")
    told = heard(played, "touch told-no")
    assert "MK_NO" in told
    assert "MK_WHY" in told


@pytest.mark.proves("copilot", "several.rewrite-judged-again")
def test_what_a_hook_rewrites_is_judged_again_before_it_runs(place: Arena, played: Session) -> None:
    assert place.ran("other"), "a rewrite that no guard minds does run"
    assert not place.ran("harmless")
    assert not place.ran("harmful")
    assert "MK_HARMFUL" in heard(played, "touch harmless")


# ── after it ran ──


@pytest.mark.proves("copilot", "postToolUse.fires", "postToolUse.output", "secrets.output")
def test_redacted_output_is_what_the_model_sees(played: Session) -> None:
    assert "MK_OPEN" in heard(played, "cat open.txt")
    assert "MK_REDACTED" in heard(played, "cat secret.txt")
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("copilot", "postToolUse.output")
def test_output_of_which_nothing_is_left_never_reaches_the_model(played: Session) -> None:
    assert "MK_OPEN" in heard(played, "cat open.txt")
    assert heard(played, "cat emptied.txt").strip()
    assert "MK_EMPTIED" not in played.sent


@pytest.mark.proves("copilot", "postToolUse.output")
def test_a_file_that_was_read_is_redacted_too(played: Session) -> None:
    assert "MK_OPEN" in heard(played, 'view {"path":"open.txt"}')
    assert "MK_UNREAD" in heard(played, "read.txt")
    assert "MK_READ" not in played.sent


@pytest.mark.proves("copilot", "postToolUse.deny")
def test_output_that_is_denied_never_reaches_the_model(played: Session) -> None:
    assert "MK_OPEN" in played.sent
    assert "MK_NOT_SHOWN" in heard(played, "cat hidden.txt")
    assert "MK_HIDDEN" not in played.sent


@pytest.mark.proves("copilot", "postToolUse.context")
def test_context_after_a_tool_reaches_the_model(played: Session) -> None:
    assert "MK_AFTER" in heard(played, "touch plain")
    assert "MK_AFTER" not in heard(played, 'touch told"')


@pytest.mark.proves("copilot", "postToolUseFailure.fires", "postToolUseFailure.context")
def test_context_about_a_failure_reaches_the_model(played: Session) -> None:
    assert "MK_FAILED" in heard(played, "absent-1.txt")
    assert "MK_FAILED" not in heard(played, "absent-2.txt")


@pytest.mark.proves("copilot", "postToolUseFailure.deny=feedback")
def test_a_deny_of_what_has_failed_stands_beside_the_error(played: Session) -> None:
    told = heard(played, "absent-2.txt")
    assert "does not exist" in told
    assert "MK_BLAMED" in told


# ── tools of an MCP server ──


@pytest.mark.proves("copilot", "mcp.deny")
def test_a_denied_call_of_an_mcp_tool_is_not_made_and_its_twin_is(played: Session) -> None:
    assert "MK_MCP_GOOD" in heard(played, "MK_MCP_GOOD")
    told = heard(played, "MK_MCP_BAD")
    assert "MK_NO_MCP" in told
    assert "MK_MCP_BAD" not in told


@pytest.mark.proves("copilot", "mcp.input")
def test_a_rewritten_call_of_an_mcp_tool_is_the_one_that_is_made(played: Session) -> None:
    told = heard(played, "MK_MCP_NEW")
    assert "MK_MCP_NEW" in told
    assert "MK_MCP_OLD" not in told


@pytest.mark.proves("copilot", "mcp.output")
def test_the_redacted_answer_of_an_mcp_tool_is_what_the_model_sees(played: Session) -> None:
    told = heard(played, "MK_MCP_SECRET")
    assert "MK_MCP_GONE" in told
    assert "MK_MCP_SECRET" not in told


@pytest.mark.proves("copilot", "mcp.fires")
def test_hooks_are_shown_the_mcp_tools_own_name_before_and_after(
    place: Arena, played: Session
) -> None:
    called = [
        (each["native_event"], each["tool"]["mcp"])
        for each in place.witnessed()
        if "mcp" in each["tool"]
    ]
    failing = {"server": "lab", "tool": "fail_text"}
    assert called[-2:] == [("preToolUse", failing), ("postToolUseFailure", failing)]


# ── the session as a whole ──


@pytest.mark.proves("copilot", "daemon.answers")
def test_one_daemon_answered_the_whole_session(place: Arena, played: Session) -> None:
    """The client asks it over its socket; else each event would have had a process of its own."""
    said = json.loads(place.hookline("daemon", "status", "--json").stdout)
    assert said["answered"] > len(SCRIPT.turns)
