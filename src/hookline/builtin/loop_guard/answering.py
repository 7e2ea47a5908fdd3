"""What is said to an event: remembers calls, warns at a loop, denies its calls, then halts."""

from collections.abc import Sequence
from math import ceil

from hookline.builtin._paths import Names
from hookline.builtin.loop_guard import Options
from hookline.builtin.loop_guard.detecting import (
    ALTERNATION,
    COMPACTION,
    FAILURE,
    Loop,
    excuses,
    find_loop,
)
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
# A call that was denied so often and comes again ends the run; so does so much compaction.
_DENIALS = 2
_COMPACTIONS = 4


def answer(event: Event, state: State, options: Options) -> Answer | Announcement:
    """The answer. Raises HooklineError when the state cannot be used."""
    actor = Actor.of(event.dialect, event.session_id, event.agent.id or event.agent.name)
    if is_persons_prompt(event) or (isinstance(event, SessionEnd) and not event.agent.depth):
        with state.write() as connection:
            tool_calls.forget_session(connection, actor.session)
    elif isinstance(event, PreCompact):
        if event.trigger != "manual" and not tells_each_model_call(event):
            return _judge_compaction(event, actor, state, options)
    elif isinstance(event, ToolEvent) and not _is_ignored(event, options):
        if isinstance(event, PreToolUse):
            return _judge_call(event, actor, state, options)
        if isinstance(event, PostToolUse | PostToolUseFailure):
            return _judge_outcome(event, actor, state, options)
    return PASS


def _is_ignored(event: ToolEvent, options: Options) -> bool:
    if not options.ignore:
        return False
    named = Names(options.ignore)
    return named(event.tool.name) or named(" ".join((event.tool.command or "").split()))


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
        if any(map(excuses, tool_calls.list_later_traits(connection, actor.session, last.seq))):
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


def _find_loop(calls: Sequence[TrackedCall], options: Options, more: int = 0) -> Loop | None:
    """Within the minutes before the last call; a clock that was put back makes none older."""
    recent = [each for each in calls if abs(calls[-1].at - each.at) <= options.minutes * 60]
    if not recent:
        return None
    return find_loop(recent, failures=options.failures, repeats=options.repeats, more=more)


def _say(loop: Loop, verdict: Verdict, event: Event) -> Announcement:
    minutes = max(1, ceil(loop.seconds / 60))
    times = f"{loop.times} times in {minutes} minute{'s' if minutes > 1 else ''}"
    is_shell = isinstance(event, ToolEvent) and event.tool.kind is ToolKind.SHELL
    call = "command" if is_shell else "call"
    what = {
        FAILURE: f"identical failing {call} executed {times}.",
        ALTERNATION: f"the same calls with the same results, in turn, {times}.",
        COMPACTION: f"conversation compacted {times} without relief.",
    }.get(loop.kind, f"identical {call} with the same result {times}.")
    text = f"{_MARK}{what} Change strategy, or ask the user."
    if verdict >= Verdict.DENY:
        answer = Answer(verdict=verdict, reason=text, metadata={"category": "loop"})
    else:
        answer = Answer(context=(text,), notice=(text,))
    told = {"kind": loop.kind, "message": text, "count": loop.times, "minutes": minutes}
    return Announcement(answer, {"loop_detected": told})
