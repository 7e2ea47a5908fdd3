"""The whole error tree.

HooklineError                   anything we raise on purpose
├── ConfigError                 a file of the user's is wrong; holds every Problem found in it
│   └── UnknownNameError        no such dialect, handler or builtin; lists the ones there are
├── TrustError                  this project file may not run, or trust cannot be given here
├── StateError                  the state directory cannot be read or written
├── DialectError
│   ├── DecodeError             payload not understood
│   └── UnsupportedError        this platform cannot say this for this event
├── HandlerError                inside handlers only; the engine turns it into a failed Run
│   ├── HandlerTimeout          also a TimeoutError
│   ├── HandlerCrashed          exit code or status, tail of stderr
│   ├── HandlerAnswerError      answered, but not in the protocol
│   └── HandlerUnavailable      missing program, extra, server
└── IllegalValueError           a value that cannot exist was asked for; also a ValueError

Decisions are values, never exceptions: there is no ``raise Deny``.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

__all__ = [
    "ConfigError",
    "DecodeError",
    "DialectError",
    "HandlerAnswerError",
    "HandlerCrashed",
    "HandlerError",
    "HandlerTimeout",
    "HandlerUnavailable",
    "HooklineError",
    "IllegalValueError",
    "Problem",
    "StateError",
    "TrustError",
    "UnknownNameError",
    "UnsupportedError",
    "nearest",
    "sentence",
]


class HooklineError(Exception):
    """Anything hookline raises on purpose; its text is written for a person."""


class IllegalValueError(HooklineError, ValueError):
    """A value that cannot exist was asked for, such as a deny without a reason."""


class Problem(Struct, frozen=True):
    """One mistake in a file: where it is, what is wrong, and what to write instead."""

    file: str
    line: int
    message: str
    hint: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class ConfigError(HooklineError):
    """A configuration file is wrong; every mistake found is in ``problems``."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class UnknownNameError(ConfigError):
    """No dialect, handler or builtin has this name."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        names = sorted(known)
        hint = nearest(name, names) or f"known: {', '.join(names)}"
        super().__init__([Problem("hookline", 0, f"no {kind} is called `{name}`", hint)])


class TrustError(HooklineError):
    """A project file may not run yet, or trust cannot be given from here."""


class StateError(HooklineError):
    """What a session has to remember cannot be kept; names the directory."""

    def __init__(self, directory: str, error: OSError) -> None:
        why = error.strerror or error
        super().__init__(f"hookline cannot keep what it has to remember in `{directory}`: {why}")


class DialectError(HooklineError):
    """Something between a platform's words and ours could not be translated."""


class DecodeError(DialectError):
    """A payload was not understood."""


class UnsupportedError(DialectError):
    """This platform cannot say this for this event."""


class HandlerError(HooklineError):
    """A hook did not answer properly; never leaves the engine."""


class HandlerTimeout(HandlerError, TimeoutError):
    """The hook was still running at its deadline."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s")


class HandlerCrashed(HandlerError):
    """The hook ended in a way that is no answer."""


class HandlerAnswerError(HandlerError):
    """The hook answered, but not in the protocol."""


class HandlerUnavailable(HandlerError):
    """The hook could not be started or reached at all."""


def nearest(word: str, known: Iterable[str]) -> str:
    """A ready hint with the closest known word, or the empty string when nothing is close."""
    # Only for people who mistype; nobody else waits for it to load.
    from difflib import get_close_matches

    found = get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f"did you mean `{found[0]}`?" if found else ""


def sentence(text: str) -> str:
    """The text with a mark at its end, and never two."""
    return text if text.endswith((".", "?", ":", "…")) else f"{text}."
