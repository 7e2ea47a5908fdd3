"""Copies a person's rules into a room: the configs in force where they are, and what those name."""

import os
import shutil
from pathlib import Path

from hookline.app import open_loader
from hookline.config.discover import NAMES, is_within, project_root, user_file
from hookline.lab.ports import Room
from hookline.model.errors import HooklineError

__all__ = ["bring_along", "trust_room"]


def bring_along(room: Room, config: str | None, others: tuple[str, ...]) -> None:
    """The project's config or the one named, the person's own, and files beside them.

    A config that the script brings itself stays as it is.
    """
    here = os.path.abspath(".")
    for name in NAMES if config is None else ():
        if os.path.isfile(name):
            _copy_config(os.path.abspath(name), room.project, name)
    if config is not None:
        _copy_config(os.path.abspath(config), room.project, NAMES[0])
    own = user_file(os.environ)
    if os.path.isfile(own):
        _copy_config(own, os.path.dirname(user_file(room.env)), os.path.basename(own))
    for other in others:
        path = os.path.abspath(other)
        if not is_within(path, here):
            raise HooklineError(f"--bring {other}: only what is below {here} has a place there")
        _copy(path, os.path.join(room.project, os.path.relpath(path, here)))


def trust_room(room: Room) -> None:
    """Trust every config in a room: it is ours, and so are the state home and every word in it."""
    loader = open_loader(room.env, room.project)
    for each in loader.standings(project_root(room.project, project_var=None), room.project):
        loader.trust(each.config)


def _copy_config(config: str, into: str, name: str) -> None:
    """A config under ``name``, and each file that it includes or runs at the same place beside it.

    What lies elsewhere on the machine stays where it is: its name leads there from the room too.
    """
    target = os.path.join(into, name)
    if os.path.lexists(target):
        return
    draft = open_loader(os.environ).draft(config)
    base = draft.file.project_dir
    for reading in draft.readings:
        if reading.path == draft.config:
            _copy(reading.path, target)
        elif reading.content is not None and is_within(reading.path, base):
            beside = os.path.join(into, os.path.relpath(reading.path, base))
            if not os.path.lexists(beside):
                _copy(reading.path, beside)


def _copy(path: str, target: str) -> None:
    try:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
        if os.path.isdir(path):
            shutil.copytree(path, target, dirs_exist_ok=True, symlinks=True)
        else:
            shutil.copy2(path, target)
    except (OSError, shutil.Error) as error:
        raise HooklineError(f"cannot copy {path} into the session's room: {error}") from error
