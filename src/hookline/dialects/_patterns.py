"""The regexes in other platforms' files: searched in linear time, or for a short while.

Knows both regex libraries, which load slowly and are therefore imported when first needed.
"""

from functools import lru_cache
from typing import Any, Protocol

from hookline.model.errors import HandlerError

__all__ = ["found", "is_pattern", "whole"]

_SECONDS = 0.25


class _Regex(Protocol):
    def search(self, text: str) -> bool: ...


def is_pattern(source: str) -> bool:
    """Whether this is a regex."""
    return _compiled(source) is not None


def found(source: str, text: str) -> bool:
    """Whether a regex is found in a text; never when it is none. Raises HandlerError."""
    regex = _compiled(source)
    return regex is not None and regex.search(text)


def whole(source: str, text: str) -> bool:
    """Whether a regex matches a text from end to end; never when it is none."""
    return is_pattern(source) and found(rf"\A(?:{source})\z", text)


class _Linear:
    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def search(self, text: str) -> bool:
        # Half a character must not hide the text around it.
        return self._compiled.search(text.encode("utf-8", "replace")) is not None


class _Limited:
    """What re2 cannot take may backtrack, and is stopped when that takes too long."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def search(self, text: str) -> bool:
        try:
            return self._compiled.search(text, timeout=_SECONDS) is not None
        except TimeoutError:
            pattern = self._compiled.pattern
            raise HandlerError(f"the matcher `{pattern}` ran for more than {_SECONDS} s") from None


@lru_cache(maxsize=1024)
def _compiled(source: str) -> _Regex | None:
    import re2
    import regex

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    try:
        return _Linear(re2.compile(source, options))
    except UnicodeEncodeError:
        return None
    except re2.error:
        pass
    try:
        return _Limited(regex.compile(source.replace(r"\z", r"\Z")))
    except (regex.error, RecursionError, OverflowError):
        return None
