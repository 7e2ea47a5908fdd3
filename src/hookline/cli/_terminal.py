"""Asks the person at the terminal, and nobody else: not stdin, not an agent.

Knows how agents mark the programs they start; must not know what the question is about.
"""

import os
from collections.abc import Mapping

from hookline.model.errors import TrustError
from hookline.model.text import visible

__all__ = ["agent_marker", "confirm"]

# What agents set for the programs they start. Only such names: others with the same prefixes
# (CODEX_HOME, CLAUDE_CODE_USE_BEDROCK, COPILOT_MODEL) are settings that people keep in their shell.
_MARKERS = (
    "AI_AGENT",
    "AGENT",
    "CLAUDECODE",
    "CLAUDE_CODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CODEX_CI",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "COPILOT_AGENT",
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI",
    "GH_COPILOT",
    "CURSOR_AGENT",
    "CURSOR_CONVERSATION_ID",
    "CURSOR_TRACE_ID",
    "GEMINI_CLI",
    "OPENCODE",
    "PI_CODING_AGENT",
    "AMP_CURRENT_THREAD_ID",
    "ANTIGRAVITY_AGENT",
    "AUGMENT_AGENT",
    "QWEN_CODE",
    "HOOKLINE_DEPTH",
)

_LONGEST = 1_000


def agent_marker(env: Mapping[str, str]) -> str | None:
    """The variable that says an agent started this program, if any does."""
    return next((name for name in _MARKERS if env.get(name)), None)


def confirm(question: str, env: Mapping[str, str], *, yes: bool = False) -> None:
    """Return only when a person said yes; raises TrustError in every other case.

    ``yes`` stands for the person where HOOKLINE_TRUST is set too, as in a container's build: a
    word on a command line alone is something an agent can write.
    """
    if yes and env.get("HOOKLINE_TRUST"):
        return
    marker = agent_marker(env)
    if marker:
        raise _refusal(f"{marker} says that an agent runs here")
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError as error:
        raise _refusal("there is no terminal here") from error
    try:
        answer = _ask(terminal, question)
    except OSError as error:
        raise _refusal("the terminal went away") from error
    finally:
        os.close(terminal)
    if answer.strip().lower() not in {"y", "yes"}:
        raise TrustError("nothing was changed")


def _refusal(why: str) -> TrustError:
    ways = "run it in a terminal of your own, or where no agent can, with --yes and HOOKLINE_TRUST"
    return TrustError(f"only a person can do this, and {why}: {ways} set")


def _ask(terminal: int, question: str) -> str:
    import termios

    # A job in the background would be stopped for reading, and wait for ever.
    if os.tcgetpgrp(terminal) != os.getpgrp():
        raise _refusal("this runs in the background")
    # What was typed before the question was seen is no answer to it.
    termios.tcflush(terminal, termios.TCIFLUSH)
    os.write(terminal, f"{visible(question)} [y/N] ".encode(errors="replace"))
    answer = b""
    while not answer.endswith(b"\n") and len(answer) < _LONGEST:
        more = os.read(terminal, _LONGEST)
        if not more:
            return ""  # a line that was not finished is no answer
        answer += more
    return answer.decode(errors="replace")
