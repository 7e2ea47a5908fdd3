"""One hook of the old file: what stands for it in the new one, and what became of each property.

Whatever the new format has no place for is told to the adapter, which applies the old platform's
own rules; so only what neither can do is lost.
"""

from collections.abc import Iterator, Sequence
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
)
from hookline.converting.platforms import Platform
from hookline.converting.report import EntryReport, Finding, kept, lost, replaced
from hookline.converting.tools import is_for_all, is_heard, is_plain, names_for
from hookline.model.events import EVENTS, ToolEvent
from hookline.model.hook import Hook, OnError
from hookline.model.native import NativeEntry

__all__ = ["Made", "Source", "convert_entry"]

_ADAPTER = "the adapter"
# An adapter has to start, and to answer before the new platform gives up on it.
_START = 5.0
_UNGUARDED = "hookline is not installed here or did not run, so nobody judged this"
_KINDS = {"command": "runs the command", "http": "sends the request", "builtin": "runs the builtin"}


class Source(Struct, frozen=True, kw_only=True):
    """One hook of the old file, with all that its platform would take it for."""

    twins: tuple[NativeEntry, ...]
    """The entries that the old platform runs as one, the first of which says how."""
    hook: Hook | None
    """None when the old platform does not run it."""
    why_not: str = ""
    file: str = ""

    @property
    def entry(self) -> NativeEntry:
        """The one that says how it runs."""
        return self.twins[0]


class Made(Struct, frozen=True):
    """What a hook became."""

    entries: tuple[NativeEntry, ...]
    report: EntryReport


def convert_entry(source: Source, origin: Platform, target: Platform) -> Made:
    """The entries for one hook, and its part of the report."""
    hook, entry = source.hook, source.entry
    if hook is None:
        return _lost(source, lost("handler", _what(entry), source.why_not))
    why = _unrunnable(hook)
    if why:
        return _lost(source, lost("handler", f"{entry.type}: {_what(entry)}", why))
    found = targets(_native(entry, origin), origin, target)
    if not found:
        return _lost(source, no_event(_native(entry, origin), origin, target))
    entries: list[NativeEntry] = []
    findings: list[Finding] = []
    for on in found:
        step = _Step(source, hook, origin, target, on)
        made = step.made()
        spread = target.writer.spread(made)
        entries += spread
        findings += step.findings
        if len(spread) > 1:
            why = f"{target.client} passes over one entry for what was approved beforehand"
            findings.append(replaced("calls", "once", "twice", why, on=on.native))
    handler = kept("handler", entry.type, f"{_ADAPTER} {_KINDS[hook.handler.kind]}")
    return Made(tuple(entries), _report(source, [handler, *findings], [on.native for on in found]))


def _unrunnable(hook: Hook) -> str:
    """Why hookline could not run it for the new platform; empty when it can."""
    if hook.handler.kind not in _KINDS:
        return str(hook.handler.values["why"])
    name = str(hook.handler.values.get("use", "")).replace("_", "-")
    if name and name not in registry.builtin_names():
        return f"hookline has no builtin `{name}`"
    return ""


def _native(entry: NativeEntry, origin: Platform) -> str:
    """The event by a name that the support table has."""
    events = origin.dialect.support.events
    if entry.event in events:
        return entry.event
    canonical = origin.rules.canonical(entry.event)
    return origin.native_for(canonical[0]) or entry.event


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
        native = _native(entry, self.origin)
        self.findings.append(event_finding(native, on, self.origin, self.target))
        timeout = self._timeout()
        adapted = Adapted(
            origin=self.origin.id,
            target=self.target.dialect.id,
            on=on.native,
            entry=replace(entry, timeout=timeout, **self._adapted()),
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
            options={"comment": f"{entry.event} of {self.origin.client}: {self._at()}"},
            line=entry.line,
        )
        self._settle(written)
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
        return guarded(call, self.target.dialect.refuse(self.on.native, _UNGUARDED))

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
        given = self._matchers()
        if not given:
            return None
        was = ", ".join(given)
        is_tool = issubclass(EVENTS[self.on.row.event], ToolEvent)
        if is_tool and all(is_plain(each, self.origin) for each in given):
            names = names_for(self.source.twins, self.origin, self.target, self.on)
            if not names:
                why = f"no tool of {self.target.client} is any of these, so it is never asked"
                self._found(lost("matcher", was, why))
                return None
            now = self.target.writer.matcher(names)
            if self._can_say("matcher") and is_heard(now, names, self.target, self.on):
                self._found(kept("matcher", was, now))
                return now
        why = f"{self.origin.client}'s own rules decide, each time it is asked"
        self._found(replaced("matcher", was, f"{_ADAPTER} (--matcher)", why))
        return None

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

    def _settle(self, written: NativeEntry) -> None:
        """What became of the properties that a table can tell."""
        for finding in (*self._carried(), *self._options(), self._failure(written)):
            self._found(finding)

    def _carried(self) -> Iterator[Finding]:
        """Properties that the adapter applies where the new file cannot."""
        entry = self.source.entry
        applied = f"{self.target.client}'s file has no place for it on {self.on.native}"
        for field, flag, was in (
            ("condition", "--if", entry.condition),
            ("env", "--env", ", ".join(entry.env)),
            ("directory", "--cwd", entry.directory),
            ("background", "--background", "true" if entry.background else ""),
            ("name", "--name", entry.name),
            ("agent", "--agent", entry.agent),
        ):
            if was and self._is_native(field):
                yield kept(field, was)
            elif was:
                yield replaced(field, was, f"{_ADAPTER} ({flag})", applied)
        if len(self.source.twins) > 1:
            lines = ", ".join(str(each.line) for each in self.source.twins)
            why = f"{self.origin.client} runs these once, so they are one entry"
            yield replaced("duplicates", f"lines {lines}", "one entry", why)

    def _options(self) -> Iterator[Finding]:
        entry, writer = self.source.entry, self.origin.writer
        for key, value in entry.options.items():
            if key in writer.notes or value == entry.command or value in (None, "", False):
                continue
            if key in writer.heeds:
                yield kept(f"option.{key}", str(value), f"{_ADAPTER} (--options)")
            else:
                why = f"neither {self.target.client} nor hookline has anything like it"
                yield lost(f"option.{key}", str(value), why)

    def _failure(self, written: NativeEntry) -> Finding:
        """What a failure of the program means."""
        rule = self.hook.on_error
        now = self.target.rules.on_error(written)
        can = EVENTS[self.on.row.event].gate or EVENTS[self.on.row.event].hides
        if rule is OnError.BLOCK and can and not blocks(self.on.row):
            why = f"{self.target.client} lets nothing be blocked on {self.on.native}"
            return lost("failure", rule.value, why)
        if (rule is OnError.BLOCK) is (now is OnError.BLOCK):
            return kept("failure", rule.value)
        why = f"{self.target.client} itself takes a failure for `{now.value}`"
        return replaced("failure", rule.value, f"{_ADAPTER}, by {self.origin.client}'s rule", why)
