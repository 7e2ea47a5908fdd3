"""Where an event happens: its directory, its project and the homes, with all links followed.

Many commands name no path, so each is looked up when somebody asks for it, and then once.
"""

import os
from functools import cache, lru_cache
from stat import S_ISLNK

from hookline.builtin._links import resolved
from hookline.builtin._paths import homes
from hookline.builtin.shell_guard.world import is_of_system
from hookline.model.events.base import Event
from hookline.model.ports import NOBODY, Caller

__all__ = ["Bearings"]


class Bearings:
    """The places of one event, for a `World`."""

    # Not `cached_property`, whose lock takes longer than a look at the disk.
    __slots__ = (
        *("_cwd", "_linkless", "_project", "_homes"),
        *("_given_home", "_written", "written_project"),
    )

    def __init__(self, event: Event, caller: Caller) -> None:
        self._written = event.cwd or caller.project_dir or "/"
        self.written_project = caller.project_dir or self._written
        """The project as its caller has it, links and all."""
        self._given_home = caller.env.get("HOME", "")
        self._cwd = self._linkless = self._project = ""
        self._homes: tuple[str, ...] = ()

    @property
    def cwd(self) -> str:
        """The directory in which the command runs."""
        if not self._cwd:
            self._linkless = resolved(self._written)
            self._cwd = self._linkless or os.path.normpath(self._written)
        return self._cwd

    @property
    def project(self) -> str:
        """The project's top."""
        if not self._project:
            same = self.written_project == self._written
            self._project = self.cwd if same else _real(self.written_project)
        return self._project

    @property
    def homes(self) -> tuple[str, ...]:
        """What `~` is, and the account's home where that is another directory."""
        if not self._homes:
            self._homes = self._found_homes()
        return self._homes

    def _found_homes(self) -> tuple[str, ...]:
        here = self.cwd and self._linkless
        given, own = self._given_home, _account_home()
        home = _real_home(given, here) if given.startswith("/") else ""
        if given == own:
            return (home or own,)
        # A repository may set an agent's variables, and must not make the system somebody's own.
        found = () if not home or is_of_system(home) else (home,)
        return (*found, _real_home(own, here))


@cache
def _account_home() -> str:
    """The home directory that the system knows."""
    found = homes(NOBODY)
    return found[0] if found else "/nonexistent"


def _real(path: str) -> str:
    """The directory without links, looked up each time: any part of it may have been moved."""
    return resolved(path) or os.path.normpath(path)


def _real_home(path: str, here: str) -> str:
    """The same of a home, in which ``here`` mostly is: above what has no links there are none."""
    if path != "/" and f"{here}/".startswith(f"{path}/"):
        return path
    return path if _is_linkless(path) else _real(path)


def _is_linkless(path: str) -> bool:
    """Whether a path is what it says; homes are near the root, so to look at each part is quick."""
    steps = _steps_to(path)
    try:
        for step in steps:
            if S_ISLNK(os.lstat(step).st_mode):
                return False
    except (OSError, ValueError):
        return False
    return bool(steps)


@lru_cache(64)  # it is about names alone
def _steps_to(path: str) -> tuple[str, ...]:
    """Each directory on the way to a path, and itself; none where it is not written plainly."""
    if os.path.normpath(path) != path or path.startswith("//"):
        return ()
    names = path.split("/")[1:]
    return tuple("/" + "/".join(names[: at + 1]) for at in range(len(names)))
