"""Payloads recorded from real clients decode to the right event, and nothing of them is lost."""

import json
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import registry
from hookline.model.events import EVENTS, ToolEvent
from hookline.model.outcome import Outcome
from hookline.model.tools import ToolKind

DIALECTS = Path(hookline.__file__).parent / "dialects"
NATIVE = [name for name in registry.dialect_names() if name != "canonical"]
CAPTURES = [
    pytest.param(name, path, id=f"{name}-{path.parent.name}-{path.stem}")
    for name in NATIVE
    for pattern in ("*.json", "lab/*.json")
    for path in sorted((DIALECTS / name.replace("-", "_") / "captures").glob(pattern))
]


def capture(path: Path) -> dict[str, Any]:
    """A recorded payload with its provenance."""
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(("name", "path"), CAPTURES)
def test_a_recorded_payload_decodes_and_nothing_is_lost(name: str, path: Path) -> None:
    recorded = capture(path)
    payload = json.dumps(recorded["payload"]).encode()
    dialect = registry.dialect(name)

    event = dialect.decode(payload, recorded["event"])

    assert event.dialect == name
    assert bytes(event.raw) == payload
    row = dialect.support.find(event.native_event)
    assert row is not None, event.native_event
    assert type(event) is EVENTS[row.event]
    assert event.session_id
    assert dialect.stdin(event) == payload


@pytest.mark.parametrize(("name", "path"), CAPTURES)
def test_a_recorded_tool_is_understood(name: str, path: Path) -> None:
    recorded = capture(path)
    dialect = registry.dialect(name)
    event = dialect.decode(json.dumps(recorded["payload"]).encode(), recorded["event"])
    if not isinstance(event, ToolEvent):
        return
    tool = event.tool
    if tool.kind is ToolKind.SHELL:
        assert tool.command
    if tool.kind in {ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT}:
        assert tool.paths
    if tool.kind is ToolKind.MCP:
        assert tool.mcp is not None


@pytest.mark.parametrize(("name", "path"), CAPTURES)
def test_a_recorded_event_gets_a_reply_that_changes_nothing_when_no_hook_speaks(
    name: str, path: Path
) -> None:
    recorded = capture(path)
    dialect = registry.dialect(name)
    event = dialect.decode(json.dumps(recorded["payload"]).encode(), recorded["event"])

    reply = dialect.encode(Outcome(event=event))

    # There silence with 0 would take back what another hook has put in place of the output.
    assert reply.exit_code == int((name, recorded["event"]) == ("kodelet", "after_tool_call"))
    assert reply.stdout in {b"", b"{}\n", b"{}"}


@pytest.mark.parametrize(("name", "path"), CAPTURES)
def test_every_capture_says_where_it_is_from(name: str, path: Path) -> None:
    recorded = capture(path)
    assert {"client", "version", "event", "payload"} <= set(recorded)
