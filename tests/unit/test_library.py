"""hookline inside a Python program, and a file of functions as a hook program."""

import asyncio
import gc
import json
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import (
    Answer,
    ConfigError,
    HooklineError,
    Hooks,
    PreToolUse,
    SessionStart,
    context,
    deny,
    hook,
    tool,
)
from hookline.model.events import Error, Stop, TurnStart, UserPromptSubmit
from hookline.testing import assert_denied, assert_passed, shell
from support.cli import Machine

ROOT = Path(__file__).resolve().parents[2]


@hook("pre_tool_use", tool="shell", command="*kubectl*--context prod*")
def production(event: PreToolUse) -> Answer:
    return deny("Production changes go through the pipeline.")


@hook("session_start")
async def remember(event: SessionStart) -> Answer:
    await asyncio.sleep(0)
    return context("The staging cluster is down today.")


KUBECTL = shell("kubectl delete ns x --context prod")


class TestFunctionsAlone:
    def test_the_example_of_the_docs(self) -> None:
        hooks = Hooks(production, remember)
        outcome = hooks.fire_sync(KUBECTL)
        assert outcome.verdict == "deny"
        assert outcome.reason.startswith("Production changes go through the pipeline.")
        assert [run.hook.name for run in outcome.runs] == ["production"]
        said = hooks.fire_sync(SessionStart()).answer.context
        assert said == ("The staging cluster is down today.",)
        assert_passed(hooks.fire_sync(shell("ls")))

    def test_moments_that_the_platform_does_not_tell_are_derived(self) -> None:
        @hook("turn_start")
        def today(event: TurnStart) -> str:
            return f"today, with {event.derived_from}"

        @hook("stop")
        def breaks(event: Stop) -> None:
            raise ValueError("broken")

        heard = []

        @hook("error")
        def hear(event: Error) -> None:
            heard.append(event.where)

        hooks = Hooks(today, breaks, hear)
        prompt = UserPromptSubmit(prompt="go", dialect="codex", native_event="UserPromptSubmit")
        assert hooks.fire_sync(prompt).answer.context == ("today, with user_prompt_submit",)
        hooks.fire_sync(Stop())
        assert heard == ["breaks"]

    def test_a_program_registers_functions_of_basecoats_contract(self, tmp_path: Path) -> None:
        async def load_memory(event: dict[str, Any]) -> dict[str, Any]:
            memory = f"memory of {event['sessionId']}"
            return {"action": "injectContext", "additionalContext": [memory]}

        (tmp_path / "hookline.yaml").write_text(
            "version: 1\nhooks:\n  - {on: session_start, context: of the config}\n", "utf-8"
        )
        loaded = Hooks.load(tmp_path, config=tmp_path / "hookline.yaml", env={})
        for hooks, others in ((Hooks(), set()), (loaded, {"of the config"})):
            hooks.fire_sync(SessionStart())
            assert hooks.register("SessionStart", load_memory) is load_memory

            @hooks.register("PreToolUse", priority=10)
            def guard(event: dict[str, Any]) -> dict[str, Any] | None:
                is_push = "push -f" in event["tool"]["input"]["command"]
                return {"action": "block", "reason": "no force"} if is_push else None

            said = hooks.fire_sync(SessionStart(session_id="s1")).answer.context
            assert set(said) == {"memory of s1"} | others
            assert_denied(hooks.fire_sync(shell("git push -f")), "no force")
            assert_passed(hooks.fire_sync(shell("ls")))
            with pytest.raises(HooklineError, match="BaseCoat has no event `SessionStrat`"):
                hooks.register("SessionStrat", load_memory)
            hooks.close()

    def test_no_functions_pass_everything(self) -> None:
        assert_passed(Hooks().fire_sync(KUBECTL))

    def test_in_asynchronous_code_it_is_awaited(self) -> None:
        async def program() -> None:
            async with Hooks(production, remember) as hooks:
                assert (await hooks.fire(KUBECTL)).verdict == "deny"
                outcomes = await asyncio.gather(*(hooks.fire(SessionStart()) for _ in range(50)))
            assert all(outcome.answer.context for outcome in outcomes)

        asyncio.run(program())

    def test_fire_sync_refuses_where_a_loop_runs(self) -> None:
        async def program() -> None:
            with pytest.raises(HooklineError, match="use `await hooks"):
                Hooks(production).fire_sync(KUBECTL)

        asyncio.run(program())

    def test_hooks_nobody_closed_leave_no_open_loop(self) -> None:
        """Under ``-W error`` an open loop would fail the user's own tests."""
        hooks = Hooks(production)
        hooks.fire_sync(KUBECTL)
        assert hooks._runner is not None
        loop = hooks._runner.get_loop()
        del hooks
        gc.collect()
        assert loop.is_closed()

    def test_threads_may_fire_at_the_same_time(self) -> None:
        verdicts: list[str] = []
        with Hooks(production, remember) as hooks:

            def work() -> None:
                for _ in range(20):
                    verdicts.append(hooks.fire_sync(KUBECTL).verdict)
                    hooks.fire_sync(SessionStart())

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert verdicts == ["deny"] * 160

    def test_closing_twice_and_firing_afterwards_are_fine(self) -> None:
        hooks = Hooks(production)
        hooks.close()
        hooks.fire_sync(KUBECTL)
        hooks.close()
        hooks.close()
        assert hooks.fire_sync(KUBECTL).verdict == "deny"
        hooks.close()

    def test_an_error_in_the_block_is_not_swallowed(self) -> None:
        with pytest.raises(ZeroDivisionError), Hooks(production):
            raise ZeroDivisionError


