"""The snapshots of the work tree that a person is in."""

import os

from hookline.git import GitError, find_repository
from hookline.model.errors import HooklineError
from hookline.snapshots import Shadow

__all__ = ["opened"]


def opened(cwd: str) -> Shadow:
    """The shadow of the work tree that ``cwd`` is in. Raises HooklineError outside of one."""
    from hookline.app import open_loader

    try:
        repository = find_repository(cwd)
    except GitError as error:
        raise HooklineError(str(error)) from error
    if repository is None:
        raise HooklineError(f"`{cwd}` is in no git work tree, so nothing is kept of it")
    home = os.path.abspath(open_loader(os.environ).home)
    return Shadow(os.path.join(home, "snapshot"), repository, env=os.environ)
