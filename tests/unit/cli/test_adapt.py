"""``hookline adapt``: a program of one platform works under another, by its own platform's rules."""

import json
import os
import shlex
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.cli.adapt import parse
from hookline.converting.adapter import Adapted, words
from hookline.model.errors import HooklineError
from hookline.model.events import (
    Event,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    UserPromptSubmit,
)
from hookline.model.native import NativeEntry
from hookline.model.outcome import Reply
from hookline.model.tools import tool
from support.cli import Done, Machine
from support.clients import claude_code, codex, docker_agent, gemini, kodelet, vscode
from support.clients.effects import Does, Effect

DENY = "echo MK_DENY >&2; exit 2"


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def payload(name: str, event: Event, machine: Machine) -> bytes:
    """The event as a platform sends it."""
    dialect: Any = registry.dialect(name)
    fields = {"session_id": "s1", "cwd": str(machine.project)}
    data = {each: getattr(event, each) for each in event.__struct_fields__}
    return bytes(dialect.stdin(type(event)(**{**data, **fields})))


def shell(command: str = "ls") -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=command))


def adapt(
    machine: Machine,
    command: str,
    *options: str,
    event: Event | None = None,
    origin: str = "claude-code PreToolUse",
    target: str = "gemini BeforeTool",
    **env: str,
) -> Done:
    """One call, as a client of ``target`` makes it."""
    (a, of), (b, on) = origin.split(), target.split()
    return machine.call(
        *("adapt", "--from", a, "--event", of, "--to", b, "--on", on),
        *("--home", str(machine.state), *options, "--", command),
        stdin=payload(b, event or shell(), machine),
        **env,
    )


def reply(done: Done) -> Reply:
    return Reply(stdout=done.out.encode(), stderr=done.err.encode(), exit_code=done.code)


def in_gemini(done: Done, event: str = "BeforeTool") -> Effect:
    return gemini.obey(event, reply(done), gemini.payload(event))


# ── what the program is given, and what its answer becomes ──────────────────────────────────


def test_the_program_reads_a_payload_of_its_own_platform(machine: Machine) -> None:
    adapt(machine, "cat > seen.json", event=shell("git status"))
    seen = json.loads((machine.project / "seen.json").read_bytes())
    assert seen["hook_event_name"] == "PreToolUse"
    assert seen["tool_name"] == "Bash"
    assert seen["tool_input"]["command"] == "git status"
    assert seen["cwd"] == str(machine.project)


def test_the_program_finds_the_variables_of_its_own_platform(machine: Machine) -> None:
    adapt(machine, 'echo "$CLAUDE_PROJECT_DIR" > seen')
    assert (machine.project / "seen").read_text().strip() == str(machine.project)


def test_a_deny_by_exit_code_is_a_deny(machine: Machine) -> None:
    effect = in_gemini(adapt(machine, DENY))
    assert effect.does is Does.BLOCKS
    assert "MK_DENY" in effect.reason


def test_an_answer_in_json_keeps_its_verdict_and_its_rewrite(machine: Machine) -> None:
    own = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": "MK_ASK",
        "updatedInput": {"command": "echo safe"},
    }
    effect = in_gemini(adapt(machine, f"echo '{json.dumps({'hookSpecificOutput': own})}'"))
    assert effect.does is Does.ASKS
    assert effect.input is not None
    assert "echo safe" in json.dumps(effect.input)


def test_nothing_said_changes_nothing(machine: Machine) -> None:
    assert in_gemini(adapt(machine, "true")) == Effect()


def test_what_the_new_platform_cannot_say_becomes_something_at_least_as_strict(
    machine: Machine,
) -> None:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "ask"}
    line = f"echo '{json.dumps({'hookSpecificOutput': own})}'"
    done = adapt(machine, line, target="codex PreToolUse")
    assert codex.obey("PreToolUse", reply(done), codex.payload("PreToolUse")).does is Does.BLOCKS


def test_a_program_with_arguments_is_started_without_a_shell(machine: Machine) -> None:
    script = machine.write("say.sh", '#!/bin/sh\necho "$#: $1" > seen\n', 0o755)
    adapt_words = ("--exec", "--", str(script), "a  b")
    machine.call(
        *("adapt", "--from", "claude-code", "--event", "PreToolUse", "--to", "gemini"),
        *("--on", "BeforeTool", *adapt_words),
        stdin=payload("gemini", shell(), machine),
    )
    assert (machine.project / "seen").read_text() == "1: a  b\n"


