"""Moments that a platform does not tell: their hooks fire, once, and say what can be said."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from hookline import registry
from hookline.app import App
from hookline.doctoring.coverage import cover
from hookline.model.answers import PASS, Announcement, deny
from hookline.model.derivation import DERIVATIONS, find_coverage
from hookline.model.events import EVENTS
from hookline.model.events.base import Budget
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.memory import SessionMemory
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from hookline.store.sessions import SessionMemories

# What each client sends, and which of its events stand for the moments below.
CLIENTS: dict[str, dict[str, str]] = {
    "claude-code": {"prompt": "UserPromptSubmit", "stop": "Stop", "sub": "SubagentStart"},
    "codex": {"prompt": "UserPromptSubmit", "stop": "Stop", "sub": "SubagentStart"},
    "vscode": {"prompt": "UserPromptSubmit", "stop": "Stop", "sub": "SubagentStart"},
    "gemini": {"prompt": "BeforeAgent", "stop": "AfterAgent"},
    "copilot": {"prompt": "UserPromptSubmit", "stop": "Stop", "sub": "SubagentStart"},
    "cursor": {"prompt": "beforeSubmitPrompt", "stop": "stop", "sub": "subagentStart"},
}
LOG = "cat > $(mktemp log.XXXXXX)"


class Session:
    """Events of one session of one client, as the installed line brings them."""

    def __init__(self, directory: Path, hooks: str) -> None:
        self.directory = directory
        (directory / "hookline.yaml").write_text(f"version: 1\nhooks:\n{hooks}", "utf-8")

    def fire(self, dialect: str, native: str, **payload: Any) -> Outcome:
        app = App(
            env={"PATH": os.defpath, "HOME": str(self.directory)},
            cwd=str(self.directory),
            home=str(self.directory / "state"),
            config="hookline.yaml",
            remember=True,
            managed=str(self.directory / "none"),
        )
        key = registry.dialect(dialect).keys  # type: ignore[attr-defined]  # of JSON dialects
        whole = {key.session: "s1", "cwd": str(self.directory), key.event: native, **payload}
        event = registry.dialect(dialect).decode(json.dumps(whole).encode(), native)
        return asyncio.run(judge(event, app))

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(file.read_text("utf-8")) for file in self.directory.glob("log.*")]


def derived(outcome: Outcome) -> list[str]:
    return [run.derived for run in outcome.runs]


@pytest.mark.parametrize("dialect", CLIENTS)
def test_a_turn_begins_with_its_prompt_and_its_context_goes_out_with_it(
    dialect: str, tmp_path: Path
) -> None:
    session = Session(tmp_path, "  - {on: turn_start, context: today}\n")
    outcome = session.fire(dialect, CLIENTS[dialect]["prompt"], prompt="go")
    assert derived(outcome) == ["turn_start"]
    assert outcome.answer.context == ("today",)


def test_where_a_prompt_carries_no_text_the_result_of_a_tool_does(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: turn_start, context: today}\n")
    tool = {"tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_use_id": "t"}
    cursor = registry.dialect("cursor")
    first = session.fire("cursor", "beforeSubmitPrompt", prompt="go")
    assert b"today" not in cursor.encode(first).stdout
    session.fire("cursor", "preToolUse", **tool)
    told = [session.fire("cursor", "postToolUse", **tool, tool_output="x") for _ in range(2)]
    assert [b"today" in cursor.encode(each).stdout for each in told] == [True, False]


def test_the_prompts_reply_carries_the_context_of_its_turn(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: turn_start, context: today}\n")
    outcome = session.fire("claude-code", "UserPromptSubmit", prompt="go")
    reply = json.loads(registry.dialect("claude-code").encode(outcome).stdout)
    assert reply["hookSpecificOutput"]["additionalContext"] == "today"


@pytest.mark.parametrize("dialect", CLIENTS)
def test_a_turn_ends_with_a_stop_that_nothing_holds_back(dialect: str, tmp_path: Path) -> None:
    session = Session(tmp_path, f"  - {{on: turn_end, run: '{LOG}'}}\n")
    session.fire(dialect, CLIENTS[dialect]["stop"])
    (event,) = session.log()
    assert (event["event"], event["derived_from"]) == ("turn_end", "stop")
    assert event["session_id"] == "s1"


def test_no_turn_ends_while_a_hook_keeps_the_agent_going_until_it_may_not(tmp_path: Path) -> None:
    hooks = f"  - {{on: stop, deny: go on}}\n  - {{on: turn_end, run: '{LOG}'}}\n"
    session = Session(tmp_path, hooks + "max_follow_ups: 2\n")
    session.fire("claude-code", "Stop")
    session.fire("claude-code", "Stop", stop_hook_active=True)
    assert session.log() == []
    session.fire("claude-code", "Stop", stop_hook_active=True)
    assert [event["event"] for event in session.log()] == ["turn_end"]


def test_a_prompt_that_is_held_back_begins_no_turn(tmp_path: Path) -> None:
    hooks = "  - {on: user_prompt_submit, deny: no}\n  - {on: turn_start, context: today}\n"
    outcome = Session(tmp_path, hooks).fire("claude-code", "UserPromptSubmit", prompt="go")
    assert outcome.verdict == "deny"
    assert derived(outcome) == [""]


def test_a_sub_agent_begins_an_agent_and_no_turn(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: [agent_start, turn_start], context: who}\n")
    outcome = session.fire("claude-code", "SubagentStart", agent_id="a", agent_type="helper")
    assert derived(outcome) == ["agent_start"]


FAILED = {"tool_name": "Bash", "tool_input": {"command": "false"}}


@pytest.mark.parametrize(
    ("dialect", "native", "payload"),
    [
        ("claude-code", "PostToolUseFailure", {**FAILED, "error": "exit 1"}),
        ("copilot", "PostToolUseFailure", {**FAILED, "error": "exit 1"}),
        ("cursor", "postToolUseFailure", {**FAILED, "error_message": "exit 1"}),
        (
            "kodelet",
            "after_tool_call",
            {**FAILED, "tool_output": {"success": False, "error": "exit 1"}},
        ),
        ("gemini", "AfterTool", {**FAILED, "tool_response": {"error": {"message": "exit 1"}}}),
        (
            "basecoat",
            "PostToolUse",
            {"tool": {"name": "Bash", "success": False, "error": "exit 1"}, "timestamp": "x"},
        ),
    ],
)
class TestAToolThatFailed:
    def test_fires_hooks_for_either_event_once(
        self, dialect: str, native: str, payload: dict[str, Any], tmp_path: Path
    ) -> None:
        hooks = "".join(
            f"  - {{name: {name}, on: {on}, run: '{LOG}'}}\n"
            for name, on in (
                ("done", "post_tool_use"),
                ("failed", "post_tool_use_failure"),
                ("both", "[post_tool_use, post_tool_use_failure]"),
            )
        )
        session = Session(tmp_path, hooks)
        outcome = session.fire(dialect, native, **payload)
        assert sorted(run.hook.name for run in outcome.runs) == ["both", "done", "failed"]
        assert {event["tool"]["ok"] for event in session.log() if "ok" in event["tool"]} <= {False}

    def test_is_an_error_where_the_platform_has_no_event_for_that(
        self, dialect: str, native: str, payload: dict[str, Any], tmp_path: Path
    ) -> None:
        session = Session(tmp_path, f"  - {{on: error, run: '{LOG}'}}\n")
        session.fire(dialect, native, **payload)
        told = [row.event for row in registry.dialect(dialect).support.events.values()]
        assert [event["event"] for event in session.log()] == ["error"] * ("error" not in told)


@pytest.mark.parametrize(
    "use", ["limit-output, with: {max_lines: 3}", "limit-large-tool-results", "compress-output"]
)
def test_builtins_that_shorten_output_leave_that_of_failed_tools_which_nobody_can_replace(
    use: str, tmp_path: Path
) -> None:
    session = Session(tmp_path, f"  - {{on: post_tool_use, use: {use}}}\n")
    outcome = session.fire("claude-code", "PostToolUseFailure", **FAILED, error="x\n" * 40_000)
    assert len(outcome.runs) == 1
    assert not outcome.answer.rewrite
    assert not outcome.answer.notice


def test_what_a_hook_hides_of_a_failed_call_is_hidden_under_the_event_that_came(
    tmp_path: Path,
) -> None:
    session = Session(tmp_path, "  - {on: post_tool_use_failure, deny: hidden}\n")
    failed = {"name": "Bash", "success": False, "error": "exit 1"}
    outcome = session.fire("basecoat", "PostToolUse", tool=failed, timestamp="x")
    assert (outcome.verdict, outcome.reason) == ("deny", "hidden")


@pytest.mark.parametrize("dialect", CLIENTS)
def test_a_hook_that_fails_is_an_error_and_one_that_fails_on_that_is_none(
    dialect: str, tmp_path: Path
) -> None:
    hooks = "  - {name: broken, on: stop, run: exit 3}\n"
    hooks += f"  - {{on: error, run: '{LOG}; exit 4'}}\n"
    session = Session(tmp_path, hooks)
    session.fire(dialect, CLIENTS[dialect]["stop"])
    (event,) = session.log()
    assert event["where"] == "broken"
    assert "failed" in event["message"]


def test_a_compaction_is_over_with_the_next_event_that_can_carry_text(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: post_compact, context: remember}\n")
    assert derived(session.fire("gemini", "PreCompress", trigger="auto")) == []
    assert derived(session.fire("gemini", "Notification", message="m")) == []
    outcome = session.fire("gemini", "BeforeAgent", prompt="go")
    assert outcome.answer.context == ("remember",)
    assert derived(session.fire("gemini", "BeforeAgent", prompt="go")) == []


@pytest.mark.parametrize(
    ("dialect", "native", "next_one"),
    [
        ("vscode", "PreCompact", ("UserPromptSubmit", {"prompt": "go"})),
        ("copilot", "PreCompact", ("UserPromptSubmit", {"prompt": "go"})),
        ("gemini", "PreCompress", ("BeforeAgent", {"prompt": "go"})),
    ],
)
def test_what_a_client_does_in_spite_of_a_deny_is_followed_by_its_moments(
    dialect: str, native: str, next_one: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    hooks = "  - {on: pre_compact, deny: not now}\n  - {on: post_compact, context: remember}\n"
    session = Session(tmp_path, hooks)
    session.fire(dialect, native, trigger="auto")
    name, payload = next_one
    assert derived(session.fire(dialect, name, **payload)) == ["post_compact"]


def test_a_sub_agent_that_begins_in_spite_of_a_deny_has_begun(tmp_path: Path) -> None:
    hooks = "  - {on: subagent_start, deny: no}\n  - {on: agent_start, context: x}\n"
    session = Session(tmp_path, hooks)
    outcome = session.fire("claude-code", "SubagentStart", agent_id="a", agent_type="helper")
    assert derived(outcome) == ["", "agent_start"]


def test_a_session_without_an_event_of_its_own_starts_with_its_first_prompt(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: session_start, run: 'true'}\n")
    first, second = (
        session.fire("kodelet", "user_message_send", message="go", invoked_by="main")
        for _ in range(2)
    )
    assert (derived(first), derived(second)) == (["session_start"], [])


def test_a_session_that_starts_again_is_resumed(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: session_resume, context: again}\n")
    assert derived(session.fire("claude-code", "SessionStart", source="startup")) == []
    assert derived(session.fire("claude-code", "SessionStart", source="resume")) == [
        "session_resume"
    ]


@pytest.mark.parametrize("dialect", sorted(set(registry.dialect_names()) - {"canonical"}))
@pytest.mark.parametrize("name", [each.event for each in DERIVATIONS])
def test_nothing_is_derived_that_the_platform_tells_itself(name: str, dialect: str) -> None:
    support = registry.dialect(dialect).support
    native = [row.native for row in support.events.values() if row.event == name]
    coverage = find_coverage(name, support)
    assert (coverage.how == "native") == bool(native)
    assert name in EVENTS


class Meter:
    """A builtin of another package: it finds a loop in every call, and a budget used up."""

    EVENTS = ("pre_tool_use", "stop", "user_prompt_submit")
    PRIORITY = 20
    GUARD = True
    FIRES = ("loop_detected", "budget_exceeded")

    class Options(Struct):
        blocks: bool = False

    @staticmethod
    def make(options: Any) -> Any:
        found = {"loop_detected": {}, "budget_exceeded": {"budget": Budget(used_tokens=7)}}
        return lambda event, caller: Announcement(deny("no") if options.blocks else PASS, found)


@pytest.fixture
def meter(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = registry.builtin

    def find(name: str) -> Any:
        return Meter if name == "meter" else bundled(name)

    monkeypatch.setattr(registry, "builtin", find)


@pytest.mark.usefixtures("meter")
class TestAMomentThatABuiltinFinds:
    HOOKS = f"  - {{use: meter}}\n  - {{on: budget_exceeded, run: '{LOG}'}}\n"

    @pytest.mark.parametrize("dialect", CLIENTS)
    def test_runs_the_hooks_on_it_once_beside_the_event_that_was_judged(
        self, dialect: str, tmp_path: Path
    ) -> None:
        session = Session(tmp_path, self.HOOKS)
        session.fire(dialect, CLIENTS[dialect]["prompt"], prompt="go")
        (event,) = session.log()
        assert (event["event"], event["derived_from"]) == ("budget_exceeded", "user_prompt_submit")
        assert (event["budget"]["used_tokens"], event["session_id"]) == (7, "s1")

    def test_is_told_also_where_the_builtin_denies(self, tmp_path: Path) -> None:
        session = Session(tmp_path, self.HOOKS.replace("meter}", "meter, with: {blocks: true}}"))
        outcome = session.fire("claude-code", "PreToolUse", **FAILED, tool_use_id="t")
        assert (outcome.verdict, len(session.log())) == ("deny", 1)

    def test_is_not_fired_where_the_platform_tells_it(self, tmp_path: Path) -> None:
        session = Session(tmp_path, self.HOOKS)
        session.fire("basecoat", "UserPromptSubmitted", prompt="go", timestamp="x")
        assert session.log() == []

    def test_can_deny_what_the_event_can_deny(self, tmp_path: Path) -> None:
        session = Session(tmp_path, "  - {use: meter}\n  - {on: budget_exceeded, deny: spent}\n")
        outcome = session.fire("claude-code", "PreToolUse", **FAILED, tool_use_id="t")
        assert (outcome.verdict, outcome.reason) == ("deny", "spent")

    def test_keeps_no_agent_going_by_its_deny(self, tmp_path: Path) -> None:
        session = Session(tmp_path, "  - {use: meter}\n  - {on: budget_exceeded, deny: spent}\n")
        answer = session.fire("claude-code", "Stop").answer
        assert (answer.verdict, answer.follow_up, answer.notice) == ("pass", (), ("spent",))

    def test_is_not_fired_by_one_that_only_observes(self, tmp_path: Path) -> None:
        session = Session(tmp_path, self.HOOKS.replace("meter}", "meter, mode: observe}"))
        session.fire("claude-code", "Stop")
        assert session.log() == []


def test_a_turn_goes_on_with_what_a_hook_wants_done_next(tmp_path: Path) -> None:
    hooks = "  - {on: stop, deny: go on}\n"
    hooks += f"  - {{on: [turn_start, agent_start], run: '{LOG}'}}\n"
    session = Session(tmp_path, hooks)
    session.fire("gemini", "BeforeAgent", prompt="hello")
    session.fire("gemini", "AfterAgent")
    session.fire("gemini", "BeforeAgent", prompt="go on")
    assert len(session.log()) == 1


def test_a_hook_that_fails_as_a_turn_ends_is_an_error(tmp_path: Path) -> None:
    hooks = f"  - {{name: broken, on: turn_end, run: exit 3}}\n  - {{on: error, run: '{LOG}'}}\n"
    session = Session(tmp_path, hooks)
    session.fire("claude-code", "Stop")
    assert [event["where"] for event in session.log()] == ["broken"]


def test_a_hook_for_an_event_and_for_errors_hears_that_another_failed(tmp_path: Path) -> None:
    hooks = "  - {name: broken, on: [stop, error], run: exit 3}\n"
    hooks += f"  - {{on: [stop, error], run: '{LOG}'}}\n"
    session = Session(tmp_path, hooks)
    session.fire("claude-code", "Stop")
    assert sorted(event["event"] for event in session.log()) == ["error", "stop"]


def test_a_session_taken_to_be_over_is_resumed_also_by_its_start(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: session_resume, context: again}\n")
    memories = SessionMemories(str(tmp_path / "state"))
    memories.write("vscode:s1", SessionMemory(), SessionMemory(over=True))
    assert derived(session.fire("vscode", "SessionStart", source="new")) == ["session_resume"]
    assert derived(session.fire("vscode", "UserPromptSubmit", prompt="go")) == []


def test_a_hosted_hook_for_what_succeeds_does_not_run_for_what_failed(tmp_path: Path) -> None:
    session = Session(tmp_path, "  - {on: stop, deny: x}\ninclude: [.claude]\n")
    names = ("PostToolUse", "PostToolUseFailure")
    hooks = {name: [{"hooks": [{"type": "command", "command": LOG}]}] for name in names}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}), "utf-8")
    session.fire("gemini", "AfterTool", **FAILED, tool_response={"error": {"message": "e"}})
    assert [each["hook_event_name"] for each in session.log()] == ["PostToolUseFailure"]


def test_coverage_knows_which_builtins_announce_what(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = {
        (event, name)
        for name in registry.builtin_names()
        for event in getattr(registry.builtin(name), "FIRES", ())
    }
    assert bundled == {(each.event, name) for each in DERIVATIONS for name in each.found_by}
    hook = Hook(name="h", events=("loop_detected",), handler=HandlerSpec("command", {"run": "x"}))
    monkeypatch.setattr(registry, "list_announcers", lambda: {"loop_detected": ("meter",)})
    found = cover(hook, "codex").events["loop_detected"]
    assert (found.how, found.why.endswith("meter finds it")) == ("derived", True)
