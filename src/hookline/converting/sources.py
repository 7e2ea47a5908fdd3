"""The hooks of the old file as its platform takes them: in order, duplicates together.

Knows which entries are in force there; must not know what becomes of them.
"""

import os

from msgspec import Struct
from msgspec.structs import replace

from hookline.converting.platforms import Platform
from hookline.model.hook import DEFAULT_PRIORITY, Hook, Layer
from hookline.model.native import NativeEntry, NativeFile, Where

__all__ = ["Source", "sources_of"]


class Source(Struct, frozen=True, kw_only=True):
    """One hook of the old file, with all that its platform would take it for."""

    twins: tuple[NativeEntry, ...]
    """The entries that the old platform runs as one, the first of which says how."""
    hook: Hook | None
    """None when the old platform does not run it."""
    why_not: str = ""
    file: str = ""

    @property
    def entry(self) -> NativeEntry:
        """The one that says how it runs."""
        return self.twins[0]


def sources_of(old: Platform, file: NativeFile, where: Where) -> list[Source]:
    """The hooks of a file in the order in which they run, duplicates together."""
    groups: dict[object, list[NativeEntry]] = {}
    for entry in file.entries:
        twin = old.rules.twin(entry)
        # Which agent a hook is for is told to its adapter, so those of two agents stay two.
        whose = (entry.agent, entry.options.get("agent"))
        key = (entry.event, twin, whose) if twin is not None else id(entry)
        groups.setdefault(key, []).append(entry)
    ranked = sorted(groups.values(), key=lambda twins: _priority(twins[0]))
    told = "" if _is_a_projects(old, file.path, where) else _from_home(file.path, where.home)
    return [_source(old, file, tuple(twins), told) for twins in ranked]


def _priority(entry: NativeEntry) -> int:
    return DEFAULT_PRIORITY if entry.priority is None else entry.priority


def _is_a_projects(old: Platform, path: str, where: Where) -> bool:
    """Whether the place of the file means no more than any file of a project does."""
    places = old.rules.places(where)
    return all(
        place.layer is Layer.PROJECT for place in places if os.path.abspath(path) == place.path
    )


def _from_home(path: str, home: str) -> str:
    """The path as it is on everybody's machine: the converted file is made to be shared."""
    return f"~{path.removeprefix(home)}" if path.startswith(f"{home}/") else path


def _source(old: Platform, file: NativeFile, twins: tuple[NativeEntry, ...], told: str) -> Source:
    entry = twins[0]
    if entry.flaw:
        why = f"{old.client} does not run it either: {entry.flaw}"
        return Source(twins=twins, hook=None, why_not=why)
    if not _is_runnable(entry):
        return Source(twins=twins, hook=None, why_not="no program could be started by this text")
    if any(each.fails_closed for each in twins):
        # Of several that run as one the strictest word on failure counts.
        twins = (replace(entry, fails_closed=True), *twins[1:])
    alone = replace(file, entries=twins[:1])
    hooks = old.rules.hooks([alone], layer=Layer.USER, project_dir=os.path.dirname(file.path))
    if not hooks:
        why = "it calls hookline itself, which `hookline install` writes for any platform; "
        why += "or its file switches it off"
        return Source(twins=twins, hook=None, why_not=why)
    return Source(twins=twins, hook=hooks[0], file=told)


def _is_runnable(entry: NativeEntry) -> bool:
    """Whether every text can be an argument: no NUL in it, and no half characters."""
    command = (entry.command,) if isinstance(entry.command, str) else entry.command
    texts = (*command, entry.matcher or "", entry.condition, entry.directory, entry.name)
    every = "".join((*texts, *entry.env, *entry.env.values(), str(entry.options)))
    try:
        return b"\0" not in every.encode()
    except UnicodeEncodeError:
        return False
