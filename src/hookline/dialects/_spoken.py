"""The line for platforms on which no exit code closes a gate: the refusal is said in words.

Knows how a dialect refuses; must not know any single platform.
"""

import shlex
from typing import ClassVar

from hookline.dialects._call import PLAIN, call_words, line
from hookline.dialects._install import JsonSettings, closes
from hookline.dialects._native import JsonDialect
from hookline.model.installing import Call

__all__ = ["SpokenSettings", "refusal", "spoken_line"]

# "$@" is the call, "$0" what is said when it fails. What a call that failed had printed before is
# dropped: two answers side by side are none. No quote, backslash or exclamation mark, as in `line`.
_SCRIPT = PLAIN + 'o=$("$@") && { printf %s "$o"; exit; }; printf %s "$0"'

_GONE = (
    "hookline could not judge this, so it is blocked. Run hookline doctor; if it is gone, install "
    "hookline again, or take it out of {file}."
)
_ABSENT = (
    "hookline guards this project and is not installed on this machine, so this is blocked. "
    "Install it (uv tool install hookline), or take it out of {file}."
)


def refusal(dialect: JsonDialect, event: str, call: Call) -> str:
    """What to say when hookline cannot be run; empty where failing must not block."""
    if not closes(dialect.support, event):
        return ""
    words = (_ABSENT if call.shared else _GONE).format(file=call.shown_file)
    reply = dialect.refuse(event, words)
    return reply.stdout.decode().strip()


def spoken_line(call: Call, dialect: JsonDialect, event: str, *, timeout: int) -> str:
    """The command for one event, which refuses in the platform's own words."""
    said = refusal(dialect, event, call)
    if not said:
        return line(call, dialect.id, event, closes=False, timeout=timeout)
    words = call_words(call, dialect.id, event, timeout)
    return shlex.join(("/bin/sh", "-c", _SCRIPT, said, *words))


class SpokenSettings(JsonSettings):
    """Settings of a platform that must be told a refusal."""

    codec: ClassVar[JsonDialect]

    def line(self, event: str, call: Call) -> str:
        """The command for one event."""
        return spoken_line(call, self.codec, event, timeout=self.timeout(event, call))
