"""How hooks silently do not fire in Kodelet, where each is a program or else nothing."""

import re
from collections.abc import Iterator

from hookline.dialects._doctor import Rules
from hookline.dialects._doctor_entries import common, entries, is_ours, script
from hookline.model.findings import Checkup, Finding, Severity

__all__ = ["findings"]

_RULES = Rules(switches=False)
# The last version that was seen to run hooks in sub-agents, and the first without any.
_ALL_AGENTS, _NO_HOOKS = (0, 1, 24), (0, 5, 0)
_GUARD = re.compile(r"\bbefore_tool_call\b")


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere, files that are no programs, and guards, none of which closes."""
    yield from common(checkup, _RULES)
    for seen in checkup.own:
        if seen.file.off:
            what = f"Kodelet passes this hook over: {seen.file.off}"
            fix = "write a `#!` line, as in `#!/bin/sh`"
            id = "script-without-interpreter"
            yield checkup.found(id, Severity.ERROR, seen.file.path, 1, what, fix)
    for seen, entry in entries(checkup):
        text = script(checkup, _RULES, seen, entry)
        if entry.event == "before_tool_call" and not is_ours(entry) and _GUARD.search(text):
            what = "when this hook fails in any way, Kodelet lets the tool run; no exit code blocks"
            fix = 'print {"blocked": true, "reason": "…"} and exit with 0 in every case of doubt'
            yield checkup.found("guard-fails-open", Severity.WARNING, seen.file.path, 0, what, fix)
    yield from _unguarded(checkup)


def _unguarded(checkup: Checkup) -> Iterator[Finding]:
    """Sub-agents, which became processes of their own without hooks."""
    machine = checkup.machine
    program = machine.which("kodelet") if checkup.installed else None
    version = machine.version((program, "version")) if program and machine.version else ()
    if _ALL_AGENTS < version < _NO_HOOKS:
        what = (
            f"Kodelet {'.'.join(map(str, version))} runs no hooks in sub-agents: no guard sees them"
        )
        fix = "deny the tool `subagent` before it is called: on: pre_tool_use, match: {tool: agent}"
        yield checkup.found("sub-agents-unguarded", Severity.WARNING, "", 0, what, fix)
