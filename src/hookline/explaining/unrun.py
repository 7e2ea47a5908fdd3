"""Why a hook did not run on an event: its conditions, looked at once more, key by key.

Knows the record and the config in force now; the record has no word on hooks that did not run.
"""

from collections.abc import Iterator
from datetime import datetime

from msgspec.structs import replace

from hookline import registry
from hookline.config.pause import read_pause
from hookline.explaining.explanation import Unrun
from hookline.explaining.recorded import (
    counted,
    file_of,
    is_latched,
    rewrite_of,
    was_answered_before,
)
from hookline.explaining.surroundings import Key, Surroundings, key_of
from hookline.model.answers import Verdict
from hookline.model.errors import HooklineError
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import Hook
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.native import NativeEntry
from hookline.model.rewriting import native_input, rewritten

__all__ = ["Inquiry"]

_ENDS = {Verdict.DENY, Verdict.HALT}


class Inquiry:
    """One event that is asked about."""

    def __init__(self, recorded: Recorded, event: Event, here: Surroundings) -> None:
        self._recorded = recorded
        self._event = event
        self._here = here
        self._runs: dict[Key, RecordedRun] = {
            (run.hook, file_of(run.source)): run for run in recorded.runs
        }

    def unrun(self) -> Iterator[Unrun]:
        """Every hook that did not run, in the order in which they would have."""
        for hook in self._here.written:
            if key_of(hook) not in self._runs:
                cause, why = self._why(hook)
                yield _unrun(hook, cause, why)
        for hook, kind, file in self._here.drafts():
            if kind == "untrusted":
                why = f"`{file}` is not trusted, so nothing in it is active"
                yield _unrun(hook, "untrusted", f"{why}; `hookline trust` shows it and asks")
            else:
                why = f"`{file}` was edited since it was trusted, and this hook is new in it"
                yield _unrun(hook, "edited", f"{why}; `hookline trust` activates it")

    def _why(self, written: Hook) -> tuple[str, str]:
        """Why not; the first thing that stood in the way."""
        here, recorded = self._here, self._recorded
        if key_of(written) not in here.without_pause:
            where = here.disabled_by(written) or "a file"
            return "disabled", f"it is switched off by `disable` in {where}"
        if self._event.event_id() not in written.events:
            wanted = ", ".join(written.events)
            return "event", f"it is on {wanted}, not on {self._event.event_id()}"
        hook = here.in_force.get(key_of(written))
        if hook is None:
            return "paused", f"hookline is paused{self._pause_end()}; only managed hooks run"
        if recorded.failure:
            return "failure", "the event could not be judged at all, so no hook was asked"
        if was_answered_before(recorded):
            return "answered", "the same call had just been answered through another entry"
        if is_latched(recorded):
            return "halted", "the session had been halted, so every gate was closed already"
        return self._unmet(hook) or self._in_the_way(hook)

    def _unmet(self, hook: Hook) -> tuple[str, str] | None:
        """What about the event is not as the hook wants it; None when all of it is."""
        event, caller = self._seen_by(hook), self._here.caller
        if event.dialect in hook.run_by:
            client = registry.dialect(event.dialect).support.client
            why = f"{client} runs the hooks of `{hook.source.file}` itself"
            return "native", f"{why}, so it was not asked here once more"
        if hook.match is None:
            return None
        try:
            if hook.match.find(event, caller) is not None:
                return None
            why_not = getattr(hook.match, "why_not", None)
            why = why_not(event, caller) if why_not else _native_mismatch(hook, event)
        except HooklineError as error:
            return "undecided", f"whether it is for this event could not be decided: {error}"
        cause = "except" if "an exception holds" in why else "match"
        where = self._narrowed_by(hook, event) if cause == "except" else ""
        return cause, why + where

    def _in_the_way(self, hook: Hook) -> tuple[str, str]:
        """Why a hook that is meant by the event, and in force, has not run all the same."""
        first = self._here.first_like(hook)
        if key_of(first) != key_of(hook):
            return "duplicate", (
                f"it is the same as `{first.name}` ({first.source}), and of hooks that are alike "
                "one runs"
            )
        ender = self._ended_before(hook)
        if ender is not None:
            return "ended", (
                f"`{ender.hook}` ({ender.source}) said {ender.verdict} in an earlier tier, which "
                "ended the chain; `always: true` would have it run even so"
            )
        mate = self._lane_ender(hook)
        if mate is not None:
            after = "after which its own platform runs no more"
            return "lane", f"`{mate.hook}` before it said {mate.verdict}, {after}"
        if hook.start is not None and hook.start.answers_to:
            why = "its program, asked first, did not say that it is for"
            return "not-asked", f"{why} `{hook.native}`"
        if self._recorded.config != self._here.config.digest:
            return (
                "changed",
                "by the config that is active now it would run; that of then was another",
            )
        if self._recorded.approximate:
            return "unknown", "as the event was stored, redacted or cut, it would run"
        return "unknown", "by all that was written down it should have run"

    def _seen_by(self, hook: Hook) -> Event:
        """The event as earlier tiers left it for this hook."""
        event, table = self._event, registry.tools(self._event.dialect)
        for run in counted(self._recorded):
            change = rewrite_of(run)
            if change is None or run.rejudged or not self._is_earlier(run, hook):
                continue
            if change.input is not None:
                change = replace(change, input=native_input(event, change.input, table))
            event = rewritten(event, change, table)
        return event

    def _is_earlier(self, run: RecordedRun, hook: Hook) -> bool:
        other = self._here.in_force.get((run.hook, file_of(run.source)))
        return other is None or other.priority < hook.priority

    def _ended_before(self, hook: Hook) -> RecordedRun | None:
        if hook.always:
            return None
        enders = (run for run in counted(self._recorded) if run.verdict in _ENDS)
        return next((run for run in enders if self._is_earlier(run, hook)), None)

    def _lane_ender(self, hook: Hook) -> RecordedRun | None:
        lane = hook.lane
        if lane is None:
            return None
        ends = {Verdict.HALT} if lane.halt_ends else set()
        ends |= _ENDS if lane.deny_ends else set()
        for run in self._recorded.runs:
            other = self._here.in_force.get((run.hook, file_of(run.source)))
            mates = other is not None and other.lane is not None and other.lane.name == lane.name
            if mates and run.verdict in ends:
                return run
        return None

    def _narrowed_by(self, hook: Hook, event: Event) -> str:
        """Where the exception is written, when that is not in the hook itself."""
        for file, narrowing in self._here.narrowings():
            if narrowing.name == hook.name and any(
                each.find(event, self._here.caller) for each in narrowing.exceptions
            ):
                return f" ({file}:{narrowing.line})"
        return ""

    def _pause_end(self) -> str:
        pause = read_pause(self._here.app.home)
        if pause is None:
            return ""
        return f" until {datetime.fromtimestamp(pause.until).astimezone():%H:%M:%S}"


def _native_mismatch(hook: Hook, event: Event) -> str:
    """What a platform's own condition says, which only that platform knows how to read."""
    entries: tuple[NativeEntry, ...] = getattr(hook.match, "entries", ())
    agents = {entry.agent for entry in entries if entry.agent}
    if agents and event.agent.name not in agents:
        return f"it is for the agent {' or '.join(sorted(agents))}, and `{event.agent.name}` acted"
    written = [f"matcher `{entry.matcher}`" for entry in entries if entry.matcher]
    written += [f"condition `{entry.condition}`" for entry in entries if entry.condition]
    about = f"tool `{event.tool.name}`" if isinstance(event, ToolEvent) else f"`{event.event_id()}`"
    what = " and ".join(dict.fromkeys(written)) or "condition"
    return f"its {what} for {hook.native} does not hold for {about}"


def _unrun(hook: Hook, cause: str, why: str) -> Unrun:
    return Unrun(hook=hook.name, source=str(hook.source), cause=cause, why=why)
