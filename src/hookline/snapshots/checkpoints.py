"""What a session remembers of its trees: where a turn began, and what can be gone back to."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256

import msgspec
from msgspec import Struct, field

from hookline.snapshots.shadow import Captured, Change

__all__ = ["Checkpoint", "Page", "Session", "forget_old", "pages"]

_KEPT_FOR = 7 * 24 * 3600.0
_MAX_CHECKPOINTS = 200
_MAX_TOOLS = 200


class Checkpoint(Struct, frozen=True, kw_only=True):
    """What was changed, and what it was before."""

    files: dict[str, Change]
    """By quoted path."""
    time: float
    tool: str = ""
    """The call that changed them; empty for a whole turn."""


class Session(Struct, kw_only=True):
    """What one session remembers."""

    session: str = ""
    turn: Captured | None = None
    began: float = 0.0
    """When that turn did."""
    tools: dict[str, Captured] = field(default_factory=dict)
    checkpoints: list[Checkpoint] = field(default_factory=list)
    undone: list[Checkpoint] = field(default_factory=list)
    """What the last undoings have taken away, so that it can be had again."""

    def remember(self, point: Checkpoint) -> None:
        """A new turn: what was undone before it is of the past."""
        self.checkpoints.append(point)
        self.undone.clear()

    def end_turn(self) -> Captured | None:
        """Where it began, if it did. Its single calls go with it: nobody wants back amid a turn."""
        before, self.turn = self.turn, None
        if before is not None:
            self.checkpoints = [
                point for point in self.checkpoints if not point.tool or point.time < self.began
            ]
        return before


class Page:
    """One session's file; whoever uses it holds the shadow."""

    def __init__(self, directory: str, session: str) -> None:
        name = sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._path = os.path.join(directory, "sessions", f"{name}.json")
        self._session = session

    def read(self) -> Session:
        """What was written last; one that is damaged, or not there, remembers nothing."""
        try:
            with open(self._path, "rb") as file:
                return msgspec.json.decode(file.read(), type=Session)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return Session(session=self._session.encode("utf-8", "replace").decode())

    def write(self, session: Session) -> None:
        """Replaces it whole."""
        for points in (session.checkpoints, session.undone):
            del points[:-_MAX_CHECKPOINTS]
        session.tools = dict(list(session.tools.items())[-_MAX_TOOLS:])
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        fresh = f"{self._path}.new"
        with open(fresh, "wb") as file:
            file.write(msgspec.json.encode(session))
        os.replace(fresh, self._path)


def pages(directory: str) -> Iterator[Session]:
    """Every session that is remembered beside one work tree, the latest first."""
    folder = os.path.join(directory, "sessions")
    with suppress(FileNotFoundError):
        names = [os.path.join(folder, name) for name in os.listdir(folder)]
        found = [name for name in names if name.endswith(".json")]
        for path in sorted(found, key=os.path.getmtime, reverse=True):
            with suppress(OSError, msgspec.MsgspecError), open(path, "rb") as file:
                yield msgspec.json.decode(file.read(), type=Session)


def forget_old(directory: str, *, clock: Callable[[], float] = time.time) -> None:
    """Removes what points at trees that are gone by now."""
    folder = os.path.join(directory, "sessions")
    with suppress(FileNotFoundError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with suppress(OSError):
                if clock() - os.path.getmtime(path) > _KEPT_FOR:
                    os.unlink(path)
