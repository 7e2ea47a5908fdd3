"""What keeps a single hook from doing its work: its matcher, its time, its program, its company.

Knows entries as values and what a platform's ``Rules`` say; reads scripts, and runs nothing.
"""

import re
from collections.abc import Iterable, Iterator

from hookline.dialects._doctor import Rules, files, inactive, switched_off
from hookline.dialects._files import is_hookline
from hookline.model.errors import HandlerError
from hookline.model.events import EVENTS
from hookline.model.findings import Checkup, Finding, Seen, Severity
from hookline.model.native import NativeEntry
from hookline.shell.programs import find_command_troubles, find_programs

__all__ = ["common", "entries", "is_ours", "script"]

_E, _W, _N = Severity.ERROR, Severity.WARNING, Severity.NOTE
_GUARDED = {"pre_tool_use", "permission_request"}
_WORD = re.compile(r"\w+")
# Any of these in a script says that it minds being called again.
_LOOP_GUARD = re.compile(r"stop_hook_active|stopHookActive|loop_count")
_CONTINUES = re.compile(
    r"\bexit[( ]2\b|[\"'](?:block|deny)[\"']|follow_?up|continue_session", re.IGNORECASE
)
_REWRITES = re.compile(r"updatedInput|updated_input|modifiedArgs")
# A line that says itself what a failure means.
_CLOSES = re.compile(r"\bexit 2\b|so (?:it|this) is blocked")
_PROJECT = re.compile(r"\$\{?((?:CLAUDE|GEMINI|CURSOR|COPILOT)_PROJECT_DIR)\b")
_TIMEOUT = re.compile(r" --timeout (\d+)")
_SLOW, _VERY_SLOW = 1_000, 10_000

Placed = tuple[Seen, NativeEntry]


def common(checkup: Checkup, rules: Rules) -> Iterator[Finding]:
    """Everything that is looked for on every platform."""
    yield from files(checkup)
    yield from switched_off(checkup, rules)
    yield from inactive(checkup, rules)
    for seen, entry in entries(checkup):
        if is_ours(entry):
            yield from _ours(checkup, rules, seen, entry)
        else:
            yield from _matcher(checkup, rules, seen, entry)
            yield from _time(checkup, rules, seen, entry)
            yield from _program_troubles(checkup, rules, seen, entry)
            yield from _guard(checkup, rules, seen, entry)
            yield from _loop(checkup, rules, seen, entry)
    yield from _beside_us(checkup, rules)


def entries(checkup: Checkup) -> Iterator[Placed]:
    """The entries of the platform's own files that are in order and in force."""
    for seen in checkup.own:
        for entry in seen.file.entries:
            if not (entry.flaw or entry.implied or seen.file.off):
                yield seen, entry


def is_ours(entry: NativeEntry) -> bool:
    """Whether an entry calls hookline, itself or in the program that it is."""
    return is_hookline(entry.command) or entry.options.get("ours") is True


def _find_variables(checkup: Checkup, rules: Rules, entry: NativeEntry) -> dict[str, str]:
    project = dict.fromkeys(rules.variables, checkup.where.project)
    return {"HOME": checkup.where.home, **project, **entry.env}


def script(checkup: Checkup, rules: Rules, seen: Seen, entry: NativeEntry) -> str:
    """The words that an entry runs: its own line, and the scripts that it starts."""
    texts = [str(entry.command)]
    if entry.type == "command" and entry.command:
        variables, cwd = _find_variables(checkup, rules, entry), rules.base(checkup, seen, entry)
        started = find_programs(entry.command, cwd=cwd, variables=variables)
        texts += [each.text() for each in started if each.path]
    return "\n".join(texts)


def _found(
    checkup: Checkup, placed: Placed, id: str, severity: Severity, what: str, fix: str
) -> Finding:
    seen, entry = placed
    return checkup.found(id, severity, seen.file.path, entry.line, what, fix)


# ── matchers ────────────────────────────────────────────────────────────────────────────────


