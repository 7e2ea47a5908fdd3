"""Hands the work of a session to the next one, and over a compaction.

Keeps todos, plan, key files, unresolved errors and anchors (issue, branch, blockers, next step):
from what agents do, and from marked lines of their last message such as `Next step: …`. The next
session of the same repository and branch is told once, as quoted data, where the last one was
rotated or left something to do. After a compaction the anchors that its summary lost are told again
(docs/handoff.md).
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from hookline.builtin._handoff_facts import clean, learn, learn_from_transcript
from hookline.model.answers import PASS, Answer
from hookline.model.errors import HooklineError
from hookline.model.events import (
    BudgetExceeded,
    CompactionEvent,
    Event,
    PostCompact,
    PreCompact,
    SessionEnd,
    SessionStart,
    Stop,
    StopFailure,
    TaskCompleted,
    TaskCreated,
    ToolEvent,
)
from hookline.model.memory import is_persons_prompt
from hookline.model.ports import Caller, Transcript
from hookline.model.text import visible
from hookline.model.usage import TranscriptEnd
from hookline.store.handoff_text import (
    Anchor,
    count_tokens,
    describe_handoff,
    find_lost,
    list_anchors,
    name_moment,
)
from hookline.store.handoffs import Handoff, Handoffs, Place
from hookline.workspace import IN_REFTABLE, find_place

EVENTS: tuple[str, ...] = (
    *("session_start", "user_prompt_submit", "turn_start"),
    *("post_tool_use", "post_tool_use_failure", "task_created", "task_completed"),
    *("pre_compact", "post_compact", "budget_exceeded"),
    *("stop", "stop_failure", "session_end"),
)
PRIORITY: int = 60
GUARD: bool = False
ACTS: tuple[str, ...] = EVENTS

_WRITERS = PreCompact | BudgetExceeded | Stop | StopFailure | SessionEnd
# The same conversation goes on: what it was told is still in it, or in its summary.
_SAME = frozenset({"resume", "compact", "fork"})
# Tool calls after which a compaction that nobody confirms is taken for another one.
_BETWEEN = 10
_LOST = "Noted before the compaction, quoted:"


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a session is told of the one before, and how much."""

    load: Literal["open", "rotated", "never"] = "open"
    """``open``: after a session that was rotated, or that left todos or a next step; ``rotated``:
    after a rotation only."""
    max_tokens: Annotated[int, Meta(ge=200, le=2_000)] = 1_500
    """About how large the document may be for the model."""
    max_age_days: Annotated[int, Meta(ge=1, le=90)] = 7
    """How old it may be."""
    anchors: bool = True
    """Whether anchors are looked for after a compaction."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer:
        if not event.session_id or caller.state is None:
            return PASS
        try:
            return _Turn(event, caller, options).go()
        except HooklineError:
            # Tools come often: the person is told with the next prompt, stop or start.
            if isinstance(event, ToolEvent | TaskCreated | TaskCompleted):
                return PASS
            raise

    return answer


class _Turn:
    """What one event does to the handoff of its session, and what the model is told of it."""

    def __init__(self, event: Event, caller: Caller, options: Options) -> None:
        assert caller.state is not None
        self._event = event
        self._caller = caller
        self._options = options
        self._handoffs = Handoffs(caller.state())
        self._session = visible(f"{event.dialect}:{event.session_id}")
        path, workspace = find_place(event, caller)
        self._place = Place(path, workspace.repository, visible(workspace.branch))
        self._issue = clean(workspace.issue)
        # The model of a sub-agent is not the one that forgets, or begins.
        self._tells = caller.carries_text and not event.agent.depth
        # The others tell all that it says, or come too often to read a file.
        self._learns = isinstance(event, PreCompact | BudgetExceeded | SessionEnd)
        reads = self._learns or isinstance(event, PostCompact) or _source_of(event) == "compact"
        self._end = self._read_transcript() if reads and not event.agent.depth else None
        self._used = _count_used(event)
        if isinstance(event, PreCompact) and self._used is None:
            self._used = self._read_context()

    def go(self) -> Answer:
        """Remember, look after what a compaction lost, and load what another session left."""
        answer = self._handoffs.change(self._session, self._place, self._take_in)
        event = self._event
        if isinstance(event, SessionEnd):
            self._handoffs.drop_empty(self._session)
        elif self._begins():
            return self._load(answer)
        return answer

    # ── this session ──

    def _take_in(self, handoff: Handoff) -> Answer:
        event = self._event
        learn(handoff, event, self._caller)
        if self._learns and self._end is not None:
            learn_from_transcript(handoff, self._end)
        if handoff.has_content or handoff.begun:
            handoff.dialect, handoff.agent = event.dialect, clean(event.agent.name)
            handoff.issue = handoff.issue or self._issue
        handoff.ended = isinstance(event, SessionEnd)
        handoff.rotated = handoff.rotated or isinstance(event, BudgetExceeded)
        if event.agent.depth:
            return PASS
        metadata: dict[str, Any] = {}
        context: list[str] = []
        if is_persons_prompt(event):
            handoff.restored = ""
            if handoff.relieved:  # the person went on with it instead of with another session
                handoff.rotated = handoff.relieved = False
        if isinstance(event, PostCompact) or _source_of(event) == "compact":
            handoff.relieved = handoff.rotated
        if isinstance(event, _WRITERS) and handoff.has_content:
            handoff.reason = event.event_id()
            if not isinstance(event, Stop | StopFailure):
                size = count_tokens(self._describe(handoff))
                metadata = {"written": event.event_id(), "tokens": size}
        if self._options.anchors:
            metadata |= self._keep_anchors(handoff, context)
        if not (metadata or context):
            return PASS
        return Answer(context=tuple(context), metadata={"handoff": metadata} if metadata else {})

    def _keep_anchors(self, handoff: Handoff, context: list[str]) -> dict[str, Any]:
        """Adds what a compaction makes necessary to ``context``; returns how it went."""
        event = self._event
        measured: dict[str, Any] = {}
        if isinstance(event, ToolEvent):
            handoff.calls = min(handoff.calls + 1, _BETWEEN)
        if isinstance(event, PreCompact):
            # Gemini CLI says so before every call to its model, whether or not it compacts.
            if handoff.confirmed or handoff.calls >= _BETWEEN:
                handoff.restored = ""
            handoff.compacting, handoff.calls = self._event.time.timestamp(), 0
            handoff.tokens_before = self._used or 0
            anchors = self._list_anchors(handoff)
            if anchors and self._tells:
                context.append(_quote("The summary has to keep these, word for word:", anchors))
            return {"context": handoff.tokens_before} if handoff.tokens_before else measured
        after = isinstance(event, PostCompact)
        if (after and not event.derived_from) or _source_of(event) == "compact":
            handoff.confirmed = True
        if after or (handoff.compacting and self._tells):
            anchors = self._list_anchors(handoff)
            summary = self._find_summary(handoff.compacting)
            handoff.compacting = 0.0
            lost = anchors if summary is None else find_lost(anchors, summary)
            measured = {
                "anchors": len(anchors),
                "retained": None if summary is None else len(anchors) - len(lost),
                "lost": [each.kind for each in lost] if summary is not None else [],
            }
            ratio = self._measure_ratio(handoff, summary)
            if ratio is not None:
                measured["ratio"] = ratio
            untold = [each for each in lost if f"> {each}" not in handoff.restored]
            handoff.pending = [_quote(_LOST, untold)] if untold else []
        if handoff.pending and self._tells:
            context += handoff.pending
            handoff.restored, handoff.pending = "\n".join(handoff.pending), []
        return measured

    def _find_summary(self, since: float) -> str | None:
        """What the compaction left, where the platform or its transcript says it."""
        event = self._event
        if isinstance(event, CompactionEvent) and event.summary:
            return event.summary
        end = self._end
        if end is None or end.summary_time is None or not 0 < since <= end.summary_time:
            return None
        return end.summary or None

    def _find_transcript(self) -> Transcript | None:
        event, find = self._event, self._caller.transcript
        return find(event.dialect) if find is not None and event.transcript_path else None

    def _read_transcript(self) -> TranscriptEnd | None:
        """How the transcript ends; None where there is none that can be read."""
        if (transcript := self._find_transcript()) is not None:
            with suppress(OSError, ValueError):
                return transcript.read_end(self._event.transcript_path)
        return None

    def _read_context(self) -> int | None:
        """How many tokens the conversation has; None where a transcript is too long to say it."""
        if (transcript := self._find_transcript()) is not None:
            with suppress(OSError, ValueError):
                usage = transcript.read_usage(self._event.transcript_path, None)
                return (usage.context or None) if usage.complete else None
        return None

    def _measure_ratio(self, handoff: Handoff, summary: str | None) -> float | None:
        event = self._event
        used = event if isinstance(event, CompactionEvent) else None
        before = handoff.tokens_before or (used.input_tokens if used else None) or 0
        after = used.output_tokens if used else None
        if after is None:
            after = count_tokens(summary) if summary is not None else self._used
        return round(after / before, 3) if before > 0 and after is not None else None

    def _list_anchors(self, handoff: Handoff) -> list[Anchor]:
        """With the branch and the issue as they are now."""
        issue = handoff.issue or self._issue
        return list_anchors(replace(handoff, issue=issue, branch=self._place.branch))

    def _describe(self, handoff: Handoff) -> str:
        return describe_handoff(handoff, max_tokens=self._options.max_tokens)

    # ── the session before ──

    def _begins(self) -> bool:
        event = self._event
        if event.agent.depth or not self._tells or self._options.load == "never":
            return False
        # Some platforms do not tell that a session begins, or take no text there.
        return isinstance(event, SessionStart) or is_persons_prompt(event)

    def _load(self, answer: Answer) -> Answer:
        event, options = self._event, self._options
        source = _source_of(event)
        load = options.load

        def begin(handoff: Handoff) -> bool:
            first = not (handoff.begun or handoff.has_content)
            handoff.begun = True
            return first

        first = self._handoffs.change(self._session, self._place, begin)
        # Asked about once more, the same start is given the same.
        again = self._caller.attempt > 1
        if source in _SAME or self._place.branch == IN_REFTABLE or not (first or again):
            return answer
        if source == "clear":
            load = "rotated"  # the person wanted to begin anew
        taken = self._handoffs.take(
            self._session, self._place, load=load, max_age_days=options.max_age_days
        )
        if taken is None:
            return answer
        found, age = taken
        self._handoffs.change(self._session, self._place, lambda own: _inherit(own, found))
        introduction = _introduce(found)
        left = options.max_tokens - count_tokens(introduction)
        text = f"{introduction}\n{describe_handoff(found, max_tokens=left)}"
        told = {
            "loaded": found.session,
            "minutes": round(age / 60),
            "tokens": count_tokens(text),
        }
        known = answer.metadata.get("handoff", {})
        return Answer(context=(*answer.context, text), metadata={"handoff": {**known, **told}})


def _inherit(own: Handoff, found: Handoff) -> None:
    """What the session before left is this one's to keep through its own compactions."""
    own.issue = own.issue or found.issue
    own.next_steps = own.next_steps or found.next_steps
    own.blockers = own.blockers or found.blockers
    own.decisions = own.decisions or found.decisions
    own.plan = own.plan or found.plan
    own.inherited = found.open_todos


def _introduce(found: Handoff) -> str:
    how = "which has ended" if found.ended else "of which nothing more was heard"
    how = "whose token budget was used up" if found.rotated else how
    return (
        f"Handoff from the last {found.dialect} session on this branch, {how} "
        f"({name_moment(found.touched)}, session {found.session.partition(':')[2][:12]}). Notes of "
        "that session, quoted; check them against the files before you rely on them:"
    )


def _quote(introduction: str, anchors: list[Anchor]) -> str:
    return "\n".join([introduction, *(f"> {each}" for each in anchors)])


def _source_of(event: Event) -> str:
    return event.source if isinstance(event, SessionStart) else ""


def _count_used(event: Event) -> int | None:
    if isinstance(event, CompactionEvent) and event.input_tokens:
        return event.input_tokens
    return event.budget.used_tokens if event.budget is not None else None
