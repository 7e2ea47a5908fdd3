"""Every builtin can be put on the events that its page names, in a config, and on no other."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.model.events import EVENTS
from support.cli import Done, Machine

# Those that do nothing without being told what.
NEEDED = {
    "add-prompt-files": {"files": ["AGENTS.md"]},
    "http-post": {"args": ["https://hooks.example.com"]},
    "max-iterations": {"limit": 3},
}


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def checked(machine: Machine, *uses: dict[str, Any]) -> Done:
    path = machine.write("hookline.yaml", json.dumps({"version": 1, "hooks": list(uses)}))
    return machine.call("check", str(path))


def placed(name: str, event: str) -> dict[str, Any]:
    options = {"with": NEEDED[name]} if name in NEEDED else {}
    return {"name": f"{name} on {event}", "use": name, "on": event, **options}


def legal(name: str) -> set[str]:
    module = registry.builtin(name)
    return {*module.EVENTS, *getattr(module, "ALSO", ())}


@pytest.mark.parametrize("name", registry.builtin_names())
def test_a_builtin_may_be_put_on_each_of_its_events(machine: Machine, name: str) -> None:
    done = checked(machine, *(placed(name, event) for event in sorted(legal(name))))
    assert "no mistakes" in done.out, done.err


@pytest.mark.parametrize(
    "name", [name for name in registry.builtin_names() if legal(name) < set(EVENTS)]
)
def test_on_any_other_event_that_is_said_once(machine: Machine, name: str) -> None:
    other = next(event for event in EVENTS if event not in legal(name))
    done = checked(machine, placed(name, other))
    said = [line for line in (done.out + done.err).splitlines() if f"nothing on `{other}`" in line]
    assert len(said) == 1
