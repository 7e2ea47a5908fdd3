"""How a handoff reads, within a size, and which of its anchors the summary of a compaction lost."""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from hookline.model.text import visible
from hookline.store.handoffs import FileUse, Handoff

__all__ = ["Anchor", "count_tokens", "describe_handoff", "find_lost", "list_anchors", "quote"]

_WORD = re.compile(r"\w{4,}")
# Of the words of a sentence, as many as show that a summary says the same.
_ENOUGH = 0.8
_LONGEST = 1 << 18
_FILES = 12


class Anchor(NamedTuple):
    """What has to survive a compaction."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def count_tokens(text: str) -> int:
    """About how many tokens a text has: one for every four bytes."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def quote(text: object) -> str:
    """One quoted line, whatever the text holds."""
    return f"> {visible(' '.join(str(text).split()))}"


def list_anchors(handoff: Handoff) -> list[Anchor]:
    """Issue, branch, blockers and next steps, as far as they are known."""
    found = [Anchor("Issue", handoff.issue), Anchor("Branch", handoff.branch)]
    found += [Anchor("Blocker", each) for each in handoff.blockers]
    found += [Anchor("Next step", each) for each in handoff.next_steps]
    return [each for each in found if each.text and not each.text.startswith(".")]


def find_lost(anchors: Sequence[Anchor], summary: str) -> list[Anchor]:
    """The anchors that a summary does not say."""
    said = " ".join(summary[:_LONGEST].casefold().split())
    words = frozenset(_WORD.findall(said))
    return [each for each in anchors if not _is_said(each, said, words)]


def _is_said(anchor: Anchor, said: str, words: frozenset[str]) -> bool:
    text = " ".join(anchor.text.casefold().split())
    if re.search(rf"(?<!\w){re.escape(text.lstrip('#'))}(?!\w)", said):
        return True
    own = _WORD.findall(text)
    sentence = anchor.kind in ("Blocker", "Next step") and len(own) >= 3
    return sentence and sum(word in words for word in own) >= _ENOUGH * len(own)


def describe_handoff(handoff: Handoff, *, max_tokens: int) -> str:
    """The handoff as quoted lines, the most important first; what did not fit is said."""
    left = max_tokens - count_tokens(_more(9_999))
    lines: list[str] = []
    dropped = 0
    title = ""
    for section, line in _list_lines(handoff):
        heading = [f"> {section}:"] if section and section != title else []
        added = [*heading, quote(line)]
        cost = sum(count_tokens(each) + 1 for each in added)
        if dropped or cost > left:
            dropped += 1
            continue
        lines += added
        left -= cost
        title = section
    return "\n".join([*lines, *([_more(dropped)] if dropped else [])])


def _more(count: int) -> str:
    return f"> ({count} more lines: `hookline handoff` shows them)"


def _list_lines(handoff: Handoff) -> Iterator[tuple[str, str]]:
    """Every line under its heading, the most important first."""
    if handoff.repository:
        yield "", f"Repository: {handoff.repository}"
    yield from (("", str(each)) for each in list_anchors(handoff))
    for each in sorted(handoff.open_todos, key=lambda todo: todo.status):
        yield "Open todos", f"- [{'~' if each.status == 'active' else ' '}] {each.text}"
    for failure in reversed(handoff.failures.values()):
        times = f" ({failure.count} times)" if failure.count > 1 else ""
        yield "Unresolved errors", f"- `{failure.what}` failed{times}: {failure.error}"
    for decision in handoff.decisions:
        yield "Decisions", f"- {decision}"
    for line in handoff.plan.splitlines():
        yield "Plan", line
    ranked = sorted(handoff.files.items(), key=lambda item: rank_file(item[1]), reverse=True)
    for path, use in ranked[:_FILES]:
        done = {"changed": use.writes, "read": use.reads}
        times = ", ".join(f"{how} {count}x" for how, count in done.items() if count)
        yield "Key files", f"- {path} ({times})"
    for each in handoff.todos:
        if each.status == "done":
            yield "Done", f"- {each.text}"


def rank_file(use: FileUse) -> int:
    """How much a file matters: to change it tells more than to read it."""
    return 3 * use.writes + use.reads


def name_moment(at: float) -> str:
    """``2026-11-19 21:40 UTC``."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
