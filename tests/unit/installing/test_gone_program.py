"""With hookline gone from the machine, every gate stays shut and nothing else is held up."""

import json
import subprocess
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import registry
from hookline.dialects._install import JsonSettings
from hookline.model.installing import Call
from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

GONE = Call(program=("/nowhere/hookline",), home="/h", user_config="/c")
SHARED = Call(program=("hookline",), shared=True)

CASES = [
    pytest.param(installer, event, id=f"{name}-{event}")
    for name in registry.installer_names()
    if isinstance(installer := registry.installer(name), JsonSettings)
    for event in installer.events()
]


def payload(name: str, event: str) -> dict[str, Any]:
    """A recorded payload of this event, if there is one."""
    folder = Path(hookline.__file__).parent / "dialects" / name.replace("-", "_") / "captures"
    for path in sorted(folder.glob("*.json")):
        recorded = json.loads(path.read_text(encoding="utf-8"))
        if recorded["event"] == event:
            found: dict[str, Any] = recorded["payload"]
            return found
    return {}


def obeyed(installer: JsonSettings, event: str, call: Call) -> tuple[Effect, Effect]:
    """What the client does with our line now, and with a hook that says nothing."""
    client = import_module(f"support.clients.{installer.id.replace('-', '_')}")
    given = payload(installer.id, event)
    done = subprocess.run(
        ["sh", "-c", installer.line(event, call)],
        input=json.dumps(given).encode(),
        capture_output=True,
        env={"PATH": "/usr/bin:/bin"},
        timeout=30,
        check=False,
    )
    reply = Reply(stdout=done.stdout, stderr=done.stderr, exit_code=done.returncode)
    return client.obey(event, reply, given), client.obey(event, Reply(), given)


@pytest.mark.parametrize("call", [GONE, SHARED], ids=["gone", "shared"])
@pytest.mark.parametrize(("installer", "event"), CASES)
def test_a_gate_stays_shut_and_nothing_else_is_held_up(
    installer: JsonSettings, event: str, call: Call
) -> None:
    effect, usual = obeyed(installer, event, call)
    row = installer.support.events[event]
    if installer.closes(event) and row.can("deny"):
        assert effect.does >= Does.BLOCKS
    elif not installer.closes(event):
        assert effect.does == usual.does
    assert effect.follow_up == ""
    assert effect.output is None
