"""How hooks silently do not fire in GitHub's agents; the casing of an event is the trap of theirs.

A camelCase event gets camelCase keys and is answered at the top level; a PascalCase one gets
snake_case keys. A script written for one form finds nothing in the other, and says nothing.
"""

import re
from collections.abc import Iterator

from hookline.dialects._copilot.entries import by_claude_rules
from hookline.dialects._copilot.names import camel_name, is_pascal, pascal_name
from hookline.dialects._copilot.tools import CLAUDE_NAMES
from hookline.dialects._doctor import Cause, Rules, in_directory
from hookline.dialects._doctor_entries import common, entries, is_ours, script
from hookline.dialects._patterns import whole
from hookline.model.findings import Checkup, Finding, Severity
from hookline.model.native import NativeEntry

__all__ = ["findings"]

_CAMEL = re.compile(r"\b(?:toolName|toolArgs|sessionId|toolResult)\b")
_SNAKE = re.compile(r"\b(?:tool_name|tool_input|session_id|tool_result)\b")
_NESTED = re.compile(r"hookSpecificOutput[\"']?\s*:\s*\{[^{}]*\}")
_DECISION = re.compile(r"permissionDecision\b")
_CLAUDE_ONLY = {*CLAUDE_NAMES.values(), "Task"}
# These have one form under both names.
_ONE_FORM = {"permissionRequest", "notification"}


def _matches(entry: NativeEntry, name: str) -> bool:
    if name in _CLAUDE_ONLY:
        return False  # counts as another name of the tool, and is no tool by itself
    matcher, called = entry.matcher or "", CLAUDE_NAMES.get(name, name)
    if not by_claude_rules(entry):
        return whole(matcher, name) or (is_pascal(entry.event) and whole(matcher, called))
    names = {name, called, *({"Task"} if called == "Agent" else ())}
    return not names.isdisjoint(matcher.split("|")) or whole(matcher, called)


_RULES = Rules(
    tool_events=frozenset(
        name
        for camel in ("preToolUse", "postToolUse", "permissionRequest")
        for name in (camel, pascal_name(camel))
    ),
    matches=_matches,
    mcp="SERVER-TOOL",
    variables=("COPILOT_PROJECT_DIR", "CLAUDE_PROJECT_DIR"),
    base=in_directory,
    causes=(
        Cause(phrase="disableAllHooks"),
        Cause(phrase="is no trusted folder", id="folder-not-trusted"),
    ),
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere, and scripts in the wrong casing."""
    yield from common(checkup, _RULES)
    for seen, entry in entries(checkup):
        if not is_ours(entry) and camel_name(entry.event) not in _ONE_FORM:
            text = script(checkup, _RULES, seen, entry)
            for what, fix in _casing(entry.event, text):
                yield checkup.found(
                    "payload-casing", Severity.ERROR, seen.file.path, entry.line, what, fix
                )


def _casing(event: str, text: str) -> Iterator[tuple[str, str]]:
    is_camel, other = camel_name(event) == event, pascal_name(event)
    if is_pascal(event):
        other = camel_name(event)
    wrong, right = (_SNAKE, _CAMEL) if is_camel else (_CAMEL, _SNAKE)
    read = wrong.search(text)
    if other != event and read is not None and not right.search(text):
        what = f"the script reads `{read[0]}`, which no payload under `{event}` has"
        yield what, f"write the event as `{other}`, or read the keys of `{event}`"
    nested = _NESTED.search(text)
    decides = nested is not None and _DECISION.search(nested[0]) is not None
    if is_camel and decides and not _DECISION.search(_NESTED.sub("", text)):
        what = f"under `{event}` Copilot ignores what stands in `hookSpecificOutput`"
        yield what, f"write the event as `{other}`, or `permissionDecision` at the top level"
