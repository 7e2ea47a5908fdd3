"""What became of the properties of a hook that need no decision: carried over, applied, or lost.

Follows from what the new file has a place for, and from what an adapter heeds.
"""

from collections.abc import Callable, Iterator

from hookline.converting.mapping import Target, blocks
from hookline.converting.platforms import Platform
from hookline.converting.report import Finding, kept, lost, replaced
from hookline.converting.sources import Source
from hookline.model.events import EVENTS
from hookline.model.hook import OnError
from hookline.model.native import NativeEntry

__all__ = ["ADAPTER", "carried", "failure", "options"]

ADAPTER = "the adapter"


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
        if key in writer.notes or value == entry.command or value in (None, "", False):
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
