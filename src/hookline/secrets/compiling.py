"""How regexes are compiled for re2, which searches in time that only grows with the text."""

from collections.abc import Sequence
from typing import Any

__all__ = ["compiled", "options", "searcher"]

_MEMORY = 16 << 20


def options(*, capture: bool = True) -> Any:
    """Any byte is a character: what is no UTF-8 must not end a secret early."""
    import re2  # loaded with the first text that needs it

    made = re2.Options()
    made.encoding = re2.Options.Encoding.LATIN1
    made.log_errors = False
    made.never_capture = not capture
    made.max_mem = _MEMORY
    return made


def compiled(source: str, *, capture: bool = True) -> Any:
    """A regex over bytes."""
    import re2

    return re2.compile(source.encode("ascii"), options(capture=capture))


def searcher(sources: Sequence[str]) -> Any:
    """One search for the first match of any of these."""
    return compiled("|".join(f"(?:{each})" for each in sources), capture=False).search