# ── when it is asked ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ((), True),
        (("--matcher", "Bash"), True),
        (("--matcher", "Write"), False),
        (("--matcher", "Write", "--matcher", "Bash"), True),
        (("--matcher", "Ba.*"), True),
        (("--matcher", ""), True),
        (("--if", "Bash(git push *)"), False),
        (("--if", "Bash(ls)"), True),
        (("--agent", "tester"), False),
        (("--agent", "root"), True),
    ],
)
def test_matchers_and_conditions_hold_by_the_old_platforms_rules(
    options: tuple[str, ...], asked: bool, machine: Machine
) -> None:
    effect = in_gemini(adapt(machine, DENY, *options))
    assert (effect.does is Does.BLOCKS) is asked


def test_a_file_is_asked_about_calls_of_clients_that_run_it_themselves(machine: Machine) -> None:
    """VS Code runs Claude Code's settings, but it does not run what was converted from them."""
    done = adapt(machine, DENY, target="vscode PreToolUse")
    sent = json.loads(payload("vscode", shell(), machine))
    assert vscode.obey("PreToolUse", reply(done), sent).does is Does.BLOCKS


def test_a_copilot_hook_is_asked_by_vs_code(machine: Machine) -> None:
    said = json.dumps({"permissionDecision": "deny", "permissionDecisionReason": "MK_DENY"})
    origin, target = "copilot preToolUse", "vscode PreToolUse"
    done = adapt(machine, f"echo '{said}'", origin=origin, target=target)
    sent = json.loads(payload("vscode", shell(), machine))
    assert vscode.obey("PreToolUse", reply(done), sent).does is Does.BLOCKS


def test_another_client_that_runs_the_new_file_is_answered_in_its_own_words(
    machine: Machine,
) -> None:
    done = machine.call(
        *("adapt", "--from", "gemini", "--event", "BeforeTool", "--to", "claude-code"),
        *("--on", "PreToolUse", "--home", str(machine.state), "--", DENY),
        stdin=json.dumps(vscode.payload("PreToolUse") | {"cwd": str(machine.project)}),
    )
    sent = vscode.payload("PreToolUse")
    assert vscode.obey("PreToolUse", reply(done), sent).does is Does.BLOCKS


def test_a_kodelet_program_is_asked_first_what_it_is_for(machine: Machine) -> None:
    deny = """echo '{"blocked": true, "reason": "MK_DENY"}'"""
    script = machine.write(
        "guard", f"#!/bin/sh\n[ $1 = hook ] && echo before_tool_call || {deny}\n", 0o755
    )
    asked: list[tuple[str, str, Event, Does]] = [
        ("before_tool_call", "BeforeTool", shell(), Does.BLOCKS),
        ("user_message_send", "BeforeAgent", UserPromptSubmit(prompt="hi"), Does.GOES_ON),
    ]
    for native, on, event, does in asked:
        done = machine.call(
            *("adapt", "--from", "kodelet", "--event", native, "--to", "gemini"),
            *("--on", on, "--exec", "--", str(script), "run"),
            stdin=payload("gemini", event, machine),
        )
        assert in_gemini(done, on).does is does


def test_the_nearest_event_is_put_to_the_program_as_its_own(machine: Machine) -> None:
    line = f"cat > seen.json; {DENY}"
    effect = in_gemini(adapt(machine, line, origin="claude-code PermissionRequest"))
    assert effect.does is Does.BLOCKS
    seen = json.loads((machine.project / "seen.json").read_bytes())
    assert seen["hook_event_name"] == "PermissionRequest"


def test_a_rewrite_at_the_nearest_event_is_applied(machine: Machine) -> None:
    said = {
        "hook_specific_output": {
            "hook_event_name": "tool_response_transform",
            "updated_tool_response": "MK_CLEAN",
        }
    }
    shown = replace(tool("shell", command="cat .env"), output="secret", ok=True)
    event = PostToolUse(tool=shown)
    done = adapt(
        machine,
        f"echo '{json.dumps(said)}'",
        event=event,
        origin="docker-agent tool_response_transform",
        target="claude-code PostToolUse",
    )
    sent = json.loads(payload("claude-code", event, machine))
    effect = claude_code.obey("PostToolUse", reply(done), sent)
    assert "MK_CLEAN" in json.dumps(effect.output)


