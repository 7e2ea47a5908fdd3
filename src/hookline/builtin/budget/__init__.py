"""Keeps sessions within tokens and dollars. At 70 % it warns; at 80 % it blocks large reads, large
fetches and new sub-agents, and fires `budget_exceeded`, at which `handoff` writes down where the
work is. At the end of a limit of your own (`session`, `day`, `repository`) no tool runs. After a
compaction, or in a new session, there is room again. `hookline cost` shows what was used.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from hookline.builtin.budget.counting import count
from hookline.builtin.budget.loads import is_new_agent, measure_answer, measure_load
from hookline.model.answers import PASS, Announcement, Answer, Verdict
from hookline.model.errors import HooklineError
from hookline.model.events import (
    Budget,
    BudgetExceeded,
    Event,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    SubagentStart,
    UserPromptSubmit,
)
from hookline.model.ports import Caller, State
from hookline.pricing import add_prices
from hookline.store.usage import (
    forget_old,
    keep_session,
    read_session,
    sum_used,
)

EVENTS: tuple[str, ...] = (
    *("session_start", "session_end", "user_prompt_submit", "stop", "after_llm_call"),
    *("pre_tool_use", "post_tool_use", "post_tool_use_failure"),
    *("subagent_start", "subagent_stop", "pre_compact", "post_compact"),
)
PRIORITY: int = 20
GUARD: bool = False
JUDGES: bool = True
ACTS: tuple[str, ...] = EVENTS
FIRES: tuple[str, ...] = ("budget_exceeded",)

# Percent of a limit, and bytes.
_WARN, _ROTATE, _LARGE = 70, 80, 32 * 1024
_WARNED, _EXCEEDED, _SPENT = 1, 2, 3
_LONGEST_NAME = 40
_CONTEXT, _PRICES = "context tokens", "prices"

_ROOM = "Compact it, or begin a new session, to make room."
_ADVICE = {
    _WARNED: "Load only what the task needs.",
    _EXCEEDED: "Large reads and new sub-agents are blocked. Finish what is begun.",
    _SPENT: "No tool runs until the user raises this limit.",
}


class Amount(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """At most so much."""

    tokens: Annotated[int, Meta(ge=1, lt=10**15)] | None = None
    dollars: Annotated[float, Meta(gt=0, lt=10**15)] | None = None

    def __post_init__(self) -> None:
        if self.tokens is None and self.dollars is None:
            raise ValueError("say `tokens:` or `dollars:`, or both")


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The limits, and at how much of them what happens."""

    limit: Annotated[int, Meta(ge=1)] | None = None
    """How many tokens a conversation may have; else as many as its model takes, where known."""
    session: Amount | None = None
    """At most so many `tokens:` and `dollars:` in one session, sub-agents included."""
    day: Amount | None = None
    """The same in one day, of all sessions."""
    repository: Amount | None = None
    """The same in one repository, since this began to count there."""

    @property
    def amounts(self) -> Mapping[str, Amount]:
        """The limits that the person set, by scope."""
        every = {"session": self.session, "day": self.day, "repository": self.repository}
        return {scope: amount for scope, amount in every.items() if amount is not None}


def WAITS(options: Options) -> bool:
    """Prices and windows of models take long to load."""
    dollars = any(each.dollars is not None for each in options.amounts.values())
    return options.limit is None or dollars


def make(options: Options) -> Callable[[Event, Caller], Answer | Announcement]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer | Announcement:
        if caller.state is None or not event.session_id:
            return PASS
        try:
            return _Judge(options, event, caller, caller.state()).answer()
        except HooklineError as error:
            # Agents go on without a count. The person is told once for each prompt.
            if isinstance(event, SessionStart | UserPromptSubmit):
                return Answer(notice=(f"Nothing is counted by the budget: {error}",))
            return PASS

    return answer


