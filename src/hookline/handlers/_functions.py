"""What a Python function said, as an answer or as a failure in a person's words.

Serves functions run in place and those run in a worker; must not know how either is done.
"""

from collections.abc import Mapping

import msgspec

from hookline.model.answers import PASS, Answer, context, notice
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import Event
from hookline.model.text import visible

__all__ = ["as_answer", "crash"]

_LONGEST = 2000


def as_answer(said: object, event: Event) -> Answer:
    """The answer in a function's result. Raises HandlerAnswerError when there is none in it."""
    match said:
        case None:
            return PASS
        case Answer():
            return PASS if said == PASS else said
        case str():
            if not said.strip():
                return PASS
            return context(said) if event.takes_context else notice(said)
        case Mapping():
            return _from_mapping(said)
        case _:
            raise HandlerAnswerError(
                f"returned {type(said).__name__}; expected None, an Answer, text or a mapping"
            )


def _from_mapping(said: Mapping[object, object]) -> Answer:
    try:
        answer = msgspec.convert(dict(said), Answer)
    except (msgspec.ValidationError, TypeError) as error:
        raise HandlerAnswerError(f"not an answer: {error}") from error
    return PASS if answer == PASS else answer


def crash(error: BaseException, file: str, shown: str = "") -> str:
    """What went wrong in the user's ``file``, and on which line of it."""
    what = _words(error)
    line = _line(error, file)
    return f"{what} ({shown or file}:{line})" if line else what


def _words(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"called sys.exit({'' if error.code is None else repr(error.code)[:80]})"
    if isinstance(error, SyntaxError):
        return f"{type(error).__name__}: {error.msg}"
    try:
        text = str(error)
    except Exception:
        text = ""  # an exception that cannot even be printed
    name = type(error).__name__
    return visible(f"{name}: {text}" if text else name)[:_LONGEST]


def _line(error: BaseException, file: str) -> int | None:
    """The innermost line of ``file`` that the error passed through."""
    if isinstance(error, SyntaxError) and error.filename == file:
        return error.lineno
    from traceback import walk_tb

    lines = [
        line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == file
    ]
    return lines[-1] if lines else None
