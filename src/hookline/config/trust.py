"""What a person trusted, byte for byte: one set of files for each project config.

Knows how sets are kept and checked; must not know what is in a config or which files it names.
"""

import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from errno import ENOENT, ENOTDIR
from hashlib import sha256

import msgspec
from msgspec import Struct

from hookline.config.discover import place_of, project_dir_of, resolved
from hookline.config.reading import Reading, locked, make_private, read_file, write_file
from hookline.model.errors import TrustError

__all__ = ["TrustStore", "TrustedFile", "TrustedSet", "described"]


class TrustedFile(Struct, frozen=True):
    """One file of a set, as it was when it was trusted."""

    path: str
    real: str
    sha256: str = ""
    """Empty for a link that leads out of the project."""
    size: int = 0
    executable: bool = False

    def is_unchanged(self) -> bool:
        """Whether what lies at the path now is, by content, what was trusted."""
        return resolved(self.path) == self.real and self.has_content()

    def has_content(self) -> bool:
        """The same, for a path that is known to lead where it led."""
        if not self.sha256:
            return True
        try:
            content, executable = read_file(self.path, limit=self.size)
        except OSError:
            return False
        # A script that lost its bit would fail where the trusted one answered.
        return executable >= self.executable and sha256(content).hexdigest() == self.sha256


class TrustedSet(Struct, frozen=True):
    """The config that was trusted at one place, and every file that was pinned with it."""

    config: str
    """The place: its directory resolved, its own name kept even where it is a link."""
    given: str
    """How the person spelled it."""
    time: float
    files: tuple[TrustedFile, ...]
    store: str = ""
    """The directory that holds the bytes."""

    @property
    def project_dir(self) -> str:
        """The directory that the config speaks for."""
        return project_dir_of(self.config)

    @property
    def digest(self) -> str:
        """Equal for sets with the same files in the same bytes at the same place."""
        return sha256(msgspec.json.encode([self.config, self.files])).hexdigest()

    def find(self, path: str) -> TrustedFile | None:
        """What was trusted at this path, if anything."""
        return next((file for file in self.files if file.path == path), None)

    def read(self, path: str) -> bytes:
        """The bytes that were trusted; raises FileNotFoundError for a path not in the set."""
        file = self.find(os.path.normpath(path))
        if file is None or not file.sha256:
            raise FileNotFoundError(ENOENT, "was not there when the config was trusted", path)
        blob = os.path.join(self.store, "blobs", file.sha256)
        try:
            with open(blob, "rb") as opened:
                content = opened.read()
        except OSError as error:
            raise _damaged(self.config, f"`{blob}`: {error.strerror}") from error
        if sha256(content).hexdigest() != file.sha256:
            raise _damaged(self.config, f"`{blob}` was altered")
        return content

    def names(self, directory: str) -> list[str]:
        """What was trusted in a directory; raises NotADirectoryError for nothing."""
        found = [file.path for file in self.files if os.path.dirname(file.path) == directory]
        if not found:
            raise NotADirectoryError(ENOTDIR, "no files of it were trusted", directory)
        return [os.path.basename(path) for path in found]

    def is_made_of(self, readings: Iterable[Reading]) -> bool:
        """Whether trusting these would change nothing."""
        return {described(each) for each in readings} == set(self.files)

    def changed(self) -> tuple[str, ...]:
        """The paths of this set that do not lie on disk as they were trusted."""
        return tuple(file.path for file in self.files if not file.is_unchanged())


class _Entry(Struct, frozen=True, forbid_unknown_fields=True):
    """A set as its index file spells it."""

    config: str
    given: str
    time: float
    files: tuple[TrustedFile, ...]
    digest: str


