"""One truth: every command, and the session itself, say the same number and how to raise it."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.cli import _installing, install
from hookline.client import PROGRAM
from hookline.installing.asking import ask_line
from hookline.model.installing import Call, Scope, Target
from hookline.model.line_test import LINE_TEST, LineReport
from hookline.model.native import NativeFile, NativeFlaw, Voids
from support.cli import Machine

HOOK = "  - {name: %s, on: pre_tool_use, match: {command: 'rm *'}, deny: No.}\n"
ONE = "version: 1\nhooks:\n" + HOOK % "first"
TWO = ONE + HOOK % "second"
_NUMBER = re.compile(r"(\d+) hooks? (?:is|are) active here")
_SAID = "Claude Code: "


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


class Lines:
    """Runs each line once for one look at the machine, and none while the machine is set up."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self._known: dict[tuple[str, ...], LineReport | str] | None = None

    def ask(self, line: str, *, env: dict[str, str], cwd: str) -> LineReport | str:
        key = (line, cwd, *map(str, sorted(env.items())))
        if self._known is None:
            return "nothing, for nobody looks"
        if key not in self._known:
            self.ran.append(line)
            self._known[key] = ask_line(line, env=env, cwd=cwd)
        return self._known[key]

    @contextmanager
    def look(self) -> Iterator[None]:
        self._known = {}
        yield
        self._known = None


@pytest.fixture(autouse=True)
def lines() -> Iterator[Lines]:
    found = Lines()
    with patch.object(_installing, "ask_line", found.ask):
        yield found


def settings(machine: Machine) -> Path:
    return machine.person / ".claude/settings.json"


def edit(machine: Machine, change: Callable[[dict[str, object]], None]) -> None:
    data = json.loads(settings(machine).read_text())
    change(data)
    settings(machine).write_text(json.dumps(data))


def set_up(machine: Machine) -> None:
    """Claude Code with hookline in it, and one trusted hook."""
    machine.put_client("claude")
    machine.call("install", "claude-code")
    machine.trust(ONE)


# ── states: how each comes about, how many hooks are left, and what puts it right ──


def no_config(machine: Machine) -> None:
    set_up(machine)
    machine.call("trust", "--revoke", says="yes")
    machine.config.unlink()


def untrusted(machine: Machine) -> None:
    set_up(machine)
    machine.call("trust", "--revoke", says="yes")


def edited(machine: Machine) -> None:
    set_up(machine)
    machine.write(machine.config, TWO)


def paused(machine: Machine) -> None:
    set_up(machine)
    machine.call("pause", "1h", says="yes")


def no_client(machine: Machine) -> None:
    set_up(machine)
    (machine.base / "clients/claude").unlink()


def not_installed(machine: Machine) -> None:
    machine.put_client("claude")
    machine.trust(ONE)


def entries_gone(machine: Machine) -> None:
    set_up(machine)
    settings(machine).write_text("{}")


def switched_off(machine: Machine) -> None:
    set_up(machine)
    edit(machine, lambda data: data.update(disableAllHooks=True))


def one_event_gone(machine: Machine) -> None:
    set_up(machine)
    edit(machine, lambda data: data["hooks"].pop("PreToolUse"))  # type: ignore[attr-defined]


def another_program(machine: Machine, content: str | None) -> None:
    """The client that the line starts is replaced, or gone."""
    client = machine.base / "bin/hookline-client"
    client.parent.mkdir()
    shutil.copy(PROGRAM, client)
    with patch.object(install, "own_client", lambda: (str(client), sys.executable)):
        set_up(machine)
    client.unlink()
    if content is not None:
        client.write_text(content)
        client.chmod(0o755)


def line_changed(machine: Machine) -> None:
    set_up(machine)
    text = settings(machine).read_text()
    settings(machine).write_text(
        text.replace(
            " hook claude-code PreToolUse ", " hook claude-code PreToolUse --config /dev/null "
        )
    )


def other_home(machine: Machine) -> None:
    machine.put_client("claude")
    machine.call("install", "claude-code", "--shared")
    machine.trust(ONE)


def other_config(machine: Machine) -> None:
    set_up(machine)
    machine.env["HOOKLINE_CONFIG"] = str(machine.write("mine.yaml", TWO))


def cannot_run(machine: Machine) -> None:
    set_up(machine)
    machine.trust(ONE + "  - {name: second, on: pre_tool_use, run: ./guard.sh}\n")


