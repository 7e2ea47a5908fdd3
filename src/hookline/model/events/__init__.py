"""Every canonical event, as the lifecycle reads; ``EVENTS`` maps ids to classes."""

from typing import Any, get_args

from hookline.model.events.agents import (
    AgentSwitch,
    SubagentStart,
    SubagentStop,
    Task,
    TaskCompleted,
    TaskCreated,
    TeammateIdle,
)
from hookline.model.events.base import Agent, Budget, Event
from hookline.model.events.ending import (
    BeforeCompaction,
    CompactionEvent,
    PostCompact,
    PreCompact,
    Stop,
    StopFailure,
)
from hookline.model.events.limits import BudgetExceeded, Error, LoopDetected, MaxIterations, Other
from hookline.model.events.person import (
    Elicitation,
    ElicitationResult,
    MessageDisplay,
    Notification,
    UserInput,
)
from hookline.model.events.prompt import (
    FollowUpSubmit,
    PromptEvent,
    PromptExpansion,
    PromptTransformed,
    SteeringSubmit,
    UserPromptSubmit,
)
from hookline.model.events.session import (
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    FileChanged,
    InstructionsLoaded,
    PostModelSwitch,
    PreModelSwitch,
    SessionEnd,
    SessionResume,
    SessionStart,
    Setup,
    WorktreeCreate,
    WorktreeRemove,
)
from hookline.model.events.tool import (
    PermissionDecided,
    PermissionRequest,
    PostToolBatch,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    ToolEvent,
    ToolResponseTransform,
)
from hookline.model.events.turn import (
    AfterLlmCall,
    AgentStart,
    BeforeLlmCall,
    ToolSelection,
    TurnEnd,
    TurnEvent,
    TurnStart,
)

__all__ = [
    "EVENTS",
    "AfterLlmCall",
    "Agent",
    "AgentStart",
    "AgentSwitch",
    "AnyEvent",
    "BeforeCompaction",
    "BeforeLlmCall",
    "Budget",
    "BudgetExceeded",
    "CompactionEvent",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "Error",
    "Event",
    "FileChanged",
    "FollowUpSubmit",
    "InstructionsLoaded",
    "LoopDetected",
    "MaxIterations",
    "MessageDisplay",
    "Notification",
    "Other",
    "PermissionDecided",
    "PermissionRequest",
    "PostCompact",
    "PostModelSwitch",
    "PostToolBatch",
    "PostToolUse",
    "PostToolUseFailure",
    "PreCompact",
    "PreModelSwitch",
    "PreToolUse",
    "PromptEvent",
    "PromptExpansion",
    "PromptTransformed",
    "SessionEnd",
    "SessionResume",
    "SessionStart",
    "Setup",
    "SteeringSubmit",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "Task",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "ToolEvent",
    "ToolResponseTransform",
    "ToolSelection",
    "TurnEnd",
    "TurnEvent",
    "TurnStart",
    "UserInput",
    "UserPromptSubmit",
    "WorktreeCreate",
    "WorktreeRemove",
]

AnyEvent = (
    SessionStart
    | SessionEnd
    | SessionResume
    | Setup
    | InstructionsLoaded
    | ConfigChange
    | CwdChanged
    | FileChanged
    | DirectoryAdded
    | WorktreeCreate
    | WorktreeRemove
    | PreModelSwitch
    | PostModelSwitch
    | UserPromptSubmit
    | PromptExpansion
    | PromptTransformed
    | SteeringSubmit
    | FollowUpSubmit
    | AgentStart
    | TurnStart
    | TurnEnd
    | BeforeLlmCall
    | AfterLlmCall
    | ToolSelection
    | PreToolUse
    | PermissionRequest
    | PermissionDecided
    | ToolResponseTransform
    | PostToolUse
    | PostToolUseFailure
    | PostToolBatch
    | SubagentStart
    | SubagentStop
    | AgentSwitch
    | TaskCreated
    | TaskCompleted
    | TeammateIdle
    | PreCompact
    | BeforeCompaction
    | PostCompact
    | Stop
    | StopFailure
    | Notification
    | UserInput
    | Elicitation
    | ElicitationResult
    | MessageDisplay
    | BudgetExceeded
    | MaxIterations
    | LoopDetected
    | Error
    | Other
)

EVENTS: dict[str, type[Any]] = {cls.event_id(): cls for cls in get_args(AnyEvent)}