class Level(Struct, frozen=True, kw_only=True):
    """How much of one limit is used."""

    scope: str
    unit: str
    used: float
    limit: float
    step: int = 0

    @property
    def key(self) -> str:
        """What tells it from the others."""
        return f"{self.scope} {self.unit}"

    @property
    def percent(self) -> float:
        """Of the limit; above 100 when more was used."""
        return self.used * 100 / self.limit

    @property
    def message(self) -> str:
        """In one sentence."""
        if self.unit == "dollars":
            whole = f"(${self.used:,.2f} of ${self.limit:,.2f})"
        else:
            whole = f"({self.used:,.0f} of {self.limit:,.0f} tokens)"
        share = f"{min(self.percent, 9_999):.0f}%"
        if self.key == _CONTEXT:
            return f"{share} of the context is used {whole}."
        owner = {"session": "this session's", "day": "today's"}.get(self.scope, "this repository's")
        return f"{share} of {owner} {self.unit} are used {whole}."

    @property
    def fields(self) -> Mapping[str, object]:
        """As `budget_exceeded` tells it."""
        budget = (
            Budget(used_usd=self.used, limit_usd=self.limit)
            if self.unit == "dollars"
            else Budget(used_tokens=int(self.used), effective_limit=int(self.limit))
        )
        told = {key: getattr(self, key) for key in ("message", "scope", "unit", "used", "limit")}
        return {**told, "percent": round(self.percent, 1), "budget": budget}


