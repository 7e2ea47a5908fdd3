"""What one entry of Claude Code's files says, and what is wrong with it.

Knows the schema of hooks; must not know where files are or when an entry matches.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.dialects._entries import texts
from hookline.dialects._located import Located
from hookline.dialects.claude_code.conditions import parse_rule
from hookline.dialects.claude_code.matchers import TOOL_EVENTS, Pattern
from hookline.model.errors import IllegalValueError, nearest
from hookline.model.native import NativeEntry, NativeFlaw, Voids
from hookline.model.text import visible

__all__ = ["Reading", "read_hooks"]

# One bad entry under these and the client drops the whole file, its other settings included.
_FATAL = {"PreToolUse", "PermissionRequest"}
_NO_MODEL = "SessionStart Setup SessionEnd ConfigChange CwdChanged DirectoryAdded Elicitation "
_NO_MODEL += "ElicitationResult FileChanged InstructionsLoaded MessageDisplay Notification "
_NO_MODEL += "PreCompact PostCompact PreModelSwitch PostModelSwitch StopFailure SubagentStart "
_NO_MODEL += "WorktreeCreate WorktreeRemove"
_NOT_HERE: Mapping[str, frozenset[str]] = {
    "prompt": frozenset(_NO_MODEL.split()),
    "agent": frozenset(_NO_MODEL.split()) | {"PermissionRequest"},
    "http": frozenset({"SessionStart", "Setup"}),
    "mcp_tool": frozenset({"Setup"}),
}
# Never blocked by a hook that failed, whatever the hook says.
_NEVER_CLOSED = {"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"}
# The client itself closes these when their hook fails.
_CLOSED = {"WorktreeCreate", "PreModelSwitch"}
_FROM_THE_CLIENT = re.compile(r"\$\{?(CLAUDE_PLUGIN_DATA)\b|\$\{(user_config\.[^}]*)\}")


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _seconds(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value > 0


_TEXT: tuple[Callable[[Any], bool], str] = (lambda value: isinstance(value, str), "a text")
_YES_NO: tuple[Callable[[Any], bool], str] = (
    lambda value: isinstance(value, bool),
    "true or false",
)
_KEYS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "command": _TEXT,
    "url": _TEXT,
    "prompt": _TEXT,
    "server": _TEXT,
    "tool": _TEXT,
    "model": _TEXT,
    "if": _TEXT,
    "statusMessage": _TEXT,
    "async": _YES_NO,
    "asyncRewake": _YES_NO,
    "once": _YES_NO,
    "continueOnBlock": _YES_NO,
    "args": (_texts, "a list of texts"),
    "allowedEnvVars": (_texts, "a list of texts"),
    "headers": (lambda value: texts(value) is not None, "an object of texts"),
    "input": (lambda value: isinstance(value, dict), "an object"),
    "timeout": (_seconds, "a number of seconds above 0"),
    "shell": (lambda value: value in ("bash", "powershell"), "`bash` or `powershell`"),
    "onFailure": (lambda value: value in ("continue", "block"), "`continue` or `block`"),
}
_NEEDED = {
    "command": ("command",),
    "http": ("url",),
    "prompt": ("prompt",),
    "agent": ("prompt",),
    "mcp_tool": ("server", "tool"),
}


class Reading(Struct, frozen=True, kw_only=True):
    """What entries of one file have in common."""

    known: frozenset[str]
    """The native events there are."""
    env: Mapping[str, str] = {}
    """What the file's hooks find in their environment beside the rest: a plugin's root."""
    origin: str = ""
    """The plugin or skill; entries of different ones are never the same."""
    agent: str = ""
    is_skill: bool = False


def read_hooks(
    hooks: Located, reading: Reading
) -> tuple[tuple[NativeEntry, ...], tuple[NativeFlaw, ...]]:
    """Every entry under ``hooks``, and every mistake in it."""
    entries: list[NativeEntry] = []
    flaws: list[NativeFlaw] = []
    for event, groups in hooks.members.items():
        native = "SubagentStop" if reading.agent and event == "Stop" else event
        for entry, found in _event(native, groups, reading):
            entries.append(entry)
            flaws += found
    fatal = next((flaw for flaw in flaws if flaw.voids is Voids.FILE), None)
    if fatal is not None:
        why = f"Claude Code runs nothing of this file: line {fatal.line}, {fatal.message}"
        entries = [_flawed(entry, why) for entry in entries]
    return tuple(entries), tuple(flaws)


def _flawed(entry: NativeEntry, why: str) -> NativeEntry:
    return replace(entry, flaw=entry.flaw or why)


Found = tuple[NativeEntry, list[NativeFlaw]]


def _event(event: str, groups: Located, reading: Reading) -> Iterator[Found]:
    if event not in reading.known:
        hint = nearest(event, {name.lower(): name for name in reading.known}.values())
        message = f"Claude Code has no event `{_shown(event)}`, so nothing under it ever runs"
        flaw = NativeFlaw(groups.line, message, hint or "names are written as in PreToolUse")
        yield from (
            (_flawed(entry, message), [flaw]) for entry, _ in _groups(event, groups, reading)
        )
        return
    yield from _groups(event, groups, reading)


def _groups(event: str, groups: Located, reading: Reading) -> Iterator[Found]:
    if not isinstance(groups.value, list):
        yield _broken(event, groups.line, f"`{_shown(event)}` must be a list")
        return
    for number, group in enumerate(groups.items):
        if not isinstance(group.value, dict):
            yield _broken(event, group.line, "an entry must be an object with `hooks` in it")
        elif not isinstance(group.members.get("hooks", group).value, list):
            hint = '{"matcher": "…", "hooks": [{"type": "command", "command": "…"}]}'
            yield _broken(event, group.line, "`hooks` must be a list", f"write {hint}")
        else:
            for each in group.members["hooks"].items:
                yield _entry(event, f"{event}[{number}]", group, each, reading)


def _broken(event: str, line: int, message: str, hint: str = "") -> Found:
    voids = Voids.FILE if event in _FATAL else Voids.ENTRY
    entry = NativeEntry(event=event, type="unknown", line=line, flaw=message)
    return entry, [NativeFlaw(line, message, hint, voids)]


def _entry(event: str, name: str, group: Located, each: Located, reading: Reading) -> Found:
    """One handler, as an entry that runs or as one that says why it does not."""
    if not isinstance(each.value, dict):
        return _broken(event, each.line, "a hook must be an object")
    matcher = group.get("matcher")
    flaws = [
        *_mistakes(event, each, group, matcher),
        *(_conditions(event, each, matcher) if not _mistaken(each) else ()),
        *_without_effect(each, reading),
    ]
    kind = each.get("type")
    says = {key: value for key, value in each.plain().items() if key not in _SAID}
    options = {**says, "from": reading.origin} if reading.origin else says
    broken = next((flaw.message for flaw in flaws if flaw.voids is not Voids.NOTHING), "")
    background = each.get("async") is True and each.get("asyncRewake") is not True
    entry = NativeEntry(
        event=event,
        type=kind if isinstance(kind, str) and kind else "unknown",
        command=_command(each),
        url=_text(each, "url"),
        matcher=matcher if isinstance(matcher, str) else None,
        condition=_text(each, "if"),
        timeout=float(each.get("timeout")) if _seconds(each.get("timeout")) else None,
        env=reading.env,
        background=background,
        fails_closed=_fails_closed(event, each, background),
        agent=reading.agent,
        group=name,
        options=options,
        line=each.line,
        flaw=broken,
    )
    return entry, flaws


_SAID = {"type", "command", "args", "url", "if", "timeout", "async", "onFailure"}


def _fails_closed(event: str, each: Located, background: bool) -> bool | None:
    if background or event in _NEVER_CLOSED:
        return None
    if event in _CLOSED:
        return True
    said = each.get("onFailure") if each.get("type") in ("command", "http") else None
    return None if said is None else said == "block"


def _command(each: Located) -> str | tuple[str, ...]:
    command, args = _text(each, "command"), each.get("args")
    return (command, *args) if command and _texts(args) else command


def _text(each: Located, key: str) -> str:
    value = each.get(key)
    return value if isinstance(value, str) else ""


def _shown(text: object) -> str:
    return visible(str(text))[:80]


# ── mistakes ────────────────────────────────────────────────────────────────────────────────


def _mistaken(each: Located) -> bool:
    """Whether the client refuses the hook itself, so that nothing else about it counts."""
    return next(_schema(each), None) is not None


def _schema(each: Located) -> Iterator[tuple[int, str, str]]:
    kind = each.get("type")
    if not isinstance(kind, str) or kind not in _NEEDED:
        what = "`type` is missing" if kind is None else f"`{_shown(kind)}` is no type of hook"
        hint = nearest(str(kind), _NEEDED) or f"one of {', '.join(_NEEDED)}"
        yield each.line_of("type"), what, hint
        return
    for key in _NEEDED[kind]:
        if key not in each.members:
            yield each.line, f"`{key}` is missing", f"a hook of type `{kind}` needs it"
    for key, value in each.members.items():
        fits, what = _KEYS.get(key, (lambda _: True, ""))
        if not fits(value.plain()):
            yield value.line, f"`{key}` must be {what}", ""


def _mistakes(event: str, each: Located, group: Located, matcher: object) -> Iterator[NativeFlaw]:
    """What the client's schema refuses."""
    voids = Voids.FILE if event in _FATAL else Voids.ENTRY
    for line, message, hint in _schema(each):
        yield NativeFlaw(line, message, hint, voids)
    if matcher is not None and not isinstance(matcher, str):
        yield NativeFlaw(group.line_of("matcher"), "`matcher` must be a text", "", voids)


