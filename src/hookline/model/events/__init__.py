"""Every canonical event, as the lifecycle reads; ``EVENTS`` maps ids to classes."""

from typing import Any, get_args

# The classes of these are this module's names: a new one stands nowhere else but in `AnyEvent`.
from hookline.model.events.base import *
from hookline.model.events.session import *
from hookline.model.events.tool import *
from hookline.model.events.turn import *

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
