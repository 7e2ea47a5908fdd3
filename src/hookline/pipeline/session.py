"""An event is judged within what its session remembers: latches, follow-ups, denials."""

from collections.abc import Sequence
from typing import Protocol, cast

from msgspec.structs import replace

from hookline import registry
from hookline.config.types import Config
from hookline.model.answers import PASS
from hookline.model.denials import Denial, recalled
from hookline.model.events import Event, PermissionRequest, PreToolUse
from hookline.model.memory import (
    MAX_FOLLOW_UPS,
    SessionMemory,
    add_failures,
    capped,
    closed,
    is_persons_prompt,
    latched,
    on_event,
    taught,
)
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller, Client, LearningBuiltin
from hookline.model.verdicts import Verdict

__all__ = ["Judge", "Memories", "judge_in_session"]

# Calls that are judged before they are made: what is denied there is what agents try again.
_JUDGED = (PreToolUse, PermissionRequest)


class Memories(Protocol):
    """Where sessions keep what they remember."""

    def read(self, session: str) -> SessionMemory:
        """What a session remembers. Raises HooklineError."""

    def write(self, session: str, before: SessionMemory, after: SessionMemory) -> None:
        """Keeps what an event has changed. Raises HooklineError."""


class Judge(Protocol):
    """Whoever runs the hooks of an event: the engine, or one that stands before it."""

    async def handle(self, event: Event, caller: Caller) -> Outcome:
        """What they say together."""


async def judge_in_session(
    event: Event,
    caller: Caller,
    *,
    client: Client,
    config: Config,
    engine: Judge,
    memories: Memories,
    sessions: Sequence[str],
) -> Outcome:
    """The engine's outcome, within what the session remembers under each of its names."""
    has_stop_flag = client.support.has_stop_flag
    before, after = [], []
    outcome: Outcome | None = None
    denied: tuple[Denial, ...] = ()
    carried: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    # One plain loop: nearly always there is one name and nothing remembered, on every event.
    for session in sessions:
        old = memories.read(session)
        new = on_event(old, event, has_stop_flag=has_stop_flag)
        before.append(old)
        after.append(new)
        outcome = outcome or latched(new, event)
        denied = recalled((denied, new.denials)) if new.denials else denied
        carried = carried or new.carried
        untold = untold or new.untold
    if outcome is None:
        caller = replace(caller, denied=denied) if denied else caller
        outcome = await engine.handle(event, caller)
        # What passes without a word leaves nothing to remember, but may end what was.
        if denied or outcome.answer is not PASS:
            after, outcome = _conclude(after, outcome, caller, client, config)
        if event.continues:
            after = [add_failures(memory, outcome) for memory in after]
        elif carried and (told := _tell_model(carried, outcome, client)):
            after, outcome = [replace(memory, carried=()) for memory in after], told
    if untold and (told := _tell_person(untold, outcome, client)):
        after, outcome = [replace(memory, untold=()) for memory in after], told
    if after != before:
        for session, old, new in zip(sessions, before, after, strict=True):
            if new is not old:
                memories.write(session, old, new)
    return outcome


def _conclude(
    memories: list[SessionMemory],
    outcome: Outcome,
    caller: Caller,
    client: Client,
    config: Config,
) -> tuple[list[SessionMemory], Outcome]:
    """The outcome as the session lets it stand, and what is to be remembered of it."""
    event, support = outcome.event, client.support
    limit = MAX_FOLLOW_UPS if config.max_follow_ups is None else config.max_follow_ups
    limit = min(limit, support.stop_cap or limit)
    for place, memory in enumerate(memories):
        memories[place], outcome = capped(memory, outcome, limit=limit)
    said = client.translate(outcome)
    if said.latch:
        memories = [closed(memory, event, said.latch) for memory in memories]
    verdict = said.answer.verdict
    if (caller.denied or verdict >= Verdict.DENY) and isinstance(event, _JUDGED):
        denial = _recall_denial(outcome, config, caller) if verdict >= Verdict.DENY else None
        memories = [taught(memory, event, verdict, denial) for memory in memories]
    return memories, outcome


def _tell_model(lines: Sequence[str], outcome: Outcome, client: Client) -> Outcome | None:
    """The outcome with what the model has yet to hear; None where this event cannot carry it."""
    rows = client.support.events.values()
    if any(row.event == "user_prompt_submit" and row.can("context") for row in rows):
        if not is_persons_prompt(outcome.event):
            return None
    elif outcome.event.agent.depth:
        return None
    answer = replace(outcome.answer, context=(*lines, *outcome.answer.context))
    told = replace(outcome, answer=answer)
    # A prompt that is blocked never reaches the model, and its context does not either.
    said = client.translate(told).answer
    return told if said.context and said.verdict < Verdict.ASK else None


def _tell_person(texts: Sequence[str], outcome: Outcome, client: Client) -> Outcome | None:
    """The outcome with these notices; None where this event cannot show them."""
    answer = replace(outcome.answer, notice=(*texts, *outcome.answer.notice))
    told = replace(outcome, answer=answer)
    return told if {*texts} <= {*client.translate(told).answer.notice} else None


def _recall_denial(outcome: Outcome, config: Config, caller: Caller) -> Denial | None:
    """What is to be remembered of a denied call, where a builtin in force has such remembered."""
    for hook in config.hooks:
        if hook.handler.kind == "builtin":
            module = registry.builtin(hook.handler.values["use"])
            if hasattr(module, "learn"):
                return cast(LearningBuiltin, module).learn(outcome, caller)
    return None
