"""Which event of one platform stands for which of another, and what can be said there.

Everything follows from the support tables and from which moments each platform's files cover.
"""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from hookline.converting.platforms import Platform
from hookline.converting.report import Finding, kept, lost, replaced
from hookline.model.answers import Verdict
from hookline.model.errors import HandlerError
from hookline.model.events import EVENTS
from hookline.model.support import CELLS, EventSupport

__all__ = [
    "Target",
    "blocks",
    "cell_findings",
    "event_finding",
    "no_event",
    "targets",
    "two_denies",
]

_VERDICTS = {"allow", "ask", "deny", "halt"}
# Another moment that comes no later, and before what the hook is there to prevent.
_NEAREST: Mapping[str, str] = {
    "permission_request": "pre_tool_use",
    "steering_submit": "user_prompt_submit",
    "follow_up_submit": "user_prompt_submit",
    "before_compaction": "pre_compact",
    "tool_response_transform": "post_tool_use",
}
_STRICT = {
    "deny": frozenset({"yes", "halt"}),
    "output": frozenset({"yes", "deny"}),
}


class Target(Struct, frozen=True):
    """An event of the new platform for an event of the old one."""

    native: str
    row: EventSupport
    near: bool = False
    """It is not the same moment, but one at least as early and as strict."""


def targets(native: str, origin: Platform, target: Platform) -> tuple[Target, ...]:
    """Every event of ``target`` at which a hook for ``native`` has to be asked; or none."""
    row = origin.dialect.support.find(native)
    if row is None or row.event == "other":
        return ()
    first, *also = (row.event, *origin.rules.canonical(native))
    rows = target.dialect.support.events
    name = target.native_for(first)
    if name:
        # What is one event on the old platform may be several on the new one.
        names = dict.fromkeys([name, *filter(None, map(target.native_for, also))])
        lanes = [lane for each in names for lane in target.writer.lanes(each)]
        return tuple(Target(lane, rows[lane]) for lane in lanes)
    near = target.native_for(_NEAREST.get(first, ""))
    if near and _is_as_strict(row, rows[near]):
        return tuple(Target(lane, rows[lane], near=True) for lane in target.writer.lanes(near))
    return ()


def _is_as_strict(was: EventSupport, now: EventSupport) -> bool:
    return all(
        now.cells.get(cell, "none") in enough for cell, enough in _STRICT.items() if was.can(cell)
    )


def blocks(row: EventSupport) -> bool:
    """Whether a hook can hold something back at this event."""
    cls = EVENTS[row.event]
    deny = row.cells.get("deny", "none")
    return cls.gate and not cls.continues and deny in _STRICT["deny"]


def two_denies(native: str, target: Platform) -> bool:
    """Whether a hook that ends with exit code 2 and a reason holds the event back."""
    cls = EVENTS[target.dialect.support.events[native].event]
    event = cls(dialect=target.dialect.id, native_event=native)
    try:
        said = target.dialect.read_answer(event, stdout=b"", stderr=b"no", exit_code=2)
    except HandlerError:
        return False
    return said.verdict >= Verdict.DENY


def event_finding(native: str, found: Target, origin: Platform, target: Platform) -> Finding:
    """What became of the event itself."""
    if not found.near:
        return kept("event", native, found.native, on=found.native)
    row = origin.dialect.support.events[native]
    why = f"{target.client} has no {row.event}; this comes no later, and is as strict"
    return replaced("event", native, found.native, why, on=found.native)


def no_event(native: str, origin: Platform, target: Platform) -> Finding:
    """Why there is no event for a hook."""
    row = origin.dialect.support.find(native)
    what = f"{row.event}" if row is not None and row.event != "other" else f"`{native}`"
    why = f"{target.client} has no event for {what}, and none that is as early and as strict"
    return lost("event", native, why)


def cell_findings(was: EventSupport, now: EventSupport, client: str) -> Iterator[Finding]:
    """What a program may answer on the old event, and what that is on the new one."""
    for cell in CELLS:
        if not was.can(cell):
            continue
        name = f"verdict.{cell}" if cell in _VERDICTS else f"effect.{cell}"
        instead = now.instead(cell)
        why = f"{client} cannot take `{cell}` on {now.native}"
        if now.can(cell):
            yield kept(name, cell, on=now.native)
        elif instead == "none":
            yield lost(name, cell, why, on=now.native)
        else:
            yield replaced(name, cell, instead, why, on=now.native)
