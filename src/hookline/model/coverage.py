"""What becomes of a hook on a platform, and if nothing does, why; pure, from its support table."""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.derivation import Coverage, find_carriers, find_coverage
from hookline.model.hook import Hook
from hookline.model.support import Support

__all__ = ["HookCoverage", "cover_hook"]

_WAYS: tuple[Literal["native", "derived", "none"], ...] = ("native", "derived", "none")
_EFFECTS = {"context": "text for the model", "output": "other output"}
_RANKS = {"yes": 0, "later": 1, "none": 3}


class HookCoverage(Struct, frozen=True, kw_only=True):
    """What becomes of one hook on one platform."""

    hook: str
    file: str
    line: int
    agent: str
    client: str
    fires: Literal["native", "derived", "itself", "none", "unmeant"]
    """On an event of the platform's own, on a derived one, run by the platform itself, never; or
    the hook's own condition is for other platforms."""
    events: Mapping[str, Coverage]
    effect: str = ""
    """How the platform says the one thing that the hook is for; empty when it is not about one."""
    why: str = ""
    """Why nothing comes of it; empty when something does."""
    lost: tuple[str, ...] = ()
    """Events that a person chose and that never fire here; of a builtin's own some suffice."""


def cover_hook(
    hook: Hook,
    support: Support,
    left_out: Mapping[str, str] = {},
    announced: Mapping[str, Sequence[str]] = {},
    active: Collection[str] | None = None,
    *,
    effect: str = "",
    all_of: Collection[str] = (),
) -> HookCoverage:
    """One hook on one platform; for ``left_out``, ``announced`` and ``active`` see find_coverage.

    ``effect`` is the cell of the support table that the hook is for. Those of its events that are
    in ``all_of`` have to fire; where none are, one event is enough.
    """
    is_its_own, is_builtin = support.id in hook.run_by, hook.handler.kind == "builtin"
    left_out = {} if is_its_own else left_out
    found = {e: find_coverage(e, support, left_out, announced, active) for e in hook.events}
    needed = {event: found[event] for event in all_of if event in found}
    choose, needed = (max, needed) if needed else (min, found)
    covered = HookCoverage(
        hook=hook.name,
        file=hook.source.file,
        line=hook.source.line,
        agent=support.id,
        client=support.client,
        fires=choose((each.how for each in needed.values()), key=_WAYS.index),
        events=found,
        lost=tuple(e for e, each in found.items() if not (each.fires or is_builtin)),
    )
    natives = [
        name
        for event, each in found.items()
        if each.fires
        for name in (each.by if is_its_own else find_carriers(event, each, support, left_out))
    ]
    can_hold = getattr(hook.match, "can_hold", lambda key, words: True)
    if not (can_hold("dialect", [support.id]) and (not natives or can_hold("native", natives))):
        return replace(covered, fires="unmeant")
    if is_its_own and covered.fires == "native":
        return replace(covered, fires="itself")
    if is_its_own or covered.fires == "none":
        lost = {event: each for event, each in needed.items() if each.how != "native"}
        whys = dict.fromkeys(each.why for each in lost.values() if not each.fires)
        why = "; ".join(whys) or f"has no event for {', '.join(lost)}"
        who = f"{support.client} runs this file itself, and " if is_its_own else ""
        return replace(covered, fires="none", why=who + why)
    if not effect:
        return covered
    # The best that is said on any event: that is where the hook does its work.
    said = [support.events[name].instead(effect) for name in natives]
    best = min(said, key=lambda each: _RANKS.get(each, 2), default="none")
    able = {row.event: row for row in support.events.values() if row.can(effect)}
    where = f"on {', '.join(hook.events)}, only on {', '.join(able)}" if able else "from any hook"
    why = f"{support.client} takes no {_EFFECTS[effect]} {where}" if best == "none" else ""
    return replace(covered, effect=best, why=why)
