"""Plans what an installation or its undoing does to each file, and then does it.

Knows records and files; must not know any platform, nor how a plan is shown.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff

import msgspec.structs

from hookline.installing.files import File, look, remove, write
from hookline.installing.records import Record, Records, digest
from hookline.jsontext import JsonTextError
from hookline.model.installing import Call, Entry, Installer, InstallError, Machine, Scope, Target

__all__ = ["Change", "apply", "known_targets", "plan_install", "plan_uninstall", "reading"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is to become of one file: its new content, or None for its removal."""

    installer: Installer
    target: Target
    file: File
    after: bytes | None
    record: Record | None
    """What there will be to undo; None when this change is the undoing."""
    replaced: tuple[Entry, ...] = ()
    """Entries of ours that were there and will be others."""
    exact: bool = True
    """Whether undoing brings back the very bytes that were there before."""

    @property
    def is_none(self) -> bool:
        """Whether the file is already as it should be."""
        return self.after == self.file.content

    def diff(self) -> str:
        """The change as people read it; no newline at an end of file is not worth a word."""
        before, after = (_lines(each) for each in (self.file.content, self.after))
        path = self.file.path
        names = (path if self.file.content is not None else os.devnull, path)
        return "\n".join(unified_diff(before, after, *names, lineterm=""))


def plan_install(
    installer: Installer, machine: Machine, scope: Scope, call: Call, records: Records
) -> list[Change]:
    """One change per file of the platform's. Raises InstallError."""
    targets = installer.targets(machine, scope, shared=call.shared)
    return [_installation(installer, target, call, records) for target in targets]


def _installation(installer: Installer, target: Target, call: Call, records: Records) -> Change:
    file = look(target.file)
    before = file.content
    with reading(target.file):
        there = tuple(installer.inspect(target, before)) if before is not None else ()
        after = installer.add(target, before, call)
        wanted = {(each.event, each.words) for each in installer.inspect(target, after)}
    old = records.find(installer.id, target.file)
    made = old.made if old else ()
    if old is not None and before is not None and digest(before) == old.after:
        before = old.before
    elif there and before is not None:
        # Somebody else edited it, or wrote our entries: without them it is as it would be.
        origin = old.before if old else None
        remains = installer.remove(target, before, origin)
        before = None if remains.empty and old and old.before is None else remains.content
    record = Record(
        dialect=installer.id,
        scope=target.scope,
        file=target.file,
        before=before,
        after=digest(after),
        made=made,
    )
    replaced = tuple(each for each in there if (each.event, each.words) not in wanted)
    return Change(
        installer=installer,
        target=target,
        file=file,
        after=after,
        record=record,
        replaced=replaced,
    )


def plan_uninstall(
    installer: Installer, machine: Machine, scope: Scope | None, records: Records
) -> list[Change]:
    """One change per file that has our entries or a record of them. Raises InstallError."""
    changes = []
    for target in known_targets(installer, machine, records):
        record = records.find(installer.id, target.file)
        if scope is None or target.scope is scope:
            change = _undoing(installer, target, record)
            if change is not None:
                changes.append(change)
    return changes


def _undoing(installer: Installer, target: Target, record: Record | None) -> Change | None:
    file = look(target.file)
    content = file.content
    change = Change(installer=installer, target=target, file=file, after=content, record=None)
    # What is remembered of a file that has nothing of ours any more is still to be forgotten.
    nothing = change if record is not None else None
    if content is None:
        return nothing
    if record is not None and digest(content) == record.after:
        return replace(change, after=record.before)
    with reading(target.file):
        if not installer.inspect(target, content):
            return nothing
        remains = installer.remove(target, content, record.before if record else None)
    ours = record is not None and record.before is None
    return replace(change, after=None if remains.empty and ours else remains.content, exact=False)


def known_targets(installer: Installer, machine: Machine, records: Records) -> Sequence[Target]:
    """The platform's own places, and every other file of this project or user with a record."""
    mine = [record for record in records.all() if record.dialect == installer.id]
    machine = replace(machine, named=(*machine.named, *(record.file for record in mine)))
    places = {place.file: place for place in installer.places(machine)}
    return list(places.values())


def apply(change: Change, records: Records) -> None:
    """Make one change, and remember or forget it. Raises InstallError."""
    old = records.find(change.installer.id, change.target.file)
    if change.record is not None:
        _install(change, change.record, old, records)
    else:
        _uninstall(change, old, records)


def _install(change: Change, record: Record, old: Record | None, records: Records) -> None:
    # First the record: if we are killed in between, there is nothing to undo and it is known.
    records.save(record)
    if change.is_none:
        return
    assert change.after is not None
    try:
        made = write(change.file, change.after, executable=change.target.executable)
    except BaseException:
        records.forget(record) if old is None else records.save(old)
        raise
    if made:
        records.save(msgspec.structs.replace(record, made=(*record.made, *made)))


def _uninstall(change: Change, old: Record | None, records: Records) -> None:
    if not change.is_none and change.after is None:
        remove(change.file, old.made if old else ())
    elif not change.is_none and change.after is not None:
        write(change.file, change.after)
    if old is not None:
        records.forget(old)
        _hand_on(old.made, records)
    _tell_others(change, old, records)


def _hand_on(made: tuple[str, ...], records: Records) -> None:
    """Directories that we made go with the last of our files in them, whichever that is."""
    left = tuple(each for each in made if os.path.isdir(each))
    for other in list(records.all()) if left else ():
        if other.file.startswith(left[-1] + "/"):
            records.save(msgspec.structs.replace(other, made=(*left, *other.made)))
            return


def _tell_others(change: Change, old: Record | None, records: Records) -> None:
    """Another platform's record of the same file has to know that the undoing was ours."""
    content = change.file.content
    if content is None or change.after is None:
        return
    for other in list(records.all()):
        same_file = other.file == change.target.file and other.dialect != change.installer.id
        if same_file and other.after == digest(content):
            records.save(_rebased(other, change, old, change.after))


def _rebased(other: Record, change: Change, old: Record | None, after: bytes) -> Record:
    """The other record, had this platform never been there."""
    before, made = other.before, other.made
    if old is not None and before is not None and digest(before) == old.after:
        before, made = old.before, (*old.made, *other.made)
    elif before is not None:
        before = change.installer.remove(change.target, before).content
    return msgspec.structs.replace(other, before=before, made=made, after=digest(after))


@contextmanager
def reading(path: str) -> Iterator[None]:
    """Say of which file an installer complains."""
    try:
        yield
    except JsonTextError as error:
        message = f"`{path}`, line {error.line}, column {error.column}: {error.message}"
        raise InstallError(f"{message}. The file was left as it is") from error
    except InstallError as error:
        raise InstallError(f"`{path}`: {error}. The file was left as it is") from error


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None else content.decode("utf-8", "replace").splitlines()
