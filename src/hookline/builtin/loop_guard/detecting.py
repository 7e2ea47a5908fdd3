"""Whether the latest of an agent's calls shows a loop: by calls and outcomes, never by words."""

from collections.abc import Sequence
from typing import NamedTuple

from hookline.store.tool_calls import TrackedCall, Trait

__all__ = ["ALTERNATION", "COMPACTION", "FAILURE", "REPETITION", "Loop", "excuses", "find_loop"]

FAILURE = "failure"
REPETITION = "repetition"
ALTERNATION = "alternation"
COMPACTION = "compaction"

_ROUNDS = 3
_PERIODS = (2, 3)
_COMPACTIONS = 2
# A conversation that is as full as before but for so much was not relieved.
_RELIEF = 0.05


class Loop(NamedTuple):
    """What repeats, how often, and in how many seconds."""

    kind: str
    times: int
    seconds: float


def find_loop(
    calls: Sequence[TrackedCall], *, failures: int, repeats: int, more: int = 0
) -> Loop | None:
    """The loop that the last of these calls shows, with so many calls more than make one."""
    last = calls[-1]
    if last.traits & Trait.COMPACTS:
        return _find_compactions(calls)
    if last.traits & Trait.LOOKS:
        return None
    made = [each for each in calls if not each.traits & (Trait.COMPACTS | Trait.DENIED)]
    same = _list_same(made)
    if last.traits & Trait.FAILED and len(same) >= failures + more:
        return _describe(FAILURE, len(same) - more, same)
    excuse = max((each.seq for each in made if excuses(each.traits)), default=0)
    settled = [each for each in same if each.seq >= excuse]
    # A call without a known outcome may have had another one each time.
    untold = bool(last.traits & Trait.UNTOLD)
    if len(settled) >= repeats * (1 + untold) + more:
        return _describe(REPETITION, len(settled) - more, settled)
    return None if untold else _find_alternation(calls, more)


def excuses(traits: int) -> bool:
    """Whether a call may have another outcome after this one: it waited, or did something new."""
    return bool(traits & Trait.WAITS or (traits & Trait.NEW and traits & Trait.CHANGES))


def _describe(kind: str, times: int, calls: Sequence[TrackedCall]) -> Loop:
    return Loop(kind, times, abs(calls[-1].at - calls[0].at))


def _list_same(calls: Sequence[TrackedCall]) -> Sequence[TrackedCall]:
    """The last call and those before it with the same outcome, back to where it had another."""
    last = calls[-1]
    same: list[TrackedCall] = []
    for each in reversed(calls):
        if each.call == last.call:
            if each.outcome != last.outcome:
                break
            same.append(each)
    return same[::-1]


def _find_alternation(calls: Sequence[TrackedCall], more: int) -> Loop | None:
    """Rounds go on through calls that were denied."""
    made = [each for each in calls if not each.traits & Trait.COMPACTS]
    keys = [(each.call, each.outcome) for each in made]
    for period in _PERIODS:
        length = period * _ROUNDS + more
        tail = keys[-length:]
        if (
            len(tail) == length
            and len({*tail[:period]}) > 1
            and tail[period:] == tail[:-period]
            and not any(each.traits & Trait.WAITS for each in made[-length:])
        ):
            while len(keys) > length and keys[-length - 1] == keys[-length - 1 + period]:
                length += 1
            rounds = [each for each in made[-length:] if not each.traits & Trait.DENIED]
            return _describe(ALTERNATION, len(rounds) // period, rounds)
    return None


def _find_compactions(calls: Sequence[TrackedCall]) -> Loop | None:
    chain = [calls[-1]]
    worked = False
    for each in reversed(calls[:-1]):
        if not each.traits & Trait.COMPACTS:
            worked |= bool(each.traits & Trait.NEW)
            continue
        later = chain[0]
        if each.tokens is not None and later.tokens is not None:
            relieved = later.tokens < each.tokens * (1 - _RELIEF)
        else:
            relieved = worked
        if relieved:
            break
        chain.insert(0, each)
        worked = False
    return _describe(COMPACTION, len(chain), chain) if len(chain) >= _COMPACTIONS else None
