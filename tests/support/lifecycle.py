"""The canonical events and what each can take, written from the design and not from the code."""

__all__ = [
    "ALL",
    "ASKING",
    "CONTINUING",
    "DENYING",
    "GATES",
    "GRANTING",
    "HIDING",
    "REWRITABLE",
    "class_name",
]

# As in the design: two stars mark the gate events, on which blocking is possible somewhere.
_TABLE = """
session_start session_end session_resume setup instructions_loaded **config_change** cwd_changed
file_changed directory_added **worktree_create** worktree_remove **pre_model_switch**
post_model_switch

**user_prompt_submit** **prompt_expansion** prompt_transformed **steering_submit**
**follow_up_submit**

agent_start turn_start turn_end **before_llm_call** after_llm_call **tool_selection**

**pre_tool_use** **permission_request** permission_decided tool_response_transform post_tool_use
post_tool_use_failure post_tool_batch

**subagent_start** **subagent_stop** agent_switch **task_created** **task_completed**
**teammate_idle**

**pre_compact** **before_compaction** post_compact

**stop** stop_failure

notification user_input **elicitation** elicitation_result message_display

**budget_exceeded** max_iterations loop_detected error

other
"""

ALL = tuple(word.strip("*") for word in _TABLE.split())
GATES = frozenset(word.strip("*") for word in _TABLE.split() if word.startswith("**"))
GRANTING = frozenset({"pre_tool_use", "permission_request", "elicitation"})
ASKING = frozenset({"pre_tool_use", "permission_request", "pre_model_switch"})
HIDING = frozenset(
    {"post_tool_use", "post_tool_use_failure", "tool_response_transform", "after_llm_call"}
)
CONTINUING = frozenset({"stop", "subagent_stop", "teammate_idle", "task_completed"})
DENYING = (GATES | HIDING) - CONTINUING

_PROMPTS = {id: {"prompt"} for id in ALL if "prompt" in id or id.endswith("_submit")}
REWRITABLE: dict[str, set[str]] = {
    **_PROMPTS,
    "pre_tool_use": {"input", "env"},
    "permission_request": {"input", "env"},
    "post_tool_use": {"output"},
    "tool_response_transform": {"output"},
    "before_llm_call": {"messages"},
    "pre_compact": {"summary"},
    "before_compaction": {"summary"},
    "session_start": {"env"},
    "message_display": {"display"},
}


def class_name(event: str) -> str:
    """``pre_tool_use`` → ``PreToolUse``."""
    return "".join(word.capitalize() for word in event.split("_"))
