"""How hooks silently do not fire in Kodelet, where each is a program or else nothing."""

import re
from collections.abc import Iterator

from hookline.dialects._doctor import Rules
from hookline.dialects._doctor_entries import common, entries, is_ours, script
from hookline.model.findings import Checkup, Finding, Severity

__all__ = ["findings"]

_RULES = Rules(switches=False)
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
