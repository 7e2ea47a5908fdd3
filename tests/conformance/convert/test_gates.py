"""Every gate of every platform on every other: what is denied there is denied here as well.

The programs say what hookline itself would tell their platform, so every way of denying that a
platform knows is walked.
"""

import json
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.convert.clients import adapters
from hookline import registry
from hookline.converting.convert import convert
from hookline.converting.mapping import blocks, targets
from hookline.converting.platforms import platform, platform_names
from hookline.model.answers import Answer, deny
from hookline.model.events import EVENTS, Event, ToolEvent
from hookline.model.native import NativeEntry, Where
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import tool
from support.cli import Machine
from support.clients.effects import Does, Effect

NAMES = platform_names()
PAIRS = [pytest.param(a, b, id=f"{a}-{b}") for a in NAMES for b in NAMES if a != b]


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def example(name: str, native: str, **fields: Any) -> Event:
    """An event of a platform's, about a shell command where it is about a tool."""
    cls: Any = EVENTS[registry.dialect(name).support.events[native].event]
    if issubclass(cls, ToolEvent):
        fields["tool"] = replace(tool("shell", command="rm x"), output="secret", ok=True)
    event: Event = cls(session_id="s1", dialect=name, native_event=native, **fields)
    return event


def sent(name: str, native: str, machine: Machine) -> dict[str, Any]:
    """What the client sends."""
    model: Any = import_module(f"support.clients.{name.replace('-', '_')}")
    if hasattr(model, "payload"):
        data: dict[str, Any] = model.payload(native)
        here: dict[str, Any] = {"cwd": str(machine.project)}
        here |= {"workspace_roots": [str(machine.project)], "workspaceRoot": str(machine.project)}
        return data | {key: value for key, value in here.items() if key in data}
    dialect: Any = registry.dialect(name)
    body: dict[str, Any] = json.loads(dialect.stdin(example(name, native)))
    return {**body, dialect.keys.cwd: str(machine.project)}


def script(name: str, native: str, answer: Answer, machine: Machine) -> str:
    """A program that answers in its platform's own words."""
    said = registry.dialect(name).encode(Outcome(event=example(name, native), answer=answer))
    path = machine.project / "said"
    path.write_bytes(said.stdout)
    line = f"cat {path}; printf %s {shlex.quote(said.stderr.decode())} >&2; exit {said.exit_code}"
    text = f"#!/bin/sh\ncase $1 in hook) echo {native};; *) {line};; esac\n"
    return str(machine.write("program", text, 0o755))


def becomes(
    a: str, b: str, native: str, answer: Answer, machine: Machine
) -> dict[str, tuple[Any, Effect]]:
    """For each event that a hook of ``a`` stands under in ``b``: its row, and what ``b`` does."""
    command = script(a, native, answer, machine)
    old, new = platform(a), platform(b)
    where = Where(project=str(machine.project), home=str(machine.person))
    if a == "kodelet":
        path, content = command, Path(command).read_bytes()
        done = convert(a, b, path, content, where, only=native)
    else:
        ((path, content),) = old.writer.write([NativeEntry(event=native, command=command)]).items()
        done = convert(a, b, str(machine.project / path), content, where)
    model: Any = import_module(f"support.clients.{b.replace('-', '_')}")
    written = adapters(b, done.files)
    found = {}
    for target in targets(native, old, new):
        data = sent(b, target.native.partition("+")[0], machine)
        name, *words = written[target.native]
        said = machine.call(name, "--home", str(machine.state), *words, stdin=json.dumps(data))
        reply = Reply(stdout=said.out.encode(), stderr=said.err.encode(), exit_code=said.code)
        found[target.native] = (target.row, model.obey(data_event(target.native), reply, data))
    return found


def data_event(native: str) -> str:
    """The event's name in payloads: docker-agent's lanes have none of their own."""
    return native.partition("+")[0]


def is_about_shell(a: str, native: str, b: str) -> bool:
    """Whether the old platform asks a hook on this event about the command that is tried here."""
    return platform(a).rules.matches(
        NativeEntry(event=native, options={"run_by": ()}), replace(example(a, native), dialect=b)
    )


def gates(name: str) -> list[str]:
    rows = registry.dialect(name).support.events.items()
    return [native for native, row in rows if blocks(row) and "+" not in native]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_what_is_denied_on_a_gate_is_denied_on_the_gate_that_it_became(
    a: str, b: str, machine: Machine
) -> None:
    for native in gates(a):
        if not is_about_shell(a, native, b):
            continue
        done = becomes(a, b, native, deny("MK_DENY"), machine)
        for on, (row, effect) in done.items():
            assert not effect.failed, (native, on, effect.failed)
            if blocks(row):
                assert effect.does >= Does.BLOCKS, (native, on)


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_an_agent_that_was_kept_going_is_kept_going(a: str, b: str, machine: Machine) -> None:
    for native, row in registry.dialect(a).support.events.items():
        if not row.can("follow_up"):
            continue
        done = becomes(a, b, native, Answer(follow_up=("MK_MORE",)), machine)
        for on, (now, effect) in done.items():
            assert not effect.failed, (native, on, effect.failed)
            assert ("MK_MORE" in effect.follow_up) == now.can("follow_up"), (native, on)
