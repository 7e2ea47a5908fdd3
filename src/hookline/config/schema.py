"""The file format of ``hookline.yaml``: which keys there are, what each takes, and its JSON Schema.

Knows shapes and words. What a handler's keys are, its module says; what values mean together is
checked in ``compile``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, cast

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, defstruct, field

from hookline.model.errors import IllegalValueError
from hookline.model.events import EVENTS
from hookline.model.hook import Mode, OnError
from hookline.model.journal import JournalSettings
from hookline.model.models import ModelEntry
from hookline.model.ports import HandlerModule

__all__ = [
    "ENV_NAME",
    "ExceptEntry",
    "FileEntry",
    "Format",
    "HookEntry",
    "IncludeEntry",
    "MatchEntry",
    "config_schema",
    "field_of",
    "file_format",
]

S = TypeVar("S", bound=Struct)

ENV_NAME = "^[A-Za-z_][A-Za-z0-9_]*$"

_EventName: TypeAlias = Annotated[str, Meta(extra_json_schema={"$ref": "#/$defs/EventName"})]
_Patterns: TypeAlias = str | Annotated[list[str], Meta(min_length=1)]


def _doc(text: str) -> Meta:
    return Meta(description=text)


class MatchEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a hook runs: every key that is given has to hold; in a list, any entry will do."""

    tool: Annotated[
        _Patterns | UnsetType,
        _doc("What the tool does (shell, edit, …) or the platform's own name for it."),
    ] = UNSET
    command: Annotated[
        _Patterns | UnsetType,
        _doc("The whole command, or one simple command in it; `*` crosses anything."),
    ] = UNSET
    path: Annotated[
        _Patterns | UnsetType,
        _doc("The file, as in a .gitignore: `.env`, `**/*.py`, `src/**`, `/etc/**`, `~/.ssh/**`."),
    ] = UNSET
    url: Annotated[_Patterns | UnsetType, _doc("The address that is fetched.")] = UNSET
    mcp: Annotated[_Patterns | UnsetType, _doc("An MCP `server`, or `server.tool`.")] = UNSET
    agent: Annotated[_Patterns | UnsetType, _doc("The name of the agent that acts.")] = UNSET
    source: Annotated[
        _Patterns | UnsetType,
        _doc("The event's own word for where it came from: its source, reason, trigger or kind."),
    ] = UNSET
    prompt: Annotated[
        _Patterns | UnsetType,
        _doc("What the person typed: `/deploy*`, or a regex to search it: `/\\bdeploy\\b/`."),
    ] = UNSET
    mode: Annotated[
        _Patterns | UnsetType,
        _doc("The platform's word for how it asks for permission: `plan`, `bypassPermissions`."),
    ] = UNSET
    repository: Annotated[
        _Patterns | UnsetType,
        _doc("`owner/name` of the project or of the event's directory: `acme/*`."),
    ] = UNSET
    branch: Annotated[
        _Patterns | UnsetType,
        _doc("The branch that is checked out in the project or in the event's directory."),
    ] = UNSET
    dialect: Annotated[_Patterns | UnsetType, _doc("The platform, such as `claude-code`.")] = UNSET
    native: Annotated[_Patterns | UnsetType, _doc("The platform's own name of the event.")] = UNSET

    def patterns(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Every key that was given, with its alternatives."""
        for key in MatchEntry.__struct_fields__:
            value = getattr(self, key)
            if value is not UNSET:
                yield key, (value,) if isinstance(value, str) else tuple(value)


class ExceptEntry(MatchEntry, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When a hook stays silent after all."""

    until: Annotated[
        str | UnsetType,
        _doc("When this ends: a day such as 2026-12-01 (its first moment, UTC), or a time."),
    ] = UNSET


_Exceptions: TypeAlias = str | ExceptEntry | list[str | ExceptEntry]


class HookEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One hook: when it runs, what runs, and how. Exactly one handler says what."""

    name: Annotated[str | UnsetType, _doc("What people see; unique in its file.")] = UNSET
    on: Annotated[
        _EventName | Annotated[list[_EventName], Meta(min_length=1)] | UnsetType,
        _doc("The event, or several, by our name or a platform's. A builtin knows its own."),
    ] = UNSET
    match: Annotated[MatchEntry | UnsetType, _doc("Only run when all of this holds.")] = UNSET
    except_: Annotated[
        _Exceptions | UnsetType,
        _doc("Do not run when this holds for all of the command, or for every path."),
    ] = field(default=UNSET, name="except")
    priority: (
        Annotated[int, Meta(ge=0, le=100, description="Lower runs earlier; 50 unless said.")]
        | UnsetType
    ) = UNSET
    timeout: Annotated[
        int | float | str | UnsetType, _doc("Seconds, or text such as 500ms, 10s, 2m.")
    ] = UNSET
    on_error: Annotated[
        OnError | UnsetType, _doc("What the hook's own failure means: block for a guard.")
    ] = UNSET
    guard: Annotated[
        bool | UnsetType, _doc("Whether the hook judges again what other hooks rewrote.")
    ] = UNSET
    always: Annotated[bool, _doc("Run even after another hook denied.")] = False
    mode: Annotated[Mode, _doc("observe: write down what it would have said.")] = Mode.ENFORCE
    env: Annotated[
        list[Annotated[str, Meta(extra_json_schema={"pattern": ENV_NAME})]],
        _doc("Variables of the caller that the hook gets although guards do not."),
    ] = field(default_factory=list)
    pins: Annotated[list[str], _doc("Further files to trust and check with the hook.")] = field(
        default_factory=list
    )
    speaks: Annotated[str | UnsetType, _doc("The dialect in which its program answers.")] = UNSET


class IncludeEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file whose platform its name does not tell, or that runs under other rules."""

    file: Annotated[str, _doc("The file or directory, relative to this one.")]
    speaks: Annotated[
        str | UnsetType, _doc("The platform it is written for, such as docker-agent.")
    ] = UNSET
    mode: Annotated[
        str | UnsetType,
        _doc("Which of its platform's rules hold; Kodelet has `current` (the default) and `adr`."),
    ] = UNSET


class FileEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A hookline configuration."""

    version: Annotated[Literal[1], _doc("The version of this file format.")]
    hooks: list[HookEntry] = field(default_factory=list)
    include: Annotated[
        list[str | IncludeEntry],
        _doc("Further files or directories, relative to this one: ours, or another platform's."),
    ] = field(default_factory=list)
    disable: Annotated[
        list[str], _doc("Names of hooks to switch off, of this or a lower layer.")
    ] = field(default_factory=list)
    max_follow_ups: Annotated[
        Annotated[int, Meta(ge=0, le=1000)] | UnsetType,
        _doc("How often hooks may keep an agent going; said in the user's own file."),
    ] = UNSET
    max_context: Annotated[
        Annotated[int, Meta(ge=200, le=1_000_000)] | UnsetType,
        _doc("Characters of context that hooks add to one event; said in the user's own file."),
    ] = UNSET
    journal: Annotated[
        JournalSettings | UnsetType,
        _doc("How the journal is kept; said in the user's own file."),
    ] = UNSET
    models: Annotated[
        dict[str, ModelEntry],
        _doc("Models by names that judges may call them by; said in the user's own file."),
    ] = field(default_factory=dict)
    project_allow: Annotated[
        bool | UnsetType,
        _doc("Whether an allow from a project's file counts; said in the user's own file."),
    ] = UNSET


class Format(Struct, frozen=True):
    """The file format with the keys of one set of handlers."""

    file: type[FileEntry]
    hook: type[HookEntry]
    owners: Mapping[str, str]
    """The handler that each choosing key chooses."""
    keys: Mapping[str, frozenset[str]]
    """For each handler the keys that it knows."""
    partners: Mapping[str, tuple[str, ...]]
    """For each key that chooses no handler the choosing keys it goes with."""
    known: frozenset[str]
    """Every key that a hook can have."""
    modules: tuple[HandlerModule, ...]


def field_of(key: str) -> str:
    """The attribute under which a HookEntry holds a handler's key."""
    # A key may be a word that Python keeps for itself.
    return f"key_{key}"


_formats: dict[tuple[tuple[str, int], ...], Format] = {}


def file_format(handlers: Mapping[str, HandlerModule]) -> Format:
    """The format for these handlers; built once for each set of them."""
    # A format keeps its modules, so that none of these ids can come to mean another module.
    key = tuple((name, id(module)) for name, module in handlers.items())
    found = _formats.get(key)
    if found is None:
        found = _formats[key] = _build(handlers)
    return found


def _build(handlers: Mapping[str, HandlerModule]) -> Format:
    types: dict[str, Any] = {}
    owners: dict[str, str] = {}
    for name, module in handlers.items():
        for key, kind in (*module.KEYS.items(), *module.EXTRA_KEYS.items()):
            if key in HookEntry.__struct_encode_fields__:
                raise IllegalValueError(f"handler `{name}`: every hook already has a key `{key}`")
            if types.setdefault(key, kind) != kind:
                raise IllegalValueError(f"handler `{name}`: `{key}` has two different types")
        for key in module.KEYS:
            if owners.setdefault(key, name) != name:
                raise IllegalValueError(f"`{key}` chooses both `{owners[key]}` and `{name}`")
    fields = [
        (field_of(key), Union[kind, UnsetType], field(default=UNSET, name=key))  # noqa: UP007 - not every type has `|`
        for key, kind in types.items()
    ]
    hook = _extended(HookEntry, fields)
    file = _extended(FileEntry, [("hooks", list[hook], field(default_factory=list))])  # type: ignore[valid-type]
    keys = {name: frozenset({*m.KEYS, *m.EXTRA_KEYS}) for name, m in handlers.items()}
    partners = {
        key: tuple(chooser for m in handlers.values() if key in m.EXTRA_KEYS for chooser in m.KEYS)
        for key in types
        if key not in owners
    }
    known = frozenset(hook.__struct_encode_fields__)
    return Format(file, hook, owners, keys, partners, known, tuple(handlers.values()))


def _extended(base: type[S], fields: list[tuple[str, Any, Any]]) -> type[S]:
    return cast(
        type[S],
        defstruct(
            base.__name__,
            fields,
            bases=(base,),
            namespace={"__doc__": base.__doc__},
            frozen=True,
            kw_only=True,
            forbid_unknown_fields=True,
        ),
    )


def config_schema(
    handlers: Mapping[str, HandlerModule], native_events: Iterable[str]
) -> dict[str, Any]:
    """The JSON Schema of ``hookline.yaml``, for editors."""
    schema = msgspec.json.schema(file_format(handlers).file)
    schema["$defs"]["EventName"] = {"enum": [*EVENTS, *sorted({*native_events} - {*EVENTS})]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hookline.yaml",
        **schema,
    }
