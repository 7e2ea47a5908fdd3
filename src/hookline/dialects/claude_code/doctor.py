"""How hooks silently do not fire in Claude Code."""

from collections.abc import Iterator

from msgspec.structs import replace

from hookline.dialects._doctor import Cause, Rules
from hookline.dialects._doctor_entries import common
from hookline.dialects.claude_code.matchers import TOOL_EVENTS, Pattern, tool_names
from hookline.dialects.claude_code.policy import in_force
from hookline.model.findings import Checkup, Finding, Severity
from hookline.model.native import NativeEntry

__all__ = ["findings"]

# Tools that decide nothing a guard would ask for, and which the table leaves out.
_MORE = (
    *("TaskStop", "TaskOutput", "BashOutput", "SlashCommand", "ToolSearch", "SendMessage"),
    *("ListAgents", "SendUserMessage", "ListMcpResourcesTool", "ReadMcpResourceTool"),
    *("ReadMcpResourceDirTool", "EnterWorktree", "ExitWorktree", "NotebookRead", "Config"),
)
_STARTS = ("startup", "resume", "clear", "compact", "fork")


def _matches(entry: NativeEntry, name: str) -> bool:
    return Pattern(entry.matcher or "").matches(name)


_RULES = Rules(
    tool_events=TOOL_EVENTS,
    matches=_matches,
    aliases=tuple(name for each in (*_MORE, "Agent") for name in tool_names(each)),
    mcp="mcp__SERVER__TOOL",
    words={
        "SessionStart": _STARTS,
        "PreCompact": ("manual", "auto"),
        "PostCompact": ("manual", "auto"),
        "Setup": ("init", "maintenance"),
    },
    variables=("CLAUDE_PROJECT_DIR",),
    closing='write "onFailure": "block" beside its "command"',
    causes=(
        Cause(phrase="disableAllHooks"),
        Cause(phrase="allowManagedHooksOnly"),
        Cause(phrase="strictPluginOnlyCustomization"),
        Cause(phrase="is not valid, and for that Claude Code drops"),
    ),
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """The files as they hold together: one may switch off what stands in another."""
    together = in_force([each.file for each in checkup.own])
    files = {file.path: file for file in together}
    seen = tuple(replace(each, file=files.get(each.file.path, each.file)) for each in checkup.seen)
    checkup = replace(checkup, seen=seen)
    yield from common(checkup, _RULES)
    yield from _not_allowed(checkup)


def _not_allowed(checkup: Checkup) -> Iterator[Finding]:
    """Hooks that a list in some settings file leaves out."""
    for seen in checkup.own:
        for entry in seen.file.entries:
            if "allowedHttpHookUrls" in entry.flaw:
                yield checkup.found(
                    "hook-not-allowed",
                    Severity.ERROR,
                    seen.file.path,
                    entry.line,
                    f"Claude Code does not run this hook: {entry.flaw}",
                    f"add `{entry.url}` to `allowedHttpHookUrls`, or use a hook of type `command`",
                )
