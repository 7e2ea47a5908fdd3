"""docker-agent runs what install wrote, on both lanes: a deny denies, and so does a lost program."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from support.cli import Machine
from support.clients import docker_agent as client
from support.clients.effects import Does, Effect
from support.installed import DENIES, gone, install, run, tree

PREEMPT = "pre_tool_use+preempt"
AGENT = "agents:\n  root:\n    model: openai/gpt-4o # the one\n    instruction: Help.\n"
REWRITES = """\
version: 1
hooks:
  - name: look only
    on: pre_tool_use
    match: {command: "rm *"}
    rewrite: {input: {command: ls}}
"""
ALLOWS = """\
version: 1
hooks:
  - name: go on
    on: pre_tool_use
    allow: true
"""


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path.resolve(), capfdbinary)
    (machine.project / ".git").rmdir()
    return machine


def drop_in(machine: Machine) -> dict[str, Any]:
    """The hooks that every agent has."""
    file = machine.person / ".config/cagent/hooks.d/hookline.yaml"
    found: dict[str, Any] = yaml.safe_load(file.read_text())
    return found


def hook_of(hooks: dict[str, Any], lane: str) -> dict[str, Any]:
    """The one hook of a lane."""
    found = hooks[lane.removesuffix("+preempt")]
    if "hooks" in found[0]:
        wanted = lane == PREEMPT
        found = [
            hook
            for group in found
            if group.get("preempt_yolo", False) is wanted and group["matcher"] == "*"
            for hook in group["hooks"]
        ]
    (hook,) = found
    assert hook["type"] == "command"
    return dict(hook)


def obeyed(machine: Machine, lane: str, command: str) -> Effect:
    """What the client does with the answer to an event."""
    payload = client.payload(lane)
    argv = (machine.env.get("SHELL", "/bin/sh"), "-c", command)
    return client.obey(lane, run(machine, argv, payload), payload)


@pytest.mark.parametrize("lane", ["pre_tool_use", PREEMPT])
def test_a_deny_denies_on_both_lanes(machine: Machine, lane: str) -> None:
    install(machine, "docker-agent")
    effect = obeyed(machine, lane, hook_of(drop_in(machine), lane)["command"])
    assert effect.does is Does.BLOCKS
    assert "Nothing is removed here." in effect.reason


def test_an_agent_file_denies_alike_and_keeps_what_was_in_it(machine: Machine) -> None:
    file = machine.write("agent.yaml", AGENT)
    install(machine, "docker-agent", "--file", str(file))
    assert file.read_text().startswith(AGENT)
    hooks = yaml.safe_load(file.read_text())["agents"]["root"]["hooks"]
    for lane in ("pre_tool_use", PREEMPT, "user_prompt_submit"):
        assert obeyed(machine, lane, hook_of(hooks, lane)["command"]).does >= Does.BLOCKS
    done = machine.call("uninstall", "docker-agent", says="yes")
    assert done.code == 0, done.err
    assert file.read_text() == AGENT


def test_a_rewrite_before_all_approval_is_a_deny_that_says_what_to_run(machine: Machine) -> None:
    install(machine, "docker-agent", config=REWRITES)
    effect = obeyed(machine, PREEMPT, hook_of(drop_in(machine), PREEMPT)["command"])
    assert effect.does is Does.BLOCKS
    assert "ls" in effect.reason


def test_an_allow_before_all_approval_leaves_the_question(machine: Machine) -> None:
    install(machine, "docker-agent", config=ALLOWS)
    effect = obeyed(machine, PREEMPT, hook_of(drop_in(machine), PREEMPT)["command"])
    assert effect.does is Does.GOES_ON


@pytest.mark.parametrize(
    "lane",
    [
        *("pre_tool_use", PREEMPT, "permission_request", "user_prompt_submit"),
        *("user_steering_messages_submit", "user_followup_submit", "before_llm_call"),
        *("worktree_create", "pre_compact", "before_compaction"),
    ],
)
def test_without_hookline_every_gate_is_shut(machine: Machine, lane: str) -> None:
    install(machine, "docker-agent")
    effect = obeyed(machine, lane, gone(hook_of(drop_in(machine), lane)["command"]))
    assert effect.does >= Does.BLOCKS
    assert "hookline" in effect.reason


def test_nothing_else_is_held_up_when_hookline_is_gone(machine: Machine) -> None:
    install(machine, "docker-agent")
    for event in ("post_tool_use", "tool_response_transform", "stop", "session_start", "turn_end"):
        effect = obeyed(machine, event, gone(hook_of(drop_in(machine), event)["command"]))
        assert effect.does is Does.GOES_ON
        assert (effect.follow_up, effect.output, effect.context) == ("", None, "")


def test_every_entry_has_a_limit_and_names_its_event(machine: Machine) -> None:
    install(machine, "docker-agent", "--timeout", "45")
    hooks = drop_in(machine)
    assert len(hooks) == 23
    for lane in (*hooks, PREEMPT):
        hook = hook_of(hooks, lane)
        assert hook["timeout"] == 45
        assert f" {lane} " in hook["command"]
        assert "--timeout 45" in hook["command"]


def test_uninstall_leaves_no_trace(machine: Machine) -> None:
    before = tree(machine.person, machine.project)
    install(machine, "docker-agent", config=DENIES)
    assert tree(machine.person, machine.project) != before
    done = machine.call("uninstall", "docker-agent", says="yes")
    assert done.code == 0, done.err
    assert tree(machine.person, machine.project) == before
