"""Redirections: what a file loses when a shell opens it for writing."""

import os
import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.writing import written
from hookline.builtin.shell_guard.model import Act, Finding, fatal, risky
from hookline.builtin.shell_guard.targets import Target, targets
from hookline.builtin.shell_guard.world import Place, World
from hookline.shell import Redirection

__all__ = ["redirected"]

_NETWORK = re.compile(r"/dev/(?:tcp|udp)/")
# Programs that write nothing, or nothing of their own.
_EMPTY = frozenset({"", ":", "true", "false"})


def redirected(redirect: Redirection, act: Act, world: World) -> Iterator[Finding]:
    """What speaks against one redirection, made where ``act`` runs."""
    words = f"{redirect.operator} {redirect.target}"
    if redirect.operator == ">&" and re.fullmatch(r"\d+-?|-", redirect.target):
        return
    if _NETWORK.search(redirect.target):
        yield fatal("sends-out", words, "it is a connection to another machine, not a file")
        return
    if redirect.target.startswith((">(", "<(")):
        return
    adds = ">>" in redirect.operator
    for target in targets(redirect.target, act, world):
        found = list(written(act, target, words, adds=adds))
        yield from found
        if not found and not adds and _empties(redirect):
            yield from _emptied(target, words)


def _empties(redirect: Redirection) -> bool:
    name = redirect.words[0].rpartition("/")[2] if redirect.words else ""
    if redirect.fed:
        return False
    rest = redirect.words[1:]
    nothing = (name == "cat" and rest == ("/dev/null",)) or (
        name in ("echo", "printf") and not "".join(rest).removeprefix("-n").strip()
    )
    return name in _EMPTY or nothing


def _emptied(target: Target, words: str) -> Iterator[Finding]:
    if target.place in (Place.PROJECT, Place.PERSONAL) and not target.junk:
        try:
            size = os.path.getsize(target.path)
        except (OSError, ValueError):
            return
        if size:
            yield risky("overwrites", words, f"`{target.path}` would be empty")
