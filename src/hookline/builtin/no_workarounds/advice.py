"""Which way a hook names in place of the one it denies: "use the Edit tool instead of sed".

A reason mostly quotes the call, so what stands in the call is never taken for the hook's word.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hookline.builtin.no_workarounds.doings import Doing
from hookline.model.answers import Answer
from hookline.model.events import ToolEvent
from hookline.model.tools import ToolKind
from hookline.secrets import redact
from hookline.shell import MAX_BYTES, split

__all__ = ["advised"]

_NAMED = re.compile(
    r"(?i)(?<!not )(?<!n't )(?<!never )(?<!cannot )\b(?:use|prefer|try|run|call)\b"
    r"([^.;!?\n]{1,80})(?![\w+-])"
)
# Behind these stands what is not to be used.
_OTHERWISE = re.compile(r"(?i)\b(?:instead of|rather than|over|not|never|in place of)\b")
_INSTEAD = re.compile(r"(?i)(?<![\w+-])([^.;!?\n]{1,80})\binstead\b(?! of)")
_NO = re.compile(r"(?i)\b(?:not|never|cannot|no)\b|n't\b")
_NAME = re.compile(r"(?<![\w+-])[A-Za-z][\w+-]{1,29}(?![\w+-])")
_QUOTED = re.compile(r"`[^`]*`")
_SPOKEN = frozenset({"use", "prefer", "try", "run", "call", "instead"})
_CUT = re.compile(r"[\w+-]+(?:…|\.\.\.)")
# What a hook may have taken out of a word before it quotes it.
_UNSEEN = re.compile(r"['\"\\`\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_MAX_NAMES = 16


def advised(answers: Sequence[Answer], event: ToolEvent, found: Sequence[Doing]) -> tuple[str, ...]:
    """Names of programs or tools that are not the call's own, and whole commands."""
    named, content = _own(event, found)
    own = {name for each in found for name in each.by} | {*_names(named)}
    own |= {*_advice(content)}
    for answer in answers:
        own.update(_names(str(answer.metadata.get("words", ""))))
    quotable = own | {*_names(content)} | _SPOKEN
    safer: dict[str, None] = {}
    advice: dict[str, None] = {}
    for answer in answers:
        reason = answer.reason
        better = answer.metadata.get("safer")
        if isinstance(better, str) and better:
            # Only this one command is meant, and not all that its program can do.
            reason = reason.replace(f"Rather: `{better}`", "")
            safer[better.strip()] = None
        words = answer.metadata.get("words")
        if isinstance(words, str) and words:
            reason = reason.replace(words, "")
        reason = _QUOTED.sub(lambda each: _without(each.group(), quotable), _CUT.sub("", reason))
        advice |= dict.fromkeys(each for each in _advice(reason) if each not in own)
    kept = [each for each in (safer | advice) if redact(each).text == each]
    return tuple(kept)[:_MAX_NAMES]


def _advice(text: str) -> Iterator[str]:
    for each in _NAMED.findall(text):
        yield from _names(_OTHERWISE.split(each)[0])
    for each in _INSTEAD.findall(text):
        if not _NO.search(each):
            yield from _names(each)


def _names(text: str) -> list[str]:
    return [each.lower() for each in _NAME.findall(text)]


def _without(text: str, names: set[str]) -> str:
    return _NAME.sub(lambda each: "" if each.group().lower() in names else each.group(), text)


def _own(event: ToolEvent, found: Sequence[Doing]) -> tuple[str, str]:
    """What a call names, and the text that it would put somewhere.

    That text may have any word in it by chance, the advised one too, and is only held to be where
    an advice comes from if it reads like one.
    """
    tool = event.tool
    given = [*_texts(tool.input)]
    named = [each for each in (tool.command, tool.path, *tool.paths, tool.url) if each]
    named += [each for doing in found for each in (doing.target, *doing.spots)]
    content: list[str] = []
    if tool.kind in {ToolKind.WRITE, ToolKind.EDIT}:
        content = [each for each in given if each not in named]
    else:
        named += given
    if tool.command and len(tool.command) <= MAX_BYTES:
        bodies = [each for each in split(tool.command).heredocs if each]
        for body in bodies:
            named = [each.replace(body, "\n") for each in named]
        content += bodies
        bare = tool.command if not bodies else named[0]
        named += [word for each in split(bare).commands for word in each.words]
    named += [_UNSEEN.sub("", each) for each in named]
    content += [_UNSEEN.sub("", each) for each in content]
    return "\n".join(named), "\n".join(content)


def _texts(value: Any) -> Iterator[str]:
    """Every text in an input, keys included."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple):
            waiting += each
