"""Keeps sessions within tokens and dollars. At 70 % it warns; at 80 % it blocks large reads, large
fetches and new sub-agents, and fires `budget_exceeded`, at which `handoff` writes down where the
work is. At the end of a limit of your own (`session`, `day`, `repository`) no tool runs. After a
compaction, or in a new session, there is room again. `hookline cost` shows what was used.
"""

import time
from collections.abc import Callable, Sequence
from datetime import UTC
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from hookline.builtin.budget.counting import Counted, count
from hookline.builtin.budget.limits import Amount, Level, list_spending
from hookline.builtin.budget.loads import (
    KNOWN_AGAIN,
    Load,
    is_new_agent,
    load_key,
    measure_load,
)
from hookline.model.answers import PASS, Announcement, Answer, Verdict
from hookline.model.errors import HooklineError
from hookline.model.events import (
    BudgetExceeded,
    Event,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    SubagentStart,
    ToolEvent,
    UserPromptSubmit,
)
from hookline.model.ports import Caller, State
from hookline.model.tools import ToolKind
from hookline.pricing import Price, find_window
from hookline.store.usage import (
    day_of,
    find_large_load,
    forget_old,
    keep_large_load,
    keep_session,
    keep_step,
    open_zone,
    read_steps,
    read_zone,
)

EVENTS: tuple[str, ...] = (
    "session_start",
    "user_prompt_submit",
    "pre_tool_use",
    "post_tool_use",
    "post_tool_use_failure",
    "after_llm_call",
    "subagent_start",
    "subagent_stop",
    "pre_compact",
    "post_compact",
    "stop",
    "session_end",
)
PRIORITY: int = 20
GUARD: bool = False
JUDGES: bool = True
ACTS: tuple[str, ...] = EVENTS
FIRES: tuple[str, ...] = ("budget_exceeded",)

_READ = ToolKind.READ
_KB = 1024
_WARNED, _EXCEEDED, _SPENT = 1, 2, 3
_LONGEST_NAME = 40
_PRICES = "prices"

_ADVICE = {
    _WARNED: "Load only what the task needs.",
    _EXCEEDED: "Large reads and new sub-agents are blocked. Finish what is begun.",
    _SPENT: "No tool runs until the user raises this limit.",
}

