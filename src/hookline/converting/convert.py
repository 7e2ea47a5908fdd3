"""A whole file from one platform to another: entries grouped, converted, ordered and written."""

import os
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from hookline.converting.entries import Made, convert_entry
from hookline.converting.mapping import cell_findings
from hookline.converting.platforms import Platform, platform
from hookline.converting.portable import HOOKLINE, hook_report, hookline, hookline_calls
from hookline.converting.report import EntryReport, Finding, Report, kept, lost, replaced
from hookline.converting.sources import Source, sources_of
from hookline.model.errors import ConfigError, HooklineError, Problem
from hookline.model.hook import Hook, Lane
from hookline.model.native import NativeEntry, NativeFile, Where

__all__ = ["Converted", "convert", "convert_hookline"]

_FREE_TEXT = ("matcher", "condition", "directory", "name", "agent")


class Converted(Struct, frozen=True):
    """The new files by name, and what became of everything."""

    files: Mapping[str, bytes]
    report: Report


def convert(
    origin: str, target: str, path: str, content: bytes, where: Where, *, only: str | None = None
) -> Converted:
    """The file in another platform's words. Raises HooklineError for what is no such file.

    ``only`` names the one native event to convert.
    """
    old = platform(origin)
    new = hookline() if target == HOOKLINE else platform(target)
    file = _read(old, path, content)
    if only is not None and origin == target:
        raise HooklineError("a file for its own platform stays whole: leave --event out")
    if only is not None:
        kept_entries = tuple(each for each in file.entries if each.event == only)
        if not kept_entries:
            raise HooklineError(f"{path}: no hook in it is for `{only}`")
        file = replace(file, entries=kept_entries)
    if origin == target:
        return _same(old, file, content)
    sources = sources_of(old, file, where)
    made = [convert_entry(each, old, new) for each in sources]
    entries, reports = _ordered(sources, made, old, new)
    report = Report(origin=origin, target=target, file=path, entries=reports)
    return Converted(new.writer.write(entries), report)


def convert_hookline(hooks: Sequence[Hook], target: str, path: str) -> Converted:
    """The hooks of a ``hookline.yaml`` as calls of hookline from another platform's file."""
    new = platform(target)
    entries = hookline_calls(hooks, new, path)
    reports = tuple(hook_report(hook, new) for hook in hooks)
    report = Report(origin=HOOKLINE, target=target, file=path, entries=reports)
    return Converted(new.writer.write(entries), report)


def _read(old: Platform, path: str, content: bytes) -> NativeFile:
    file = old.rules.read(path, content)
    if file.is_unreadable:
        problems = [Problem(path, flaw.line, flaw.message, flaw.hint) for flaw in file.flaws]
        raise ConfigError(problems)
    if file.off:
        raise HooklineError(
            f"{path}: {old.client} runs nothing of this file: {file.off}. Mend that first, or "
            "hooks that are switched off would run"
        )
    # What its platform adds by itself is no part of the file.
    added = old.rules.variables(path).keys()
    file = replace(
        file,
        entries=tuple(
            replace(each, env={name: each.env[name] for name in each.env if name not in added})
            for each in file.entries
            if not each.implied
        ),
    )
    if not file.entries:
        raise HooklineError(
            f"{path}: no hooks of {old.client} are in it. Check --from, and the file's name"
        )
    return file


def _ordered(
    sources: Sequence[Source], made: Sequence[Made], old: Platform, new: Platform
) -> tuple[list[NativeEntry], tuple[EntryReport, ...]]:
    """The new entries with their order settled, and the reports with what became of it."""
    was: dict[str, list[NativeEntry]] = {}
    for source in sources:
        if source.hook is not None:
            was.setdefault(source.entry.event, []).append(source.entry)
    entries: list[NativeEntry] = []
    reports: list[EntryReport] = []
    new_by_event: dict[str, list[NativeEntry]] = {}
    for each in made:
        for entry in each.entries:
            new_by_event.setdefault(entry.event, []).append(entry)
    for source, each in zip(sources, made, strict=True):
        siblings = was.get(source.entry.event, [])
        settled = _in_order(siblings, each.entries, old, new)
        entries += settled
        findings = [
            finding
            # Of several lanes the last is the platform's own row.
            for entry in {new.writer.placed(each).event: each for each in settled}.values()
            for finding in _order_findings(
                source.entry,
                siblings,
                entry,
                _in_order(siblings, new_by_event[entry.event], old, new),
                (old, new),
            )
        ]
        together = tuple(dict.fromkeys([*each.report.findings, *findings]))
        reports.append(replace(each.report, findings=together))
    return entries, tuple(reports)


