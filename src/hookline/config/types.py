"""What loading yields: one value per file, and the sum of all files that are in force."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime

from msgspec import Struct

from hookline.model.hook import Hook, Layer
from hookline.model.journal import JournalSettings
from hookline.model.models import ModelEntry
from hookline.model.ports import HandlerModule, Matcher, NativeFiles, Services

__all__ = [
    "Config",
    "ConfigFile",
    "Kit",
    "ListNames",
    "Narrowing",
    "NativeEvents",
    "Note",
    "ReadFile",
    "utc_now",
]

ReadFile = Callable[[str], bytes]
"""Reads a file by absolute path: from disk, or from the bytes that were trusted."""
ListNames = Callable[[str, str | None], Sequence[str]]
"""The names in a directory, on the disk or as they were trusted; the second is the platform that a
person says it belongs to."""


def no_natives() -> Mapping[str, NativeFiles]:
    """For those who have no other platform's files."""
    return {}


NativeEvents = Mapping[str, Mapping[str, Sequence[str]]]
"""Platforms' own names of events: for each its canonical events, and the dialects that mean it."""


def no_native_events() -> NativeEvents:
    """For those who know the canonical names alone."""
    return {}


def utc_now() -> datetime:
    """The time on the machine's clock."""
    return datetime.now(UTC)


class Kit(Struct, frozen=True):
    """What the config layer borrows from its siblings; joined in ``app.py``."""

    handlers: Mapping[str, HandlerModule]
    """Handler modules by name, e.g. ``rule``, ``command``."""
    services: Services
    known_tools: frozenset[str] = frozenset()
    """Every platform's own names of tools, beside the canonical ones."""
    natives: Callable[[], Mapping[str, NativeFiles]] = no_natives
    """Other platforms' hook files by dialect; asked only for a file that is none of ours."""
    native_events: Callable[[], NativeEvents] = no_native_events
    """Asked only for a name of an event that is none of ours."""
    dialects: Callable[[], Collection[str]] = tuple
    """The names of all dialects that ship; a plug-in may bring others."""
    clock: Callable[[], datetime] = utc_now
    """By which exceptions end."""


class Narrowing(Struct, frozen=True):
    """``except:`` conditions for every hook of this name in the same or a lower layer."""

    name: str
    exceptions: tuple[Matcher, ...]
    line: int


class ConfigFile(Struct, frozen=True, kw_only=True):
    """One config file, read, checked and compiled."""

    file: str
    layer: Layer
    project_dir: str
    hooks: tuple[Hook, ...] = ()
    disable: tuple[str, ...] = ()
    narrowings: tuple[Narrowing, ...] = ()
    project_allow: bool | None = None
    max_follow_ups: int | None = None
    max_context: int | None = None
    journal: JournalSettings | None = None
    models: Mapping[str, ModelEntry] = {}
    digest: str = ""
    """Of its bytes."""
    includes: tuple["ConfigFile", ...] = ()
    notes: tuple["Note", ...] = ()
    """What is wrong with a file that is in force all the same: another platform's."""


class Note(Struct, frozen=True):
    """Something a person should know about a file: untrusted, changed, missing, ignored."""

    file: str
    kind: str
    """``untrusted``, ``changed``, ``missing``, ``broken``, ``doubt``, ``ignored`` or ``paused``."""
    message: str


class Config(Struct, frozen=True, kw_only=True):
    """Every hook in force for one event, in configured order, and what was noticed on the way."""

    files: tuple[ConfigFile, ...] = ()
    hooks: tuple[Hook, ...] = ()
    project_allow: bool = False
    max_follow_ups: int | None = None
    """The lowest that a managed or user file says; None when none does."""
    project_follow_ups: int | None = None
    """The lowest that a project's file says, for the hooks of such files."""
    max_context: int | None = None
    journal: JournalSettings = JournalSettings()
    models: Mapping[str, ModelEntry] = {}
    managed_models: Mapping[str, ModelEntry] = {}
    """All that managed hooks know: a user must not send what they ask elsewhere."""
    managed: int = 0
    """How many of the hooks are managed ones, which come first."""
    digest: str = ""
    """Equal for configs of the same files with the same content, all in force alike."""
    notes: tuple[Note, ...] = ()
