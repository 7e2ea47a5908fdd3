"""Compaction, and the ways in which a turn ends."""

from typing import ClassVar

from hookline.model.events.base import Event


class CompactionEvent(Event, frozen=True, kw_only=True):
    """The compaction family."""

    trigger: str = ""
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
    stop_hook_active: bool = False


class StopFailure(Event, frozen=True, kw_only=True):
    """Fires when the turn ended in an error instead."""

    error: str = ""
    last_message: str = ""
