"""Reads every hook file where its platform looks for it; what cannot be read is a finding.

Knows the disk and places; must not know what stands in a file, nor any platform.
"""

import os
import shlex
from collections.abc import Iterator, Mapping
from errno import EISDIR

from hookline.files import read_regular
from hookline.model.findings import Finding, Seen, Severity
from hookline.model.hook import Layer
from hookline.model.native import NativePlace, Where
from hookline.model.ports import NativeFiles

__all__ = ["see"]

# More than any reader takes: what is longer is told by the reader itself.
_LARGEST = 2_000_000
_ABSENT = (FileNotFoundError, NotADirectoryError)


def see(
    files: NativeFiles,
    where: Where,
    named: tuple[str, ...],
    owners: Mapping[str, NativeFiles],
    found: list[Finding],
) -> Iterator[Seen]:
    """A platform's files, each once; what cannot be read goes to ``found``.

    Files of another platform that it runs too are read as their owner reads them.
    """
    read: set[str] = set()
    for place in (*files.places(where), *_named(files, named)):
        for path in _paths(files, place, found):
            if path in read:
                continue
            read.add(path)
            content = _content(files, path, found)
            if content is not None:
                file = owners.get(place.dialect, files).read(path, content)
                yield Seen(place=place, file=file, content=content)


def _named(files: NativeFiles, named: tuple[str, ...]) -> Iterator[NativePlace]:
    """Files that a person, or an installation, named: those of this platform."""
    for path in named:
        try:
            owned = files.owns(path, read_regular(path, _LARGEST))
        except OSError:
            continue  # whoever named it is told elsewhere
        if owned:
            yield NativePlace(path=path, layer=Layer.PROJECT, scope="named")


def _paths(files: NativeFiles, place: NativePlace, found: list[Finding]) -> list[str]:
    """The files at a place, which may be a folder of them."""
    try:
        names = sorted(os.listdir(place.path))
    except _ABSENT:
        return [place.path]  # no folder: a file, or nothing
    except OSError as error:
        found.append(_unreadable(files, place.path, error))
        return []
    members = files.members(place.path, names)
    if members is None and place.path.endswith((".json", ".toml", ".yaml")):
        found.append(_unreadable(files, place.path, IsADirectoryError(EISDIR, os.strerror(EISDIR))))
    paths = [os.path.join(place.path, name) for name in members or ()]
    return [path for path in paths if not os.path.isdir(path)]


def _content(files: NativeFiles, path: str, found: list[Finding]) -> bytes | None:
    try:
        return read_regular(path, _LARGEST)
    except _ABSENT as error:
        if os.path.islink(path):
            found.append(_unreadable(files, path, error))
    except OSError as error:
        found.append(_unreadable(files, path, error))
    return None


def _unreadable(files: NativeFiles, path: str, error: OSError) -> Finding:
    fix = f"make it a file that you can read: chmod u+r {shlex.quote(path)}"
    if os.path.islink(path) and not os.path.exists(path):
        fix = f"it is a link to nothing: make {os.path.realpath(path)}, or remove the link"
    elif os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        fix = "put a regular file in its place"
    elif os.path.isdir(path):
        fix = "put a file in the place of the folder, or make the folder readable"
    return Finding(
        id="file-unreadable",
        dialect=files.dialect,
        severity=Severity.ERROR,
        file=path,
        what=f"this cannot be read ({error.strerror}), so nothing of it is active",
        fix=fix,
    )