def _matcher(checkup: Checkup, rules: Rules, seen: Seen, entry: NativeEntry) -> Iterator[Finding]:
    matcher = (entry.matcher or "").strip()
    client = checkup.support.client
    if matcher in {"", "*"}:
        return
    words = rules.words.get(entry.event, ())
    told = any(f"matcher `{matcher}`" in flaw.message for flaw in seen.file.flaws)
    if words and not told and not _holds(rules, entry, words):
        what = f"the matcher `{matcher}` matches no {entry.event} of {client}'s"
        fix = f"it is held against one of {', '.join(words)}"
        yield _found(checkup, (seen, entry), "matcher-never-matches", _E, what, fix)
    if entry.event not in rules.tool_events:
        return
    names = (*checkup.tools.rows, *rules.aliases)
    if _holds(rules, entry, names) or _fits_mcp(rules, entry, matcher):
        return
    right = _right_tools(checkup, rules, matcher)
    sure = bool(right) or "(" in matcher or "mcp" in matcher.lower()
    what = f"the matcher `{matcher}` matches no tool of {client}'s, so the hook never runs"
    if not sure:
        what = f"the matcher `{matcher}` matches no tool of {client}'s that hookline knows"
    severity = _E if sure else _W
    yield _found(
        checkup, (seen, entry), "matcher-never-matches", severity, what, _fix(matcher, right, rules)
    )


def _holds(rules: Rules, entry: NativeEntry, names: Iterable[str]) -> bool:
    try:
        return any(rules.matches(entry, name) for name in names)
    except HandlerError:
        return True  # a regex that runs for ever is told when it does


def _fix(matcher: str, right: str, rules: Rules) -> str:
    if "(" in matcher and right:
        return f"write `{right}`: a matcher is held against the tool's name alone"
    if right:
        return f"write `{right}`"
    if "mcp" in matcher.lower():
        return f"such tools are called `{rules.mcp}`; for all of a server write a regex"
    return "write the tool's name as the client's own list of tools has it"


def _fits_mcp(rules: Rules, entry: NativeEntry, matcher: str) -> bool:
    """Whether a tool of some MCP server could be meant, which nobody can list."""
    form = re.sub("SERVER|TOOL", ".+", rules.mcp)
    for part in matcher.split("|"):
        name = re.sub(r"\.[*+]\??|\[[^]]*\][*+]?", "x", part.strip("^$() "))
        if form and re.fullmatch(form, name) and _holds(rules, entry, (name,)):
            return True
    return False


def _right_tools(checkup: Checkup, rules: Rules, matcher: str) -> str:
    """The platform's own names for the tools that a matcher seems to mean."""
    own: dict[str, str] = {}
    for name in (*checkup.tools.rows, *rules.aliases):
        own.setdefault(name.lower(), name)
    found: list[str] = []
    for word in _WORD.findall(matcher.partition("(")[0]):
        if word.lower() in own:
            found.append(own[word.lower()])
        elif word in checkup.kinds:
            kind = checkup.kinds[word]
            alike = (name for name, row in checkup.tools.rows.items() if row.kind is kind)
            found += [next(alike, "")]
    return "|".join(dict.fromkeys(name for name in found if name))


# ── time ────────────────────────────────────────────────────────────────────────────────────


def _time(checkup: Checkup, rules: Rules, seen: Seen, entry: NativeEntry) -> Iterator[Finding]:
    seconds = entry.timeout or 0
    # 1800 and 3600 are meant; 5000 and 30000 were milliseconds in somebody's head.
    meant = seconds < _SLOW or (seconds < _VERY_SLOW and seconds % 1_000)
    if rules.tells_units or meant:
        return
    what = f"the timeout is in seconds: {seconds:g} of them are {seconds / 60:.0f} minutes"
    what = f"{what}, for which a hook that hangs holds up the agent"
    fix = f"write {seconds / 1000:g}"
    yield _found(checkup, (seen, entry), "timeout-unit", _W, what, fix)


# ── programs ────────────────────────────────────────────────────────────────────────────────


def _program_troubles(
    checkup: Checkup, rules: Rules, seen: Seen, entry: NativeEntry
) -> Iterator[Finding]:
    line = entry.command if isinstance(entry.command, str) else " ".join(entry.command)
    for name in dict.fromkeys(_PROJECT.findall(line)):
        if name not in (*rules.variables, *entry.env):
            what = f"{checkup.support.client} does not set `{name}`, so the path is wrong"
            fix = f"write the path itself, or `${rules.variables[0]}`" if rules.variables else ""
            fix = fix or "write the path itself, or one from the project's directory"
            yield _found(checkup, (seen, entry), "variable-not-set", _E, what, fix)
            return
    if entry.type != "command" or not entry.command:
        return
    for each in find_command_troubles(
        entry.command,
        cwd=rules.base(checkup, seen, entry),
        variables=_find_variables(checkup, rules, entry),
        which=checkup.machine.which,
        reads_branches=True,
    ):
        # Where the file itself is the hook, it has no line, and is the same for every event.
        what = f"on {entry.event}: {each.what}" if entry.line else each.what
        yield _found(checkup, (seen, entry), each.id, _E, what, each.fix)