class TrustStore:
    """The sets of trusted files; one current set for each place, and no way back to older ones."""

    def __init__(self, home: str, *, clock: Callable[[], float] = time.time) -> None:
        self.directory = os.path.join(home, "trust")
        self._clock = clock

    def find(self, config: str) -> TrustedSet | None:
        """The set in force for a config, wherever its place leads today, or None if there is none.

        Raises TrustError when there is one that cannot be used.
        """
        return self.find_exactly(place_of(config)) or self.find_exactly(os.path.normpath(config))

    def find_exactly(self, place: str) -> TrustedSet | None:
        """The set that was stored for this spelling of a place."""
        path = self._index_path(place)
        try:
            with open(path, "rb") as file:
                raw = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise _damaged(place, f"`{path}`: {error.strerror}") from error
        self._check_directory()
        return self._decode(raw, path, place)

    def has(self, place: str) -> bool:
        """Whether anything, usable or not, is stored for this spelling of a place."""
        return os.path.lexists(self._index_path(place))

    def trust(self, config: str, readings: Iterable[Reading]) -> TrustedSet:
        """Make these bytes the current set for a config; they are stored exactly as given."""
        readings = tuple(readings)
        trusted = TrustedSet(
            config=place_of(config),
            given=config,
            time=self._clock(),
            files=tuple(map(described, readings)),
            store=self.directory,
        )
        for file in trusted.files:
            if not _is_text(file.path) or not _is_text(file.real):
                raise TrustError(f"{file.path!r} cannot be trusted: its name is not UTF-8")
        with self._lock():
            blobs = os.path.join(self.directory, "blobs")
            make_private(blobs)
            for reading, file in zip(readings, trusted.files, strict=True):
                if reading.content is not None:
                    write_file(os.path.join(blobs, file.sha256), reading.content)
            entry = _Entry(*_fields(trusted), trusted.digest)
            write_file(self._index_path(trusted.config), msgspec.json.encode(entry))
            self._sweep()
        return trusted

    def revoke(self, config: str) -> bool:
        """Forget the set of a config, damaged or not; False when there was none."""
        found = False
        with self._lock():
            for place in dict.fromkeys((place_of(config), os.path.normpath(config))):
                with suppress(FileNotFoundError):
                    os.unlink(self._index_path(place))
                    found = True
                    break
            self._sweep()
        return found

    def sets(self) -> tuple[list[TrustedSet], list[TrustError]]:
        """Every set by its place, and what is wrong with the ones that cannot be used."""
        good, bad = [], []
        for path in self._index_files():
            try:
                with open(path, "rb") as file:
                    good.append(self._decode(file.read(), path, None))
            except TrustError as error:
                bad.append(error)
        return sorted(good, key=lambda each: each.config), bad

    def _decode(self, raw: bytes, path: str, place: str | None) -> TrustedSet:
        try:
            entry = msgspec.json.decode(raw, type=_Entry)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise _damaged(place or path, f"`{path}`: {error}") from error
        trusted = TrustedSet(*_fields(entry), self.directory)
        if trusted.digest != entry.digest or path != self._index_path(entry.config):
            raise _damaged(place or entry.config, f"`{path}` was altered")
        return trusted

    def _index_path(self, place: str) -> str:
        return os.path.join(self.directory, f"{sha256(os.fsencode(place)).hexdigest()}.json")

    def _index_files(self) -> list[str]:
        with suppress(FileNotFoundError):
            names = sorted(os.listdir(self.directory))
            return [os.path.join(self.directory, name) for name in names if name.endswith(".json")]
        return []

    def _check_directory(self) -> None:
        found = os.stat(self.directory)
        if found.st_uid not in {os.getuid(), 0} or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            message = f"others can write to `{self.directory}`, so nothing in it can be trusted"
            raise TrustError(f"{message}: `chmod -R go-w` it and look at `hookline trust --list`")

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            for directory in (os.path.dirname(self.directory), self.directory):
                make_private(directory)
            self._check_directory()
            with locked(self.directory):
                yield
        except OSError as error:
            message = f"`{self.directory}` cannot be written: {error.strerror}"
            raise TrustError(message) from error

    def _sweep(self) -> None:
        """Remove bytes that no current set needs, unless a damaged one might."""
        import shutil

        good, bad = self.sets()
        if bad:
            return
        wanted = {
            "blobs": {file.sha256 for each in good for file in each.files},
            "run": {each.digest for each in good},
        }
        for kind, names in wanted.items():
            directory = os.path.join(self.directory, kind)
            for name in os.listdir(directory) if os.path.isdir(directory) else ():
                if name not in names and not name.startswith("."):
                    path = os.path.join(directory, name)
                    shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)


def described(reading: Reading) -> TrustedFile:
    """What is remembered of a file beside its bytes."""
    if reading.content is None:
        return TrustedFile(reading.path, reading.real)
    digest = sha256(reading.content).hexdigest()
    size = len(reading.content)
    return TrustedFile(reading.path, reading.real, digest, size, reading.executable)


def _is_text(path: str) -> bool:
    return path.isascii() or os.fsencode(path) == path.encode(errors="replace")


def _fields(kept: TrustedSet | _Entry) -> tuple[str, str, float, tuple[TrustedFile, ...]]:
    return kept.config, kept.given, kept.time, kept.files


def _damaged(place: str, why: str) -> TrustError:
    message = f"what was trusted for `{place}` is damaged ({why})"
    return TrustError(f"{message}: look at the file and run `hookline trust` on it again")
