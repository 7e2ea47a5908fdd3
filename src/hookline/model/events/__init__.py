"""Every canonical event, as the lifecycle reads; ``EVENTS`` maps ids to classes."""

from typing import Any, get_args

from hookline.model.events.base import Agent, Budget, Event, Workspace
from hookline.model.events.session import (
    BudgetExceeded,
    ConfigChange,
    CwdChanged,
    DirectoryAdded,
    Elicitation,
    ElicitationResult,
    Error,
    FileChanged,
    InstructionsLoaded,
    LoopDetected,
    MaxIterations,
    MessageDisplay,
    Notification,
    Other,
    PostModelSwitch,
    PreModelSwitch,
    SessionEnd,
    SessionResume,
    SessionStart,
    Setup,
    UserInput,
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
    AgentSwitch,
    BeforeCompaction,
    BeforeLlmCall,
    CompactionEvent,
    FollowUpSubmit,
    PostCompact,
    PreCompact,
    PromptEvent,
    PromptExpansion,
    PromptTransformed,
    SteeringSubmit,
    Stop,
    StopFailure,
    SubagentStart,
    SubagentStop,
    Task,
    TaskCompleted,
    TaskCreated,
    TeammateIdle,
    ToolSelection,
    TurnEnd,
    TurnEvent,
    TurnStart,
    UserPromptSubmit,
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
    "Workspace",
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
