"""Which arguments of a script ``$1``, ``$@`` and ``$*`` stand for."""

import re
from collections.abc import Sequence
from itertools import takewhile

from hookline.shell.fields import Field, joined

__all__ = ["ARGUMENT", "meant"]

ARGUMENT = re.compile(r"\$(?:([@*0-9])|\{([@*])(?::1)?\}|\{([0-9]{1,3})\})", re.ASCII)


def meant(match: re.Match[str], given: Sequence[Field], *, quoted: bool) -> Sequence[Field] | None:
    """The arguments that ``ARGUMENT`` matched, of ``$0`` and those after it; ``None`` in doubt."""
    which = match.group(1) or match.group(2) or match.group(3)
    if which == "@":
        return given[1:]
    if which == "*":
        found = [joined(given[1:])] if quoted else given[1:]
    elif which == "0":
        found = given[:1]
    else:
        # A word that is not exact may become many, or none, and move those behind it.
        known = takewhile(lambda field: field.exact, given[1:])
        found = list(known)[int(which) - 1 : int(which)]
    return found if found and all(field.exact for field in found) else None
