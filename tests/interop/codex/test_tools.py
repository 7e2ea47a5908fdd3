"""What hooks say about tools is what Codex does: one session, in which each act has its hook."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.ports import Program, Session
from hookline.lab.script import Edit, Mcp, Native, Shell, Write
from interop.arena import Arena, config, rule, witness
from interop.codex.ground import Spoken, command, guarded, notice, one_by_one, speak
from interop.codex.telling import heard, shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST = "pre_tool_use", "post_tool_use"
ECHO = {"mcp": "lab.echo_text"}

FILES = {
    "open.txt": "MK_OPEN\n",
    "secret.txt": "MK_SECRET\n",
    "hidden.txt": "MK_HIDDEN\n",
    "edited.txt": "before\n",
    "guarded.txt": "before\n",
    "piped.txt": "before\n",
    "guarded-pipe.txt": "before\n",
    "blank.txt": "MK_BLANK\n",
    "doomed.txt": "MK_DOOMED\n",
    "kept.txt": "MK_KEPT\n",
}


def when(word: str, answer: str) -> str:
    """A program that gives this answer to events with the word in them."""
    return f"if grep -q {word}; then echo '{answer}'; fi"


HOOKS = config(
    witness(PRE, POST),
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
    rule("elsewhere", PRE, match=command("touch here"), rewrite={"input": {"workdir": "/"}}),
    rule("better", PRE, match={"tool": "write", "path": "worse.txt"}, run="cat {root}/better.json"),
    rule("env", PRE, match=command("touch with-env"), rewrite={"env": {"MK_NAME": "value"}}),
    rule("people", PRE, match=command("touch noticed"), run=notice("MK_NOTICE")),
    rule("redact", POST, match=command("cat secret.txt"), rewrite={"output": "MK_REDACTED"}),
    rule("erase", POST, match=command("cat blank.txt"), rewrite={"output": ""}),
    rule("hide", POST, match=command("cat hidden.txt"), deny="MK_NOT_SHOWN"),
    rule("after", POST, match=command("touch plain"), context="MK_AFTER"),
    rule("seen", POST, match=command("touch plain"), run=notice("MK_SEEN")),
    rule("failed", POST, match=command("exit 3"), context="MK_FAILED"),
    rule("no write", PRE, match={"tool": "write", "path": "guarded-new.txt"}, deny="MK_NO_WRITE"),
    rule("no edit", PRE, match={"tool": "edit", "path": "guarded.txt"}, deny="MK_NO_EDIT"),
    rule("no delete", PRE, match={"tool": "delete", "path": "kept.txt"}, deny="MK_NO_DELETE"),
    rule("no pipe", PRE, match={"path": "guarded-pipe.txt"}, deny="MK_NO_PIPE"),
    rule("no mcp", PRE, match=ECHO, run=when("MK_MCP_BAD", '{"verdict": "deny", "reason": "MK_NO_MCP"}')),
    rule("mcp in", PRE, match=ECHO, run=when("MK_MCP_OLD", '{"rewrite": {"input": {"text": "MK_MCP_NEW"}}}')),
    rule("mcp out", POST, match=ECHO, run=when("MK_MCP_SECRET", '{"rewrite": {"output": "MK_MCP_GONE"}}')),
)  # fmt: skip

PATCH = "*** Begin Patch\n*** Add File: better.txt\n+MK_BETTER\n*** End Patch\n"
BETTER = {"rewrite": {"input": {"command": PATCH}}}

COMMANDS = (
    "touch plain",
    "touch denied",
    "touch asked",
    "touch twice-denied",
    "touch told",
    "touch told-no",
    "touch original",
    "touch harmless",
    "touch here",
    "touch with-env",
    "touch noticed",
    "cat open.txt",
    "cat secret.txt",
    "cat blank.txt",
    "cat hidden.txt",
    "exit 3",
)


def deletion(path: str) -> Native:
    lines = ("*** Begin Patch", f"*** Delete File: {path}", "*** End Patch", "")
    return Native("apply_patch", {"input": "\n".join(lines)})


def heredoc(path: str) -> Shell:
    """The same patch as a shell command, which is how models did it before there was a tool."""
    lines = ("apply_patch <<'EOF'", "*** Begin Patch", f"*** Update File: {path}", "@@")
    return Shell("\n".join((*lines, "-before", "+after", "*** End Patch", "EOF")))


SCRIPT = one_by_one(
    *map(Shell, COMMANDS),
    Write("new.txt", "MK_NEW\n"),
    Write("guarded-new.txt", "MK_NEW\n"),
    Edit("edited.txt", "before", "after"),
    Edit("guarded.txt", "before", "after"),
    deletion("doomed.txt"),
    deletion("kept.txt"),
    heredoc("piped.txt"),
    heredoc("guarded-pipe.txt"),
    Mcp("echo_text", {"text": "MK_MCP_GOOD"}),
    Mcp("echo_text", {"text": "MK_MCP_BAD"}),
    Mcp("echo_text", {"text": "MK_MCP_SECRET"}),
    Mcp("echo_text", {"text": "MK_MCP_OLD"}),
    Mcp("fail_text", {"text": "MK_MCP_FAILED"}),
    Write("worse.txt", "MK_WORSE\n"),
)


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    with guarded(codex, config=HOOKS, files=FILES) as made:
        Path(made.room.root, "better.json").write_text(json.dumps(BETTER))
        yield made


@pytest.fixture(scope="module")
def spoken(place: Arena) -> Spoken:
    return speak(place, SCRIPT)


@pytest.fixture(scope="module")
def played(spoken: Spoken) -> Session:
    return spoken.session


# ── before a tool runs ──


@pytest.mark.proves("codex", "PreToolUse.fires", "PreToolUse.deny")
def test_a_denied_command_does_not_run_and_its_twin_does(place: Arena, played: Session) -> None:
    assert place.ran("plain")
    assert not place.ran("denied")
    assert "MK_DENIED" in heard(played, "touch denied")


@pytest.mark.proves("codex", "PreToolUse.ask=deny")
def test_what_a_person_has_to_be_asked_is_refused_with_the_question(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("asked")
    assert "MK_ASKED" in heard(played, "touch asked")


@pytest.mark.proves("codex", "PreToolUse.context")
def test_context_reaches_the_model_and_the_command_runs(place: Arena, played: Session) -> None:
    assert place.ran("told")
    assert "MK_TOLD" in heard(played, "touch told")
    assert "MK_TOLD" not in heard(played, "touch plain")


@pytest.mark.proves("codex", "PreToolUse.notice")
def test_a_notice_is_shown_to_the_person_and_not_to_the_model(place: Arena, spoken: Spoken) -> None:
    assert place.ran("noticed")
    assert "MK_NOTICE" in shown(spoken.talk, "preToolUse")
    assert "MK_NOTICE" not in spoken.session.sent


@pytest.mark.proves("codex", "PreToolUse.env=deny")
def test_a_command_that_wants_variables_it_cannot_have_does_not_run(
    place: Arena, played: Session
) -> None:
    assert place.ran("plain")
    assert not place.ran("with-env")
    assert "MK_NAME" in heard(played, "touch with-env")


@pytest.mark.proves("codex", "PreToolUse.input")
def test_a_rewritten_command_is_the_one_that_runs(place: Arena, played: Session) -> None:
    assert place.ran("other")
    assert not place.ran("original")


def test_a_rewrite_of_what_the_client_would_not_change_lets_nothing_run(
    place: Arena, played: Session
) -> None:
    """It drops all but the command, and would have run that where it was."""
    assert place.ran("other")
    assert not place.ran("here")
    assert "workdir" in heard(played, "touch here")


# ── edits, which are patches here ──


@pytest.mark.proves("codex", "PreToolUse.input", "patch.input")
def test_a_rewritten_patch_is_the_one_that_is_made(place: Arena, played: Session) -> None:
    assert place.file("better.txt") == "MK_BETTER\n"
    assert not place.ran("worse.txt")


@pytest.mark.proves("codex", "PreToolUse.deny", "patch.deny-of-a-new-file")
def test_a_denied_new_file_is_not_written_and_its_twin_is(place: Arena, played: Session) -> None:
    assert place.file("new.txt") == "MK_NEW\n"
    assert not place.ran("guarded-new.txt")
    assert "MK_NO_WRITE" in heard(played, "guarded-new.txt")


@pytest.mark.proves("codex", "PreToolUse.deny", "patch.deny-of-an-edit")
def test_a_denied_edit_leaves_the_file_and_its_twin_is_made(place: Arena, played: Session) -> None:
    assert place.file("edited.txt") == "after\n"
    assert place.file("guarded.txt") == "before\n"
    assert "MK_NO_EDIT" in heard(played, "Update File: guarded.txt")


@pytest.mark.proves("codex", "PreToolUse.deny", "patch.deny-of-a-deletion")
def test_a_denied_deletion_keeps_the_file_and_its_twin_is_made(
    place: Arena, played: Session
) -> None:
    assert not place.ran("doomed.txt")
    assert place.file("kept.txt") == "MK_KEPT\n"
    assert "MK_NO_DELETE" in heard(played, "Delete File: kept.txt")


@pytest.mark.proves("codex", "PreToolUse.deny", "patch.deny-of-one-in-a-shell-command")
def test_a_patch_inside_a_shell_command_is_known_by_the_files_it_names(
    place: Arena, played: Session
) -> None:
    assert place.file("piped.txt") == "after\n"
    assert place.file("guarded-pipe.txt") == "before\n"
    assert "MK_NO_PIPE" in heard(played, "Update File: guarded-pipe.txt")


# ── several hooks at once ──


@pytest.mark.proves("codex", "several.denies")
def test_of_two_denies_both_reasons_reach_the_model(place: Arena, played: Session) -> None:
    assert not place.ran("twice-denied")
    answer = heard(played, "touch twice-denied")
    assert "MK_FIRST" in answer
    assert "MK_SECOND" in answer


@pytest.mark.proves("codex", "several.deny-and-context")
def test_context_beside_a_deny_reaches_the_model_too(place: Arena, played: Session) -> None:
    assert not place.ran("told-no")
    answer = heard(played, "touch told-no")
    assert "MK_NO" in answer
    assert "MK_WHY" in answer


@pytest.mark.proves("codex", "several.rewrite-judged-again")
def test_what_a_hook_rewrites_is_judged_again_before_it_runs(place: Arena, played: Session) -> None:
    assert place.ran("other"), "a rewrite that no guard minds does run"
    assert not place.ran("harmless")
    assert not place.ran("harmful")
    assert "MK_HARMFUL" in heard(played, "touch harmless")


# ── after it ran ──


@pytest.mark.proves("codex", "PostToolUse.fires", "PostToolUse.output", "secrets.output")
def test_redacted_output_is_what_the_model_sees(played: Session) -> None:
    assert "MK_OPEN" in heard(played, "cat open.txt")
    assert "MK_REDACTED" in heard(played, "cat secret.txt")
    assert "MK_SECRET" not in played.sent


@pytest.mark.proves("codex", "PostToolUse.output")
def test_output_that_is_redacted_to_nothing_is_gone_too(played: Session) -> None:
    """The client takes no empty reason, so the model is told that there is no output."""
    assert "MK_OPEN" in played.sent
    assert "(no output)" in heard(played, "cat blank.txt")
    assert "MK_BLANK" not in played.sent


@pytest.mark.proves("codex", "PostToolUse.deny")
def test_output_that_is_denied_never_reaches_the_model(played: Session) -> None:
    assert "MK_OPEN" in played.sent
    assert "MK_NOT_SHOWN" in heard(played, "cat hidden.txt")
    assert "MK_HIDDEN" not in played.sent


@pytest.mark.proves("codex", "PostToolUse.context")
def test_context_after_a_tool_reaches_the_model(played: Session) -> None:
    assert "MK_AFTER" in heard(played, "touch plain")
    assert "MK_AFTER" not in heard(played, "touch told")


@pytest.mark.proves("codex", "PostToolUse.context")
def test_a_command_that_fails_fires_the_same_event(played: Session) -> None:
    assert "MK_FAILED" in heard(played, "exit 3")


@pytest.mark.proves("codex", "PostToolUse.notice")
def test_a_notice_after_a_tool_is_shown_to_the_person(spoken: Spoken) -> None:
    assert "MK_SEEN" in shown(spoken.talk, "postToolUse")
    assert "MK_SEEN" not in spoken.session.sent


# ── tools of an MCP server ──


@pytest.mark.proves("codex", "mcp.deny")
def test_a_denied_call_of_an_mcp_tool_is_not_made_and_its_twin_is(played: Session) -> None:
    assert "MK_MCP_GOOD" in heard(played, "MK_MCP_GOOD")
    answer = heard(played, "MK_MCP_BAD")
    assert "MK_NO_MCP" in answer
    assert "MK_MCP_BAD" not in answer


@pytest.mark.proves("codex", "PreToolUse.input", "mcp.input")
def test_a_rewritten_call_of_an_mcp_tool_is_the_one_that_is_made(played: Session) -> None:
    answer = heard(played, "MK_MCP_OLD")
    assert "MK_MCP_NEW" in answer
    assert "MK_MCP_OLD" not in answer


@pytest.mark.proves("codex", "mcp.output")
def test_the_redacted_answer_of_an_mcp_tool_is_what_the_model_sees(played: Session) -> None:
    answer = heard(played, "MK_MCP_SECRET")
    assert "MK_MCP_GONE" in answer
    assert "MK_MCP_SECRET" not in answer


@pytest.mark.proves("codex", "mcp.fires")
def test_hooks_are_shown_the_mcp_tools_own_name_before_it_runs_and_after_it_worked(
    place: Arena, played: Session
) -> None:
    """After one that failed the client fires nothing."""
    # What a hook has rewritten is judged again, so the witness sees that event twice.
    seen = {each["id"]: each for each in place.witnessed() if "mcp" in each["tool"]}
    called = [(each["native_event"], each["tool"]["mcp"]["tool"]) for each in seen.values()]
    assert called == [
        ("PreToolUse", "echo_text"),
        ("PostToolUse", "echo_text"),
        ("PreToolUse", "echo_text"),
        ("PreToolUse", "echo_text"),
        ("PostToolUse", "echo_text"),
        ("PreToolUse", "echo_text"),
        ("PostToolUse", "echo_text"),
        ("PreToolUse", "fail_text"),
    ]


# ── the session as a whole ──


@pytest.mark.proves("codex", "daemon.answers")
def test_one_daemon_answered_the_whole_session(place: Arena, played: Session) -> None:
    """The client asks it over its socket; else each event would have had a process of its own."""
    said = json.loads(place.hookline("daemon", "status", "--json").stdout)
    assert said["answered"] > len(SCRIPT.turns)


def test_the_client_ends_well_and_only_what_was_let_through_is_there(spoken: Spoken) -> None:
    assert spoken.ends == ("completed",)
    assert dict(spoken.session.changed) == {
        "better.txt": "added",
        "doomed.txt": "removed",
        "edited.txt": "changed",
        "new.txt": "added",
        "noticed": "added",
        "other": "added",
        "piped.txt": "changed",
        "plain": "added",
        "told": "added",
    }
