"""Limits reached, errors, and whatever a platform has that nobody else does."""

from typing import ClassVar

from hookline.model.events.base import Event


class BudgetExceeded(Event, frozen=True, kw_only=True):
    """Fires when tokens or money ran out."""

    gate: ClassVar[bool] = True


class MaxIterations(Event, frozen=True, kw_only=True):
    """Fires when an agent used up its turns."""


class LoopDetected(Event, frozen=True, kw_only=True):
    """Fires when an agent repeats itself."""


class Error(Event, frozen=True, kw_only=True):
    """Fires when something went wrong in the host."""

    message: str = ""
    where: str = ""


class Other(Event, frozen=True, kw_only=True):
    """Fires for a native event that has no canonical one; match it by ``native``."""