def only_observed(machine: Machine) -> None:
    set_up(machine)
    machine.trust(ONE.replace("deny: No.", "deny: No., mode: observe"))
    machine.write(machine.config, ONE)


def disabled(machine: Machine) -> None:
    set_up(machine)
    machine.trust(ONE + "disable: [first]\n")
    machine.write(machine.config, ONE)


def empty(machine: Machine) -> None:
    set_up(machine)
    machine.trust("version: 1\n")
    machine.write(machine.config, ONE)


def write_script(machine: Machine) -> None:
    machine.write("guard.sh", "#!/bin/sh\n", 0o755)
    run("trust")(machine)


def run(*words: str) -> Callable[[Machine], None]:
    def fix(machine: Machine) -> None:
        done = machine.call(*words, says="yes")
        assert done.code == 0, done.err

    return fix


def init(machine: Machine) -> None:
    assert machine.call("init").code == 0


def off(machine: Machine) -> None:
    assert machine.call("pause", "--off").code == 0


class State(NamedTuple):
    """What a person may find."""

    make: Callable[[Machine], None]
    active: int
    step: str
    fix: Callable[[Machine], None]
    after: int = 1
    has_session: bool = True
    """Whether an agent would call us at all."""


INSTALL = "hookline install claude-code"
STATES = {
    "no config": State(no_config, 0, "hookline init", init, 5),
    "untrusted": State(untrusted, 0, "hookline trust", run("trust")),
    "edited": State(edited, 1, "hookline trust", run("trust"), 2),
    "paused": State(paused, 0, "hookline pause --off", off),
    "no client": State(
        no_client, 0, "put it on your PATH", lambda m: m.put_client("claude"), 1, False
    ),
    "not installed": State(not_installed, 0, INSTALL, run("install", "claude-code"), 1, False),
    "entries gone": State(entries_gone, 0, INSTALL, run("install", "claude-code"), 1, False),
    "switched off": State(
        switched_off,
        0,
        'take "disableAllHooks" out',
        lambda m: edit(m, lambda data: data.__delitem__("disableAllHooks")),
        1,
        False,
    ),
    "one event gone": State(one_event_gone, 0, INSTALL, run("install", "claude-code"), 1, False),
    "client replaced": State(
        partial(another_program, content="#!/bin/sh\nexit 0\n"),
        0,
        INSTALL,
        run("install", "claude-code"),
        1,
        False,
    ),
    "client that hangs up": State(
        partial(another_program, content="#!/bin/sh\nkill -9 $$\n"),
        0,
        INSTALL,
        run("install", "claude-code"),
        1,
        False,
    ),
    "client gone": State(
        partial(another_program, content=None),
        0,
        "hookline install claude-code",
        run("install", "claude-code"),
        1,
        False,
    ),
    "line changed": State(line_changed, 0, INSTALL, run("install", "claude-code"), 1, False),
    "other home": State(other_home, 0, INSTALL, run("install", "claude-code"), 1, False),
    "only observed": State(only_observed, 0, "take `mode: observe` out", run("trust"), 1),
    "disabled": State(disabled, 0, "correct `disable:`", run("trust"), 1),
    "empty config": State(empty, 0, "docs/start.md", run("trust"), 1),
    "cannot run": State(cannot_run, 1, "guard.sh", write_script, 2),
    "other config": State(
        other_config, 1, "unset the variables", lambda m: m.env.__delitem__("HOOKLINE_CONFIG")
    ),
}


def number_in(text: str) -> int:
    """What a command says of Claude Code, or of all agents where it is in none."""
    lines = [line for line in text.splitlines() if _NUMBER.search(line)]
    (said,) = {line.removeprefix(_SAID) for line in lines}
    found = _NUMBER.search(said)
    assert found is not None
    return int(found[1])


def told_in_session(machine: Machine) -> int:
    payload = {"session_id": "s", "cwd": str(machine.project), "hook_event_name": "SessionStart"}
    words = ("hook", "claude-code", "SessionStart", *machine.own)
    done = machine.call(*words, stdin=json.dumps({**payload, "source": "startup"}))
    return number_in(done.json["systemMessage"].replace("hookline: ", _SAID))


