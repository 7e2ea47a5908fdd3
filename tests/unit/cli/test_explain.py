"""``hookline explain``: why was this denied, and why did my hook not run?"""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Done, Machine


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def hooks(*entries: str) -> str:
    return "version: 1\nhooks:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)


def shell(command: str = "git push", **fields: object) -> dict[str, object]:
    return {"event": "pre_tool_use", "tool": {"name": "shell", "command": command}, **fields}


def user(machine: Machine, text: str) -> None:
    machine.user_file.parent.mkdir(parents=True, exist_ok=True)
    machine.user_file.write_text(text, encoding="utf-8")


def another(machine: Machine, text: str, name: str = "other") -> Path:
    """A second project, with its config in force."""
    project = machine.base / name
    (project / ".git").mkdir(parents=True)
    (project / "hookline.yaml").write_text(text, encoding="utf-8")
    done = machine.call("trust", cwd=project, says="yes")
    assert done.code == 0, done.err
    return project


def native(machine: Machine, dialect: str, *words: str, **fields: Any) -> Done:
    """A client's own payload, as its hook file calls us."""
    payload = {
        "session_id": "s1",
        "transcript_path": "/t",
        "cwd": str(machine.project),
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        "tool_name": "Bash",
        "tool_input": {"command": "git push"},
        "tool_use_id": "t1",
        **fields,
    }
    event = str(payload["hook_event_name"])
    return machine.call(
        "hook", dialect, event, *machine.own, *words, stdin=json.dumps(payload).encode()
    )


def explained(machine: Machine, *words: str) -> Any:
    done = machine.call("explain", "--json", *words)
    assert done.code == 0, done.err
    return done.json


def why(machine: Machine, hook: str, *words: str) -> tuple[str, str]:
    """The cause and the words for a hook that did not run on the last event."""
    told = explained(machine, "--last", *words)
    (found,) = [each for each in told["not_run"] if each["hook"] == hook]
    assert hook not in {each["hook"] for each in told["ran"]}
    assert f"  {hook}  {found['source']}" in machine.call("explain", "--last", *words).out
    return found["cause"], found["why"]


