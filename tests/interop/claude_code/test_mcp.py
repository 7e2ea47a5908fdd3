"""Tools of an MCP server go through hooks in Claude Code like its own."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session
from hookline.lab.script import Mcp, Script, Turn
from interop.arena import Arena, arena, config, rule, witness
from interop.claude_code.telling import heard

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST = "pre_tool_use", "post_tool_use"

HOOKS = config(
    witness(PRE, POST, "post_tool_use_failure"),
    rule("no mcp", PRE, match={"mcp": "lab.echo_text"}, run="grep -q MK_MCP_BAD && { echo MK_NO_MCP >&2; exit 2; } || true"),
    rule("mcp out", POST, match={"mcp": "lab.echo_text"}, run="grep -q MK_MCP_SECRET && echo '{\"rewrite\": {\"output\": \"MK_MCP_GONE\"}}' || true"),
    rule("mcp in", PRE, match={"mcp": "lab.echo_text"}, run="grep -q MK_MCP_OLD && echo '{\"rewrite\": {\"input\": {\"text\": \"MK_MCP_NEW\"}}}' || true"),
)  # fmt: skip

SCRIPT = Script(
    prompt="MK_PROMPT",
    turns=(
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_GOOD"}),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_BAD"}),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_SECRET"}),)),
        Turn(do=(Mcp("echo_text", {"text": "MK_MCP_OLD"}),)),
        Turn(do=(Mcp("fail_text", {"text": "MK_MCP_FAILED"}),)),
    ),
)


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(SCRIPT)


@pytest.mark.proves("claude-code", "mcp.deny")
def test_a_denied_call_of_an_mcp_tool_is_not_made_and_its_twin_is(played: Session) -> None:
    assert "tool_result\ntext\nMK_MCP_GOOD" in heard(played, "MK_MCP_GOOD")
    told = heard(played, "MK_MCP_BAD")
    assert "MK_NO_MCP" in told
    assert "MK_MCP_BAD" not in told


@pytest.mark.proves("claude-code", "mcp.input")
def test_a_rewritten_call_of_an_mcp_tool_is_the_one_that_is_made(played: Session) -> None:
    told = heard(played, "MK_MCP_OLD")
    assert "MK_MCP_NEW" in told
    assert "MK_MCP_OLD" not in told


@pytest.mark.proves("claude-code", "mcp.output")
def test_the_redacted_answer_of_an_mcp_tool_is_what_the_model_sees(played: Session) -> None:
    told = heard(played, "MK_MCP_SECRET")
    assert "MK_MCP_GONE" in told
    assert "MK_MCP_SECRET" not in told


@pytest.mark.proves("claude-code", "mcp.fires")
def test_hooks_are_shown_the_mcp_tools_own_name_before_and_after(
    place: Arena, played: Session
) -> None:
    called = [(each["native_event"], each["tool"]["mcp"]) for each in place.witnessed()]
    failing = {"server": "lab", "tool": "fail_text"}
    assert called[-2:] == [("PreToolUse", failing), ("PostToolUseFailure", failing)]
