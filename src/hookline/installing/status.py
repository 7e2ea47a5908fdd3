"""What is installed where, what it covers, and what keeps it from being in force right now.

Knows records and the port of installers; must not know any platform, nor how it is shown.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from hookline.installing.changes import known_targets, reading
from hookline.installing.files import look
from hookline.installing.records import Records
from hookline.model.events import EVENTS
from hookline.model.installing import (
    Entry,
    Inactive,
    Installed,
    Installer,
    InstallError,
    Machine,
)
from hookline.model.support import Support

__all__ = ["Standing", "standing", "undeliverable"]


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
                inactive.append(Inactive(str(error), "mend the file, then look again"))
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
    inactive += _broken(installer, machine, entries)
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
    )


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


def undeliverable(support: Support, covered: tuple[str, ...]) -> tuple[str, ...]:
    """Canonical events that no native event of those covered stands for."""
    delivered = {support.events[native].event for native in covered}
    return tuple(event for event in EVENTS if event not in delivered and event != "other")
