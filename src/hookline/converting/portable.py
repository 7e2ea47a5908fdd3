"""``hookline.yaml`` as a side of a conversion: what is portable already, and what is to become so.

Knows the keys of a hook in it; must not know how a config is loaded.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from shlex import join
from typing import ClassVar, cast

from hookline import registry
from hookline.converting.adapter import PROGRAM, guarded
from hookline.converting.mapping import blocks, cell_findings, two_denies
from hookline.converting.platforms import Platform, Rules, Writing
from hookline.converting.report import EntryReport, Finding, kept, lost
from hookline.model.events import EVENTS, Event
from hookline.model.hook import DEFAULT_PRIORITY, Hook, Lane, OnError
from hookline.model.native import NativeEntry
from hookline.model.support import CELLS, EventSupport

__all__ = ["HOOKLINE", "hook_report", "hookline", "hookline_calls"]

HOOKLINE = "hookline"
_LANE = Lane(name=HOOKLINE, piped=True, deny_ends=True)
_LAST_PRIORITY = 100
_START = 5.0


class _Writer:
    """A ``hookline.yaml`` with one hook for each entry."""

    path = "hookline.yaml"
    heeds: ClassVar[frozenset[str]] = frozenset()
    notes: ClassVar[frozenset[str]] = frozenset()
    windows_keys: ClassVar[tuple[str, ...]] = ()
    _says = frozenset({"matcher", "timeout", "name", "priority", "fails_closed", "sequential"})

    def can_say(self, field: str, event: str) -> bool:
        """Also ``words``: a command need not be a line for a shell."""
        return field in self._says or field == "words"

    def granted(self, event: str, seconds: float) -> float:
        """To the letter."""
        return seconds

    def matcher(self, names: Sequence[str]) -> str:
        """What the tools do, which is how a portable hook names them."""
        rows = registry.tools("canonical").rows
        return "|".join(dict.fromkeys(rows[name].kind.value for name in names))

    def lanes(self, event: str) -> tuple[str, ...]:
        """One is enough."""
        return (event,)

    def placed(self, entry: NativeEntry) -> NativeEntry:
        """As it is."""
        return entry

    def write(self, entries: Sequence[NativeEntry]) -> Mapping[str, bytes]:
        """One file."""
        lines = ["version: 1", "hooks:" if entries else "hooks: []"]
        names: set[str] = set()
        places: dict[str, int] = {}
        for entry in entries:
            place = places.setdefault(entry.event, DEFAULT_PRIORITY)
            lines += _hook(entry, _unique(entry, names), place)
            places[entry.event] = min(place + 1, _LAST_PRIORITY)
        return {self.path: ("\n".join(lines) + "\n").encode()}


def _unique(entry: NativeEntry, names: set[str]) -> str:
    """Names are unique in a file of ours."""
    base = entry.name or f"{entry.event} {entry.options.get('comment', '')}".strip()
    name, number = base, 1
    while name in names:
        number += 1
        name = f"{base} ({number})"
    names.add(name)
    return name


def _hook(entry: NativeEntry, name: str, place: int) -> Iterator[str]:
    comment = entry.options.get("comment")
    if comment:
        yield f"  # {comment}"
    yield f"  - name: {_quoted(name)}"
    yield f"    on: {entry.event}"
    if entry.matcher:
        yield f"    match: {{tool: [{', '.join(entry.matcher.split('|'))}]}}"
    words = ", ".join(map(_quoted, entry.command))
    yield f"    run: [{words}]"
    priority = entry.priority if entry.priority is not None else place if entry.sequential else None
    if priority is not None:
        yield f"    priority: {min(max(priority, 0), _LAST_PRIORITY)}"
    if entry.timeout is not None:
        yield f"    timeout: {entry.timeout:g}"
    yield f"    on_error: {'block' if entry.fails_closed else 'warn'}"


def _quoted(text: str) -> str:
    from yaml import safe_dump

    return safe_dump(text, default_style='"', width=1_000_000, allow_unicode=True).strip()


class _Rules:
    """The engine's own."""

    dialect = "canonical"

    def on_error(self, entry: NativeEntry) -> OnError:
        """As the hook says."""
        return OnError.BLOCK if entry.fails_closed else OnError.WARN

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane | None:
        """One after another by priority, which is how a sequence is written."""
        return _LANE if entry.sequential or entry.priority is not None else None

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """By what the tool does."""
        tool = getattr(event, "tool", None)
        return tool is None or tool.kind.value in (entry.matcher or tool.kind.value).split("|")


