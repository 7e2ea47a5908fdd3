"""Kodelet runs the executables that install wrote: a deny denies, and so does a lost program."""

import os
from pathlib import Path

import pytest

from support.cli import Machine
from support.clients import kodelet as client
from support.clients.effects import Does, Effect
from support.installed import gone, install, run, tree

GATES = ("before_tool_call", "user_message_send")
OTHERS = ("after_tool_call", "agent_stop", "turn_end")


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


def hooks(machine: Machine) -> dict[str, Path]:
    """The files that the client counts as hooks, by what each says that it is for."""
    folder = machine.person / ".kodelet/hooks"
    files = [path for path in sorted(folder.iterdir()) if os.access(path, os.X_OK)]
    said = {path: run(machine, (str(path), "hook")) for path in files}
    assert all(reply.exit_code == 0 for reply in said.values())
    return {reply.stdout.decode().strip(): path for path, reply in said.items()}


def obeyed(machine: Machine, event: str) -> Effect:
    """What the client does with the answer to an event."""
    payload = client.payload(event)
    reply = run(machine, (str(hooks(machine)[event]), "run"), payload)
    return client.obey(event, reply, payload)


def lose(machine: Machine) -> None:
    """Have every script start what is not there."""
    for path in hooks(machine).values():
        path.write_text(gone(path.read_text()))


def test_there_is_one_executable_for_each_type_and_it_sorts_last(machine: Machine) -> None:
    install(machine, "kodelet")
    found = hooks(machine)
    assert set(found) == {*GATES, *OTHERS}
    for path in found.values():
        assert path.stat().st_mode & 0o777 == 0o755
        assert max("validate", "zebra", path.name) == path.name


def test_a_deny_denies(machine: Machine) -> None:
    install(machine, "kodelet")
    effect = obeyed(machine, "before_tool_call")
    assert effect.does is Does.BLOCKS
    assert "Nothing is removed here." in effect.reason
    assert obeyed(machine, "user_message_send").does is Does.BLOCKS


def test_without_hookline_every_gate_is_shut(machine: Machine) -> None:
    install(machine, "kodelet")
    lose(machine)
    for event in GATES:
        effect = obeyed(machine, event)
        assert effect.does is Does.BLOCKS
        assert "hookline" in effect.reason


def test_nothing_else_is_held_up_when_hookline_is_gone(machine: Machine) -> None:
    install(machine, "kodelet")
    lose(machine)
    for event in OTHERS:
        effect = obeyed(machine, event)
        assert effect.does is Does.GOES_ON
        assert (effect.follow_up, effect.output) == ("", None)


def test_a_shared_script_blocks_where_hookline_is_not_installed(machine: Machine) -> None:
    install(machine, "kodelet", "--shared")
    folder = machine.project / ".kodelet/hooks"
    for event in (*GATES, *OTHERS):
        payload = client.payload(event)
        argv = (str(folder / f"zz-hookline-{event}"), "run")
        reply = run(machine, argv, payload, PATH="/usr/bin:/bin")
        effect = client.obey(event, reply, payload)
        assert (effect.does is Does.BLOCKS) is (event in GATES)
        assert not effect.failed
        if event in GATES:
            assert "not installed on this machine" in effect.reason


def test_uninstall_leaves_no_trace(machine: Machine) -> None:
    before = tree(machine.person, machine.project)
    install(machine, "kodelet")
    assert len(tree(machine.person, machine.project)) == len(before) + 5
    done = machine.call("uninstall", "kodelet", says="yes")
    assert done.code == 0, done.err
    assert tree(machine.person, machine.project) == before