def _conditions(event: str, each: Located, matcher: object) -> Iterator[NativeFlaw]:
    """Why a hook in order never runs, or cannot run here."""
    kind, condition = each.get("type"), each.get("if")
    if event in _NOT_HERE.get(kind, ()):
        message = f"Claude Code runs no hook of type `{kind}` on {event}"
        yield NativeFlaw(each.line, message, "use a hook of type `command`")
    if condition is not None and event not in TOOL_EVENTS:
        message = f"a hook with `if` never runs on {_shown(event)}, which has no tool"
        yield NativeFlaw(each.line_of("if"), message, "leave `if` out")
    elif condition is not None and parse_rule(condition) is None:
        message = f"`if` is `{_shown(condition)}`, which is no permission rule: it never runs"
        yield NativeFlaw(each.line_of("if"), message, "write one rule, such as Bash(git push *)")
    if isinstance(matcher, str):
        try:
            Pattern(matcher)
        except IllegalValueError as error:
            message = f"the matcher is no regular expression ({_shown(error)}): it never matches"
            yield NativeFlaw(each.line, message)
    line = _command(each)
    for word in [line] if isinstance(line, str) else line:
        for found in _FROM_THE_CLIENT.finditer(word):
            name = found[1] or found[2]
            yield NativeFlaw(each.line, f"`{_shown(name)}` is known to Claude Code alone")


def _without_effect(each: Located, reading: Reading) -> Iterator[NativeFlaw]:
    if each.get("once") is True:
        message = "`once` counts only in a skill" if not reading.is_skill else "`once` is not kept"
        yield NativeFlaw(each.line_of("once"), f"{message}: it runs each time", "", Voids.NOTHING)