# ── how it is run ───────────────────────────────────────────────────────────────────────────


def test_variables_and_directory_are_those_of_the_old_file(machine: Machine) -> None:
    (machine.project / "sub").mkdir()
    adapt(
        machine,
        'echo "$LEVEL" > seen',
        *("--env", "LEVEL=a=b", "--cwd", "sub"),
        origin="vscode PreToolUse",
    )
    assert (machine.project / "sub/seen").read_text() == "a=b\n"


def test_a_program_that_takes_too_long_has_failed(machine: Machine) -> None:
    slow = ("--timeout", "0.2")
    assert in_gemini(adapt(machine, "sleep 30", *slow)).does is Does.GOES_ON
    closed = adapt(machine, "sleep 30", *slow, "--fails", "closed")
    assert in_gemini(closed).does is Does.BLOCKS


@pytest.mark.parametrize(
    ("origin", "options", "does"),
    [
        ("claude-code PreToolUse", (), Does.GOES_ON),
        ("claude-code PreToolUse", ("--fails", "closed"), Does.BLOCKS),
        ("claude-code PreToolUse", ("--fails", "open"), Does.GOES_ON),
        ("docker-agent pre_tool_use", (), Does.BLOCKS),
        ("copilot preToolUse", (), Does.BLOCKS),
        ("gemini BeforeTool", (), Does.GOES_ON),
    ],
)
def test_a_failure_means_what_it_means_on_the_old_platform(
    origin: str, options: tuple[str, ...], does: Does, machine: Machine
) -> None:
    done = adapt(machine, "exit 7", *options, origin=origin, target="kodelet before_tool_call")
    sent = kodelet.payload("before_tool_call")
    assert kodelet.obey("before_tool_call", reply(done), sent).does is does


def test_nobody_waits_for_a_program_in_the_background(machine: Machine) -> None:
    fifo = machine.project / "done"
    os.mkfifo(fifo)
    done = adapt(machine, f"echo finished > {fifo}; exit 2", "--background")
    assert in_gemini(done).does is Does.GOES_ON
    assert fifo.read_text() == "finished\n"


def test_docker_agents_early_lane_has_rules_of_its_own(machine: Machine) -> None:
    said = {"hook_specific_output": {"permission_decision": "allow"}}
    done = adapt(
        machine,
        f"echo '{json.dumps(said)}'",
        *("--options", '{"preempt_yolo": true}'),
        origin="docker-agent pre_tool_use",
        target="claude-code PreToolUse",
    )
    sent = json.loads(payload("claude-code", shell(), machine))
    effect = claude_code.obey("PreToolUse", reply(done), sent)
    assert effect.does is Does.GOES_ON  # an allow there is advice


