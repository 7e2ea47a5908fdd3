"""Every probe there is: those of all modules in ``probes``, in the order they are played."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

import hookline.verifying.probes
from hookline.model.errors import UnknownNameError
from hookline.verifying.lines import ASKED, Probe

__all__ = ["chosen", "probes"]


@cache
def probes() -> tuple[Probe, ...]:
    """All of them, scene by scene."""
    names = sorted(info.name for info in iter_modules(hookline.verifying.probes.__path__))
    found: list[Probe] = []
    for name in names:
        if not name.startswith("_"):
            found += import_module(f"hookline.verifying.probes.{name}").PROBES
    return tuple(sorted(found, key=lambda probe: (probe.scene.order, probe.order)))


def chosen(ids: tuple[str, ...]) -> tuple[Probe, ...]:
    """The probes of these ids with the twins they lean on, or all. Raises UnknownNameError."""
    known = {probe.id: probe for probe in probes()}
    for name in ids:
        if name not in known:
            raise UnknownNameError("line", name, sorted(known))
    if not ids:
        return probes()
    wanted = {*ids, *(known[name].twin for name in ids)}
    if any(known[name].person for name in ids):
        wanted.add(ASKED)
    return tuple(probe for probe in probes() if probe.id in wanted)
