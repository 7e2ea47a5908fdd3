"""``hookline hook``: what an agent gets back, whatever it sends and however broken things are."""

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.cli.hook import _answer
from hookline.client.thin_io import find_directory
from hookline.model.errors import HooklineError
from hookline.pipeline.call import Call, LineOptions, parse_line, time_limit
from support.cli import Done, Machine

RULES = """\
version: 1
hooks:
  - {name: never, on: pre_tool_use, match: {command: "never*"}, deny: Not this.}
  - {name: maybe, on: pre_tool_use, match: {command: "maybe*"}, ask: Really?}
  - {name: better, on: pre_tool_use, match: {command: old}, rewrite: {input: {command: new}}}
  - {name: tell, on: [session_start, user_prompt_submit], context: Be kind.}
"""
DENY_ALL = "version: 1\nhooks:\n  - {name: all, on: pre_tool_use, deny: Nothing goes.}\n"
BROKEN = "version: 1\nhooks:\n  - {name: x, on: pre_tool_use, denny: no}\n"


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def shell(command: str = "ls", **fields: object) -> dict[str, object]:
    return {"event": "pre_tool_use", "tool": {"name": "shell", "command": command}, **fields}


def user(machine: Machine, text: str) -> None:
    machine.user_file.parent.mkdir(parents=True, exist_ok=True)
    machine.user_file.write_text(text, encoding="utf-8")


def answer(done: Done) -> dict[str, Any]:
    """The answer, which is all that may be on stdout: one line of JSON."""
    assert done.out.endswith("}\n")
    assert done.out.count("\n") == 1
    shown: dict[str, Any] = json.loads(done.out)
    return shown


def denied(done: Done) -> str:
    """The reason of a deny that was also written to stderr, without a traceback."""
    said = answer(done)
    assert said["verdict"] == "deny"
    assert done.code == 0
    assert done.err.startswith("hookline: ")
    assert "Traceback" not in done.err
    reason: str = said["reason"]
    return reason


class TestAnswers:
    def test_nothing_configured_is_a_pass(self, machine: Machine) -> None:
        assert machine.hook(shell()) == (0, '{"verdict":"pass"}\n', "")

    def test_a_hook_that_minds_nothing_is_a_pass(self, machine: Machine) -> None:
        machine.trust(RULES)
        assert machine.hook(shell()) == (0, '{"verdict":"pass"}\n', "")

    @pytest.mark.parametrize(
        ("command", "verdict", "reason"),
        [("never", "deny", "Not this."), ("maybe", "ask", "Really?")],
    )
    def test_a_verdict_comes_with_its_reason_and_source(
        self, machine: Machine, command: str, verdict: str, reason: str
    ) -> None:
        machine.trust(RULES)
        said = answer(machine.hook(shell(f"{command} mind")))
        assert said["verdict"] == verdict
        assert said["reason"] == reason
        assert said["notice"][0].startswith(f"— {command}, {machine.config}:")

    def test_a_rewrite_says_what_to_run_instead(self, machine: Machine) -> None:
        machine.trust(RULES)
        said = answer(machine.hook(shell("old")))
        assert said == {"verdict": "pass", "rewrite": {"input": {"command": "new"}}}

    def test_context_goes_to_the_model(self, machine: Machine) -> None:
        machine.trust(RULES)
        said = answer(machine.hook({"event": "user_prompt_submit", "prompt": "hi"}))
        assert said == {"verdict": "pass", "context": ["Be kind."]}

    def test_the_event_may_stand_on_the_command_line_alone(self, machine: Machine) -> None:
        machine.trust(RULES)
        payload = {"tool": {"command": "never"}}
        assert answer(machine.hook(payload, "pre_tool_use"))["verdict"] == "deny"

    def test_stdout_is_one_line_of_json_however_loud_hooks_are(self, machine: Machine) -> None:
        machine.trust(
            "version: 1\nhooks:\n"
            "  - name: loud\n    on: pre_tool_use\n"
            "    run: yes noise | head -c 200000 >&2; echo take care\n"
        )
        done = machine.run("hook", "canonical", *machine.own, stdin=json.dumps(shell()))
        assert answer(done) == {"verdict": "pass", "context": ["take care"]}
        assert done.err == ""

    def test_a_payload_of_50_mb_is_judged(self, machine: Machine) -> None:
        machine.trust(RULES)
        big = shell("never " + "x" * 10, raw={"screen": "y" * 50_000_000})
        assert answer(machine.hook(big))["verdict"] == "deny"

    def test_a_hook_is_told_of_the_depth_it_runs_at(self, machine: Machine) -> None:
        machine.trust("version: 1\nhooks:\n  - {on: session_start, run: echo $HOOKLINE_DEPTH}\n")
        done = machine.hook({"event": "session_start"}, HOOKLINE_DEPTH="2")
        assert answer(done)["context"] == ["3"]


