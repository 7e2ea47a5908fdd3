"""How hooks silently do not fire in Copilot CLI."""

import os
from collections.abc import Iterator

from hookline.dialects._copilot import doctor
from hookline.model.findings import Checkup, Finding

__all__ = ["findings"]


def findings(checkup: Checkup) -> Iterator[Finding]:
    """What both agents have; trust in a folder only where somebody uses this one."""
    used = checkup.named or checkup.installed or _is_used(checkup)
    for each in doctor.findings(checkup):
        if used or each.id != "folder-not-trusted":
            yield each


def _is_used(checkup: Checkup) -> bool:
    """Other clients read the same files, and know nothing of its trust."""
    home = checkup.where.env.get("COPILOT_HOME") or os.path.join(checkup.where.home, ".copilot")
    config = checkup.machine.read(os.path.join(home, "config.json"))
    return config is not None or checkup.machine.which("copilot") is not None
