"""Asks git about a directory: read only, bounded in time and output, silent when it cannot tell."""

from contextlib import suppress

from hookline.git import GitError, open_view
from hookline.model.ports import Caller

__all__ = ["ask_git"]

CAP = 4096
"""Bytes that are shown; docker-agent's limit."""

# Enough that trimming blanks cannot change what the cap leaves.
_READ = 64 * 1024


def ask_git(directory: str, caller: Caller, *question: str) -> str:
    """What ``git -C directory …`` printed; empty outside a work tree and on any failure."""
    with (
        suppress(GitError),
        open_view(directory, caller.env, caller.deadline) as view,
    ):
        if view is not None:
            said = view.ask(*question, cap=_READ)
            return "" if said.code else _shorten(said.output.strip())
    return ""


def _shorten(text: bytes) -> str:
    if len(text) <= CAP:
        return text.decode("utf-8", "replace")
    return text[:CAP].decode("utf-8", "ignore") + "\n... (truncated)"
