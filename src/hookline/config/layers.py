"""The active files in a list of directories, layer by layer, and in which bytes each of them is.

Knows whom each layer belongs to and what trust means for it; leaves what is in a file to
``compile``, and how files add up to ``assemble``.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256

from msgspec import Struct

from hookline.config.compile import compile_file
from hookline.config.discover import NAMES, candidates, managed_flaw, place_of, project_dir_of
from hookline.config.reading import Reader, Stamp, file_names, stamp_of
from hookline.config.trust import TrustedSet, TrustStore
from hookline.config.types import ConfigFile, Kit, ListNames, Note, ReadFile
from hookline.model.errors import ConfigError, Problem, TrustError
from hookline.model.hook import Layer

__all__ = ["Layers", "Look", "Sources", "all_files"]

# How many files of a set are looked at for every event only to say that they changed; a hook
# looks at all of its own before it runs. The config and what it includes come first in a set.
WATCHED = 50


class Sources(Struct, frozen=True, kw_only=True):
    """Where configs come from, apart from the project's own directories."""

    managed: str
    managed_owner: int = 0
    user: str
    override: str | None = None
    """A file that stands in for the whole project layer, named by a person."""
    edited: bool = False
    """Project files count as they are on disk."""
    vouched: frozenset[str] = frozenset()
    """Digests of configs that this one process trusts, or ``all``."""


class Look:
    """One look at everything: what was seen on the disk, and what a person should know of it."""

    def __init__(self) -> None:
        self.stamps: dict[str, Stamp] = {}
        self.notes: list[Note] = []

    def at(self, path: str) -> None:
        """Remember how a file is now, before it is read; or that it is not there."""
        if path not in self.stamps:
            self.stamps[path] = stamp_of(path)

    def note(self, file: str, kind: str, message: str) -> None:
        """Something about a file that a person should know."""
        self.notes.append(Note(file, kind, f"`{file}` {message}"))


class _Compiled(Struct, frozen=True):
    """A file that was compiled, and from what."""

    file: ConfigFile
    origin: str
    """The digest of its bytes, or of the trusted set it is from."""
    reads: Mapping[str, str]
    """The digests of the files it includes."""
    directories: Mapping[str, str | None]
    """Those it includes, each with the platform that it says they belong to."""


