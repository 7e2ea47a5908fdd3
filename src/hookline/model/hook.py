"""A hook as configured: when it runs, what runs, and how."""

from collections.abc import Mapping
from enum import IntEnum, StrEnum
from typing import Any

from msgspec import Struct

from hookline.model.errors import IllegalValueError
from hookline.model.ports import Matcher

__all__ = [
    "DEFAULT_PRIORITY",
    "DEFAULT_TIMEOUT",
    "HandlerSpec",
    "Hook",
    "Layer",
    "Mode",
    "OnError",
    "Source",
]

DEFAULT_PRIORITY = 50
DEFAULT_TIMEOUT = 60.0


class Layer(IntEnum):
    """Where a hook comes from; a lower number outranks a higher one."""

    MANAGED = 0
    USER = 1
    CODE = 2
    """Registered by a program that embeds the engine."""
    PROJECT = 3
    INCLUDE = 4


class OnError(StrEnum):
    """What a hook's own failure means."""

    IGNORE = "ignore"
    WARN = "warn"
    BLOCK = "block"

    @property
    def strictness(self) -> int:
        """0 for ignore up to 2 for block."""
        return list(OnError).index(self)


class Mode(StrEnum):
    """Whether a hook's answer counts, or is only written down."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


class Source(Struct, frozen=True):
    """The file and line that a hook was written on."""

    file: str = ""
    line: int = 0
    layer: Layer = Layer.CODE

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class HandlerSpec(Struct, frozen=True):
    """Which handler runs, and the values of the config keys that belong to it."""

    kind: str
    values: Mapping[str, Any]


class Hook(Struct, frozen=True, kw_only=True):
    """One entry of a config."""

    name: str
    events: tuple[str, ...]
    handler: HandlerSpec
    match: Matcher | None = None
    priority: int = DEFAULT_PRIORITY
    timeout: float = DEFAULT_TIMEOUT
    on_error: OnError = OnError.WARN
    guard: bool = False
    """Judges the final input again when another hook rewrote it."""
    always: bool = False
    """Runs even after a deny or halt ended the chain."""
    mode: Mode = Mode.ENFORCE
    source: Source = Source()
    project_dir: str = ""
    """Where the hook runs: the project directory of the config it stands in."""
    env: tuple[str, ...] = ()
    """Caller's variables that this hook asked for by name."""
    speaks: str = "canonical"
    """The dialect in which its program answers."""
    pins: tuple[str, ...] = ()
    """Globs of further files that are trusted, and checked, together with this hook."""

    def __post_init__(self) -> None:
        if not self.events:
            raise IllegalValueError(f"hook `{self.name}` names no event")
        if self.timeout <= 0:
            raise IllegalValueError(f"hook `{self.name}`: timeout must be more than 0 seconds")

    def identity(self) -> tuple[object, ...]:
        """Two hooks with the same identity would do the same thing: one of them is enough."""
        return (
            self.events,
            self.handler.kind,
            tuple(sorted((key, repr(value)) for key, value in self.handler.values.items())),
            self.match.identity() if self.match is not None else None,
            self.priority,
            self.project_dir,
            self.env,
            self.speaks,
        )
