"""Has a platform trust our entries, by what the person's own client says; and undoes it."""

from collections.abc import Sequence

from hookline.installing.changes import reading
from hookline.installing.files import look, remove, write
from hookline.installing.records import Record, Records, digest
from hookline.installing.status import standing
from hookline.model.installing import (
    Installed,
    Installer,
    InstallError,
    Machine,
    Scope,
    Trusting,
)

__all__ = ["distrust", "trust"]


def trust(installer: Installer, machine: Machine, records: Records) -> None:
    """Write what the client says into its own file. Raises InstallError."""
    if not isinstance(installer, Trusting):
        client = installer.support.client
        raise InstallError(f"{client} has no trust in single hooks that could be given here")
    path = installer.trust_file(machine)
    file = look(path)
    installed = standing(installer, machine, records).installed
    with reading(path):
        content = installer.trusted(machine, installed, file.content)
    if content == (file.content or b""):
        return
    old = records.find(_name(installer), path)
    known = old is not None and file.content is not None and digest(file.content) == old.after
    before = old.before if old is not None and known else file.content
    made = write(file, content)
    records.save(
        Record(
            dialect=_name(installer),
            scope=Scope.USER,
            file=path,
            before=before,
            after=digest(content),
            made=made,
        )
    )


def distrust(
    installer: Installer, machine: Machine, installed: Sequence[Installed], records: Records
) -> None:
    """Undo it for these entries, which are still in place. Raises InstallError."""
    if not isinstance(installer, Trusting):
        return
    path = installer.trust_file(machine)
    file = look(path)
    record = records.find(_name(installer), path)
    if record is None or file.content is None:
        return
    if digest(file.content) != record.after:
        content = installer.distrusted(installed, file.content)
        if content != file.content:
            write(file, content)
    elif record.before is None:
        remove(file, record.made)
    else:
        write(file, record.before)
    records.forget(record)


def _name(installer: Installer) -> str:
    """Under which the file is remembered: it holds no entries, so it is none of the places."""
    return f"{installer.id}:trust"