Percent = Annotated[int, Meta(ge=1, le=100)]


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits, and at how much of them what happens."""

    limit: Annotated[int, Meta(ge=1)] | None = None
    """How many tokens a conversation may have; else as many as its model takes, where known."""
    warn: Percent = 70
    """At how many percent of a limit the model and the person are told."""
    rotate: Percent = 80
    """At how many percent large loads are blocked and `budget_exceeded` fires."""
    large_kb: Annotated[int, Meta(ge=1)] = 32
    """What is large, in KB."""
    session: Amount | None = None
    """At most so many `tokens:` and `dollars:` in one session, sub-agents included."""
    day: Amount | None = None
    """The same in one day, of all sessions."""
    repository: Amount | None = None
    """The same in one repository, since this began to count there."""
    prices: dict[str, Price] = {}
    """By model, dollars for a million tokens: `input`, `output`, and `cached`, `written`."""
    time_zone: str = ""
    """Where days end at midnight; else that of this machine when it first counted."""

    def __post_init__(self) -> None:
        if self.warn > self.rotate:
            raise ValueError(f"`warn: {self.warn}` is above `rotate: {self.rotate}`")
        if self.time_zone:
            _check_zone(self.time_zone)

    @property
    def has_dollars(self) -> bool:
        """Whether any limit is in dollars."""
        amounts = (self.session, self.day, self.repository)
        return any(each is not None and each.dollars is not None for each in amounts)


def _check_zone(name: str) -> None:
    if name != "UTC" and open_zone(name) is UTC:
        raise ValueError(
            f"`time_zone: {name[:60]}` is no time zone: it is written as Europe/Berlin is"
        )


def WAITS(options: Options) -> bool:
    """Prices and windows of models take long to load."""
    return options.limit is None or options.has_dollars


def make(options: Options) -> Callable[[Event, Caller], Answer | Announcement]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer | Announcement:
        if caller.state is None or not event.session_id:
            return PASS
        try:
            return _Budget(options, event, caller, caller.state()).answer()
        except HooklineError as error:
            # Agents go on without a count. The person is told once for each prompt.
            if isinstance(event, SessionStart | UserPromptSubmit):
                return Answer(notice=(f"Nothing is counted by the budget: {error}",))
            return PASS

    return answer


class _Budget:
    """One event within the limits."""

    def __init__(self, options: Options, event: Event, caller: Caller, state: State) -> None:
        self.options = options
        self.event = event
        self.state = state
        self.counted = self._with_window(count(event, caller, state, options.time_zone))
        self.unpriced: tuple[str, ...] = ()

    def answer(self) -> Answer | Announcement:
        """What is said, and what is announced with it."""
        levels = self._find_levels()
        before = self._move_steps(levels)
        if isinstance(self.event, SessionStart):
            self._tidy()
        if isinstance(self.event, PostToolUse):
            self._remember_load(self.event)
        said = self._tell(levels, before)
        reason = self._find_objection(levels)
        if reason:
            said = replace(said, verdict=Verdict.DENY, reason=reason)
        moment = self._find_moment(levels, before)
        if moment is None:
            return PASS if said == PASS else said
        fields = {
            "message": moment.message,
            "scope": moment.scope,
            "unit": moment.unit,
            "used": moment.used,
            "limit": moment.limit,
            "percent": round(moment.percent, 1),
            "budget": moment.budget,
        }
        return Announcement(said, {BudgetExceeded.event_id(): fields})

    # ── how much is used ────────────────────────────────────────────────────────────────────

    def _with_window(self, counted: Counted) -> Counted:
        """With the window of its model, which is asked for once."""
        usage = counted.usage
        if self.options.limit is not None or usage.window is not None or not usage.model:
            return counted
        usage = replace(usage, window=find_window(usage.model) or 0)
        with self.state.write() as connection:
            keep_session(connection, usage, time.time())
        return replace(counted, usage=usage)

    def _find_levels(self) -> list[Level]:
        options, usage = self.options, self.counted.usage
        levels: list[Level] = []
        limit = options.limit or usage.window or 0
        # A conversation that is longer than its model takes shows that nobody knew the model.
        is_known = options.limit is not None or (usage.context or 0) <= limit * 1.1
        if limit and is_known and usage.context is not None and self.counted.complete:
            levels.append(Level(scope="context", unit="tokens", used=usage.context, limit=limit))
        limits = {
            "session": options.session,
            "day": options.day,
            "repository": options.repository,
        }
        if any(limits.values()):
            with self.state.read() as connection:
                zone = open_zone(read_zone(connection))
                today = day_of(time.time(), zone)
                found = list(list_spending(connection, usage, limits, options.prices, today))
            levels += [level for level, _ in found]
            models = (model for _, unknown in found for model in unknown)
            self.unpriced = tuple(dict.fromkeys(models))
        return levels

    def _step_of(self, level: Level) -> int:
        if level.is_spending and level.percent >= 100:
            return _SPENT
        if level.percent >= self.options.rotate:
            return _EXCEEDED
        return _WARNED if level.percent >= self.options.warn else 0

    def _move_steps(self, levels: Sequence[Level]) -> dict[str, int]:
        """On which step the session was; it is on a higher one only once it can be told."""
        now = {level.key: self._step_of(level) for level in levels}
        if self.unpriced:
            now[_PRICES] = _WARNED
        session = self.counted.usage.session
        with self.state.read() as connection:
            steps = read_steps(connection, session)
        # What no longer is known, as after a compaction, begins anew.
        due = {key: now.get(key, 0) for key in {*now, *steps}}
        due = {
            key: step
            for key, step in due.items()
            if step != steps.get(key, 0) and (step < steps.get(key, 0) or self._tells(step))
        }
        if not due:
            return now
        with self.state.write() as connection:
            steps = read_steps(connection, session)
            for key, step in due.items():
                keep_step(connection, session, key, step)
        return {key: steps.get(key, 0) if key in due else now.get(key, 0) for key in {*now, *due}}

    def _tells(self, step: int) -> bool:
        """Whether what is said now reaches the model, or for what is urgent the person."""
        if self.event.agent.depth:
            return False
        if step > _WARNED and isinstance(self.event, PreToolUse | Stop):
            return True
        # On several platforms text reaches the model after a tool, and not before.
        return self.event.takes_context and not isinstance(self.event, PreToolUse)

    # ── what is said ────────────────────────────────────────────────────────────────────────

    def _tell(self, levels: Sequence[Level], before: dict[str, int]) -> Answer:
        """Once for each step."""
        context: list[str] = []
        notice: list[str] = []
        for level in levels:
            step = self._step_of(level)
            if step <= before[level.key]:
                continue
            context.append(f"{level.message} {_ADVICE[step]}")
            notice.append(f"{level.message} {_for_person(level, step)}")
        if self.unpriced and before[_PRICES] < _WARNED:
            models = ", ".join(f"`{model[:60]}`" for model in self.unpriced[:3])
            notice.append(
                f"What {models} costs is unknown, and not in the budget: state it under `prices:`, "
                "or install `hookline[judge]`."
            )
        told = tuple(context) if self.event.takes_context else ()
        return Answer(context=told, notice=tuple(notice))

    def _find_moment(self, levels: Sequence[Level], before: dict[str, int]) -> Level | None:
        """The limit that is exceeded now and was not before."""
        new = (
            level
            for level in levels
            if before[level.key] < _EXCEEDED <= self._step_of(level) and self._tells(_EXCEEDED)
        )
        return max(new, key=lambda level: level.percent, default=None)

    # ── what is held back ───────────────────────────────────────────────────────────────────

    def _find_objection(self, levels: Sequence[Level]) -> str:
        """Why this may not be done now; empty where it may."""
        if not isinstance(self.event, PreToolUse | SubagentStart):
            return ""
        above = [level for level in levels if self._step_of(level) >= _EXCEEDED]
        # A sub-agent has a conversation of its own.
        if self.event.agent.depth and isinstance(self.event, PreToolUse):
            above = [level for level in above if level.is_spending]
        if not above:
            return ""
        level = max(above, key=lambda each: (self._step_of(each), each.percent))
        if self._step_of(level) == _SPENT:
            return f"{level.message} No tool runs until the user raises this limit."
        if isinstance(self.event, SubagentStart) or is_new_agent(self.event.tool):
            return f"{level.message} No new sub-agent begins; do what is left yourself."
        load = self._find_load(self.event)
        if load is None:
            return ""
        name = load.name[:_LONGEST_NAME]
        return (
            f"{level.message} {name} is {-(-load.bytes // _KB):,} KB: "
            f"take at most {self.options.large_kb} KB of it."
        )

    def _find_load(self, event: ToolEvent) -> Load | None:
        """What is known to be large of what this call would bring."""
        found = measure_load(event)
        if found is None and event.tool.kind in KNOWN_AGAIN - {_READ}:
            with self.state.read() as connection:
                size = find_large_load(connection, load_key(event.tool))
            found = Load(f"The last answer of {event.tool.name}", size) if size else None
        return found if found and found.bytes > self.options.large_kb * _KB else None

    def _remember_load(self, event: ToolEvent) -> None:
        size = len(event.tool.output or "")
        if event.tool.kind in KNOWN_AGAIN and size > self.options.large_kb * _KB:
            with self.state.write() as connection:
                keep_large_load(connection, load_key(event.tool), size, time.time())

    def _tidy(self) -> None:
        with self.state.write() as connection:
            zone = open_zone(read_zone(connection))
            forget_old(connection, time.time(), zone)


def _for_person(level: Level, step: int) -> str:
    if step == _WARNED:
        return "The agent was told."
    if step == _SPENT:
        return f"No tool runs until `{level.scope}: {{{level.unit}: …}}` of the budget is raised."
    if level.is_spending:
        return "Large loads and new sub-agents are blocked until this limit is raised."
    return "Large loads and new sub-agents are blocked: compact it, or begin a new session."
