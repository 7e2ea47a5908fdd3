"""How hookline's own entries stand: what the record says, what the file says, what the disk has.

Knows installers and records; must not know any platform.
"""

import os
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence

from hookline._version import __version__
from hookline.client import PROGRAM
from hookline.installing.records import Record, Records, digest
from hookline.installing.status import Standing
from hookline.model.findings import Finding, Seen, Severity
from hookline.model.hook import Layer
from hookline.model.installing import (
    Call,
    Inactive,
    Installed,
    Installer,
    Machine,
    Scope,
    Target,
)

__all__ = ["blocking", "installed"]

_ANY = Call(program=("/hookline",))


def blocking(
    installer: Installer, machine: Machine, standing: Standing, seen: Sequence[Seen]
) -> tuple[Inactive, ...]:
    """Why hooks do not run: what the installer says of our entries and of everybody else's."""
    ours = {each.target.file for each in standing.installed}
    others = [
        Installed(_target(each), (), each.content)
        for each in seen
        if each.file.entries
        and each.file.path.endswith(".json")
        and each.file.path not in ours
        and each.place.layer is not Layer.MANAGED
    ]
    if not others and not ours:
        return standing.inactive
    known = installer.inactive(machine, [*standing.installed, *others])
    return tuple(dict.fromkeys((*standing.inactive, *known)))


def _target(seen: Seen) -> Target:
    scope = Scope.USER if seen.place.layer is Layer.USER else Scope.PROJECT
    return Target(file=seen.file.path, scope=scope)


def installed(
    installer: Installer, machine: Machine, standing: Standing, records: Records
) -> Iterator[Finding]:
    """What became of an installation since it was made."""
    for each in standing.installed:
        record = records.find(installer.id, each.target.file)
        yield from _coverage(installer, each)
        yield from _program(installer, machine, each)
        if record is not None:
            yield from _history(installer, each, record)


def _found(
    installer: Installer, each: Installed, id: str, severity: Severity, what: str, fix: str = ""
) -> Finding:
    again = f"hookline install {installer.id} --scope {each.target.scope.value}"
    return Finding(
        id=id,
        dialect=installer.id,
        severity=severity,
        file=each.target.file,
        what=what,
        fix=fix or again,
    )


def _coverage(installer: Installer, each: Installed) -> Iterator[Finding]:
    """Events that a fresh installation would cover, and this one does not."""
    wanted = _fresh(installer, each)
    there: dict[str, list[str]] = {}
    for entry in each.entries:
        there.setdefault(entry.event, []).append(entry.matcher)
    missing = [event for event in wanted if event not in there]
    if missing:
        what = f"hookline is not called on {', '.join(missing)}"
        yield _found(installer, each, "hookline-not-covering", Severity.WARNING, what)
    for event, matchers in there.items():
        if event in wanted and wanted[event] not in matchers and "" not in matchers:
            what = f"hookline is called on {event} only for what matches `{matchers[0]}`"
            yield _found(installer, each, "hookline-narrowed", Severity.WARNING, what)


def _fresh(installer: Installer, each: Installed) -> Mapping[str, str]:
    """Which events a fresh installation covers, and what it narrows each to."""
    without = installer.remove(each.target, each.content)
    content = installer.add(each.target, None if without.empty else without.content, _ANY)
    return {entry.event: entry.matcher for entry in installer.inspect(each.target, content)}


def _program(installer: Installer, machine: Machine, each: Installed) -> Iterator[Finding]:
    """Entries that start another hookline than the one that is running now."""
    folders = (os.path.dirname(sys.executable), sysconfig.get_path("scripts"))
    own = {os.path.realpath(sys.executable)}
    own |= {os.path.realpath(os.path.join(folder, "hookline")) for folder in folders}
    own.add(os.path.realpath(PROGRAM))
    for program in dict.fromkeys(word for entry in each.entries for word in entry.programs):
        path = program if os.path.isabs(program) else machine.which(program)
        if path is not None and os.path.exists(path) and os.path.realpath(path) not in own:
            what = f"the entries start {path}, which is another hookline than this one"
            yield _found(installer, each, "hookline-other-program", Severity.NOTE, what)


def _history(installer: Installer, each: Installed, record: Record) -> Iterator[Finding]:
    if record.version != __version__:
        what = f"the entries were written by hookline {record.version}; this is {__version__}"
        yield _found(installer, each, "hookline-other-version", Severity.NOTE, what)
    if digest(each.content) != record.after:
        what = "the file was edited after hookline was written into it"
        fix = f"nothing, if that was you; `hookline status {installer.id}` says what is active"
        yield _found(installer, each, "hookline-file-edited", Severity.NOTE, what, fix)
