"""Worlds for the shell guard whose places are given, and not looked up."""

from typing import Any

from msgspec import Struct

from hookline.builtin.shell_guard.world import World

__all__ = ["a_world"]


class _Given(Struct, frozen=True):
    cwd: str
    project: str
    homes: tuple[str, ...]


def a_world(
    *, home: str, cwd: str, project: str, other_homes: tuple[str, ...] = (), **more: Any
) -> World:
    """A world of these places."""
    return World(where=_Given(cwd, project, (home, *other_homes)), **more)
