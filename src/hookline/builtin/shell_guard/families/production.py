"""Whether a command names what real users use."""

import re

from hookline.builtin.shell_guard.model import Act

__all__ = ["names_production"]

_PRODUCTION = re.compile(r"(?<![a-z])(?:prod|production|live)(?![a-z])", re.IGNORECASE)


def names_production(act: Act) -> bool:
    """Whether it, or what it is fed by, does."""
    return any(_PRODUCTION.search(each.text) for each in (act, *act.producers))
