"""Run as ``PYTHON -I -S -E thin.py PYTHON hook DIALECT …`` where no C compiler was.

Python compiles the script that it is given anew each time, and that is a third of what a small
program costs. So this one only imports the client, which is compiled once, and has a last word for
when that cannot be: an exit code of 1, as Python itself has for it, would let the tool run.
"""

import posix
import sys

__all__: list[str] = []

# Events that are a gate on no platform. There an exit code of 2 may be shown to the model, or keep
# the agent going; 1 has no effect.
OPEN = """
AfterAgent AfterModel AfterTool CwdChanged DirectoryAdded ElicitationResult ErrorOccurred
FileChanged InstructionsLoaded Interrupt MessageDisplay Notification OnError PermissionDenied
PostCompact PostModelRequest PostModelSwitch PostToolBatch PostToolUse PostToolUseFailure
SessionEnd SessionStart Setup Stop StopFailure SubagentStop TaskCompleted TeammateIdle
WorktreeRemove afterAgentResponse afterAgentThought afterFileEdit afterMCPExecution
afterShellExecution afterTabFileEdit after_compaction after_llm_call after_tool_call agentStop
agent_start agent_stop agent_switch cwd_changed directory_added elicitation_result error
errorOccurred file_changed instructions_loaded loop_detected max_iterations message_display
notification on_agent_switch on_error on_max_iterations on_session_resume
on_tool_approval_decision on_user_input other permission_decided postResult postToolUse
postToolUseFailure post_compact post_model_switch post_tool_batch post_tool_use
post_tool_use_failure preMcpToolCall prePRDescription prompt_transformed sessionEnd sessionStart
session_end session_resume session_start setup stop stop_failure subagentStop subagent_stop
task_completed teammate_idle tool_response_transform turn_end turn_start userPromptTransformed
user_input workspaceOpen worktree_remove
"""
CAUSE = "hookline could not judge this: its client cannot run here"
ADVICE = "`hookline doctor` says what to fix.\n"
WORD = f"{CAUSE}. {ADVICE}".encode()


def last_word(exc: BaseException) -> int:
    """Whatever it is: there is no memory, or a part of us is damaged."""
    try:
        word = f"{CAUSE}: {type(exc).__name__}: {str(exc)[:400]}. {ADVICE}".encode(
            "ascii", "replace"
        )
    except Exception:
        word = WORD
    try:  # noqa: SIM105 - contextlib may be what cannot be imported
        # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
        posix.write(2, word)
    except OSError:
        pass
    return 1 if sys.argv[4:5] and sys.argv[4] in OPEN.split() else 2


if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/")[0])
    try:
        import thin_ask  # type: ignore[import-not-found]  # by its place, not as a part of hookline

        code = thin_ask.main()
    except BaseException as exc:
        code = last_word(exc)
    # Without the interpreter's own farewell: nothing of ours is left to be flushed or freed.
    posix._exit(code)
