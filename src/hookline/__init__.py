"""hookline: the portable lifecycle-hook layer for AI agents."""

from typing import TYPE_CHECKING, Any

from hookline._version import __version__

if TYPE_CHECKING:
    from hookline.functions import hook
    from hookline.hook_manager import HookManager
    from hookline.library import Hooks, main
    from hookline.model.answers import (
        Answer,
        Rewrite,
        Verdict,
        allow,
        ask,
        context,
        deny,
        follow_up,
        halt,
        notice,
        rewrite,
    )
    from hookline.model.errors import ConfigError, HooklineError
    from hookline.model.events import *
    from hookline.model.outcome import Outcome, Run, Substitution
    from hookline.model.tools import Tool, ToolKind, tool

__all__ = [
    "AfterLlmCall",
    "Agent",
    "AgentStart",
    "AgentSwitch",
    "Answer",
    "BeforeCompaction",
    "BeforeLlmCall",
    "Budget",
    "BudgetExceeded",
    "ConfigChange",
    "ConfigError",
    "CwdChanged",
    "DirectoryAdded",
    "Elicitation",
    "ElicitationResult",
    "Error",
    "Event",
    "FileChanged",
    "FollowUpSubmit",
    "HookManager",
    "HooklineError",
    "Hooks",
    "InstructionsLoaded",
    "LoopDetected",
    "MaxIterations",
    "MessageDisplay",
    "Notification",
    "Other",
    "Outcome",
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
    "PromptExpansion",
    "PromptTransformed",
    "Rewrite",
    "Run",
    "SessionEnd",
    "SessionResume",
    "SessionStart",
    "Setup",
    "SteeringSubmit",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "Substitution",
    "TaskCompleted",
    "TaskCreated",
    "TeammateIdle",
    "Tool",
    "ToolKind",
    "ToolResponseTransform",
    "ToolSelection",
    "TurnEnd",
    "TurnStart",
    "UserInput",
    "UserPromptSubmit",
    "Verdict",
    "Workspace",
    "WorktreeCreate",
    "WorktreeRemove",
    "__version__",
    "allow",
    "ask",
    "context",
    "deny",
    "follow_up",
    "halt",
    "hook",
    "main",
    "notice",
    "rewrite",
    "tool",
]

# Where public names live that are no events; imported on first use, since agents wait for us.
_HOMES = {
    "hookline.functions": {"hook"},
    "hookline.hook_manager": {"HookManager"},
    "hookline.library": {"Hooks", "main"},
    "hookline.model.answers": {
        *("Answer", "Rewrite", "Verdict", "allow", "ask", "context", "deny", "follow_up", "halt"),
        *("notice", "rewrite"),
    },
    "hookline.model.errors": {"ConfigError", "HooklineError"},
    "hookline.model.outcome": {"Outcome", "Run", "Substitution"},
    "hookline.model.tools": {"Tool", "ToolKind", "tool"},
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module `hookline` has no attribute `{name}`")
    homes = (each for each, names in _HOMES.items() if name in names)
    value = getattr(import_module(next(homes, "hookline.model.events")), name)
    globals()[name] = value
    return value
