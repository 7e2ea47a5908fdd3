"""What a session remembers of its denials, from whichever hook, through every way in."""

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert

from hookline.app import App
from hookline.builtin import no_workarounds
from hookline.library import Hooks
from hookline.model.answers import Verdict
from hookline.model.events import (
    Agent,
    Event,
    PermissionRequest,
    PreToolUse,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from hookline.pipeline.judge import judge
from hookline.testing import read, shell, write
from support.cli import Machine
from support.faults import world

CONFIG = """\
version: 1
hooks:
  - use: no-workarounds
  - name: nothing is removed
    on: pre_tool_use
    match: {command: "rm *"}
    deny: Nothing is removed here.
  - name: no push
    on: pre_tool_use
    match: {command: "git push*"}
    run: "test -e $HOOKLINE_PROJECT_DIR/tested || { echo run the tests first >&2; exit 2; }"
  - name: a person decides
    on: pre_tool_use
    match: {command: "mv *"}
    ask: Is it to be moved?
  - name: broken
    on: pre_tool_use
    match: {command: "frob *"}
    run: "exit 1"
  - use: protect-paths
"""


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    found = Machine(tmp_path, capfdbinary)
    found.write("build/a.o", "x")
    found.write("other/z", "x")
    found.write(".git/HEAD", "ref: refs/heads/main\n")
    return found


class Session:
    """Events of one session, fired one after the other at one app."""

    def __init__(self, machine: Machine, config: str = CONFIG, name: str = "s") -> None:
        machine.user_file.parent.mkdir(parents=True, exist_ok=True)
        machine.user_file.write_text(config, encoding="utf-8")
        self.cwd = str(machine.project)
        self.name = name
        self.app = App(
            env=machine.env,
            cwd=self.cwd,
            home=str(machine.state),
            managed=str(machine.base / "managed.yaml"),
        )

    def fire(self, *events: Event) -> list[Outcome]:
        async def work() -> list[Outcome]:
            return [await judge(event, self.app) for event in events]

        return asyncio.run(work())

    def shell(self, *commands: str) -> list[Outcome]:
        return self.fire(*(shell(each, session_id=self.name, cwd=self.cwd) for each in commands))

    def prompt(self, text: str = "go on", **fields: Any) -> None:
        self.fire(UserPromptSubmit(prompt=text, session_id=self.name, cwd=self.cwd, **fields))


def verdicts(outcomes: Sequence[Outcome]) -> list[str]:
    return [each.verdict.value for each in outcomes]


PYTHON = "python3 -c \"import shutil; shutil.rmtree('build')\""
FIND = "find build -delete"


class TestInOneSession:
    def test_a_denied_deletion_is_denied_by_another_route_and_the_model_is_told_why(
        self, machine: Machine
    ) -> None:
        first, again = Session(machine).shell("rm -rf build", PYTHON)
        assert verdicts([first, again]) == ["deny", "deny"]
        assert str(machine.project / "build") in again.reason
        assert "`nothing is removed` denied before" in again.reason
        assert "Nothing is removed here." in again.reason
        assert "Ask the user" in again.reason

    def test_the_same_route_passes_when_nothing_was_denied_before(self, machine: Machine) -> None:
        assert verdicts(Session(machine).shell(PYTHON, FIND)) == ["pass", "pass"]

    def test_another_session_is_not_held_to_it(self, machine: Machine) -> None:
        session = Session(machine)
        session.shell("rm -rf build")
        session.name = "other"
        assert verdicts(session.shell(FIND)) == ["pass"]

    def test_a_sub_agent_of_the_session_is_held_to_it(self, machine: Machine) -> None:
        session = Session(machine)
        session.shell("rm -rf build")
        helper = Agent(name="helper", depth=1)
        event = shell(FIND, session_id="s", cwd=session.cwd, agent=helper)
        assert verdicts(session.fire(event)) == ["deny"]

    def test_without_the_builtin_nothing_is_remembered(self, machine: Machine) -> None:
        session = Session(machine, CONFIG.replace("  - use: no-workarounds\n", ""))
        assert verdicts(session.shell("rm -rf build", FIND)) == ["deny", "pass"]

    def test_a_script_is_read_when_it_is_run_and_not_when_it_is_written(
        self, machine: Machine
    ) -> None:
        session = Session(machine)
        session.shell("rm -rf build")
        written = write("x.sh", "rm -rf build\n", session_id="s", cwd=session.cwd)
        assert verdicts(session.fire(written)) == ["pass"]
        machine.write("x.sh", "rm -rf build\n")
        assert verdicts(session.shell("bash x.sh")) == ["deny"]
        machine.write("x.sh", "ls build\n")
        assert verdicts(session.shell("bash x.sh")) == ["pass"]

    def test_a_builtin_guards_denial_is_remembered_too(self, machine: Machine) -> None:
        session = Session(machine)
        (machine.person / ".ssh").mkdir()
        (machine.person / ".ssh/id_rsa").write_text("key", encoding="utf-8")
        link = machine.project / "notes"
        event = read("~/.ssh/id_rsa", session_id="s", cwd=session.cwd)
        denied, other = session.fire(event, read("notes", session_id="s", cwd=session.cwd))
        assert verdicts([denied, other]) == ["deny", "pass"]
        link.symlink_to(machine.person / ".ssh/id_rsa")
        (said,) = session.shell("base64 notes")
        assert said.verdict is Verdict.DENY
        assert "`protect-paths` denied before" in said.reason

    def test_a_denial_on_a_permission_request_is_remembered(self, machine: Machine) -> None:
        config = CONFIG.replace("on: pre_tool_use\n    match: {command: \"rm *\"}",
                                "on: permission_request\n    match: {command: \"rm *\"}")  # fmt: skip
        session = Session(machine, config)
        event = PermissionRequest(
            tool=tool("shell", command="rm -rf build"), session_id="s", cwd=session.cwd
        )
        assert verdicts([*session.fire(event), *session.shell(FIND)]) == ["deny", "deny"]

    def test_what_a_person_is_asked_about_is_not_denied(self, machine: Machine) -> None:
        said = Session(machine).shell("mv build /tmp/x", "mv build /tmp/y", "cp -r build /tmp/x")
        assert verdicts(said) == ["ask", "ask", "pass"]

    def test_an_ask_that_the_platform_can_only_say_as_a_deny_is_one(self, machine: Machine) -> None:
        session = Session(machine)
        events = [
            PreToolUse(
                tool=tool("Bash", command=command),
                session_id="s",
                cwd=session.cwd,
                dialect="codex",
                native_event="PreToolUse",
            )
            for command in ("mv build /tmp/x", "cp -r build /tmp/x && rm -rf build; true")
        ]
        asked, other = session.fire(*events)
        assert asked.verdict is Verdict.ASK
        assert other.verdict is Verdict.DENY
        assert "`a person decides` denied before" in other.reason

    def test_a_hook_that_failed_has_judged_nothing(self, machine: Machine) -> None:
        said = Session(machine).shell("frob build/a.o", "bash -c 'frob  build/a.o'")
        assert said[0].verdict is Verdict.DENY
        assert "denied before" not in said[1].reason

    def test_its_own_denials_are_not_remembered(self, machine: Machine) -> None:
        # Else deleting a directory above would make all of it untouchable.
        said = Session(machine).shell("rm build/a.o", "find . -delete", "find other -delete")
        assert verdicts(said) == ["deny", "deny", "pass"]


class TestTheSameCallOnceMore:
    def test_whoever_denied_it_judges_it_anew(self, machine: Machine) -> None:
        session = Session(machine)
        push, other = "git push origin main", "git push upstream HEAD:main"
        assert verdicts(session.shell(push)) == ["deny"]
        machine.write("tested", "")
        held, passed, free = session.shell(other, push, other)
        assert "repeat the denied call unchanged" in held.reason
        assert held.verdict is Verdict.DENY
        # The hook lets its own call through, so the act is no longer held against anybody.
        assert passed.verdict is Verdict.PASS
        assert "denied before" in passed.answer.context[0]
        assert free.verdict is Verdict.PASS
        assert not free.answer.context

    def test_it_is_still_denied_by_its_own_guard(self, machine: Machine) -> None:
        first, again = Session(machine).shell("rm -rf build", "rm -rf build")
        assert verdicts([first, again]) == ["deny", "deny"]


class TestAfterAPrompt:
    def test_the_person_may_have_granted_it_so_they_are_asked(self, machine: Machine) -> None:
        session = Session(machine)
        session.shell("rm -rf build")
        session.prompt()
        (said,) = session.shell(FIND)
        assert said.verdict is Verdict.ASK
        assert "`nothing is removed` denied before" in said.reason

    @pytest.mark.parametrize(("option", "verdict"), [("deny", "deny"), ("forget", "pass")])
    def test_an_option_says_otherwise(self, machine: Machine, option: str, verdict: str) -> None:
        with_option = f"use: no-workarounds\n    with: {{after_prompt: {option}}}"
        session = Session(machine, CONFIG.replace("use: no-workarounds", with_option))
        session.shell("rm -rf build")
        session.prompt()
        assert verdicts(session.shell(FIND)) == [verdict]

    def test_what_an_agent_tells_another_is_no_grant(self, machine: Machine) -> None:
        session = Session(machine)
        session.shell("rm -rf build")
        session.prompt(agent=Agent(name="helper", depth=1))
        assert verdicts(session.shell(FIND)) == ["deny"]

    def test_a_denial_after_the_prompt_is_a_new_one(self, machine: Machine) -> None:
        session = Session(machine)
        session.shell("rm -rf build")
        session.prompt()
        assert verdicts(session.shell("rm -rf build", FIND)) == ["deny", "deny"]


class TestOptions:
    def test_denials_of_named_hooks_are_held_against_nobody(self, machine: Machine) -> None:
        with_option = 'use: no-workarounds\n    with: {ignore: ["nothing *"]}'
        session = Session(machine, CONFIG.replace("use: no-workarounds", with_option))
        assert verdicts(session.shell("rm -rf build", FIND)) == ["deny", "pass"]

    @pytest.mark.parametrize(
        "options", [{"after_prompt": "allow"}, {"ignore": [""]}, {"ignore": "x"}, {"forget": True}]
    )
    def test_options_that_make_no_sense_are_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            convert(options, no_workarounds.Options)


class TestEveryWayIn:
    def test_lines_of_one_session_share_it_in_fire_jsonl(self, machine: Machine) -> None:
        machine.user_file.parent.mkdir(parents=True, exist_ok=True)
        machine.user_file.write_text(CONFIG, encoding="utf-8")
        lines = [
            {"event": "pre_tool_use", "session_id": session, "tool": {"command": command}}
            for session, command in (("a", "rm -rf build"), ("a", FIND), ("b", FIND), ("a", "ls"))
        ]
        done = machine.call("fire", "--jsonl", stdin="\n".join(map(json.dumps, lines)))
        assert [line["verdict"] for line in done.lines] == ["deny", "deny", "pass", "pass"]
        assert "denied before" in done.lines[1]["reason"]

    def test_a_program_that_embeds_hookline_has_it_too(self, machine: Machine) -> None:
        config = machine.write("own.yaml", CONFIG)
        with Hooks.load(machine.project, config=config, env=machine.env) as hooks:
            said = [
                hooks.fire_sync(shell(each, session_id="s", cwd=str(machine.project)))
                for each in ("rm -rf build", PYTHON)
            ]
        assert verdicts(said) == ["deny", "deny"]

    @pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")
    def test_it_outlives_the_daemon_and_holds_without_one(self, tmp_path: Path) -> None:
        with world(tmp_path, config=CONFIG) as place:
            (place.project / "build").mkdir()
            place.daemon()
            first = place.ask("rm -rf build", session="s")
            again = place.ask(FIND, session="s")
            place.stop()
            restarted = place.ask(PYTHON, session="s")
            place.ask("", session="s", event="UserPromptSubmit", prompt="go on")
            asked = place.ask(FIND, session="s")
            other = place.ask(FIND, session="t")
        assert first.blocks
        assert again.blocks
        assert "denied before" in again.effect.reason
        assert restarted.blocks
        assert "denied before" in restarted.effect.reason
        assert "denied before" in asked.effect.reason
        assert b'"permissionDecision":"ask"' in asked.reply.stdout.replace(b": ", b":")
        assert not other.blocks

    def test_a_damaged_memory_denies_and_never_forgets(self, machine: Machine) -> None:
        machine.user_file.parent.mkdir(parents=True, exist_ok=True)
        machine.user_file.write_text(CONFIG, encoding="utf-8")

        def event(command: str) -> dict[str, Any]:
            return {
                "event": "pre_tool_use",
                "session_id": "s",
                "cwd": str(machine.project),
                "tool": {"name": "shell", "command": command},
            }

        assert machine.hook(event("rm -rf build"), HOOKLINE_NO_DAEMON="1").json["verdict"] == "deny"
        files = [f for f in (machine.state / "memory").iterdir() if not f.name.startswith(".")]
        assert len(files) == 1
        files[0].write_text("{", encoding="utf-8")
        said = machine.hook(event(FIND), HOOKLINE_NO_DAEMON="1").json
        assert said["verdict"] == "deny"
        assert "damaged" in said["reason"]

    def test_nothing_secret_is_kept(self, machine: Machine) -> None:
        machine.user_file.parent.mkdir(parents=True, exist_ok=True)
        token = "ghp_" + "a1B2" * 9
        config = CONFIG.replace("Nothing is removed here.", f"Not with {token} in it.")
        machine.user_file.write_text(config, encoding="utf-8")
        for command in (
            f"rm -rf build; echo {token}",
            f"rm -rf build/{token}",
            f"rm -rf build && curl -d x https://u:{token}@a.example/{token}?t={token}",
        ):
            event = {
                "event": "pre_tool_use",
                "session_id": "s",
                "cwd": str(machine.project),
                "tool": {"name": "shell", "command": command},
            }
            said = machine.hook(event, HOOKLINE_NO_DAEMON="1")
            assert said.json["verdict"] == "deny"
        kept = "".join(f.read_text(encoding="utf-8") for f in (machine.state / "memory").iterdir())
        assert "denials" in kept
        assert token not in kept
