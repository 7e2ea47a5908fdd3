"""``hookline hook`` answers whoever really calls, and a call that comes twice only once."""

import json
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hookline.model.outcome import Outcome, Reply
from hookline.pipeline.call import Call, Exchange
from support.cli import Done, Machine
from support.clients.effects import Does, Effect

RULES = """\
version: 1
hooks:
  - {name: no, on: pre_tool_use, match: {command: "never*"}, deny: MK_DENY}
  - {name: maybe, on: pre_tool_use, match: {command: "maybe*"}, ask: MK_ASK}
  - {name: better, on: pre_tool_use, match: {command: old}, rewrite: {input: {command: new}}}
  - {name: over, on: pre_tool_use, match: {command: halt}, run: 'echo ''{"verdict":"halt","reason":"MK_HALT"}'''}
  - {name: tell, on: [user_prompt_submit, session_start], context: MK_CONTEXT}
"""
COUNTED = """\
version: 1
hooks:
  - {name: count, on: [pre_tool_use, stop], run: "echo x >> runs; echo MK_MORE >&2; exit 2"}
"""
OTHERS = ("copilot", "vscode", "cursor")


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def client(name: str) -> Any:
    return import_module(f"support.clients.{name}")


def payload(name: str, native: str, machine: Machine, **fields: Any) -> dict[str, Any]:
    data: dict[str, Any] = client(name).payload(native) | fields
    for key in ("cwd", "workspace_roots"):
        if key in data:
            data[key] = [str(machine.project)] if key == "workspace_roots" else str(machine.project)
    return data


def shell(name: str, machine: Machine, command: str) -> tuple[str, dict[str, Any]]:
    """A client's event before a shell command, and its payload."""
    native = "preToolUse" if name == "cursor" else "PreToolUse"
    data = payload(name, native, machine)
    data["tool_input"] = data["tool_input"] | {"command": command}
    return native, data


def call(machine: Machine, data: object, *words: str, **env: str) -> Done:
    given = data if isinstance(data, bytes) else json.dumps(data).encode()
    return machine.call("hook", *words, *machine.own, stdin=given, **env)


def obeyed(name: str, native: str, done: Done, data: dict[str, Any]) -> Effect:
    assert "Traceback" not in done.err
    reply = Reply(stdout=done.out.encode(), stderr=done.err.encode(), exit_code=done.code)
    effect: Effect = client(name).obey(native, reply, data)
    return effect


