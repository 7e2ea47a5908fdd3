"""What hooks say about tools is what Gemini CLI does: one session, in which each act has its hook."""

import json
from collections.abc import Iterator

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Edit, Mcp, Read, Script, Shell, Turn, Write
from interop.arena import Arena, arena, config, rule, witness
from interop.gemini.hooks import command, notice, saying, when
from interop.gemini.telling import heard, shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST = "pre_tool_use", "post_tool_use"

FILES = {
    "open.txt": "MK_OPEN\n",
    "secret.txt": "MK_SECRET\n",
    "hidden.txt": "MK_HIDDEN\n",
    "read.txt": "MK_READ\n",
    "edited.txt": "before\n",
    "guarded.txt": "before\n",
    "changed.txt": "before\n",
}


HOOKS = config(
    witness(PRE, POST),
    rule("denied", PRE, match=command("touch denied"), deny="MK_DENIED"),
    rule("may", PRE, match=command("touch allowed"), allow=True),
    rule("first", PRE, match=command("touch twice-denied"), deny="MK_FIRST"),
    rule("second", PRE, match=command("touch twice-denied"), deny="MK_SECOND"),
    rule("may after all", PRE, match=command("touch both"), allow=True),
    rule("may not", PRE, match=command("touch both"), deny="MK_MAY_NOT"),
    rule("told", PRE, match=command("touch told"), context="MK_TOLD"),
    rule("no", PRE, match=command("touch told-no"), deny="MK_NO"),
    rule("and why", PRE, match=command("touch told-no"), context="MK_WHY"),
    rule("other", PRE, match=command("touch original"), rewrite={"input": {"command": "touch other"}}),
    rule("worse", PRE, match=command("touch harmless"), rewrite={"input": {"command": "touch harmful"}}),
    rule("not that", PRE, match=command("touch harmful"), deny="MK_HARMFUL"),
    rule("less", PRE, match=command("touch less"), rewrite={"input": {"description": None}}),
    rule("env", PRE, match=command("touch with-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("people", PRE, match=command("touch noticed"), run=notice("MK_NOTICE")),
    rule("redact", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("hide", POST, match=command("cat hidden.txt"), deny="MK_NOT_SHOWN"),
    rule("after", POST, match=command("touch plain"), context="MK_AFTER"),
    rule("unread", POST, match={"tool": "read", "path": "read.txt"}, rewrite={"output": "MK_UNREAD"}),
    rule("seen", POST, match=command("touch plain"), run=notice("MK_SEEN")),
    rule("missing", POST, match={"tool": "read", "path": "missing.txt"}, context="MK_MISSING"),
    rule("no write", PRE, match={"tool": "write", "path": "guarded-new.txt"}, deny="MK_NO_WRITE"),
    rule("no edit", PRE, match={"tool": "edit", "path": "guarded.txt"}, deny="MK_NO_EDIT"),
    rule("other text", PRE, match={"tool": "write", "path": "rewritten.txt"}, rewrite={"input": {"content": "MK_BETTER\n"}}),
    rule("other edit", PRE, match={"tool": "edit", "path": "changed.txt"}, rewrite={"input": {"new": "MK_BEST"}}),
    rule("no mcp", PRE, match={"mcp": "lab.echo_text"}, run=when("MK_MCP_BAD", "echo MK_NO_MCP >&2; exit 2")),
    rule("mcp out", POST, match={"mcp": "lab.echo_text"}, run=when("MK_MCP_SECRET", saying(rewrite={"output": "MK_MCP_GONE"}))),
    rule("mcp error", POST, match={"mcp": "lab.fail_text"}, rewrite={"output": "MK_MCP_HUSHED"}),
    rule("mcp in", PRE, match={"mcp": "lab.echo_text"}, run=when("MK_MCP_OLD", saying(rewrite={"input": {"text": "MK_MCP_NEW"}}))),
)  # fmt: skip

COMMANDS = (
    "touch plain",
    "touch denied",
    "touch allowed",
    "touch twice-denied",
    "touch both",
    "touch told",
    "touch told-no",
    "touch original",
    "touch harmless",
    "touch less",
    "touch with-env",
    "touch noticed",
    "cat open.txt",
    "cat secret.txt",
    "cat hidden.txt",
)

SCRIPT = Script(
    prompt="MK_PROMPT",
    turns=(
        *(Turn(do=(Shell(each),)) for each in COMMANDS),
        Turn(do=(Read("open.txt"),)),
        Turn(do=(Read("read.txt"),)),
        Turn(do=(Read("missing.txt"),)),
        Turn(do=(Write("new.txt", "MK_NEW\n"),)),
        Turn(do=(Write("guarded-new.txt", "MK_NEW\n"),)),
        Turn(do=(Write("rewritten.txt", "MK_WORSE\n"),)),
        Turn(do=(Edit("edited.txt", "before", "after"),)),
        Turn(do=(Edit("guarded.txt", "before", "after"),)),
        Turn(do=(Edit("changed.txt", "before", "after"),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_GOOD"}),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_BAD"}),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_SECRET"}),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_OLD"}),)),
        Turn(do=(Mcp("fail_text", {"text": "MK_MCP_FAILED"}),)),
    ),
)


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS, files=FILES) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