class Layers:
    """Finds and compiles the active files; compiles a file again only when its bytes changed."""

    def __init__(self, kit: Kit, store: TrustStore, sources: Sources) -> None:
        self._kit = kit
        self._store = store
        self._sources = sources
        self._compiled: dict[tuple[str, Layer], _Compiled] = {}
        self.sets: dict[tuple[str, str], TrustedSet | None] = {}
        """The set that the hooks of a file come from, by project directory and file; None where
        no trust is needed."""

    def files(self, dirs: Sequence[str], look: Look) -> Iterator[ConfigFile]:
        """Every active file, from the managed one to the innermost project.

        Raises ConfigError when a file that needs no trust is wrong, TrustError when what was
        trusted cannot be used.
        """
        look.at(self._store.directory)
        yield from self._managed(look)
        yield from self._from_disk(self._sources.user, Layer.USER, look)
        if self._sources.override is None:
            for place in self.places(dirs):
                look.at(place)
                yield from self._project(place, look)
            return
        found = list(self._from_disk(self._sources.override, Layer.PROJECT, look))
        if not found:
            raise ConfigError([Problem(self._sources.override, 0, "there is no such file")])
        yield from found

    def places(self, dirs: Sequence[str]) -> Iterator[str]:
        """Every place of a project config in these directories, whether or not it has a file."""
        done = {place_of(self._sources.user), place_of(self._sources.managed)}
        for candidate in candidates(dirs):
            place = place_of(candidate)
            if place not in done:
                done.add(place)
                yield place
            # A directory that became a link leads elsewhere, yet what was trusted at its own name
            # stays in force.
            if candidate not in done and self._store.has(candidate):
                done.add(candidate)
                yield candidate

    def trusted_file(self, trusted: TrustedSet) -> ConfigFile:
        """A trusted set, compiled; raises ConfigError or TrustError when it cannot be any more."""
        return self._compile_set(trusted).file

    def newcomers(self, trusted: TrustedSet) -> tuple[str, ...]:
        """Hook files that came into its included directories since a set was trusted."""
        try:
            compiled = self._compile_set(trusted)
        except (ConfigError, TrustError):
            return ()  # then what was trusted is not in force either, which others say
        return tuple(self._newcomers(compiled, trusted))

    def _managed(self, look: Look) -> Iterator[ConfigFile]:
        path = self._sources.managed
        look.at(os.path.dirname(path))
        look.at(path)
        try:
            flaw = managed_flaw(path, owner=self._sources.managed_owner)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _unreadable(path, error) from error
        if flaw is None:
            yield from self._from_disk(path, Layer.MANAGED, look)
        else:
            look.note(path, "ignored", f"is ignored: {flaw}.")

    def _project(self, place: str, look: Look) -> Iterator[ConfigFile]:
        if self._sources.edited or self._sources.vouched:
            found = list(self._from_disk(place, Layer.PROJECT, look))
            if found or self._sources.edited:
                yield from found
                return
        trusted = self._store.find_exactly(place)
        if trusted is not None:
            yield self._from_set(trusted, look)
        elif os.path.lexists(place):
            why = "is not trusted, so nothing in it is active"
            look.note(place, "untrusted", f"{why}; `hookline trust` shows it and asks.")

    def _from_disk(self, path: str, layer: Layer, look: Look) -> Iterator[ConfigFile]:
        """The file as it is on disk, unless it is missing or a project's and nobody's word."""
        reader = Reader()
        digests: dict[str, str] = {}

        def read(path: str) -> bytes:
            look.at(path)
            content = _listing(path) if path.endswith("/") else reader(path)
            digests[path] = sha256(content).hexdigest()
            return content

        def include(path: str) -> bytes:
            content = read(path)
            if not path.endswith("/"):
                self._check_include(path, digests[path], layer, look)
            return content

        def names(path: str, speaks: str | None) -> list[str]:
            return os.fsdecode(read(path + "/")).split("\0")

        try:
            raw = read(path)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise _unreadable(path, error) from error
        origin = digests.pop(path)
        if layer is Layer.PROJECT and not self._is_free(origin):
            return
        kept = self._compiled.get((path, layer))
        if kept is None or kept.origin != origin or not _reads_same(kept.reads, include):
            digests.clear()
            kept = _Compiled(self._compile(raw, path, layer, include, names), origin, digests, {})
        yield self._keep(kept, None)

    def _is_free(self, digest: str) -> bool:
        """Whether a project file needs no trust here, or was trusted for this one process."""
        sources = self._sources
        if sources.edited or sources.override is not None:
            return True
        return "all" in sources.vouched or digest in sources.vouched

    def _check_include(self, path: str, digest: str, layer: Layer, look: Look) -> None:
        """What counts like the file that includes it has to meet the same terms."""
        if layer is Layer.MANAGED:
            look.at(os.path.dirname(path))
            flaw = managed_flaw(path, owner=self._sources.managed_owner)
            if flaw:
                raise TrustError(flaw)
        elif layer is Layer.PROJECT and not self._is_free(digest):
            raise TrustError(f"HOOKLINE_TRUST does not name it by its sha256, {digest}")

    def _from_set(self, trusted: TrustedSet, look: Look) -> ConfigFile:
        """The file as it was trusted; what became of it on the disk is only worth a note."""
        kept = self._compiled.get((trusted.config, Layer.PROJECT))
        if kept is None or kept.origin != trusted.digest:
            kept = self._compile_set(trusted)
        for file in trusted.files[:WATCHED]:
            look.at(file.path)
            if not file.is_unchanged():
                _note_change(file.path, look)
        for directory in kept.directories:
            look.at(directory)
        for path in self._newcomers(kept, trusted):
            why = "was not there when the config was trusted, so it is not active"
            look.note(path, "untrusted", f"{why}; `hookline trust` shows it and asks.")
        return self._keep(kept, trusted)

    def _newcomers(self, compiled: _Compiled, trusted: TrustedSet) -> Iterator[str]:
        for directory, speaks in compiled.directories.items():
            from hookline.config.natives import members

            try:
                found = members(self._kit, directory, file_names(directory), speaks)
            except OSError:
                continue  # that it is gone is told of each of its files
            yield from (path for path in found if trusted.find(path) is None)

    def _compile_set(self, trusted: TrustedSet) -> _Compiled:
        directories: dict[str, str | None] = {}

        def names(path: str, speaks: str | None) -> list[str]:
            found = trusted.names(path)
            directories[path] = speaks
            return found

        raw = trusted.read(trusted.config)
        file = self._compile(raw, trusted.config, Layer.PROJECT, trusted.read, names)
        # Whatever lies on the disk, it is not from there.
        return _Compiled(file, trusted.digest, {}, directories)

    def _compile(
        self, raw: bytes, path: str, layer: Layer, read: ReadFile, names: ListNames
    ) -> ConfigFile:
        return compile_file(
            raw,
            file=path,
            layer=layer,
            project_dir=project_dir_of(path),
            kit=self._kit,
            read=read,
            names=names,
        )

    def _keep(self, compiled: _Compiled, trusted: TrustedSet | None) -> ConfigFile:
        file = compiled.file
        self._compiled[file.file, file.layer] = compiled
        for each in all_files(file):
            self.sets[each.project_dir, each.file] = trusted
        return file


def all_files(file: ConfigFile) -> Iterator[ConfigFile]:
    """A file and all that it includes."""
    yield file
    for each in file.includes:
        yield from all_files(each)


def _note_change(path: str, look: Look) -> None:
    if not os.path.lexists(path):
        kind, what = "missing", "is gone"
    elif not os.path.isfile(path):
        kind, what = "broken", "is no file any more"
    else:
        kind, what = "changed", "changed since you trusted it"
    is_config = path.endswith(tuple(f"/{name}" for name in NAMES))
    step = "hookline trust --revoke" if kind == "missing" and is_config else "hookline trust"
    look.note(path, kind, f"{what}; the trusted version is active until you run `{step}`.")


def _listing(directory: str) -> bytes:
    return b"\0".join(map(os.fsencode, file_names(directory)))


def _reads_same(digests: Mapping[str, str], read: ReadFile) -> bool:
    try:
        return all(sha256(read(path)).hexdigest() == digest for path, digest in digests.items())
    except (OSError, TrustError):
        return False


def _unreadable(path: str, error: OSError) -> ConfigError:
    return ConfigError([Problem(path, 0, f"cannot be read: {error.strerror}")])