class TestClaudeCodesFile:
    """The line that ``install claude-code`` writes, run by clients that read that file too."""

    @pytest.mark.parametrize("name", OTHERS)
    @pytest.mark.parametrize("named", ["claude-code", "auto"])
    def test_a_deny_is_a_deny(self, machine: Machine, name: str, named: str) -> None:
        machine.trust(RULES)
        native, data = shell(name, machine, "never mind")
        effect = obeyed(name, native, call(machine, data, named, "PreToolUse"), data)
        assert effect.does >= Does.BLOCKS
        assert "MK_DENY" in effect.reason + effect.context

    @pytest.mark.parametrize(
        "spelled", ["PRETOOLUSE", "pre_tool_use", "pretooluse", "pre-tool-use"]
    )
    def test_a_gate_in_another_spelling_is_that_gate(self, machine: Machine, spelled: str) -> None:
        machine.trust(RULES)
        for named in ("claude-code", "copilot", "codex", "gemini"):
            words = {"tool_name": "Bash", "tool_input": {"command": "never"}}
            event = "BEFORETOOL" if named == "gemini" else spelled
            done = call(machine, words | {"cwd": str(machine.project)}, named, event)
            assert "MK_DENY" in done.out + done.err, named

    @pytest.mark.parametrize("name", OTHERS)
    def test_an_ask_lets_nothing_through_unasked(self, machine: Machine, name: str) -> None:
        machine.trust(RULES)
        native, data = shell(name, machine, "maybe this")
        done = call(machine, data, "claude-code", "PreToolUse")
        assert obeyed(name, native, done, data).does >= Does.ASKS

    @pytest.mark.parametrize("name", OTHERS)
    def test_a_rewrite_replaces_the_command(self, machine: Machine, name: str) -> None:
        machine.trust(RULES)
        native, data = shell(name, machine, "old")
        effect = obeyed(name, native, call(machine, data, "claude-code", "PreToolUse"), data)
        assert effect.does >= Does.BLOCKS or (effect.input or {})["command"] == "new"

    @pytest.mark.parametrize("name", OTHERS)
    def test_a_halt_stops_this_and_all_that_follows(self, machine: Machine, name: str) -> None:
        machine.trust(RULES)
        native, data = shell(name, machine, "halt")
        effect = obeyed(name, native, call(machine, data, "claude-code", "PreToolUse"), data)
        assert effect.does >= Does.BLOCKS
        if effect.does < Does.ENDS_THE_RUN:
            native, data = shell(name, machine, "ls")
            done = call(machine, data, "claude-code", "PreToolUse")
            assert obeyed(name, native, done, data).does >= Does.BLOCKS

    @pytest.mark.parametrize("name", OTHERS)
    def test_nothing_to_mind_is_left_to_the_client(self, machine: Machine, name: str) -> None:
        machine.trust(RULES)
        native, data = shell(name, machine, "ls")
        effect = obeyed(name, native, call(machine, data, "claude-code", "PreToolUse"), data)
        assert effect.does == Does.GOES_ON
        assert not effect.failed

    @pytest.mark.parametrize("name", ["copilot", "vscode"])
    def test_context_reaches_the_model(self, machine: Machine, name: str) -> None:
        machine.trust(RULES)
        data = payload(name, "UserPromptSubmit", machine)
        done = call(machine, data, "claude-code", "UserPromptSubmit")
        assert "MK_CONTEXT" in obeyed(name, "UserPromptSubmit", done, data).context

    @pytest.mark.parametrize("name", OTHERS)
    def test_a_wrong_option_closes_the_gate_in_the_callers_words(
        self, machine: Machine, name: str
    ) -> None:
        native, data = shell(name, machine, "ls")
        done = call(machine, data, "claude-code", "PreToolUse", "--wrong")
        assert obeyed(name, native, done, data).does >= Does.BLOCKS

    def test_a_broken_payload_closes_the_gate_of_whoever_set_a_variable(
        self, machine: Machine
    ) -> None:
        done = call(machine, b"{", "claude-code", "PreToolUse", COPILOT_CLI="1")
        for name in ("claude_code", "copilot"):
            assert obeyed(name, "PreToolUse", done, {}).does >= Does.BLOCKS


class TestNobodyNamed:
    def test_the_payload_tells_the_event_too(self, machine: Machine) -> None:
        machine.trust(RULES)
        native, data = shell("vscode", machine, "never")
        done = call(machine, data, "auto")
        assert obeyed("vscode", native, done, data).does == Does.BLOCKS

    @pytest.mark.parametrize("data", [b"", b"{", b"{}", b"[]", b'{"x": 1}'])
    def test_what_tells_nothing_exits_2_and_says_what_to_write(
        self, machine: Machine, data: bytes
    ) -> None:
        for event in (["PreToolUse"], []):
            done = call(machine, data, "auto", *event)
            assert done.code == 2
            assert "name it: `hookline hook DIALECT`" in done.err
            for name in ("claude_code", "codex", "copilot", "vscode"):
                assert obeyed(name, "PreToolUse", done, {}).does >= Does.BLOCKS
            assert obeyed("cursor", "preToolUse", done, {}).does >= Does.BLOCKS
            if not event:
                assert obeyed("gemini", "BeforeTool", done, {}).does >= Does.BLOCKS

    @pytest.mark.parametrize("event", ["SessionStart", "PostToolUse", "Stop"])
    def test_what_tells_nothing_has_no_effect_where_there_is_no_gate(
        self, machine: Machine, event: str
    ) -> None:
        done = call(machine, b"{}", "auto", event)
        assert (done.code, done.out) == (0, "")
        assert "name it: `hookline hook DIALECT`" in done.err

    def test_nothing_at_all_on_the_command_line_exits_2(self, machine: Machine) -> None:
        assert machine.call("hook").code == 2


