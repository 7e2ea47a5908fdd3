"""Asks git about a directory: read only, bounded in time and output, silent when it cannot tell."""

import os
import signal
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen
from threading import Timer
from time import monotonic

from hookline.model.ports import Caller

__all__ = ["ask_git", "environment"]

TIMEOUT = 5.0
CAP = 4096
"""Bytes that are shown; docker-agent's limit."""

# Enough that trimming blanks cannot change what the cap leaves.
_READ = 64 * 1024

# All that git needs. Everything else could point it at another repository, configuration or
# program: GIT_*, LD_*, the pager.
_PASSED_ON = ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "XDG_CONFIG_HOME")

# Neither may a repository name programs that a mere question runs, nor a question wait for locks.
_SAFELY = (
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "color.ui=false",
    # A directory that only looks like a repository comes with any checkout.
    "-c",
    "safe.bareRepository=explicit",
)


def ask_git(directory: str, caller: Caller, *question: str) -> str:
    """What ``git -C directory …`` printed; empty outside a repository and on any failure."""
    seconds = TIMEOUT
    if caller.deadline is not None:
        seconds = min(seconds, caller.deadline - monotonic())
    try:
        process = Popen(  # noqa: S603 - a fixed program with arguments of ours
            ["git", "-C", directory, *_SAFELY, *question],  # noqa: S607 - on a PATH made safe
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd="/",
            env=environment(caller),
            start_new_session=True,
        )
    except (OSError, ValueError):
        return ""
    with process:
        assert process.stdout is not None
        # A process cannot be read and watched at once without a second thread.
        timer = Timer(max(seconds, 0), _kill, [process])
        timer.daemon = True
        timer.start()
        try:
            output = process.stdout.read(_READ)
            cut = len(output) == _READ
            # What is cut short we end ourselves, so its exit code would say nothing.
            answered = cut or process.wait() == 0
        finally:
            timer.cancel()
            _kill(process)
    return _shown(output) if answered else ""


def environment(caller: Caller) -> dict[str, str]:
    """What git is started with on behalf of a caller."""
    path = caller.env.get("PATH", "")
    absolute = ":".join(entry for entry in path.split(":") if entry.startswith("/"))
    passed_on = {name: caller.env[name] for name in _PASSED_ON if name in caller.env}
    return {**passed_on, "PATH": absolute or os.defpath, "GIT_TERMINAL_PROMPT": "0"}


def _kill(process: Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


def _shown(output: bytes) -> str:
    text = output.strip()
    if len(text) <= CAP:
        return text.decode("utf-8", "replace")
    return text[:CAP].decode("utf-8", "ignore") + "\n... (truncated)"
