"""From what is remembered to an answer: the first act that would be done again, and the words."""

from collections.abc import Iterator, Mapping, Sequence

from hookline.builtin.no_workarounds.doings import Deed, Doing
from hookline.builtin.no_workarounds.matching import same
from hookline.builtin.no_workarounds.remembering import doings
from hookline.model.answers import PASS, Answer, ask, context, deny
from hookline.model.denials import Denial, DeniedAct, call_digest
from hookline.model.events import ToolEvent
from hookline.model.ports import Caller

__all__ = ["answer"]

_INSTEAD = "Ask the user, or fix what it asked for and repeat the denied call unchanged."


def answer(event: ToolEvent, caller: Caller, held: Sequence[Denial], *, asks: bool) -> Answer:
    """What is said about a call in the light of what was denied before it."""
    call = call_digest(event)
    again = next((each for each in held if each.call == call), None)
    if again is not None:
        # Whoever denied it sees it again, and may know why it is fine now.
        text = f"This was denied before by `{again.hook}`: {again.reason}"
        return context(text) if event.takes_context else PASS
    mild: Answer | None = None
    held = [each for each in held if (event.tool.command or "").strip() not in each.advised]
    for denial, act, doing in _repeated(held, doings(event, caller)):
        said = _said(denial, act, doing, asks=asks)
        if doing.sure and not (denial.prompted and asks):
            return said
        mild = mild or said
    return mild or PASS


def _repeated(
    held: Sequence[Denial], found: Sequence[Doing]
) -> Iterator[tuple[Denial, DeniedAct, Doing]]:
    for denial in held:
        # The way that the hook itself named is no way round it.
        others = [each for each in found if not {*each.by} & {*denial.advised}]
        for act in denial.acts:
            doing = same(act, others)
            if doing is not None:
                yield denial, act, doing


def _said(denial: Denial, act: DeniedAct, doing: Doing, *, asks: bool) -> Answer:
    metadata = {
        "category": "workaround",
        "act": act.did,
        "target": act.target,
        "denied_by": denial.hook,
    }
    would = "This would" if doing.sure else "This may"
    if doing.did is Deed.UNREAD:
        would = "There is more to this than is read of one call, and it may"
    what = f"{would} {_VERBS.get(act.did, act.did)} `{act.target}`"
    before = f"which `{denial.hook}` denied before: {denial.reason.rstrip('.')}."
    if denial.prompted and asks:
        reason = f"{what}, {before} The user has written since, and may say if it is fine now."
        return ask(reason, metadata=metadata)
    reason = f"{what}, {before} {_INSTEAD}"
    return deny(reason, metadata=metadata) if doing.sure else ask(reason, metadata=metadata)


_VERBS: Mapping[str, str] = {Deed.EMPTY: "destroy what is in"}
