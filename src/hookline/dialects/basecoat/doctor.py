"""How hooks silently do not fire in runtimes that follow BaseCoat."""

import os
from collections.abc import Iterator

from hookline.dialects._doctor import Rules
from hookline.dialects._doctor_entries import common
from hookline.model.findings import Checkup, Finding, Seen
from hookline.model.native import NativeEntry

__all__ = ["findings"]


def _base(checkup: Checkup, seen: Seen, entry: NativeEntry) -> str:
    return os.path.join(checkup.where.project, entry.directory)


_RULES = Rules(
    base=_base,
    closing='let it print {"action": "block", "reason": "…"} itself whenever it is in doubt',
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere; of any one runtime nothing more is known."""
    yield from common(checkup, _RULES)
