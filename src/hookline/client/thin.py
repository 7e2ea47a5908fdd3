"""Run as ``PYTHON -I -S -E thin.py PYTHON hook DIALECT …`` where no C compiler was.

Python compiles the script that it is given anew each time, and that is a third of what a small
program costs. So this one only imports the client, which is compiled once, and has a last word for
when that cannot be: an exit code of 1, as Python itself has for it, would let the tool run.
"""

import posix
import sys

__all__: list[str] = []

# By an exit code of 2 these would keep the agent going; 1 has no effect.
KEEP_GOING = (
    *("Stop", "SubagentStop", "TaskCompleted", "TeammateIdle", "AfterAgent"),
    *("stop", "subagent_stop", "task_completed", "teammate_idle"),
    *("agentStop", "subagentStop", "agent_stop"),
)

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/")[0])
    code = 1 if sys.argv[4:5] and sys.argv[4] in KEEP_GOING else 2
    try:
        import thin_ask  # type: ignore[import-not-found]  # by its place, not as a part of hookline

        code = thin_ask.main()
    except BaseException:  # whatever it is: there is no memory, or a part of us is damaged
        try:  # noqa: SIM105 - contextlib may be what cannot be imported
            # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
            posix.write(2, b"hookline could not judge this: its client cannot run here\n")
        except OSError:
            pass
    # Without the interpreter's own farewell: nothing of ours is left to be flushed or freed.
    posix._exit(code)
