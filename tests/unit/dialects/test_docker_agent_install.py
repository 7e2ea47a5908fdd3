"""docker-agent's files: which, our entries in them, and the lane before all approval."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookline.dialects.docker_agent import DIALECT
from hookline.dialects.docker_agent.install import INSTALLER
from hookline.installing.changes import apply, plan_install, plan_uninstall
from hookline.installing.records import Records
from hookline.model.answers import Answer, Rewrite, allow, ask, deny
from hookline.model.errors import DecodeError
from hookline.model.events import PreToolUse
from hookline.model.installing import Installed, InstallError, Machine, Scope, Target
from hookline.model.outcome import Outcome
from hookline.model.rewriting import rewritten
from support.clients import docker_agent as client
from support.installing import CALL, machine_at

DROP_IN = Target(file="/x/hooks.d/hookline.yaml", scope=Scope.USER)
AGENTS = Target(file="/x/agent.yaml", scope=Scope.PROJECT, personal=False)
PREEMPT = "pre_tool_use+preempt"
ONE = b"agents:\n  root:\n    model: x\n"
TWO = b"agents:\n  root:\n    model: x\n  b:\n    model: y\n"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return replace(machine_at(tmp_path), named=())


def hooks_in(content: bytes, agent: str = "root") -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(content)["agents"][agent]["hooks"]
    return found


def narrowed(target: Target, content: bytes) -> dict[str, str]:
    return {entry.event: entry.matcher for entry in INSTALLER.inspect(target, content)}


# Which files


def test_a_user_has_a_drop_in_of_its_own(machine: Machine) -> None:
    (target,) = INSTALLER.targets(machine, Scope.USER, shared=False)
    assert target.file == f"{machine.home}/.config/cagent/hooks.d/hookline.yaml"
    assert target.personal


@pytest.mark.parametrize("name", ["DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR"])
def test_the_clients_own_variables_move_it(machine: Machine, name: str) -> None:
    (target,) = INSTALLER.targets(replace(machine, env={name: "/c"}), Scope.USER, shared=False)
    assert target.file == "/c/hooks.d/hookline.yaml"


def test_a_project_has_the_files_that_a_person_names(machine: Machine) -> None:
    with pytest.raises(InstallError, match="--file agent"):
        INSTALLER.targets(machine, Scope.PROJECT, shared=False)
    named = replace(machine, named=("/a.yaml", "/b.yaml"))
    for scope in Scope:
        files = [target.file for target in INSTALLER.targets(named, scope, shared=False)]
        assert files == ["/a.yaml", "/b.yaml"]
    own, *others = INSTALLER.places(named)
    assert own.scope is Scope.USER
    assert [(each.file, each.personal) for each in others] == [
        ("/a.yaml", False),
        ("/b.yaml", False),
    ]


def test_the_drop_in_is_one_place_also_when_it_is_on_record(machine: Machine) -> None:
    (own,) = INSTALLER.places(machine)
    assert [each.file for each in INSTALLER.places(replace(machine, named=(own.file,)))] == [
        own.file
    ]


# The drop-in


def test_a_drop_in_holds_the_events_themselves_and_both_lanes() -> None:
    content = INSTALLER.add(DROP_IN, None, CALL)
    hooks = yaml.safe_load(content)
    assert len(hooks) == 23
    assert not set(hooks) & set(INSTALLER.left_out)
    default, preempt = hooks["pre_tool_use"]
    assert (default["matcher"], preempt["matcher"]) == ("*", "*")
    assert "preempt_yolo" not in default
    assert preempt["preempt_yolo"] is True
    assert f" {PREEMPT} " in preempt["hooks"][0]["command"]
    assert " pre_tool_use " in default["hooks"][0]["command"]
    (stop,) = hooks["stop"]
    assert set(stop) == {"type", "name", "command", "timeout"}


def test_a_drop_in_comes_and_goes(machine: Machine, tmp_path: Path) -> None:
    records = Records(str(tmp_path / "state"))
    for call in (CALL, replace(CALL, timeout=42)):
        for change in plan_install(INSTALLER, machine, Scope.USER, call, records):
            apply(change, records)
    (place,) = INSTALLER.places(machine)
    file = Path(place.file)
    assert b"timeout: 42" in file.read_bytes()
    assert b"timeout: 600" not in file.read_bytes()
    file.write_bytes(file.read_bytes() + b"\n\n")
    for change in plan_uninstall(INSTALLER, machine, None, records):
        apply(change, records)
    assert not file.exists()
    assert not (Path(machine.home) / ".config").exists()


def test_hooks_of_others_in_the_drop_in_stay() -> None:
    theirs = b"# mine\nstop:\n  - {type: command, command: echo}\n"
    content = INSTALLER.add(DROP_IN, theirs, CALL)
    remains = INSTALLER.remove(DROP_IN, content, theirs)
    assert remains.content == theirs
    assert not remains.empty


# Agent files


def test_every_agent_of_a_file_gets_the_entries() -> None:
    content = INSTALLER.add(AGENTS, TWO, CALL)
    assert hooks_in(content) == hooks_in(content, "b")
    assert set(narrowed(AGENTS, content).values()) == {""}


def test_other_lines_are_not_touched_and_ours_are_each_one_line() -> None:
    old = b"# top\nagents: # all\n  root: # main\n    model: x # behind\n    # last\n\nmodels: {}\n"
    lines = INSTALLER.add(AGENTS, old, CALL).splitlines()
    assert [line for line in lines if line in old.splitlines()] == old.splitlines()
    assert len(lines) == len(old.splitlines()) + 1 + 23 + 24


def test_after_an_edit_exactly_our_entries_go() -> None:
    content = INSTALLER.add(AGENTS, TWO, CALL)
    edited = content.replace(b"      stop:\n", b"      stop: # mine\n        # why\n", 1)
    edited = edited.replace(b"    model: x\n", b"    model: z\n")
    edited = edited.replace(
        b"      turn_end:\n", b"      turn_end:\n        - {type: command, command: echo}\n", 1
    )
    remains = INSTALLER.remove(AGENTS, edited, TWO)
    assert list(INSTALLER.inspect(AGENTS, remains.content)) == []
    assert remains.content == (
        b"agents:\n  root:\n    model: z\n    hooks:\n"
        b"      turn_end:\n        - {type: command, command: echo}\n"
        b"      stop: # mine\n        # why\n"
        b"  b:\n    model: y\n"
    )


def test_without_a_record_the_keys_that_are_left_empty_go_too() -> None:
    assert INSTALLER.remove(AGENTS, INSTALLER.add(AGENTS, TWO, CALL)).content == TWO


def test_an_entry_is_replaced_where_a_person_moved_it() -> None:
    old = (
        b"agents:\n  root:\n    hooks:\n      stop:\n"
        b"        - type: command\n          command: hookline hook docker-agent stop\n"
        b"          timeout: 5\n"
        b"        - {type: command, command: echo}\n"
        b"        - {type: command, command: hookline hook docker-agent stop}\n"
        b"      unheard:\n        - {type: command, command: hookline hook docker-agent unheard}\n"
        b"    model: x\n"
    )
    hooks = hooks_in(INSTALLER.add(AGENTS, old, CALL))
    ours, theirs = hooks["stop"]
    assert "/opt/hookline/bin/hookline hook docker-agent stop" in ours["command"]
    assert theirs["command"] == "echo"
    assert "unheard" not in hooks


def test_an_entry_that_shares_a_matcher_goes_alone_and_gets_an_entry_of_its_own() -> None:
    old = (
        b"agents:\n  root:\n    hooks:\n      pre_tool_use:\n        - matcher: shell\n          hooks:\n"
        b"            - {type: command, command: hookline hook docker-agent pre_tool_use}\n"
        b"            - {type: command, command: echo}\n"
    )
    assert narrowed(AGENTS, old) == {"pre_tool_use": "shell"}
    assert INSTALLER.remove(AGENTS, old).content == (
        b"agents:\n  root:\n    hooks:\n      pre_tool_use:\n        - matcher: shell\n          hooks:\n"
        b"            - {type: command, command: echo}\n"
    )
    theirs, default, preempt = hooks_in(INSTALLER.add(AGENTS, old, CALL))["pre_tool_use"]
    assert theirs["hooks"] == [{"type": "command", "command": "echo"}]
    assert (default["matcher"], preempt["preempt_yolo"]) == ("*", True)


def test_what_an_event_is_not_asked_on_is_told() -> None:
    content = INSTALLER.add(AGENTS, TWO, CALL)
    lines = content.splitlines(keepends=True)
    lane = next(number for number, line in enumerate(lines) if b"preempt_yolo" in line)
    assert narrowed(AGENTS, b"".join(lines[:lane] + lines[lane + 1 :]))["pre_tool_use"] == (
        f"not on {PREEMPT} of agent root"
    )
    only_root = content.replace(b"  b:\n", b"  c:\n    model: z\n  b:\n")
    assert narrowed(AGENTS, only_root)["stop"] == "not on stop of agent c"
    shell = content.replace(b'matcher: "*"', b"matcher: shell")
    assert narrowed(AGENTS, shell)["post_tool_use"] == "shell"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "no agent in it"),
        (b"\n", "no agent in it"),
        (b"models: {}\n", "no agent in it"),
        (b"agents:\n  root: {model: x}\n", "line 2: .* lines of its own"),
        (b"agents:\n  root:\n", "line 2: .* lines of its own"),
        (b"agents:\n  root:\n    hooks: {}\n", "line 3: .* lines of its own"),
        (b"agents:\n  root:\n    hooks:\n      stop: []\n", "line 4: .* lines of its own"),
        (b"agents:\n  root:\n    hooks:\n      stop:\n        type: command\n", "line 5"),
        (b"x: &h\n  stop: []\nagents:\n  root:\n    hooks: *h\n", "merged in|lines of its own"),
        (b"x: &a {model: x}\nagents:\n  root: *a\n", "lines of its own"),
        (
            b"x: &a\n  hooks:\n    stop: []\nagents:\n  root:\n    <<: *a\n",
            "line 6: hooks are merged",
        ),
        (b"agents:\n  root: [\n", "line 3"),
        (b"agents:\n  a: 1\n  a: 2\n", "line 3: `a` is there twice"),
        (b"agents: \xff\n", "not UTF-8"),
    ],
)
def test_what_cannot_be_edited_safely_is_refused_with_the_line(
    content: bytes | None, why: str
) -> None:
    with pytest.raises(InstallError, match=why):
        INSTALLER.add(AGENTS, content, CALL)


def test_an_entry_in_brackets_is_not_torn_out_of_them() -> None:
    content = (
        b"agents:\n  root:\n    hooks:\n"
        b"      stop: [{type: command, command: hookline hook docker-agent stop}]\n"
    )
    assert narrowed(AGENTS, content) == {"stop": ""}
    with pytest.raises(InstallError, match="line 4"):
        INSTALLER.remove(AGENTS, content)
    with pytest.raises(InstallError, match="line 4"):
        INSTALLER.add(AGENTS, content, CALL)


def test_an_entry_below_its_dash_is_not_guessed_at() -> None:
    ours = b"type: command\n          command: hookline hook docker-agent stop\n"
    content = b"agents:\n  root:\n    hooks:\n      stop:\n        -\n          " + ours
    for edited in (
        lambda: INSTALLER.remove(AGENTS, content),
        lambda: INSTALLER.add(AGENTS, content, CALL),
    ):
        with pytest.raises(InstallError, match=r"by hand|lines of its own"):
            edited()


def test_what_the_loader_refuses_keeps_the_whole_file_from_running(machine: Machine) -> None:
    content = INSTALLER.add(DROP_IN, None, CALL)
    good = Installed(DROP_IN, tuple(INSTALLER.inspect(DROP_IN, content)), content)
    assert list(INSTALLER.inactive(machine, [good])) == []
    bad = replace(good, content=content + b"unheard:\n  - {type: command, command: echo}\n")
    (flaw,) = INSTALLER.inactive(machine, [bad])
    assert "no event `unheard`" in flaw.why
    assert flaw.step
    agents = INSTALLER.add(AGENTS, ONE, CALL) + b"    hooks2: 1\n"
    wrong = agents.replace(b"{type: command, name", b"{type: shell, name", 1)
    (flaw,) = INSTALLER.inactive(machine, [Installed(AGENTS, (), wrong)])
    assert f"{AGENTS.file}, line " in flaw.why
    assert "unsupported hook type `shell`" in flaw.why


# The lane before all approval


def decoded(event: str = PREEMPT, **fields: Any) -> PreToolUse:
    found = DIALECT.decode(json.dumps(client.payload(event) | fields).encode(), event)
    assert isinstance(found, PreToolUse)
    return found


def said(answer: Answer, event: PreToolUse) -> dict[str, Any]:
    final = rewritten(event, answer.rewrite, DIALECT.tools)
    outcome = Outcome(event=event, answer=answer, final=None if final is event else final)
    stdout = DIALECT.encode(outcome).stdout
    found: dict[str, Any] = json.loads(stdout)["hook_specific_output"] if stdout else {}
    return found


def test_only_the_command_line_tells_the_lanes_apart() -> None:
    assert decoded().native_event == PREEMPT
    assert decoded("pre_tool_use").native_event == "pre_tool_use"
    nameless = {k: v for k, v in client.payload(PREEMPT).items() if k != "hook_event_name"}
    assert DIALECT.decode(json.dumps(nameless).encode(), PREEMPT).native_event == PREEMPT
    other = json.dumps(client.payload("session_start")).encode()
    assert DIALECT.decode(other, PREEMPT).native_event == PREEMPT


def test_a_hook_inside_ours_sees_one_event_on_both_lanes() -> None:
    assert DIALECT.payload(decoded())["hook_event_name"] == "pre_tool_use"
    assert said(deny("no"), decoded())["hook_event_name"] == "pre_tool_use"


def test_an_allow_is_not_said_and_a_rewrite_denies() -> None:
    assert said(allow("fine"), decoded()) == {}
    assert said(allow("fine"), decoded("pre_tool_use"))["permission_decision"] == "allow"
    change = Answer(rewrite=Rewrite(input={"command": "ls"}))
    assert said(change, decoded())["permission_decision"] == "deny"
    assert "updated_input" in said(change, decoded("pre_tool_use"))


def test_the_question_is_shown_with_its_reason() -> None:
    own = said(ask("sure?"), decoded())
    assert own["permission_decision"] == "ask"
    assert own["metadata"] == {"reason": "sure?"}
    assert "metadata" not in said(ask("sure?"), decoded("pre_tool_use"))


def test_arguments_that_cannot_be_read_are_refused_on_both_lanes() -> None:
    broken = json.dumps(client.payload(PREEMPT) | {"tool_name": "edit_file", "tool_input": None})
    with pytest.raises(DecodeError, match="edit_file"):
        DIALECT.decode(broken.encode(), PREEMPT)


@pytest.mark.parametrize("name", ["docker-agent", "cagent", *INSTALLER.clients[2:]])
@pytest.mark.parametrize(
    ("version", "is_read"),
    [((1, 93, 0), False), ((1, 99, 9), False), ((), False), ((1, 100, 0), True), ((2, 0, 0), True)],
)
def test_a_drop_in_is_active_only_where_the_program_reads_it(
    machine: Machine, version: tuple[int, ...], is_read: bool, name: str
) -> None:
    name = name.replace("~", machine.home)
    programs = {name: os.path.join("/bin", name)}
    there = replace(machine, which=programs.get, version=lambda argv: version)
    content = INSTALLER.add(DROP_IN, None, CALL)
    found = INSTALLER.inactive(there, [Installed(DROP_IN, (), content)])
    assert (not found) is is_read
    assert all("--file agent.yaml" in each.step for each in found)
    named = INSTALLER.add(AGENTS, TWO, CALL)
    assert not INSTALLER.inactive(there, [Installed(AGENTS, (), named)])


def test_an_entry_where_a_hook_makes_headless_runs_hang_goes_with_the_next_installation() -> None:
    line = '- {type: command, name: hookline, command: "/p/hookline hook docker-agent X"}'
    for event in INSTALLER.left_out:
        old = f"stop:\n  {line}\n{event}:\n  {line}\n".encode()
        assert event not in yaml.safe_load(INSTALLER.add(DROP_IN, old, CALL))