def test_a_request_is_sent_for_a_hook_behind_an_address(machine: Machine) -> None:
    own = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "MK_DENY",
    }
    seen: list[dict[str, Any]] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            body = json.dumps({"hookSpecificOutput": own}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = Thread(target=server.handle_request)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/hook"
        done = machine.call(
            *("adapt", "--from", "claude-code", "--event", "PreToolUse", "--to", "gemini"),
            *("--on", "BeforeTool", "--type", "http", "--url", address, "--"),
            stdin=payload("gemini", shell("git push"), machine),
        )
        thread.join()
    assert in_gemini(done).does is Does.BLOCKS
    assert seen[0]["tool_input"]["command"] == "git push"


def test_a_builtin_of_the_old_platform_is_run_by_hookline(machine: Machine) -> None:
    done = adapt(
        machine,
        "add_environment_info",
        *("--type", "builtin", "--options", '{"with": {"args": []}}'),
        event=SessionStart(source="startup"),
        origin="docker-agent session_start",
        target="claude-code SessionStart",
    )
    sent = json.loads(payload("claude-code", SessionStart(source="startup"), machine))
    effect = claude_code.obey("SessionStart", reply(done), sent)
    assert str(machine.project) in effect.context


def test_an_allow_stays_the_grant_that_it_was(machine: Machine) -> None:
    said = json.dumps({"permissionDecision": "allow"})
    origin, target = "copilot preToolUse", "claude-code PreToolUse"
    done = adapt(machine, f"echo '{said}'", origin=origin, target=target)
    sent = json.loads(payload("claude-code", shell(), machine))
    effect = claude_code.obey("PreToolUse", reply(done), sent)
    assert effect.does is Does.SKIPS_ITS_QUESTION


# ── what the session remembers ──────────────────────────────────────────────────────────────


def test_a_halt_that_cannot_be_said_holds_every_gate_until_the_next_prompt(
    machine: Machine,
) -> None:
    def sent(event: Event, native: str) -> Effect:
        done = adapt(machine, command, event=event, target=f"docker-agent {native}")
        return docker_agent.obey(native, reply(done), docker_agent.payload(native))

    command = """echo '{"continue": false, "stopReason": "MK_HALT"}'"""
    assert sent(shell(), "pre_tool_use").does is Does.BLOCKS
    command = "true"
    held = sent(shell("ls"), "pre_tool_use")
    assert held.does is Does.BLOCKS
    assert "MK_HALT" in held.reason
    adapt(
        machine,
        "true",
        event=UserPromptSubmit(prompt="go on"),
        origin="claude-code UserPromptSubmit",
        target="docker-agent user_prompt_submit",
    )
    assert sent(shell("ls"), "pre_tool_use").does is Does.GOES_ON


def test_an_agent_is_not_kept_going_for_ever(machine: Machine) -> None:
    told = []
    for turn in range(10):
        done = adapt(
            machine,
            "echo MK_MORE >&2; exit 2",
            event=Stop(stop_hook_active=turn > 0),
            origin="claude-code Stop",
            target="gemini AfterAgent",
        )
        told.append("MK_MORE" in in_gemini(done, "AfterAgent").follow_up)
    assert told == [True] * 8 + [False] * 2


# ── what goes wrong ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("sent", [b"", b"{", b"[]", b"\xff", b'"x"'])
def test_a_payload_that_cannot_be_read_closes_the_gate(sent: bytes, machine: Machine) -> None:
    done = machine.call(
        *("adapt", "--from", "claude-code", "--event", "PreToolUse", "--to", "gemini"),
        *("--on", "BeforeTool", "--", "true"),
        stdin=sent,
    )
    assert in_gemini(done).does is Does.BLOCKS


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--nonsense",), "unknown option `--nonsense`"),
        (("--timeout", "soon"), "--timeout takes seconds"),
        (("--timeout", "-1"), "--timeout takes seconds"),
        (("--env", "LEVEL"), "--env takes NAME=value"),
        (("--fails", "maybe"), "--fails is `closed` or `open`"),
        (("--options", "[1]"), "--options takes a JSON object"),
        (("--matcher",), "--matcher needs a value"),
    ],
)
def test_a_wrong_option_closes_the_gate_and_says_what_is_wrong(
    options: tuple[str, ...], why: str, machine: Machine
) -> None:
    done = machine.call(
        *("adapt", "--from", "claude-code", "--event", "PreToolUse", "--to", "gemini"),
        *("--on", "BeforeTool", *options, *(() if options == ("--matcher",) else ("--", "true"))),
        stdin=payload("gemini", shell(), machine),
    )
    effect = in_gemini(done)
    assert effect.does is Does.BLOCKS
    assert why in effect.reason


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("--event E --to gemini -- x", "--from is missing"),
        ("--from codex --to gemini -- x", "--event is missing"),
        ("--from codex --event E --to gemini", "no command stands after `--`"),
        ("--from codex --event E --to gemini word", "a command stands after `--`"),
    ],
)
def test_what_is_missing_is_named(given: str, why: str) -> None:
    with pytest.raises(HooklineError, match=why.replace("`", ".")):
        parse(given.split())


@pytest.mark.parametrize("target", ["", "nobody"])
def test_without_a_platform_to_answer_only_the_exit_code_is_left(
    target: str, machine: Machine
) -> None:
    done = machine.call("adapt", "--to", target, "--", "true", stdin=b"{}")
    assert done.code == 2
    assert "hookline could not ask the hook" in done.err


def test_an_unknown_platform_to_adapt_from_closes_the_gate(machine: Machine) -> None:
    effect = in_gemini(adapt(machine, "true", origin="nobody PreToolUse"))
    assert effect.does is Does.BLOCKS
    assert "nobody" in effect.reason


