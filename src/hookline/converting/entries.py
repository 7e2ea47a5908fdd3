"""One hook of the old file: what stands for it in the new one, and what became of each property.

Whatever the new format has no place for is told to the adapter, which applies the old platform's
own rules; so only what neither can do is lost.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from shlex import join

from msgspec import Struct
from msgspec.structs import replace

from hookline import registry
from hookline.converting.adapter import Adapted, guarded, words
from hookline.converting.mapping import (
    Target,
    blocks,
    cell_findings,
    event_finding,
    no_event,
    targets,
    two_denies,
)
from hookline.converting.platforms import Platform
from hookline.converting.report import EntryReport, Finding, kept, lost, replaced
from hookline.converting.sources import Source
from hookline.converting.tools import is_for_all, is_heard, is_open, is_plain, names_for
from hookline.model.events import EVENTS, ToolEvent
from hookline.model.hook import Hook, OnError
from hookline.model.native import NativeEntry

__all__ = ["Made", "convert_entry"]

# An adapter has to start, and to answer before the new platform gives up on it.
_START = 5.0
# Words in which no shell finds anything to expand, and a first one that no shell has built in.
_PLAIN = re.compile(r"[\w./@%+,:-]+(?: +[\w./@%+,:=-]+)*")
_PROGRAM = re.compile(r"\S*/|(?:python3?|node|bash|sh|ruby|perl|deno|bun|uv) ")
_UNGUARDED = "hookline is not installed here or did not run, so nobody judged this"
_KINDS = {"command": "runs the command", "http": "sends the request", "builtin": "runs the builtin"}


class Made(Struct, frozen=True):
    """What a hook became."""

    entries: tuple[NativeEntry, ...]
    report: EntryReport


def convert_entry(source: Source, origin: Platform, target: Platform) -> Made:
    """The entries for one hook, and its part of the report."""
    hook, entry = source.hook, source.entry
    if hook is None and entry.elsewhere and target.writer.windows_keys:
        return _made_elsewhere(source, origin, target)
    if hook is None:
        return _lost(source, lost("handler", _what(entry), source.why_not))
    why = _unrunnable(hook)
    if why:
        return _lost(source, lost("handler", f"{entry.type}: {_what(entry)}", why))
    found = targets(hook.native, origin, target)
    if not found:
        return _lost(source, no_event(hook.native, origin, target))
    entries: list[NativeEntry] = []
    findings: list[Finding] = []
    for on in found:
        step = _Step(source, hook, origin, target, on)
        entries.append(step.made())
        findings += step.findings
    placed = [target.writer.placed(each).event for each in entries]
    for event in {each for each in placed if placed.count(each) > 1}:
        why = f"{target.client} passes over one entry for what was approved beforehand"
        findings.append(replaced("calls", "once", "twice", why, on=event))
    handler = kept("handler", entry.type, f"{ADAPTER} {_KINDS[hook.handler.kind]}")
    return Made(tuple(entries), _report(source, [handler, *findings], [on.native for on in found]))


def _made_elsewhere(source: Source, origin: Platform, target: Platform) -> Made:
    """The entry for a hook that has a command for Windows and no other."""
    entry = source.entry
    found = targets(entry.event, origin, target)
    if not found:
        return _lost(source, no_event(entry.event, origin, target))
    text = windows_command(entry, origin)
    made = [
        NativeEntry(
            event=on.native,
            timeout=entry.timeout,
            env=entry.env if target.writer.can_say("env", on.native) else {},
            options={"windows": _in_directory(text, entry.directory)},
            line=entry.line,
        )
        for on in found
    ]
    becomes = [on.native for on in found]
    return Made(tuple(made), _report(source, [windows_finding(text, target)], becomes))


def _in_directory(text: str, directory: str) -> str:
    """A line for PowerShell that does the same where the new file names no directory."""
    if directory in ("", "."):
        return text
    quoted = directory.replace("'", "''")
    return f"Set-Location -LiteralPath '{quoted}'; {text}"


def _unrunnable(hook: Hook) -> str:
    """Why hookline could not run it for the new platform; empty when it can."""
    if hook.handler.kind not in _KINDS:
        asks = "it asks a model, and a converted file's line has no config that says which"
        return str(hook.handler.values.get("why", asks))
    name = str(hook.handler.values.get("use", "")).replace("_", "-")
    if name and name not in registry.builtin_names():
        return f"hookline has no builtin `{name}`"
    return ""


def _lost(source: Source, finding: Finding) -> Made:
    return Made((), _report(source, [finding], ()))


def _report(source: Source, findings: Sequence[Finding], becomes: Sequence[str]) -> EntryReport:
    entry = source.entry
    return EntryReport(
        event=entry.event,
        line=entry.line,
        what=_what(entry),
        becomes=tuple(becomes),
        findings=tuple(dict.fromkeys(findings)),
    )


def _what(entry: NativeEntry) -> str:
    command = entry.command if isinstance(entry.command, str) else join(entry.command)
    return entry.name or command or entry.url or entry.type


class _Step:
    """One hook for one event of the new platform."""

    def __init__(
        self, source: Source, hook: Hook, origin: Platform, target: Platform, on: Target
    ) -> None:
        self.source = source
        self.hook = hook
        self.origin = origin
        self.target = target
        self.on = on
        self.findings: list[Finding] = []

    def made(self) -> NativeEntry:
        """The new entry; what became of the old one's properties is in ``findings``."""
        entry, on = self.source.entry, self.on
        native = self.hook.native
        windows = windows_command(entry, self.origin)
        if windows:
            self._found(windows_finding(windows, self.target))
        self.findings.append(event_finding(native, on, self.origin, self.target))
        timeout = self._timeout()
        adapted = Adapted(
            origin=self.origin.id,
            target=self.target.dialect.id,
            on=on.native,
            entry=replace(entry, timeout=timeout, command=self._program(), **self._adapted()),
            matchers=self._matchers(),
            file=self.source.file,
        )
        written = NativeEntry(
            event=on.native,
            matcher=self._matcher(),
            timeout=self._granted(timeout + _START),
            env=entry.env if self._is_native("env") else {},
            background=entry.background and self._is_native("background"),
            name=entry.name if self._is_native("name") else "",
            priority=entry.priority if self._is_native("priority") else None,
            fails_closed=True if blocks(on.row) and self._can_say("fails_closed") else None,
            options={
                "comment": f"{entry.event} of {self.origin.client}: {self._at()}",
                "windows": _in_directory(windows, entry.directory) if windows else "",
            },
            line=entry.line,
        )
        place = f"{self.target.client}'s file, on {on.native},"
        for finding in (
            *carried(self.source, self._is_native, self.origin, place),
            *options(entry, self.origin, self.target),
            failure(self.hook.on_error, written, on, self.origin, self.target),
        ):
            self._found(finding)
        was = self.origin.dialect.support.events[native]
        self.findings += cell_findings(was, on.row, self.target.client)
        return replace(written, command=self._command(words(adapted)))

    def _at(self) -> str:
        return f"line {self.source.entry.line}" if self.source.entry.line else "the whole file"

    def _command(self, call: tuple[str, ...]) -> str | tuple[str, ...]:
        if self.target.writer.can_say("words", self.on.native):
            return call
        if not blocks(self.on.row):
            return join(call)
        refusal = self.target.dialect.refuse(self.on.native, _UNGUARDED)
        return guarded(call, refusal, two_denies=two_denies(self.on.native, self.target))

    def _program(self) -> str | tuple[str, ...]:
        """The old command; word for word where hookline can then see which scripts it runs."""
        command = self.source.entry.command
        if not isinstance(command, str) or not self._can_say("words"):
            return command
        if _PLAIN.fullmatch(command) and _PROGRAM.match(command):
            return tuple(command.split())
        if "/" in command:
            why = "the command is a line for a shell, and trust looks for scripts in words only"
            self._found(lost("trust", "pinned scripts", why))
        return command

    # ── what goes where ─────────────────────────────────────────────────────────────────────

    def _can_say(self, field: str) -> bool:
        return self.target.writer.can_say(field, self.on.native)

    def _is_native(self, field: str) -> bool:
        """Whether the new file says it; the platforms expand ``$`` in variables differently."""
        if field == "env" and any("$" in value for value in self.source.entry.env.values()):
            return False
        return self._can_say(field)

    def _adapted(self) -> dict[str, object]:
        """The fields of the old entry as the adapter is told of them."""
        entry = self.source.entry
        heeds = self.origin.writer.heeds
        return {
            "env": {} if self._is_native("env") else entry.env,
            "background": entry.background and not self._is_native("background"),
            "options": {key: entry.options[key] for key in entry.options if key in heeds},
        }

    def _matchers(self) -> tuple[str, ...]:
        given = [each.matcher for each in self.source.twins]
        if any(is_for_all(each) for each in given):
            return ()
        return tuple(dict.fromkeys(each for each in given if each is not None))

    # ── findings ────────────────────────────────────────────────────────────────────────────

    def _matcher(self) -> str | None:
        """The new file's own matcher, where one leaves out nothing that counts."""
        given, names = self._matchers(), self._names()
        was = ", ".join(given)
        if names == ():
            why = f"{self.target.client} has no tool that this is about, so it is never asked"
            self._found(lost("matcher" if given else "event", was or self.source.entry.event, why))
            return None
        if not given:
            return None
        now = self.target.writer.matcher(names) if names else ""
        if names and self._can_say("matcher") and is_heard(now, names, self.target, self.on):
            self._found(kept("matcher", was, now))
            return now
        why = f"{self.origin.client}'s own rules decide, each time it is asked"
        self._found(replaced("matcher", was, f"{ADAPTER} (--matcher)", why))
        return None

    def _names(self) -> tuple[str, ...] | None:
        """The new platform's tools that this is about; None where no list could say it."""
        twins = self.source.twins
        if not issubclass(EVENTS[self.on.row.event], ToolEvent):
            return None
        if not all(is_plain(each, self.origin) for each in self._matchers()):
            return None
        if is_open(twins, self.origin, self.on):
            return None
        return names_for(twins, self.origin, self.target, self.on)

    def _found(self, finding: Finding) -> None:
        self.findings.append(replace(finding, on=self.on.native))

    def _granted(self, seconds: float) -> float:
        return self.target.writer.granted(self.on.native, seconds)

    def _timeout(self) -> float:
        """How long the adapter waits for the program: it has to answer first."""
        wanted = self.hook.timeout
        given = self._granted(wanted + _START)
        was = f"{wanted:g} s"
        if given >= wanted + _START:
            self._found(kept("timeout", was))
            return wanted
        left = min(wanted, max(0.8 * given - 0.5, 0.5))
        if left == wanted:
            self._found(kept("timeout", was))
            return wanted
        why = f"{self.target.client} gives it {given:g} s in all"
        self._found(lost("timeout", was, why, now=f"{left:g} s"))
        return left