def look(machine: Machine, state: State, expected: int) -> str:
    """What all of them say; each the same number."""
    said = {word: machine.call(word) for word in ("status", "doctor", "check")}
    assert {word: number_in(done.out) for word, done in said.items()} == dict.fromkeys(
        said, expected
    )
    (data,) = machine.call("status", "claude-code", "--json").json
    assert data["hooks"] == expected
    if state.has_session or expected == state.after:
        assert told_in_session(machine) == expected
    for done in said.values():
        assert expected or "nothing is protected" in done.out
        assert said["status"].code == 0 or state.step in done.out
    return said["status"].out


@pytest.mark.parametrize("name", STATES)
def test_all_agree_and_what_they_advise_puts_it_right(
    machine: Machine, lines: Lines, name: str
) -> None:
    state = STATES[name]
    state.make(machine)
    with lines.look():
        assert state.step in look(machine, state, state.active)
        assert machine.call("status").code == (0 if name == "edited" else 1)
    state.fix(machine)
    with lines.look():
        look(machine, state, state.after)
        assert machine.call("status").code == 0
        assert number_in(machine.call("install", "claude-code").out) == state.after


def test_both_homes_are_named_where_the_line_uses_another(machine: Machine, lines: Lines) -> None:
    other_home(machine)
    with lines.look():
        for words in (["status"], ["doctor"], ["check"], ["trust"], ["install", "claude-code"]):
            out = machine.call(*words, *(["--shared"] if words[1:] else [])).out
            assert f"says {machine.state}, and the installed line uses /" in out, words
            assert "(HOME, XDG_CONFIG_HOME, HOOKLINE_HOME)" in out


def test_init_says_what_is_missing_and_then_that_all_is_well(
    machine: Machine, lines: Lines
) -> None:
    machine.put_client("claude")
    done = machine.call("init")
    assert number_in(done.out) == 0
    assert "next: hookline install claude-code\n" in done.out
    with lines.look():
        assert number_in(machine.call("install", "claude-code").out) == 5
    machine.call("trust", "--revoke", says="yes")
    machine.config.unlink()
    with lines.look():
        done = machine.call("init", "--user")
    assert number_in(done.out) == 5 == told_in_session(machine)


def test_a_sub_directory_gets_no_second_starter_unasked(machine: Machine) -> None:
    machine.call("init")
    below = machine.project / "below"
    below.mkdir()
    done = machine.call("init", cwd=below)
    assert done.code == 1
    assert f"{machine.config} counts here already" in done.err
    assert not (below / "hookline.yaml").exists()
    assert machine.call("init", "--nested", cwd=below).code == 0
    assert (below / "hookline.yaml").exists()


def test_status_that_cannot_tell_exits_with_2(machine: Machine) -> None:
    assert machine.call("status", "claude-cod").code == 2
    assert machine.call("status", HOOKLINE_TRUST="nonsense").code == 2


def test_hooks_that_an_agent_never_fires_are_named_and_not_counted(
    machine: Machine, lines: Lines
) -> None:
    set_up(machine)
    machine.trust(ONE + "  - {name: late, on: before_llm_call, context: x}\n")
    with lines.look():
        out = machine.call("status").out
    assert number_in(out) == 1
    assert "`late` never fires in Claude Code: Claude Code has no event for before_llm_call" in out


def test_every_agent_gets_its_reason_and_a_step_is_named_once(
    machine: Machine, lines: Lines
) -> None:
    set_up(machine)
    machine.put_client("gemini")
    machine.call("install", "gemini")
    machine.call("trust", "--revoke", says="yes")
    with lines.look():
        out = machine.call("status").out
    assert out.count("was never trusted") == 2
    assert out.count("hookline trust") == 1


def test_an_agent_that_runs_without_hookline_is_named(machine: Machine, lines: Lines) -> None:
    set_up(machine)
    machine.put_client("gemini")
    with lines.look():
        status = machine.call("status")
    assert status.code == 0
    assert "Gemini CLI on this machine runs without hookline" in status.out
    assert "hookline install gemini" in status.out


@pytest.mark.parametrize("name", registry.installer_names())
def test_a_test_of_the_line_is_refused_as_no_event_and_written_down_nowhere(
    machine: Machine, name: str
) -> None:
    """So whoever sends it as a payload opens nothing by it."""
    machine.trust(ONE)
    malformed = machine.call("hook", name, *machine.own, stdin=b"no event").out
    done = machine.call("hook", name, *machine.own, stdin=LINE_TEST)
    said = "this was a test of the installed line"
    assert re.sub(r"the payload is [^.]*", said, malformed) == done.out
    assert said in done.out
    assert not (machine.state / "sessions").exists()


