"""An event is judged within what its session remembers: latches, follow-ups, denials."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import Protocol, cast

from msgspec.structs import replace

from hookline import registry
from hookline.config.types import Config
from hookline.engine.engine import Engine
from hookline.model.denials import Denial, recalled
from hookline.model.events import Event, PermissionRequest, PreToolUse
from hookline.model.memory import (
    MAX_FOLLOW_UPS,
    SessionMemory,
    capped,
    closed,
    latched,
    on_event,
    taught,
)
from hookline.model.outcome import Outcome, Translated
from hookline.model.ports import Caller, LearningBuiltin
from hookline.model.support import Support
from hookline.model.verdicts import Verdict

__all__ = ["Page", "Speaker", "judge"]

# Calls that are judged before they are made: what is denied there is what agents try again.
_JUDGED = (PreToolUse, PermissionRequest)


class Page(Protocol):
    """What one session remembers, while an event of it is judged."""

    memory: SessionMemory


class Speaker(Protocol):
    """Whoever an outcome is said to: one dialect, or several at once."""

    @property
    def support(self) -> Support:
        """What it can take."""

    def translate(self, outcome: Outcome) -> Translated:
        """The outcome as far as it can be said, each change recorded."""


async def judge(
    event: Event,
    caller: Caller,
    *,
    speaker: Speaker,
    config: Config,
    engine: Engine,
    pages: Sequence[AbstractContextManager[Page]],
) -> Outcome:
    """The engine's outcome, within what the session remembers; ``pages`` are its memories."""
    support = speaker.support
    limit = MAX_FOLLOW_UPS if config.max_follow_ups is None else config.max_follow_ups
    limit = min(limit, support.stop_cap or limit)
    with ExitStack() as stack:
        opened = [stack.enter_context(page) for page in pages]
        for page in opened:
            page.memory = on_event(page.memory, event, has_stop_flag=support.has_stop_flag)
        held = next(filter(None, (latched(page.memory, event) for page in opened)), None)
        if held is not None:
            return held
        denied = recalled(page.memory.denials for page in opened)
        caller = replace(caller, denied=denied) if denied else caller
        outcome = await engine.handle(event, caller)
        for page in opened:
            page.memory, outcome = capped(page.memory, outcome, limit=limit)
        said = speaker.translate(outcome)
        for page in opened if said.latch else ():
            page.memory = closed(page.memory, event, said.latch)
        verdict = said.answer.verdict
        if (denied or verdict >= Verdict.DENY) and isinstance(event, _JUDGED):
            denial = _denial(outcome, config, caller) if verdict >= Verdict.DENY else None
            for page in opened:
                page.memory = taught(page.memory, event, verdict, denial)
    return outcome


def _denial(outcome: Outcome, config: Config, caller: Caller) -> Denial | None:
    """What is to be remembered of a denied call, where a builtin in force has such remembered."""
    for hook in config.hooks:
        if hook.handler.kind == "builtin":
            module = registry.builtin(hook.handler.values["use"])
            if hasattr(module, "learn"):
                return cast(LearningBuiltin, module).learn(outcome, caller)
    return None
