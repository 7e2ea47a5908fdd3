"""What a commit would bring in: the added lines of git's own diff, bounded in time and size."""

import os
import re

from hookline.git import GitError, View, open_view, read_dated
from hookline.model.ports import Caller

__all__ = ["read_staged_lines"]

_CAP = 4 << 20
_MAX_FILES = 500
# The mark of added lines begins no other line of a diff.
_DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=0", "--text"),
    *("--ignore-submodules=dirty", "--output-indicator-new=>"),
)
_OTHERS = ("ls-files", "--others", "--exclude-standard", "--full-name", "-z")
_ADDED = re.compile(rb"^>(.*)$", re.MULTILINE)


def read_staged_lines(directory: str, caller: Caller, *, unstaged: bool, new: bool) -> str | None:
    """The lines that a commit would add; with ``unstaged`` and ``new`` what is not staged yet.

    None when git did not tell all of it in time. Empty outside of a repository.
    """
    wanted = [(*_DIFF, "--cached"), *([_DIFF] if unstaged or new else [])]
    try:
        with open_view(directory, caller.env, caller.deadline) as view:
            if view is None:
                return ""
            lines = [line for each in wanted for line in _ADDED.findall(_ask(view, *each))]
            found = [*lines, *(_read_new_files(view) if new else ())]
    except GitError:
        return None
    return b"\n".join(found).decode("utf-8", "replace")


def _read_new_files(view: View) -> list[bytes]:
    """What is in the files that git does not know yet and would not ignore."""
    names = [os.fsdecode(name) for name in _ask(view, *_OTHERS).split(b"\0") if name]
    if len(names) > _MAX_FILES:
        raise GitError("there are too many new files")
    texts, left = [], _CAP
    for name in names:
        text, _ = read_dated(os.path.join(view.root, name), left, follow=False)
        texts.append(text)
        left -= len(text)
    return texts


def _ask(view: View, *question: str) -> bytes:
    """What git printed. Raises GitError when that is not all."""
    said = view.ask(*question, cap=_CAP)
    if said.code or said.is_cut:
        raise GitError(said.complaint)
    return said.output
