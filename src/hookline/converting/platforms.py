"""The two sides of a conversion: a platform's words, its rules, and how its files are written.

Parts are found by name, as everywhere; a platform that can be converted to has a ``write.py``.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from msgspec import Struct

from hookline import registry
from hookline.model.errors import UnknownNameError
from hookline.model.events import Event
from hookline.model.hook import Hook, Lane, Layer, OnError
from hookline.model.native import NativeEntry, NativeFile, NativePlace, Where
from hookline.model.ports import Dialect

__all__ = ["Order", "Platform", "Rules", "Writing", "platform", "platform_names"]


class Order(Protocol):
    """By what rules several hooks of one event run, and what a failure of one means."""

    def on_error(self, entry: NativeEntry) -> OnError:
        """What a failure means."""

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane | None:
        """In which row it runs; None when beside the others."""

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """Whether its matcher and conditions hold."""


class Rules(Order, Protocol):
    """A platform's hook files, with all its rules for what is in them."""

    dialect: str
    default_timeout: float

    def read(self, path: str, content: bytes) -> NativeFile:
        """What stands in a file."""

    def places(self, where: Where) -> Sequence[NativePlace]:
        """Everywhere the platform looks."""

    def canonical(self, native: str) -> tuple[str, ...]:
        """The canonical events for a native one."""

    def variables(self, path: str) -> Mapping[str, str]:
        """What the platform adds to the environment of a file's hooks."""

    def twin(self, entry: NativeEntry) -> object:
        """Equal for entries of which only one runs; or None."""

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> Sequence[Hook]:
        """The hooks of files that are in force together."""


class Writing(Protocol):
    """How a platform's file is written."""

    path: str
    heeds: frozenset[str]
    notes: frozenset[str]
    windows_keys: tuple[str, ...]

    def can_say(self, field: str, event: str) -> bool:
        """Whether a field has a place beside this event."""

    def granted(self, event: str, seconds: float) -> float:
        """What the platform gives a hook that asks for this long."""

    def matcher(self, names: Sequence[str]) -> str:
        """A matcher for just these tools."""

    def lanes(self, event: str) -> tuple[str, ...]:
        """The events under which a hook has to stand to be always asked; the usual one last."""

    def placed(self, entry: NativeEntry) -> NativeEntry:
        """The entry as the platform's own reader has it."""

    def write(self, entries: Sequence[NativeEntry]) -> Mapping[str, bytes]:
        """The files, by name."""


class Platform(Struct, frozen=True):
    """One side of a conversion."""

    id: str
    dialect: Dialect
    rules: Rules
    writer: Writing

    @property
    def client(self) -> str:
        """What people call it."""
        return self.dialect.support.client

    def native_for(self, event: str) -> str:
        """The first native event that stands for a canonical one; empty when there is none."""
        rows = self.dialect.support.events.items()
        return next((name for name, row in rows if row.event == event), "")


@cache
def platform_names() -> tuple[str, ...]:
    """Every platform that can be converted from and to."""
    return tuple(
        name
        for name in registry.native_files()
        if find_spec(f"hookline.dialects.{name.replace('-', '_')}.write") is not None
    )


@cache
def platform(name: str) -> Platform:
    """The platform with this id. Raises UnknownNameError."""
    if name not in platform_names():
        raise UnknownNameError("platform with hook files", name, (*platform_names(), "hookline"))
    module = import_module(f"hookline.dialects.{name.replace('-', '_')}.write")
    rules = cast(Rules, registry.native_files()[name])
    return Platform(name, registry.dialect(name), rules, cast(Writing, module.WRITER))