class TestBadInput:
    BAD: tuple[bytes, ...] = (
        b"",
        b"{",
        b"null",
        b"[]",
        b"not json",
        b'{"event":"pre_tool_use"} trailing',
        b'{"event":"pre_tool_use","tool":5}',
        b'{"event":"pre_tool_use","tool":{"command":"\xff\xfe"}}',
        b'{"event":"pre_tool_use","tool":{"command":"\\ud800"}}',
        b"\x00" * 100,
        b"[" * 100_000,
        b'{"event":"pre_tool_use","tool":{"input":{"a":' + b"[" * 100_000,
        b'{"event":"pre_tool_use","raw":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    )

    @pytest.mark.parametrize("payload", BAD, ids=lambda each: repr(each[:40]))
    def test_a_gate_is_closed(self, machine: Machine, payload: bytes) -> None:
        reason = denied(machine.hook(payload, "pre_tool_use"))
        assert "hookline could not judge this: the payload is not canonical JSON" in reason

    @pytest.mark.parametrize("payload", BAD, ids=lambda each: repr(each[:40]))
    def test_what_is_no_gate_passes_with_a_line_on_stderr(
        self, machine: Machine, payload: bytes
    ) -> None:
        done = machine.hook(payload, "session_start")
        assert (done.code, done.out) == (0, '{"verdict":"pass"}\n')
        assert done.err.startswith("hookline: hookline could not judge this: ")
        assert "Traceback" not in done.err

    @pytest.mark.parametrize("event", ["stop", "subagent_stop", "task_completed", "teammate_idle"])
    def test_a_failure_never_keeps_an_agent_going(self, machine: Machine, event: str) -> None:
        assert machine.hook(b"{", event).out == '{"verdict":"pass"}\n'

    def test_without_an_event_anywhere_the_gate_is_closed(self, machine: Machine) -> None:
        assert "names no event" in denied(machine.hook({"tool": {"command": "ls"}}))

    def test_an_unknown_event_is_closed_and_named(self, machine: Machine) -> None:
        assert "did you mean `pre_tool_use`?" in denied(machine.hook(b"{}", "pre_tool_us"))
        assert "did you mean `pre_tool_use`?" in denied(machine.hook({"event": "PreToolUse"}))

    def test_two_events_that_disagree_are_closed(self, machine: Machine) -> None:
        reason = denied(machine.hook({"event": "session_start"}, "pre_tool_use"))
        assert "the payload says `session_start`, the command line says `pre_tool_use`" in reason

    def test_an_event_said_twice_does_not_slip_through(self, machine: Machine) -> None:
        payload = b'{"event":"session_start","event":"pre_tool_use","tool":{"command":"never"}}'
        denied(machine.hook(payload))
        denied(machine.hook(payload, "pre_tool_use"))

    def test_a_nul_in_a_command_does_not_hide_it(self, machine: Machine) -> None:
        machine.trust(RULES)
        assert answer(machine.hook(shell("never\0 mind")))["verdict"] == "deny"

    @pytest.mark.parametrize("cwd", ["/nowhere/at/all", "\0", "a" * 10_000, "/" + "x/" * 3_000])
    def test_a_directory_that_cannot_be_does_not_lift_the_users_hooks(
        self, machine: Machine, cwd: str
    ) -> None:
        user(machine, DENY_ALL)
        assert answer(machine.hook(shell(cwd=cwd, session_id="s")))["verdict"] == "deny"

    def test_a_relative_directory_is_found_from_where_the_agent_runs(
        self, machine: Machine
    ) -> None:
        machine.trust(RULES)
        assert answer(machine.hook(shell("never", cwd=".")))["verdict"] == "deny"

    def test_a_closed_stdin_closes_the_gate(self, machine: Machine) -> None:
        argv = [sys.executable, "-m", "hookline", "hook", "canonical", "pre_tool_use", *machine.own]
        script = f"exec {' '.join(argv)} <&-"
        done = subprocess.run(
            ["sh", "-c", script], env=machine.env, capture_output=True, text=True, check=False
        )
        assert "stdin is closed" in denied(Done(done.returncode, done.stdout, done.stderr))


class TestCommandLine:
    def test_an_unknown_dialect_exits_2_and_says_so(self, machine: Machine) -> None:
        done = machine.call("hook", "canonicl", "pre_tool_use", stdin=json.dumps(shell()))
        assert (done.code, done.out) == (2, "")
        assert "no dialect is called `canonicl` (did you mean `canonical`?)" in done.err

    def test_no_dialect_exits_2_and_says_how_it_is_used(self, machine: Machine) -> None:
        done = machine.call("hook")
        assert (done.code, done.out) == (2, "")
        assert "usage: hookline hook DIALECT [EVENT]" in done.err

    @pytest.mark.parametrize(
        ("words", "flaw"),
        [
            (("--colour",), "unknown option `--colour`"),
            (("--timeout",), "--timeout needs a value"),
            (("--home",), "--home needs a value"),
            (("--timeout", "soon"), "--timeout takes seconds"),
            (("--timeout", "0"), "--timeout takes seconds"),
            (("--timeout", "-1"), "--timeout takes seconds"),
            (("--timeout", "nan"), "--timeout takes seconds"),
            (("--timeout", "inf"), "--timeout takes seconds"),
            (("one", "word"), "usage: hookline hook DIALECT"),
        ],
    )
    def test_a_wrong_option_closes_the_gate_in_the_clients_own_words(
        self, machine: Machine, words: tuple[str, ...], flaw: str
    ) -> None:
        given = json.dumps(shell())
        done = machine.call("hook", "canonical", "pre_tool_use", *words, stdin=given)
        assert flaw in denied(done)
        lets_stop = machine.call("hook", "canonical", "stop", *words, stdin=b"{}")
        assert lets_stop.out == '{"verdict":"pass"}\n'

    def test_options_may_stand_anywhere(self) -> None:
        options = parse_line(["--timeout", "5", "canonical", "--trust-env", "stop"])
        assert (options.dialect, options.event) == ("canonical", "stop")
        assert (options.timeout, options.trust_env, options.home) == (5.0, True, None)

    @pytest.mark.parametrize("words", [[], ["a", "b", "c"], ["a", "-x"]])
    def test_what_cannot_be_parsed_raises(self, words: list[str]) -> None:
        with pytest.raises(HooklineError, match="usage: "):
            parse_line(words)

    @pytest.mark.parametrize(("platform", "ours"), [(60, 47.5), (10, 7.5), (1, 0.3), (0.1, 0.1)])
    def test_our_deadline_comes_before_the_platforms(self, platform: float, ours: float) -> None:
        options = LineOptions(dialect="canonical", timeout=platform)
        assert options.engine_timeout == pytest.approx(ours)

    def test_help_does_not_wait_for_a_payload(self, machine: Machine) -> None:
        done = machine.run("hook", "--help")
        assert done.code == 0
        assert "--trust-env" in done.out

    def test_the_command_of_the_group_takes_the_same_way(self, machine: Machine) -> None:
        done = machine.call("--debug", "hook", "canonical", *machine.own, stdin=b'{"event":"stop"}')
        assert done.out == '{"verdict":"pass"}\n'


class TestBrokenConfigs:
    def test_a_broken_user_config_closes_gates_with_file_and_line(self, machine: Machine) -> None:
        user(machine, BROKEN)
        reason = denied(machine.hook(shell()))
        assert f"{machine.user_file}:3: `denny` is not a key" in reason
        assert "did you mean `deny`?" in reason

    def test_a_broken_user_config_lets_everything_else_pass_aloud(self, machine: Machine) -> None:
        user(machine, BROKEN)
        done = machine.hook({"event": "session_start"})
        assert (done.code, done.out) == (0, '{"verdict":"pass"}\n')
        assert f"{machine.user_file}:3" in done.err

    def test_a_trusted_project_config_holds_when_it_is_broken_on_disk(
        self, machine: Machine
    ) -> None:
        machine.trust(RULES)
        before = machine.hook(shell("never"))
        for text in (BROKEN, "{", "", "version: 1\n"):
            machine.write(machine.config, text)
            assert (
                answer(machine.hook(shell("never")))["reason"][:60] == answer(before)["reason"][:60]
            )
        machine.config.unlink()
        assert answer(machine.hook(shell("never")))["reason"][:60] == answer(before)["reason"][:60]

    def test_a_config_named_by_install_that_is_gone_closes_gates(self, machine: Machine) -> None:
        done = machine.hook(shell(), "--config", str(machine.base / "gone.yaml"))
        assert "there is no such file" in denied(done)

    def test_a_damaged_trust_store_closes_gates(self, machine: Machine) -> None:
        machine.trust(RULES)
        for blob in (machine.state / "trust/blobs").iterdir():
            blob.chmod(0o600)
            blob.write_bytes(b"version: 1\n")
        assert "was altered" in denied(machine.hook(shell()))

    def test_a_home_that_cannot_be_written_passes_when_nothing_is_configured(
        self, machine: Machine
    ) -> None:
        machine.state.write_text("a file where a directory should be", encoding="utf-8")
        assert machine.hook(shell(session_id="s")) == (0, '{"verdict":"pass"}\n', "")

    def test_a_home_that_cannot_be_written_closes_gates_when_something_is(
        self, machine: Machine
    ) -> None:
        user(machine, RULES)
        machine.state.write_text("a file where a directory should be", encoding="utf-8")
        reason = denied(machine.hook(shell(session_id="s")))
        assert "cannot keep what it has to remember in" in reason

    def test_a_directory_that_was_removed_is_no_reason_to_refuse(self, machine: Machine) -> None:
        gone = machine.base / "gone"
        gone.mkdir()
        argv = [sys.executable, "-m", "hookline", "hook", "canonical", *machine.own]
        script = f"cd '{gone}' && rmdir '{gone}' && exec {' '.join(argv)}"
        done = subprocess.run(
            ["sh", "-c", script],
            env=machine.env,
            input=json.dumps(shell()),
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.stderr) == ('{"verdict":"pass"}\n', "")

    def test_a_bug_of_ours_closes_gates(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def explode(*_: object, **__: object) -> None:
            raise ZeroDivisionError("oh")

        monkeypatch.setattr("hookline.pipeline.judge.judge_once", explode)
        assert "ZeroDivisionError: oh" in denied(machine.hook(shell()))

    def test_a_name_that_is_no_utf8_does_not_lose_the_deny(self, machine: Machine) -> None:
        odd = Path(os.fsdecode(os.fsencode(machine.base) + b"/\xff"))
        file = odd / "hookline/hookline.yaml"
        file.parent.mkdir(parents=True)
        for text in (BROKEN, DENY_ALL):
            file.write_text(text, encoding="utf-8")
            done = machine.run(
                *("hook", "canonical", "--home", str(machine.state), "--user-config", str(odd)),
                stdin=json.dumps(shell()),
            )
            assert answer(done)["verdict"] == "deny"


class TestDepth:
    @pytest.mark.parametrize("depth", ["4", "99", "-1", "many", "", "9" * 5_000])
    def test_too_deep_a_nesting_closes_gates(self, machine: Machine, depth: str) -> None:
        reason = denied(machine.hook(shell(), HOOKLINE_DEPTH=depth))
        assert "more than 3 levels are refused" in reason

    def test_too_deep_a_nesting_has_no_effect_elsewhere(self, machine: Machine) -> None:
        done = machine.hook({"event": "session_start"}, HOOKLINE_DEPTH="4")
        assert done.out == '{"verdict":"pass"}\n'
        assert "HOOKLINE_DEPTH is `4`" in done.err

    @pytest.mark.parametrize("depth", ["0", "1", "3"])
    def test_three_levels_are_normal(self, machine: Machine, depth: str) -> None:
        assert machine.hook(shell(), HOOKLINE_DEPTH=depth).out == '{"verdict":"pass"}\n'


class TestWhatAnEnvironmentMaySay:
    """A repository can set an agent's environment, so only the command line is believed."""

    def test_hookline_home_is_ignored(self, machine: Machine) -> None:
        machine.trust(DENY_ALL)
        empty = machine.base / "empty"
        said = answer(machine.hook(shell(), HOOKLINE_HOME=str(empty)))
        assert said["verdict"] == "deny"
        assert not empty.exists()

    def test_hookline_config_is_ignored(self, machine: Machine) -> None:
        machine.trust(DENY_ALL)
        nothing = machine.write("nothing.yaml", "version: 1\n")
        said = answer(machine.hook(shell(), HOOKLINE_CONFIG=str(nothing)))
        assert said["verdict"] == "deny"

    def test_hookline_trust_is_ignored(self, machine: Machine) -> None:
        machine.write(machine.config, DENY_ALL)
        said = answer(machine.hook(shell(), HOOKLINE_TRUST="all"))
        assert said["verdict"] == "pass"
        assert "is not trusted" in said["notice"][0]

    def test_home_and_xdg_do_not_move_the_users_own_file(self, machine: Machine) -> None:
        user(machine, DENY_ALL)
        elsewhere = {
            name: str(machine.base / "else")
            for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")
        }
        assert answer(machine.hook(shell(), **elsewhere))["verdict"] == "deny"

    def test_with_trust_env_all_of_them_are_honoured(self, machine: Machine) -> None:
        def fire(**env: str) -> str:
            done = machine.call(
                "hook", "canonical", "--trust-env", stdin=json.dumps(shell()), **env
            )
            verdict: str = answer(done)["verdict"]
            return verdict

        assert fire() == "pass"
        other = machine.write("other.yaml", DENY_ALL)
        assert fire(HOOKLINE_CONFIG=str(other)) == "deny"
        machine.write(machine.config, DENY_ALL)
        assert fire() == "pass"
        assert fire(HOOKLINE_TRUST="all") == "deny"
        user(machine, DENY_ALL)
        assert fire() == "deny"
        assert fire(XDG_CONFIG_HOME=str(machine.base / "else")) == "pass"
        machine.user_file.unlink()
        machine.trust(DENY_ALL)
        assert fire() == "deny"
        assert fire(HOOKLINE_HOME=str(machine.base / "else")) == "pass"

    def test_trust_that_cannot_be_understood_closes_gates(self, machine: Machine) -> None:
        done = machine.hook(shell(), "--trust-env", HOOKLINE_TRUST="yes please")
        assert "HOOKLINE_TRUST" in denied(done)


class TestSessions:
    def test_the_project_is_fixed_at_the_first_event(self, machine: Machine) -> None:
        machine.trust(DENY_ALL)
        here, away = str(machine.project), str(machine.base)
        assert answer(machine.hook(shell(session_id="s", cwd=here)))["verdict"] == "deny"
        assert answer(machine.hook(shell(session_id="s", cwd=away)))["verdict"] == "deny"
        assert answer(machine.hook(shell(session_id="t", cwd=away)))["verdict"] == "pass"

    def test_a_project_never_trusted_says_so_at_a_sessions_first_event_only(
        self, machine: Machine
    ) -> None:
        machine.write(machine.config, DENY_ALL)
        first = answer(machine.hook(shell(session_id="s")))
        assert first["verdict"] == "pass"
        (notice,) = first["notice"]
        assert notice == (
            f"`{machine.config}` is not trusted, so nothing in it is active; "
            "`hookline trust` shows it and asks."
        )
        assert "notice" not in answer(machine.hook(shell(session_id="s")))
        again = machine.hook({"event": "session_start", "session_id": "s"})
        none = "hookline: 0 hooks are active here: nothing is protected."
        assert answer(again)["notice"] == [none, notice]

    def test_notices_show_what_a_directorys_name_would_hide(self, machine: Machine) -> None:
        odd = machine.base / "a\x1b[2Jb"
        odd.mkdir()
        (odd / "hookline.yaml").write_text(DENY_ALL, encoding="utf-8")
        said = answer(machine.hook(shell(cwd=str(odd))))
        assert "\x1b" not in said["notice"][0]


class TestTime:
    @pytest.mark.parametrize(
        ("words", "seconds"),
        [
            (["--timeout", "60"], 53.5),
            (["--timeout", "0.1"], 0.2),
            ([], 600.0),
            (["--timeout", "soon"], 600.0),
            (["--unheard-of", "--timeout", "10"], 8.5),
        ],
    )
    def test_all_that_we_do_takes_less_than_the_platform_waits(
        self, words: list[str], seconds: float
    ) -> None:
        assert time_limit(["claude-code", *words]) == pytest.approx(seconds)

    def test_a_hook_that_sleeps_is_cut_before_the_platforms_deadline(
        self, machine: Machine
    ) -> None:
        machine.trust("version: 1\nhooks:\n  - {name: slow, on: pre_tool_use, run: sleep 60}\n")
        done = machine.hook(shell(), "--timeout", "1")
        said = answer(done)
        assert said["verdict"] == "deny"
        assert "hook `slow` failed: no answer within 0." in said["reason"]

    def test_time_that_went_by_before_we_were_started_counts(self, machine: Machine) -> None:
        machine.trust("version: 1\nhooks:\n  - {name: quick, on: pre_tool_use, run: 'true'}\n")
        argv = [sys.executable, "-m", "hookline", "hook", "canonical", *machine.own]

        def said(seconds: str) -> Any:
            done = subprocess.run(
                ["sh", "-c", f'sleep {seconds}; exec "$@"', "sh", *argv, "--timeout", "4"],
                env=machine.env,
                cwd=machine.project,
                input=json.dumps(shell()).encode(),
                capture_output=True,
                timeout=60,
                check=False,
            )
            return json.loads(done.stdout)

        assert said("0")["verdict"] == "pass"
        assert said("3.2")["verdict"] == "deny"

    def test_a_slow_hook_that_guards_nothing_lets_go(self, machine: Machine) -> None:
        machine.trust("version: 1\nhooks:\n  - {name: slow, on: session_start, run: sleep 60}\n")
        said = answer(machine.hook({"event": "session_start"}, "--timeout", "1"))
        assert said["verdict"] == "pass"
        assert "no answer within" in said["notice"][0]


def until_it_reads(process: "subprocess.Popen[bytes]") -> None:
    """Waits until a process looks again and again whether its stdin has anything."""
    syscall = Path(f"/proc/{process.pid}/syscall")
    number = {"x86_64": "7", "aarch64": "73"}[os.uname().machine]  # poll, ppoll
    while not syscall.read_text().startswith(f"{number} "):
        assert process.poll() is None


class TestWhere:
    """An agent may have removed the directory that it is in."""

    def gone(self, machine: Machine, payload: dict[str, object]) -> "Done":
        gone = machine.project / "gone"
        gone.mkdir()
        argv = [sys.executable, "-m", "hookline", "hook", "canonical", *machine.own]
        done = subprocess.run(
            ["sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh", *argv],
            env=machine.env,
            cwd=gone,
            input=json.dumps(payload).encode(),
            capture_output=True,
            timeout=60,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def test_a_directory_that_is_gone_still_tells_whose_project_it_was(
        self, machine: Machine
    ) -> None:
        machine.trust(DENY_ALL)
        assert answer(self.gone(machine, shell()))["verdict"] == "deny"

    def test_where_nobody_can_say_it_the_gate_is_closed(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def nowhere(*args: object) -> str:
            raise FileNotFoundError(2, "No such file or directory")

        for name in ("getcwdb", "readlink"):
            monkeypatch.setattr(f"hookline.client.thin_io.posix.{name}", nowhere)
        call = Call(
            argv=["canonical", *machine.own],
            payload=json.dumps(shell()).encode(),
            env={},
            cwd=os.fsdecode(find_directory()[0]),
        )
        monkeypatch.undo()
        said = json.loads(asyncio.run(_answer(call)).stdout)
        assert said["verdict"] == "deny"
        assert "nobody can say where this happened" in said["reason"]
        told = json.dumps(shell(cwd=str(machine.project))).encode()
        said = json.loads(asyncio.run(_answer(replace(call, payload=told))).stdout)
        assert said["verdict"] == "pass"

    def test_a_home_that_leads_from_a_directory_which_is_gone_closes_the_gate(
        self, machine: Machine
    ) -> None:
        machine.trust(DENY_ALL)
        for cwd in ("", str(machine.project / "gone")):
            call = Call(
                argv=["canonical", "--home", "../state"],
                payload=json.dumps(shell(cwd=str(machine.project))).encode(),
                env={},
                cwd=cwd,
            )
            said = json.loads(asyncio.run(_answer(call)).stdout)
            assert said["verdict"] == "deny"
            assert "is no whole path" in said["reason"]
        assert not (machine.project / "gone").exists()


class TestDelivery:
    """An answer that cannot be written must not turn into a pass."""

    def run(
        self, machine: Machine, event: str, redirect: str
    ) -> "subprocess.CompletedProcess[str]":
        argv = [sys.executable, "-m", "hookline", "hook", "canonical", event, *machine.own]
        return subprocess.run(
            ["sh", "-c", f"exec {' '.join(argv)} {redirect}"],
            env=machine.env,
            cwd=machine.project,
            input='{"tool":{"command":"ls"}}' if event == "pre_tool_use" else "{}",
            capture_output=True,
            text=True,
            check=False,
        )

    @pytest.mark.parametrize("redirect", [">&-", pytest.param(">/dev/full", id="full")])
    def test_a_gate_closes_by_exit_code(self, machine: Machine, redirect: str) -> None:
        user(machine, DENY_ALL)
        done = self.run(machine, "pre_tool_use", redirect)
        assert done.returncode == 2
        # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
        assert done.stderr == "hookline: the answer could not be written to stdout\n"

    def test_an_agent_that_stops_may_still_stop(self, machine: Machine) -> None:
        assert self.run(machine, "stop", ">/dev/full").returncode == 1

    def test_a_reader_that_went_away_gets_no_traceback(self, machine: Machine) -> None:
        reader, writer = os.pipe()
        os.close(reader)
        with machine.start("hook", "canonical", *machine.own, stdout=writer) as process:
            os.close(writer)
            _, said = process.communicate(json.dumps(shell()).encode(), timeout=60)
        assert process.returncode == 2
        assert b"Traceback" not in said

    @pytest.mark.parametrize("redirect", ["2>&-", pytest.param("2>/dev/full", id="full")])
    def test_a_stderr_that_cannot_be_written_costs_no_answer(
        self, machine: Machine, redirect: str
    ) -> None:
        user(machine, BROKEN)
        done = self.run(machine, "pre_tool_use", redirect)
        assert done.returncode == 0
        assert json.loads(done.stdout)["verdict"] == "deny"

    def test_an_answer_that_nobody_reads_closes_the_gate_before_the_platform_gives_up(
        self, machine: Machine
    ) -> None:
        user(machine, DENY_ALL.replace("goes.", "goes. " * 50_000))
        with machine.start("hook", "canonical", *machine.own, "--timeout", "5") as process:
            assert process.stdin is not None
            assert process.stderr is not None
            process.stdin.write(json.dumps(shell()).encode())
            process.stdin.close()
            said = process.stderr.read()  # stdout is left alone
            assert process.wait(60) == 2
        assert b"the answer could not be written to stdout" in said

    def test_a_payload_that_never_ends_closes_the_gate_before_the_platform_gives_up(
        self, machine: Machine
    ) -> None:
        user(machine, DENY_ALL)
        words = ("hook", "claude-code", "PreToolUse", *machine.own, "--timeout", "3")
        with machine.start(*words) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(b'{"hook_event_name"')
            process.stdin.flush()
            said = json.loads(process.stdout.read())["hookSpecificOutput"]
            assert process.wait(60) == 0
        assert said["permissionDecision"] == "deny"
        assert "did not come to its end in time" in said["permissionDecisionReason"]

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_told_to_end_while_nobody_reads_it_closes_the_gate(
        self, machine: Machine, number: signal.Signals
    ) -> None:
        user(machine, DENY_ALL.replace("goes.", "goes. " * 50_000))
        with machine.start("hook", "canonical", *machine.own) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(shell()).encode())
            process.stdin.close()
            select.select([process.stdout], [], [], 60)  # it has begun to write
            process.send_signal(number)
            assert process.wait(60) == 2

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
    def test_told_to_end_before_its_payload_has_come_it_closes_the_gate(
        self, machine: Machine, number: signal.Signals
    ) -> None:
        with machine.start("hook", "canonical", "pre_tool_use", *machine.own) as process:
            assert process.stdin is not None
            until_it_reads(process)
            process.send_signal(number)
            said, _ = process.communicate(timeout=60)
        assert json.loads(said)["verdict"] == "deny"

    def test_both_streams_may_be_long_and_one_of_them_read_first(self) -> None:
        size = 300_000
        reply = f"Reply(stdout=b'o' * {size}, stderr=b'e' * {size}, exit_code=7)"
        program = (
            "import sys; from hookline.cli import hook; from hookline.model.outcome import Reply\n"
            "async def answer(call):\n"
            f"    return {reply}\n"
            "hook._answer = answer\n"
            "sys.exit(hook.main(['canonical', 'pre_tool_use']))"
        )
        for first in ("stdout", "stderr"):
            with subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            ) as process:
                one = getattr(process, first).read(size)
                other = process.communicate(timeout=60)
                assert process.returncode == 7
            assert len(one) + sum(map(len, other)) == 2 * size

    def test_an_interrupt_closes_the_gate(self, machine: Machine) -> None:
        ready = machine.base / "ready"
        os.mkfifo(ready)
        machine.trust(
            "version: 1\nhooks:\n"
            f"  - {{name: slow, on: pre_tool_use, run: 'echo > {ready}; sleep 60'}}\n"
        )
        with machine.start("hook", "canonical", *machine.own) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(shell()).encode())
            process.stdin.close()
            process.stdin = None
            ready.read_bytes()  # the hook runs
            process.send_signal(signal.SIGINT)
            said, error = process.communicate(timeout=60)
        assert json.loads(said)["verdict"] == "deny"
        assert b"it was interrupted" in error
        assert b"Traceback" not in error
