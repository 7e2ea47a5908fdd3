"""A call: one event as a client brought it, and what the line that called us says.

The line is that of ``hookline hook``, read without a library: agents wait for it.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from time import monotonic

from msgspec import Struct

from hookline.model.errors import HooklineError

__all__ = ["AUTO", "Call", "LineOptions", "find_words", "parse_line", "parse_seconds", "time_limit"]

AUTO = "auto"
"""What stands on the line in place of a dialect when nobody is named."""
_LONGEST = 600.0
"""Seconds that an agent is taken to wait where nobody says how long it does."""
_USAGE = (
    "usage: hookline hook DIALECT [EVENT] [--home DIR] [--user-config DIR] [--config FILE] "
    "[--timeout SECONDS] [--trust-env]; with `auto` for DIALECT the payload tells who is calling"
)


class Call(Struct, frozen=True, kw_only=True, gc=False):
    """One event as a client brought it, from this process or another one."""

    argv: Sequence[str]
    """The words of the line after ``hookline hook``."""
    payload: bytes
    env: Mapping[str, str]
    cwd: str
    id: str = ""
    """Chosen by the client, so that a second attempt is known for one; empty: none was."""
    attempt: int = 1
    umask: int = -1
    """The client's, where that is not this process; -1: it is."""
    client_pid: int = 0
    """The number of the client's process; 0: it is this one."""
    arrived: float | None = None
    """When it came, by the monotonic clock; None: now. Its time to be answered began then."""

    @property
    def options(self) -> "LineOptions":
        """What the line says. Raises HooklineError."""
        return parse_line(self.argv)

    def time_left(self) -> float | None:
        """Of the time for the whole event: waiting for its turn was a part of it."""
        timeout = self.options.engine_timeout
        if timeout is None or self.arrived is None:
            return timeout
        return max(timeout - (monotonic() - self.arrived), 0.0)


class LineOptions(Struct, frozen=True, kw_only=True, dict=True):
    """The command line, as ``install`` wrote it; the environment is not asked."""

    dialect: str
    event: str | None = None
    home: str | None = None
    user_config: str | None = None
    """The directory that XDG_CONFIG_HOME named when hookline was installed."""
    config: str | None = None
    timeout: float | None = None
    """The platform's own limit for this hook, in seconds."""
    trust_env: bool = False
    """Believe the environment about HOOKLINE_*, HOME and XDG_*: for CI and containers only."""

    @cached_property
    def entry(self) -> str:
        """By which this line is told from any other that calls us."""
        return repr(self)

    @cached_property
    def is_anywhere(self) -> bool:
        """Whether the line means the same whichever directory it is called in."""
        whole = self.home is None or os.path.isabs(self.home)
        return whole and self.config is None and not self.trust_env

    @cached_property
    def engine_timeout(self) -> float | None:
        """Ours must end first: when the platform's timeout hits, it lets the tool run."""
        return None if self.timeout is None else max(0.8 * self.timeout - 0.5, 0.1)


def parse_line(argv: Sequence[str]) -> LineOptions:
    """The options. Raises HooklineError."""
    return _parse_line(tuple(argv))


# A daemon hears the same few lines over and over.
@lru_cache(256)
def _parse_line(argv: tuple[str, ...]) -> LineOptions:
    words, values, flaw = _sort_words(argv)
    if "\0" in "".join(argv):
        raise HooklineError("an option has a NUL character in it, which no path has")
    if flaw:
        raise HooklineError(f"{flaw}; {_USAGE}")
    if not 1 <= len(words) <= 2:
        raise HooklineError(_USAGE)
    return LineOptions(
        dialect=words[0],
        event=words[1] if len(words) == 2 else None,
        home=values.get("--home"),
        user_config=values.get("--user-config"),
        config=values.get("--config"),
        timeout=parse_seconds(values.get("--timeout")),
        trust_env="--trust-env" in values,
    )


def find_words(argv: Sequence[str]) -> tuple[str | None, str | None]:
    """The dialect and the event, whatever else is wrong with the line."""
    words = _sort_words(tuple(argv))[0]
    return (words[0] if words else None), (words[1] if len(words) > 1 else None)


def time_limit(argv: Sequence[str]) -> float:
    """How long everything may take: the platform's limit, less what we need to speak first.

    As in the thin clients; whatever else is wrong with the line.
    """
    try:
        timeout = parse_seconds(_sort_words(tuple(argv))[1].get("--timeout"))
    except HooklineError:
        timeout = None
    return _LONGEST if timeout is None else max(0.9 * timeout - 0.5, 0.2)


@lru_cache(256)
def _sort_words(argv: tuple[str, ...]) -> tuple[list[str], dict[str, str], str]:
    """The plain words, the options, and what is wrong with them if something is."""
    words: list[str] = []
    values: dict[str, str] = {}
    flaw = ""
    rest = iter(argv)
    for word in rest:
        if word == "--trust-env":
            values[word] = ""
        elif word in {"--home", "--user-config", "--config", "--timeout"}:
            values[word] = next(rest, "")
            flaw = flaw or ("" if values[word] else f"{word} needs a value")
        elif word.startswith("-"):
            flaw = flaw or f"unknown option `{word}`"
        else:
            words.append(word)
    return words, values, flaw


def parse_seconds(text: str | None) -> float | None:
    """What stands after ``--timeout``. Raises HooklineError."""
    if text is None:
        return None
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise HooklineError(f"--timeout takes seconds, more than 0; got `{text}`")
    return found
