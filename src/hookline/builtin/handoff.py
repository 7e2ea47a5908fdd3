"""Hands the work of a session to the next one, and over a compaction.

Keeps todos, plan, key files, unresolved errors and anchors (issue, branch, blockers, next step):
from what agents do, and from marked lines of their last message such as `Next step: …`. The next
session of the same repository and branch is told once, as quoted data, where the last one was
rotated or left something to do. After a compaction the anchors that its summary lost are told again
(docs/handoff.md).
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Annotated, Any, Literal, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from hookline.builtin._handoff_facts import clean, learn, learn_from_transcript
from hookline.model.answers import PASS, Answer
from hookline.model.errors import HooklineError
from hookline.model.events import CompactionEvent, Event, SessionStart
from hookline.model.memory import is_persons_prompt, tells_each_model_call
from hookline.model.ports import Caller, State, Transcript
from hookline.model.text import visible
from hookline.model.usage import TranscriptEnd
from hookline.store.handoffs import (
    Anchor,
    Handoff,
    Handoffs,
    Place,
    count_tokens,
    describe_handoff,
    find_lost,
    list_anchors,
    name_moment,
    quote,
)
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

T = TypeVar("T")

# Of these the person is told with the next prompt, stop or start when the state cannot be used.
_FREQUENT = frozenset({"post_tool_use", "post_tool_use_failure", "task_created", "task_completed"})
# The others tell all that a transcript says, or come too often to read a file.
_LEARNERS = frozenset({"pre_compact", "budget_exceeded", "session_end"})
_WRITERS = _LEARNERS | {"stop", "stop_failure"}
# The same conversation goes on: what it was told is still in it, or in its summary.
_SAME = frozenset({"resume", "compact", "fork"})
_LOST = "Noted before the compaction, quoted:"


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a session is told of the one before, and how much."""

    load: Literal["open", "rotated", "never"] = "open"
    """``open``: after a session that was rotated, or that left todos or a next step; ``rotated``:
    after a rotation only."""
    max_tokens: Annotated[int, Meta(ge=200, le=2_000)] = 1_500
    """About how large the document may be for the model."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer:
        if not event.session_id or caller.state is None:
            return PASS
        try:
            return _Turn(event, caller, caller.state(), options).go()
        except HooklineError:
            if event.event_id() not in _FREQUENT:
                raise
            return PASS

    return answer


class _Turn:
    """What one event does to the handoff of its session, and what the model is told of it."""

    def __init__(self, event: Event, caller: Caller, state: State, options: Options) -> None:
        self._event, self._caller, self._options = event, caller, options
        self._handoffs = Handoffs(state)
        self._session = " ".join(visible(f"{event.dialect}:{event.session_id}").split())
        path, workspace = find_place(event, caller)
        self._place = Place(path, workspace.repository, visible(workspace.branch))
        self._issue = clean(workspace.issue)
        # The model of a sub-agent is not the one that forgets, or begins.
        self._tells = caller.carries_text and not event.agent.depth
        self._name = event.event_id()
        self._source = event.source if isinstance(event, SessionStart) else ""
        self._used = _count_used(event)
        self._end: TranscriptEnd | None = None
        self._compacted = self._name == "post_compact" or self._source == "compact"
        reads = self._name in _LEARNERS or self._compacted
        if reads and event.transcript_path and caller.transcript and not event.agent.depth:
            self._read_transcript(caller.transcript(event.dialect), event.transcript_path)

    def go(self) -> Answer:
        """Remember, look after what a compaction lost, and load what another session left."""
        event = self._event
        answer = self._change(self._take_in)
        # Some platforms do not tell that a session begins, or take no text there.
        begins = self._name == "session_start" or is_persons_prompt(event)
        return self._load(answer) if begins and self._tells else answer

    def _change(self, change: Callable[[Handoff], T]) -> T:
        moves = not self._event.agent.depth
        return self._handoffs.change(self._session, self._place, change, moves=moves)

    def _read_transcript(self, transcript: Transcript | None, path: str) -> None:
        if transcript is None:
            return
        with suppress(OSError, ValueError):
            self._end = transcript.read_end(path)
            if self._name == "pre_compact" and self._used is None:
                usage = transcript.read_usage(path, None)
                # A transcript can be too long to say it.
                self._used = (usage.context or None) if usage.complete else None

    # ── this session ──

    def _take_in(self, handoff: Handoff) -> Answer:
        event = self._event
        learn(handoff, event, self._caller)
        if self._name in _LEARNERS and self._end is not None:
            learn_from_transcript(handoff, self._end)
        if handoff.has_content or handoff.begun:
            handoff.dialect, handoff.agent = event.dialect, clean(event.agent.name)
            handoff.issue = handoff.issue or self._issue
        handoff.ended = self._name == "session_end"
        handoff.rotated = handoff.rotated or self._name == "budget_exceeded"
        if event.agent.depth:
            return PASS
        metadata: dict[str, Any] = {}
        context: list[str] = []
        if is_persons_prompt(event):
            handoff.restored = ""
            # The person went on with it instead of with another session.
            handoff.rotated, handoff.relieved = handoff.rotated and not handoff.relieved, False
        if self._compacted:
            handoff.relieved = handoff.rotated
        if self._name in _WRITERS and handoff.has_content:
            handoff.reason = self._name
            if self._name in _LEARNERS:
                text = describe_handoff(handoff, max_tokens=self._options.max_tokens)
                metadata = {"written": self._name, "tokens": count_tokens(text)}
        metadata |= self._keep_anchors(handoff, context)
        if not (metadata or context):
            return PASS
        return Answer(context=tuple(context), metadata={"handoff": metadata} if metadata else {})

    def _keep_anchors(self, handoff: Handoff, context: list[str]) -> dict[str, Any]:
        """Adds what a compaction makes necessary to ``context``; returns how it went."""
        event = self._event
        measured: dict[str, Any] = {}
        if isinstance(event, CompactionEvent) and self._name == "pre_compact":
            if not tells_each_model_call(event):
                handoff.restored = ""
            handoff.compacting = event.time.timestamp()
            handoff.tokens_before = self._used or 0
            anchors = self._list_anchors(handoff)
            if anchors and self._tells:
                context.append(_quote("The summary has to keep these, word for word:", anchors))
            return {"context": handoff.tokens_before} if handoff.tokens_before else measured
        if self._name == "post_compact" or (handoff.compacting and self._tells):
            anchors = self._list_anchors(handoff)
            summary = self._find_summary(handoff.compacting)
            handoff.compacting = 0.0
            lost = anchors if summary is None else find_lost(anchors, summary)
            measured = {
                "anchors": len(anchors),
                "retained": None if summary is None else len(anchors) - len(lost),
                "lost": [each.kind for each in lost] if summary is not None else [],
            }
            measured |= self._measure_ratio(handoff.tokens_before or self._used or 0, summary)
            untold = [each for each in lost if quote(each) not in handoff.restored]
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
        is_new = end is not None and end.summary_time and 0 < since <= end.summary_time
        return (end.summary or None) if end is not None and is_new else None

    def _measure_ratio(self, before: int, summary: str | None) -> dict[str, float]:
        event = self._event
        after = event.output_tokens if isinstance(event, CompactionEvent) else None
        if after is None:
            after = self._used if summary is None else count_tokens(summary)
        return {"ratio": round(after / before, 3)} if before and after is not None else {}

    def _list_anchors(self, handoff: Handoff) -> list[Anchor]:
        """With the branch and the issue as they are now."""
        issue = handoff.issue or self._issue
        return list_anchors(replace(handoff, issue=issue, branch=self._place.branch))

    # ── the session before ──

    def _load(self, answer: Answer) -> Answer:
        options = self._options

        def begin(handoff: Handoff) -> bool:
            first = not (handoff.begun or handoff.has_content)
            handoff.begun = True
            return first

        # Asked about once more, the same start is given the same.
        first = self._change(begin) or self._caller.attempt > 1
        is_known = self._source in _SAME or options.load == "never"
        if not first or is_known or self._place.branch == IN_REFTABLE:
            return answer
        # The person who clears the conversation wants to begin anew.
        load = "rotated" if self._source == "clear" else options.load
        taken = self._handoffs.take(self._session, self._place, load=load)
        if taken is None:
            return answer
        found, age = taken
        self._change(lambda own: _inherit(own, found))
        introduction = _introduce(found)
        left = options.max_tokens - count_tokens(introduction)
        text = f"{introduction}\n{describe_handoff(found, max_tokens=left)}"
        told = {"loaded": found.session, "minutes": round(age / 60), "tokens": count_tokens(text)}
        known = answer.metadata.get("handoff", {})
        return Answer(context=(*answer.context, text), metadata={"handoff": {**known, **told}})


def _inherit(own: Handoff, found: Handoff) -> None:
    """What the session before left is this one's to keep through its own compactions."""
    for name in ("issue", "next_steps", "blockers", "decisions", "plan"):
        setattr(own, name, getattr(own, name) or getattr(found, name))
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
    return "\n".join([introduction, *map(quote, anchors)])


def _count_used(event: Event) -> int | None:
    if isinstance(event, CompactionEvent) and event.input_tokens:
        return event.input_tokens
    return event.budget.used_tokens if event.budget is not None else None