def test_the_event_in_the_entry_counts_whatever_the_payload_says(machine: Machine) -> None:
    sent = {"hook_event_name": "SomethingNew", "session_id": "s1", "cwd": str(machine.project)}
    done = machine.call(
        *("adapt", "--from", "claude-code", "--event", "PreToolUse", "--to", "gemini"),
        *("--on", "BeforeTool", "--", "echo MK_NO >&2; exit 2"),
        stdin=json.dumps(sent),
    )
    effect = in_gemini(done)
    assert effect.does is Does.BLOCKS
    assert "MK_NO" in effect.reason


def test_hookline_does_not_run_inside_itself(machine: Machine) -> None:
    effect = in_gemini(adapt(machine, "hookline hook gemini BeforeTool"))
    assert effect.does is Does.BLOCKS
    assert "hookline itself" in effect.reason


@pytest.mark.parametrize("depth", ["4", "many"])
def test_hooks_that_start_agents_that_start_hooks_come_to_an_end(
    depth: str, machine: Machine
) -> None:
    effect = in_gemini(adapt(machine, "true", HOOKLINE_DEPTH=depth))
    assert effect.does is Does.BLOCKS


def test_an_error_on_an_event_that_holds_nothing_back_has_no_effect(machine: Machine) -> None:
    done = machine.call(
        *("adapt", "--from", "claude-code", "--event", "SessionStart", "--to", "gemini"),
        *("--on", "SessionStart", "--", "true"),
        stdin=b"{",
    )
    assert (done.code, done.out) == (0, "")
    assert "could not ask" in done.err


@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
def test_an_answer_that_nobody_can_hear_is_told_by_the_exit_code(
    where: str, machine: Machine
) -> None:
    call = [sys.executable, "-m", "hookline", "adapt", "--from", "claude-code", "--event"]
    call += ["PreToolUse", "--to", "gemini", "--on", "BeforeTool", "--", DENY]
    done = subprocess.run(
        ["/bin/sh", "-c", f"{shlex.join(call)} {where}"],
        input=payload("gemini", shell(), machine),
        capture_output=True,
        env=machine.env,
        check=False,
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_help_says_what_each_option_is_for(machine: Machine) -> None:
    done = machine.call("adapt", "--help")
    assert done.code == 0
    assert "--matcher TEXT" in done.out


# ── the line that convert writes ────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "entry",
    [
        NativeEntry(event="PreToolUse", command="./x 'a b'"),
        NativeEntry(event="PreToolUse", command=("./x", "", "a b", "--")),
        NativeEntry(event="PreToolUse", type="http", url="https://example.com", command=""),
        NativeEntry(
            event="PreToolUse",
            command="x",
            condition="Bash(git *)",
            timeout=2.5,
            directory="sub",
            env={"A": "b=c", "D": ""},
            background=True,
            fails_closed=False,
            name="guard",
            agent="tester",
            options={"shell": "bash", "with": {"args": ["a"]}},
        ),
    ],
)
def test_every_word_of_the_line_is_read_back(entry: NativeEntry) -> None:
    adapted = Adapted(
        origin="claude-code",
        target="gemini",
        on="BeforeTool",
        entry=entry,
        matchers=("Bash", ""),
        file="/srv/settings.json",
    )
    program, command, *rest = words(adapted)
    assert (program, command) == ("hookline", "adapt")
    options = parse(rest)
    assert (options.target, options.on) == ("gemini", "BeforeTool")
    assert options.what.origin == "claude-code"
    assert options.what.matchers == ("Bash", "")
    assert options.what.file == "/srv/settings.json"
    assert options.what.entry == entry


@pytest.mark.parametrize(
    ("options", "folder"),
    [
        ((), "{project}/.github/hooks"),
        (("--file", "~/.copilot/hooks/a.json"), "{home}/.copilot/hooks"),
    ],
)
def test_a_copilot_hook_is_told_its_folder_on_whatever_machine_it_runs(
    machine: Machine, options: tuple[str, ...], folder: str
) -> None:
    origin = "copilot preToolUse"
    home = str(machine.person)
    adapt(machine, 'echo "$COPILOT_HOOK_DIR" > seen', *options, origin=origin, HOME=home)
    seen = (machine.project / "seen").read_text().strip()
    assert seen == folder.format(project=machine.project, home=home)