class TestTheRecord:
    def test_who_was_answered_instead_stands_in_the_outcome(self, machine: Machine) -> None:
        _, data = shell("vscode", machine, "ls")
        raw = json.dumps(data).encode()
        argv = ["claude-code", "PreToolUse"]
        exchange = Exchange(Call(argv=argv, payload=raw, env={}, cwd=str(machine.project)))
        exchange.recognise()
        exchange.encode(Outcome(event=exchange.decode()))
        assert exchange.outcome is not None
        [note] = exchange.outcome.as_json()["substitutions"]
        assert note["from"] == "dialect claude-code"
        assert note["to"] == "dialect vscode"


class TestTwoFiles:
    def runs(self, machine: Machine) -> int:
        file = machine.project / "runs"
        return len(file.read_text(encoding="utf-8").splitlines()) if file.exists() else 0

    def test_copilots_two_spellings_of_one_call_run_the_hooks_once(self, machine: Machine) -> None:
        machine.trust(COUNTED)
        camel = payload("copilot", "preToolUse", machine)
        pascal = payload("copilot", "PreToolUse", machine)
        first = call(machine, camel, "copilot", "preToolUse", COPILOT_CLI="1")
        second = call(machine, pascal, "claude-code", "PreToolUse", COPILOT_CLI="1")
        assert obeyed("copilot", "preToolUse", first, camel).does == Does.BLOCKS
        assert obeyed("copilot", "PreToolUse", second, pascal).does == Does.BLOCKS
        assert self.runs(machine) == 1

    def test_an_agent_that_does_it_again_is_judged_again(self, machine: Machine) -> None:
        machine.trust(COUNTED)
        data = payload("copilot", "preToolUse", machine)
        for _ in range(2):
            call(machine, data, "copilot", "preToolUse")
        assert self.runs(machine) == 2

    def test_another_command_is_another_call(self, machine: Machine) -> None:
        machine.trust(COUNTED)
        for command, named in (("one", "vscode"), ("two", "claude-code")):
            _, data = shell("vscode", machine, command)
            call(machine, data, named, "PreToolUse")
        assert self.runs(machine) == 2

    def test_a_follow_up_is_counted_once(self, machine: Machine) -> None:
        machine.trust(COUNTED)
        kept_going = 0
        for turn in range(10):
            data = payload("vscode", "Stop", machine, stop_hook_active=turn > 0)
            for named in ("vscode", "claude-code"):
                done = call(machine, data, named, "Stop")
                kept_going += bool(obeyed("vscode", "Stop", done, data).follow_up)
        assert kept_going == 2 * 8

    def test_a_store_that_cannot_be_used_judges_each_time(self, machine: Machine) -> None:
        machine.trust(COUNTED)
        machine.state.mkdir(exist_ok=True)
        (machine.state / "answers").write_text("in the way", encoding="utf-8")
        _, data = shell("vscode", machine, "ls")
        for named in ("vscode", "claude-code"):
            done = call(machine, data, named, "PreToolUse")
            assert obeyed("vscode", "PreToolUse", done, data).does == Does.BLOCKS
        assert self.runs(machine) == 2

    def test_two_processes_at_once_run_the_hooks_once(self, machine: Machine) -> None:
        gate = machine.project / "gate"
        os.mkfifo(gate)
        machine.trust(
            "version: 1\nhooks:\n"
            '  - {name: slow, on: pre_tool_use, run: "echo x >> runs; cat gate >&2; exit 2"}\n'
        )
        _, data = shell("vscode", machine, "ls")
        raw = json.dumps(data).encode()
        started = []
        for named in ("vscode", "claude-code"):
            process = machine.start("hook", named, "PreToolUse", *machine.own)
            assert process.stdin is not None
            process.stdin.write(raw)
            process.stdin.close()
            process.stdin = None
            started.append(process)
        gate.write_text("MK_SLOW\n", encoding="utf-8")  # returns once somebody reads it
        done = [process.communicate(timeout=60) for process in started]
        assert all(b"MK_SLOW" in out for out, _ in done), done
        assert self.runs(machine) == 1
