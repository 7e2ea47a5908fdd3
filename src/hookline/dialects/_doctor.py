"""What keeps hooks from firing on any platform: mistakes in files, switches, and what is not ours.

Knows files as their platforms read them; a platform says by ``Rules`` what holds on it, and adds
what no other has. Reads only: no hook is run and nothing is written.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches

from msgspec import Struct

from hookline.dialects._files import is_hookline
from hookline.dialects._located import Located, UnreadableText, read_json
from hookline.model.findings import Checkup, Finding, Seen, Severity
from hookline.model.native import NativeEntry, NativeFlaw, Voids

__all__ = [
    "Cause",
    "Rules",
    "files",
    "in_any_directory",
    "in_directory",
    "inactive",
    "line_in",
    "switched_off",
]

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE

# How the readers of files put a mistake, and what kind it is; the first that fits counts.
_KINDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"no event `|never fires"), "unknown-event"),
    (
        re.compile(
            r"no type of hook|`type` (?:is|must)|hook type `|(?:drops|run|runs no) hooks? of type"
        ),
        "unknown-handler-type",
    ),
    (re.compile(r"`timeout` is in (?:milli)?seconds"), "timeout-unit"),
    (re.compile(r"ignores matchers"), "matcher-ignored"),
    (re.compile(r"no hooks but managed ones run"), "hooks-switched-off"),
    (re.compile(r"\bmatcher `|\bmatcher is no\b"), "matcher-never-matches"),
)
_ELSE = {Voids.FILE: "file-void", Voids.ENTRY: "entry-void", Voids.NOTHING: "entry-doubt"}
_EVENT = re.compile(r"no event `(.*?)`|never fires (\w+)")
# Told by what the whole matcher can match, and by the hook that is switched off.
_TOLD_ELSEWHERE = re.compile(r"has no tool `|` is disabled here")


class Cause(Struct, frozen=True, kw_only=True):
    """A reason of an installer's why nothing runs, and what it is here."""

    phrase: str
    id: str = ""
    """Empty when the same is found in the files themselves."""
    keys: tuple[str, ...] = ()
    """Where in the file it stands."""


def _nothing(entry: NativeEntry, name: str) -> bool:
    return True


def _in_project(checkup: Checkup, seen: Seen, entry: NativeEntry) -> str:
    return checkup.where.project


def in_directory(checkup: Checkup, seen: Seen, entry: NativeEntry) -> str:
    """For platforms whose entries name a directory of the project to run in."""
    return os.path.join(checkup.where.project, entry.directory)


def in_any_directory(checkup: Checkup, seen: Seen, entry: NativeEntry) -> str:
    """The same where it may be one below the home."""
    return os.path.join(checkup.where.project, os.path.expanduser(entry.directory))


def line_in(root: Located, *keys: str) -> int:
    """The line of a value in nested objects; that of the innermost one there is."""
    for key in keys:
        if key not in root.members:
            break
        root = root.members[key]
    return root.line


def _json_line(content: bytes, *keys: str) -> int:
    try:
        return line_in(read_json(content), *keys)
    except UnreadableText:
        return 0


class Rules(Struct, frozen=True, kw_only=True):
    """What holds on one platform."""

    tool_events: frozenset[str] = frozenset()
    """Events whose matcher is held against a tool's name."""
    matches: Callable[[NativeEntry, str], bool] = _nothing
    """Whether an entry's matcher holds for a name; raises HandlerError when that takes too long."""
    aliases: tuple[str, ...] = ()
    """Names of tools that matchers may use beside those in the table."""
    mcp: str = ""
    """What the full name of an MCP server's tool looks like, as in ``mcp__SERVER__TOOL``."""
    words: Mapping[str, tuple[str, ...]] = {}
    """Of events without a tool, the words that their matcher is held against."""
    variables: tuple[str, ...] = ()
    """Variables that hold the project's directory."""
    base: Callable[[Checkup, Seen, NativeEntry], str] = _in_project
    """Where a command runs."""
    closing: str = ""
    """How a guard is made to block when it fails; empty where the platform sees to that."""
    tells_units: bool = False
    """Whether reading a file already says that a timeout is in the wrong unit."""
    switches: bool = True
    """Whether a file that is off is off for good, whatever the others say."""
    causes: tuple[Cause, ...] = ()
    locate: Callable[..., int] = _json_line


# ── files ───────────────────────────────────────────────────────────────────────────────────


def files(checkup: Checkup) -> Iterator[Finding]:
    """Every mistake in a file, and how much of it that takes out of force."""
    for seen in checkup.own:
        for flaw in seen.file.flaws:
            if not _TOLD_ELSEWHERE.search(flaw.message) and not _is_about_us(seen, flaw):
                yield _flaw(checkup, seen, flaw)


def _is_about_us(seen: Seen, flaw: NativeFlaw) -> bool:
    """hookline stands on events that only another client has, which reads the same file."""
    named = _EVENT.search(flaw.message)
    event = (named[1] or named[2]).lower() if named else ""
    read = [each for each in seen.file.entries if each.command]
    there = [each for each in read if each.event.lower() == event]
    if not there and os.path.basename(seen.file.path).startswith("hookline"):
        there = read  # of a file that hookline made, and nobody else uses
    return bool(event and there) and all(is_hookline(each.command) for each in there)


