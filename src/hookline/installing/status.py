"""What is installed where, what it covers, and what keeps it from being in force right now.

Knows records and the port of installers; must not know any platform, nor how it is shown.
"""

import os
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

from hookline.installing.changes import known_targets, reading
from hookline.installing.files import look
from hookline.installing.program import is_own
from hookline.installing.records import Records
from hookline.model.installing import (
    Call,
    Entry,
    Inactive,
    Installed,
    Installer,
    InstallError,
    Machine,
    Scope,
    Target,
)
from hookline.model.line_test import LineReport

__all__ = ["Standing", "has_client", "is_installed", "standing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one platform stands."""

    dialect: str
    client: str
    installed: tuple[Installed, ...]
    covered: tuple[str, ...]
    """Native events with an entry that is not narrowed to some tools."""
    missing: tuple[str, ...]
    """Native events that an installation of this version would cover, and this one does not."""
    inactive: tuple[Inactive, ...]
    elsewhere: tuple[str, ...] = ()
    """Files of other projects that hookline was written into."""
    reports: tuple[LineReport, ...] = ()
    """What the lines in each file answered when they were tested."""

    @property
    def active(self) -> bool:
        """Whether something is installed and nothing keeps it from running."""
        return bool(self.installed) and not self.inactive


def standing(installer: Installer, machine: Machine, records: Records) -> Standing:
    """How a platform stands; files that cannot be read are told among what is inactive."""
    installed: list[Installed] = []
    inactive: list[Inactive] = []
    targets = known_targets(installer, machine, records)
    for target in targets:
        recorded = records.find(installer.id, target.file) is not None
        try:
            content = look(target.file).content
            with reading(target.file):
                entries = installer.inspect(target, content) if content is not None else ()
        except InstallError as error:
            if recorded:
                inactive.append(Inactive(str(error), "correct that file"))
            continue
        if entries and content is not None:
            installed.append(Installed(target, tuple(entries), content))
        elif recorded:
            inactive.append(
                Inactive(
                    f"hookline was written into {target.file}, and is not there any more",
                    f"hookline install {installer.id} --scope {target.scope.value}",
                )
            )
    entries = tuple(entry for each in installed for entry in each.entries)
    whole = {entry.event for entry in entries if not entry.matcher}
    broken = list(_broken(installer, machine, entries))
    tested = [] if broken else [_test_lines(installer, machine, each) for each in installed]
    inactive += [*broken, *(each for each in tested if isinstance(each, Inactive))]
    if installed:
        inactive += installer.inactive(machine, installed)
    known = {target.file for target in targets}
    recorded_files = (each.file for each in records.all() if each.dialect == installer.id)
    return Standing(
        dialect=installer.id,
        client=installer.support.client,
        installed=tuple(installed),
        covered=tuple(event for event in installer.events() if event in whole),
        missing=tuple(event for event in installer.events() if event not in whole),
        inactive=tuple(dict.fromkeys(inactive)),
        elsewhere=tuple(file for file in recorded_files if file not in known),
        reports=tuple(each for each in tested if isinstance(each, LineReport)),
    )


def is_installed(installer: Installer, machine: Machine, records: Records) -> bool:
    """Whether hookline stands in a file that the platform reads here; nothing is started."""
    for target in known_targets(installer, machine, records):
        with suppress(InstallError), reading(target.file):
            content = look(target.file).content
            if content is not None and installer.inspect(target, content):
                return True
    return False


def has_client(installer: Installer, machine: Machine) -> bool | None:
    """Whether the platform's program is on this machine; None when nobody can see that."""
    paths = (each.replace("~", machine.home, 1) for each in installer.clients)
    return any(map(machine.which, paths)) if installer.clients else None


def _test_lines(
    installer: Installer, machine: Machine, installed: Installed
) -> LineReport | Inactive | None:
    """Runs one of a file's lines, if all of them are exactly as we write them.

    A project's file may come from anybody: from there no program but our own is started.
    """
    file, again = installed.target.file, f"hookline install {installer.id}"
    if installed.target.scope is Scope.PROJECT:
        again += " --scope project" if installed.target.personal else " --shared"
    if machine.test_line is None:
        return None
    for entry in installed.entries:
        if not _is_as_written(installer, installed, entry):
            why = f"the entry for {entry.event} in {file} is not as this hookline writes it"
            step = f"move {file} away, then {again}" if _stays(installer, installed) else again
            return Inactive(f"{why}, so it is not known to protect", step)
    entry = installed.entries[0]
    if installed.target.scope is Scope.PROJECT and not is_own(entry.call.program):
        why = f"{file} starts `{entry.program}`, which is not this hookline and was not tested"
        return Inactive(why, again)
    said = machine.test_line(entry.line or shlex.join(entry.words))
    if isinstance(said, LineReport):
        return said
    why = f"the line in {file} does not start hookline: it ended with {said}"
    return Inactive(why, f"{again}; if that does not help, install hookline again")


def _is_as_written(installer: Installer, installed: Installed, entry: Entry) -> bool:
    """Whether we would write this very entry: nothing added, missing or other than we have it."""
    if entry.event not in installer.events():
        return True
    target = replace(installed.target, events=(entry.event,))
    ours = replace(entry, matcher="")
    for shared in (False, True):
        content = _write_anew(installer, target, installed, replace(entry.call, shared=shared))
        entries = installer.inspect(target, content) if content is not None else ()
        if any(replace(each, matcher="") == ours for each in entries):
            return True
    return False


def _write_anew(
    installer: Installer, target: Target, installed: Installed, call: Call
) -> bytes | None:
    """A file with our entries alone, or beside all else where they cannot be alone."""
    try:
        return installer.add(target, None, call)
    except InstallError:
        try:
            return installer.add(target, installer.remove(target, installed.content).content, call)
        except InstallError:
            return None


def _stays(installer: Installer, installed: Installed) -> bool:
    """Whether an installation would leave the file as it is."""
    try:
        again = installer.add(installed.target, installed.content, installed.entries[0].call)
    except InstallError:
        return False  # it will say what to do
    return again == installed.content


def _broken(
    installer: Installer, machine: Machine, entries: tuple[Entry, ...]
) -> Iterator[Inactive]:
    """Programs that the entries name and that cannot be started."""
    for program in dict.fromkeys(each for entry in entries for each in entry.programs):
        if os.path.isabs(program):
            found = os.path.isfile(program) and os.access(program, os.X_OK)
        else:
            found = machine.which(program) is not None
        if not found:
            why = f"`{program}`, which the entries start, is not there: every gate is blocked"
            again = f"install hookline again, then run hookline install {installer.id}"
            yield Inactive(why, f"{again}; hookline doctor {installer.id} looks at the rest")
