"""What install, uninstall and status share: the machine they look at, and the platforms named."""

import os
import shutil
from collections.abc import Mapping, Sequence
from functools import partial

import click

from hookline import registry
from hookline.config.discover import project_root
from hookline.installing.asking import ask_line, ask_version, converse
from hookline.installing.files import look
from hookline.installing.records import Records
from hookline.model.installing import Installer, InstallError, Machine

__all__ = ["installers", "machine_here", "records_here", "user_config_dir"]


def machine_here(
    env: Mapping[str, str], named: Sequence[str] = (), directory: str = "."
) -> Machine:
    """This machine, as the person at it has it."""
    home, cwd = os.path.expanduser("~"), os.path.abspath(directory)
    return Machine(
        home=home,
        project=project_root(cwd, project_var=None),
        env=env,
        read=_content,
        which=lambda name: shutil.which(name, path=env.get("PATH")),
        converse=partial(converse, env=env, cwd=home),
        version=partial(ask_version, env=env, cwd=home),
        test_line=partial(ask_line, env=env, cwd=cwd),
        named=tuple(os.path.abspath(file) for file in named),
    )


def _content(path: str) -> bytes | None:
    try:
        return look(path).content
    except InstallError:
        return None


def records_here() -> Records:
    """What was written where, as the state home remembers it."""
    from hookline.app import open_loader

    return Records(open_loader(os.environ).home)


def user_config_dir(env: Mapping[str, str]) -> str:
    """The directory that holds the person's ``hookline/hookline.yaml``."""
    from hookline.config.discover import user_file

    return os.path.dirname(os.path.dirname(user_file(env)))


def installers(names: Sequence[str], files: Sequence[str] = ()) -> list[Installer]:
    """The installers of the platforms named, or all of them. Raises UnknownNameError."""
    wanted = dict.fromkeys(names or registry.installer_names())
    found = [registry.installer(name) for name in wanted]
    for each in found:
        if files and not each.takes_files:
            client = each.support.client
            raise click.UsageError(f"--file: {client} reads its settings from places of its own")
    return found
