"""Asks before shell commands that docker-agent's table calls destructive or does not know.

Goes by words, as docker-agent does, so it also asks about text that only mentions danger.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import Struct

from hookline.builtin._docker_agent import ArgsOptions
from hookline.model.answers import PASS, Answer, ask
from hookline.model.events import Event, ToolEvent
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind

EVENTS: tuple[str, ...] = ("pre_tool_use",)
PRIORITY: int = 20
GUARD: bool = True

_LEVELS = {
    "LOW": "low",
    "LOW-MEDIUM": "medium",
    "MEDIUM": "medium",
    "MEDIUM-HIGH": "high",
    "HIGH": "high",
}
# Worst first; what nobody has judged is worse than what is known to be mild.
_SEVERITY = ("high", "unknown", "medium", "low")
_JOINED = re.compile(r" (?:&&|\|\||\||;) ")


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


class _Destructive(Struct, frozen=True):
    """One line of the table, ready to be looked for."""

    category: str
    written: str
    radius: str
    pattern: Any


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    if not isinstance(event, ToolEvent) or not _is_shell(event.dialect, event.tool):
        return PASS
    # Half a character is no text to re2, and no part of any program's name.
    given = (event.tool.command or "").encode("utf-8", "replace").decode()
    command = " ".join(given.lower().split())
    found = [each for each in _destructive() if each.pattern.search(command)]
    if found:
        worst = min(found, key=lambda each: _SEVERITY.index(each.radius))
        reason = f"`{worst.written}` is destructive: {worst.category}, {worst.radius} blast radius"
        return _asked(reason, worst.radius, worst.category)
    if not _JOINED.search(f" {command} ") and any(each.fullmatch(command) for each in _safe()):
        return PASS
    return _asked("this command is not known to be safe", "unknown")


def _is_shell(dialect: str, tool: Tool) -> bool:
    # docker-agent knows its shell by name alone; elsewhere shells have other names.
    return tool.name == "shell" if dialect == "docker-agent" else tool.kind is ToolKind.SHELL


def _asked(reason: str, radius: str, category: str = "") -> Answer:
    metadata = {"blast_radius": radius, "reason": reason}
    return ask(reason, metadata=metadata | ({"category": category} if category else {}))


@cache
def _destructive() -> tuple[_Destructive, ...]:
    import re2  # in time that grows with the command alone, whatever is written in it

    from hookline.builtin._safer_shell_table import DESTRUCTIVE

    return tuple(
        _Destructive(
            category,
            written,
            _LEVELS.get(level, "unknown"),
            re2.compile(rf"(?:^|\b){_regex(written)}(?:\b|$|\s)"),
        )
        for category, lines in DESTRUCTIVE.items()
        for written, level in lines
    )


@cache
def _safe() -> tuple[Any, ...]:
    import re2

    from hookline.builtin._safer_shell_table import SAFE

    return tuple(re2.compile(_regex(each)) for lines in SAFE.values() for each in lines)


def _regex(written: str) -> str:
    """What a line of the table matches, in a command in lower case."""
    parts = re.split(r"(<\w+>|\.\.\.)", written.lower())
    signs = {"...": ".*"}
    return "".join(
        r"\S+" if part.startswith("<") else signs.get(part) or re.escape(part) for part in parts
    )
