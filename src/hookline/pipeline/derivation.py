"""Fires the moments that a platform does not tell: ``model/derivation.py`` says which, and whence.

What their hooks say goes out with the event that the platform sent. Some moments are there with the
event (a turn begins with its prompt); others come of what was answered (a turn ends, unless a hook
keeps the agent going). What is counted rather than told, such as a budget that is used up, a
builtin announces with its answer. Most configs have no hook for any of these, and nothing is made.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from hookline import registry
from hookline.engine.engine import Engine
from hookline.model.answers import Verdict
from hookline.model.derivation import COUNTED, DERIVATIONS, needs_derivation
from hookline.model.events import (
    EVENTS,
    AgentStart,
    Error,
    Event,
    PostCompact,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    SessionEnd,
    SessionResume,
    SessionStart,
    Stop,
    StopFailure,
    SubagentStart,
    ToolEvent,
    TurnEnd,
    TurnStart,
    UserPromptSubmit,
)
from hookline.model.hook import OnError
from hookline.model.memory import SessionMemory, is_own_follow_up
from hookline.model.outcome import Outcome, Run
from hookline.model.ports import Caller, Client
from hookline.model.support import Support

__all__ = ["DERIVED", "Moments", "can_carry_text", "derive", "find_moments", "list_untold"]

E = TypeVar("E", bound=Event)
# Of a failed tool's output, as much as says what went wrong.
_LONGEST = 2000
_ERROR = Error.event_id()
_ENDS = frozenset({SessionEnd.event_id(), SessionResume.event_id()})
# What may come with any event, as the session remembers; errors do when one of our hooks failed.
_FOLLOW_ANY = _ENDS | COUNTED | {PostCompact.event_id()}
_NOTHING: frozenset[str] = frozenset()
DERIVED = frozenset(each.event for each in DERIVATIONS)
"""All that may be derived somewhere."""
_FOLLOW = {
    EVENTS[source]: frozenset(each.event for each in DERIVATIONS if source in each.sources)
    for source in {source for each in DERIVATIONS for source in each.sources}
}


def derive(source: Event, cls: type[E], /, **fields: object) -> E:
    """An event of the same session and moment as ``source``."""
    shared = {name: getattr(source, name) for name in Event.__struct_fields__ if name != "version"}
    name = cls.event_id()
    shared |= {"id": f"{source.id}-{name}", "derived_from": source.event_id()}
    return cls(**{**shared, **fields})


@lru_cache(64)
def list_untold(dialects: tuple[str, ...]) -> frozenset[str]:
    """The moments that none of these platforms tells."""
    supports = [registry.dialect(each).support for each in dialects]
    return frozenset(
        each.event
        for each in DERIVATIONS
        if all(needs_derivation(each, support) for support in supports)
    )


def can_carry_text(event: Event, support: Support) -> bool:
    """Whether text for the model goes out with this event."""
    row = support.find(event.native_event or event.event_id())
    return row is not None and event.takes_context and row.can("context")


def find_moments(engine: Engine, client: Client, event: Event, *, first: bool) -> "Moments | None":
    """What may be derived from this event for this client; None where no hook is for any of it."""
    heard = engine.heard
    wanted = heard & list_untold(tuple(client.ids))
    # Most events bring nothing but themselves, and agents wait for each of them.
    follow = _FOLLOW_ANY | _FOLLOW.get(type(event), _NOTHING)
    if wanted.isdisjoint(follow) and _ERROR not in heard:
        return None
    return Moments(engine, client, wanted, first)


class Moments(Struct, frozen=True):
    """The moments that hooks wait for and this client does not tell."""

    engine: Engine
    client: Client
    wanted: frozenset[str]
    first: bool
    """Whether this is the session's first event."""

    @property
    def awaits_end(self) -> bool:
        """Whether some hook waits for the end of a session, or its return, that nobody tells."""
        untold = list_untold(tuple(self.client.ids))
        return SessionEnd.event_id() in untold and not self.wanted.isdisjoint(_ENDS)

    async def add_beside(self, outcome: Outcome, caller: Caller, memory: SessionMemory) -> Outcome:
        """With what hooks say of the moments that the event brings with it."""
        is_tool = isinstance(outcome.event, ToolEvent)
        ended = outcome.verdict >= Verdict.DENY if is_tool else self._is_held_back(outcome)
        # What was held back begins nothing.
        if not ended or is_tool:
            for event in self._list_beside(outcome.event, memory):
                outcome = await self.engine.extend(outcome, event, caller, ended=ended)
        found = dict(one for run in outcome.runs if run.counts for one in run.moments.items())
        for name in (each for each in found if each in self.wanted):
            event = derive(outcome.event, EVENTS[name], **found[name])
            # Who has run on the event at hand has not heard of this; who found it has.
            told = [run for run in outcome.runs if name in run.moments]
            outcome = await self.engine.extend(outcome, event, caller, told=told)
        return outcome

    async def add_after(self, outcome: Outcome, caller: Caller) -> Outcome:
        """With what hooks say of the moments that come of the answer."""
        for event in self._list_after(outcome):
            outcome = await self.engine.extend(outcome, event, caller)
        if _ERROR in self.engine.heard and not isinstance(outcome.event, Error):
            failed = [run for run in outcome.runs if _has_failed(run)]
            said = [*self._list_errors(outcome.event), *map(_describe_failure, failed)]
            if said:
                text = "\n".join(message for message, _ in said)
                error = derive(outcome.event, Error, message=text, where=said[0][1])
                # Of a failed tool who ran has heard; of a failed hook only that hook itself.
                outcome = await self.engine.extend(outcome, error, caller, told=failed or None)
        return outcome

    def remember(self, memory: SessionMemory, outcome: Outcome) -> SessionMemory:
        """What the session's next events have to know."""
        event = outcome.event
        agent = event.agent.id or event.agent.name
        if PostCompact.event_id() in self.wanted:
            if isinstance(event, PreCompact):
                if agent not in memory.compacting and not self._is_held_back(outcome):
                    memory = replace(memory, compacting=(*memory.compacting, agent))
            elif agent in memory.compacting and self._carries_text(event):
                rest = tuple(each for each in memory.compacting if each != agent)
                memory = replace(memory, compacting=rest)
        return replace(memory, over=False) if memory.over else memory

    def _list_beside(self, event: Event, memory: SessionMemory) -> Iterator[Event]:
        agent = event.agent
        made: list[Event] = []
        match event:
            case UserPromptSubmit() if not (agent.depth or is_own_follow_up(memory, event)):
                if self.first:
                    made.append(derive(event, SessionStart, source="startup"))
                made += [derive(event, AgentStart), derive(event, TurnStart)]
            case SubagentStart():
                made.append(derive(event, AgentStart))
            case SessionStart(source="resume"):
                made.append(derive(event, SessionResume, source="resume"))
            case PostToolUse() if event.tool.ok is False:
                error = event.tool.output or ""
                made.append(derive(event, PostToolUseFailure, tool=event.tool, error=error))
            case PostToolUseFailure():
                tool = event.tool
                output = event.error if tool.output is None else tool.output
                made.append(derive(event, PostToolUse, tool=replace(tool, ok=False, output=output)))
        if memory.over and not any(isinstance(each, SessionResume) for each in made):
            made.insert(0, derive(event, SessionResume, source="silence"))
        if (agent.id or agent.name) in memory.compacting and self._carries_text(event):
            made.append(derive(event, PostCompact))
        yield from (each for each in made if each.event_id() in self.wanted)

    def _list_after(self, outcome: Outcome) -> Iterator[Event]:
        event, name = outcome.event, TurnEnd.event_id()
        if name in self.wanted and not event.agent.depth:
            if isinstance(event, StopFailure):
                yield derive(event, TurnEnd, reason="error")
            elif isinstance(event, Stop) and not (outcome.answer.follow_up and self._continues()):
                yield derive(event, TurnEnd, reason="normal")

    def _list_errors(self, event: Event) -> Iterator[tuple[str, str]]:
        """What failed outside of hookline, and where."""
        if _ERROR not in self.wanted:
            return
        match event:
            case PostToolUseFailure():
                yield event.error[:_LONGEST], event.tool.name
            case PostToolUse() if event.tool.ok is False:
                yield (event.tool.output or "")[:_LONGEST], event.tool.name
            case StopFailure():
                yield event.error[:_LONGEST], "turn"

    def _is_held_back(self, outcome: Outcome) -> bool:
        """Whether this client heeds what was to hold the event back."""
        row = self.client.support.find(outcome.event.native_event)
        heeds = row is None or row.can("deny") or row.can("halt")
        return heeds and outcome.verdict >= Verdict.DENY

    def _carries_text(self, event: Event) -> bool:
        return can_carry_text(event, self.client.support)

    def _continues(self) -> bool:
        """Whether this client goes on when it is told to at its stop."""
        rows = self.client.support.events.values()
        return any(row.event == Stop.event_id() and row.can("follow_up") for row in rows)


def _has_failed(run: Run) -> bool:
    return bool(run.failed) and run.counts and run.hook.on_error is not OnError.IGNORE


def _describe_failure(run: Run) -> tuple[str, str]:
    return f"hook `{run.hook.name}` failed: {run.failed}", run.hook.name
