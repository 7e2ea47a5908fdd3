"""The snapshots of the work tree that a person is in."""

import os

from hookline.config.discover import project_root
from hookline.model.errors import HooklineError
from hookline.snapshots import Shadow

__all__ = ["opened"]

_PASSED_ON = ("HOME", "LANG", "LC_ALL", "PATH", "TZ", "USER", "XDG_CONFIG_HOME")


def opened(cwd: str) -> Shadow:
    """The shadow of the work tree that ``cwd`` is in. Raises HooklineError outside of one."""
    from hookline.opening import open_loader

    root = project_root(cwd, project_var=None)
    if not os.path.lexists(os.path.join(root, ".git")):
        raise HooklineError(f"`{cwd}` is in no git work tree, so nothing is kept of it")
    home = os.path.abspath(open_loader(os.environ).home)
    env = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return Shadow(os.path.join(home, "snapshot"), root=root, env=env)
