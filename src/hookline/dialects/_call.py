"""The command line by which a platform calls us: written so that any shell can run it, and
recognised again wherever a person moved it.
"""

import os
import re
import shlex
from collections.abc import Sequence

from hookline.model.installing import Call

__all__ = ["call_words", "line", "words_of"]

# In these scripts "$@" is the call itself. They hold no quote, backslash or exclamation mark, so
# that every shell people log in with, fish and csh included, hands them to /bin/sh as they are.
#
# Platforms let the tool run on any exit but 0 and 2, and some on a 2 without a word on stderr.
_CLOSED = (
    '"$@"; s=$?; [ $s = 0 ] && exit 0; [ $s = 2 ] && m="this was blocked" || '
    'm="could not judge this: $1 ended with exit code $s, so it is blocked. '
    "hookline doctor says what to mend; if it does not run either, install hookline again, or "
    'take it out of these settings"; '
    'echo "hookline: $m" >&2; exit 2'
)
# Where nothing can be blocked, or a block would keep the agent going, nothing may be for our
# sake: 1 is the one code that every platform takes for a mere failure.
_OPEN = '"$@"; s=$?; [ $s = 2 ] && exit 2; [ $s = 0 ] || exit 1'

_ABSENT_CLOSED = (
    'command -v "$1" >/dev/null 2>&1 || { echo "hookline guards this project and is not '
    "installed on this machine, so this is blocked. Install it (uv tool install hookline), or "
    'take it out of these settings." >&2; exit 2; }; '
)
_ABSENT_OPEN = 'command -v "$1" >/dev/null 2>&1 || exit 0; '

_SCRIPT = "/hookline/client/thin.py"
_NAMES = {"hookline", "hookline-client", "thin.py"}
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# What may come right before the program that a command starts.
_BEFORE = {"&&", "||", ";", "|", "{", "(", "then", "do", "exec", "command", "env", "nohup"}


def line(call: Call, dialect: str, event: str, *, closes: bool, timeout: int) -> str:
    """The command for one event; ``closes`` makes every failure of ours block."""
    script = _CLOSED if closes else _OPEN
    if call.shared:
        script = (_ABSENT_CLOSED if closes else _ABSENT_OPEN) + script
    words = ("/bin/sh", "-c", script, "hookline", *call_words(call, dialect, event, timeout))
    return shlex.join(words)


def call_words(call: Call, dialect: str, event: str, timeout: int) -> tuple[str, ...]:
    """The call without a shell around it."""
    options = [("--home", call.home), ("--user-config", call.user_config)]
    given = [word for name, value in options if value for word in (name, value)]
    trust = ["--trust-env"] if call.trust_env else []
    return (*call.program, "hook", dialect, event, *given, "--timeout", str(timeout), *trust)


def words_of(command: str, dialect: str, *, args: Sequence[str] | None = None) -> tuple[str, ...]:
    """The call of ``hookline hook DIALECT`` in a command line, from the program on; else empty.

    With ``args`` the command is a program, and no shell reads it.
    """
    if not any("hookline" in word for word in (command, *(args or ()))):
        return ()
    try:
        words = shlex.split(command) if args is None else [command, *args]
    except ValueError:  # a quote that nobody closed: no shell would run it
        return ()
    for index in range(len(words)):
        if _starts_here(words, index) and (call := _call_at(words, index, dialect)):
            return call
    if len(words) > 2 and os.path.basename(words[0]) in _SHELLS and words[1] == "-c":
        return _call_at(words, 4, dialect) or words_of(words[2], dialect)
    return ()


def _starts_here(words: Sequence[str], index: int) -> bool:
    if index == 0:
        return True
    before = words[index - 1]
    return before in _BEFORE or before.endswith(";") or bool(_ASSIGNMENT.match(before))


def _call_at(words: Sequence[str], index: int, dialect: str) -> tuple[str, ...]:
    """The call that starts with the word at ``index``: by name, as a module, or by a client."""
    if index >= len(words):
        return ()
    at = index
    if os.path.basename(words[index]).startswith("python"):
        at = next((at for at in range(index + 1, index + 6) if _is_run(words, at)), index)
    if os.path.basename(words[at]) not in _NAMES:
        return ()
    # A client is told which interpreter has hookline, before anything else.
    told = at if os.path.basename(words[at]) == "hookline" else at + 1
    return tuple(words[index:]) if list(words[told + 1 : told + 3]) == ["hook", dialect] else ()


def _is_run(words: Sequence[str], at: int) -> bool:
    """Whether this word is what an interpreter in front of it runs, and is ours."""
    if at >= len(words):
        return False
    as_module = words[at] == "hookline" and words[at - 1] == "-m"
    return as_module or words[at].endswith(_SCRIPT)
