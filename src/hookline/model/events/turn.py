"""A turn: the prompt, the calls to a model, the agents at work, and how it ends."""

from typing import Any, ClassVar

from msgspec import Struct

from hookline.model.events.base import Event


class PromptEvent(Event, frozen=True, kw_only=True):
    """The prompt family."""

    takes_context: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"prompt"})
    prompt: str = ""


class UserPromptSubmit(PromptEvent, frozen=True, kw_only=True):
    """Fires when a person sent a prompt, before the model sees it."""

    gate: ClassVar[bool] = True
    automatic: bool = False
    """Whether the client said it to the model by itself: no person has spoken."""


class PromptExpansion(PromptEvent, frozen=True, kw_only=True):
    """Fires when a typed command is about to become a longer prompt."""

    gate: ClassVar[bool] = True
    command: str = ""
    args: str = ""


class PromptTransformed(PromptEvent, frozen=True, kw_only=True):
    """Fires after the host turned the prompt into what the model will get."""

    transformed: str = ""


class SteeringSubmit(PromptEvent, frozen=True, kw_only=True):
    """Fires when a person steers an agent that is already working."""

    gate: ClassVar[bool] = True
    prompts: tuple[str, ...] = ()


class FollowUpSubmit(PromptEvent, frozen=True, kw_only=True):
    """Fires when a queued follow-up prompt is taken up."""

    gate: ClassVar[bool] = True


# ── the agent's turns and its calls to a model ────────────────────────────────────────────────


class TurnEvent(Event, frozen=True, kw_only=True):
    """The turn and model family."""

    iteration: int | None = None
    messages: tuple[dict[str, Any], ...] = ()
    usage: dict[str, Any] | None = None
    cost_usd: float | None = None


class AgentStart(TurnEvent, frozen=True, kw_only=True):
    """Fires when an agent's loop begins."""

    takes_context: ClassVar[bool] = True


class TurnStart(TurnEvent, frozen=True, kw_only=True):
    """Fires at the start of each turn of the loop."""

    takes_context: ClassVar[bool] = True


class TurnEnd(TurnEvent, frozen=True, kw_only=True):
    """Fires at the end of each turn of the loop."""

    reason: str = ""


class BeforeLlmCall(TurnEvent, frozen=True, kw_only=True):
    """Fires before each request to a model."""

    gate: ClassVar[bool] = True
    takes_context: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"messages"})


class AfterLlmCall(TurnEvent, frozen=True, kw_only=True):
    """Fires after each answer of a model."""

    hides: ClassVar[bool] = True


class ToolSelection(TurnEvent, frozen=True, kw_only=True):
    """Fires when the tools a model may choose from are picked."""

    gate: ClassVar[bool] = True
    tools: tuple[str, ...] = ()


# ── sub-agents, tasks and team mates ──────────────────────────────────────────────────────────


class Task(Struct, frozen=True, kw_only=True):
    """A piece of work on the agents' list."""

    id: str = ""
    subject: str = ""


class SubagentStart(Event, frozen=True, kw_only=True):
    """Fires when a sub-agent is about to begin."""

    gate: ClassVar[bool] = True
    takes_context: ClassVar[bool] = True


class SubagentStop(Event, frozen=True, kw_only=True):
    """Fires when a sub-agent wants to stop."""

    gate: ClassVar[bool] = True
    continues: ClassVar[bool] = True
    last_message: str = ""
    stop_hook_active: bool = False
    agent_transcript_path: str = ""
    """The sub-agent's own transcript; ``transcript_path`` is the session's."""


class AgentSwitch(Event, frozen=True, kw_only=True):
    """Fires when one agent hands over to another."""

    from_agent: str = ""
    to_agent: str = ""
    kind: str = ""


class TaskCreated(Event, frozen=True, kw_only=True):
    """Fires when a task is about to join the list."""

    gate: ClassVar[bool] = True
    task: Task = Task()


class TaskCompleted(Event, frozen=True, kw_only=True):
    """Fires when a task is about to be marked as done."""

    gate: ClassVar[bool] = True
    continues: ClassVar[bool] = True
    task: Task = Task()


class TeammateIdle(Event, frozen=True, kw_only=True):
    """Fires when a team mate ran out of work."""

    gate: ClassVar[bool] = True
    continues: ClassVar[bool] = True


# ── compaction, and the ways in which a turn ends ─────────────────────────────────────────────


class CompactionEvent(Event, frozen=True, kw_only=True):
    """The compaction family."""

    trigger: str = ""
    custom_instructions: str = ""
    """What a person who asked for it wants kept."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    context_limit: int | None = None
    summary: str = ""


class PreCompact(CompactionEvent, frozen=True, kw_only=True):
    """Fires when a conversation is about to be compacted."""

    gate: ClassVar[bool] = True
    takes_context: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"summary"})


class BeforeCompaction(CompactionEvent, frozen=True, kw_only=True):
    """Fires right before the summary is made; a hook may supply it."""

    gate: ClassVar[bool] = True
    takes_context: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"summary"})


class PostCompact(CompactionEvent, frozen=True, kw_only=True):
    """Fires after a conversation was compacted."""

    takes_context: ClassVar[bool] = True


class Stop(Event, frozen=True, kw_only=True):
    """Fires when the agent wants to end its turn."""

    gate: ClassVar[bool] = True
    continues: ClassVar[bool] = True
    last_message: str = ""
    last_user_message: str = ""
    messages: tuple[dict[str, Any], ...] = ()
    """The conversation, where the platform sends it."""
    stop_hook_active: bool = False


class StopFailure(Event, frozen=True, kw_only=True):
    """Fires when the turn ended in an error instead."""

    error: str = ""
    last_message: str = ""
