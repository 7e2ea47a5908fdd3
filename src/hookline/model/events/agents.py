"""Sub-agents, tasks and team mates."""

from typing import ClassVar

from msgspec import Struct

from hookline.model.events.base import Event


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
