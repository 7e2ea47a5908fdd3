"""Whether a touch would change what guards the agent: by name, by link, or with what holds it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache

from hookline.builtin import _agent_files as files
from hookline.builtin._agent_files import MOVING, OWN_FILES, moved, standing
from hookline.builtin._paths import END, Globs, Places, normal
from hookline.builtin._protected import FINE, Judged
from hookline.builtin._touching import Right, Touch
from hookline.model.answers import Verdict
from hookline.model.ports import Caller

__all__ = ["OwnFiles"]

_OWN = Globs(OWN_FILES)
_ASKED = Globs(files.ASKED_FILES)
_AGENT_ENDS = tuple(f"/{name}" for name in files.AGENT_DIRS)
_SHARED_ENDS = tuple(f"/{name}" for name in files.SHARED_DIRS)


class OwnFiles:
    """The agents' own files and hookline's, as they are for one caller."""

    def __init__(self, places: Places, caller: Caller) -> None:
        self._places = places
        self._elsewhere, self._moved = _elsewhere(caller.own, *map(caller.env.get, MOVING))

    def judge(self, touch: Touch, spot: str, forms: str) -> Judged:
        """Whether this would change one of them, or something that holds one."""
        if touch.right is Right.READ:
            return FINE
        found = _OWN.found(forms) if forms else None
        whose = OWN_FILES[found] if found else ""
        if not whose and self._is_moved(spot.lower()):
            whose = "the agent or of hookline"
        if not whose and (touch.deep or touch.right is Right.DELETE) and self._holds(spot):
            whose = "the agent"
        if not whose and touch.right is not Right.USE and self._is_linked(spot):
            whose = "the agent"
        if not whose:
            return self._judge_near(touch, spot, forms)
        verdict = Verdict.ASK if touch.right is Right.USE else Verdict.DENY
        return Judged(
            verdict,
            f"`{touch.path}` holds hooks or settings of {whose}, and agents may not change them. "
            "Ask the user to do it",
        )

    def _judge_near(self, touch: Touch, spot: str, forms: str) -> Judged:
        """What would bring other settings or hooks with it, or change hookline's programs."""
        low = spot.lower()
        near = low.endswith(_AGENT_ENDS)
        if touch.right is not Right.USE:
            near = near or (low.endswith(_SHARED_ENDS) and not os.path.isdir(spot))
            near = near or bool(forms and _ASKED.matches(forms))
        if not near or touch.made:
            return FINE
        where = f"`{touch.path}` is where settings and hooks of an agent or hookline itself are"
        return Judged(Verdict.ASK, f"{where}; a person should see this first")

    def may_be(self, places: str) -> bool:
        """Whether a text of places could name one that is not where it usually is."""
        low = places.replace(END, "/").lower()
        return any(path in low for path in self._moved)

    def matching(self, pattern: str, places: Places) -> Iterator[str]:
        """Those that are there and that a pattern with `**` in it stands for."""
        if "**" not in pattern:
            return
        with suppress(ValueError):
            wholes = Globs(map(normal, places.absolute(pattern)))
            fits = (path for path in self._standing() if wholes.matches(path + END))
            yield from filter(os.path.lexists, fits)

    def lost(self, touch: Touch) -> Iterator[Judged]:
        """What a name could be in a directory that nobody knows."""
        if touch.right is Right.READ:
            return
        name = os.path.basename(touch.path.rstrip("/"))
        if name and any(os.path.basename(path) == name for path in self._standing()):
            yield Judged(
                Verdict.ASK,
                f"`{touch.path}` may be a file of an agent's hooks: "
                "which directory it is in cannot be told from the command",
            )

    @cached_property
    def _bases(self) -> tuple[str, ...]:
        """The directories in which such files are looked for, with a slash behind each."""
        directories = (*self._places.homes, *self._places.projects)
        return tuple(dict.fromkeys(each.rstrip("/") + "/" for each in directories))

    def _standing(self) -> Iterator[str]:
        yield from standing(self._bases)
        yield from self._elsewhere

    def _is_moved(self, spot: str) -> bool:
        return f"{spot}/".startswith(self._moved)

    def _holds(self, spot: str) -> bool:
        """Whether one of these files lies below a directory that is there."""
        inside = spot.rstrip("/") + "/"
        # Of thousands of directories that a pattern may stand for, hardly any is near one of these.
        near = [each for each in self._bases if each.startswith(inside) or inside.startswith(each)]
        found = (path for path in (*standing(near), *self._elsewhere) if path.startswith(inside))
        return os.path.isdir(spot) and any(map(os.path.lexists, found))

    def _is_linked(self, spot: str) -> bool:
        """Whether it is another name of one of these files."""
        try:
            here = os.stat(spot)
        except (OSError, ValueError):
            return False
        if here.st_nlink < 2 or os.path.isdir(spot):
            return False
        return any(_same(path, here) for path in self._standing())


@lru_cache(64)  # names alone: where links lead is asked of the disk, for every event
def _elsewhere(
    own: tuple[str, ...], *folders: str | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What variables or the command line of `hookline hook` put somewhere else.

    As it is written, and in small letters with a slash behind each.
    """
    paths = tuple(path for path in (*moved(folders), *own) if path != "/")
    return paths, tuple(f"{path.lower()}/" for path in paths)


def _same(path: str, here: os.stat_result) -> bool:
    try:
        there = os.stat(path)
    except (OSError, ValueError):
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
