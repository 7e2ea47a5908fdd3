"""How hooks silently do not fire in VS Code."""

import re
from collections.abc import Iterator

from hookline.dialects._doctor import Cause, Rules, in_any_directory
from hookline.dialects._doctor_entries import common, entries, is_ours, script
from hookline.dialects.vscode.entries import native_event
from hookline.dialects.vscode.files import FILES
from hookline.dialects.vscode.settings import AGENT_HOOKS, HOOKS, PLACES, Settings
from hookline.model.findings import Checkup, Finding, Severity

__all__ = ["findings"]

_DECIDES = re.compile(r"[\"']decision[\"']\s*:\s*[\"']block[\"']")


_RULES = Rules(
    base=in_any_directory,
    closing='end its command with ` || { echo "the guard failed" >&2; exit 2; }`',
    causes=(
        Cause(phrase=f"`{HOOKS}`", id="hooks-switched-off", keys=(HOOKS,)),
        Cause(phrase=f"`{PLACES}`", id="hooks-switched-off", keys=(PLACES,)),
    ),
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere, the switch for agents' hooks, and decisions that nobody reads."""
    yield from common(checkup, _RULES)
    yield from _agent_hooks(checkup)
    yield from _unheard(checkup)


def _agent_hooks(checkup: Checkup) -> Iterator[Finding]:
    """Hooks in an agent's front matter have a switch of their own in most versions."""
    scoped = [each for each in checkup.own if each.file.entries and each.file.path.endswith(".md")]
    if not scoped:
        return
    settings = Settings(checkup.where.project, checkup.where.home, checkup.machine.read)
    said = settings.find(AGENT_HOOKS)
    if said is not None and said.value is True:
        return
    first = scoped[0].file
    fix = f'set "{AGENT_HOOKS}": true in {said.file if said else settings.user_file}'
    if said is not None and said.value is False:
        what = f"`{AGENT_HOOKS}` is false, so VS Code runs no hook of an agent's own"
        yield checkup.found("agent-hooks-off", Severity.ERROR, said.file, said.line, what, fix)
        return
    what = f"without `{AGENT_HOOKS}` versions of VS Code before 1.138 run no hook of an agent's"
    line = first.entries[0].line
    yield checkup.found("agent-hooks-off", Severity.WARNING, first.path, line, what, fix)


def _unheard(checkup: Checkup) -> Iterator[Finding]:
    """Stop hooks that decide as Claude Code's do, at the top level."""
    for seen, entry in entries(checkup):
        # An agent's own Stop is a SubagentStop, which is answered at the top level.
        if native_event(entry.event) != "Stop" or entry.agent or is_ours(entry):
            continue
        text = script(checkup, _RULES, seen, entry)
        if _DECIDES.search(text) and "hookSpecificOutput" not in text:
            what = "this hook says `decision` at the top level, which VS Code ignores on Stop"
            fix = 'print {"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", …}}'
            # What is written for Copilot CLI is right there.
            own = FILES.owns(seen.file.path, seen.content)
            severity = Severity.ERROR if own else Severity.NOTE
            yield checkup.found("answer-ignored", severity, seen.file.path, entry.line, what, fix)
