"""Every family by program name."""

from collections.abc import Iterable, Mapping

from hookline.builtin.shell_guard.families import (
    awk,
    clusters,
    code,
    containers,
    databases,
    deleting,
    disks,
    embedded,
    finding,
    fleets,
    git,
    modes,
    own_guard,
    packages,
    processes,
    rarer,
    remote,
    secrets,
    sending,
    startup,
    system,
    unfamiliar,
    unseen,
    versions,
    windows,
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
        clusters.FAMILY,
        clusters.LIVE,
        remote.FAMILY,
        databases.FAMILY,
        code.FAMILY,
        awk.FAMILY,
        rarer.FAMILY,
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
        windows.FAMILY,
        fleets.FAMILY,
        versions.FAMILY,
        unfamiliar.FAMILY,
        own_guard.FAMILY,
        unseen.FAMILY,
        embedded.FAMILY,
        embedded.ESCAPES,
    )
)
