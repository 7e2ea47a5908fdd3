"""The translation law: what a platform cannot say is replaced by something at least as strict.

Pure and shared by every dialect. What remains afterwards a dialect only has to spell.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.answers import BLOCKING, NO_REWRITE, PASS, Answer, Rewrite, Verdict
from hookline.model.events import Event, ToolEvent
from hookline.model.outcome import Outcome, Substitution, Translated
from hookline.model.support import EventSupport, Support
from hookline.model.text import for_model, visible

__all__ = ["PASSED", "translate"]


PASSED = Translated(PASS)
"""Nothing was said, and so can it be everywhere."""


class _Draft(Struct):
    answer: Answer
    changes: list[Substitution]
    where: str
    row: EventSupport
    latch: str = ""
    later: tuple[str, ...] = ()

    def swap(self, was: str, now: str, why: str, **fields: Any) -> None:
        self.changes.append(Substitution(was, now, f"{self.where} {why}"))
        self.answer = replace(self.answer, **fields)


def translate(
    outcome: Outcome, support: Support, native: str, cells: Mapping[str, str] = {}
) -> Translated:
    """The outcome's answer as far as ``native`` can take it, each change recorded.

    ``cells`` are those of its row that hold for this outcome alone.
    """
    if outcome.answer is PASS:
        return PASSED
    row = support.find(native)
    if row is None:
        row = EventSupport(native=native, event="other", cells={})
    elif cells:
        row = replace(row, cells={**row.cells, **cells})
    where = f"{support.client} on {native}"
    draft = _Draft(outcome.answer, [], where, row)
    _fit_rewrites(draft, outcome.event)
    _fit_verdict(draft)
    _sign(draft, outcome.signature)
    _fit_texts(draft, outcome, support)
    return Translated(draft.answer, tuple(draft.changes), draft.latch, later=draft.later)


def _sign(draft: _Draft, signature: str) -> None:
    """Who is asked reads who asks; else that is for people alone, where there is a way to them."""
    if signature and draft.answer.verdict is Verdict.ASK:
        draft.answer = replace(draft.answer, reason=f"{draft.answer.reason}\n{signature}")
    elif signature and draft.row.can("notice"):
        draft.answer = replace(draft.answer, notice=(*draft.answer.notice, signature))


def _fit_verdict(draft: _Draft) -> None:
    verdict, row = draft.answer.verdict, draft.row
    if verdict is Verdict.HALT and not row.can("halt"):
        draft.latch = draft.answer.reason
        why = "cannot end the run; every gate stays closed until the next prompt"
        # A halted agent is not kept going either.
        draft.swap("halt", "deny and a latch", why, verdict=Verdict.DENY, follow_up=())
        verdict = Verdict.DENY
    if verdict is Verdict.ASK and not row.can("ask"):
        draft.swap("ask", "deny", "cannot ask", verdict=Verdict.DENY)
        verdict = Verdict.DENY
    if verdict is Verdict.ALLOW and not row.can("allow"):
        draft.swap("allow", "pass", "cannot allow", verdict=Verdict.PASS, reason="")
    if verdict is Verdict.DENY and not row.can("deny"):
        _fit_deny(draft)


def _fit_deny(draft: _Draft) -> None:
    match draft.row.instead("deny"):
        case "halt":
            draft.swap("deny", "halt", "can only end the run", verdict=Verdict.HALT)
        case "feedback":
            draft.swap("deny", "feedback", "keeps the output; the reason stands beside it")
        case _:
            texts = (*draft.answer.notice, draft.answer.reason)
            why = "cannot be blocked; the reason reaches people only"
            draft.swap("deny", "notice", why, verdict=Verdict.PASS, reason="", notice=texts)


def _fit_rewrites(draft: _Draft, event: Event) -> None:
    """A rewrite that cannot be applied must not let the unchanged thing through."""
    keep: dict[str, Any] = {}
    for part, value in draft.answer.rewrite.parts().items():
        if draft.row.can(part):
            keep[part] = value
        elif draft.answer.verdict is Verdict.HALT:
            why = "ends the run instead"
            draft.swap(f"rewrite.{part}", "halt", why)
        elif draft.row.instead(part) == "deny":
            why = f"cannot rewrite {part}"
            reason = _instead(part, value, event)
            if draft.answer.verdict in BLOCKING:
                reason = f"{draft.answer.reason}\n{reason}"
            draft.swap(f"rewrite.{part}", "deny", why, verdict=Verdict.DENY, reason=reason)
        elif draft.row.instead(part) == "feedback":
            texts = (*draft.answer.context, _instead(part, value, event))
            draft.swap(f"rewrite.{part}", "context", f"cannot rewrite {part}", context=texts)
        else:
            texts = (*draft.answer.notice, f"{part} should have been rewritten, and was not")
            draft.swap(f"rewrite.{part}", "notice", f"cannot rewrite {part}", notice=texts)
    rewrite = Rewrite(**keep) if keep else NO_REWRITE
    draft.answer = replace(draft.answer, rewrite=rewrite)


def _instead(part: str, value: Any, event: Event) -> str:
    """What to tell the model in place of a rewrite it can carry out itself."""
    if part == "input" and isinstance(value, Mapping):
        changed = {key: inner for key, inner in value.items() if inner is not None}
        gone = [key for key, inner in value.items() if inner is None]
        if isinstance(event, ToolEvent) and set(value) == {"command"} and changed:
            return f"A hook wants another command here. Run this instead: {changed['command']}"
        use = f" Use these values instead: {_as_text(changed)}." if changed else ""
        drop = f" Leave these out: {', '.join(gone)}." if gone else ""
        return f"A hook wants another input here.{use}{drop}"
    if part == "env" and isinstance(value, Mapping):
        words = " ".join(f"{key}=…" for key in value)
        return f"A hook wants variables set for this command ({words}), which this agent cannot do."
    if part == "output":
        return f"A hook replaced the output by this: {value}"
    return f"A hook wants this {part} instead: {_as_text(value)}"


def _as_text(value: Any) -> str:
    """A value as people and models write it: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _fit_texts(draft: _Draft, outcome: Outcome, support: Support) -> None:
    """Context is capped and marked as data where it is not the config's own words."""
    answer, row = draft.answer, draft.row
    if answer.follow_up and not row.can("follow_up"):
        texts = (*answer.notice, *answer.follow_up)
        draft.swap("follow_up", "notice", "cannot keep going", follow_up=(), notice=texts)
        answer = draft.answer
    if answer.context and not row.can("context"):
        if row.instead("context") == "later":
            draft.later = answer.context
            why = "has no way to the model; a later event has one"
            draft.swap("context", "context of a later event", why, context=())
        elif row.instead("context") == "notice" or row.can("notice"):
            texts = (*answer.notice, *answer.context)
            draft.swap("context", "notice", "has no way to the model", context=(), notice=texts)
        else:
            draft.swap("context", "nothing", "has no way to the model", context=())
        answer = draft.answer
    if answer.notice and not row.can("notice"):
        draft.swap("notice", "nothing", "has no way to the person", notice=())
        answer = draft.answer
    own = _own_words(outcome)
    context, cut = for_model(answer.context, own, support.context_limit)
    if cut:
        why = f"passes on {support.context_limit:,} characters; {cut:,} were cut"
        draft.changes.append(Substitution("context", "shorter context", f"{draft.where} {why}"))
    reason = visible(answer.reason) if answer.verdict in BLOCKING else answer.reason
    notice = tuple(visible(text) for text in answer.notice)
    draft.answer = replace(answer, context=context, reason=reason, notice=notice)


def _own_words(outcome: Outcome) -> frozenset[str]:
    """Texts that stand in a config word for word, as opposed to what a program printed."""
    return frozenset(
        text
        for run in outcome.runs
        if run.hook.handler.kind == "rule"
        for text in _written(run.hook.handler.values.get("context"))
    )


def _written(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    return tuple(value) if isinstance(value, list | tuple) else ()
