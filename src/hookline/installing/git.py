"""Asks git whether a file travels: is it tracked, or would it be with the next ``git add``."""

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Literal

from hookline.git import GitError, open_view

__all__ = ["Travels", "travels"]

Travels = Literal["tracked", "untracked", "ignored", "no"]

_CAP = 1 << 20


def travels(path: str, env: Mapping[str, str]) -> Travels:
    """How git sees a file, which need not exist; "untracked" when git cannot be asked."""
    directory = os.path.dirname(path)
    while not os.path.isdir(directory):
        directory = os.path.dirname(directory)
    with suppress(GitError), open_view(directory, env) as view:
        if view is None:
            return "no"
        if view.ask("ls-files", "--error-unmatch", "--", path, cap=_CAP).code == 0:
            return "tracked"
        if view.ask("check-ignore", "--quiet", "--", path, cap=_CAP).code == 0:
            return "ignored"
    return "untracked"
