"""Whether the latest of an agent's calls shows a loop: by calls and outcomes, never by words."""

from collections.abc import Sequence

from msgspec import Struct

from hookline.store.tool_calls import TrackedCall, Trait

__all__ = ["ALTERNATION", "COMPACTION", "FAILURE", "REPETITION", "Finding", "excuses", "find_loop"]

FAILURE = "failure"
REPETITION = "repetition"
ALTERNATION = "alternation"
COMPACTION = "compaction"

_ROUNDS = 3
_PERIODS = (2, 3)
_COMPACTIONS = 2
# A conversation that is as full as before but for so much was not relieved.
_RELIEF = 0.05


class Finding(Struct, frozen=True):
    """A loop: what repeats, and how often."""

    kind: str
    count: int
    calls: Sequence[TrackedCall]
    """All calls of the rounds that were counted, the latest last."""


def find_loop(calls: Sequence[TrackedCall], *, failures: int, repeats: int) -> Finding | None:
    """The loop that the last of these calls shows, if it shows one."""
    last = calls[-1]
    if last.traits & Trait.COMPACTS:
        return _find_compactions(calls)
    if last.traits & Trait.LOOKS:
        return None
    same = _list_same(calls)
    if last.traits & Trait.FAILED and len(same) >= failures:
        return Finding(FAILURE, len(same), same)
    # A call without a known outcome may have had another one each time.
    enough = repeats * 2 if last.traits & Trait.UNTOLD else repeats
    excuse = _last_excuse(calls)
    settled = [each for each in same if each.seq >= excuse]
    if len(settled) >= enough:
        return Finding(REPETITION, len(settled), settled)
    return None if last.traits & Trait.UNTOLD else _find_alternation(calls)


def _list_same(calls: Sequence[TrackedCall]) -> list[TrackedCall]:
    """The last call and those before it with the same outcome, back to where it had another."""
    last = calls[-1]
    same: list[TrackedCall] = []
    for each in reversed(calls):
        if each.call == last.call:
            if each.outcome != last.outcome:
                break
            same.append(each)
    return same[::-1]


def _last_excuse(calls: Sequence[TrackedCall]) -> int:
    """The last call after which a repetition is none: it waited, or changed something anew."""
    return max((each.seq for each in calls if _is_excuse(each.traits, Trait.CHANGES)), default=0)


def excuses(traits: Trait) -> bool:
    """Whether it makes sense to try a call again after one with these traits."""
    return _is_excuse(traits, Trait.CHANGES | Trait.MAY_CHANGE)


def _is_excuse(traits: Trait, changes: Trait) -> bool:
    return bool(traits & Trait.WAITS or (traits & Trait.NEW and traits & changes))


def _find_alternation(calls: Sequence[TrackedCall]) -> Finding | None:
    made = [each for each in calls if not each.traits & Trait.COMPACTS]
    for period in _PERIODS:
        tail = made[-period * _ROUNDS :]
        keys = [(each.call, each.outcome) for each in tail]
        if (
            len(tail) == period * _ROUNDS
            and len({*keys[:period]}) > 1
            and keys[period:] == keys[:-period]
            and not any(each.traits & Trait.WAITS for each in tail)
            and not all(each.traits & Trait.LOOKS for each in tail)
        ):
            return Finding(ALTERNATION, _count_rounds(made, period), tail)
    return None


def _count_rounds(made: Sequence[TrackedCall], period: int) -> int:
    """How often the last round was gone through, from the last to the first."""
    keys = [(each.call, each.outcome) for each in made]
    steps = 0
    while steps < len(keys) - period and keys[-1 - steps] == keys[-1 - steps - period]:
        steps += 1
    return (steps + period) // period


def _find_compactions(calls: Sequence[TrackedCall]) -> Finding | None:
    chain = [calls[-1]]
    worked = False
    for each in reversed(calls[:-1]):
        if not each.traits & Trait.COMPACTS:
            worked |= bool(each.traits & Trait.NEW)
            continue
        later = chain[-1]
        if each.tokens is not None and later.tokens is not None:
            relieved = later.tokens < each.tokens * (1 - _RELIEF)
        else:
            relieved = worked
        if relieved:
            break
        chain.append(each)
        worked = False
    return Finding(COMPACTION, len(chain), chain[::-1]) if len(chain) >= _COMPACTIONS else None