# ── guards and loops ────────────────────────────────────────────────────────────────────────


def _guard(checkup: Checkup, rules: Rules, seen: Seen, entry: NativeEntry) -> Iterator[Finding]:
    if checkup.canonical(entry.event) not in _GUARDED or entry.type not in {"command", "http"}:
        return
    client = checkup.support.client
    if entry.background:
        what = f"{client} does not wait for this hook on {entry.event}, so it can block nothing"
        fix = "take `async` out if it is to decide"
        yield _found(checkup, (seen, entry), "guard-in-background", _W, what, fix)
        return
    if not rules.closing or entry.fails_closed or _CLOSES.search(str(entry.command)):
        return
    what = f"when this hook crashes or takes too long, {client} lets the tool run"
    yield _found(checkup, (seen, entry), "guard-fails-open", _W, what, rules.closing)


def _loop(checkup: Checkup, rules: Rules, seen: Seen, entry: NativeEntry) -> Iterator[Finding]:
    """A stop hook that keeps the agent going, on a platform that never ends that by itself."""
    support, moment = checkup.support, checkup.canonical(entry.event)
    rows = [row for row in support.events.values() if row.event == moment]
    can = EVENTS[moment].continues and any(row.can("follow_up") for row in rows)
    if support.stop_cap is not None or not can:
        return
    text = script(checkup, rules, seen, entry)
    if not _CONTINUES.search(text) or _LOOP_GUARD.search(text):
        return
    what = f"this hook can keep the agent going, and {support.client} never puts an end to that"
    fix = "let it end at once when `stop_hook_active` in its input is true"
    if not support.has_stop_flag:
        fix = "let it count its follow-ups, in a file by session id, and end after a few"
    yield _found(checkup, (seen, entry), "stop-without-loop-guard", _W, what, fix)


# ── hookline itself ─────────────────────────────────────────────────────────────────────────


def _ours(checkup: Checkup, rules: Rules, seen: Seen, entry: NativeEntry) -> Iterator[Finding]:
    guards = checkup.canonical(entry.event) in _GUARDED
    if guards and rules.closing and not (entry.fails_closed or _CLOSES.search(str(entry.command))):
        what = f"when hookline cannot start, {checkup.support.client} lets the tool run"
        fix = f"hookline install {checkup.dialect}"
        yield _found(checkup, (seen, entry), "guard-fails-open", _E, what, fix)
    told = _TIMEOUT.search(str(entry.command))
    if entry.timeout and told and entry.timeout < int(told[1]):
        # hookline counts on what its own line says, and would answer too late.
        what = (
            f"{checkup.support.client} ends this hook after {entry.timeout:g} s, hookline's line "
        )
        what += f"says {told[1]}: when a hook of yours is slow, the tool runs unjudged"
        fix = f"hookline install {checkup.dialect} --timeout {max(int(entry.timeout), 1)}"
        yield _found(checkup, (seen, entry), "timeout-differs", _E, what, fix)


def _beside_us(checkup: Checkup, rules: Rules) -> Iterator[Finding]:
    """Hooks that the client runs beside ours."""
    running = [
        (seen, entry)
        for seen in checkup.seen
        for entry in seen.file.entries
        if not (entry.flaw or entry.implied or seen.file.off)
    ]
    # Where the file itself is the hook, nobody knows for which event before it is asked.
    ours = [each for each in running if is_hookline(each[1].command)]
    if not any(checkup.canonical(entry.event) == "pre_tool_use" for _, entry in ours):
        return
    for seen, entry in running:
        decides = checkup.canonical(entry.event) == "pre_tool_use"
        if not decides or is_ours(entry) or entry.background:
            continue
        does = _REWRITES.search(script(checkup, rules, seen, entry)) is not None
        what = f"this hook {'rewrites' if does else 'may rewrite'} a tool's input, and "
        what += f"{checkup.support.client} may take its word after hookline judged the old one"
        fix = "let hookline run it: put it into hookline.yaml, and take it out here"
        yield _found(checkup, (seen, entry), "may-rewrite-after", _W if does else _N, what, fix)