class TestWhyWasThisDenied:
    def test_a_rule_said_so(self, machine: Machine) -> None:
        machine.trust(hooks("name: no, on: pre_tool_use, match: {tool: shell}, deny: Not today."))
        machine.hook(shell())
        told = explained(machine)
        assert (told["verdict"], told["event"]) == ("deny", "pre_tool_use")
        assert told["reason"] == "Not today."
        assert told["merge"] == [
            f"deny: `no` ({machine.config}:3) said so, and nothing stricter was said."
        ]
        (ran,) = told["ran"]
        assert (ran["hook"], ran["source"], ran["tier"]) == ("no", f"{machine.config}:3", 50)
        assert (ran["verdict"], ran["reason"], ran["notes"]) == ("deny", "Not today.", ["decided"])
        assert ran["ms"] > 0
        assert told["told"]["exit_code"] == 0
        assert json.loads(told["told"]["stdout"])["verdict"] == "deny"
        assert told["told"]["means"] == "deny, notice"
        assert told["same_config"] is True

    def test_it_is_the_strictest_of_what_was_said(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: sure, on: pre_tool_use, ask: Sure?",
                "name: no, on: pre_tool_use, deny: No.",
            )
        )
        machine.hook(shell())
        (sentence,) = explained(machine)["merge"]
        assert sentence == (f"deny: `no` ({machine.config}:4) said so, the strictest of deny, ask.")

    def test_a_guard_failed(self, machine: Machine) -> None:
        machine.trust(hooks("name: guard, on: pre_tool_use, run: 'echo broken >&2; exit 7'"))
        machine.hook(shell())
        told = explained(machine)
        assert told["ran"][0]["failed"].startswith("exit code 7")
        assert "With `on_error: block`, as guards have it, that is a deny." in told["merge"][1]

    def test_a_guard_took_too_long(self, machine: Machine) -> None:
        machine.trust(hooks("name: slow, on: pre_tool_use, run: 'sleep 30', timeout: 50ms"))
        machine.hook(shell())
        assert "no answer within 0.05 s" in explained(machine)["merge"][1]

    def test_the_config_could_not_be_loaded(self, machine: Machine) -> None:
        user(machine, "version: 1\nhoks: []\n")
        machine.hook(shell())
        machine.user_file.unlink()
        told = explained(machine)
        assert told["verdict"] == "failed"
        assert f"{machine.user_file}:2" in told["failure"]
        assert "What cannot be judged is not let through." in told["merge"][0]

    def test_the_payload_could_not_be_read(self, machine: Machine) -> None:
        machine.trust(hooks("name: no, on: stop, run: x"))
        machine.hook(b"{half", "pre_tool_use")
        told = explained(machine)
        assert (told["verdict"], told["event"]) == ("failed", "")
        assert told["failure"]
        assert "(unreadable)" in machine.call("explain").out

    def test_a_guard_judged_what_another_hook_had_made_of_it(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: guard, on: pre_tool_use, match: {command: new}, deny: Never., priority: 10",
                "name: better, on: pre_tool_use, match: {command: old}, "
                "rewrite: {input: {command: new}}, priority: 40",
            )
        )
        machine.hook(shell("old"))
        told = explained(machine)
        assert told["verdict"] == "deny"
        assert (
            "`guard` judged the input once more, after another hook had rewritten it."
            in told["merge"]
        )

    def test_the_platform_has_no_ask(self, machine: Machine) -> None:
        machine.trust(hooks("name: sure, on: pre_tool_use, ask: Sure?"))
        native(machine, "codex", turn_id="1", model="m")
        told = explained(machine)
        assert told["verdict"] == "ask"
        (change,) = told["substitutions"]
        assert (change["from"], change["to"]) == ("ask", "deny")
        assert told["told"]["means"].startswith("deny")
        assert told["told"]["client"] == "Codex"

    def test_the_platform_cannot_take_a_rewrite(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: better, on: pre_tool_use, match: {command: git push}, "
                "rewrite: {env: {COLOUR: '1'}}"
            )
        )
        native(machine, "codex", turn_id="1", model="m")
        told = explained(machine, "--last")
        assert any(change["to"] == "deny" for change in told["substitutions"])
        assert told["told"]["means"].startswith("deny")

    def test_the_session_had_been_halted(self, machine: Machine) -> None:
        halt = json.dumps({"verdict": "halt", "reason": "Enough."})
        machine.write("halt.sh", f"#!/bin/sh\necho '{halt}'\n", 0o755)
        machine.trust(hooks("name: g, on: pre_tool_use, match: {command: 'git *'}, run: ./halt.sh"))
        native(machine, "codex", turn_id="1", model="m")
        native(machine, "codex", turn_id="1", model="m", tool_input={"command": "ls"})
        told = explained(machine, "--last")
        assert told["verdict"] == "deny"
        assert "the session had been halted" in told["merge"][0]
        assert why(machine, "g")[0] == "halted"

    def test_the_same_call_had_been_answered_already(self, machine: Machine) -> None:
        machine.trust(hooks("name: no, on: pre_tool_use, deny: No."))
        native(machine, "claude-code")
        native(machine, "claude-code", "--timeout", "60")
        told = explained(machine, "--last")
        assert told["verdict"] == "deny"
        assert "that answer was given again" in told["merge"][0]
        assert why(machine, "no")[0] == "answered"