# ── entries that run and cannot block ──


def handler(data: Any) -> dict[str, object]:
    return cast(dict[str, object], data["hooks"]["PreToolUse"][0]["hooks"][0])


def put(key: str, value: object) -> Callable[[Any], None]:
    return lambda data: handler(data).update({key: value})


def put_around(key: str, value: object) -> Callable[[Any], None]:
    return lambda data: data["hooks"]["PreToolUse"][0].update({key: value})


def unwrap(data: Any) -> None:
    data["hooks"]["PreToolUse"][0] = handler(data)


WEAKENED: dict[str, Callable[[Any], None]] = {
    "async": put("async", True),
    "asyncRewake": put("asyncRewake", True),
    "if": put("if", "Bash(git *)"),
    "once": put("once", True),
    "shell": put("shell", "powershell"),
    "a key of tomorrow": put("unheardOf", {"a": [1]}),
    "no time": put("timeout", 0.001),
    "more time than the line says": put("timeout", 601),
    "no limit": lambda data: handler(data).pop("timeout"),
    "another type": put("type", "prompt"),
    "no type": lambda data: handler(data).pop("type"),
    "failure lets it run": put("onFailure", "allow"),
    "a group with a say": put_around("if", "Bash(git *)"),
    "no group": unwrap,
}


@pytest.mark.parametrize("name", WEAKENED)
def test_an_entry_that_is_not_wholly_ours_is_not_active_until_it_is_written_again(
    machine: Machine, lines: Lines, name: str
) -> None:
    set_up(machine)
    whole = json.loads(settings(machine).read_text())
    edit(machine, WEAKENED[name])
    with lines.look():
        for word in ("status", "doctor"):
            done = machine.call(word, "claude-code")
            assert (done.code, number_in(done.out)) == (1, 0)
            assert INSTALL in done.out
    assert not lines.ran
    machine.call("install", "claude-code")
    assert json.loads(settings(machine).read_text()) == whole


def test_words_for_people_and_a_limit_that_was_asked_for_are_no_weakness(
    machine: Machine, lines: Lines
) -> None:
    set_up(machine)
    machine.call("install", "claude-code", "--timeout", "900")
    edit(machine, put("statusMessage", "Looking"))
    edit(machine, put_around("matcher", "*"))
    with lines.look():
        done = machine.call("status", "claude-code")
    assert (done.code, number_in(done.out)) == (0, 1)


OURS = {"docker-agent": (b"timeout: 600", b"timeout: 1"), "kodelet": (b"run)", b"walk)")}


@pytest.mark.parametrize("name", registry.installer_names())
def test_of_every_platform_an_entry_is_compared_as_a_whole(tmp_path: Path, name: str) -> None:
    installer = registry.installer(name)
    event = next(each for each, row in installer.support.events.items() if row.is_gate)
    target = Target(file=str(tmp_path / "hooks.d/x"), scope=Scope.USER, events=(event,))
    content = installer.add(target, None, Call(program=("/bin/hookline",)))
    if name in OURS:
        changed = content.replace(*OURS[name])
    else:
        changed = re.sub(rb'"(command|bash)":', rb'"once": true, "\1":', content)
    assert changed != content
    before, after = (
        {each.event: each.written for each in installer.inspect(target, text)}
        for text in (content, changed)
    )
    assert before[event] != after[event]


def test_a_mistake_that_voids_the_whole_file_leaves_nothing_active(
    machine: Machine, lines: Lines
) -> None:
    set_up(machine)
    flaw = NativeFlaw(3, "this is wrong", "write it right", Voids.FILE)
    read = type(registry.native_files()["claude-code"]).read

    def misread(files: Any, path: str, content: bytes) -> NativeFile:
        return replace(read(files, path, content), flaws=(flaw,))

    with lines.look(), patch.object(type(registry.native_files()["claude-code"]), "read", misread):
        for word in ("status", "doctor"):
            done = machine.call(word, "claude-code")
            assert (done.code, number_in(done.out)) == (1, 0)
            assert "this is wrong; for this Claude Code runs no hook of the whole file" in done.out


def test_the_end_of_a_pause_is_said(machine: Machine) -> None:
    paused(machine)
    assert "the pause is over" in machine.call("pause", "--off").out
    assert machine.call("pause", "--off").out == "not paused\n"


# ── what is never run ──


