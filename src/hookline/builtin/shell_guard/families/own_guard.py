"""What guards the agent: hookline's commands, processes, variables and files."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.lazy import lazy
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.traces import Traces
from hookline.builtin.shell_guard.world import World
from hookline.shell import ShellText

__all__ = ["FAMILY", "MODULES", "assigned", "set_by_wrappers"]

_PERSON = "only a person decides about hookline itself, on their own terminal"
_VERBS = frozenset({"trust", "uninstall", "pause", "install", "init", "undo", "approvals"})


def _hookline(act: Act, world: World) -> Iterator[Finding]:
    words = [word for word in act.words[1:] if not word.startswith("-")]
    if words[:1] and words[0] in _VERBS:
        yield fatal("weakens-guard", act.text, _PERSON, "hookline status")
    elif words[:2] in (["daemon", "stop"], ["daemon", "restart"]):
        yield fatal("weakens-guard", act.text, _PERSON, "hookline daemon status")
    elif words[:2] in (["mcp", "pin"], ["mcp", "forget"]):
        yield fatal("weakens-guard", act.text, _PERSON, "hookline mcp check")


def _declares(act: Act, world: World) -> Iterator[Finding]:
    for word in act.words[1:]:
        if re.match(r"HOOKLINE_\w+", word):
            yield fatal("weakens-guard", f"{act.name} {word}", _PERSON, "hookline status")
            return


def assigned(traces: Traces) -> Iterator[Finding]:
    """Variables of hookline that a command is given."""
    for name, value in traces.assigned:
        if name.startswith("HOOKLINE_"):
            yield fatal("weakens-guard", f"{name}={value}", _PERSON, "hookline status")


def set_by_wrappers(shell: ShellText) -> Iterator[Finding]:
    """``env HOOKLINE_HOME=/tmp make``: words of the wrapper, gone from those of the command."""
    for command in shell.commands:
        for word in command.full[: len(command.full) - len(command.words)]:
            if re.match(r"HOOKLINE_\w+=", word):
                yield fatal("weakens-guard", word, _PERSON, "hookline status")


def _module(act: Act, world: World) -> Iterator[Finding]:
    """``python -m hookline …``."""
    for at, word in enumerate(act.words):
        if word == "-m" and act.words[at + 1 : at + 2] == ("hookline",):
            inner = Act(words=act.words[at + 1 :], exact=act.exact)
            yield from _hookline(inner, world)


_UNGUARDED = lazy(
    r"--dangerously-\S+|--yolo|--allow-all(?:-\w+)?|--trust-all-tools|--yes-always"
    r"|--skip-permissions\S*|--full-auto|--approval-mode=yolo|bypassPermissions|danger-full-access"
)


def _agent(act: Act, world: World) -> Iterator[Finding]:
    """Another agent that is started without its own questions."""
    found = next((word for word in act.words[1:] if _UNGUARDED.fullmatch(word)), "")
    if found:
        why = "that agent would ask nobody before it acts"
        yield risky("escalates", f"{act.name} {found}", why, radius="high")


FAMILY: Family = {
    **dict.fromkeys(
        (
            "claude",
            "codex",
            "gemini",
            "opencode",
            "cursor-agent",
            "aider",
            "goose",
            "amp",
            "qwen",
            "droid",
            "kiro",
            "copilot",
        ),
        _agent,
    ),
    "hookline": _hookline,
    **dict.fromkeys(
        ("export", "declare", "typeset", "unset", "env", "setenv", "readonly", "launchctl"),
        _declares,
    ),
}
MODULES: Family = {
    f"python{version}": _module for version in ("", "3", *(f"3.{n}" for n in range(10, 20)))
}
