"""From a denied call to what is remembered of it: the acts it was denied for, without secrets."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from glob import iglob
from itertools import islice
from typing import Any

from msgspec import structs

from hookline.builtin._touching import places_of, touches
from hookline.builtin.no_workarounds.branches import named_branch
from hookline.builtin.no_workarounds.doings import RIGHTS, Deed, Doing, Ground, on_paths
from hookline.builtin.no_workarounds.matching import ALL_OF_IT, FILED, in_python
from hookline.builtin.no_workarounds.network import addressed
from hookline.builtin.no_workarounds.shell import shell_doings
from hookline.model.answers import Answer, Verdict
from hookline.model.denials import Denial, DeniedAct, call_digest
from hookline.model.events import ToolEvent
from hookline.model.outcome import Outcome, Run
from hookline.model.ports import Caller
from hookline.model.text import visible
from hookline.model.tools import ToolKind
from hookline.secrets import redact
from hookline.shell import MAX_BYTES, split

__all__ = ["doings", "learned"]

_MAX_ACTS = 16
_MAX_REASON = 240
_LONGEST = 512
_GRAVE = frozenset({
    Deed.DELETE, Deed.EMPTY, Deed.SEND, Deed.PUSH, Deed.FORCE_PUSH, Deed.DELETE_BRANCH, Deed.RESET,
})  # fmt: skip
# Of a command that does several things, those that it can have been denied for, gravest first.
_COMMANDS = frozenset({Deed.RUN})
_RANKS = (
    _GRAVE,
    frozenset({Deed.WRITE, Deed.MODE, Deed.RESTORE, Deed.FETCH}),
    _COMMANDS,
    frozenset({Deed.READ, Deed.TAKE}),
)
# Guards of ours say which kind of harm it was.
_CATEGORIES: Mapping[str, frozenset[Deed]] = {
    "deletes": frozenset({Deed.DELETE, Deed.EMPTY}),
    "overwrites": frozenset({Deed.WRITE, Deed.EMPTY}),
    "reads-secret": frozenset({Deed.READ, Deed.TAKE}),
    "sends-out": frozenset({Deed.SEND, Deed.READ}),
    "protected-path": FILED,
}
_BRANCHED = frozenset({
    Deed.PUSH, Deed.FORCE_PUSH, Deed.DELETE_BRANCH, Deed.COMMIT, Deed.MERGE, Deed.REBASE,
    Deed.RESET,
})  # fmt: skip
# Whether these may be done mostly depends on something that is done first, such as a test run.
_CONDITIONAL = frozenset({Deed.COMMIT, Deed.MERGE, Deed.REBASE})


def learned(outcome: Outcome, caller: Caller, own: str) -> Denial | None:
    """What to remember; ``own`` is the builtin whose denials are about something remembered."""
    said = [run for run in outcome.runs if _denies(run, outcome.verdict, own)]
    if not said or not isinstance(outcome.event, ToolEvent):
        return None
    run = said[0]
    seen = run.seen if isinstance(run.seen, ToolEvent) else outcome.event
    found = doings(seen, caller)
    answers = [each.answer for each in said]
    advice = advised(answers, seen, found)
    shell = seen.tool.command is not None
    acts = _acts(_meant(found, answers, advice, shell=shell))
    if not acts:
        return None
    reason = visible(" ".join(redact(run.answer.reason).text.split()))
    return Denial(
        call=call_digest(outcome.event),
        hook=visible(run.hook.name[:_MAX_REASON]),
        reason=reason if len(reason) <= _MAX_REASON else f"{reason[:_MAX_REASON]}…",
        acts=acts,
        advised=advice,
    )


def _denies(run: Run, verdict: Verdict, own: str) -> bool:
    """Whether a run denied by its own judgement; that a hook failed says nothing about the act."""
    ours = str(run.hook.handler.values.get("use", "")).replace("_", "-") == own
    return run.answer.verdict is verdict and run.counts and run.failed is None and not ours


def _is_about_the_way(text: str, found: Sequence[Doing], advice: Sequence[str]) -> bool:
    """Whether a program is denied, and not what it would do: "grep is off, use the search tool"."""
    names = {name for each in found for name in each.by}
    return bool(advice) or any(re.search(rf"\b{re.escape(each)}\b", text) for each in names)


def _meant(
    found: Sequence[Doing], answers: Sequence[Answer], advice: Sequence[str], *, shell: bool
) -> list[Doing]:
    """Those that the call was denied for: by what was said of them, else the gravest."""
    found = [each for each in found if each.sure]
    category = next((str(each.metadata["category"]) for each in answers
                     if "category" in each.metadata), "")  # fmt: skip
    if category in {"secret", "loop"}:
        # Without the secret the same call may go where it was going; out of a loop leads any way.
        return []
    text = "\n".join(
        part for each in answers for part in (each.reason, str(each.metadata.get("words", "")))
    )
    if category == "protected-branch":
        # What is checked out now need not be what a `git checkout` before it would have led to.
        branched = [each for each in found if each.did in _BRANCHED]
        return [each for each in branched if each.target == "*" or _mentions(text, each)]
    found = [each for each in found if each.did not in _CONDITIONAL]
    alike = [each for each in found if each.did in _CATEGORIES.get(category, frozenset())]
    found = alike or found
    mentioned = [each for each in found if _mentions(text, each)]
    if not mentioned and not category and shell and _is_about_the_way(text, found, advice):
        found = [each for each in found if each.did in _GRAVE]
    found = mentioned or found
    for rank in _RANKS:
        kept = [each for each in found if each.did in rank]
        # A script that is run stands for whatever is in it.
        kept = [each for each in kept if each.did is Deed.RUN and each.spots] or kept
        # Of several commands of which nothing is known, it may have been any.
        if kept and (rank is not _COMMANDS or len({each.target for each in kept}) == 1):
            emptied = [each.spots for each in kept if each.did is Deed.EMPTY]
            return kept + [w for w in found if w.did is Deed.WRITE and w.spots in emptied]
    return []


def _mentions(text: str, doing: Doing) -> bool:
    names = {doing.target.rstrip("/"), *doing.spots}
    names |= {each.rpartition("/")[2] for each in names}
    return any(
        re.search(rf"(?<![\w.-]){re.escape(each)}(?![\w-])", text)
        for each in names
        if len(each) > 1 or doing.did is Deed.RUN
    )


def _acts(found: Iterable[Doing]) -> tuple[DeniedAct, ...]:
    acts: dict[DeniedAct, None] = {}
    for each in found:
        did = Deed.READ if each.did is Deed.TAKE else each.did
        # To write to a directory, or to search it, may mean any file in it.
        vague = did in {Deed.READ, Deed.WRITE}
        for target in _targets(each):
            if vague and os.path.isdir(target):
                continue
            # What cannot be kept as it is would never be known again.
            whole = len(target) <= _LONGEST and redact(target).text == visible(target) == target
            if whole:
                acts[DeniedAct(did.value, target, each.deep)] = None
    return tuple(acts)[:_MAX_ACTS]


def _targets(doing: Doing) -> Iterator[str]:
    """What is meant, also where a pattern stands for it: the files that are there now."""
    for spot in doing.spots or (doing.target,):
        folder, _, last = spot.rpartition("/")
        if not doing.pattern:
            yield spot
        elif in_python(last) in ALL_OF_IT and folder:
            yield folder
        else:
            yield spot
            with suppress(OSError, ValueError):
                yield from islice(iglob("/".join(map(in_python, spot.split("/")))), _MAX_ACTS)


# Which way a hook names in place of the one it denies: "use the Edit tool instead of sed". A reason
# mostly quotes the call, so what stands in the call is never taken for the hook's word.
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


_K = ToolKind


def doings(event: ToolEvent, caller: Caller) -> list[Doing]:
    """Everything that a call would do, as far as it can be read."""
    places = places_of(event, caller)
    ground = Ground(places=places, project=caller.project_dir, env=caller.env, spent={})
    found = list(_doings(event, caller, ground))
    if ground.overdrawn:
        # What was denied may stand where nobody looked.
        found.append(Doing(did=Deed.UNREAD, target="*", sure=False))
    return found


def _doings(event: ToolEvent, caller: Caller, ground: Ground) -> Iterator[Doing]:
    tool = event.tool
    names = (tool.name.lower(), tool.kind.value)
    for each in _done(event, caller, ground):
        yield each if each.by else structs.replace(each, by=names)


def _done(event: ToolEvent, caller: Caller, ground: Ground) -> Iterator[Doing]:
    tool = event.tool
    if tool.command is not None and tool.kind in {_K.SHELL, _K.MCP, _K.OTHER}:
        yield from shell_doings(tool.command, ground)
        event = structs.replace(event, tool=structs.replace(tool, command=None))
    if tool.kind is not _K.SHELL:
        empties = tool.kind is _K.WRITE and tool.content == ""
        for touch in touches(event, caller, ground.places):
            did = RIGHTS.get(touch.right)
            for each in (did, Deed.EMPTY if empties else None):
                if each is not None:
                    yield from on_paths(each, touch.path, ground, deep=touch.deep, glob=touch.glob)
    if tool.url:
        yield from addressed(tool.url)
    if tool.mcp is not None:
        yield from named_branch(tool.mcp.tool, tool.input)
