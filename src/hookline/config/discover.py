"""Where config files may lie: the project of an event, and every directory that counts for it.

Knows paths and looks up what they lead to; reads no file and knows nothing of trust.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from hookline.model.errors import ConfigError, Problem

__all__ = [
    "MANAGED_FILE",
    "NAMES",
    "candidates",
    "config_dirs",
    "home_dir",
    "is_within",
    "managed_flaw",
    "normal_path",
    "place_of",
    "project_dir_of",
    "project_root",
    "resolved",
    "user_file",
]

MANAGED_FILE = "/etc/hookline/hookline.yaml"
"""The machine's own config."""

NAMES = ("hookline.yaml", ".hookline/hookline.yaml")
"""What a project's config is called, below its project directory; one may have both."""


def project_root(cwd: str, *, project_var: str | None) -> str:
    """The project of a session whose first event came from ``cwd``, as a resolved path."""
    here = resolved(cwd)
    claimed = resolved(project_var or "")
    if claimed and (not here or is_within(here, claimed)):
        return claimed
    if not here:
        # Everything lies below it, so every directory on the way to a later cwd still counts.
        return "/"
    for directory in reversed(list(_down_to(here))):
        if os.path.exists(os.path.join(directory, ".git")):
            return directory
    return here


def config_dirs(root: str, cwd: str, paths: Sequence[str] = ()) -> tuple[str, ...]:
    """Every directory whose config counts for an event, from the outermost to the innermost.

    A directory that has become a link to elsewhere counts in both places, so that putting a link
    in the way of a config does not take that config out of force.
    """
    if not paths and _is_plain(cwd):
        return _plain_dirs(root, cwd)
    return _dirs(root, cwd, paths)


@lru_cache(1024)
def _plain_dirs(root: str, cwd: str) -> tuple[str, ...]:
    """The same where there is no link on the way to ``cwd``: then it is in the names alone."""
    inner = _down_to(cwd) if is_within(cwd, root) else ()
    return tuple(dict.fromkeys((*_down_to(root), *inner)))


def _dirs(root: str, cwd: str, paths: Iterable[str]) -> tuple[str, ...]:
    dirs = dict.fromkeys(_down_to(root))
    if is_within(resolved(cwd), root):
        dirs |= dict.fromkeys(_down_to(normal_path(cwd)))
    for place in (cwd, *(_directory(os.path.join(cwd, path)) for path in paths)):
        for spelled in (resolved(place), normal_path(place)):
            if is_within(spelled, root):
                dirs |= dict.fromkeys(each for each in _down_to(spelled) if is_within(each, root))
    return tuple(dirs)


def candidates(dirs: Sequence[str]) -> Iterator[str]:
    """Every place in these directories where a config may lie, in configured order."""
    for directory in dirs:
        for name in NAMES:
            yield os.path.join(directory, name)


def project_dir_of(config: str) -> str:
    """The directory that a config speaks for, and in which its hooks run."""
    return _split(config)[0]


def place_of(config: str) -> str:
    """The one spelling of a config's place: its project directory resolved, its name kept.

    The name is kept because what it leads to is not for the file to say: a link put in place of
    a config is still that config's place, and a link to a trusted config elsewhere is not trusted.
    """
    directory, name = _split(normal_path(config))
    return os.path.join(resolved(directory), name)


def user_file(env: Mapping[str, str]) -> str:
    """The user's own config.

    What it says needs no trust, so ``env`` has to be the person's: where a repository may have
    set the variables, pass an empty one, and the user database is asked instead.
    """
    return os.path.join(_base_dir(env, "XDG_CONFIG_HOME", ".config"), "hookline", "hookline.yaml")


def home_dir(env: Mapping[str, str]) -> str:
    """Where hookline keeps what it has to remember, unless it was told otherwise."""
    return os.path.join(_base_dir(env, "XDG_STATE_HOME", ".local/state"), "hookline")


def managed_flaw(path: str, *, owner: int = 0) -> str | None:
    """Why the managed file must be ignored, or None when only ``owner`` can have written it."""
    real = os.path.realpath(path)
    for each in (os.path.dirname(path), os.path.dirname(real), path):
        found = os.stat(each)
        if found.st_uid != owner:
            return f"`{each}` belongs to user {found.st_uid} and not to user {owner}"
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return f"`{each}` can be written by others than its owner"
    return None


def is_within(path: str, directory: str) -> bool:
    """Whether ``path`` is ``directory`` or lies below it, by their spelling alone."""
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def resolved(path: str) -> str:
    """``path`` with every link followed, or the empty string when it is no absolute path."""
    if not os.path.isabs(path):
        return ""
    try:
        return path if _is_plain(path) else os.path.realpath(path)
    except ValueError:  # a NUL or half a surrogate pair, which no file can have in its name
        return ""


def _is_plain(path: str) -> bool:
    """Whether ``path`` is there, is spelled in the one way, and leads through no link."""
    parts = _parts(path)
    try:
        # A plain loop, without the root: every event waits for it.
        for part in parts:
            if stat.S_ISLNK(os.lstat(part).st_mode):
                return False
    except (OSError, ValueError):
        return False
    return bool(parts)


@lru_cache(1024)
def _parts(path: str) -> tuple[str, ...]:
    """Every directory down to ``path``; none for one that could be spelled otherwise."""
    whole = os.path.isabs(path) and os.path.normpath(path) == path and not path.startswith("//")
    return tuple(_down_to(path))[1:] if whole else ()


def _split(config: str) -> tuple[str, str]:
    for name in reversed(NAMES):
        directory = config.removesuffix(f"/{name}")
        if directory != config:
            return directory or "/", name
    return os.path.dirname(config), os.path.basename(config)


def _down_to(directory: str) -> Iterator[str]:
    """The directories from the filesystem root down to this one, itself included."""
    yield "/"
    at = directory.find("/", 1)
    while at > 0:
        yield directory[:at]
        at = directory.find("/", at + 1)
    if directory != "/":
        yield directory


def _directory(path: str) -> str:
    return path if os.path.isdir(path) else os.path.dirname(path)


def normal_path(path: str) -> str:
    """``path`` without ``.``, ``..`` and doubled slashes, and with its links unfollowed."""
    normal = os.path.normpath(path)
    return normal[1:] if normal.startswith("//") else normal  # POSIX lets normpath keep two


def _base_dir(env: Mapping[str, str], variable: str, default: str) -> str:
    chosen = env.get(variable, "")
    if os.path.isabs(chosen):  # the XDG specification: a relative one is invalid, and ignored
        return chosen
    return os.path.join(_person_home(env), default)


def _person_home(env: Mapping[str, str]) -> str:
    home = env.get("HOME", "")
    if os.path.isabs(home):
        return home
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        message = f"user {os.getuid()} has no home directory"
        raise ConfigError([Problem("hookline", 0, message, "set HOME")]) from None
