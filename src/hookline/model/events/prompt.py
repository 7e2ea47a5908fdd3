"""What people say to the agent, on its way in."""

from typing import ClassVar

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
