"""The command line by which a platform calls us: written so that any shell can run it, and
recognised again wherever a person moved it.
"""

import os
import re
import shlex
from collections.abc import Sequence
from itertools import takewhile

from hookline.model.installing import Call

__all__ = ["PLAIN", "SHELL", "call_words", "line", "words_of"]

# In these scripts "$@" is the call itself. They hold no quote, backslash or exclamation mark, so
# that every shell people log in with, fish and csh included, hands them to /bin/sh as they are.
#
# Where /bin/sh is bash it imports functions from the environment, which a repository can set:
# without this, one named `echo` could end a script with 0. `unset` and `exit` cannot be replaced
# there, and `case` is a keyword.
SHELL = "/bin/sh"
PLAIN = "unset -f [ echo printf command hookline; "

# What is said when hookline could not answer: "$0" is the settings file that the line stands in.
_SAY = (
    'for p; do case $p in hook) break ;; /*) [ -e "$p" ] || m="blocked, because hookline is gone: '
    '$p is missing. Install it again, or delete every entry with that path from $0" ;; '
    'esac; done; echo "hookline: $m" >&2; exit 2'
)
# Platforms let the tool run on any exit but 0 and 2, and some on a 2 without a word on stderr.
_CLOSED = (
    '"$@"; s=$?; case $s in 0) exit 0 ;; 2) m="this was blocked" ;; '
    f'*) m="blocked, because $1 ended with exit code $s. Run hookline doctor" ;; esac; {_SAY}'
)
# The same after a call that another shell made: with which code it ended is not known here.
_FAILED = 'm="blocked. If no reason stands above, hookline failed: run hookline doctor"; ' + _SAY
# Where nothing can be blocked, or a block would keep the agent going, nothing may be for our
# sake: 1 is the one code that every platform takes for a mere failure.
_OPEN = '"$@"; case $? in 0) exit 0 ;; 2) exit 2 ;; *) exit 1 ;; esac'

_ABSENT_CLOSED = (
    'command -v "$1" >/dev/null 2>&1 || { echo "hookline guards this project and is not '
    "installed on this machine, so this is blocked. Install it (uv tool install hookline), or "
    'take it out of $0." >&2; exit 2; }; '
)
_ABSENT_OPEN = 'command -v "$1" >/dev/null 2>&1 || exit 0; '

_SCRIPT = "/hookline/client/thin.py"
_NATIVE = "hookline-client"
_NAMES = {"hookline", _NATIVE, "thin.py"}
_ENDS = {"||", "&&", ";", "|", "&"}
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# What may come right before the program that a command starts.
_BEFORE = {"&&", "||", ";", "|", "{", "(", "then", "do", "exec", "command", "env", "nohup"}


def line(
    call: Call, dialect: str, event: str, *, closes: bool, timeout: int, flat: bool = False
) -> str:
    """The command for one event; ``closes`` makes every failure of ours block.

    ``flat`` is for clients that start a POSIX shell, whatever the person's own is: it makes the
    call, and a second shell is started only when that failed. fish would stop at a missing program.
    """
    words = call_words(call, dialect, event, timeout)
    if flat and not call.shared and closes:
        told = (SHELL, "-c", PLAIN + _FAILED, call.shown_file, *call.program)
        return f"{shlex.join(words)} || {shlex.join(told)}"
    if flat and os.path.basename(words[0]) == _NATIVE:
        # It ends with 0 or 2; where it cannot be started, the shell's own code is a mere failure.
        return shlex.join(words)
    script = _CLOSED if closes else _OPEN
    if call.shared:
        script = (_ABSENT_CLOSED if closes else _ABSENT_OPEN) + script
    return shlex.join((SHELL, "-c", PLAIN + script, call.shown_file, *words))


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
    if list(words[told + 1 : told + 3]) != ["hook", dialect]:
        return ()
    return tuple(takewhile(lambda word: word not in _ENDS, words[index:]))


def _is_run(words: Sequence[str], at: int) -> bool:
    """Whether this word is what an interpreter in front of it runs, and is ours."""
    if at >= len(words):
        return False
    as_module = words[at] == "hookline" and words[at - 1] == "-m"
    return as_module or words[at].endswith(_SCRIPT)