EVIL = [
    "touch {mark}; hookline hook claude-code PreToolUse --timeout 600",
    "{repo}/hookline hook claude-code PreToolUse --timeout 600",
]
PROGRAMS = ["{repo}/hookline", "python -m hookline", "{python} -I -m hookline.evil"]


@pytest.mark.parametrize("line", [*EVIL, *PROGRAMS])
def test_a_line_from_a_repository_is_run_only_if_it_is_exactly_ours(
    machine: Machine, lines: Lines, line: str
) -> None:
    mark = machine.base / "ran"
    machine.put_client("claude")
    machine.write("hookline", f"#!/bin/sh\ntouch {mark}\n", 0o755)
    command = line.format(mark=mark, repo=machine.project, python=sys.executable)
    file = machine.write(".claude/settings.json", "")
    if line in PROGRAMS:  # all else is as we would write it
        target = Target(file=str(file), scope=Scope.PROJECT, personal=False)
        call = Call(program=tuple(command.split()))
        file.write_bytes(registry.installer("claude-code").add(target, None, call))
    else:
        entry = {"hooks": [{"type": "command", "command": command}]}
        file.write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    with lines.look():
        for word in ("status", "doctor", "check"):
            assert number_in(machine.call(word).out) == 0
    assert not lines.ran
    assert not mark.exists()


# ── in a session ──


def said(machine: Machine, event: str, home: str | Path, **more: object) -> str:
    """All that Claude Code is told."""
    payload = {"session_id": "s", "cwd": str(machine.project), "hook_event_name": event, **more}
    where = ("--home", str(home), "--user-config", str(machine.user_dir))
    done = machine.call("hook", "claude-code", event, *where, stdin=json.dumps(payload))
    return done.out


def test_the_number_is_said_once_a_session_and_loudly_if_it_is_0(machine: Machine) -> None:
    told = partial(said, machine, home=machine.state)
    loud = "hookline: 0 hooks are active here: nothing is protected. Run `hookline init`."
    assert json.loads(told("SessionStart", source="startup")) == {"systemMessage": loud}
    assert told("SessionStart", source="compact") == ""
    assert told("UserPromptSubmit", prompt="hello") == ""
    assert told("PreToolUse", tool_name="Bash", tool_input={"command": "ls"}) == ""


def test_hooks_that_cannot_run_are_named_when_a_session_begins(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    broken = "  - {name: tidy, on: stop, run: ./gone.sh}\n"
    machine.user_file.write_text(ONE + broken)
    notice = json.loads(said(machine, "SessionStart", machine.state, source="startup"))
    assert notice["systemMessage"] == (
        "hookline: 1 hook is active here.\n\ncannot run: tidy; `hookline doctor` says why"
    )


def test_a_hook_that_only_observes_is_named_and_not_counted(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(ONE + HOOK.replace("deny: No.", "deny: No., mode: observe") % "t")
    notice = json.loads(said(machine, "SessionStart", machine.state, source="startup"))
    assert notice["systemMessage"] == (
        "hookline: 1 hook is active here.\n\n"
        "t only observes (`mode: observe`), so nothing is blocked."
    )


@pytest.mark.parametrize("home", ["/proc/hookline", "/dev/null/hookline", "a file"])
def test_while_nothing_can_be_remembered_prompts_pass_with_a_notice_and_tools_are_closed(
    machine: Machine, home: str
) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(ONE)
    if home == "a file":
        home = str(machine.write("file", "x"))
    prompt = json.loads(said(machine, "UserPromptSubmit", home, prompt="hello"))
    assert set(prompt) == {"systemMessage"}
    assert f"cannot keep what it has to remember in `{home}/sessions`" in prompt["systemMessage"]
    assert "tools are blocked" in prompt["systemMessage"]
    ls = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    tool = json.loads(said(machine, "PreToolUse", home, **ls))["hookSpecificOutput"]
    assert tool["permissionDecision"] == "deny"
    assert f"`{home}/sessions`" in tool["permissionDecisionReason"]
    done = machine.call("check", HOOKLINE_HOME=home)
    assert done.code == 1
    assert home in done.out


def test_a_hook_that_denies_prompts_does_so_without_a_state_directory(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(
        "version: 1\nhooks:\n  - {name: no, on: user_prompt_submit, deny: Not this.}\n"
    )
    answer = json.loads(said(machine, "UserPromptSubmit", "/proc/hookline", prompt="hello"))
    assert answer["decision"] == "block"
    assert "Not this." in answer["reason"]