# ── before a tool runs ──


@pytest.mark.proves("gemini", "BeforeTool.fires", "BeforeTool.deny")
def test_a_denied_command_does_not_run_and_its_twin_does(place: Arena, played: Session) -> None:
    assert place.ran("plain")
    assert not place.ran("denied")
    assert "MK_DENIED" in heard(played, "touch denied")


@pytest.mark.proves("gemini", "BeforeTool.input")
def test_a_rewritten_command_is_the_one_that_runs(place: Arena, played: Session) -> None:
    assert place.ran("other")
    assert not place.ran("original")


@pytest.mark.proves("gemini", "BeforeTool.input")
def test_a_rewritten_file_has_the_other_content(place: Arena, played: Session) -> None:
    assert place.file("new.txt") == "MK_NEW\n"
    assert place.file("rewritten.txt") == "MK_BETTER\n"


@pytest.mark.proves("gemini", "BeforeTool.input", "patch.input")
def test_a_rewritten_edit_is_the_one_that_is_made(place: Arena, played: Session) -> None:
    assert place.file("edited.txt") == "after\n"
    assert place.file("changed.txt") == "MK_BEST\n"


@pytest.mark.proves("gemini", "limits.input-without-a-key")
def test_an_input_that_cannot_be_made_shorter_does_not_run_as_it_was(
    place: Arena, played: Session
) -> None:
    """The client lays a new input over the old one, so nothing can be taken out of it."""
    assert place.ran("other"), "a rewrite that it can take is taken"
    assert not place.ran("less")
    assert '{"command":"touch less"}' in heard(played, "touch less")


@pytest.mark.proves("gemini", "BeforeTool.context=notice")
def test_context_before_a_tool_is_shown_to_the_person_and_not_to_the_model(
    place: Arena, played: Session
) -> None:
    assert place.ran("told")
    assert "MK_TOLD" in shown(played)
    assert "MK_TOLD" not in played.sent


@pytest.mark.proves("gemini", "BeforeTool.notice")
def test_a_notice_is_shown_to_the_person_and_not_to_the_model(
    place: Arena, played: Session
) -> None:
    assert place.ran("noticed")
    assert "MK_NOTICE" in shown(played)
    assert "MK_NOTICE" not in played.sent


@pytest.mark.proves("gemini", "BeforeTool.env=deny")
def test_a_command_that_wants_variables_it_cannot_have_does_not_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("with-env")
    assert "MK_NAME" in heard(played, "touch with-env")


@pytest.mark.proves("gemini", "BeforeTool.deny")
def test_a_denied_file_is_not_written_and_its_twin_is(place: Arena, played: Session) -> None:
    assert place.ran("new.txt")
    assert not place.ran("guarded-new.txt")
    assert "MK_NO_WRITE" in heard(played, "guarded-new.txt")


@pytest.mark.proves("gemini", "BeforeTool.deny", "patch.deny")
def test_a_denied_edit_leaves_the_file_and_its_twin_is_made(place: Arena, played: Session) -> None:
    assert place.file("edited.txt") == "after\n"
    assert place.file("guarded.txt") == "before\n"
    assert "MK_NO_EDIT" in heard(played, "guarded.txt")


# ── several hooks at once ──


@pytest.mark.proves("gemini", "several.denies")
def test_of_two_denies_both_reasons_reach_the_model(place: Arena, played: Session) -> None:
    assert not place.ran("twice-denied")
    told = heard(played, "touch twice-denied")
    assert "MK_FIRST" in told
    assert "MK_SECOND" in told


@pytest.mark.proves("gemini", "several.allow-and-deny")
def test_an_allow_does_not_lift_another_hooks_deny(place: Arena, played: Session) -> None:
    assert place.ran("allowed")
    assert not place.ran("both")
    assert "MK_MAY_NOT" in heard(played, "touch both")


@pytest.mark.proves("gemini", "several.deny-and-context")
def test_context_beside_a_deny_is_shown_to_the_person(place: Arena, played: Session) -> None:
    assert not place.ran("told-no")
    assert "MK_NO" in heard(played, "touch told-no")
    assert "MK_WHY" in shown(played)


@pytest.mark.proves("gemini", "several.rewrite-judged-again")
def test_what_a_hook_rewrites_is_judged_again_before_it_runs(place: Arena, played: Session) -> None:
    assert place.ran("other"), "a rewrite that no guard minds does run"
    assert not place.ran("harmless")
    assert not place.ran("harmful")
    assert "MK_HARMFUL" in heard(played, "touch harmless")


