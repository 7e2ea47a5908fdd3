"""Patches in a shell text: `apply_patch` takes one as a word or as a here-document."""

import re
from collections.abc import Iterator, Sequence

from hookline.builtin._touch_code import Right, Use
from hookline.model.tools import patched_paths

__all__ = ["PATCHERS", "patch_uses"]

# Not a program that is installed: Codex knows these two, and makes the patch itself.
PATCHERS = frozenset({"apply_patch", "applypatch"})
_DELETED = re.compile(r"(?m)^[ \t]*\*\*\* Delete File:(.*)$")


def patch_uses(text: str, programs: Sequence[str]) -> Iterator[Use]:
    """The files that the patches in a text change, if one of its programs makes them."""
    if "*** " not in text or PATCHERS.isdisjoint(programs):
        return
    gone = {path.strip() for path in _DELETED.findall(text)}
    for path in patched_paths(text):
        yield Use(path, Right.DELETE if path in gone else Right.WRITE)
