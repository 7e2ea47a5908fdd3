"""How hooks silently do not fire in docker-agent."""

from collections.abc import Iterator

from hookline.dialects._doctor import Rules, in_any_directory
from hookline.dialects._doctor_entries import common, entries, is_ours
from hookline.dialects._patterns import whole
from hookline.dialects.docker_agent.install import INSTALLER
from hookline.dialects.docker_agent.reading import MATCHED
from hookline.model.findings import Checkup, Finding, Severity
from hookline.model.native import NativeEntry

__all__ = ["findings"]


def _matches(entry: NativeEntry, name: str) -> bool:
    return whole(entry.matcher or "", name)


_RULES = Rules(
    tool_events=frozenset(MATCHED), matches=_matches, mcp="SERVER_TOOL", base=in_any_directory
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere, what holds up a run, and the one guard that does not close."""
    yield from common(checkup, _RULES)
    for seen, entry in entries(checkup):
        if entry.event in INSTALLER.left_out:
            what = f"on {entry.event}: {INSTALLER.left_out[entry.event]}"
            fix = "take it out, unless this agent runs only where a person answers"
            if is_ours(entry):
                fix = "hookline install docker-agent takes it out"
            yield checkup.found(
                "hook-hangs-runs", Severity.WARNING, seen.file.path, entry.line, what, fix
            )
        closes = entry.options.get("on_error") == "block" or is_ours(entry)
        if entry.event == "permission_request" and entry.type != "builtin" and not closes:
            what = "when this hook fails, docker-agent goes on as if it had said nothing"
            fix = "add `on_error: block` to it"
            yield checkup.found(
                "guard-fails-open", Severity.WARNING, seen.file.path, entry.line, what, fix
            )
