"""Remembers calls, warns at a loop, denies its calls, then halts.

A loop is found by calls and outcomes, never by words.
"""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from hookline.builtin.loop_guard import Options
from hookline.builtin.loop_guard.signatures import (
    read_output,
    seems_failed,
    sign_call,
    sign_outcome,
)
from hookline.builtin.loop_guard.traits import read_traits
from hookline.model.answers import PASS, Announcement, Answer, Verdict
from hookline.model.events import (
    Budget,
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    ToolEvent,
)
from hookline.model.memory import is_persons_prompt, tells_each_model_call
from hookline.model.ports import State
from hookline.model.tools import ToolKind
from hookline.store import tool_calls
from hookline.store.tool_calls import Actor, TrackedCall, Trait

__all__ = ["answer"]

_MARK = "Loop detected: "
_KINDS = {
    "failure": "identical failing {call} executed {times}.",
    "repetition": "identical {call} with the same result {times}.",
    "alternation": "the same calls with the same results, in turn, {times}.",
    "compaction": "conversation compacted {times} without relief.",
}

_ROUNDS = 3
_PERIODS = (2, 3)
_UNRELIEVED = 2
# A conversation that is as full as before but for so much was not relieved.
_RELIEF = 0.05
# A call that was denied so often and comes again ends the run; so does so much compaction.
_DENIALS = 2
_COMPACTIONS = 4


class Loop(NamedTuple):
    """What repeats, how often, and in how many seconds."""

    kind: str
    times: int
    seconds: float


def answer(event: Event, state: State, options: Options) -> Answer | Announcement:
    """The answer. Raises HooklineError when the state cannot be used."""
    actor = Actor.of(event.dialect, event.session_id, event.agent.id or event.agent.name)
    if is_persons_prompt(event) or (isinstance(event, SessionEnd) and not event.agent.depth):
        with state.write() as connection:
            tool_calls.forget_session(connection, actor.session)
    elif isinstance(event, PreCompact):
        if event.trigger != "manual" and not tells_each_model_call(event):
            return _judge_compaction(event, actor, state, options)
    elif isinstance(event, PreToolUse):
        return _judge_call(event, actor, state, options)
    elif isinstance(event, PostToolUse | PostToolUseFailure):
        return _judge_outcome(event, actor, state, options)
    return PASS


def _judge_call(
    event: PreToolUse, actor: Actor, state: State, options: Options
) -> Answer | Announcement:
    call, now = sign_call(event), event.time.timestamp()
    with state.read() as connection:
        if not tool_calls.was_made(connection, actor, call):
            return PASS
        known = tool_calls.list_calls(connection, actor)
        same = (each for each in known if each.call == call and not each.traits & Trait.DENIED)
        last = max(same, key=lambda each: each.seq, default=None)
        if last is None or abs(now - last.at) > options.minutes * 60:
            return PASS
        # Once more, with the outcome that it had.
        loop = _find_loop([*known, last._replace(seq=known[-1].seq + 1)], options, more=1)
        if loop is None:
            return PASS
        if any(map(_excuses, tool_calls.list_later_traits(connection, actor.session, last.seq))):
            return PASS
    denial = last._replace(at=now, traits=Trait.DENIED)
    with state.write() as connection:
        known = tool_calls.add_call(connection, actor, denial, event.id)
    denials = [each for each in known if each.call == call and each.seq > last.seq]
    halts = options.halt and len(denials) > _DENIALS
    return _say(loop, Verdict.HALT if halts else Verdict.DENY, event)


def _judge_outcome(
    event: PostToolUse | PostToolUseFailure, actor: Actor, state: State, options: Options
) -> Answer | Announcement:
    if isinstance(event, PostToolUseFailure) and event.interrupted:
        return PASS  # by the person
    tool, output, call = event.tool, read_output(event), sign_call(event)
    failed = isinstance(event, PostToolUseFailure) or tool.ok is False
    if tool.ok is None and output is not None and not failed:
        failed = seems_failed(tool, output)
    traits = read_traits(tool)
    if failed:
        traits |= Trait.FAILED
    elif output is None:
        traits |= Trait.UNTOLD
    made = TrackedCall(event.time.timestamp(), call, sign_outcome(output, failed=failed), traits)
    with state.write() as connection:
        if output is not None and _MARK in output[:200]:
            # Some clients tell of a call that was denied as of one that failed.
            known = tool_calls.list_calls(connection, actor)
            same = next((each for each in reversed(known) if each.call == call), None)
            if same is not None and same.traits & Trait.DENIED:
                return PASS
        calls = tool_calls.add_call(connection, actor, made, event.id)
    loop = _find_loop(calls, options)
    return PASS if loop is None else _say(loop, Verdict.PASS, event)