def _same(old: Platform, file: NativeFile, content: bytes) -> Converted:
    """The file as it is: nothing says it better."""
    name = os.path.join(os.path.dirname(old.writer.path), os.path.basename(file.path))
    reports = tuple(
        EntryReport(
            event=entry.event,
            line=entry.line,
            what=entry.name or str(entry.command) or entry.url or entry.type,
            becomes=(entry.event,),
            findings=tuple(_all_kept(entry, old)),
        )
        for entry in file.entries
    )
    report = Report(origin=old.id, target=old.id, file=file.path, entries=reports)
    return Converted({name: content}, report)


def _all_kept(entry: NativeEntry, old: Platform) -> list[Finding]:
    said = {field: str(getattr(entry, field) or "") for field in _FREE_TEXT}
    said["env"] = ", ".join(entry.env)
    said["background"] = "true" if entry.background else ""
    said["timeout"] = "" if entry.timeout is None else f"{entry.timeout:g} s"
    said["priority"] = "" if entry.priority is None else str(entry.priority)
    said |= {
        f"option.{key}": str(value)
        for key, value in entry.options.items()
        if key not in old.writer.notes
    }
    row = old.dialect.support.find(entry.event)
    return [
        kept("event", entry.event),
        kept("handler", entry.type),
        *(kept(field, was) for field, was in said.items() if was),
        kept("failure", old.rules.on_error(entry).value),
        *(cell_findings(row, row, old.client) if row is not None else ()),
    ]


_BESIDE = "side by side"


def _in_order(
    was: Sequence[NativeEntry], now: Sequence[NativeEntry], origin: Platform, target: Platform
) -> tuple[NativeEntry, ...]:
    """The new entries of one event, one after another where the old ones were."""
    sequential = any(origin.rules.lane(entry, was) is not None for entry in was)
    return tuple(
        replace(entry, sequential=True)
        if sequential and target.writer.can_say("sequential", entry.event)
        else entry
        for entry in now
    )


def _order_findings(
    entry: NativeEntry,
    was: Sequence[NativeEntry],
    made: NativeEntry,
    now: Sequence[NativeEntry],
    sides: tuple[Platform, Platform],
) -> Iterator[Finding]:
    """What became of the order among several hooks of one event, and of their priorities."""
    origin, target = sides
    before, after = origin.rules.lane(entry, was), _lane(made, now, target)
    finding = _compared(before, after, target)
    if len(was) > 1:
        yield replace(finding, on=made.event)
    if entry.priority is not None:
        number = str(entry.priority)
        if made.priority == entry.priority:
            yield kept("priority", number, on=made.event)
        elif after is not None:
            why = f"{target.client} runs hooks as they stand in the file"
            yield replaced("priority", number, "its place in the file", why, on=made.event)
        else:
            why = f"{target.client} runs hooks side by side"
            yield lost("priority", number, why, on=made.event)


def _lane(made: NativeEntry, now: Sequence[NativeEntry], target: Platform) -> Lane | None:
    placed = target.writer.placed
    return target.rules.lane(placed(made), [placed(each) for each in now])


def _compared(before: Lane | None, after: Lane | None, target: Platform) -> Finding:
    was, now = _said(before), _said(after)
    if before is None:
        if after is None:
            return kept("order", was)
        return replaced("order", was, now, f"{target.client} runs them one after another")
    if after is None:
        return lost("order", was, f"{target.client} runs them side by side", now=now)
    if before.piped and not after.piped:
        why = f"{target.client} shows each of them the first input, whatever others changed"
        return lost("order", was, why, now=now)
    if was == now:
        return kept("order", was)
    return replaced("order", was, now, f"these are {target.client}'s rules for several hooks")


def _said(lane: Lane | None) -> str:
    if lane is None:
        return _BESIDE
    parts = ["one after another"]
    parts += ["each sees what the last one changed"] if lane.piped else []
    parts += ["a deny ends it"] if lane.deny_ends else []
    parts += ["only the last one counts"] if lane.last_counts else []
    return ", ".join(parts)