class TestWhyDidMyHookNotRun:
    def test_it_is_on_another_event(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: [stop, session_end], run: x"))
        machine.hook(shell())
        assert why(machine, "mine") == ("event", "it is on stop, session_end, not on pre_tool_use")

    @pytest.mark.parametrize(
        ("match", "words"),
        [
            ("tool: edit", "`tool` is shell (`shell`), not `edit`"),
            ("command: 'rm *'", "`command` is `git push`, not `rm *`"),
            ("path: '*.py'", "the event has no `path`, and `*.py` is asked for"),
            ("dialect: codex", "`dialect` is `canonical`, not `codex`"),
            ("agent: helper", "`agent` is `root`, not `helper`"),
        ],
    )
    def test_a_key_of_its_match_does_not_hold(
        self, machine: Machine, match: str, words: str
    ) -> None:
        machine.trust(hooks(f"name: mine, on: pre_tool_use, match: {{{match}}}, deny: x"))
        machine.hook(shell())
        assert why(machine, "mine") == ("match", words)

    def test_a_grant_has_to_match_all_of_a_command(self, machine: Machine) -> None:
        user(machine, hooks("name: mine, on: pre_tool_use, match: {command: ls}, allow: true"))
        machine.hook(shell("ls && rm -r x"))
        cause, words = why(machine, "mine")
        assert cause == "match"
        assert words == "`command` is `ls && rm -r x`, and not every part of it is plainly `ls`"

    def test_an_exception_holds_for_a_while(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: mine, on: pre_tool_use, deny: x, "
                "except: {command: 'git *', until: 2999-01-01}"
            )
        )
        machine.hook(shell())
        assert why(machine, "mine") == (
            "except",
            "an exception holds: command `git *`, until 2999-01-01 00:00 UTC",
        )

    def test_another_file_makes_an_exception(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, deny: x"))
        user(machine, hooks("name: mine, except: {command: 'git *'}"))
        machine.hook(shell())
        assert why(machine, "mine") == (
            "except",
            f"an exception holds: command `git *` ({machine.user_file}:3)",
        )

    def test_another_file_switches_it_off(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, deny: x"))
        user(machine, "version: 1\n\ndisable:\n  - other\n  - mine\n")
        machine.hook(shell())
        assert why(machine, "mine") == (
            "disabled",
            f"it is switched off by `disable` in {machine.user_file}:5",
        )

    def test_hookline_is_paused(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, deny: x"))
        assert machine.call("pause", "10m", "--yes", HOOKLINE_TRUST="all").code == 0
        machine.hook(shell())
        cause, words = why(machine, "mine")
        assert cause == "paused"
        assert words.startswith("hookline is paused until ")

    def test_its_file_is_not_trusted(self, machine: Machine) -> None:
        machine.write(machine.config, hooks("name: mine, on: pre_tool_use, deny: x"))
        machine.hook(shell())
        cause, words = why(machine, "mine")
        assert cause == "untrusted"
        assert words.startswith(f"`{machine.config}` is not trusted, so nothing in it is active")

    def test_it_is_new_in_a_file_that_was_trusted_without_it(self, machine: Machine) -> None:
        machine.trust(hooks("name: old, on: stop, run: x"))
        machine.write(
            machine.config,
            hooks("name: old, on: stop, run: x", "name: mine, on: pre_tool_use, deny: x"),
        )
        machine.hook(shell())
        assert why(machine, "mine")[0] == "edited"

    def test_an_earlier_tier_ended_the_chain(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: first, on: pre_tool_use, deny: No., priority: 10",
                "name: mine, on: pre_tool_use, ask: Sure?",
            )
        )
        machine.hook(shell())
        cause, words = why(machine, "mine")
        assert cause == "ended"
        assert words.startswith(
            f"`first` ({machine.config}:3) said deny in an earlier tier, which ended the chain"
        )

    def test_one_that_is_alike_ran(self, machine: Machine) -> None:
        machine.trust(
            hooks("name: one, on: stop, run: 'true'", "name: mine, on: stop, run: 'true'")
        )
        machine.hook({"event": "stop"})
        cause, words = why(machine, "mine")
        assert cause == "duplicate"
        assert f"the same as `one` ({machine.config}:3)" in words

    def test_the_client_runs_its_own_file_itself(self, machine: Machine) -> None:
        settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}
        file = machine.write(".claude/settings.json", json.dumps(settings))
        machine.trust("version: 1\ninclude: [.claude/settings.json]\n")
        native(machine, "claude-code")
        told = explained(machine, "--last")
        (found,) = told["not_run"]
        assert found["cause"] == "native"
        assert found["why"].startswith(f"Claude Code runs the hooks of `{file}` itself")

    def test_a_matcher_of_another_platforms_file_does_not_hold(self, machine: Machine) -> None:
        entry = {"matcher": "Edit", "hooks": [{"type": "command", "command": "true"}]}
        machine.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": [entry]}}))
        machine.trust("version: 1\ninclude: [.claude/settings.json]\n")
        machine.hook(shell())
        (found,) = explained(machine, "--last")["not_run"]
        assert found["cause"] == "match"
        assert found["why"] == "its matcher `Edit` for PreToolUse does not hold for tool `shell`"

    def test_a_program_that_is_asked_first_said_it_is_for_another_event(
        self, machine: Machine
    ) -> None:
        machine.write(".kodelet/hooks/mine", "#!/bin/sh\necho agent_stop\n", 0o755)
        machine.trust("version: 1\ninclude: [.kodelet/hooks]\n")
        machine.hook(shell())
        told = explained(machine, "--last")
        asked = [each for each in told["not_run"] if each["cause"] == "not-asked"]
        assert [each["hook"] for each in asked] == ["mine before_tool_call"]

    def test_one_before_it_ended_the_turn_of_its_own_platforms_files(
        self, machine: Machine
    ) -> None:
        for name, said in (("a", '{"blocked":true,"reason":"No."}'), ("b", "{}")):
            script = f"#!/bin/sh\n[ $1 = hook ] && echo before_tool_call || echo '{said}'\n"
            machine.write(f".kodelet/hooks/{name}", script, 0o755)
        machine.trust("version: 1\ninclude: [.kodelet/hooks]\n")
        machine.hook(shell())
        cause, words = why(machine, "b before_tool_call")
        assert cause == "lane"
        assert words == (
            "`a before_tool_call` before it said deny, after which its own platform runs no more"
        )

    def test_as_it_was_stored_without_its_secrets_it_would_run(self, machine: Machine) -> None:
        token = "ghp_" + "A1b2" * 9
        machine.trust(
            hooks(f"name: mine, on: pre_tool_use, except: {{command: '*{token}*'}}, deny: No.")
        )
        machine.hook(shell(f"echo {token}"))
        assert why(machine, "mine") == (
            "unknown",
            "as the event was stored, redacted or cut, it would run",
        )

    def test_the_event_could_not_be_judged_at_all(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, deny: x"))
        user(machine, "version: 1\nhoks: []\n")
        machine.hook(shell())
        machine.user_file.unlink()
        assert why(machine, "mine")[0] == "failure"

    def test_it_was_written_since(self, machine: Machine) -> None:
        machine.trust(hooks("name: old, on: stop, run: x"))
        machine.hook(shell())
        machine.trust(hooks("name: old, on: stop, run: x", "name: mine, on: pre_tool_use, deny: x"))
        assert why(machine, "mine") == (
            "changed",
            "by the config that is active now it would run; that of then was another",
        )
        told = explained(machine, "--last")
        assert told["same_config"] is False
        assert any("told by what is active now" in note for note in told["notes"])

    def test_it_saw_what_an_earlier_hook_had_rewritten(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: better, on: pre_tool_use, match: {command: old}, "
                "rewrite: {input: {command: new}}, priority: 10",
                "name: mine, on: pre_tool_use, match: {command: old}, context: x",
            )
        )
        machine.hook(shell("old"))
        assert why(machine, "mine") == ("match", "`command` is `new`, not `old`")


class TestWhatItDidNotDo:
    def test_a_hook_that_only_observes_ran_and_did_not_count(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, deny: x, mode: observe"))
        machine.hook(shell())
        told = explained(machine, "--last")
        assert told["verdict"] == "pass"
        assert told["ran"][0]["notes"] == ["observed"]
        assert (
            "`mine` would have said deny; `mode: observe` only writes that down." in told["merge"]
        )

    def test_an_allow_of_a_project_does_not_count(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, allow: true"))
        machine.hook(shell())
        told = explained(machine, "--last")
        assert told["verdict"] == "pass"
        (change,) = told["substitutions"]
        assert (change["from"], change["to"]) == ("allow", "pass")
        assert "`project_allow` is not set" in change["why"]

    def test_a_hook_that_is_gone_since_is_told_with_its_old_place(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, deny: x"))
        machine.hook(shell())
        machine.trust(hooks("name: other, on: stop, run: x"))
        (ran,) = explained(machine)["ran"]
        assert (ran["source"], ran["tier"]) == (f"{machine.config}:3", None)
        assert "gone since" in ran["notes"]

    def test_without_a_config_now_it_still_tells_what_was_recorded(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, deny: x"))
        machine.hook(shell())
        user(machine, "version: 1\nhoks: []\n")
        told = explained(machine)
        assert told["ran"][0]["hook"] == "mine"
        assert told["not_run"] == []
        assert any("Why hooks did not run cannot be said" in note for note in told["notes"])

    def test_a_config_named_on_the_command_line_may_be_named_here(self, machine: Machine) -> None:
        file = machine.write("own.yaml", hooks("name: mine, on: stop, run: x"))
        machine.hook(shell(), "--config", str(file))
        assert explained(machine, "--last")["not_run"] == []
        told = explained(machine, "--last", "--config", "own.yaml")
        assert [each["hook"] for each in told["not_run"]] == ["mine"]
        assert told["same_config"] is True


class TestWhichEvent:
    def test_without_a_name_the_last_that_was_more_than_a_pass(self, machine: Machine) -> None:
        machine.trust(hooks("name: no, on: pre_tool_use, match: {command: git *}, deny: No."))
        machine.hook(shell("git push"))
        machine.hook(shell("ls"))
        assert explained(machine)["subject"] == "git push"
        assert explained(machine, "--last")["subject"] == "ls"

    @pytest.mark.parametrize(
        "entry",
        [
            "rewrite: {input: {command: new}}",
            "rewrite: {env: {COLOUR: '1'}}",
            "run: 'exit 7', on_error: warn",
            "deny: No., mode: observe",
        ],
    )
    def test_a_hook_that_judged_or_changed_something_or_failed_counts_whatever_came_of_it(
        self, machine: Machine, entry: str
    ) -> None:
        machine.trust(
            hooks(
                "name: no, on: pre_tool_use, match: {command: git *}, deny: No.",
                f"name: more, on: pre_tool_use, match: {{command: old}}, {entry}",
            )
        )
        machine.hook(shell("git push"))
        machine.hook(shell("old"))
        machine.hook(shell("ls"))
        told = explained(machine)
        assert (told["subject"], told["verdict"]) == ("old", "pass")

    def test_hooks_that_talk_do_not_hide_the_deny_before_them(self, machine: Machine) -> None:
        machine.write("say.sh", """#!/bin/sh\necho '{"notice": ["Look."]}'\n""", 0o755)
        machine.trust(
            hooks(
                "name: no, on: pre_tool_use, match: {command: git *}, deny: No.",
                "name: tell, on: pre_tool_use, match: {command: ls}, context: Mind.",
                "name: say, on: pre_tool_use, match: {command: pwd}, run: ./say.sh",
                "name: less, on: post_tool_use, rewrite: {output: less}",
            )
        )
        machine.hook(shell("git push"))
        machine.hook(shell("ls"))
        machine.hook(shell("pwd"))
        machine.hook({**shell("cat"), "event": "post_tool_use", "output": "more"})
        effects = [each["runs"][0]["effects"] for each in machine.call("log", "--json").lines[1:]]
        assert [set(each) for each in effects] == [{"context"}, {"notice"}, {"rewrite"}]
        assert explained(machine)["subject"] == "git push"

    def test_a_prompt_that_was_rewritten_counts(self, machine: Machine) -> None:
        machine.trust(hooks("name: brief, on: user_prompt_submit, rewrite: {prompt: Be brief.}"))
        machine.hook({"event": "user_prompt_submit", "prompt": "Go."})
        machine.hook(shell("ls"))
        assert explained(machine)["event"] == "user_prompt_submit"

    def test_a_follow_up_counts(self, machine: Machine) -> None:
        machine.write("on.sh", """#!/bin/sh\necho '{"follow_up": ["Go on."]}'\n""", 0o755)
        machine.trust(hooks("name: more, on: stop, run: ./on.sh"))
        machine.hook({"event": "stop"})
        machine.hook(shell("ls"))
        told = explained(machine)
        assert (told["event"], told["answer"]) == ("stop", {"follow_up": ["Go on."]})

    def test_of_a_hook_the_last_on_which_it_ran(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: no, on: pre_tool_use, match: {command: git *}, deny: No.",
                "name: fmt, on: post_tool_use, match: {command: git *}, run: 'exit 7'",
            )
        )
        machine.hook({**shell("git diff"), "event": "post_tool_use"})
        machine.hook({**shell("ls"), "event": "post_tool_use"})
        machine.hook(shell("git push"))
        told = explained(machine, "--hook", "fmt")
        assert (told["event"], told["subject"]) == ("post_tool_use", "git diff")
        assert told["ran"][0]["failed"].startswith("exit code 7")
        assert explained(machine, "--hook", "fmt", "--last")["subject"] == "git push"

    def test_of_a_hook_that_never_ran_the_last_of_a_kind_that_it_is_on(
        self, machine: Machine
    ) -> None:
        machine.trust(
            hooks(
                "name: no, on: pre_tool_use, deny: No.",
                "name: fmt, on: [permission_request, post_tool_use], match: {command: rm *}, run: x",
            )
        )
        machine.hook({**shell("ls"), "event": "post_tool_use"})
        machine.hook(shell("git push"))
        told = explained(machine, "--hook", "fmt")
        assert (told["event"], told["subject"]) == ("post_tool_use", "ls")
        assert told["not_run"][0]["why"] == "`command` is `ls`, not `rm *`"

    def test_of_a_hook_that_is_not_trusted_yet_the_last_of_a_kind_that_it_is_on(
        self, machine: Machine
    ) -> None:
        machine.write(machine.config, hooks("name: mine, on: post_tool_use, deny: x"))
        machine.hook({**shell("ls"), "event": "post_tool_use"})
        machine.hook(shell("pwd"))
        told = explained(machine, "--hook", "mine")
        assert (told["subject"], told["not_run"][0]["cause"]) == ("ls", "untrusted")

    def test_of_a_hook_that_never_ran_an_event_of_the_project_comes_first(
        self, machine: Machine
    ) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, match: {tool: edit}, deny: x"))
        other = machine.base / "other"
        (other / ".git").mkdir(parents=True)
        machine.hook(shell("here"))
        machine.hook(shell("there", cwd=str(other)))
        assert explained(machine, "--last")["subject"] == "there"
        assert explained(machine, "--hook", "mine")["subject"] == "here"

    def test_of_a_hook_the_last_of_this_project_on_which_it_ran(self, machine: Machine) -> None:
        entry = hooks("name: mine, on: pre_tool_use, match: {command: git *}, deny: x")
        other = another(machine, entry)
        machine.trust(entry)
        machine.hook(shell("git here"))
        machine.hook(shell("ls"))
        machine.hook(shell("git there", cwd=str(other)))
        assert explained(machine, "--hook", "mine")["subject"] == "git here"
        there = machine.call("explain", "--json", "--hook", "mine", cwd=other).json
        assert (there["subject"], there["project_dir"]) == ("git there", str(other))

    def test_of_a_hook_that_did_not_run_here_though_one_of_its_name_did_elsewhere(
        self, machine: Machine
    ) -> None:
        entry = hooks("name: mine, on: pre_tool_use, match: {command: git *}, deny: x")
        other = another(machine, entry)
        machine.trust(entry)
        machine.hook(shell("ls"))
        machine.hook(shell("git there", cwd=str(other)))
        machine.hook({"event": "stop"})
        told = explained(machine, "--hook", "mine")
        assert (told["subject"], told["not_run"][0]["cause"]) == ("ls", "match")

    def test_of_a_hook_that_nobody_here_knows_the_last_anywhere_on_which_it_ran(
        self, machine: Machine
    ) -> None:
        other = another(machine, hooks("name: mine, on: pre_tool_use, deny: x"))
        machine.hook(shell("there", cwd=str(other)))
        machine.hook(shell("here"))
        told = explained(machine, "--hook", "mine")
        assert (told["subject"], told["ran"][0]["hook"]) == ("there", "mine")

    def test_of_a_hook_without_an_event_here_the_last_anywhere_of_a_kind_that_it_is_on(
        self, machine: Machine
    ) -> None:
        user(machine, hooks("name: mine, on: pre_tool_use, match: {tool: edit}, deny: x"))
        other = another(machine, hooks("name: other, on: stop, run: x"))
        machine.hook(shell("there", cwd=str(other)))
        machine.hook({"event": "stop", "cwd": str(other)})
        told = explained(machine, "--hook", "mine")
        assert (told["subject"], told["not_run"][0]["cause"]) == ("there", "match")

    def test_of_a_hook_that_never_ran_and_nobody_here_knows_the_last_where_it_is_known(
        self, machine: Machine
    ) -> None:
        gone, there = machine.base / "gone", machine.base / "there"
        entry = hooks("name: mine, on: pre_tool_use, match: {tool: edit}, deny: x")
        another(machine, entry, "there")
        (gone / ".git").mkdir(parents=True)
        machine.hook(shell("there", cwd=str(there)))
        machine.hook({"event": "stop", "cwd": str(there)})
        machine.hook(shell("gone", cwd=str(gone)))
        machine.hook(shell("here"))
        machine.remove(gone)
        told = explained(machine, "--hook", "mine")
        assert (told["subject"], told["not_run"][0]["cause"]) == ("there", "match")
        unknown = machine.call("explain", "--hook", "nobodys")
        assert f"no hook called `nobodys` counts for `{machine.project}`" in unknown.err

    def test_of_a_hook_nothing_is_told_where_nothing_could_be_read(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: stop, run: x"))
        machine.hook(b"{half", "pre_tool_use")
        done = machine.call("explain", "--hook", "mine")
        assert (done.code, done.out) == (1, "")
        assert "`mine` neither: what came in could not be read" in done.err
        assert "``" not in done.err

    def test_an_id_and_a_session_do_not_go_together(self, machine: Machine) -> None:
        machine.hook(shell("ls", id="e1", session_id="one"))
        done = machine.call("explain", "e1", "--session", "two")
        assert (done.code, done.out) == (2, "")
        assert "leave out --session" in done.err

    def test_by_its_id_though_many_newer_ones_begin_with_it(self, machine: Machine) -> None:
        for name in ("e1", *(f"e1{at}" for at in range(10, 35))):
            machine.hook(shell(f"echo {name}", id=name))
        assert explained(machine, "e1")["subject"] == "echo e1"

    def test_with_nothing_but_passes_the_last(self, machine: Machine) -> None:
        machine.hook(shell("ls"))
        machine.hook(shell("pwd"))
        assert explained(machine)["subject"] == "pwd"

    def test_by_the_beginning_of_its_id(self, machine: Machine) -> None:
        machine.hook(shell("ls", id="e1aaa"))
        machine.hook(shell("pwd", id="e2bbb"))
        assert explained(machine, "e1")["subject"] == "ls"
        several = machine.call("explain", "e")
        assert several.code == 1
        assert "begins the ids of several events" in several.err

    def test_of_one_session(self, machine: Machine) -> None:
        machine.hook(shell("ls", session_id="one"))
        machine.hook(shell("pwd", session_id="two"))
        assert explained(machine, "--session", "one")["subject"] == "ls"
        none = machine.call("explain", "--session", "three")
        assert (none.code, none.out) == (1, "")
        assert "no event of session `three` has been written down yet" in none.err

    def test_one_that_is_not_there_says_so(self, machine: Machine) -> None:
        machine.hook(shell())
        done = machine.call("explain", "nope")
        assert (done.code, done.out) == (1, "")
        assert "no event in the journal has an id that begins with `nope`" in done.err

    def test_without_a_journal_it_says_how_one_begins(self, machine: Machine) -> None:
        done = machine.call("explain")
        assert (done.code, done.out) == (1, "")
        assert "there is no journal at" in done.err

    def test_an_id_and_last_do_not_go_together(self, machine: Machine) -> None:
        assert machine.call("explain", "e1", "--last").code == 2

    def test_one_hook_may_be_asked_about(self, machine: Machine) -> None:
        machine.trust(hooks("name: a, on: stop, run: x", "name: b, on: pre_tool_use, deny: No."))
        machine.hook(shell())
        told = explained(machine, "--hook", "a")
        assert [each["hook"] for each in told["not_run"]] == ["a"]
        assert told["ran"] == []
        unknown = machine.call("explain", "--hook", "bb")
        assert unknown.code == 1
        assert (
            f"no hook called `bb` counts for `{machine.project}`; did you mean `b`?" in unknown.err
        )

    def test_it_is_judged_where_it_happened_not_where_one_asks(self, machine: Machine) -> None:
        machine.trust(hooks("name: mine, on: pre_tool_use, match: {tool: edit}, deny: x"))
        machine.hook(shell())
        done = machine.call("explain", "--json", cwd=machine.base)
        assert [each["hook"] for each in done.json["not_run"]] == ["mine"]


class TestWhatAPersonReads:
    def test_all_parts_stand_in_order(self, machine: Machine) -> None:
        machine.trust(
            hooks(
                "name: no, on: pre_tool_use, deny: No.",
                "name: tell, on: pre_tool_use, context: Mind.",
                "name: later, on: stop, run: x",
            )
        )
        machine.hook(shell(session_id="s1"))
        out = machine.call("explain").out
        parts = [
            "deny  pre_tool_use  git push",
            "session s1",
            "What came in",
            '"command": "git push"}',
            "Hooks that ran, in order",
            "rule  no (decided)",
            "How that became one outcome",
            "What the caller got",
            "exit code 0",
            "Hooks that did not run",
            "it is on stop, not on pre_tool_use",
        ]
        places = [out.index(part) for part in parts]
        assert places == sorted(places)

    def test_a_redacted_event_is_called_so(self, machine: Machine) -> None:
        token = "ghp_" + "A1b2" * 9
        machine.hook(shell(f"curl -H 'Authorization: Bearer {token}' x"))
        done = machine.call("explain")
        assert token not in done.out
        assert "taken out" in done.out
        told = explained(machine)
        assert told["approximate"] is True
        assert told["redactions"] > 0

    def test_nothing_in_an_event_can_paint_the_terminal(self, machine: Machine) -> None:
        machine.hook(shell("echo \x1b[2J"))
        assert "\x1b" not in machine.call("explain").out
