"""The border to answer codecs: whatever goes wrong behind it comes out as a HandlerError.

Knows failures in a person's words; must not know how a hook was run.
"""

from msgspec import Raw
from msgspec.structs import replace

from hookline.model.answers import Answer
from hookline.model.errors import (
    DialectError,
    HandlerAnswerError,
    HandlerError,
    HandlerUnavailable,
)
from hookline.model.events import Event
from hookline.model.ports import NOBODY, AnswerCodec, Call, Caller
from hookline.model.text import visible
from hookline.workspace import with_workspace

__all__ = ["OUTPUT_CAP", "as_asked", "question", "signal_name", "tail", "understood"]

OUTPUT_CAP = 10_000_000
"""The longest answer we take, in bytes."""

_TAIL = 500


def as_asked(call: Call) -> Event:
    """The event as the hook's own platform has it, where the hook was written for one."""
    event, hook = call.event, call.hook
    if not hook.native or (event.dialect, event.native_event) == (hook.speaks, hook.native):
        return event
    # What another platform sent is no payload of this one's.
    return replace(event, dialect=hook.speaks, native_event=hook.native, raw=Raw(b"null"))


def question(codec: AnswerCodec, event: Event, caller: Caller = NOBODY) -> bytes:
    """The event in the words of the hook's dialect."""
    if codec.tells_workspace:
        event = with_workspace(event, caller)
    try:
        return codec.stdin(event)
    except DialectError as error:
        raise HandlerUnavailable(f"cannot be asked in the dialect it speaks: {error}") from error


def understood(
    codec: AnswerCodec, event: Event, *, stdout: bytes, stderr: bytes = b"", exit_code: int = 0
) -> Answer:
    """The answer in what a hook said. Raises HandlerError when it is none."""
    try:
        return codec.read_answer(event, stdout=stdout, stderr=stderr, exit_code=exit_code)
    except HandlerError:
        raise
    except Exception as error:
        raise HandlerAnswerError(f"not an answer: {type(error).__name__}: {error}") from error


def tail(stderr: bytes) -> str:
    """The end of what a hook wrote to stderr, ready to follow a failure's text."""
    text = stderr[-4 * _TAIL :].decode("utf-8", "replace").strip()
    return f"; stderr: {visible(text[-_TAIL:])}" if text else ""


def signal_name(number: int) -> str:
    """A signal as people know it."""
    from signal import Signals

    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"
