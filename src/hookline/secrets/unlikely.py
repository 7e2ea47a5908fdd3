r"""What stands behind the hint of a place, where a glance is enough to see that it is no secret.

Most names that announce a secret stand in code, before a word, a call, a short text or a bracket.
An escape may stand for anything, so nothing here reads on behind one.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from hookline.secrets.likely import Scope
from hookline.secrets.places import PLACES

__all__ = ["left"]

_SHORT = 5
"""What is no longer is never likely."""
_ENDS = r"(?:[\s;<>&)]|(?:\\+[nrt])++\s)"
"""What ends a value that is not quoted; one that goes on behind an escape is read on there."""
_AGAIN = r"(?![ \t]++=)"
"""No type, behind which the value is still to come: ``token: str = …``."""
_EMPTY = r"''(?!')|\"\"(?!\")"
_VALUE = re.compile(
    r"[:=>]{0,2}+[ \t]*+(?:"
    r"[;|<>,&(){}\[#]"  # no value begins so
    rf"|[bfruBFRU]{{0,2}}(?:{_EMPTY}|'[^'\"`\\\n]{{1,{_SHORT}}}'|\"[^'\"`\\\n]{{1,{_SHORT}}}\")"
    rf"|[^\s\"'`;|<>&)\\]{{1,{_SHORT}}}(?={_ENDS}){_AGAIN}"
    # A word, and a call.
    rf"|[A-Za-z_][A-Za-z_.]{{0,100}}+(?:\(|(?={_ENDS}){_AGAIN}))".encode()
)
_LINE = re.compile(
    rf"[:=>]{{0,2}}+[ \t]*+(?:{_EMPTY}|[^\w\s\"'`\\]{{0,3}}[ \t]*+\r?\n"
    rf"|[^\s\"'`\\][^\r\n\"'`\\]{{0,{_SHORT - 1}}}\r?\n"
    r"|[A-Za-z_][\w.]{0,100}+\([^\n\"'`\\]{0,60}\n)".encode()
)
_DEAD = {"secret": _VALUE, "authorization": _LINE, "cookie": _LINE}
_BY_PLACE = [_DEAD.get(place.name) for place in PLACES]
_URLS = frozenset(number for number, place in enumerate(PLACES) if place.name == "url-password")


def left(raw: bytes, hints: Sequence[tuple[int, int]], scope: Scope) -> Iterable[int]:
    """The ends of those hints, given with the number of their place, that have to be looked at."""
    if scope is Scope.ALL:
        return [end for _, end in hints]
    if scope is Scope.TOKENS:
        return [end for number, end in hints if number in _URLS]
    return _likely(raw, hints)


def _likely(raw: bytes, hints: Sequence[tuple[int, int]]) -> Iterator[int]:
    for number, end in hints:
        dead = _BY_PLACE[number]
        if dead is None or dead.match(raw, end) is None:
            yield end