class _Judge:
    """One event within the limits."""

    def __init__(self, options: Options, event: Event, caller: Caller, state: State) -> None:
        self.options, self.event, self.state = options, event, state
        self.counted = count(event, caller, state, needs_window=options.limit is None)
        self.unpriced: tuple[str, ...] = ()
        self.levels = [
            replace(each, step=self._find_step(each))
            for each in (*self._measure_context(), *self._measure_amounts())
        ]

    def answer(self) -> Answer | Announcement:
        """What is said, and what is announced with it."""
        if isinstance(self.event, SessionStart):
            with self.state.write() as connection:
                forget_old(connection)
        before = self._move_steps({each.key: each.step for each in self.levels})
        new = [each for each in self.levels if each.step > before.get(each.key, each.step)]
        said = self._tell(new, is_unpriced=before.get(_PRICES) == 0)
        if reason := self._find_objection():
            said = replace(said, verdict=Verdict.DENY, reason=reason)
        exceeded = [each for each in new if before[each.key] < _EXCEEDED <= each.step]
        if exceeded:
            moment = max(exceeded, key=lambda level: level.percent)
            return Announcement(said, {BudgetExceeded.event_id(): moment.fields})
        return PASS if said == PASS else said

    # ── how much is used ────────────────────────────────────────────────────────────────────

    def _measure_context(self) -> Sequence[Level]:
        usage = self.counted.usage
        limit = self.options.limit or usage.window
        if not limit or usage.context is None or not self.counted.is_complete:
            return ()
        # A conversation that is longer than its model takes shows that nobody knew the model.
        if self.options.limit is None and usage.context > limit * 1.1:
            return ()
        return (Level(scope="context", unit="tokens", used=usage.context, limit=limit),)

    def _measure_amounts(self) -> Sequence[Level]:
        usage, levels = self.counted.usage, list[Level]()
        where = {
            "session": usage.session,
            "day": self.counted.today,
            "repository": usage.repository,
        }
        for scope, amount in self.options.amounts.items():
            if not where[scope]:
                continue
            with self.state.read() as connection:
                found = sum_used(connection, **{scope: where[scope]})
            if amount.tokens is not None:
                used = sum(each.tokens.total for each in found)
                levels.append(Level(scope=scope, unit="tokens", used=used, limit=amount.tokens))
            if amount.dollars is not None:
                paid, unknown = add_prices(found)
                levels.append(Level(scope=scope, unit="dollars", used=paid, limit=amount.dollars))
                self.unpriced = tuple(dict.fromkeys((*self.unpriced, *unknown)))
        return levels

    def _find_step(self, level: Level) -> int:
        if level.key != _CONTEXT and level.percent >= 100:
            return _SPENT
        if level.percent >= _ROTATE:
            return _EXCEEDED
        return _WARNED if level.percent >= _WARN else 0

    def _move_steps(self, now: dict[str, int]) -> Mapping[str, int]:
        """Of what changes, on which step the session was. It rises only where that can be told."""
        if self.unpriced:
            now[_PRICES] = _WARNED
        due = self._find_changes(self.counted.usage.steps, now)
        if not due:
            return {}
        with self.state.write() as connection:
            # Another event of the session may have told of it since.
            usage = read_session(connection, self.counted.usage.session) or self.counted.usage
            due = self._find_changes(usage.steps, now)
            keep_session(connection, replace(usage, steps={**usage.steps, **due}))
        return {key: usage.steps.get(key, 0) for key in due}

    def _find_changes(self, steps: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
        # What is not known any more, as after a compaction, begins anew.
        wanted = {**dict.fromkeys(steps, 0), **now}
        if not self.counted.is_complete:
            wanted.pop(_CONTEXT, None)
        return {
            key: step
            for key, step in wanted.items()
            if step < steps.get(key, 0) or (step > steps.get(key, 0) and self._can_tell(step))
        }

    def _can_tell(self, step: int) -> bool:
        """Whether what is said now reaches the model, or for what is urgent the person."""
        if self.event.agent.depth:
            return False  # it is the main agent that goes on
        if step > _WARNED and isinstance(self.event, PreToolUse | Stop):
            return True
        # On several platforms text reaches the model after a tool, and not before.
        return self.event.takes_context and not isinstance(self.event, PreToolUse)

    # ── what is said ────────────────────────────────────────────────────────────────────────

    def _tell(self, new: Sequence[Level], *, is_unpriced: bool) -> Answer:
        """Once for each step."""
        context = [f"{each.message} {_ADVICE[each.step]}" for each in new]
        notice = [
            f"{text} {_ROOM if each.key == _CONTEXT else ''}".rstrip()
            for text, each in zip(context, new, strict=True)
        ]
        if is_unpriced and self.unpriced:
            models = ", ".join(f"`{model[:60]}`" for model in self.unpriced[:3])
            notice.append(
                f"What {models} costs is unknown, and not in the budget. `hookline[judge]` brings "
                "public prices."
            )
        told = tuple(context) if self.event.takes_context else ()
        return Answer(context=told, notice=tuple(notice))

    # ── what is held back ───────────────────────────────────────────────────────────────────

    def _find_objection(self) -> str:
        """Why this may not be done now; empty where it may."""
        event = self.event
        if not isinstance(event, PreToolUse | PostToolUse | SubagentStart):
            return ""
        is_begun = isinstance(event, SubagentStart)
        above = [
            each
            for each in self.levels
            if each.step >= _EXCEEDED
            and (is_begun or each.key != _CONTEXT or not event.agent.depth)
        ]
        if not above:
            return ""
        level = max(above, key=lambda each: (each.step, each.percent))
        if isinstance(event, PostToolUse):
            size = measure_answer(event.tool)
            if size <= _LARGE:
                return ""
            return (
                f"{level.message} The call was made, and its answer of {size // 1024:,} KB left "
                f"out: ask for at most {_LARGE // 1024} KB."
            )
        if level.step == _SPENT:
            return f"{level.message} {_ADVICE[_SPENT]}"
        if isinstance(event, SubagentStart) or is_new_agent(event.tool):
            return f"{level.message} No new sub-agent begins; do what is left yourself."
        name, size = measure_load(event) or ("", 0)
        if size <= _LARGE:
            return ""
        return (
            f"{level.message} {name[:_LONGEST_NAME]} is {-(-size // 1024):,} KB: "
            f"take at most {_LARGE // 1024} KB of it."
        )
