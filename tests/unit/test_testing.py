"""What hookline ships for people who test their hooks: each helper, and what it says on failure."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookline import (
    Answer,
    ConfigError,
    HooklineError,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    UserPromptSubmit,
    allow,
    ask,
    deny,
    follow_up,
    hook,
)
from hookline.model.errors import HandlerAnswerError, HandlerCrashed, HandlerError, HandlerTimeout
from hookline.testing import (
    assert_allowed,
    assert_asked,
    assert_continued,
    assert_denied,
    assert_passed,
    edit,
    fire,
    prompt,
    read,
    run_script,
    shell,
    stop,
    tool_result,
    write,
)

CONFIG = """\
version: 1
hooks:
  - {name: never, on: pre_tool_use, match: {command: never}, deny: Not this.}
  - {name: maybe, on: pre_tool_use, match: {command: maybe}, ask: Really?}
  - {name: go on, on: stop, run: 'echo Run the tests. >&2; exit 2'}
  - {name: broken, on: pre_tool_use, match: {command: broken}, run: exit 9}
  - {name: broken too, on: post_tool_use, run: exit 9}
"""


class TestEvents:
    def test_each_helper_makes_the_event_it_is_named_for(self) -> None:
        assert shell("ls -l").tool.command == "ls -l"
        assert (read("a").tool.kind, read("a").tool.path) == ("read", "a")
        assert (write("a", "x").tool.kind, write("a", "x").tool.content) == ("write", "x")
        changed = edit("a", "old", "new").tool
        assert (changed.kind, changed.path, changed.old, changed.new) == (
            "edit",
            "a",
            "old",
            "new",
        )
        assert isinstance(prompt("hi"), UserPromptSubmit)
        assert prompt("hi").prompt == "hi"
        assert isinstance(stop(), Stop)
        assert stop("done").last_message == "done"

    def test_other_fields_go_along(self) -> None:
        assert shell("ls", cwd="/srv", session_id="s").cwd == "/srv"
        assert stop(stop_hook_active=True).stop_hook_active

    def test_a_tool_that_has_run(self) -> None:
        event = tool_result("shell", "no such file", ok=False, command="cat x")
        assert isinstance(event, PostToolUse)
        assert (event.tool.output, event.tool.ok) == ("no such file", False)
        assert event.tool.command == "cat x"
        assert tool_result("shell", "fine").tool.ok is True


class TestFire:
    def test_a_function(self) -> None:
        assert_denied(fire(hook("pre_tool_use")(lambda event: deny("no")), shell("ls")), "^no")

    def test_the_text_of_a_config(self) -> None:
        assert_denied(fire(CONFIG, shell("never")), "Not this")

    @pytest.mark.parametrize("kind", [str, Path])
    def test_the_path_of_a_config(
        self, kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "hooks.yaml").write_text(CONFIG, encoding="utf-8")
        monkeypatch.chdir(tmp_path)
        assert_denied(fire(kind("hooks.yaml"), shell("never")), "Not this")
        outcome = fire(kind(tmp_path / "hooks.yaml"), shell("never"))
        assert_denied(outcome, "Not this")
        assert "hooks.yaml:3" in outcome.signature

    def test_programs_run_beside_their_config(self, tmp_path: Path) -> None:
        config = tmp_path / "hookline.yaml"
        config.write_text("version: 1\nhooks: [{on: session_start, run: pwd}]\n", encoding="utf-8")
        assert fire(config, SessionStart()).answer.context == (str(tmp_path),)

    def test_a_config_with_mistakes_raises_all_of_them(self) -> None:
        with pytest.raises(ConfigError) as caught:
            fire("version: 1\nhoks: []\nmore: 1\n", shell("ls"))
        assert [problem.line for problem in caught.value.problems] == [2, 3]

    def test_a_config_that_is_not_there_raises(self) -> None:
        with pytest.raises(ConfigError, match="there is no such file"):
            fire("nowhere.yaml", shell("ls"))

    def test_nothing_else_of_the_machine_plays_a_part(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        user = tmp_path / "hookline/hookline.yaml"
        user.parent.mkdir()
        user.write_text(CONFIG.replace("command: never", "command: ls"), encoding="utf-8")
        for name, value in {
            "XDG_CONFIG_HOME": str(tmp_path),
            "HOOKLINE_CONFIG": str(user),
            "HOOKLINE_HOME": str(tmp_path / "state"),
            "HOOKLINE_TRUST": "nonsense",
            "HOOKLINE_DEPTH": "9",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(user.parent)
        assert_passed(fire(CONFIG, shell("ls")))
        assert not (tmp_path / "state").exists()

    def test_the_environment_may_be_given(self) -> None:
        text = "version: 1\nhooks:\n  - {on: session_start, run: 'echo $WORD'}\n"
        outcome = fire(text, SessionStart(), env={"WORD": "mine", "PATH": os.defpath})
        assert outcome.answer.context == ("mine",)

    def test_an_async_test_is_told_what_to_do(self) -> None:
        async def test() -> None:
            with pytest.raises(HooklineError, match="an event loop is running here"):
                fire(CONFIG, shell("ls"))
            with pytest.raises(HooklineError, match="an event loop is running here"):
                run_script("x", shell("ls"))

        asyncio.run(test())

    def test_nothing_is_left_behind(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import tempfile

        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        fire(CONFIG, shell("ls"))
        assert list(tmp_path.iterdir()) == []


class TestAssertions:
    def test_they_hold_when_they_should(self) -> None:
        assert_denied(fire(CONFIG, shell("never")))
        assert_asked(fire(CONFIG, shell("maybe")), r"Really\?")
        assert_passed(fire(CONFIG, shell("ls")))
        assert_continued(fire(CONFIG, stop()), "tests")
        assert_allowed(fire(hook("pre_tool_use")(lambda event: allow("fine")), shell("ls")), "fine")

    def test_a_wrong_verdict_names_both_and_the_reason(self) -> None:
        with pytest.raises(AssertionError, match=r"^expected deny, got pass \(no reason\)$"):
            assert_denied(fire(CONFIG, shell("ls")))
        with pytest.raises(AssertionError, match=r"(?s)^expected ask, got deny \(Not this\..*\)$"):
            assert_asked(fire(CONFIG, shell("never")))
        with pytest.raises(AssertionError, match="expected pass, got ask"):
            assert_passed(fire(CONFIG, shell("maybe")))
        with pytest.raises(AssertionError, match="expected allow, got pass"):
            assert_allowed(fire(CONFIG, shell("ls")))

    def test_a_failed_hook_is_named_in_the_message(self) -> None:
        with pytest.raises(AssertionError, match=r"(?s)got deny .*; failed: broken: exit code 9"):
            assert_passed(fire(CONFIG, shell("broken")))

    def test_a_wrong_reason_shows_the_one_there_is(self) -> None:
        with pytest.raises(AssertionError, match="no `lease` in the reason: Not this"):
            assert_denied(fire(CONFIG, shell("never")), "lease")
        allowed = fire(hook("pre_tool_use")(lambda event: allow()), shell("ls"))
        with pytest.raises(AssertionError, match="no `x` in the reason: there is none"):
            assert_allowed(allowed, "x")

    def test_a_pass_with_a_failed_hook_is_no_pass(self) -> None:
        outcome = fire(CONFIG, tool_result("shell", "x"))
        assert outcome.verdict == "pass"
        with pytest.raises(AssertionError, match="a hook failed: broken too: exit code 9"):
            assert_passed(outcome)

    def test_an_agent_that_may_stop_is_not_continued(self) -> None:
        with pytest.raises(AssertionError, match="the agent may stop: pass"):
            assert_continued(fire(hook("stop")(lambda event: None), stop()))
        more = fire(hook("stop")(lambda event: follow_up("more")), stop())
        with pytest.raises(AssertionError, match="no `tests` in: more"):
            assert_continued(more, "tests")
        assert_continued(more)

    def test_they_hold_without_assert_statements_too(self) -> None:
        script = (
            "from hookline.testing import *\n"
            "from hookline import hook\n"
            "try:\n    assert_denied(fire(hook('pre_tool_use')(lambda e: None), shell('ls')))\n"
            "except AssertionError:\n    print('caught')\n"
        )
        done = subprocess.run([sys.executable, "-O", "-c", script], capture_output=True, check=True)
        assert done.stdout == b"caught\n"


class TestScripts:
    def script(self, base: Path, body: str) -> Path:
        file = base / "hook.sh"
        file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        file.chmod(0o755)
        return file

    def test_its_answer_is_read_as_hookline_reads_it(self, tmp_path: Path) -> None:
        file = self.script(tmp_path, "echo no >&2; exit 2")
        assert run_script(file, shell("ls")) == deny("no")
        file = self.script(tmp_path, """echo '{"verdict":"ask","reason":"sure?"}'""")
        assert run_script(str(file), shell("ls")) == ask("sure?")
        assert run_script(self.script(tmp_path, ":"), shell("ls")) == Answer()

    def test_it_gets_the_event_and_the_environment_of_a_hook(self, tmp_path: Path) -> None:
        body = 'read -r line; echo "$HOOKLINE_EVENT $HOOKLINE_COMMAND $HOOKLINE_DEPTH $(pwd)"'
        answer = run_script(self.script(tmp_path, body), PreToolUse(tool=shell("ls").tool))
        assert answer.context == (f"pre_tool_use ls 1 {tmp_path}",)
        seen = run_script(self.script(tmp_path, "cat > seen"), shell("ls", id="mine"))
        assert seen == Answer()
        assert '"id":"mine"' in (tmp_path / "seen").read_text(encoding="utf-8")

    def test_the_environment_may_be_given(self, tmp_path: Path) -> None:
        file = self.script(tmp_path, 'echo "$WORD"')
        assert run_script(file, SessionStart(), env={"WORD": "mine"}).context == ("mine",)

    @pytest.mark.parametrize(
        ("body", "error"),
        [
            ("exit 3", HandlerCrashed),
            ("echo '{'", HandlerAnswerError),
            ("kill -9 $$", HandlerCrashed),
        ],
    )
    def test_a_failure_is_raised(
        self, tmp_path: Path, body: str, error: type[HandlerError]
    ) -> None:
        with pytest.raises(error):
            run_script(self.script(tmp_path, body), shell("ls"))

    def test_one_that_hangs_is_ended(self, tmp_path: Path) -> None:
        with pytest.raises(HandlerTimeout):
            run_script(self.script(tmp_path, "sleep 60"), shell("ls"), timeout=0.1)

    def test_one_that_cannot_be_started_says_so(self, tmp_path: Path) -> None:
        file = self.script(tmp_path, ":")
        file.chmod(0o644)
        with pytest.raises(HandlerError, match="hook"):
            run_script(file, shell("ls"))
        with pytest.raises(HandlerError, match="nowhere"):
            run_script(tmp_path / "nowhere", shell("ls"))

    def test_an_unknown_dialect_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="did you mean `canonical`"):
            run_script(self.script(tmp_path, ":"), shell("ls"), speaks="canonicl")
