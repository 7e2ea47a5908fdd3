"""Digests of calls and of what came of them: equal where only noise differs.

Times, durations, process ids, addresses, temporary names and line numbers are noise. Counts are
not: from three failures to two is progress.
"""

import re
from hashlib import sha256

import msgspec

from hookline.model.events import PostToolUseFailure, ToolEvent
from hookline.model.tools import Tool, ToolKind

__all__ = ["normalise_output", "read_output", "seems_failed", "sign_call", "sign_outcome"]

# Of a longer text the ends are read with care, and the middle as it is but for its digits.
_WHOLE = 64 * 1024
_END = 16 * 1024

_ESCAPES = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)")
_SPACES = re.compile(r"\s{2,}|\n")
# Each begins with characters that few positions have, so that most of a text is passed over.
_NUMBERS = re.compile(
    r"\d(?:"
    r"x[0-9a-fA-F]++"
    r"|\d{3}[-/]\d\d?[-/]\d\d?(?:[T ]\d\d?:\d\d(?::\d\d)?(?:[.,]\d++)?(?:Z| ?[+-]\d\d:?\d\d)?)?"
    r"|\d?:\d\d(?::\d\d)?(?:[.,]\d++)?(?: ?[AP]M\b)?"
    r"|[6-9]\d{8}(?:\d{3}|\.\d++)?(?!\d)"
    r"|\d{0,5}m ?\d{1,9}(?:\.\d++)?s\b"
    r"|\d{0,12}(?:\.\d{1,12})? ?(?:ns|[µμu]s|ms|s|secs?|seconds?|mins?|minutes?|h|hours?"
    r"|(?:[kKMG]i?)?B/s)\b"
    r")"
)
_PLACES = re.compile(
    r"[.:lLcCpP[](?:"
    r"(?<=\.)[A-Za-z]\w{0,5}+(?::\d++(?::\d++)?|\(\d++(?:,\s?\d++)?\))"
    r"|(?<=:)(?:3[2-9]|[45]\d)\d{3}(?!\d)"
    r"|(?<=[lL])(?:ines? \d++(?:[-–]\d++)?|n \d++)"
    r"|(?<=[cC])ol(?:umn)? \d++"
    r"|(?<=[pP])(?:id|rocess)[ =:#]{1,2}\d++"
    r"|(?<=P)ID[ =:#]{1,2}\d++"
    r"|(?<=\[)\d{3,}+\]"
    r")"
)
_RANDOM = r"[\w.]{0,64}?[-._](?=[A-Za-z]*\d|[a-z]*[A-Z])[A-Za-z0-9]{6,}"
_TEMPORARY = re.compile(
    rf"/(?:tmp|T)/(?:cc\w{{6}}(?=\.)|{_RANDOM}|[\w.]{{0,64}}?-{_RANDOM})|tmp[._-]?\w{{6,}}|pytest-\d++|go-build\d++"
    r"|sha256:[0-9a-f]{64}"
)
# What makes no other command of it; what `tail` leaves is judged as the outcome.
_SPELLING = re.compile(r" 2>&1| \| (?:tail|head)(?: -n)? ?-?\d{1,9}(?=;?$)|;$")
_HINTS = ("tmp", "/T/", "pytest-", "go-build", "sha256:")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_IN_UUID = re.compile(r"-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-")
_NO_DIGITS = dict.fromkeys(map(ord, "0123456789"))

# What a shell, or a program, says last or first when it failed; for platforms that do not tell.
_FAILED = re.compile(
    r"(?im)\b(?:command not found|no such file or directory|permission denied|connection refused|"
    r"not a directory|is a directory|no rule to make target [^\n]{1,200})[.']?$"
    r"|^(?:make(?:\[\d{1,3}\])?: \*\*\* |npm err!|fatal: |error(?:\[\w{1,20}\])?: |panic: |failed |"
    r"traceback \(most recent|[\w.]{1,80}(?:error|exception): )"
    r"|\bexit(?:ed)?(?: with)?(?: code| status)[: ]{1,2}[1-9]\d{0,3}\b"
    r"|\b[1-9]\d{0,6} (?:failed|errors?)\b"
)


def sign_call(event: ToolEvent) -> bytes:
    """The same for the same tool with the same input in the same directory."""
    tool = event.tool
    what: object = tool.input
    if tool.kind is ToolKind.SHELL and tool.command is not None:
        # Beside the command stand how long to wait, and what it is for.
        places = {key: tool.input[key] for key in ("workdir", "cwd") if key in tool.input}
        command = " ".join(_without_names(tool.command[:_WHOLE]).split())
        command = _SPELLING.sub("", command.removeprefix(f"cd {event.cwd} && "))
        what = (command, places, tool.command[_WHOLE:])
    call = (tool.name, what, event.cwd)
    try:
        content = msgspec.json.encode(call, order="deterministic", enc_hook=repr)
    except UnicodeEncodeError:  # half a character, which JSON has no place for
        content = repr(call).encode("utf-8", "surrogatepass")
    return sha256(content).digest()[:16]


def read_output(event: ToolEvent) -> str | None:
    """What came of a call, as text; None where the platform does not say it."""
    if isinstance(event, PostToolUseFailure):
        return event.error or event.tool.output or ""
    return event.tool.output


def seems_failed(tool: Tool, output: str) -> bool:
    """Whether a command has failed, by what it printed."""
    if tool.kind is not ToolKind.SHELL:
        return False
    ends = output if len(output) <= _END else f"{output[: _END // 2]}\n{output[-_END // 2 :]}"
    return _FAILED.search(_ESCAPES.sub("", ends)) is not None


def sign_outcome(output: str | None, *, failed: bool) -> bytes:
    """The same for the same outcome, however long it took and whatever it was called."""
    text = "?" if output is None else f"={normalise_output(output)}"
    raw = text.encode("utf-8", "surrogatepass")
    return sha256(b"%d%s" % (failed, raw)).digest()[:16]


def normalise_output(output: str) -> str:
    """The text without noise."""
    if len(output) <= _WHOLE:
        return _without_noise(output)
    middle = output[_END:-_END].translate(_NO_DIGITS)
    return f"{_without_noise(output[:_END])}{middle}{_without_noise(output[-_END:])}"


def _without_noise(text: str) -> str:
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    text = _without_names(text)
    return _SPACES.sub(" ", _NUMBERS.sub("#", _PLACES.sub("#", text))).strip()


def _without_names(text: str) -> str:
    """Without names that were drawn at random."""
    if any(hint in text for hint in _HINTS):
        text = _TEMPORARY.sub("#", text)
    return _UUID.sub("#", text) if _IN_UUID.search(text) else text
