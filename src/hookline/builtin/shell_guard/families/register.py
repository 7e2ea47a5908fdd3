"""Every family by program name."""

from collections.abc import Iterable, Mapping

from hookline.builtin.shell_guard.families import (
    awk,
    code,
    containers,
    databases,
    deleting,
    disks,
    embedded,
    finding,
    git,
    modes,
    own_guard,
    packages,
    processes,
    remote,
    secrets,
    sending,
    startup,
    system,
    unseen,
    writing,
)
from hookline.builtin.shell_guard.model import Family, Judge

__all__ = ["JUDGES"]


def _joined(families: Iterable[Family]) -> Mapping[str, tuple[Judge, ...]]:
    """A program may be of several families: ``cp`` writes, and copies secrets."""
    found: dict[str, list[Judge]] = {}
    for family in families:
        for name, judge in family.items():
            found.setdefault(name, []).append(judge)
    return {name: tuple(judges) for name, judges in found.items()}


JUDGES = _joined(
    (
        deleting.FAMILY,
        finding.FAMILY,
        writing.FAMILY,
        modes.FAMILY,
        git.FAMILY,
        containers.FAMILY,
        remote.FAMILY,
        databases.FAMILY,
        code.FAMILY,
        awk.FAMILY,
        disks.FAMILY,
        processes.FAMILY,
        system.FAMILY,
        packages.FAMILY,
        secrets.FAMILY,
        sending.FAMILY,
        secrets.COPIERS,
        secrets.FILTERS,
        secrets.KEYS,
        secrets.ELSEWHERE,
        secrets.SCRIPTED,
        startup.FAMILY,
        own_guard.FAMILY,
        own_guard.MODULES,
        unseen.FAMILY,
        embedded.FAMILY,
    )
)
