"""Claude Code's ``if``: one permission rule, and whether a tool call falls under it.

Knows rules; must not know events or files. Where it cannot tell, the hook runs, as there.
"""

import os
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from msgspec import Struct

from hookline.dialects.claude_code.matchers import tool_names
from hookline.model.tools import Tool

__all__ = ["Rule", "Surroundings", "holds", "parse_rule"]

_RULE = re.compile(r"([A-Za-z_][\w.:*-]*)(?:\((.*)\))?", re.DOTALL)
_SHELLS = {"Bash", "PowerShell", "Monitor"}
_PATHS = {"Read", "Edit", "Write", "MultiEdit", "NotebookEdit", "Glob", "Grep", "LS"}
_EXPANDS = re.compile(r"[`$]")


class Rule(Struct, frozen=True):
    """``Tool`` or ``Tool(specifier)``."""

    tool: str
    specifier: str | None


class Surroundings(Struct, frozen=True):
    """What a path in a rule may be relative to."""

    cwd: str
    source: str
    """The directory that the settings are for."""


def parse_rule(text: str) -> Rule | None:
    """The rule, or None for what is none."""
    found = _RULE.fullmatch(text.strip())
    if found is None or found[2] == "":
        return None
    return Rule(found[1], None if found[2] is None else found[2].strip())


def holds(rule: Rule, tool: Tool, name: str, input: Mapping[str, Any], at: Surroundings) -> bool:
    """Whether a call falls under the rule; ``name`` and ``input`` are Claude Code's own."""
    if name.startswith("mcp__") or rule.tool.startswith("mcp__"):
        return _is_mcp(rule.tool, name)
    if rule.tool not in tool_names(name):
        return False
    if rule.specifier is None or rule.specifier == "*":
        return True
    if name in _SHELLS:
        return _runs(rule.specifier, tool.command or "")
    if name in _PATHS:
        paths = tool.paths or ((tool.path,) if tool.path else ())
        return any(_covers(rule.specifier, path, at) for path in paths)
    if name == "WebFetch" and rule.specifier.startswith("domain:"):
        return _is_host(rule.specifier.removeprefix("domain:"), tool.url or "")
    if "Agent" in tool_names(name):
        return input.get("subagent_type") == rule.specifier
    return True


def _is_mcp(rule: str, name: str) -> bool:
    if "*" in rule:
        return _is_all(_any(rule), name)
    return name == rule or name.startswith(f"{rule}__")


def _is_all(regex: str, text: str) -> bool:
    """Whether a regex made from a glob is the whole text; so is one that cannot be made."""
    import re2

    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    try:
        compiled = re2.compile(regex.encode("utf-8", "replace"), options)
    except re2.error:
        return True
    return compiled.fullmatch(text.encode("utf-8", "replace")) is not None


def _any(pattern: str) -> str:
    return ".*".join(re.escape(part) for part in re.split(r"\*+", pattern))


def _is_host(pattern: str, url: str) -> bool:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return True
    return _is_all(_any(pattern.lower()), host)


# ── commands ────────────────────────────────────────────────────────────────────────────────


def _runs(specifier: str, command: str) -> bool:
    from hookline.shell import split

    pattern = f"{specifier[:-2]} *" if specifier.endswith(":*") else specifier
    head = pattern.removesuffix(" *").strip()
    if " " in head and _EXPANDS.search(command):
        return True
    parts = split(command)
    if parts.unreadable:
        return True
    texts = {command.strip()}
    for each in parts.commands:
        texts |= {each.text, " ".join(each.full)}
    return any(_is_like(pattern, text) for text in texts)


def _is_like(pattern: str, text: str) -> bool:
    """A ``*`` stands for anything; a last `` *`` also for nothing, but never within a word."""
    if pattern.endswith(" *"):
        return _is_all(rf"{_any(pattern[:-2])}(?: .*)?", text)
    return _is_all(_any(pattern), text)


# ── paths ───────────────────────────────────────────────────────────────────────────────────


def _covers(specifier: str, path: str, at: Surroundings) -> bool:
    """Gitignore's language, from the root, the home, the settings or the working directory."""
    absolute = os.path.normpath(os.path.join(at.cwd or "/", path))
    if specifier.startswith("//"):
        base, pattern = "/", specifier[2:]
    elif specifier.startswith("~/"):
        base, pattern = os.path.expanduser("~"), specifier[2:]
    elif specifier.startswith("/"):
        base, pattern = at.source or "/", specifier[1:]
    else:
        base, pattern = at.cwd or "/", specifier.removeprefix("./")
        if "/" not in pattern.rstrip("/"):
            pattern = f"**/{pattern}"
    inside = f"{base.rstrip('/')}/"
    if not absolute.startswith(inside):
        return False
    # With what a directory holds, as a line in a gitignore has it.
    regex = rf"{_gitignore(pattern.rstrip('/'))}(?:/.*)?"
    return _is_all(regex, absolute[len(inside) :])


_GLOB = re.compile(r"\*\*/|/\*\*$|\*+|\?|\[!?[^\]/]+\]|.", re.DOTALL)


def _gitignore(pattern: str) -> str:
    def part(found: re.Match[str]) -> str:
        text = found[0]
        if text == "**/":
            return "(?:.*/)?"
        if text == "/**":
            return "/.*"
        if text[0] == "*":
            return ".*" if text == "**" and pattern == "**" else "[^/]*"
        if text == "?":
            return "[^/]"
        if text[0] == "[" and len(text) > 1:
            inner = text[1:-1].replace("\\", r"\\").replace("[", r"\[")
            return f"[^{inner[1:]}]" if inner[0] == "!" and len(inner) > 1 else f"[{inner}]"
        return re.escape(text)

    return _GLOB.sub(part, pattern)
