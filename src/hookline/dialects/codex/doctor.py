"""How hooks silently do not fire in Codex: above all, without trust in each single one."""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.dialects._doctor import Cause, Rules, line_in
from hookline.dialects._doctor_entries import common, entries, is_ours
from hookline.dialects._located import UnreadableText
from hookline.dialects._patterns import found
from hookline.dialects.codex import trust
from hookline.dialects.codex.entries import NAME_LIST
from hookline.dialects.codex.files import read_toml
from hookline.model.findings import Checkup, Finding, Severity
from hookline.model.hook import Layer
from hookline.model.native import NativeEntry

__all__ = ["findings", "hook_hash"]

_STARTS = ("startup", "resume", "clear", "compact", "fork")
_REVIEW = "inside Codex, /hooks shows them and lets you trust them"
# Of these events the matcher is part of what is trusted, and of these it is not.
_WITH_MATCHER = {
    *("PreToolUse", "PermissionRequest", "PostToolUse"),
    *("SessionStart", "PreCompact", "PostCompact"),
}
_WITHOUT_MATCHER = {"UserPromptSubmit", "Stop"}
_DEFAULT_TIMEOUT = 600


def _matches(entry: NativeEntry, name: str) -> bool:
    matcher = entry.matcher or ""
    if NAME_LIST.fullmatch(matcher):
        return name in matcher.split("|")
    return found(matcher, name)


def _toml_line(content: bytes, *keys: str) -> int:
    try:
        return line_in(read_toml(content), *keys)
    except UnreadableText:
        return 0


_RULES = Rules(
    tool_events=frozenset({"PreToolUse", "PermissionRequest", "PostToolUse"}),
    matches=_matches,
    aliases=("Write", "Edit", "Agent"),
    mcp="mcp__SERVER__TOOL",
    words={
        "SessionStart": _STARTS,
        "PreCompact": ("manual", "auto"),
        "PostCompact": ("manual", "auto"),
    },
    closing='end its command with ` || { echo "the guard failed" >&2; exit 2; }`',
    switches=False,
    causes=(
        Cause(phrase="`features.hooks`", id="hooks-switched-off", keys=("features", "hooks")),
        Cause(
            phrase="`features.codex_hooks`",
            id="hooks-switched-off",
            keys=("features", "codex_hooks"),
        ),
        Cause(phrase="`allow_managed_hooks_only`"),
        Cause(phrase="is no trusted project", id="project-not-trusted"),
        Cause(phrase="not trusted, or switched off"),
        Cause(phrase="Codex refuses the whole file"),
        Cause(phrase="is no plain JSON"),
    ),
    locate=_toml_line,
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere, and hooks that nobody has trusted as they are now."""
    yield from common(checkup, _RULES)
    yield from _untrusted(checkup)


def _untrusted(checkup: Checkup) -> Iterator[Finding]:
    state, file = _state(checkup)
    waiting: dict[tuple[str, str], list[NativeEntry]] = {}
    for seen, entry in entries(checkup):
        key = str(entry.options.get("key", ""))
        if seen.place.layer is Layer.MANAGED or seen.place.scope == "plugin" or not key:
            continue
        row = state.get(key) or state.get(_real(key)) or {}
        if row.get("enabled") is False:
            what = f"this hook is switched off in {file}, so Codex does not run it"
            fix = "inside Codex, /hooks switches it on again"
            here = seen.file.path, entry.line
            yield checkup.found("hook-disabled", Severity.WARNING, *here, what, fix)
        elif "trusted_hash" not in row:
            waiting.setdefault(("hook-not-trusted", seen.file.path), []).append(entry)
        elif hook_hash(entry) not in (None, row["trusted_hash"]):
            waiting.setdefault(("hook-changed", seen.file.path), []).append(entry)
    for (id, path), found_there in waiting.items():
        line = found_there[0].line
        yield checkup.found(
            id, Severity.ERROR, path, line, _why(id, found_there), _fix(found_there)
        )


def _why(id: str, waiting: Sequence[NativeEntry]) -> str:
    hooks = ", ".join(f"{entry.event} on line {entry.line}" for entry in waiting)
    if id == "hook-changed":
        return f"these hooks changed since they were trusted, and Codex skips them: {hooks}"
    return f"nobody has trusted these hooks, and Codex skips them silently: {hooks}"


def _fix(waiting: Sequence[NativeEntry]) -> str:
    ours = all(is_ours(entry) for entry in waiting)
    return f"{_REVIEW}; or: hookline install codex --trust" if ours else _REVIEW


def _state(checkup: Checkup) -> tuple[Mapping[str, Any], str]:
    """What the person's config remembers of each hook."""
    home = checkup.where.env.get("CODEX_HOME") or os.path.join(checkup.where.home, ".codex")
    file = os.path.join(home, "config.toml")
    try:
        hooks = read_toml(checkup.machine.read(file) or b"").get("hooks")
    except UnreadableText:
        return {}, file
    state = hooks.get("state") if isinstance(hooks, dict) else None
    rows = state.items() if isinstance(state, dict) else ()
    return {key: row for key, row in rows if isinstance(row, dict)}, file


def _real(key: str) -> str:
    """The same key with every link in its file's path followed, as Codex may have written it."""
    path, event, group, index = key.rsplit(":", 3)
    return f"{os.path.realpath(path)}:{event}:{group}:{index}"


def hook_hash(entry: NativeEntry) -> str | None:
    """What Codex remembers of a command that was trusted; None where that is not known for sure."""
    known = entry.event in _WITHOUT_MATCHER or entry.event in _WITH_MATCHER
    if not known or entry.type != "command" or "additionalContextLimit" in entry.options:
        return None
    handler = {
        "type": "command",
        "command": entry.command,
        "timeout": _DEFAULT_TIMEOUT if entry.timeout is None else int(entry.timeout),
        "async": entry.background,
    }
    if "statusMessage" in entry.options:
        handler["statusMessage"] = entry.options["statusMessage"]
    identity: dict[str, Any] = {"event_name": trust.snake(entry.event), "hooks": [handler]}
    if entry.matcher is not None and entry.event in _WITH_MATCHER:
        identity["matcher"] = entry.matcher
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"
