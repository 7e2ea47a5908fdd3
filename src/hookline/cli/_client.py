"""Which program of an agent is meant: the one named, the person's own, or the pinned one."""

import os
from typing import TYPE_CHECKING

from hookline.model.errors import HooklineError

if TYPE_CHECKING:
    from hookline.lab.ports import Client, Program, Room

__all__ = ["chosen_program"]


def chosen_program(
    client: "Client", room: "Room", path: str | None, *, pinned: bool, kept: bool = False
) -> "Program":
    """The person's own client before ours: it is theirs that their hooks have to hold for.

    With ``kept`` a pinned one that is in the cache already stands in for one they do not have.
    """
    from hookline.lab.acquiring import acquire, cache_directory, installed
    from hookline.lab.finding import find

    if pinned:
        return acquire(client.package)
    try:
        return find(client.package, room=room, env=os.environ, path=path)
    except HooklineError as error:
        if path is not None:
            raise
        found = installed(client.package, cache_directory(os.environ)) if kept else None
        if found is None:
            raise HooklineError(f"{error}; or have --pinned bring it") from error
        return found
