"""Regexes that are compiled when they are first asked.

There are hundreds, few commands need more than some of them, and to compile them all takes longer
than everything else that a process does for one event.
"""

import re
from typing import Any, cast

__all__ = ["lazy"]

_METHODS = ("search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn")


class _Lazy:
    """Becomes the pattern with the first question, and costs nothing from then on."""

    def __init__(self, source: str, flags: int) -> None:
        self.pattern = source
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__ |= {each: getattr(compiled, each) for each in _METHODS}
        return getattr(compiled, name)


def lazy(source: str, flags: int = 0) -> re.Pattern[str]:
    """As ``re.compile``, later."""
    return cast(re.Pattern[str], _Lazy(source, flags))
