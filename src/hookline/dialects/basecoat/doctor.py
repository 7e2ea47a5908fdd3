"""How hooks silently do not fire in runtimes that follow BaseCoat."""

from collections.abc import Iterator

from hookline.dialects._doctor import Rules, in_directory
from hookline.dialects._doctor_entries import common
from hookline.model.findings import Checkup, Finding

__all__ = ["findings"]


_RULES = Rules(
    base=in_directory,
    closing='let it print {"action": "block", "reason": "…"} itself whenever it is in doubt',
)


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What is found everywhere; of any one runtime nothing more is known."""
    yield from common(checkup, _RULES)