def hookline() -> Platform:
    """hookline as a platform to convert to."""
    dialect = registry.dialect("canonical")
    return Platform(HOOKLINE, dialect, cast(Rules, _Rules()), cast(Writing, _Writer()))


# ── from hookline.yaml ──────────────────────────────────────────────────────────────────────


def hookline_calls(hooks: Sequence[Hook], target: Platform, config: str) -> tuple[NativeEntry, ...]:
    """One entry for each event of ``target`` on which some hook could run: hookline itself."""
    seconds: dict[str, float] = {}
    for hook in hooks:
        for event in hook.events:
            native = target.native_for(event)
            for lane in target.writer.lanes(native) if native else ():
                seconds[lane] = max(seconds.get(lane, 0.0), hook.timeout)
    return tuple(_call(native, target, config, wanted) for native, wanted in seconds.items())


def _call(native: str, target: Platform, config: str, wanted: float) -> NativeEntry:
    given = target.writer.granted(native, (wanted + _START) / 0.8)
    row = target.dialect.support.events[native]
    call = (*PROGRAM, "hook", target.id, native, "--config", config, "--timeout", f"{given:g}")
    refusal = target.dialect.refuse(native, "hookline is not installed here or did not run")
    closes = blocks(row) and target.writer.can_say("fails_closed", native)
    return NativeEntry(
        event=native,
        command=guarded(call, refusal, two_denies=two_denies(native, target))
        if blocks(row)
        else join(call),
        timeout=given,
        fails_closed=True if closes else None,
        name=HOOKLINE if target.writer.can_say("name", native) else "",
        options={"comment": f"the hooks of {os.path.basename(config)}"},
    )


def hook_report(hook: Hook, target: Platform) -> EntryReport:
    """What became of one hook of ours: hookline runs it, as far as the platform can take it."""
    findings: list[Finding] = [kept("handler", hook.handler.kind, "hookline runs it")]
    becomes = []
    for event in hook.events:
        native = target.native_for(event)
        if not native:
            findings.append(lost("event", event, f"{target.client} has no event for {event}"))
            continue
        findings.append(kept("event", event, native, on=native))
        for lane in target.writer.lanes(native):
            becomes.append(lane)
            row = target.dialect.support.events[lane]
            findings += cell_findings(_may_say(hook, event), row, target.client)
    return EntryReport(
        event=", ".join(hook.events),
        line=hook.source.line,
        what=hook.name,
        becomes=tuple(becomes),
        findings=tuple(findings),
    )


def _may_say(hook: Hook, event: str) -> EventSupport:
    """What the hook may answer with: a rule only what it says, anything else all that may be."""
    values = hook.handler.values
    if hook.handler.kind == "rule":
        rewrite = values.get("rewrite")
        said = {*values, *(rewrite if isinstance(rewrite, Mapping) else ())}
    else:
        cls = EVENTS[event]
        said = {"halt", "notice", *cls.rewrites}
        said |= {"allow"} if cls.allows else set()
        said |= {"ask"} if cls.asks else set()
        said |= {"deny"} if (cls.gate and not cls.continues) or cls.hides else set()
        said |= {"context"} if cls.takes_context else set()
        said |= {"follow_up"} if cls.continues else set()
    cells = {cell: "yes" for cell in CELLS if cell in said}
    return EventSupport(native=event, event=event, cells=cells)