def _flaw(checkup: Checkup, seen: Seen, flaw: NativeFlaw) -> Finding:
    kind = next((id for said, id in _KINDS if said.search(flaw.message)), _ELSE[flaw.voids])
    severity = _N if flaw.voids is Voids.NOTHING else _E
    what, fix, path = flaw.message, flaw.hint, seen.file.path
    if kind == "unknown-event":
        named = _EVENT.search(flaw.message)
        name, silent = (named[1], named[2]) if named else ("", "")
        right = _right_event(checkup, name) if name else ""
        if right and right.lower() == name.lower():
            kind = "event-casing"
        fix = f"write `{right}`" if right else "take it out, if it is for no other agent"
        if any((name or silent) in each.events for each in checkup.readers.get(path, ())):
            severity = _N  # meant for another client that reads the same file
    elif kind == "timeout-unit":
        severity = _E if _is_gate(checkup, seen, flaw.line) and "milli" in what else _W
    elif kind in {"matcher-never-matches", "hooks-switched-off"}:
        severity = _E
    if flaw.voids is Voids.FILE:
        severity = _E
        what = f"{what}; for this {checkup.support.client} runs no hook of the whole file"
    elif flaw.voids is Voids.ENTRY and kind == "entry-void":
        what = f"{what}; {checkup.support.client} does not run it"
    fix = fix or "correct it, or take it out"
    return checkup.found(kind, severity, path, flaw.line, what, fix)


def _right_event(checkup: Checkup, name: str) -> str:
    """What was meant: another casing, another platform's name for the moment, or a near miss."""
    known: dict[str, str] = {}
    for each in checkup.support.events:
        known.setdefault(each.lower(), each)
    if name.lower() in known:
        return known[name.lower()]
    meant = checkup.events.get(name)
    for native, row in checkup.support.events.items():
        if meant is not None and row.event == meant:
            return native
    near = get_close_matches(name.lower(), known, n=1, cutoff=0.6)
    return known[near[0]] if near else ""


def _is_gate(checkup: Checkup, seen: Seen, line: int) -> bool:
    """Whether the entry around a line is on an event that decides about a tool."""
    above = [entry for entry in seen.file.entries if entry.line <= line]
    return bool(above) and checkup.canonical(above[-1].event) == "pre_tool_use"


# ── switches ────────────────────────────────────────────────────────────────────────────────


def switched_off(checkup: Checkup, rules: Rules) -> Iterator[Finding]:
    """Files of which nothing runs although they are in order."""
    told: set[str] = set()
    for seen in checkup.own if rules.switches else ():
        off = seen.file.off
        if not off or off in told or not checkup.has_hooks:
            continue
        told.add(off)
        key = (re.search(r"`([^`]*)`", off) or ["", ""])[1]
        by = next((each for each in checkup.seen if off.endswith(each.file.path)), seen)
        line = rules.locate(by.content, *key.split(".")) if key else 0
        yield checkup.found(
            "hooks-switched-off",
            _E,
            by.file.path,
            line,
            f"{checkup.support.client} runs no hook of {seen.file.path}: {off}",
            f"take `{key}` out of {by.file.path}" if key else f"change that in {by.file.path}",
        )


def inactive(checkup: Checkup, rules: Rules) -> Iterator[Finding]:
    """What the platform's installer knows to keep hooks from running."""
    for each in checkup.inactive:
        causes = (*rules.causes, *_OURS)
        cause = next((cause for cause in causes if cause.phrase in each.why), None)
        if cause is None and not checkup.installed:
            continue  # about entries of ours, and there are none
        cause = cause or _UNKNOWN
        if not cause.id:
            continue
        file = _file_in(checkup, each.why) or _our_file(checkup)
        content = checkup.machine.read(file) if file and cause.keys else None
        line = rules.locate(content, *cause.keys) if content is not None else 0
        yield checkup.found(cause.id, _E, file, line, each.why, each.step)


def _file_in(checkup: Checkup, why: str) -> str:
    """The file that a reason names."""
    seen = [each.file.path for each in checkup.seen if each.file.path in why]
    named = _NAMED.search(why)
    return max(seen, key=len) if seen else named[1] if named else ""


def _our_file(checkup: Checkup) -> str:
    """The first file that calls hookline."""
    files = (seen.file for seen in checkup.own)
    ours = (f.path for f in files if any(is_hookline(each.command) for each in f.entries))
    return next(ours, "")


_NAMED = re.compile(r"(?:^| in | into )(/.+?)(?:: |, | switches | starts | is | does |$)")
_UNKNOWN = Cause(phrase="", id="hookline-not-active")
_OURS = (
    Cause(phrase="which the entries start, is not there", id="hookline-program-missing"),
    Cause(phrase="and is not there any more", id="hookline-gone"),
)
