"""The latest models call Codex's tools from scripts, and start sub-agents by other names.

What holds for tools that are called one by one has to hold for these.
"""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.codex import Codex
from hookline.lab.ports import Program, Session
from hookline.lab.script import Agent, Edit, Mcp, Shell, Turn, Write
from interop.arena import Arena, config, conversation, rule
from interop.codex.ground import command, guarded, one_by_one
from interop.codex.telling import heard

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST = "pre_tool_use", "post_tool_use"
ECHO = {"mcp": "lab.echo_text"}

HOOKS = config(
    rule("denied", PRE, match=command("touch denied"), deny="MK_DENIED"),
    rule("told", PRE, match=command("touch told"), context="MK_TOLD"),
    rule("other", PRE, match=command("touch original"), rewrite={"input": {"command": "touch other"}}),
    rule("redact", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("no write", PRE, match={"tool": "write", "path": "guarded-new.txt"}, deny="MK_NO_WRITE"),
    rule("no edit", PRE, match={"tool": "edit", "path": "guarded.txt"}, deny="MK_NO_EDIT"),
    rule("no mcp", PRE, match=ECHO, run="if grep -q MK_MCP_BAD; then echo MK_NO_MCP >&2; exit 2; fi"),
    rule("mcp out", POST, match=ECHO, run="if grep -q MK_MCP_SECRET; then echo '{\"rewrite\": {\"output\": \"MK_MCP_GONE\"}}'; fi"),
    rule("no agent", PRE, match={"tool": "agent"}, run="if grep -q MK_TASK_BAD; then echo MK_NO_AGENT >&2; exit 2; fi"),
)  # fmt: skip

FILES = {"edited.txt": "before\n", "guarded.txt": "before\n", "secret.txt": "MK_SECRET\n"}
GOOD, BAD = "MK_TASK_GOOD", "MK_TASK_BAD"

SCRIPT = one_by_one(
    Shell("touch plain"),
    Shell("touch denied"),
    Shell("touch told"),
    Shell("touch original"),
    Shell("cat secret.txt"),
    Write("new.txt", "MK_NEW\n"),
    Write("guarded-new.txt", "MK_NEW\n"),
    Edit("edited.txt", "before", "after"),
    Edit("guarded.txt", "before", "after"),
    Mcp("echo_text", {"text": "MK_MCP_GOOD"}),
    Mcp("echo_text", {"text": "MK_MCP_BAD"}),
    Mcp("echo_text", {"text": "MK_MCP_SECRET"}),
    Agent(BAD, (Turn(do=(Shell("touch bad"),)),)),
    Agent(GOOD, (Turn(do=(Shell("touch helped"),)), Turn(do=(Shell("touch denied"),)))),
)


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    client = Codex(bypass_trust=False, code_mode=True)
    with guarded(codex, config=HOOKS, files=FILES, client=client) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


@pytest.mark.proves("codex", "PreToolUse.deny")
def test_a_command_that_a_script_may_not_run_does_not_run(place: Arena, played: Session) -> None:
    assert place.ran("plain")
    assert not place.ran("denied")
    assert "MK_DENIED" in heard(played, "touch denied")


@pytest.mark.proves("codex", "PreToolUse.context")
def test_context_for_a_command_in_a_script_reaches_the_model(place: Arena, played: Session) -> None:
    assert place.ran("told")
    assert "MK_TOLD" in heard(played, "touch told")


@pytest.mark.proves("codex", "PreToolUse.input")
def test_a_rewritten_command_in_a_script_is_the_one_that_runs(
    place: Arena, played: Session
) -> None:
    assert place.ran("other")
    assert not place.ran("original")


@pytest.mark.proves("codex", "PostToolUse.output", "secrets.output-in-a-script")
def test_the_redacted_output_of_a_command_in_a_script_is_what_the_model_sees(
    played: Session,
) -> None:
    assert "MK_REDACTED" in heard(played, "cat secret.txt")
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("codex", "PreToolUse.deny", "patch.deny-in-a-script")
def test_denied_patches_in_a_script_are_not_made_and_their_twins_are(
    place: Arena, played: Session
) -> None:
    assert place.file("new.txt") == "MK_NEW\n"
    assert not place.ran("guarded-new.txt")
    assert place.file("edited.txt") == "after\n"
    assert place.file("guarded.txt") == "before\n"
    assert "MK_NO_WRITE" in heard(played, "guarded-new.txt")
    assert "MK_NO_EDIT" in heard(played, "Update File: guarded.txt")


@pytest.mark.proves("codex", "mcp.deny-in-a-script", "mcp.output-in-a-script")
def test_mcp_calls_in_a_script_are_denied_and_redacted(played: Session) -> None:
    assert "MK_MCP_GOOD" in heard(played, "MK_MCP_GOOD")
    assert "MK_NO_MCP" in heard(played, "MK_MCP_BAD")
    answer = heard(played, "MK_MCP_SECRET")
    assert "MK_MCP_GONE" in answer
    assert "MK_MCP_SECRET" not in answer


@pytest.mark.proves("codex", "PreToolUse.deny", "subagent.deny-by-its-newer-name")
def test_a_denied_sub_agent_of_the_newer_kind_is_not_started_and_its_twin_is(
    place: Arena, played: Session
) -> None:
    assert conversation(played, GOOD)
    assert place.ran("helped")
    assert not conversation(played, BAD)
    assert not place.ran("bad")
    assert "MK_NO_AGENT" in heard(played, BAD)


@pytest.mark.proves("codex", "subagent.deny-of-its-tools-in-a-script")
def test_what_a_sub_agent_of_the_newer_kind_may_not_run_does_not_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("helped")
    assert not place.ran("denied")
    assert "MK_DENIED" in heard(played, "touch denied", GOOD)


def test_nothing_else_was_changed(played: Session) -> None:
    assert played.exit_code == 0, played.stderr.decode()
    there = {"plain", "told", "other", "new.txt", "edited.txt", "helped"}
    assert set(played.changed) == there
