"""Where pins are kept: the person's in hookline's state, a project's in a file that is reviewed.

A project's file counts only in the bytes that the person has accepted. Changes that were seen are
kept beside the pins until the person pins the server again.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TypeVar

import msgspec
from msgspec import Struct

from hookline.files import read_regular
from hookline.model.errors import TrustError
from hookline.pinning.pins import Change, Pin

__all__ = ["PROJECT_FILE", "PinStore", "Seen", "Standing"]

T = TypeVar("T", bound=Struct)

PROJECT_FILE = "hookline.mcp.json"
_MOST_BYTES = 50 << 20

# Agents call tools more often than people pin them. Files are only ever replaced whole, so another
# version is another file.
_kept: dict[str, tuple[tuple[int, ...], Struct]] = {}
_KEPT = 16


class _Own(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: int = 1
    servers: tuple[Pin, ...] = ()
    accepted: dict[str, str] = {}
    """By a project's file, the sha256 of the bytes that count."""


class _Projects(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    version: int = 1
    servers: tuple[Pin, ...] = ()


class Seen(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """By the key of a pin, every change that was seen since it was pinned."""

    changes: dict[str, tuple[Change, ...]] = {}


class Standing(Struct, frozen=True, kw_only=True):
    """What counts in one project."""

    pins: tuple[Pin, ...] = ()
    """A project's own before the person's."""
    seen: Seen = Seen()
    note: str = ""
    """What the person should know about a project's file that does not count."""


class PinStore:
    """The pins of one person."""

    def __init__(self, home: str) -> None:
        self._directory = os.path.join(home, "mcp")
        self._pins = os.path.join(self._directory, "pins.json")
        self._changes = os.path.join(self._directory, "changes.json")

    def standing(self, project: str) -> Standing:
        """The pins that count in a project. Raises TrustError for what is damaged."""
        own = self._own()
        theirs, note = self._accepted(own, project)
        servers = [pin for pin in own.servers if pin.project in {"", project}]
        ordered = sorted([*servers, *theirs], key=lambda pin: not pin.project)
        seen = self._read(self._changes, Seen) or Seen()
        return Standing(pins=tuple(ordered), seen=seen, note=note)

    def pin(self, pins: Sequence[Pin]) -> None:
        """Keep these, in place of what was pinned of the same servers before."""
        with self._lock():
            own = self._own()
            kept, gone = _parted(own.servers, pins)
            self._write(self._pins, msgspec.structs.replace(own, servers=(*kept, *pins)))
            self._clear({pin.key for pin in (*gone, *pins)})

    def pin_project(self, project: str, pins: Sequence[Pin]) -> str:
        """Write a project's file with these servers in it, and accept it; where it is."""
        with self._lock():
            own = self._own()
            theirs, _ = self._accepted(own, project)
            kept, gone = _parted(theirs, pins)
            # A checkout elsewhere has another path, so the file does not say it.
            placed = [msgspec.structs.replace(pin, project="") for pin in (*kept, *pins)]
            body = msgspec.json.format(
                msgspec.json.encode(_Projects(servers=tuple(placed))), indent=2
            )
            path = os.path.join(project, PROJECT_FILE)
            _replace(path, body + b"\n", mode=0o644)
            self._accept(own, path, body + b"\n")
            self._clear({pin.key for pin in (*gone, *pins)})
        return path

    def project_file(self, project: str) -> tuple[str, bytes, tuple[Pin, ...]] | None:
        """A project's file as it is on disk; None where there is none. Raises TrustError."""
        path = os.path.join(os.path.realpath(project), PROJECT_FILE)
        try:
            content = read_regular(path, _MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TrustError(f"`{path}` cannot be read: {error.strerror}") from error
        servers = _decoded(content, _Projects, path).servers
        placed = tuple(msgspec.structs.replace(pin, project=project) for pin in servers)
        return path, content, placed

    def accept(self, path: str, content: bytes, pins: Sequence[Pin]) -> None:
        """Let a project's file count in these bytes."""
        with self._lock():
            self._accept(self._own(), path, content)
            self._clear({pin.key for pin in pins})

    def forget(self, names: Iterable[str], project: str) -> list[str]:
        """Drop the person's pins of these servers that count in a project; which there were."""
        wanted = set(names)
        with self._lock():
            own = self._own()
            gone = [
                pin for pin in own.servers if pin.name in wanted and pin.project in {"", project}
            ]
            kept = tuple(pin for pin in own.servers if pin not in gone)
            self._write(self._pins, msgspec.structs.replace(own, servers=kept))
            self._clear({pin.key for pin in gone})
        return sorted({pin.name for pin in gone})

    def saw(self, changes: Iterable[tuple[Pin, Sequence[Change]]]) -> None:
        """Remember what a check has seen; what was seen before stays until it is pinned anew."""
        # A definition is looked at anew each time; only what was asked for has to be remembered.
        told = ((pin, [each for each in found if each.tool]) for pin, found in changes)
        fresh = [(pin, found) for pin, found in told if found]
        if not fresh:
            return
        with self._lock():
            kept = dict((self._read(self._changes, Seen) or Seen()).changes)
            for pin, found in fresh:
                both = {each.tool: each for each in (*kept.get(pin.key, ()), *found)}
                kept[pin.key] = tuple(both.values())
            self._write(self._changes, Seen(changes=kept))

    # ── files ───────────────────────────────────────────────────────────────────────────────

    def _own(self) -> _Own:
        return self._read(self._pins, _Own) or _Own()

    def _accepted(self, own: _Own, project: str) -> tuple[tuple[Pin, ...], str]:
        """The pins of a project's file, if it counts; else why it does not."""
        if not project:
            return (), ""
        path = os.path.join(os.path.realpath(project), PROJECT_FILE)
        known = own.accepted.get(path)
        if known is None and not os.path.lexists(path):
            return (), ""
        if known is None:
            return (), f"`{path}` counts for nothing yet: `hookline mcp pin --accept` shows it"
        try:
            found = self.project_file(project)
        except TrustError as error:
            return (), str(error)
        if found is None or sha256(found[1]).hexdigest() != known:
            return (), f"`{path}` is not as it was accepted: `hookline mcp pin --accept` shows it"
        return found[2], ""

    def _accept(self, own: _Own, path: str, content: bytes) -> None:
        accepted = {**own.accepted, os.path.realpath(path): sha256(content).hexdigest()}
        self._write(self._pins, msgspec.structs.replace(own, accepted=accepted))

    def _clear(self, keys: set[str]) -> None:
        seen = self._read(self._changes, Seen)
        if seen is not None and not keys.isdisjoint(seen.changes):
            kept = {key: found for key, found in seen.changes.items() if key not in keys}
            self._write(self._changes, Seen(changes=kept))

    def _read(self, path: str, kind: type[T]) -> T | None:
        """What is in one of our files; the same value again while it is the same file."""
        try:
            with open(path, "rb") as file:
                now = os.fstat(file.fileno())
                stamp = (now.st_ino, now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_mode)
                before = _kept.get(path)
                if before is not None and before[0] == stamp and isinstance(before[1], kind):
                    return before[1]
                content = file.read(_MOST_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TrustError(f"`{path}` cannot be read: {error.strerror}") from error
        if now.st_uid not in {os.getuid(), 0} or now.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise TrustError(f"others can write to `{path}`, so no pin in it can be trusted")
        value = _decoded(content, kind, path)
        while len(_kept) >= _KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[path] = (stamp, value)
        return value

    def _write(self, path: str, value: Struct) -> None:
        _replace(path, msgspec.json.encode(value), mode=0o600)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        import fcntl

        try:
            os.makedirs(os.path.dirname(self._directory), mode=0o700, exist_ok=True)
            with suppress(FileExistsError):
                os.mkdir(self._directory, 0o700)
            lock = os.open(os.path.join(self._directory, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            message = f"`{self._directory}` cannot be written: {error.strerror}"
            raise TrustError(message) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)


def _parted(before: Sequence[Pin], fresh: Sequence[Pin]) -> tuple[list[Pin], list[Pin]]:
    """Which pins stay beside new ones, and which are replaced by them."""
    gone = [old for old in before if any(old.is_of(new) for new in fresh)]
    return [old for old in before if old not in gone], gone


def _decoded(content: bytes, kind: type[T], path: str) -> T:
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        message = f"`{path}` is no file of pins: {error}"
        raise TrustError(f"{message}; remove it and run `hookline mcp pin` again") from error


def _replace(path: str, content: bytes, *, mode: int) -> None:
    from tempfile import mkstemp

    try:
        handle, fresh = mkstemp(prefix=".new-", dir=os.path.dirname(path))
        try:
            with open(handle, "wb") as file:
                os.fchmod(handle, mode)
                file.write(content)
            os.replace(fresh, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(fresh)
            raise
    except OSError as error:
        raise TrustError(f"`{path}` cannot be written: {error.strerror}") from error
