"""Many answers into one. Pure: values in, values out, nothing depends on who finished first."""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from hookline.model.answers import NO_REWRITE, PASS, Answer, Rewrite, Verdict
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import Event, ToolEvent
from hookline.model.outcome import Run, Substitution
from hookline.model.tools import ToolKind

__all__ = ["disagreements", "drop_overwritten", "find_news", "fit", "fit_beside", "merge"]

# Pass is the identity: it says nothing. Allow is a grant, and outvoted by any ask, deny or halt.
_WEIGHT = {
    Verdict.PASS: 0,
    Verdict.ALLOW: 1,
    Verdict.ASK: 2,
    Verdict.DENY: 3,
    Verdict.HALT: 4,
}


def merge(answers: Iterable[Answer]) -> Answer:
    """The one answer that all of them together give, in configured order."""
    said = [answer for answer in answers if answer is not PASS]
    if len(said) < 2:
        return said[0] if said else PASS
    verdict = max((answer.verdict for answer in said), key=_WEIGHT.__getitem__)
    metadata: dict[str, Any] = {}
    for answer in said:
        metadata.update(answer.metadata)
    return Answer(
        verdict=verdict,
        reason="\n".join(a.reason for a in said if a.verdict is verdict and a.reason),
        context=tuple(text for answer in said for text in answer.context),
        notice=tuple(text for answer in said for text in answer.notice),
        rewrite=_merge_rewrites([answer.rewrite for answer in said]),
        follow_up=tuple(text for answer in said for text in answer.follow_up),
        metadata=metadata,
    )


def _merge_rewrites(rewrites: Sequence[Rewrite]) -> Rewrite:
    parts: dict[str, Any] = {}
    for rewrite in rewrites:
        for name, value in rewrite.parts().items():
            laid_over = name in {"input", "env"} and name in parts
            parts[name] = {**parts[name], **value} if laid_over else value
    return Rewrite(**parts) if parts else NO_REWRITE


def disagreements(rewrites: Sequence[tuple[str, Rewrite]]) -> list[Substitution]:
    """One record for each key on which two hooks of one tier want different things."""
    found: list[Substitution] = []
    wanted: dict[tuple[str, ...], tuple[str, object]] = {}
    for hook, rewrite in rewrites:
        for key, value in _leaves(rewrite):
            other, their_value = wanted.get(key, (hook, value))
            if their_value != value:
                name = ".".join(key)
                found.append(
                    Substitution(
                        f"rewrite of {name} by `{other}`",
                        f"rewrite of {name} by `{hook}`",
                        "both have the same priority; the one configured later counts",
                    )
                )
            wanted[key] = (hook, value)
    return found


def _leaves(rewrite: Rewrite) -> list[tuple[tuple[str, ...], object]]:
    leaves: list[tuple[tuple[str, ...], object]] = []
    for part, value in rewrite.parts().items():
        if isinstance(value, dict):
            leaves += [((part, key), inner) for key, inner in value.items()]
        else:
            leaves.append(((part,), value))
    return leaves


def fit(answer: Answer, event: Event) -> tuple[Answer, list[Substitution]]:
    """``answer`` as far as this event can take it, and what had to be said otherwise.

    Raises HandlerAnswerError for a rewrite that has no meaning on this event: dropping it
    would let through what the hook wanted changed.
    """
    _check_rewrite(answer.rewrite, event)
    if answer.verdict is Verdict.PASS and not answer.follow_up:
        return answer, []
    changed: list[Substitution] = []
    answer = _fit_verdict(answer, event, changed)
    if answer.follow_up and not event.continues:
        answer = _as_text(answer, answer.follow_up, event, "follow_up", changed)
        answer = replace(answer, follow_up=())
    return answer, changed


def fit_beside(answer: Answer, event: Event, changed: list[Substitution]) -> Answer:
    """What was said of a derived event, as far as the event that it goes out with can take it."""
    if answer.verdict is Verdict.DENY and event.continues:
        # Here a deny would keep the agent going, and this one was to hold it back.
        answer = _as_text(answer, (answer.reason,), event, "deny", changed)
        return replace(answer, verdict=Verdict.PASS, reason="")
    return _fit_verdict(answer, event, changed)


def _check_rewrite(rewrite: Rewrite, event: Event) -> None:
    if rewrite is NO_REWRITE:
        return
    for part in rewrite.parts():
        where = event.event_id()
        if part not in event.rewrites:
            able = ", ".join(sorted(event.rewrites)) or "nothing"
            raise HandlerAnswerError(
                f"`rewrite.{part}` has no meaning on `{where}`, where {able} can be rewritten"
            )
        shell = isinstance(event, ToolEvent) and event.tool.kind is ToolKind.SHELL
        if part == "env" and isinstance(event, ToolEvent) and not shell:
            raise HandlerAnswerError("`rewrite.env` has a meaning for shell tools only")


def _fit_verdict(answer: Answer, event: Event, changed: list[Substitution]) -> Answer:
    """Law 4: which verdict where."""
    where = event.event_id()
    deniable = (event.gate or event.hides) and not event.continues
    match answer.verdict:
        case Verdict.ALLOW if not event.allows:
            changed.append(Substitution("allow", "pass", f"there is nothing to allow on {where}"))
            return replace(answer, verdict=Verdict.PASS, reason="")
        case Verdict.DENY if event.continues:
            texts = (answer.reason, *answer.follow_up)
            return replace(answer, verdict=Verdict.PASS, reason="", follow_up=texts)
        case Verdict.ASK if not event.asks and deniable:
            # Nobody can be asked here, and letting it through would weaken the verdict.
            changed.append(Substitution("ask", "deny", f"nobody can be asked on {where}"))
            return replace(answer, verdict=Verdict.DENY)
        case (Verdict.ASK | Verdict.DENY) as verdict if not deniable:
            answer = _as_text(answer, (answer.reason,), event, verdict.value, changed)
            return replace(answer, verdict=Verdict.PASS, reason="")
        case _:
            return answer


def _as_text(
    answer: Answer, texts: tuple[str, ...], event: Event, was: str, changed: list[Substitution]
) -> Answer:
    """The nearest an event that cannot be blocked comes: the words still reach somebody."""
    why = f"{event.event_id()} cannot take it"
    if event.takes_context:
        changed.append(Substitution(was, "context", why))
        return replace(answer, context=(*answer.context, *texts))
    changed.append(Substitution(was, "notice", why))
    return replace(answer, notice=(*answer.notice, *texts))


def find_news(answer: Answer, earlier: Answer) -> Answer:
    """What a second judgement adds to the first one of the same hook."""
    if answer is PASS:
        return PASS
    fields: dict[str, Any] = {
        "context": tuple(text for text in answer.context if text not in earlier.context),
        "notice": tuple(text for text in answer.notice if text not in earlier.notice),
    }
    # The first allow was for another input, so this one is news.
    said_before = (answer.verdict, answer.reason) == (earlier.verdict, earlier.reason)
    if said_before and answer.verdict is not Verdict.ALLOW:
        fields |= {"verdict": Verdict.PASS, "reason": ""}
    return replace(answer, **fields)


def drop_overwritten(said: Sequence[tuple[Run, Answer]]) -> list[tuple[Run, Answer]]:
    """The answers without context that a later hook overwrites; never that of a higher layer."""
    kept = list(said)
    for place, (run, answer) in enumerate(said):
        if answer.overwrite_context:
            layer = run.hook.source.layer
            kept[:place] = [
                (each, replace(old, context=()) if each.hook.source.layer >= layer else old)
                for each, old in kept[:place]
            ]
    return kept
