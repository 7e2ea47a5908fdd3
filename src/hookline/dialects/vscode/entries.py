"""What one entry of VS Code's hook files says, and what is wrong with it.

Knows the schema of hooks; must not know where files are or how hooks run.
"""

import math
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from hookline.dialects._located import Located
from hookline.model.errors import nearest
from hookline.model.native import NativeEntry, NativeFlaw, Voids
from hookline.model.text import visible

__all__ = ["EVENTS", "native_event", "read_hooks"]

EVENTS = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
)
# The names of Copilot CLI's files, which VS Code reads as well.
_COPILOT: Mapping[str, str] = {
    "sessionStart": "SessionStart",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse",
    "agentStop": "Stop",
    "subagentStop": "SubagentStop",
    "subagentStart": "SubagentStart",
    "preCompact": "PreCompact",
    "sessionEnd": "SessionEnd",
    "errorOccurred": "ErrorOccurred",
}
# Read and kept for other agents, and never fired by VS Code's own.
_NEVER_FIRED = {"SessionEnd", "ErrorOccurred"}
# Keys by the system the hook runs on: the first that is there counts, then `command`.
_COMMANDS = {
    "linux": ("linux", "bash", "command"),
    "darwin": ("osx", "bash", "command"),
    "win32": ("windows", "powershell", "command"),
}
_ALL_COMMANDS = ("command", "windows", "linux", "osx", "bash", "powershell")
_READ = {"type", "cwd", "env", "timeout", "timeoutSec", "command"}
# Claude Code's keys: read by nobody here, so that the hook does more than it says.
_IGNORED = ("if", "args", "async", "asyncRewake", "once", "onFailure")
_SPELLED = {name.lower(): name for name in (*EVENTS, *_COPILOT)}


def native_event(name: str) -> str:
    """The event's name as payloads have it, however the file spells it."""
    return _COPILOT.get(name, name)


def read_hooks(
    hooks: Located, *, agent: str = "", env: Mapping[str, str] | None = None
) -> tuple[tuple[NativeEntry, ...], tuple[NativeFlaw, ...]]:
    """Every entry under ``hooks`` in order, and every mistake in it."""
    entries: list[NativeEntry] = []
    flaws: list[NativeFlaw] = []
    for event, listed in hooks.members.items():
        never = _never(event)
        if never:
            flaws.append(NativeFlaw(listed.line, never, _alike(event)))
        # Under its own agent a Stop hook is also called for the agent's end as a sub-agent.
        is_both = bool(agent) and native_event(event) == "Stop"
        for each, found in _listed(event, listed, agent, never):
            entry = replace(each, env={**env, **each.env}) if env else each
            entries.append(entry)
            if is_both:
                entries.append(replace(entry, event="SubagentStop"))
            flaws += found
    return tuple(entries), tuple(dict.fromkeys(flaws))


def _never(event: str) -> str:
    native = native_event(event)
    if native in _NEVER_FIRED:
        return f"VS Code's agent never fires {native}, so nothing under it runs"
    if native not in EVENTS:
        return f"VS Code has no event `{_shown(event)}`, so nothing under it runs"
    return ""


def _alike(event: str) -> str:
    found = nearest(event, _SPELLED)
    for low, name in _SPELLED.items():
        found = found.replace(f"`{low}`", f"`{name}`")
    return found


Found = tuple[NativeEntry, list[NativeFlaw]]


def _listed(event: str, listed: Located, agent: str, never: str) -> Iterator[Found]:
    if not isinstance(listed.value, list):
        yield _broken(event, listed.line, f"`{_shown(event)}` must be a list")
        return
    for number, each in enumerate(listed.items):
        inner = each.members.get("hooks")
        if inner is None:
            yield _entry(event, f"{event}[{number}]", None, each, agent, never)
            continue
        matcher = each.get("matcher")
        for item in inner.items if isinstance(inner.value, list) else [inner]:
            yield _entry(event, f"{event}[{number}]", matcher, item, agent, never)


def _broken(event: str, line: int, message: str) -> Found:
    entry = NativeEntry(event=event, type="unknown", line=line, flaw=message)
    return entry, [NativeFlaw(line, message)]


def _entry(event: str, group: str, matcher: object, each: Located, agent: str, never: str) -> Found:
    if not isinstance(each.value, dict):
        return _broken(event, each.line, "a hook must be an object with `command` in it")
    kind = each.get("type")
    command = _command(each)
    flaws = [*_why_not(each, kind, command), *_without_effect(each, matcher)]
    broken = next((flaw.message for flaw in flaws if flaw.voids is Voids.ENTRY), "")
    env = each.get("env")
    cwd = each.get("cwd")
    entry = NativeEntry(
        event=event,
        type=kind if isinstance(kind, str) else "command" if kind is None else "unknown",
        command=command,
        matcher=matcher if isinstance(matcher, str) else None,
        timeout=_seconds(each.get("timeout")) or _seconds(each.get("timeoutSec")),
        directory=cwd if isinstance(cwd, str) else "",
        env=_texts(env),
        agent=agent,
        group=group,
        options={key: value for key, value in each.plain().items() if key not in _READ},
        line=each.line,
        flaw=broken or never,
        # Another kind of hook would be broken on every system.
        elsewhere=not never
        and kind in (None, "command")
        and not command
        and any(_is_command(each, key) for key in _ALL_COMMANDS),
    )
    return entry, flaws


def _command(each: Located) -> str:
    """The command for this system."""
    keys = _COMMANDS.get(sys.platform, _COMMANDS["linux"])
    return next((str(each.get(key)) for key in keys if _is_command(each, key)), "")


def _is_command(each: Located, key: str) -> bool:
    value = each.get(key)
    return isinstance(value, str) and bool(value.strip())


def _seconds(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < value < math.inf:
        return None
    return float(value)


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str)}


def _shown(text: object) -> str:
    return visible(str(text))[:80]


# ── mistakes ────────────────────────────────────────────────────────────────────────────────


def _why_not(each: Located, kind: object, command: str) -> Iterator[NativeFlaw]:
    if kind is not None and kind != "command":
        message = f"VS Code drops hooks of type `{_shown(kind)}`: it runs commands only"
        yield NativeFlaw(each.line_of("type"), message, 'write "type": "command"')
    elif not command:
        others = [key for key in _ALL_COMMANDS if _is_command(each, key)]
        what = f"only {' and '.join(f'`{key}`' for key in others)}" if others else "no `command`"
        message = f"this hook has {what}, so on this system VS Code does nothing"
        yield NativeFlaw(each.line, message, "add `command`")


def _without_effect(each: Located, matcher: object) -> Iterator[NativeFlaw]:
    """What VS Code passes over without a word."""

    def note(key: str, message: str) -> NativeFlaw:
        return NativeFlaw(each.line_of(key), message, "", Voids.NOTHING)

    if matcher is not None and matcher not in ("", "*"):
        yield note("matcher", "VS Code ignores matchers: this hook runs on every tool")
    for key in _IGNORED:
        if key in each.members:
            yield note(key, f"VS Code ignores `{key}`")
    for key in ("timeout", "timeoutSec"):
        if key in each.members and _seconds(each.get(key)) is None:
            yield note(key, f"`{key}` is no number of seconds above 0, so the default holds")
    if "cwd" in each.members and not isinstance(each.get("cwd"), str):
        yield note("cwd", "`cwd` is no text, so the hook runs in the workspace")
    env = each.get("env")
    if "env" in each.members and (not isinstance(env, dict) or len(_texts(env)) < len(env)):
        yield note("env", "in `env` only texts are set")
