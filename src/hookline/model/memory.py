"""What one session has to remember between its events, and the rules for it. Pure values."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hookline.model.answers import Verdict, deny
from hookline.model.denials import (
    Denial,
    after_prompt,
    call_digest,
    with_denial,
    without_call,
)
from hookline.model.events import (
    CompactionEvent,
    Event,
    InstructionsLoaded,
    SessionResume,
    SessionStart,
    Setup,
    ToolEvent,
    UserPromptSubmit,
)
from hookline.model.hook import OnError
from hookline.model.outcome import Outcome

__all__ = [
    "MAX_FOLLOW_UPS",
    "SessionMemory",
    "add_failures",
    "capped",
    "carry",
    "closed",
    "combined",
    "is_own_follow_up",
    "is_persons_prompt",
    "latched",
    "on_event",
    "taught",
    "tells_each_model_call",
]

MAX_FOLLOW_UPS = 8
_MAX_CARRIED = 4
_MAX_LATER = 32
_CARRIED_LENGTH = 200
T = TypeVar("T")
_BEFORE_PROMPTS = (SessionStart, SessionResume, Setup, InstructionsLoaded)


class SessionMemory(Struct, frozen=True, kw_only=True):
    """A latch that holds every gate closed, how often each agent was kept going, and denials."""

    latch: str = ""
    holds_prompt: bool = False
    """Whether the latch holds the next prompt back as well, before the one after it opens it."""
    follow_ups: Mapping[str, int] = {}
    last_follow_up: str = ""
    counted: str = ""
    """The id of the event that was counted last: asked about once more, it counts once."""
    denials: tuple[Denial, ...] = ()
    carried: tuple[str, ...] = ()
    """What the model hears later: failures of hooks, and context that no event could carry yet."""
    untold: tuple[str, ...] = ()
    """Notices that the next event which can show them brings to the person."""
    compacting: tuple[str, ...] = ()
    """Agents whose conversation is being compacted, where nothing tells that it is done."""
    over: bool = False
    """Whether the session was taken to be over, and has not spoken since."""


def is_persons_prompt(event: Event) -> bool:
    """Whether a person wrote this prompt, and not an agent or the client itself."""
    return isinstance(event, UserPromptSubmit) and not (event.agent.depth or event.automatic)


def tells_each_model_call(event: CompactionEvent) -> bool:
    """Whether Gemini CLI says so: before each call to its model, whether or not it compacts."""
    return event.dialect == "gemini"


def is_own_follow_up(memory: SessionMemory, event: UserPromptSubmit) -> bool:
    """Whether this prompt is what a hook said to go on with, as clients pass it on."""
    return bool(memory.last_follow_up) and memory.last_follow_up in event.prompt


def on_event(memory: SessionMemory, event: Event, *, has_stop_flag: bool) -> SessionMemory:
    """The memory as it is when this event arrives."""
    if isinstance(event, UserPromptSubmit):
        if not is_persons_prompt(event):
            return memory
        if is_own_follow_up(memory, event):
            return memory
        if memory.latch and memory.holds_prompt:
            return replace(memory, holds_prompt=False)
        denials = after_prompt(memory.denials) if memory.denials else ()
        memory = replace(memory, latch="", last_follow_up="", denials=denials)
        return memory if has_stop_flag else replace(memory, follow_ups={})
    if not event.continues or not has_stop_flag or getattr(event, "stop_hook_active", False):
        return memory
    agent = _agent(event)
    if memory.follow_ups.get(agent):
        return replace(memory, follow_ups={**memory.follow_ups, agent: 0})
    return memory


def latched(memory: SessionMemory, event: Event) -> Outcome | None:
    """The answer of a session that was halted, where the platform could not end it itself."""
    if not memory.latch or not event.gate or event.continues:
        return None
    return Outcome(event=event, answer=deny(memory.latch))


def closed(memory: SessionMemory, event: Event, latch: str) -> SessionMemory:
    """The memory of a session that ``event`` has halted.

    What comes before the first prompt cannot be undone by it: nobody has read the reason yet.
    """
    return replace(memory, latch=latch, holds_prompt=isinstance(event, _BEFORE_PROMPTS))


def capped(memory: SessionMemory, outcome: Outcome, *, limit: int) -> tuple[SessionMemory, Outcome]:
    """The outcome without a follow-up that would be one too many, and what to remember."""
    answer = outcome.answer
    if not answer.follow_up:
        return memory, outcome
    agent = _agent(outcome.event)
    again = memory.counted == outcome.event.id
    count = max(memory.follow_ups.get(agent, 0) - again, 0)
    if count >= limit:
        text = f"kept going {count} times already; now it may stop (max_follow_ups)"
        stopped = replace(answer, follow_up=(), notice=(*answer.notice, text))
        return memory, replace(outcome, answer=stopped)
    counts = {**memory.follow_ups, agent: count + 1}
    last = answer.follow_up[0]
    counted = outcome.event.id
    return replace(memory, follow_ups=counts, last_follow_up=last, counted=counted), outcome


def add_failures(memory: SessionMemory, outcome: Outcome) -> SessionMemory:
    """The memory with a line for each hook that failed where failing must not keep agents going."""
    lines = list(memory.carried)
    for run in outcome.runs:
        if run.failed and run.counts and run.hook.on_error is not OnError.IGNORE:
            line = f"Hook `{run.hook.name}` on {outcome.event.event_id()} failed, so nothing was "
            line += f"checked there: {' '.join(run.failed.split())}"
            short = line if len(line) <= _CARRIED_LENGTH else f"{line[: _CARRIED_LENGTH - 1]}…"
            lines += [] if short in lines else [short]
    return replace(memory, carried=tuple(lines[-max(_MAX_CARRIED, len(memory.carried)) :]))


def carry(memory: SessionMemory, texts: Sequence[str]) -> SessionMemory:
    """The memory with context that the model gets later."""
    new = [text for text in texts if text not in memory.carried]
    return replace(memory, carried=(*memory.carried, *new)[-_MAX_LATER:]) if new else memory


def taught(
    memory: SessionMemory, event: ToolEvent, said: Verdict, denial: Denial | None
) -> SessionMemory:
    """The memory after a call was judged: with its denial, or without one that no longer holds.

    Whoever denied a call before has seen it again, as it was, and let it through.
    """
    denials = memory.denials
    if denial is not None:
        denials = with_denial(denials, denial)
    elif denials and said < Verdict.ASK:
        denials = without_call(denials, call_digest(event))
    return memory if denials == memory.denials else replace(memory, denials=denials)


def combined(before: SessionMemory, after: SessionMemory, stored: SessionMemory) -> SessionMemory:
    """``stored`` with what changed from ``before`` to ``after``: events of a session overlap."""
    counts = {
        agent: count
        for agent, count in after.follow_ups.items()
        if count != before.follow_ups.get(agent)
    }
    dropped = not after.follow_ups and bool(before.follow_ups)
    return SessionMemory(
        latch=stored.latch if after.latch == before.latch else after.latch,
        holds_prompt=stored.holds_prompt
        if after.holds_prompt == before.holds_prompt
        else after.holds_prompt,
        follow_ups={} if dropped else {**stored.follow_ups, **counts},
        last_follow_up=after.last_follow_up,
        counted=after.counted,
        denials=_join(before.denials, after.denials, stored.denials),
        carried=_join(before.carried, after.carried, stored.carried),
        untold=_join(before.untold, after.untold, stored.untold),
        compacting=_join(before.compacting, after.compacting, stored.compacting),
        over=stored.over if after.over == before.over else after.over,
    )


def _join(before: tuple[T, ...], after: tuple[T, ...], stored: tuple[T, ...]) -> tuple[T, ...]:
    """``stored`` without what ``after`` dropped, and with what it added."""
    new = [each for each in after if each not in before]
    known = [each for each in stored if each in after or each not in before]
    return (*(each for each in known if each not in new), *new)


def _agent(event: Event) -> str:
    return event.agent.id or event.agent.name
