"""What calls of models used, in one shape for every platform, and how far a transcript was read."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

__all__ = [
    "Mark",
    "ModelCall",
    "Said",
    "Todo",
    "Tokens",
    "TranscriptEnd",
    "TranscriptUsage",
    "Used",
    "read_count",
    "read_tokens",
]

# No call of a model uses more: what claims to is a mistake, and unknown.
_ABSURD = 1_000_000_000
_INPUT = ("input_tokens", "prompt_tokens", "promptTokenCount")
_OUTPUT = ("output_tokens", "completion_tokens", "candidatesTokenCount")
_TOTAL = ("total_tokens", "totalTokenCount")
_WRITTEN = ("cache_creation_input_tokens", "cached_write_tokens", "cache_write_input_tokens")
_CACHED = ("cache_read_input_tokens", "cached_input_tokens", "cachedContentTokenCount")
# Not part of the output that Gemini counts; elsewhere they are.
_THOUGHTS = ("thoughtsTokenCount",)


class Tokens(Struct, frozen=True):
    """The tokens of one call; no token is counted under two names."""

    input: int = 0
    """What the model read anew."""
    cached: int = 0
    """What came from a cache."""
    written: int = 0
    """What it read and was put into a cache."""
    output: int = 0

    @property
    def read(self) -> int:
        """All that the model was given."""
        return self.input + self.cached + self.written

    @property
    def total(self) -> int:
        """All of them, which is what the next call begins with."""
        return self.read + self.output


class ModelCall(Struct, frozen=True, kw_only=True):
    """One call of a model that is over."""

    id: str
    """Equal wherever the same call is told once more."""
    tokens: Tokens
    model: str = ""
    time: float | None = None
    usd: float | None = None
    """What it cost, where the platform says so."""
    is_sub: bool = False
    """Whether a sub-agent made it."""


class Used(Struct, frozen=True, kw_only=True):
    """What calls of one model used, or such calls of one part of a breakdown."""

    part: str = ""
    model: str = ""
    calls: int = 0
    """How many; 0 where a session has told of none."""
    tokens: Tokens = Tokens()
    usd: float | None = None
    """What platforms said that these calls cost; None where they did not."""
    day: str = ""
    """The last one of them, as ``2026-11-19``."""
    sessions: int = 1


class Mark(Struct, frozen=True):
    """How far a file was read. What stood before it is known by its last bytes."""

    device: int = 0
    inode: int = 0
    offset: int = 0
    tail: str = ""
    """A digest of the bytes before ``offset``."""
    state: Mapping[str, Any] = {}
    """What the reader has to know of the lines before."""


class TranscriptUsage(Struct, frozen=True, kw_only=True):
    """What a transcript tells of usage behind a mark."""

    mark: Mark
    calls: tuple[ModelCall, ...] = ()
    context: int | None = None
    """How many tokens the main conversation has now; 0 where a compaction left nobody knows how
    many, None where these lines tell nothing of it."""
    window: int | None = None
    """How many tokens the model takes, where the client writes that."""
    complete: bool = True
    """Whether this was all that is in the file."""


class Said(Struct, frozen=True):
    """A message of the conversation."""

    role: str
    """``user`` or ``assistant``."""
    text: str


class Todo(Struct, frozen=True):
    """A line of the agent's own list of things to do."""

    text: str
    status: str = ""
    """``pending``, ``in_progress`` or ``completed``."""


class TranscriptEnd(Struct, frozen=True):
    """What the end of a transcript says, the oldest first."""

    messages: tuple[Said, ...] = ()
    todos: tuple[Todo, ...] = ()
    summary: str = ""
    """What the last compaction left of the conversation before it."""
    summary_time: float | None = None


def read_tokens(usage: Mapping[str, Any]) -> Tokens | None:
    """What a platform says that a call used, in its own words; None where that makes no sense."""
    given, output = _first(usage, _INPUT), _first(usage, _OUTPUT)
    total, cached = _first(usage, _TOTAL), _first(usage, _CACHED)
    written = _first(usage, _WRITTEN)
    thoughts = _first(usage, _THOUGHTS)
    parts = (given, output, cached, written, thoughts)
    if (given is None and output is None) or any(part == -1 for part in (*parts, total)):
        return None
    given, output, cached, written, thoughts = (part or 0 for part in parts)
    # Who tells a total counts what came from a cache as input; who tells none counts it apart.
    if total is not None or "cachedContentTokenCount" in usage:
        given -= cached + written
        if given < 0:
            return None
    return Tokens(given, cached, written, output + thoughts)


def read_count(value: object) -> int | None:
    """A number of tokens; None for what can be none."""
    return value if type(value) is int and 0 <= value <= _ABSURD else None


def _first(usage: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    """What stands under one of these names; -1 where that is no number of tokens."""
    for name in names:
        if usage.get(name) is not None:
            count = read_count(usage[name])
            return -1 if count is None else count
    return None
