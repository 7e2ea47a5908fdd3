"""``hookline replay``: what a change of policy would have done to what has happened."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import hookline
from support.cli import Machine

CAPTURES = Path(hookline.__file__).parent / "dialects/claude_code/captures"
OLD = """\
version: 1
hooks:
  - {name: no-push, on: pre_tool_use, match: {command: "git push*"}, deny: Ask a person.}
  - {name: sure, on: pre_tool_use, match: {command: "rm *"}, ask: Sure?}
"""


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def hooks(*entries: str) -> str:
    return "version: 1\nhooks:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)


def shell(command: str, **fields: object) -> dict[str, object]:
    return {"event": "pre_tool_use", "tool": {"name": "shell", "command": command}, **fields}


def session(machine: Machine, *commands: str) -> None:
    """A session in which an agent runs these commands."""
    machine.hook({"event": "session_start", "source": "startup", "session_id": "s1"})
    for command in commands:
        machine.hook(shell(command, session_id="s1"))


def replayed(machine: Machine, *words: str, code: int) -> Any:
    done = machine.call("replay", "--json", *words)
    assert done.code == code, done.err or done.out
    return done.json


DENY = "#!/bin/sh\necho no >&2\nexit 2\n"


def guard(run: str = "./g.sh") -> str:
    return hooks(f"name: guard, on: pre_tool_use, run: {run}")


def counted(**counts: int) -> dict[str, int]:
    return {**dict.fromkeys(("same", "milder", "unknown", "stricter", "text"), 0), **counts}


def test_the_same_config_says_the_same(machine: Machine) -> None:
    machine.trust(OLD)
    session(machine, "git push", "rm x", "ls")
    report = replayed(machine, code=0)
    assert report["counts"] == counted(same=4)
    assert report["differences"] == []
    assert report["differs"] is False
    assert "Events judged again: 4\n      4 the same\n" in machine.call("replay").out


def test_a_changed_policy_is_told_by_counts_and_examples(machine: Machine) -> None:
    machine.trust(OLD)
    session(machine, "git push", "rm x", "ls", "curl x")
    machine.write(
        machine.config,
        hooks(
            "name: sure, on: pre_tool_use, match: {command: 'rm *'}, ask: Really sure?",
            "name: no-net, on: pre_tool_use, match: {command: 'curl *'}, deny: Stay here.",
        ),
    )
    report = replayed(machine, "--edited", code=1)
    assert report["counts"] == counted(same=2, milder=1, stricter=1, text=1)
    found = {each["subject"]: each for each in report["differences"]}
    milder, stricter, text = found["git push"], found["curl x"], found["rm x"]
    assert (milder["change"], milder["was"]["verdict"], milder["now"]["verdict"]) == (
        "milder",
        "deny",
        "pass",
    )
    assert milder["was"]["by"] == [f"no-push ({machine.config}:3)"]
    assert (stricter["change"], stricter["now"]["verdict"]) == ("stricter", "deny")
    assert stricter["now"]["by"] == [f"no-net ({machine.config}:4)"]
    assert (text["was"]["reasons"], text["now"]["reasons"]) == (["Sure?"], ["Really sure?"])
    out = machine.call("replay", "--edited").out
    assert "milder  pre_tool_use  git push" in out
    assert f"was deny  no-push ({machine.config}:3)" in out
    assert "1 stricter" in out


def test_a_line_that_moves_is_no_change(machine: Machine) -> None:
    machine.trust(OLD)
    session(machine, "git push", "rm x")
    machine.write(machine.config, OLD.replace("hooks:", "# more\n# lines\nhooks:"))
    assert replayed(machine, "--edited", code=0)["counts"]["same"] == 3


def test_another_file_may_be_judged_by(machine: Machine) -> None:
    machine.trust(OLD)
    session(machine, "git push", "ls")
    machine.write("new.yaml", "version: 1\n")
    report = replayed(machine, "--config", "new.yaml", code=1)
    assert report["counts"]["milder"] == 1


def test_a_session_or_a_time_may_be_chosen(machine: Machine) -> None:
    machine.trust(OLD)
    session(machine, "git push")
    machine.hook(shell("rm x", session_id="other"))
    assert sum(replayed(machine, "--session", "s1", code=0)["counts"].values()) == 2
    assert sum(replayed(machine, "--since", "1h", code=0)["counts"].values()) == 3
    assert sum(replayed(machine, "--limit", "1", code=0)["counts"].values()) == 1
    limited = machine.call("replay", "--limit", "2")
    assert "note: only the newest 2 events" in limited.err
    assert "note" not in machine.call("replay", "--limit", "3").err
    none = machine.call("replay", "--since", "2999-01-01")
    assert none.code == 2
    assert "there is no event to judge again" in none.err


class TestHooksThatAreNotRun:
    def test_a_program_is_taken_to_say_what_it_said(self, machine: Machine) -> None:
        machine.write("g.sh", "#!/bin/sh\necho ran >> log\necho no >&2\nexit 2\n", 0o755)
        machine.trust(hooks("name: guard, on: pre_tool_use, run: ./g.sh"))
        session(machine, "ls", "pwd")
        report = replayed(machine, code=0)
        assert report["counts"]["same"] == 3
        assert report["recalled"] == {"guard": 2}
        assert report["unknown"] == {}
        assert (machine.project / "log").read_text() == "ran\nran\n"
        assert "taken to say what they said then: guard (2)" in machine.call("replay").out

    def test_what_a_new_one_would_say_is_not_known(self, machine: Machine) -> None:
        machine.trust(OLD)
        session(machine, "ls")
        machine.write("g.sh", "#!/bin/sh\necho ran >> log\nexit 2\n", 0o755)
        machine.write(machine.config, hooks("name: guard, on: pre_tool_use, run: ./g.sh"))
        report = replayed(machine, "--edited", code=1)
        assert report["counts"] == counted(same=1, unknown=1)
        assert report["unknown"] == {"guard": 1}
        assert not (machine.project / "log").exists()
        assert "is not known: guard (1)" in machine.call("replay", "--edited").out

    def test_a_failure_of_then_is_judged_by_the_policy_of_now(self, machine: Machine) -> None:
        machine.trust(hooks("name: guard, on: pre_tool_use, run: 'exit 7'"))
        session(machine, "ls")
        machine.write(
            machine.config, hooks("name: guard, on: pre_tool_use, run: 'exit 7', on_error: warn")
        )
        report = replayed(machine, "--edited", code=1)
        assert report["counts"]["milder"] == 1

    def test_with_run_they_run(self, machine: Machine) -> None:
        machine.trust(OLD)
        session(machine, "ls")
        machine.write("g.sh", "#!/bin/sh\necho no >&2\nexit 2\n", 0o755)
        machine.write(machine.config, hooks("name: guard, on: pre_tool_use, run: ./g.sh"))
        report = replayed(machine, "--edited", "--run", code=1)
        assert report["counts"]["stricter"] == 1
        assert report["unknown"] == report["recalled"] == {}

    def test_one_that_is_another_now_is_not_taken_to_say_the_same(self, machine: Machine) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.write("h.sh", DENY, 0o755)
        machine.trust(guard())
        session(machine, "ls")
        machine.write(machine.config, guard("./h.sh"))
        report = replayed(machine, "--edited", code=1)
        assert report["counts"] == counted(same=1, unknown=1)
        assert (report["recalled"], report["unknown"]) == ({}, {"guard": 1})
        (difference,) = report["differences"]
        assert (difference["change"], difference["was"]["verdict"]) == ("unknown", "deny")
        shown = machine.call("replay", "--edited").out
        assert "1 not known: a hook that was not run is another one now, or new" in shown
        assert replayed(machine, "--edited", "--run", code=0)["counts"] == counted(same=2)

    @pytest.mark.parametrize("more", ["env: [TERM]", "timeout: 5", "guard: false"])
    def test_one_that_runs_otherwise_is_another(self, machine: Machine, more: str) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.trust(guard())
        session(machine, "ls")
        machine.write(machine.config, guard("./g.sh, " + more))
        assert replayed(machine, "--edited", code=1)["counts"] == counted(same=1, unknown=1)

    def test_one_whose_file_was_written_to_is_another(self, machine: Machine) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.trust(guard())
        session(machine, "ls")
        assert replayed(machine, code=0)["recalled"] == {"guard": 1}
        machine.write("g.sh", "#!/bin/sh\nexit 0\n", 0o755)
        # What was trusted is in force still.
        report = replayed(machine, code=0)
        assert report["recalled"] == {"guard": 1}
        assert any("g.sh" in note for note in report["notes"])
        assert replayed(machine, "--edited", code=1)["counts"] == counted(same=1, unknown=1)

    def test_what_ran_is_what_was_trusted_and_not_what_lay_there(self, machine: Machine) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.trust(guard())
        machine.write("g.sh", "#!/bin/sh\nexit 0\n", 0o755)
        session(machine, "ls")
        assert replayed(machine, code=0)["counts"] == counted(same=2)
        assert replayed(machine, "--edited", code=1)["counts"] == counted(same=1, unknown=1)

    @pytest.mark.parametrize("change", ["other", "gone", "swapped", "linked"])
    def test_one_of_the_persons_own_is_another_with_its_file(
        self, machine: Machine, change: str
    ) -> None:
        scripts = machine.person / "scripts"
        scripts.mkdir()
        file, other = scripts / "g.sh", machine.person / "other.sh"
        for each in (file, other):
            each.write_text(DENY, encoding="utf-8")
            each.chmod(0o755)
        other.write_text("#!/bin/sh\nexit 0\n", encoding="utf-8")
        machine.user_file.parent.mkdir(parents=True)
        own = "name: {0}, on: pre_tool_use, run: '{1}'"
        machine.user_file.write_text(
            hooks(own.format("whole", file), own.format("home", "~/scripts/g.sh"))
        )
        session(machine, "ls")
        report = replayed(machine, code=0)
        assert report["recalled"] == {"whole": 1, "home": 1}
        if change == "other":
            other.replace(file)
        elif change == "gone":
            file.unlink()
        elif change == "swapped":
            scripts.rename(machine.person / "old")
            scripts.mkdir()
            other.replace(file)
        else:
            file.unlink()
            file.symlink_to(other)
        report = replayed(machine, code=1)
        assert (report["unknown"], report["recalled"]) == ({"whole": 1, "home": 1}, {})

    def test_what_a_pattern_pins_belongs_to_the_hook(self, machine: Machine) -> None:
        machine.write("g.sh", "#!/bin/sh\n. lib/a.sh\n", 0o755)
        machine.write("lib/a.sh", "echo no >&2; exit 2\n")
        machine.trust(guard("./g.sh, pins: ['lib/*']"))
        session(machine, "ls")
        assert replayed(machine, "--edited", code=0)["recalled"] == {"guard": 1}
        machine.write("lib/b.sh", "exit 0\n")
        assert replayed(machine, "--edited", code=1)["unknown"] == {"guard": 1}

    def test_a_directory_that_fills_up_makes_it_no_other(self, machine: Machine) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.write("src/a", "")
        machine.trust(guard("./g.sh src ."))
        session(machine, "ls")
        machine.write("src/b", "")
        assert replayed(machine, "--edited", code=0)["recalled"] == {"guard": 1}

    def test_in_another_checkout_it_is_the_same(self, machine: Machine) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.trust(guard())
        session(machine, "ls")
        exported = machine.base / "session.jsonl"
        exported.write_text(machine.call("log", "--json").out, encoding="utf-8")
        other = machine.base / "checkout"
        shutil.copytree(machine.project, other)
        shutil.rmtree(machine.project)
        shutil.rmtree(machine.state)
        words = ("--jsonl", str(exported), "--config", str(other / "hookline.yaml"))
        done = machine.call("replay", "--json", *words, cwd=other)
        assert (done.code, done.json["recalled"]) == (0, {"guard": 1})

    def test_one_that_was_moved_or_renamed_is_the_same(self, machine: Machine) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.trust(guard())
        session(machine, "ls")
        machine.write("new.yaml", guard().replace("guard", "warden"))
        report = replayed(machine, "--config", "new.yaml", code=0)
        assert report["recalled"] == {"warden": 1}

    def test_of_two_that_do_the_same_each_says_what_it_said(self, machine: Machine) -> None:
        # It denies the first time, and passes the second.
        once = "[ -e seen ] || { touch seen; echo no >&2; exit 2; }"
        text = "name: {0}, on: pre_tool_use, priority: {1}, always: true, run: '{2}'"
        entries = [text.format(name, at, once) for name, at in (("one", 10), ("two", 20))]
        machine.trust(hooks(*entries))
        session(machine, "ls")
        machine.write(machine.config, hooks(entries[1]))
        assert replayed(machine, "--edited", code=1)["counts"] == counted(same=1, milder=1)
        machine.write(machine.config, hooks(entries[0]))
        assert replayed(machine, "--edited", code=0)["counts"] == counted(same=2)

    def test_one_that_is_asked_something_else_is_not_known(self, machine: Machine) -> None:
        machine.write(
            "g.sh", "#!/bin/sh\ngrep -q danger && { echo no >&2; exit 2; }; exit 0\n", 0o755
        )
        text = "name: r, on: pre_tool_use, priority: 10, rewrite: {{input: {{command: {}}}}}"
        inspect = "name: guard, on: pre_tool_use, run: ./g.sh"
        machine.trust(hooks(inspect))
        session(machine, "ls")
        machine.write(machine.config, hooks(text.format("danger"), inspect))
        report = replayed(machine, "--edited", code=1)
        assert (report["counts"], report["unknown"]) == (counted(same=1, unknown=1), {"guard": 1})
        assert replayed(machine, "--edited", "--run", code=1)["counts"]["stricter"] == 1

    def test_one_that_was_asked_about_a_rewritten_input_is_asked_the_same(
        self, machine: Machine
    ) -> None:
        machine.write("g.sh", DENY, 0o755)
        text = "name: r, on: pre_tool_use, priority: {}, rewrite: {{input: {{command: new}}}}"
        inspect = "name: guard, on: pre_tool_use, run: ./g.sh"
        for priority in (10, 60):  # the guard judges the final input, first or again
            machine.trust(hooks(text.format(priority), inspect))
            session(machine, "ls")
            report = replayed(machine, "--limit", "1", code=0)
            assert (report["counts"], report["recalled"]) == (counted(same=1), {"guard": 1})

    def test_the_same_unknown_hook_on_both_sides_makes_no_difference(
        self, machine: Machine
    ) -> None:
        machine.write("g.sh", DENY, 0o755)
        machine.write("events.jsonl", json.dumps(shell("ls")) + "\n")
        machine.write("old.yaml", guard())
        words = ("--jsonl", "events.jsonl", "--against", "old.yaml", "--config", "new.yaml")
        machine.write("new.yaml", guard().replace("guard", "warden"))
        assert replayed(machine, *words, code=0)["counts"] == counted(same=1)
        for old, new in ((guard(), OLD), (OLD, guard())):
            machine.write("old.yaml", old)
            machine.write("new.yaml", new)
            assert replayed(machine, *words, code=1)["counts"] == counted(unknown=1)

    @pytest.mark.parametrize(
        ("was", "now", "change"),
        [
            # One of which nothing is known may deny, so these are no milder for certain,
            ("deny: No.", "{}", "unknown"),
            ("ask: Sure?", "{}, ask: Sure?", "unknown"),
            # may allow, so this is no stricter for certain,
            ("allow: true", "{}", "unknown"),
            # and cannot take back what another has said.
            ("ask: Sure?", "{}, deny: No.", "stricter"),
            ("deny: No., {}", "ask: Sure?", "milder"),
            ("{}", "allow: true", "unknown"),
        ],
    )
    def test_what_holds_whatever_an_unknown_hook_would_say_is_certain(
        self, machine: Machine, was: str, now: str, change: str
    ) -> None:
        machine.write("events.jsonl", json.dumps(shell("ls")) + "\n")
        machine.user_file.parent.mkdir(parents=True)
        machine.user_file.write_text("version: 1\nproject_allow: true\n", encoding="utf-8")
        for name, entry in (("old.yaml", was), ("new.yaml", now)):
            rule = entry.replace("{}", "").strip(", ")
            program = ["name: program, on: pre_tool_use, run: ./g.sh"] if "{}" in entry else []
            rules = [f"name: rule, on: pre_tool_use, {rule}"] if rule else []
            machine.write(name, hooks(*rules, *program))
        words = ("--jsonl", "events.jsonl", "--against", "old.yaml", "--config", "new.yaml")
        assert replayed(machine, *words, code=1)["counts"] == counted(**{change: 1})

    def test_a_tree_that_is_too_large_to_look_through_is_no_deny(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        machine.write("g.sh", "#!/bin/sh\nexit 0\n", 0o755)
        machine.trust(guard("./g.sh, pins: ['lib/**']"))
        session(machine, "ls")
        for number in range(10):
            machine.write(f"lib/{number}", "")
        monkeypatch.setattr("hookline.config.pins.MAX_LOOKED_AT", 5)
        report = replayed(machine, "--edited", code=1)
        assert report["counts"] == counted(same=1, unknown=1)
        assert report["differences"][0]["now"]["verdict"] == "pass"

    def test_a_builtin_that_looks_at_the_moment_is_believed_about_then(
        self, machine: Machine
    ) -> None:
        def git(*words: str) -> None:
            subprocess.run(["git", *words], cwd=machine.project, check=True, capture_output=True)

        shutil.rmtree(machine.project / ".git")
        git("init", "-q", "-b", "main")
        machine.trust(hooks("name: branches, use: protect-branches"))
        session(machine, "git commit -m x")
        git("symbolic-ref", "HEAD", "refs/heads/feature")
        report = replayed(machine, code=0)
        assert (report["counts"], report["recalled"]) == (counted(same=2), {"branches": 1})
        machine.write("none.yaml", "version: 1\n")
        assert replayed(machine, "--config", "none.yaml", code=1)["counts"]["milder"] == 1

    def test_a_builtin_that_acts_is_not_asked(self, machine: Machine) -> None:
        machine.trust(hooks("name: keep, use: limit-output, with: {max_bytes: 200}"))
        event = {
            "event": "post_tool_use",
            "session_id": "s1",
            "tool": {"name": "shell", "command": "ls", "output": "line\n" * 1_000},
        }
        outputs = machine.base / "outputs"
        outputs.mkdir()
        machine.env["TMPDIR"] = str(outputs)
        machine.hook(event)
        assert list(outputs.iterdir()), "the whole output is in a file"
        shutil.rmtree(outputs)
        outputs.mkdir()
        report = replayed(machine, code=0)
        assert (report["recalled"], report["counts"]) == ({"keep": 1}, counted(same=1))
        assert not list(outputs.iterdir())

    def test_a_builtin_is_asked_on_events_on_which_it_only_answers(self, machine: Machine) -> None:
        text = "name: mcp, use: mcp-guard, with: {%s: [db.drop], pins: report, %s}"
        check = "check: session_start"
        machine.trust(hooks(text % ("ask", check)))
        machine.hook({"event": "session_start", "source": "startup", "session_id": "s1"})
        call = {"name": "mcp__db__drop", "mcp": {"server": "db", "tool": "drop"}}
        machine.hook({"event": "pre_tool_use", "session_id": "s1", "tool": call})
        assert replayed(machine, code=0)["recalled"] == {"mcp": 2}
        machine.write(machine.config, hooks(text % ("deny", check)))
        report = replayed(machine, "--edited", code=1)
        assert report["counts"] == counted(unknown=1, stricter=1)


class TestEventsThatDoNotCompare:
    def test_two_configs_differ_on_a_redacted_event_as_on_any_other(self, machine: Machine) -> None:
        machine.trust(OLD)
        machine.hook(shell("echo " + "ghp_" + "A1b2" * 9))
        machine.write("new.yaml", hooks("name: no, on: pre_tool_use, deny: No."))
        words = ("--config", "new.yaml", "--against", str(machine.config))
        report = replayed(machine, *words, code=1)
        assert (report["counts"], report["approximate"]) == (counted(), counted(stricter=1))

    def test_what_nobody_can_read_is_named_and_is_no_success(self, machine: Machine) -> None:
        machine.write("one.jsonl", json.dumps({"hook_event_name": "PreToolUse"}) + "\n")
        machine.write(machine.config, OLD)
        done = machine.call("replay", "--jsonl", "one.jsonl", "--edited")
        assert done.code == 2
        assert "1 left out: it could not be read" in done.out
        assert "one.jsonl:1: " in done.out
        assert "no event could be judged again; `--as DIALECT` says whose" in done.err

    def test_of_the_journals_own_events_the_dialect_is_known(self, machine: Machine) -> None:
        machine.trust(OLD)
        machine.hook(b"{half", "pre_tool_use")
        done = machine.call("replay")
        assert done.code == 2
        assert "no event could be judged again\n" in done.err

    def test_what_is_not_in_force_is_said(self, machine: Machine) -> None:
        machine.trust(OLD)
        session(machine, "ls")
        machine.write(machine.config, "version: 1\n")
        assert (
            f"note: `{machine.config}` changed since you trusted it" in machine.call("replay").out
        )

    def test_a_project_that_was_removed_is_judged_by_what_was_trusted(
        self, machine: Machine
    ) -> None:
        machine.trust(OLD)
        session(machine, "git push")
        shutil.rmtree(machine.project)
        elsewhere = machine.base / "elsewhere"
        elsewhere.mkdir()
        done = machine.call("replay", "--json", cwd=elsewhere)
        assert (done.code, done.json["counts"]) == (0, counted(same=2))

    def test_a_long_text_is_shown_by_its_beginning(self, machine: Machine) -> None:
        machine.trust(OLD)
        session(machine, "git push")
        long = "No. " * 2_000
        machine.write(
            machine.config,
            hooks(f"name: no-push, on: pre_tool_use, match: {{command: git *}}, deny: '{long}'"),
        )
        out = machine.call("replay", "--edited").out
        assert len(out) < 3_000
        assert "more characters" in out

    def test_redacted_events_are_counted_apart_and_fail_nothing(self, machine: Machine) -> None:
        token = "ghp_" + "A1b2" * 9
        machine.trust(
            hooks(f"name: leak, on: pre_tool_use, match: {{command: '*{token}*'}}, deny: No.")
        )
        session(machine, f"echo {token}", "ls")
        report = replayed(machine, code=0)
        assert report["counts"]["same"] == 2
        assert report["approximate"] == counted(milder=1)
        (difference,) = report["differences"]
        assert difference["approximate"] is True
        out = machine.call("replay").out
        assert "Approximate, since they were stored redacted or cut: 1" in out
        assert token not in out

    def test_what_was_not_judged_then_is_left_out(self, machine: Machine) -> None:
        machine.trust(OLD)
        machine.hook(b"{half", "pre_tool_use")
        machine.hook(shell("git push"))
        report = replayed(machine, code=0)
        assert report["skipped"] == {"it could not be read": 1}
        assert report["counts"]["same"] == 1

    def test_what_no_hook_was_asked_about_is_left_out(self, machine: Machine) -> None:
        halt = json.dumps({"verdict": "halt", "reason": "Enough."})
        machine.write("halt.sh", f"#!/bin/sh\necho '{halt}'\n", 0o755)
        machine.trust(hooks("name: g, on: pre_tool_use, match: {command: 'git *'}, run: ./halt.sh"))
        for command, words in (("git push", ()), ("ls", ()), ("ls", ("--timeout", "60"))):
            payload = {
                "hook_event_name": "PreToolUse",
                "session_id": "s1",
                "transcript_path": "/t",
                "turn_id": "1",
                "model": "m",
                "cwd": str(machine.project),
                "permission_mode": "default",
                "tool_name": "Bash",
                "tool_input": {"command": command},
                "tool_use_id": command,
            }
            call = ("hook", "codex", "PreToolUse", *machine.own, *words)
            machine.call(*call, stdin=json.dumps(payload))
        machine.user_file.parent.mkdir(parents=True)
        machine.user_file.write_text("version: 1\nhoks: []\n")
        machine.hook(shell("ls"))
        machine.user_file.unlink()
        report = replayed(machine, code=0)
        assert report["counts"]["same"] == 1
        assert report["skipped"] == {
            "the session had been halted": 1,
            "the same call had been answered a moment before": 1,
            "it could not be judged when it happened": 1,
        }
        assert "1 left out: the session had been halted" in machine.call("replay").out

    def test_to_let_an_agent_stop_is_milder_than_to_keep_it_going(self, machine: Machine) -> None:
        machine.trust(hooks("name: tests, on: stop, deny: Fix the tests."))
        machine.hook({"event": "stop", "session_id": "s1"})
        assert replayed(machine, code=0)["counts"]["same"] == 1
        machine.write("new.yaml", "version: 1\n")
        report = replayed(machine, "--config", "new.yaml", code=1)
        assert report["counts"]["milder"] == 1

    def test_what_a_builtin_tells_of_the_moment_is_no_difference(self, machine: Machine) -> None:
        machine.trust(hooks("name: when, use: add-date", "name: env, use: add-environment-info"))
        session(machine, "ls")
        (machine.project / "package.json").write_text("{}")
        assert replayed(machine, code=0)["differs"] is False


class TestFromFiles:
    def test_captures_are_judged_by_two_configs(self, machine: Machine) -> None:
        machine.write("old.yaml", "version: 1\n")
        machine.write("new.yaml", hooks("name: no, on: permission_request, deny: Never."))
        report = replayed(
            machine,
            *("--config", "new.yaml", "--against", "old.yaml", "--captures", str(CAPTURES)),
            code=1,
        )
        captured = list(CAPTURES.rglob("PermissionRequest-*.json"))
        assert report["counts"]["stricter"] == len(captured) > 1
        assert sum(report["counts"].values()) == len(list(CAPTURES.rglob("*.json")))
        assert report["differences"][0]["name"] in map(str, captured)

    def test_payloads_alone_are_compared_with_what_is_in_force(self, machine: Machine) -> None:
        machine.trust(OLD)
        (machine.base / "events.jsonl").write_text(
            "".join(json.dumps(shell(command)) + "\n" for command in ("git push", "ls"))
        )
        jsonl = ("--jsonl", str(machine.base / "events.jsonl"))
        machine.write("new.yaml", "version: 1\n")
        assert replayed(machine, *jsonl, "--config", "new.yaml", code=1)["counts"]["milder"] == 1
        missing = machine.call("replay", *jsonl)
        assert missing.code == 2
        assert "say what to compare with" in missing.err

    def test_what_log_printed_can_be_replayed_elsewhere(self, machine: Machine) -> None:
        machine.trust(OLD)
        session(machine, "git push", "rm x", "ls")
        exported = machine.base / "session.jsonl"
        exported.write_text(machine.call("log", "--json").out, encoding="utf-8")
        for file in (machine.state / "journal").iterdir():
            file.unlink()
        jsonl = ("--jsonl", str(exported))
        assert replayed(machine, *jsonl, code=0)["counts"]["same"] == 4
        machine.write("new.yaml", "version: 1\n")
        report = replayed(machine, *jsonl, "--config", "new.yaml", code=1)
        assert report["counts"]["milder"] == 2

    def test_the_dialect_of_bare_payloads_can_be_said(self, machine: Machine) -> None:
        payload = json.loads((CAPTURES / "PermissionRequest-Bash.json").read_text())["payload"]
        (machine.base / "one").mkdir()
        (machine.base / "one/a.json").write_text(json.dumps(payload))
        machine.write("new.yaml", hooks("name: no, on: permission_request, deny: Never."))
        words = ("--captures", str(machine.base / "one"), "--config", "new.yaml")
        report = replayed(machine, *words, "--as", "claude-code", code=1)
        assert report["counts"]["stricter"] == 1

    @pytest.mark.parametrize(
        ("words", "hint"),
        [
            (("--captures", "none"), "has no file that ends in .json"),
            (("--jsonl", "none"), "cannot be read"),
            (("--jsonl", "bad.jsonl"), "bad.jsonl:2: expected one JSON object"),
        ],
    )
    def test_what_is_no_event_is_named_with_its_line(
        self, machine: Machine, words: tuple[str, ...], hint: str
    ) -> None:
        machine.write("bad.jsonl", json.dumps(shell("ls")) + "\n[1]\n")
        done = machine.call("replay", *words)
        assert done.code == 2
        assert hint in done.err

    @pytest.mark.parametrize(
        "words",
        [
            ("--captures", "a", "--jsonl", "b"),
            ("--captures", "a", "--session", "s"),
            ("--as", "codex"),
            ("--captures", "a", "--limit", "5"),
            ("--jsonl", "a", "--dsn", "postgresql://localhost/none"),
            ("--captures", "a", "--as", "codx"),
        ],
    )
    def test_options_that_do_not_go_together_are_refused(
        self, machine: Machine, words: tuple[str, ...]
    ) -> None:
        assert machine.call("replay", *words).code == 2


def test_a_config_that_is_wrong_says_where(machine: Machine) -> None:
    machine.trust(OLD)
    session(machine, "ls")
    machine.write("new.yaml", "version: 1\nhoks: []\n")
    done = machine.call("replay", "--config", "new.yaml")
    assert done.code == 2, "1 says that a policy has changed"
    assert "new.yaml:2" in done.err


def test_a_replay_writes_nothing_down(machine: Machine) -> None:
    machine.trust(OLD)
    session(machine, "git push", "ls")
    before = machine.call("log", "--json").out
    replayed(machine, code=0)
    assert machine.call("log", "--json").out == before