# ── after it ran ──


@pytest.mark.proves("gemini", "AfterTool.fires", "AfterTool.output=deny", "secrets.output")
def test_redacted_output_is_what_the_model_sees(played: Session) -> None:
    assert "MK_OPEN" in heard(played, "cat open.txt")
    assert "MK_REDACTED" in heard(played, "cat secret.txt")
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("gemini", "AfterTool.output=deny")
def test_a_file_that_was_read_is_redacted_too(played: Session) -> None:
    assert "MK_OPEN" in heard(played, 'read_file {"file_path": "open.txt"')
    assert "MK_UNREAD" in heard(played, 'read_file {"file_path": "read.txt"')
    assert "MK_READ" not in played.sent


@pytest.mark.proves("gemini", "AfterTool.deny")
def test_output_that_is_denied_never_reaches_the_model(played: Session) -> None:
    assert "MK_OPEN" in played.sent
    assert "MK_NOT_SHOWN" in heard(played, "cat hidden.txt")
    assert "MK_HIDDEN" not in played.sent


@pytest.mark.proves("gemini", "AfterTool.context")
def test_context_after_a_tool_reaches_the_model_beside_its_result(played: Session) -> None:
    assert "MK_AFTER" in heard(played, "touch plain")
    assert "MK_AFTER" not in heard(played, "touch allowed")


@pytest.mark.proves("gemini", "AfterTool.context")
def test_context_about_a_failure_reaches_the_model_beside_the_error(
    place: Arena, played: Session
) -> None:
    told = heard(played, "missing.txt")
    assert "not found" in told.lower()
    assert "MK_MISSING" in told
    failed = {each["tool"]["name"] for each in place.witnessed() if each["tool"].get("ok") is False}
    assert failed == {"read_file", "mcp_lab_fail_text"}


@pytest.mark.proves("gemini", "AfterTool.notice")
def test_a_notice_after_a_tool_is_shown_to_the_person(played: Session) -> None:
    assert "MK_SEEN" in shown(played)
    assert "MK_SEEN" not in played.sent


# ── tools of an MCP server ──


@pytest.mark.proves("gemini", "mcp.deny")
def test_a_denied_call_of_an_mcp_tool_is_not_made_and_its_twin_is(played: Session) -> None:
    assert "MK_MCP_GOOD" in heard(played, "MK_MCP_GOOD")
    told = heard(played, "MK_MCP_BAD")
    assert "MK_NO_MCP" in told
    assert "MK_MCP_BAD" not in told


@pytest.mark.proves("gemini", "mcp.input")
def test_a_rewritten_call_of_an_mcp_tool_is_the_one_that_is_made(played: Session) -> None:
    told = heard(played, "MK_MCP_OLD")
    assert "MK_MCP_NEW" in told
    assert "MK_MCP_OLD" not in told


@pytest.mark.proves("gemini", "mcp.output")
def test_the_redacted_answer_of_an_mcp_tool_is_what_the_model_sees(played: Session) -> None:
    told = heard(played, "MK_MCP_SECRET")
    assert "MK_MCP_GONE" in told
    assert "MK_MCP_SECRET" not in told


@pytest.mark.proves("gemini", "mcp.output", "AfterTool.output=deny")
def test_the_redacted_error_of_an_mcp_tool_is_what_the_model_sees(played: Session) -> None:
    told = heard(played, "MK_MCP_FAILED")
    assert "MK_MCP_HUSHED" in told
    assert "MK_MCP_FAILED" not in told


@pytest.mark.proves("gemini", "mcp.fires")
def test_hooks_are_shown_the_mcp_tools_own_name_before_and_after(
    place: Arena, played: Session
) -> None:
    called = [
        (each["native_event"], each["tool"]["mcp"])
        for each in place.witnessed()
        if "mcp" in each["tool"]
    ]
    failing = {"server": "lab", "tool": "fail_text"}
    seen = [native for native, tool in called if tool == failing]
    # What a hook put in the place of an output is judged again, so that one may be seen twice.
    assert list(dict.fromkeys(seen)) == ["BeforeTool", "AfterTool"]


# ── the session as a whole ──


@pytest.mark.proves("gemini", "daemon.answers")
def test_one_daemon_answered_the_whole_session(place: Arena, played: Session) -> None:
    """The client asks it over its socket; else each event would have had a process of its own."""
    said = json.loads(place.hookline("daemon", "status", "--json").stdout)
    assert said["answered"] > len(SCRIPT.turns)


def test_the_client_ends_well_and_only_what_was_let_through_is_there(played: Session) -> None:
    assert played.exit_code == 0, played.stderr.decode()
    assert set(played.changed) == {
        "allowed",
        "changed.txt",
        "edited.txt",
        "new.txt",
        "noticed",
        "other",
        "plain",
        "rewritten.txt",
        "told",
    }
