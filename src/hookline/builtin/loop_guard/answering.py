"""What is said to an event: remembers calls, warns at a loop, denies its calls, then halts."""

from collections.abc import Sequence
from math import ceil

from msgspec.structs import replace

from hookline.builtin._paths import Names
from hookline.builtin.loop_guard import Options
from hookline.builtin.loop_guard.detecting import (
    ALTERNATION,
    COMPACTION,
    FAILURE,
    Finding,
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
    UserPromptSubmit,
)
from hookline.model.memory import is_persons_prompt
from hookline.model.ports import State
from hookline.model.tools import ToolKind
from hookline.store import tool_calls
from hookline.store.tool_calls import Actor, DetectedLoop, TrackedCall, Trait

__all__ = ["answer"]

_NO_CALL = b""
_MARK = "Loop detected: "
_ADVICE = "Change strategy, or ask the user."
# A call that was denied so often and comes again ends the run; so does so much compaction.
_DENIALS = 2
_COMPACTIONS = 4


def answer(event: Event, state: State, options: Options) -> Answer | Announcement:
    """The answer. Raises HooklineError when the state cannot be used."""
    actor = Actor.of(event.dialect, event.session_id, event.agent.id or event.agent.name)
    match event:
        case SessionEnd():
            _start_anew(state, actor)
        case UserPromptSubmit() if is_persons_prompt(event):
            _start_anew(state, actor)
        case PreToolUse() if not _is_ignored(event, options):
            return _judge_call(event, actor, state, options)
        case PostToolUse() | PostToolUseFailure() if not _is_ignored(event, options):
            return _judge_outcome(event, actor, state, options)
        case PreCompact() if event.trigger != "manual":
            return _judge_compaction(event, actor, state, options)
    return PASS


def _is_ignored(event: ToolEvent, options: Options) -> bool:
    if not options.ignore:
        return False
    named = Names(options.ignore)
    return named(event.tool.name) or named(" ".join((event.tool.command or "").split()))


def _start_anew(state: State, actor: Actor) -> None:
    with state.write() as connection:
        tool_calls.forget_session(connection, actor.session)


def _judge_call(
    event: PreToolUse, actor: Actor, state: State, options: Options
) -> Answer | Announcement:
    call, now = sign_call(event), event.time.timestamp()
    with state.read() as connection:
        if tool_calls.find_loop(connection, actor, call) is None:
            return PASS
    with state.write() as connection:
        loop = tool_calls.find_loop(connection, actor, call)
        if loop is None:
            return PASS
        if abs(now - loop.last) > options.minutes * 60:
            tool_calls.forget_loops(connection, actor, loop.seq)
            return PASS
        if any(map(excuses, tool_calls.list_traits(connection, actor, after=loop.seq))):
            return PASS
        loop = replace(loop, denied=loop.denied + 1)
        tool_calls.keep_loops(connection, actor, [loop])
    halts = options.halt and loop.denied > _DENIALS
    return _say(loop, Verdict.HALT if halts else Verdict.DENY, event, options)


def _judge_outcome(
    event: PostToolUse | PostToolUseFailure, actor: Actor, state: State, options: Options
) -> Answer | Announcement:
    if isinstance(event, PostToolUseFailure) and event.interrupted:
        return PASS  # by the person
    output = read_output(event)
    call = _track_call(event, output)
    with state.write() as connection:
        known = tool_calls.find_loop(connection, actor, call.call)
        if known is not None and known.denied and output is not None and _MARK in output[:200]:
            return PASS  # some clients tell of a call that was denied as of one that failed
        if known is not None and known.outcome != call.outcome:
            tool_calls.forget_loops(connection, actor, known.seq)
        made = tool_calls.add_call(connection, actor, call, event.id, _window(options))
        finding = _find_loop(made, options)
        if finding is None:
            return PASS
        loops = _make_loops(finding)
        tool_calls.keep_loops(connection, actor, loops)
    return _say(loops[-1], Verdict.PASS, event, options)


def _judge_compaction(
    event: PreCompact, actor: Actor, state: State, options: Options
) -> Answer | Announcement:
    call = TrackedCall(
        at=event.time.timestamp(),
        call=_NO_CALL,
        outcome=_NO_CALL,
        traits=Trait.COMPACTS,
        tokens=_read_fullness(event),
    )
    with state.write() as connection:
        made = tool_calls.add_call(connection, actor, call, event.id, _window(options))
    finding = _find_loop(made, options)
    if finding is None:
        return PASS
    halts = options.halt and finding.count >= _COMPACTIONS
    (loop,) = _make_loops(finding)
    return _say(loop, Verdict.HALT if halts else Verdict.PASS, event, options)


def _read_fullness(event: PreCompact) -> int | None:
    """How full the conversation is: in thousandths of the window, else in tokens."""
    budget = event.budget or Budget()
    used = budget.used_tokens if event.input_tokens is None else event.input_tokens
    window = event.context_limit or budget.effective_limit
    return used * 1000 // window if used is not None and window else used


def _find_loop(made: Sequence[TrackedCall], options: Options) -> Finding | None:
    if not made:
        return None
    return find_loop(made, failures=options.failures, repeats=options.repeats)


def _window(options: Options) -> float:
    return options.minutes * 60


def _track_call(event: PostToolUse | PostToolUseFailure, output: str | None) -> TrackedCall:
    tool = event.tool
    failed = isinstance(event, PostToolUseFailure) or tool.ok is False
    if tool.ok is None and output is not None and not failed:
        failed = seems_failed(tool, output)
    traits = read_traits(tool)
    traits |= Trait.FAILED if failed else Trait(0)
    traits |= Trait.UNTOLD if output is None and not failed else Trait(0)
    return TrackedCall(
        at=event.time.timestamp(),
        call=sign_call(event),
        outcome=sign_outcome(output, failed=failed),
        traits=traits,
    )


def _make_loops(finding: Finding) -> list[DetectedLoop]:
    """One for each call that takes part."""
    first, last = finding.calls[0], finding.calls[-1]
    outcomes = {each.call: each.outcome for each in finding.calls}
    return [
        DetectedLoop(
            call=call,
            outcome=outcome,
            kind=finding.kind,
            count=finding.count,
            first=first.at,
            last=last.at,
            seq=last.seq,
        )
        for call, outcome in outcomes.items()
    ]


def _say(loop: DetectedLoop, verdict: Verdict, event: Event, options: Options) -> Announcement:
    minutes = max(1, min(ceil(abs(loop.last - loop.first) / 60), ceil(options.minutes)))
    within = f"in {minutes} minute{'s' if minutes > 1 else ''}"
    is_shell = isinstance(event, ToolEvent) and event.tool.kind is ToolKind.SHELL
    call = "command" if is_shell else "call"
    times = f"{loop.count} times {within}"
    what = {
        FAILURE: f"identical failing {call} executed {times}.",
        ALTERNATION: f"the same calls with the same results, in turn, {times}.",
        COMPACTION: f"conversation compacted {times} without relief.",
    }.get(loop.kind, f"identical {call} with the same result {times}.")
    text = f"{_MARK}{what} {_ADVICE}"
    said = {"kind": loop.kind, "message": text, "count": loop.count, "minutes": minutes}
    if verdict >= Verdict.DENY:
        answer = Answer(verdict=verdict, reason=text, metadata={"category": "loop"})
    else:
        answer = Answer(context=(text,), notice=(text,))
    return Announcement(answer, {"loop_detected": said})
