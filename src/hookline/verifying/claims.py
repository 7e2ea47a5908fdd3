"""What the support table promises for a probe on this client, and how that is put into words."""

from collections.abc import Iterable

from msgspec import Struct

from hookline.model.support import EventSupport, Support

__all__ = ["LIMITS", "Limit", "Promise", "promise"]

# What is said instead and still keeps the thing from happening: that has to be seen too.
_PROTECTS = frozenset({"deny", "halt", "latch"})

_VERBS = {
    "allow": "allow it without asking",
    "ask": "ask the person",
    "deny": "block it",
    "halt": "end the run here",
    "context": "give this to the model",
    "follow_up": "keep going here",
    "input": "run another input",
    "output": "replace the output",
    "prompt": "replace the prompt",
    "summary": "replace the summary",
}
_INSTEAD = {
    "deny": "it is denied instead",
    "halt": "the run is ended instead",
    "latch": "this and all that follows is denied instead",
    "feedback": "the model is told the reason instead",
    "notice": "the person is told instead",
    "pass": "the client decides instead",
    "none": "nothing happens instead",
}


class Promise(Struct, frozen=True):
    """What hookline says it does on this client."""

    how: str
    """``yes``, or what is said instead."""
    cannot: str = ""
    """What the client cannot do, and what happens instead; empty when it can."""

    @property
    def can_be_seen(self) -> bool:
        """Whether keeping it has an effect in a session."""
        return self.how == "yes" or self.how in _PROTECTS


class Limit(Struct, frozen=True):
    """Something that is not tried in a session, and is named where a client cannot do it."""

    id: str
    title: str
    claim: tuple[str, str]


LIMITS = (
    Limit("allow", "an allow spares the person the question", ("pre_tool_use", "allow")),
    Limit(
        "prompt-rewrite",
        "a rewritten prompt is what the model sees",
        ("user_prompt_submit", "prompt"),
    ),
    Limit(
        "permission", "a permission request is answered by a hook", ("permission_request", "deny")
    ),
    Limit("sub-agent-start", "a sub-agent is not started", ("subagent_start", "deny")),
    Limit("sub-agent-stop", "a sub-agent is kept going", ("subagent_stop", "follow_up")),
    Limit("compaction", "a compaction is vetoed", ("pre_compact", "deny")),
)


def promise(claim: tuple[str, str], support: Support, installed: Iterable[str]) -> Promise:
    """What the table says of this event and cell, for the native events that are installed."""
    event, cell = claim
    rows = [row for row in support.events.values() if row.event == event]
    names = set(installed)
    used = [row for row in rows if row.native in names] or rows
    if not used:
        return Promise("none", f"{support.client} has no event for it: {_INSTEAD['none']}")
    how = _said(used, cell)
    if how == "yes":
        return Promise(how)
    return Promise(how, f"{support.client} cannot {_VERBS.get(cell, cell)}: {_INSTEAD[how]}")


def _said(rows: Iterable[EventSupport], cell: str) -> str:
    """As much as on the native event that can do least."""
    said = ["yes" if row.can(cell) else row.instead(cell) for row in rows]
    return next((each for each in said if each != "yes"), "yes")