# ── properties that need no decision ─────────────────────────────────────────────────────────


ADAPTER = "the adapter"


def windows_command(entry: NativeEntry, origin: Platform) -> str:
    """What the entry runs on Windows in place of its command; empty where that is the same."""
    given = (entry.options.get(key) for key in origin.writer.windows_keys)
    return next((text for text in given if isinstance(text, str) and text.strip()), "")


def windows_finding(text: str, target: Platform) -> Finding:
    """What became of it: hookline does not run on Windows, so no adapter stands before it."""
    if not target.writer.windows_keys:
        why = f"{target.client}'s file has no command for Windows alone"
        return lost("windows", text, why)
    why = f"on Windows {target.client} runs it itself, so nothing translates its answers"
    return replaced("windows", text, f"`{target.writer.windows_keys[0]}`", why)


def carried(
    source: Source, is_native: Callable[[str], bool], origin: Platform, place: str
) -> Iterator[Finding]:
    """Properties that the adapter applies where the new file cannot say them."""
    entry = source.entry
    for field, flag, was in (
        ("condition", "--if", entry.condition),
        ("env", "--env", ", ".join(entry.env)),
        ("directory", "--cwd", entry.directory),
        ("background", "--background", "true" if entry.background else ""),
        ("name", "--name", entry.name),
        ("agent", "--agent", entry.agent),
    ):
        if was and is_native(field):
            yield kept(field, was)
        elif was:
            yield replaced(field, was, f"{ADAPTER} ({flag})", f"{place} has no place for it")
    if len(source.twins) > 1:
        lines = ", ".join(str(each.line) for each in source.twins)
        why = f"{origin.client} runs these once, so they are one entry"
        yield replaced("duplicates", f"lines {lines}", "one entry", why)


def options(entry: NativeEntry, origin: Platform, target: Platform) -> Iterator[Finding]:
    """Whatever else the old entry says."""
    writer = origin.writer
    for key, value in entry.options.items():
        if key in (*writer.notes, *writer.windows_keys):
            continue
        if value == entry.command or value in (None, "", False):
            continue
        if key in writer.heeds:
            yield kept(f"option.{key}", str(value), f"{ADAPTER} (--options)")
        else:
            why = f"neither {target.client} nor hookline has anything like it"
            yield lost(f"option.{key}", str(value), why)


def failure(
    rule: OnError, written: NativeEntry, on: Target, origin: Platform, target: Platform
) -> Finding:
    """What a failure of the program means."""
    now = target.rules.on_error(target.writer.placed(written))
    cls = EVENTS[on.row.event]
    if rule is OnError.BLOCK and (cls.gate or cls.hides) and not blocks(on.row):
        return lost("failure", rule.value, f"{target.client} lets nothing be blocked there")
    if (rule is OnError.BLOCK) is (now is OnError.BLOCK):
        return kept("failure", rule.value)
    why = f"{target.client} itself takes a failure for `{now.value}`"
    return replaced("failure", rule.value, f"{ADAPTER}, by {origin.client}'s rule", why)
