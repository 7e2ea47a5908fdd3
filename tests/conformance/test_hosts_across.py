"""A hook written for any platform guards a call of any other: it sees the command, and is obeyed.

Every pair: the event comes from one platform, in its own names and keys, and the hook is run as
another platform runs it. What it is shown, what it denies and what it rewrites must hold for the
call that was really made.
"""

from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from hookline import registry
from hookline.model.events import PreToolUse
from hookline.model.rewriting import native_input, rewritten
from hookline.model.tools import ToolKind

PLATFORMS = [name for name in registry.dialect_names() if name != "canonical"]

CALLS = {
    ToolKind.SHELL: {"command": "MK_COMMAND --now"},
    ToolKind.READ: {"path": "/srv/app/MK_FILE"},
    ToolKind.WRITE: {"path": "/srv/app/MK_FILE", "content": "MK_CONTENT"},
}


def call(platform: str, kind: ToolKind) -> PreToolUse | None:
    """A call of this kind under the platform's own name and keys; None when it has no such tool."""
    table = registry.tools(platform)
    for name, row in table.rows.items():
        wanted = CALLS[kind]
        if row.kind is kind and all(key in row.keys for key in wanted) and row.special is None:
            native = {row.keys[key]: value for key, value in wanted.items()}
            tool = table.read(name, native)
            return PreToolUse(tool=tool, cwd="/srv/app", session_id="s1", dialect=platform)
    return None


def as_asked(event: PreToolUse, host: str) -> PreToolUse:
    """As handlers show it to a hook of another platform."""
    dialect = registry.dialect(host)
    native = next(n for n, row in dialect.support.events.items() if row.event == "pre_tool_use")
    return replace(event, dialect=host, native_event=native, raw=Raw(b"null"))


_CLAUDE = (
    '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", '
    '"updatedInput": {"KEY": "MK_SAFER"}}}'
)
REWRITES = {
    "claude-code": _CLAUDE,
    "codex": _CLAUDE,
    "vscode": _CLAUDE,
    "gemini": '{"hookSpecificOutput": {"hookEventName": "BeforeTool", '
    '"tool_input": {"KEY": "MK_SAFER"}}}',
    "copilot": '{"modifiedArgs": {"KEY": "MK_SAFER"}}',
    "cursor": '{"permission": "allow", "updated_input": {"KEY": "MK_SAFER"}}',
    "docker-agent": '{"hook_specific_output": {"hook_event_name": "pre_tool_use", '
    '"updated_input": {"KEY": "MK_SAFER"}}}',
    "kodelet": '{"input": {"KEY": "MK_SAFER"}}',
}


def pairs(*, both: bool = False, rewriting: bool = False) -> list[Any]:
    """Calls that one platform can make; ``both``: of which the other has the like."""
    return [
        pytest.param(guest, host, kind, id=f"{guest} call, {host} hook, {kind.value}")
        for guest in PLATFORMS
        for host in PLATFORMS
        for kind in CALLS
        if guest != host and call(guest, kind) is not None
        if not both or call(host, kind) is not None
        if not rewriting or (kind is ToolKind.SHELL and host in REWRITES)
    ]


@pytest.mark.parametrize(("guest", "host", "kind"), pairs())
def test_a_hook_is_shown_what_the_call_is_about(guest: str, host: str, kind: ToolKind) -> None:
    event = call(guest, kind)
    assert event is not None

    asked = registry.dialect(host).stdin(as_asked(event, host))

    for value in CALLS[kind].values():
        assert value.encode() in asked


@pytest.mark.parametrize(("guest", "host", "kind"), pairs(both=True))
def test_a_hook_finds_it_under_its_own_platforms_keys(
    guest: str, host: str, kind: ToolKind
) -> None:
    """What the host's own reader makes of what the hook is shown is the call that was made."""
    event = call(guest, kind)
    assert event is not None
    asked = as_asked(event, host)

    seen = registry.dialect(host).decode(registry.dialect(host).stdin(asked), asked.native_event)

    assert isinstance(seen, PreToolUse)
    for key, value in CALLS[kind].items():
        assert getattr(seen.tool, key) == value


@pytest.mark.parametrize(("guest", "host", "kind"), pairs(both=True, rewriting=True))
def test_a_rewrite_in_the_hooks_own_words_changes_the_call_that_was_made(
    guest: str, host: str, kind: ToolKind
) -> None:
    event = call(guest, kind)
    assert event is not None
    dialect = registry.dialect(host)
    asked = as_asked(event, host)
    table = registry.tools(host)
    key = next(row.keys["command"] for row in table.rows.values() if row.kind is kind and row.keys)
    stdout = REWRITES[host].replace("KEY", key).encode()

    answer = dialect.read_answer(asked, stdout=stdout, stderr=b"", exit_code=0)
    assert answer.rewrite.input is not None
    own = registry.tools(guest)
    patch = native_input(event, answer.rewrite.input, own)
    final = rewritten(event, replace(answer.rewrite, input=patch), own)

    assert final.tool.command == "MK_SAFER"
    assert "MK_COMMAND" not in str(final.tool.input), "the old command is still there"
