"""Limits that came with whoever started this process: those that can be lifted are.

The rest is for that client alone. The hooks of another would fail by them, or never be done.
"""

import os
import resource
from contextlib import suppress

__all__ = ["burden", "lift"]

# Not raised: dumps are never wanted, descriptors have a rule of their own, and programs that hooks
# run lay out their memory in another way when there is no end to the stack.
_KEPT = {"RLIMIT_CORE", "RLIMIT_NOFILE", "RLIMIT_STACK"}

# By their names in /proc, and for people.
_FELT = {
    "RLIMIT_CPU": ("Max cpu time", "the time that it may compute"),
    "RLIMIT_FSIZE": ("Max file size", "the size of its files"),
    "RLIMIT_DATA": ("Max data size", "its memory"),
    "RLIMIT_AS": ("Max address space", "its memory"),
}


def lift() -> None:
    """Raises every limit as far as this process may."""
    for name in dir(resource):
        if not name.startswith("RLIMIT_") or name in _KEPT:
            continue
        with suppress(OSError, ValueError):
            which = getattr(resource, name)
            soft, hard = resource.getrlimit(which)
            if soft != hard:
                resource.setrlimit(which, (hard, hard))


def burden(usual: str = "/proc/1/limits") -> str:
    """What is left that only this client's hooks should bear; empty when nothing is.

    ``usual`` is where the system says which limits its first process has.
    """
    if os.getpriority(os.PRIO_PROCESS, 0) > 0:
        return "its priority is lowered"
    common: dict[str, int] = {}
    for name, (title, meaning) in _FELT.items():
        which = getattr(resource, name, None)  # not every system has all of them
        hard = resource.RLIM_INFINITY if which is None else resource.getrlimit(which)[1]
        if hard == resource.RLIM_INFINITY:
            continue
        common = common or _usual(usual)
        if title not in common or hard < common[title]:
            return f"{meaning} is limited to {hard} (`ulimit`)"
    return ""


def _usual(path: str) -> dict[str, int]:
    """The finite hard limits of the first process: a container may have them for all of its own."""
    found: dict[str, int] = {}
    with suppress(OSError), open(path, encoding="ascii", errors="replace") as file:
        for line in file:
            # Max file size             unlimited            1024                 bytes
            title, words = line[:26].rstrip(), line[26:].split()
            if len(words) > 1 and words[1].isdigit():
                found[title] = int(words[1])
    return found
