"""How hooks silently do not fire in Gemini CLI."""

import re
from collections.abc import Iterator

from hookline.dialects._doctor import Cause, Rules
from hookline.dialects._doctor_entries import common, entries, is_ours, script
from hookline.dialects._patterns import found, is_pattern
from hookline.dialects.gemini.entries import LITERAL, TOOL_EVENTS
from hookline.dialects.gemini.files import GeminiFile
from hookline.model.findings import Checkup, Finding, Severity
from hookline.model.native import NativeEntry

__all__ = ["findings"]

_CLAUDE_ANSWER = re.compile(r"permissionDecision|updatedInput")
_OWN_ANSWER = re.compile(r"[\"']decision[\"']|\bexit[( ]2\b")


def _matches(entry: NativeEntry, name: str) -> bool:
    matcher = (entry.matcher or "").strip()
    if entry.event in LITERAL or not is_pattern(matcher):
        return matcher == name
    return found(matcher, name)


_RULES = Rules(
    tool_events=frozenset(TOOL_EVENTS),
    matches=_matches,
    mcp="mcp_SERVER_TOOL",
    words={
        "SessionStart": ("startup", "resume", "clear"),
        "PreCompress": ("manual", "auto"),
    },
    variables=("GEMINI_PROJECT_DIR", "GEMINI_CWD", "CLAUDE_PROJECT_DIR"),
    closing='end its command with ` || { echo "the guard failed" >&2; exit 2; }`',
    tells_units=True,
    switches=False,
    causes=(
        Cause(
            phrase="`hooksConfig.enabled`",
            id="hooks-switched-off",
            keys=("hooksConfig", "enabled"),
        ),
        Cause(
            phrase="names hookline's hooks", id="hook-disabled", keys=("hooksConfig", "disabled")
        ),
        Cause(phrase="is no trusted folder", id="folder-not-trusted"),
    ),
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere, hooks that are disabled by name, and answers nobody reads."""
    yield from common(checkup, _RULES)
    yield from _disabled(checkup)
    yield from _unheard(checkup)


def _disabled(checkup: Checkup) -> Iterator[Finding]:
    files = [each.file for each in checkup.own]
    names = {name for file in files if isinstance(file, GeminiFile) for name in file.disabled}
    for seen, entry in entries(checkup):
        name = entry.name or str(entry.command)
        if name in names and name != "hookline":
            what = f"`hooksConfig.disabled` names `{name}`, so Gemini CLI does not run it"
            fix = f"/hooks enable {name}, inside Gemini CLI"
            yield checkup.found(
                "hook-disabled", Severity.NOTE, seen.file.path, entry.line, what, fix
            )


def _unheard(checkup: Checkup) -> Iterator[Finding]:
    """Scripts that answer as Claude Code's do, which lets the tool run here."""
    for seen, entry in entries(checkup):
        text = script(checkup, _RULES, seen, entry)
        if entry.event != "BeforeTool" or not _CLAUDE_ANSWER.search(text):
            continue
        if not _OWN_ANSWER.search(text) and not is_ours(entry):
            what = "this hook answers as one of Claude Code's, and Gemini CLI ignores that"
            fix = 'print {"decision": "deny", "reason": "…"}, or exit 2 with a word on stderr'
            yield checkup.found(
                "answer-ignored", Severity.ERROR, seen.file.path, entry.line, what, fix
            )
