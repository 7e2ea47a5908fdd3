"""Who is calling: by the payload first, then by variables, and the command line is a hint."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.model.answers import Answer, Rewrite, ask, deny, halt
from hookline.model.events import PreToolUse, Stop
from hookline.model.outcome import Outcome
from hookline.model.tools import ToolKind
from hookline.pipeline.joint_client import JointClient
from hookline.pipeline.recognition import Callers, Fit, recognise, shape

DIALECTS = Path(registry.__file__).parent / "dialects"
CAPTURES = sorted(DIALECTS.glob("*/captures/*.json"))
NATIVE = [name for name in registry.dialect_names() if name != "canonical"]
# One runtime, two agents: their payloads are the same.
COPILOT = {"copilot", "copilot-cloud"}
PROMPT: dict[str, Any] = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s1",
    "timestamp": "2026-11-15T18:49:30.511Z",
    "cwd": "/srv/app",
    "prompt": "go",
}
VSCODE: dict[str, Any] = {
    "timestamp": "2026-02-09T10:30:00.000Z",
    "hook_event_name": "PreToolUse",
    "session_id": "s1",
    "cwd": "/srv/app",
    "tool_name": "run_in_terminal",
    "tool_input": {"command": "rm x", "explanation": "tidy", "isBackground": False},
    "tool_use_id": "t1",
}

STARTED: dict[str, Any] = {
    "hook_event_name": "SubagentStart",
    "session_id": "s",
    "cwd": "/",
    "agent_id": "a",
    "agent_type": "t",
    "transcript_path": "/elsewhere",
}


def raw(data: Any) -> bytes:
    return json.dumps(data).encode()


def ids(named: str | None, data: Any, **env: str) -> tuple[str, ...]:
    return recognise(named, None, raw(data), env).ids


class TestAgain:
    """A payload with the keys of an earlier one is judged by what it holds all the same."""

    @pytest.mark.parametrize("order", [1, -1], ids=["weakest first", "surest first"])
    def test_values_count_however_often_the_keys_came(self, order: int) -> None:
        form = shape("claude-code")
        assert form is not None
        expected = {
            "/elsewhere": Fit.POSSIBLE,
            "/h/.claude/projects/p": Fit.SURE,
        }
        for path, fit in [*expected.items()][::order] * 2:
            assert form.judge(STARTED | {"transcript_path": path}, None).fit is fit
        lacking = form.judge(STARTED | {"transcript_path": 3}, None)
        assert (lacking.fit, lacking.lacks) == (Fit.LACKING, 1)

    @pytest.mark.parametrize("name", [["x"], {"x": 1}, 3, True])
    def test_a_name_that_is_no_text_names_no_event(self, name: object) -> None:
        form = shape("claude-code")
        assert form is not None
        for _ in range(2):
            judged = form.judge(STARTED | {"hook_event_name": name}, "SubagentStart")
            assert judged.fit is Fit.POSSIBLE

    def test_any_number_of_other_keys_changes_nothing(self) -> None:
        form = shape("claude-code")
        assert form is not None
        for number in range(300):
            assert form.judge(STARTED | {f"key {number}": 1}, None).fit is Fit.POSSIBLE
            assert form.judge(STARTED | {"turn_id": 1, f"k{number}": 1}, None).fit is Fit.FOREIGN
        assert form.judge(STARTED | {"k" * 5_000: 1}, None).fit is Fit.POSSIBLE


class TestCaptures:
    @pytest.mark.parametrize("path", CAPTURES, ids=lambda path: f"{path.parts[-3]}-{path.stem}")
    @pytest.mark.parametrize("told", [True, False], ids=["event told", "event not told"])
    def test_each_is_its_own_clients_whoever_is_named(self, path: Path, told: bool) -> None:
        recorded = json.loads(path.read_text(encoding="utf-8"))
        own = path.parts[-3].replace("_", "-")
        payload = raw(recorded["payload"])
        for named in (None, *NATIVE):
            found = recognise(named, recorded["event"] if told else None, payload, {}).ids
            assert own in found or (own in COPILOT and COPILOT & set(found)), (named, found)
            # Only a prompt of Copilot's has nothing in it that VS Code would not send.
            assert set(found) <= {own} | COPILOT | {"vscode"}

    @pytest.mark.parametrize("name", NATIVE)
    def test_every_event_of_a_dialect_has_a_shape(self, name: str) -> None:
        known = shape(name)
        assert known is not None
        events = {event for form in known.forms for event in form.events}
        assert set(registry.dialect(name).support.events) <= events

    def test_both_of_githubs_agents_have_one_shape(self) -> None:
        one, other = shape("copilot"), shape("copilot-cloud")
        assert one is not None
        assert other is not None
        assert one.forms == other.forms
        assert not set(one.variables) & set(other.variables)


class TestPayload:
    def test_claude_codes_own_payload_is_known_without_asking_others(self) -> None:
        data = VSCODE | {"transcript_path": "/t", "permission_mode": "default"}
        del data["timestamp"]
        assert recognise("claude-code", None, raw(data), {}) == Callers(
            named="claude-code", ids=("claude-code",)
        )

    def test_what_the_client_named_never_sends_rules_it_out_and_is_recorded(self) -> None:
        found = recognise("claude-code", "PreToolUse", raw(VSCODE), {})
        assert found.ids == ("vscode",)
        [note] = found.notes()
        assert (note.was, note.now) == ("dialect claude-code", "dialect vscode")
        assert note.why == "the payload is not Claude Code's: it never sends `timestamp`"

    def test_nobody_named_is_recorded_too(self) -> None:
        [note] = recognise(None, None, raw(VSCODE), {}).notes()
        assert (note.was, note.now) == ("no dialect", "dialect vscode")

    def test_who_is_named_and_calls_is_no_news(self) -> None:
        assert recognise("vscode", None, raw(VSCODE), {}).notes() == ()

    def test_two_that_could_have_sent_it_remain_the_one_named_first(self) -> None:
        assert ids("vscode", PROMPT) == ("vscode", "copilot", "copilot-cloud")
        assert ids("copilot", PROMPT) == ("copilot", "copilot-cloud", "vscode")

    def test_an_event_that_nobody_knew_yet_is_still_the_clients_that_spells_it_so(self) -> None:
        data = {"hook_event_name": "Brandnew", "session_id": "s", "cwd": "/", "prompt_id": "p"}
        data["transcript_path"] = "/home/dev/.claude/projects/x.jsonl"
        assert ids("claude-code", data) == ("claude-code",)
        assert "claude-code" in ids(None, data)

    def test_a_payload_without_most_keys_stays_with_the_client_named(self) -> None:
        data = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {}}
        assert ids("claude-code", data)[0] == "claude-code"
        assert ids("codex", data)[0] == "codex"

    def test_a_client_that_added_a_key_is_still_the_one_whose_file_this_is(self) -> None:
        data = PROMPT | {"hook_event_name": "BeforeTool", "transcript_path": "/t"}
        data |= {"tool_name": "run_shell_command", "tool_input": {}, "tool_use_id": "new"}
        found = recognise("gemini", "BeforeTool", raw(data), {})
        assert found.ids[0] == "gemini"
        assert pair(*found.ids, named="gemini").decode(raw(data), "BeforeTool").dialect == "gemini"

    def test_the_client_named_reads_the_reply_whoever_is_recognised(self) -> None:
        found = recognise("claude-code", "PreToolUse", raw(VSCODE), {})
        assert (found.ids, found.readers) == (("vscode",), ("vscode", "claude-code"))
        assert recognise("vscode", "PreToolUse", raw(VSCODE), {}).readers == ("vscode",)

    def test_what_contradicts_everybody_is_the_clients_named_or_nobodys(self) -> None:
        data = {"hook_event_name": 5, "cursor_version": "1", "sessionId": "s", "turn_id": "t"}
        data |= {"timestamp": [], "hook": 1, "prompt_id": "p", "conv_id": "c"}
        assert ids("claude-code", data) == ("claude-code",)
        assert ids(None, data) == ()

    def test_a_byte_order_mark_hides_nobody(self) -> None:
        cursor = {"cursor_version": "1", "workspace_roots": ["/"], "hook_event_name": "stop"}
        found = recognise("claude-code", "Stop", b"\xef\xbb\xbf" + raw(cursor), {})
        assert found.ids == ("cursor",)

    def test_a_dialect_without_a_shape_is_believed(self) -> None:
        assert ids("canonical", VSCODE) == ("canonical",)

    def test_the_best_form_of_several_counts(self) -> None:
        known = shape("vscode")
        assert known is not None
        old = {"hookEventName": "Stop", "sessionId": "s", "timestamp": "2026-01-01T00:00:00Z"}
        assert known.judge(old, None).fit is Fit.SURE


class TestVariables:
    def test_they_never_beat_the_payload(self) -> None:
        inherited = {"CLAUDECODE": "1", "COPILOT_CLI": "1", "CURSOR_VERSION": "1"}
        assert ids("claude-code", VSCODE, **inherited) == ("vscode",)

    def test_one_that_is_there_rules_out_who_would_have_set_another(self) -> None:
        assert ids(None, PROMPT, COPILOT_CLI="1") == ("copilot", "vscode")
        assert ids(None, PROMPT, COPILOT_AGENT_PROMPT="x") == ("copilot-cloud", "vscode")

    def test_none_at_all_rules_out_nobody(self) -> None:
        assert ids(None, PROMPT) == ("copilot", "copilot-cloud", "vscode")

    def test_the_one_named_stays(self) -> None:
        assert ids("copilot-cloud", PROMPT, COPILOT_CLI="1")[0] == "copilot-cloud"

    @pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"\xff", b"[" * 100_000])
    def test_they_tell_who_called_when_the_payload_cannot(self, payload: bytes) -> None:
        assert recognise("claude-code", None, payload, {}).ids == ("claude-code",)
        both = recognise("claude-code", None, payload, {"COPILOT_CLI": "1"}).ids
        assert both == ("claude-code", "copilot")
        assert recognise(None, None, payload, {}).ids == ()


def pair(*names: str, named: str | None = None) -> JointClient:
    return JointClient(Callers(named=named, ids=names))


class TestOneReplyForSeveral:
    def test_a_guard_finds_a_path_under_any_ones_key(self) -> None:
        clients = pair("claude-code", "copilot")
        data = PROMPT | {"hook_event_name": "PreToolUse", "tool_name": "Write"}
        data["tool_input"] = {"path": "/srv/app/.env", "file_text": "K=v"}
        event = clients.decode(raw(data), None)
        assert isinstance(event, PreToolUse)
        assert event.tool.path == "/srv/app/.env"
        assert event.tool.content == "K=v"

    def test_a_tool_is_what_anyone_knows_it_for(self) -> None:
        event = pair("claude-code", "vscode").decode(raw(VSCODE), None)
        assert isinstance(event, PreToolUse)
        assert event.tool.kind is ToolKind.SHELL
        assert event.tool.command == "rm x"

    def test_texts_stand_where_each_of_them_looks(self) -> None:
        clients = pair("vscode", "copilot")
        event = clients.decode(raw(PROMPT), None)
        body = json.loads(
            clients.encode(Outcome(event=event, answer=Answer(context=("x",)))).stdout
        )
        assert "x" in body["additionalContext"]
        assert "x" in body["hookSpecificOutput"]["additionalContext"]

    def test_nothing_to_say_is_nothing(self) -> None:
        clients = pair("vscode", "copilot")
        event = clients.decode(raw(PROMPT), None)
        assert clients.encode(Outcome(event=event)).stdout == b""

    def test_a_rewrite_that_not_everybody_can_be_told_is_a_deny(self) -> None:
        clients = pair("claude-code", "codex")
        data = {key: value for key, value in VSCODE.items() if key != "timestamp"}
        event = clients.decode(raw(data | {"tool_name": "Bash"}), None)
        answer = Answer(rewrite=Rewrite(input={"command": "ls", "run_in_background": True}))
        reply = clients.encode(Outcome(event=event, answer=answer))
        assert reply.exit_code == 2
        assert b"cannot be told whether Claude Code or Codex is asking" in reply.stderr

    def test_a_question_that_one_cannot_ask_is_a_deny_with_its_reason(self) -> None:
        clients = pair("claude-code", "codex")
        event = clients.decode(raw(VSCODE | {"tool_name": "Bash"}), None)
        reply = clients.encode(Outcome(event=event, answer=ask("really?")))
        assert b"really?" in reply.stdout + reply.stderr
        for name in clients.ids:
            heard = registry.dialect(name).read_answer(
                registry.dialect(name).decode(raw(VSCODE), None),
                stdout=reply.stdout,
                stderr=reply.stderr,
                exit_code=reply.exit_code,
            )
            assert heard.verdict >= "deny"

    def test_what_nobody_can_close_is_said_to_the_first(self) -> None:
        clients = pair("vscode", "codex")
        data = {"hook_event_name": "Stop", "session_id": "s", "stop_hook_active": False}
        event = clients.decode(raw(data), None)
        assert isinstance(event, Stop)
        reply = clients.encode(Outcome(event=event, answer=Answer(follow_up=("more",))))
        assert json.loads(reply.stdout)["hookSpecificOutput"]["reason"] == "more"

    def test_a_halt_closes_the_gates_as_well(self) -> None:
        clients = pair("claude-code", "vscode")
        event = clients.decode(raw(VSCODE), None)
        assert clients.translate(Outcome(event=event, answer=halt("enough"))).latch == "enough"
        assert pair("vscode").ids == ("vscode",)

    def test_the_lowest_cap_and_the_rarest_flag_count(self) -> None:
        support = pair("vscode", "copilot", "cursor").support
        assert support.stop_cap == 5
        assert support.has_stop_flag

    def test_a_refusal_names_the_event_in_each_ones_words(self) -> None:
        reply = pair("cursor", named="claude-code").refuse("PreToolUse", "broken")
        assert json.loads(reply.stdout)["permission"] == "deny"
        assert reply.exit_code == 2

    def test_an_unknown_event_is_refused_as_the_strictest(self) -> None:
        reply = pair("claude-code", "copilot").refuse(None, "broken")
        assert b"deny" in reply.stdout
        assert b"broken" in reply.stderr

    def test_what_is_no_gate_is_refused_by_nothing_but_a_line(self) -> None:
        reply = pair("claude-code", "copilot").refuse("SessionStart", "broken")
        assert b"deny" not in reply.stdout

    def test_cursor_is_denied_by_exit_code_too_through_another_ones_file(self) -> None:
        data = {
            "hook_event_name": "PreToolUse",
            "cursor_version": "1",
            "workspace_roots": ["/"],
            "conversation_id": "c",
            "tool_name": "Shell",
            "tool_input": {"command": "rm x"},
        }
        clients = pair("cursor", named="claude-code")
        event = clients.decode(raw(data), "PreToolUse")
        assert isinstance(event, PreToolUse)
        denied = clients.encode(Outcome(event=event, answer=deny("no")))
        assert (denied.exit_code, denied.stderr) == (2, b"no\n")
        assert clients.encode(Outcome(event=event)).exit_code == 0
        own = pair("cursor", named="cursor")
        assert (
            own.encode(Outcome(event=own.decode(raw(data), None), answer=deny("no"))).exit_code == 0
        )