class TestWithConfigs:
    @pytest.fixture
    def machine(self, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
        return Machine(tmp_path, capfdbinary)

    def named(self, name: str) -> str:
        return f"version: 1\nhooks:\n  - {{name: {name}, on: session_start, context: {name}}}\n"

    def test_layers_stand_user_before_code_before_project(self, machine: Machine) -> None:
        machine.user_file.parent.mkdir(parents=True)
        machine.user_file.write_text(self.named("user"), encoding="utf-8")
        machine.trust(self.named("project"))

        @hook("session_start")
        def code(event: SessionStart) -> str:
            return "code"

        with Hooks.load(machine.project, code, env=machine.env) as hooks:
            outcome = hooks.fire_sync(SessionStart())
        assert outcome.answer.context == ("user", "code", "project")

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can own a managed file")
    def test_managed_comes_first(self, machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
        from hookline import app, library

        managed = machine.base / "managed.yaml"
        managed.write_text(self.named("managed"), encoding="utf-8")

        class Managed(app.App):
            def __init__(self, **options: object) -> None:
                super().__init__(**options, managed=str(managed))  # type: ignore[arg-type]

        monkeypatch.setattr(library, "App", Managed)
        machine.base.chmod(0o755)
        with Hooks.load(
            machine.project, hook("session_start", name="c")(lambda e: "code"), env=machine.env
        ) as hooks:
            outcome = hooks.fire_sync(SessionStart())
        assert outcome.answer.context == ("managed", "code")

    def test_priorities_go_across_layers(self, machine: Machine) -> None:
        machine.trust(self.named("project"))
        late = hook("session_start", name="late", priority=60)(lambda event: "late")
        early = hook("session_start", name="early", priority=40)(lambda event: "early")
        with Hooks.load(machine.project, late, early, env=machine.env) as hooks:
            outcome = hooks.fire_sync(SessionStart())
        assert outcome.answer.context == ("early", "project", "late")

    def test_project_files_count_as_trusted_and_say_when_they_do_not(
        self, machine: Machine
    ) -> None:
        machine.write(machine.config, self.named("project"))
        with Hooks.load(machine.project, env=machine.env) as hooks:
            outcome = hooks.fire_sync(SessionStart())
        assert outcome.answer.context == ()
        assert "is not trusted" in outcome.answer.notice[0]
        with Hooks.load(machine.project, env={**machine.env, "HOOKLINE_TRUST": "all"}) as hooks:
            assert hooks.fire_sync(SessionStart()).answer.context == ("project",)

    def test_a_config_named_by_the_program_needs_no_trust(self, machine: Machine) -> None:
        other = machine.write("other.yaml", self.named("other"))
        with Hooks.load(machine.project, config=other, env=machine.env) as hooks:
            assert hooks.fire_sync(SessionStart()).answer.context == ("other",)

    def test_an_allow_from_code_counts_and_one_from_a_project_does_not(
        self, machine: Machine
    ) -> None:
        machine.trust("version: 1\nhooks:\n  - {on: pre_tool_use, match: {command: a}, allow: x}\n")
        allows = hook("pre_tool_use", name="ok", command="b")(lambda event: hookline.allow())
        with Hooks.load(machine.project, allows, env=machine.env) as hooks:
            assert hooks.fire_sync(shell("a")).verdict == "pass"
            assert hooks.fire_sync(shell("b")).verdict == "allow"

    def test_an_edit_is_seen_while_the_program_runs(self, machine: Machine) -> None:
        machine.trust(self.named("one"))
        with Hooks.load(machine.project, env=machine.env) as hooks:
            assert hooks.fire_sync(SessionStart()).answer.context == ("one",)
            machine.trust(self.named("two"))
            assert hooks.fire_sync(SessionStart()).answer.context == ("two",)

    def test_a_broken_config_is_an_error_with_file_and_line(self, machine: Machine) -> None:
        machine.user_file.parent.mkdir(parents=True)
        machine.user_file.write_text("version: 1\nhoks: []\n", encoding="utf-8")
        with (
            Hooks.load(machine.project, env=machine.env) as hooks,
            pytest.raises(ConfigError, match=r"hookline\.yaml:2: `hoks` is not a key"),
        ):
            hooks.fire_sync(SessionStart())

    def test_a_directory_that_is_none_is_an_error_and_not_an_empty_config(
        self, machine: Machine
    ) -> None:
        with pytest.raises(HooklineError, match="is no directory"):
            Hooks.load(machine.project / "nowhere", env=machine.env)

    def test_programs_of_a_config_get_the_programs_own_environment(self, machine: Machine) -> None:
        machine.trust("version: 1\nhooks:\n  - {on: session_start, run: 'echo $WORD'}\n")
        with Hooks.load(machine.project, env={**machine.env, "WORD": "mine"}) as hooks:
            assert hooks.fire_sync(SessionStart()).answer.context == ("mine",)

    @pytest.mark.parametrize("asynchronous", [True, False])
    def test_leaving_the_block_ends_the_workers(self, machine: Machine, asynchronous: bool) -> None:
        machine.write("pids.py", "import os\ndef pid(event):\n    return str(os.getpid())\n")
        machine.trust("version: 1\nhooks:\n  - {on: session_start, python: 'pids.py:pid'}\n")

        async def program() -> str:
            async with Hooks.load(machine.project, env=machine.env) as hooks:
                return (await hooks.fire(SessionStart())).answer.context[0]

        if asynchronous:
            pid = asyncio.run(program())
        else:
            with Hooks.load(machine.project, env=machine.env) as hooks:
                pid = hooks.fire_sync(SessionStart()).answer.context[0]
        with pytest.raises(ProcessLookupError):
            os.kill(int(pid), 0)


class Program:
    """A file of functions, run as an agent or hookline would run it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.file = base / "guard.py"

    def write(self, body: str) -> None:
        head = "import hookline\nfrom hookline import *\nfrom hookline import hook\n"
        tail = 'if __name__ == "__main__":\n    hookline.main()\n'
        self.file.write_text(f"{head}{textwrap.dedent(body)}\n{tail}", encoding="utf-8")

    def run(self, payload: bytes, *words: str) -> "subprocess.CompletedProcess[bytes]":
        # Without the flag that pytest's own caller may have set, Python buffers as it usually does.
        env = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
        return subprocess.run(
            [sys.executable, str(self.file), *words],
            input=payload,
            capture_output=True,
            env=env,
            timeout=60,
            check=False,
        )


GUARD = """
@hook("pre_tool_use", tool="shell")
def no(event):
    return deny("not here") if event.tool.command == "no" else None
"""
NO = b'{"event":"pre_tool_use","tool":{"command":"no"}}'


class TestAsAProgram:
    @pytest.fixture
    def program(self, tmp_path: Path) -> Program:
        return Program(tmp_path)

    def test_the_example_of_the_repository_is_an_executable_hook(self) -> None:
        script = ROOT / "examples/hookline/no_force_push.py"
        assert os.access(script, os.X_OK)
        env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}

        def verdict(command: str) -> str:
            payload = {"event": "pre_tool_use", "tool": {"name": "shell", "command": command}}
            done = subprocess.run(
                [script],
                input=json.dumps(payload).encode(),
                env=env,
                capture_output=True,
                check=True,
            )
            found: str = json.loads(done.stdout)["verdict"]
            return found

        assert verdict("git push --force") == "deny"
        assert verdict("git push -f origin main") == "deny"
        assert verdict("git push --force-with-lease") == "pass"

    def test_it_answers_with_one_line_of_json(self, program: Program) -> None:
        program.write(GUARD)
        done = program.run(NO)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.count(b"\n") == 1
        said = json.loads(done.stdout)
        assert said["verdict"] == "deny"
        assert said["reason"] == "not here"
        assert said["notice"][0].startswith(f"— no, {program.file}:")

    def test_the_event_may_stand_on_the_command_line(self, program: Program) -> None:
        program.write(GUARD)
        done = program.run(b'{"tool":{"command":"no"}}', "canonical", "pre_tool_use")
        assert json.loads(done.stdout)["verdict"] == "deny"

    def test_what_functions_print_does_not_mix_with_the_answer(self, program: Program) -> None:
        program.write(
            """
            import subprocess
            from unittest.mock import call
            print("noise at import")

            @hook("pre_tool_use")
            def loud(event):
                print("noise in the hook")
                subprocess.run(["echo", "noise of a child"], check=True)
                return deny("no")
            """
        )
        done = program.run(NO)
        assert json.loads(done.stdout)["verdict"] == "deny"
        assert b"noise" not in done.stdout
        assert b"noise in the hook" in done.stderr
        assert b"noise of a child" in done.stderr

    @pytest.mark.parametrize("payload", [b"", b"{", b"[]", b"\xff", b'{"event":"nope"}'])
    def test_a_payload_that_is_none_is_denied(self, program: Program, payload: bytes) -> None:
        program.write(GUARD)
        done = program.run(payload)
        assert json.loads(done.stdout)["verdict"] == "deny"
        assert done.stderr.startswith(b"hookline: ")
        assert b"Traceback" not in done.stderr
        lets_stop = program.run(payload, "canonical", "stop")
        assert json.loads(lets_stop.stdout) == {"verdict": "pass"}

    def test_an_unknown_dialect_exits_2_which_blocks(self, program: Program) -> None:
        program.write(GUARD)
        done = program.run(NO, "canonicl")
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"did you mean `canonical`?" in done.stderr

    def test_a_guard_that_raises_denies(self, program: Program) -> None:
        program.write('@hook("pre_tool_use")\ndef broken(event):\n    return 1 / 0\n')
        said = json.loads(program.run(NO).stdout)
        assert said["verdict"] == "deny"
        assert "ZeroDivisionError" in said["reason"]

    def test_a_program_without_hooks_is_a_failure_and_no_pass(self, program: Program) -> None:
        program.write("def forgotten(event):\n    return deny('no')\n")
        done = program.run(NO)
        assert json.loads(done.stdout)["verdict"] == "deny"
        assert b"no function of this program is marked with @hook" in done.stderr

    def test_a_closed_stdin_or_stdout_closes_the_gate(self, program: Program) -> None:
        program.write(GUARD)
        run = f"exec '{sys.executable}' '{program.file}'"
        done = subprocess.run(["sh", "-c", f"{run} <&-"], capture_output=True, check=False)
        assert json.loads(done.stdout)["verdict"] == "deny"
        assert b"stdin is closed" in done.stderr
        for redirect in (">&-", ">/dev/full", ">&- 2>&-"):
            done = subprocess.run(
                ["sh", "-c", f"{run} {redirect}"], input=NO, capture_output=True, check=False
            )
            assert done.returncode == 2, redirect
            assert b"Traceback" not in done.stderr

    def test_a_closed_stderr_costs_no_answer(self, program: Program) -> None:
        program.write(
            GUARD + '\n@hook("pre_tool_use", name="loud")\ndef b(event):\n    print("x")\n'
        )
        run = f"exec '{sys.executable}' '{program.file}' 2>&-"
        done = subprocess.run(["sh", "-c", run], input=NO, capture_output=True, check=False)
        assert json.loads(done.stdout)["verdict"] == "deny"

    def test_it_works_as_a_hook_of_a_config(
        self, program: Program, capfdbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        machine = Machine(program.base, capfdbinary)
        program.file = machine.project / "guard.py"
        program.write(GUARD)
        machine.trust(
            "version: 1\nhooks:\n"
            f"  - {{name: g, on: pre_tool_use, run: ['{sys.executable}', guard.py]}}\n"
        )
        assert_denied(
            Hooks.load(machine.project, env=machine.env).fire_sync(
                PreToolUse(tool=tool("shell", command="no"))
            ),
            "not here",
        )


def test_the_public_names_can_be_imported_with_a_star() -> None:
    names: dict[str, object] = {}
    exec("from hookline import *", names)
    assert set(hookline.__all__) <= set(names)


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute `nonsense`"):
        _ = hookline.nonsense
