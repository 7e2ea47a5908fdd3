"""``hookline fire``: what a person, or a program that feeds it lines, sees of the hooks in force."""

import json
import signal
from pathlib import Path

import pytest

from hookline.app import App
from hookline.cli import fire
from hookline.model.events import Event
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from support.cli import Machine
from support.hostile_git import git

PRODUCTION = """\
version: 1
hooks:
  - name: production is off limits
    on: pre_tool_use
    match: {tool: shell, command: "*kubectl*--context prod*"}
    deny: Production changes go through the pipeline.
"""
KEYS = [
    "event",
    "id",
    "verdict",
    "reason",
    "context",
    "notice",
    "rewrite",
    "follow_up",
    "metadata",
    "runs",
    "substitutions",
]
KUBECTL = "kubectl delete ns x --context prod"


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def event(**fields: object) -> str:
    return json.dumps({"event": "pre_tool_use", **fields}) + "\n"


def shell(command: str) -> str:
    return event(tool={"name": "shell", "command": command})


class TestOneEvent:
    def test_the_rule_of_the_docs_denies_with_its_reason_file_and_line(
        self, machine: Machine
    ) -> None:
        machine.trust(PRODUCTION)
        done = machine.run(
            "fire", "pre_tool_use", "--tool", "shell", "--command", KUBECTL, "--json"
        )
        assert (done.code, done.err) == (0, "")
        where = f"{machine.config}:3"
        assert done.json["verdict"] == "deny"
        assert done.json["reason"] == "Production changes go through the pipeline."
        (run,) = done.json["runs"]
        assert run["ms"] >= 0
        assert run == {
            "hook": "production is off limits",
            "source": where,
            "verdict": "deny",
            "ms": run["ms"],
            "failed": None,
        }

    @pytest.mark.parametrize(
        "args",
        [
            ("pre_tool_use", "--tool", "shell", "--command", KUBECTL),
            ("pre_tool_use", "--tool", "shell", "--command", "ls"),
            ("session_start",),
            ("stop",),
            ("nonsense",),
        ],
    )
    def test_the_json_has_every_documented_key_in_order_and_no_other(
        self, machine: Machine, args: tuple[str, ...]
    ) -> None:
        machine.trust(PRODUCTION)
        shown = machine.call("fire", *args, "--json").json
        assert list(shown) == KEYS + (["error"] if args == ("nonsense",) else [])

    def test_a_person_reads_verdict_reason_and_source(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        done = machine.call("fire", "pre_tool_use", "--tool", "shell", "--command", KUBECTL)
        assert done.code == 0
        first, *rest = done.out.splitlines()
        assert first == f"deny   pre_tool_use        shell {KUBECTL}"
        assert rest[0].strip() == "Production changes go through the pipeline."
        assert rest[1].strip() == f"— production is off limits, {machine.config}:3"
        assert "\x1b" not in done.out

    def test_everything_a_hook_can_say_is_shown(self, machine: Machine) -> None:
        machine.trust(
            "version: 1\nhooks:\n"
            "  - {name: note, on: pre_tool_use, context: 'first\n\n    second'}\n"
            "  - {name: change, on: pre_tool_use, match: {command: git push},"
            " rewrite: {input: {command: git pull}}}\n"
            "  - {name: watch, on: pre_tool_use, mode: observe, deny: would have}\n"
            "  - {name: generous, on: pre_tool_use, match: {command: 'git pu*'}, allow: true}\n"
            "  - {name: broken, on: post_tool_use, run: exit 3}\n"
            "  - {name: go on, on: stop, run: 'echo more >&2; exit 2'}\n"
        )
        done = machine.call("fire", "pre_tool_use", "--tool", "shell", "--command", "git push")
        assert "to the model: first" in done.out
        assert "rewritten input: {'command': 'git pull'}" in done.out
        assert "watch (observed" in done.out
        assert "allow → pass" in done.out
        broken = machine.call("fire", "post_tool_use", "--tool", "shell")
        assert "failed" in broken.out
        assert "exit code 3" in broken.out
        assert "to you: hook `broken` failed: exit code 3" in broken.out
        assert "keep going: more" in machine.call("fire", "stop").out

    def test_an_unknown_event_names_the_nearest(self, machine: Machine) -> None:
        done = machine.call("fire", "pre_tool_us")
        assert (done.code, done.out) == (1, "")
        assert "did you mean `pre_tool_use`?" in done.err

    def test_an_unknown_event_is_denied_in_json(self, machine: Machine) -> None:
        done = machine.call("fire", "pre_tool_us", "--json")
        assert done.code == 1
        assert done.json["verdict"] == "deny"
        assert "did you mean `pre_tool_use`?" in done.json["error"]
        assert done.json["reason"] == done.json["error"]

    def test_a_command_alone_is_taken_for_a_shells(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        done = machine.call("fire", "pre_tool_use", "--command", KUBECTL, "--json")
        assert done.json["verdict"] == "deny"

    def test_a_hook_that_is_a_command_runs_for_real(self, machine: Machine) -> None:
        machine.trust(
            "version: 1\nhooks:\n"
            "  - name: lint\n    on: pre_tool_use\n"
            "    run: |\n"
            '      echo "$HOOKLINE_COMMAND" > ran; echo "no: $HOOKLINE_TOOL" >&2; exit 2\n'
        )
        done = machine.call("fire", "pre_tool_use", "--tool", "shell", "--command", "ls", "--json")
        assert done.json["verdict"] == "deny"
        assert done.json["reason"] == "no: shell"
        assert (machine.project / "ran").read_text(encoding="utf-8") == "ls\n"

    def test_without_an_event_the_payload_is_read_from_stdin(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        done = machine.call("fire", "--json", stdin=shell(KUBECTL))
        assert done.json["verdict"] == "deny"

    def test_nothing_is_written_down(self, machine: Machine) -> None:
        machine.call("fire", "session_start", "--session", "s1")
        assert not machine.state.exists()

    def test_a_broken_user_config_is_an_error_with_file_and_line(self, machine: Machine) -> None:
        machine.user_file.parent.mkdir(parents=True)
        machine.user_file.write_text("version: 1\nhoks: []\n", encoding="utf-8")
        done = machine.call("fire", "session_start")
        assert done.code == 1
        assert f"{machine.user_file}:2: `hoks` is not a key (did you mean `hooks`?)" in done.err
        shown = machine.call("fire", "session_start", "--json").json
        assert (shown["event"], shown["verdict"]) == ("session_start", "deny")


class TestOptions:
    @pytest.fixture
    def echo(self, machine: Machine) -> Machine:
        """A machine on which a hook tells the model the whole event."""
        events = "[pre_tool_use, post_tool_use, user_prompt_submit, session_start, notification]"
        machine.trust(f"version: 1\nhooks:\n  - {{name: echo, on: {events}, run: cat > seen}}\n")
        return machine

    def seen(self, machine: Machine, *args: str) -> dict[str, object]:
        done = machine.call("fire", *args)
        assert done.code == 0, done.err
        shown: dict[str, object] = json.loads((machine.project / "seen").read_text())
        return shown

    def test_tool_options_become_the_tool(self, echo: Machine) -> None:
        shown = self.seen(
            echo, "post_tool_use", "--tool", "write", "--path", "a", "--path", "b", "--output", "ok"
        )
        assert shown["tool"] == {
            "kind": "write",
            "name": "write",
            "input": {"path": "a", "paths": ["a", "b"]},
            "path": "a",
            "paths": ["a", "b"],
            "output": "ok",
        }

    def test_the_whole_input_may_be_given_as_json(self, echo: Machine) -> None:
        given = '{"url": "https://example.org", "depth": 2}'
        tool = self.seen(echo, "pre_tool_use", "--tool", "fetch", "--input", given)["tool"]
        assert isinstance(tool, dict)
        assert tool["input"] == {"url": "https://example.org", "depth": 2}
        assert tool["url"] == "https://example.org"

    def test_prompt_session_and_directory(self, echo: Machine) -> None:
        sub = echo.project / "sub"
        sub.mkdir()
        shown = self.seen(
            echo, "user_prompt_submit", "--prompt", "hi", "--session", "s7", "--cwd", "sub"
        )
        assert (shown["prompt"], shown["session_id"], shown["cwd"]) == ("hi", "s7", str(sub))

    def test_where_nothing_is_said_the_event_happens_here(self, echo: Machine) -> None:
        shown = self.seen(echo, "session_start")
        assert (shown["cwd"], shown["session_id"]) == (str(echo.project), "fire")

    @pytest.mark.parametrize("sub", ["sub", "./sub", "../project/sub"])
    def test_a_relative_directory_is_still_in_its_project(self, machine: Machine, sub: str) -> None:
        machine.trust(PRODUCTION)
        (machine.project / "sub").mkdir()
        done = machine.call("fire", "pre_tool_use", "--command", KUBECTL, "--cwd", sub, "--json")
        assert done.json["verdict"] == "deny"

    def test_set_fills_any_other_field(self, echo: Machine) -> None:
        shown = self.seen(
            echo, "session_start", "--set", "source=resume", "--set", 'budget={"used_tokens": 7}'
        )
        assert shown["source"] == "resume"
        assert isinstance(shown["budget"], dict)
        assert shown["budget"]["used_tokens"] == 7

    def test_set_reaches_into_a_field(self, echo: Machine) -> None:
        shown = self.seen(
            echo,
            "post_tool_use",
            *("--command", "ls"),
            *("--set", "tool.ok=false"),
            *("--set", "tool.duration_ms=2.5"),
            *("--set", "agent.name=reviewer"),
        )
        tool, agent = shown["tool"], shown["agent"]
        assert isinstance(tool, dict)
        assert isinstance(agent, dict)
        assert (tool["ok"], tool["duration_ms"], tool["command"]) == (False, 2.5, "ls")
        assert agent["name"] == "reviewer"

    def test_text_that_looks_like_json_stays_text_where_the_event_has_text(
        self, echo: Machine
    ) -> None:
        shown = self.seen(echo, "notification", "--set", "message=42", "--set", "kind=null")
        assert (shown["message"], shown["kind"]) == ("42", "null")

    def test_a_field_the_event_does_not_have_goes_to_raw(self, echo: Machine) -> None:
        shown = self.seen(echo, "session_start", "--set", "whatever=/tmp/x", "--set", "deep.er=[1]")
        assert shown["raw"] == {"whatever": "/tmp/x", "deep": {"er": [1]}}

    @pytest.mark.parametrize("pair", ["source", "=x", ""])
    def test_set_without_a_key_and_a_value_is_refused(self, machine: Machine, pair: str) -> None:
        done = machine.call("fire", "session_start", "--set", pair)
        assert done.code == 2
        assert "expected KEY=VALUE" in done.err

    def test_set_inside_something_that_is_no_object_is_refused(self, machine: Machine) -> None:
        done = machine.call("fire", "session_start", "--set", "source=a", "--set", "source.x=b")
        assert done.code == 2
        assert "`source` is no object" in done.err

    @pytest.mark.parametrize("given", ["{", "[]", "5", "", "{'a': 1}", '{"a":1} x'])
    def test_input_that_is_no_json_object_is_refused(self, machine: Machine, given: str) -> None:
        done = machine.call("fire", "pre_tool_use", "--input", given)
        assert done.code == 2
        assert "expected a JSON object" in done.err

    @pytest.mark.parametrize(
        "option", [("--tool", "shell"), ("--command", "ls"), ("--prompt", "x"), ("--set", "a=b")]
    )
    def test_an_option_without_an_event_is_refused_instead_of_waiting_for_stdin(
        self, machine: Machine, option: tuple[str, str]
    ) -> None:
        done = machine.call("fire", *option, stdin=event())
        assert done.code == 2
        assert f"{option[0]} needs an EVENT" in done.err

    def test_an_option_beside_jsonl_is_refused(self, machine: Machine) -> None:
        done = machine.call("fire", "--jsonl", "--command", "ls", stdin=event())
        assert done.code == 2
        assert "--command has no place beside --jsonl" in done.err

    def test_an_option_the_event_has_no_field_for_is_refused(self, machine: Machine) -> None:
        done = machine.call("fire", "stop", "--command", "ls")
        assert done.code == 2
        assert "`stop` has no tool, so --command says nothing" in done.err
        assert "has no prompt" in machine.call("fire", "stop", "--prompt", "x").err

    def test_what_is_no_utf8_is_refused(self, machine: Machine) -> None:
        done = machine.run("fire", "pre_tool_use", "--command", "a\udcffb")
        assert done.code == 2
        assert "no UTF-8" in done.err


class TestWhichBytes:
    DENY_ALL = "version: 1\nhooks:\n  - {name: all, on: pre_tool_use, deny: nothing goes}\n"

    def verdict(self, machine: Machine, *args: str, **env: str) -> str:
        shown = machine.call("fire", "pre_tool_use", "--command", "ls", "--json", *args, **env)
        verdict: str = shown.json["verdict"]
        return verdict

    def test_an_edit_does_not_count_before_it_is_trusted(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        machine.write(machine.config, self.DENY_ALL)
        assert self.verdict(machine) == "pass"
        assert self.verdict(machine, "--edited") == "deny"

    def test_a_trusted_rule_holds_after_it_was_edited_away(self, machine: Machine) -> None:
        machine.trust(self.DENY_ALL)
        machine.write(machine.config, "version: 1\n")
        assert self.verdict(machine) == "deny"
        assert self.verdict(machine, "--edited") == "pass"

    def test_a_file_never_trusted_counts_only_as_edited(self, machine: Machine) -> None:
        machine.write(machine.config, self.DENY_ALL)
        assert self.verdict(machine) == "pass"
        assert self.verdict(machine, "--edited") == "deny"

    def test_config_replaces_the_project_layer_and_needs_no_trust(self, machine: Machine) -> None:
        machine.trust(self.DENY_ALL)
        machine.write("other.yaml", PRODUCTION)
        assert self.verdict(machine, "--config", "other.yaml") == "pass"
        shown = machine.call(
            "fire", "pre_tool_use", "--command", KUBECTL, "--config", "other.yaml", "--json"
        )
        assert shown.json["verdict"] == "deny"

    def test_config_is_named_from_here_wherever_the_event_happens(self, machine: Machine) -> None:
        machine.write("other.yaml", self.DENY_ALL)
        assert self.verdict(machine, "--config", "other.yaml", "--cwd", "/") == "deny"

    def test_config_does_not_replace_the_users_own(self, machine: Machine) -> None:
        machine.user_file.parent.mkdir(parents=True)
        machine.user_file.write_text(self.DENY_ALL, encoding="utf-8")
        machine.write("other.yaml", PRODUCTION)
        assert self.verdict(machine, "--config", "other.yaml") == "deny"

    def test_a_config_that_is_not_there_is_an_error(self, machine: Machine) -> None:
        done = machine.call("fire", "stop", "--config", "nowhere.yaml")
        assert done.code == 1
        assert "there is no such file" in done.err

    def test_people_may_use_the_environment(self, machine: Machine) -> None:
        other = machine.write("other.yaml", self.DENY_ALL)
        assert self.verdict(machine, HOOKLINE_CONFIG=str(other)) == "deny"
        machine.write(machine.config, self.DENY_ALL)
        assert self.verdict(machine, HOOKLINE_TRUST="all") == "deny"


class TestLines:
    def test_one_line_out_for_each_line_in_and_in_order(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        commands = ["ls", KUBECTL, "git status", f"sudo {KUBECTL}", "true"]
        done = machine.run("fire", "--jsonl", stdin="".join(map(shell, commands)))
        assert (done.code, done.err) == (0, "")
        assert [shown["verdict"] for shown in done.lines] == [
            "pass",
            "deny",
            "pass",
            "deny",
            "pass",
        ]
        assert all(list(shown) == KEYS for shown in done.lines)

    def test_a_hook_that_failed_on_stop_is_told_with_the_next_prompt_of_its_session(
        self, machine: Machine
    ) -> None:
        machine.trust("version: 1\nhooks:\n  - {name: check, on: stop, run: ./gone}\n")
        lines = [("stop", "a"), ("user_prompt_submit", "b"), *[("user_prompt_submit", "a")] * 2]
        given = "".join(event(event=name, session_id=session) for name, session in lines)
        stop, *prompts = machine.run("fire", "--jsonl", stdin=given).lines
        assert ["check" in text for text in stop["notice"]] == [True]
        assert stop["verdict"] == "pass"
        assert stop["follow_up"] == []
        assert [len(shown["context"]) for shown in prompts] == [0, 1, 0]

    def test_a_bad_line_is_denied_with_an_error_and_the_rest_is_answered(
        self, machine: Machine
    ) -> None:
        machine.trust(PRODUCTION)
        bad = ["{", '{"event": "no_such"}', "[]", "null", '{"event": "pre_tool_use", "tool": 5}']
        given = shell("ls") + "".join(f"{line}\n" for line in bad) + shell("ls")
        done = machine.run("fire", "--jsonl", stdin=given)
        assert done.code == 1
        first, *middle, last = done.lines
        assert first["verdict"] == last["verdict"] == "pass"
        assert len(middle) == len(bad)
        for shown in middle:
            assert shown["verdict"] == "deny"
            assert list(shown) == [*KEYS, "error"]
            assert shown["error"] == shown["reason"] != ""

    def test_a_blank_line_is_a_bad_line_so_that_answers_never_shift(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        done = machine.call("fire", "--jsonl", stdin=f"\n{shell(KUBECTL)}  \n{shell('ls')}")
        assert done.code == 1
        assert [shown["verdict"] for shown in done.lines] == ["deny", "deny", "deny", "pass"]
        assert ["error" in shown for shown in done.lines] == [True, False, True, False]

    def test_no_line_in_is_no_line_out(self, machine: Machine) -> None:
        assert machine.call("fire", "--jsonl") == (0, "", "")

    def test_the_last_line_needs_no_line_break(self, machine: Machine) -> None:
        assert len(machine.call("fire", "--jsonl", stdin=shell("ls").strip()).lines) == 1

    def test_each_answer_is_there_before_the_next_question(self, machine: Machine) -> None:
        """A program may talk to it: write a line, read a line."""
        machine.trust(PRODUCTION)
        with machine.start("fire", "--jsonl") as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for command, verdict in [("ls", "pass"), (KUBECTL, "deny"), ("ls", "pass")]:
                process.stdin.write(shell(command).encode())
                process.stdin.flush()
                assert json.loads(process.stdout.readline())["verdict"] == verdict
            process.stdin.close()
            assert process.stdout.read() == b""
        assert process.returncode == 0

    def test_an_interrupt_ends_it_while_it_waits_for_the_next_question(
        self, machine: Machine
    ) -> None:
        with machine.start("fire", "--jsonl") as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(shell("ls").encode())
            process.stdin.flush()
            assert process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 130

    def test_an_event_on_the_command_line_is_that_of_lines_without_one(
        self, machine: Machine
    ) -> None:
        machine.trust(PRODUCTION)
        done = machine.call(
            "fire", "pre_tool_use", "--jsonl", stdin=json.dumps({"tool": {"command": KUBECTL}})
        )
        assert done.lines[0]["verdict"] == "deny"

    def test_lines_of_one_session_share_its_project_root(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        tool = {"command": KUBECTL}
        lines = [
            event(session_id="s", cwd=str(machine.project), tool=tool),
            event(session_id="s", cwd="/", tool=tool),
            event(session_id="t", cwd="/", tool=tool),
        ]
        done = machine.call("fire", "--jsonl", stdin="".join(lines))
        assert [shown["verdict"] for shown in done.lines] == ["deny", "deny", "pass"]

    def test_ids_are_the_payloads_own(self, machine: Machine) -> None:
        done = machine.call("fire", "--jsonl", stdin=event(id="mine"))
        assert done.lines[0]["id"] == "mine"

    def test_a_bug_costs_one_answer_and_not_all_of_them(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def sometimes(event: Event, app: App) -> Outcome:
            if event.id == "boom":
                raise ZeroDivisionError("oh")
            return await judge(event, app)

        monkeypatch.setattr("hookline.cli.fire.judge", sometimes)
        done = machine.call("fire", "--jsonl", stdin=event(id="boom") + event())
        assert done.code == 1
        assert [shown["verdict"] for shown in done.lines] == ["deny", "pass"]
        assert done.lines[0]["error"] == "ZeroDivisionError: oh"


class TestDialects:
    def test_as_a_dialect_shows_the_reply_it_would_give(self, machine: Machine) -> None:
        machine.trust(PRODUCTION)
        shown = machine.call("fire", "--as", "canonical", "--json", stdin=shell(KUBECTL)).json
        assert list(shown) == [*KEYS, "reply"]
        reply = shown["reply"]
        said = json.loads(reply["stdout"])
        assert said.pop("notice") == [f"— production is off limits, {machine.config}:3"]
        assert said == {"verdict": "deny", "reason": shown["reason"]}
        assert (reply["stderr"], reply["exit_code"]) == ("", 0)

    def test_as_works_for_lines_and_for_an_event_spelled_out(self, machine: Machine) -> None:
        lines = machine.call("fire", "--as", "canonical", "--jsonl", stdin=event()).lines
        assert lines[0]["reply"]["stdout"] == '{"verdict":"pass"}\n'
        shown = machine.call("fire", "stop", "--as", "canonical", "--json").json
        assert shown["reply"]["stdout"] == '{"verdict":"pass"}\n'

    def test_what_the_dialect_cannot_say_is_listed_with_what_it_says_instead(
        self, machine: Machine
    ) -> None:
        said = '{"verdict":"halt","reason":"enough"}'
        machine.trust(
            f"version: 1\nhooks:\n  - name: end\n    on: pre_compact\n    run: echo '{said}'\n"
        )
        assert machine.call("fire", "pre_compact", "--json").json["substitutions"] == []
        shown = machine.call("fire", "pre_compact", "--as", "claude-code", "--json").json
        assert shown["verdict"] == "halt"
        assert [change["from"] for change in shown["substitutions"]] == ["halt"]
        assert "deny" in shown["substitutions"][0]["to"]

    @pytest.mark.parametrize("mode", ["--json", "--jsonl"])
    def test_an_unknown_dialect_is_an_error_and_not_a_bad_line(
        self, machine: Machine, mode: str
    ) -> None:
        done = machine.call("fire", "--as", "canonicl", mode, stdin=event())
        assert (done.code, done.out) == (1, "")
        assert "did you mean `canonical`?" in done.err


def test_completion_knows_the_events() -> None:
    offered = fire._complete_event(None, None, "pre_")  # type: ignore[arg-type]
    assert {"pre_tool_use", "pre_compact", "pre_model_switch"} == set(offered)


def test_hooks_that_write_to_the_terminal_do_not_mix_with_the_outcome(machine: Machine) -> None:
    machine.trust(
        "version: 1\nhooks:\n  - {name: loud, on: stop, run: 'echo noise >&2; echo {}'}\n"
    )
    done = machine.run("fire", "stop", "--json")
    assert done.json["verdict"] == "pass"
    assert done.err == ""


class TestWorkspace:
    RULES = """\
version: 1
hooks:
  - name: nobody works on main
    on: pre_tool_use
    match: {repository: "acme/*", branch: main}
    deny: "{{ workspace.repository }} is on {{ workspace.branch }}"
  - name: tell
    on: session_start
    run: python3 -c 'import json,sys; print(*json.load(sys.stdin)["workspace"].values())'
"""

    def test_rules_and_programs_know_repository_branch_and_issue(self, machine: Machine) -> None:
        git(machine.project, "init", "-q", "-b", "main")
        git(machine.project, "remote", "add", "origin", "https://github.com/acme/app")
        machine.trust(self.RULES)
        denied = machine.call("fire", "pre_tool_use", "--tool", "shell", "--json").json
        assert (denied["verdict"], denied["reason"]) == ("deny", "acme/app is on main")
        git(machine.project, "switch", "-q", "-c", "fix-145")
        assert machine.call("fire", "pre_tool_use", "--json").json["verdict"] == "pass"
        told = machine.call("fire", "session_start", "--json").json["context"]
        assert told == ["acme/app fix-145 145"]


class TestNativeNames:
    @pytest.mark.parametrize("name", ["PreToolUse", "preToolUse", "before_tool_call", "BeforeTool"])
    def test_a_platforms_name_fires_the_canonical_event_and_says_which(
        self, name: str, machine: Machine
    ) -> None:
        machine.trust(PRODUCTION)
        done = machine.call("fire", name, "--tool", "shell", "--command", KUBECTL, "--json")
        assert (done.json["event"], done.json["verdict"]) == ("pre_tool_use", "deny")
        assert done.err == f"{name} is pre_tool_use\n"

    def test_one_without_a_canonical_event_is_for_that_event_alone(self, machine: Machine) -> None:
        machine.trust("version: 1\nhooks:\n  - {name: i, on: Interrupt, run: 'true'}\n")
        for name, runs in (("Interrupt", ["i"]), ("postResult", [])):
            done = machine.call("fire", name, "--json").json
            assert (done["event"], [run["hook"] for run in done["runs"]]) == ("other", runs)
        machine.write(
            "hookline.yaml", "version: 1\nhooks:\n  - {on: [Interrupt, stop], run: 'true'}\n"
        )
        said = machine.call("check").out
        assert "`Interrupt` has no canonical event (give it a hook of its own)" in said

    def test_the_canonical_name_needs_no_word(self, machine: Machine) -> None:
        assert machine.call("fire", "stop", "--json").err == ""

    def test_a_name_that_means_two_events_lists_both(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        meant = {"Halt": {"stop": ("gemini",), "session_end": ("codex",)}}
        monkeypatch.setattr("hookline.registry.native_events", lambda: meant)
        done = machine.call("fire", "Halt")
        assert done.code == 2
        assert "`Halt` means `session_end` (codex) or `stop` (gemini)" in done.err