def _judge_compaction(
    event: PreCompact, actor: Actor, state: State, options: Options
) -> Answer | Announcement:
    now, fullness = event.time.timestamp(), _read_fullness(event)
    with state.write() as connection:
        calls = tool_calls.add_call(
            connection, actor, TrackedCall(now, b"", b"", Trait.COMPACTS, fullness), event.id
        )
    loop = _find_loop(calls, options)
    if loop is None:
        return PASS
    halts = options.halt and loop.times >= _COMPACTIONS
    return _say(loop, Verdict.HALT if halts else Verdict.PASS, event)


def _read_fullness(event: PreCompact) -> int | None:
    """How full the conversation is: in thousandths of the window, else in tokens."""
    budget = event.budget or Budget()
    used = budget.used_tokens if event.input_tokens is None else event.input_tokens
    window = event.context_limit or budget.effective_limit
    return used * 1000 // window if used is not None and window else used


def _say(loop: Loop, verdict: Verdict, event: Event) -> Announcement:
    minutes = max(1, ceil(loop.seconds / 60))
    times = f"{loop.times} times in {minutes} minute{'s' if minutes > 1 else ''}"
    is_shell = isinstance(event, ToolEvent) and event.tool.kind is ToolKind.SHELL
    call = "command" if is_shell else "call"
    what = _KINDS[loop.kind].format(call=call, times=times)
    text = f"{_MARK}{what} Change strategy, or ask the user."
    if verdict >= Verdict.DENY:
        answer = Answer(verdict=verdict, reason=text, metadata={"category": "loop"})
    else:
        answer = Answer(context=(text,), notice=(text,))
    told = {"kind": loop.kind, "message": text, "count": loop.times, "minutes": minutes}
    return Announcement(answer, {"loop_detected": told})


# ── what is a loop ──


def _find_loop(calls: Sequence[TrackedCall], options: Options, more: int = 0) -> Loop | None:
    """The loop that the last of these calls shows, with so many calls more than make one.

    Within the minutes before it; a clock that was put back makes none older.
    """
    if not calls:
        return None
    last = calls[-1]
    calls = [each for each in calls if abs(last.at - each.at) <= options.minutes * 60]
    if last.traits & Trait.COMPACTS:
        return _find_compactions(calls)
    if last.traits & Trait.LOOKS:
        return None
    same = _list_same([each for each in calls if not each.traits & Trait.DENIED])
    if last.traits & Trait.FAILED and len(same) >= options.failures + more:
        return _describe("failure", len(same) - more, same)
    excuse = max((each.seq for each in calls if _excuses(each.traits)), default=0)
    settled = [each for each in same if each.seq >= excuse]
    # A call without a known outcome may have had another one each time.
    untold = bool(last.traits & Trait.UNTOLD)
    if len(settled) >= options.repeats * (1 + untold) + more:
        return _describe("repetition", len(settled) - more, settled)
    return None if untold else _find_alternation(calls, more)


def _excuses(traits: int) -> bool:
    """Whether it makes sense to repeat a call after this one, which waited or did something new.

    After a compaction the model does not know what the call said.
    """
    return bool(
        traits & (Trait.WAITS | Trait.COMPACTS) or (traits & Trait.NEW and traits & Trait.CHANGES)
    )


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
    keys = [(each.call, each.outcome) for each in calls]
    for period in _PERIODS:
        length = period * _ROUNDS + more
        tail = keys[-length:]
        if (
            len(tail) == length
            and len({*tail[:period]}) > 1
            and tail[period:] == tail[:-period]
            and not any(each.traits & Trait.WAITS for each in calls[-length:])
        ):
            while len(keys) > length and keys[-length - 1] == keys[-length - 1 + period]:
                length += 1
            rounds = [each for each in calls[-length:] if not each.traits & Trait.DENIED]
            return _describe("alternation", len(rounds) // period, rounds)
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
    return _describe("compaction", len(chain), chain) if len(chain) >= _UNRELIEVED else None
