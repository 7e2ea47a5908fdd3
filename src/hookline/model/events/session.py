"""A session's life, what reaches a person in it, and the limits it meets."""

from typing import Any, ClassVar

from hookline.model.events.base import Event


class SessionStart(Event, frozen=True, kw_only=True):
    """Fires when a session begins."""

    takes_context: ClassVar[bool] = True
    rewrites: ClassVar[frozenset[str]] = frozenset({"env"})
    source: str = ""


class SessionEnd(Event, frozen=True, kw_only=True):
    """Fires when a session is over."""

    reason: str = ""


class SessionResume(Event, frozen=True, kw_only=True):
    """Fires when an earlier session is taken up again."""

    takes_context: ClassVar[bool] = True
    source: str = ""
    previous_max_iterations: int | None = None
    new_max_iterations: int | None = None


class Setup(Event, frozen=True, kw_only=True):
    """Fires when a host prepares a workspace, before any session."""

    takes_context: ClassVar[bool] = True
    trigger: str = ""


class InstructionsLoaded(Event, frozen=True, kw_only=True):
    """Fires when a file of standing instructions was read."""

    path: str = ""
    reason: str = ""


class ConfigChange(Event, frozen=True, kw_only=True):
    """Fires when the host's settings changed, before they apply."""

    gate: ClassVar[bool] = True
    path: str = ""
    source: str = ""


class CwdChanged(Event, frozen=True, kw_only=True):
    """Fires when the session moved to another directory."""

    old_cwd: str = ""
    new_cwd: str = ""


class FileChanged(Event, frozen=True, kw_only=True):
    """Fires when a watched file was added, changed or removed."""

    path: str = ""
    change: str = ""


class DirectoryAdded(Event, frozen=True, kw_only=True):
    """Fires when a directory joined the workspace."""

    path: str = ""


class WorktreeCreate(Event, frozen=True, kw_only=True):
    """Fires before a work tree is made for an agent."""

    gate: ClassVar[bool] = True
    name: str = ""
    path: str = ""
    branch: str = ""
    source_dir: str = ""


class WorktreeRemove(Event, frozen=True, kw_only=True):
    """Fires when an agent's work tree goes away."""

    path: str = ""


class PreModelSwitch(Event, frozen=True, kw_only=True):
    """Fires before the session moves to another model."""

    gate: ClassVar[bool] = True
    asks: ClassVar[bool] = True
    from_model: str = ""
    to_model: str = ""


class PostModelSwitch(Event, frozen=True, kw_only=True):
    """Fires after the session moved to another model."""

    takes_context: ClassVar[bool] = True
    from_model: str = ""
    to_model: str = ""


# ── what reaches a person, and what a person is asked ─────────────────────────────────────────


class Notification(Event, frozen=True, kw_only=True):
    """Fires when the host tells the person something."""

    kind: str = ""
    message: str = ""
    title: str = ""


class UserInput(Event, frozen=True, kw_only=True):
    """Fires when the host waits for the person."""

    why: str = ""


class Elicitation(Event, frozen=True, kw_only=True):
    """Fires when an MCP server wants to ask the person something."""

    gate: ClassVar[bool] = True
    allows: ClassVar[bool] = True
    server: str = ""
    message: str = ""
    schema: dict[str, Any] | None = None


class ElicitationResult(Event, frozen=True, kw_only=True):
    """Fires when the person answered an MCP server."""

    action: str = ""
    content: Any = None


class MessageDisplay(Event, frozen=True, kw_only=True):
    """Fires when the model's text is about to be shown."""

    rewrites: ClassVar[frozenset[str]] = frozenset({"display"})
    text: str = ""
    final: bool = False


# ── limits reached, errors, and whatever a platform has that nobody else does ─────────────────


class BudgetExceeded(Event, frozen=True, kw_only=True):
    """Fires when tokens or money are about to run out."""

    gate: ClassVar[bool] = True
    message: str = ""
    """What was used of what, in one sentence."""
    scope: str = ""
    """``context``, ``session``, ``day`` or ``repository``."""
    unit: str = ""
    """``tokens`` or ``dollars``."""
    used: float | None = None
    limit: float | None = None
    percent: float | None = None


class MaxIterations(Event, frozen=True, kw_only=True):
    """Fires when an agent used up its turns."""


class LoopDetected(Event, frozen=True, kw_only=True):
    """Fires when an agent repeats itself."""

    kind: str = ""
    """What repeats: ``failure``, ``repetition``, ``alternation``, ``compaction``."""
    message: str = ""
    """What the agent is told, for a person to read."""
    count: int | None = None
    """How often, so far."""
    minutes: int | None = None
    """In how many minutes, at most."""


class Error(Event, frozen=True, kw_only=True):
    """Fires when something went wrong in the host."""

    message: str = ""
    where: str = ""


class Other(Event, frozen=True, kw_only=True):
    """Fires for a native event that has no canonical one; match it by ``native``."""
