"""How sure one has to be: what looks like a secret, and what only stands where one would.

A journal may lose a value too many. What a tool is given or answers may not: there a token has to
be none of the examples that documentation is full of, and a value that only its name announces has
to look like nothing else.
"""

import re
from enum import IntEnum
from functools import cache
from math import log2

from hookline.secrets.values import is_word

__all__ = ["Scope", "accepts", "entropy", "is_example", "is_likely"]


class Scope(IntEnum):
    """How much is taken for a secret."""

    TOKENS = 1
    """What has the form of a known family and is no example, and passwords in URLs."""
    LIKELY = 2
    """Also what a name or header announces and looks like a secret."""
    ALL = 3
    """Whatever has a form or a name."""


_LONGEST = 200
_MASK = rb"(?s:([xX*.0_#?-])\1{7})"
"""What people fill a token up with that they do not want to show."""
_SAYS_SO = (
    rb"(?i:example|placeholder|dummy|change[_-]?me|redacted|insert[_-]|replace[_-]|"
    rb"(?:^|[_-])(?:your|my|the)[_-]|your[a-z]*(?:key|token|secret)|[_-]here\b|not[_-]?a[_-]?real)"
)
_UUID = rb"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_UUID_NAME = rb"(?i:secret|password|api[_-]?key)"
_PASSWORD_NAME = rb"(?i:pass|pwd|pw\b)"
_OTHER_NAME = (
    rb"(?i:hash|digest|checksum|sha\d|md5|fingerprint|integrity|public|etag|uuid|example|regex|"
    rb"pattern)"
)
_FILLED_IN = rb"\$?#?\{+[^{}]*+\}+|%(?:\(\w++\))?[sd]\b|<[^<>]*+>"
"""What a program puts something else in place of."""
_PLAIN = (
    # A version, a date, a time, a number with a unit, a place on the net or on this machine.
    rb"[vV~^>=<]*\d+(?:\.\d+)+[\w.+-]*|\d{4}-\d\d-\d\d[\dT:.Z+-]*|\d\d?:\d\d[:\d]*|"
    rb"[\d.,_]+[a-zA-Z%]{0,3}|[a-z][a-z0-9+.-]*://.*|\.{0,2}/[\w@./-]*|[A-Za-z]:\\.*|"
    rb"[\w.-]+@[\w-]+(?:\.[\w-]+)+|(?:sha(?:1|256|384|512)|md5)[-:=].*|\$\w+\$.*|"
    # Code: a call, an index, a path of names, an option, a regex.
    rb"[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)+(?:[(\[].*)?|[\w.$]+[(\[].*|--?[a-z].*|"
    rb"\^.*\$|"
    # What stands behind a name that ended its text: `prompt='Password: ', stream=None`.
    rb"[,;:)\]}].*|[+%*] .*"
)
_WORDS = rb"_*[A-Za-z]+\d{0,2}(?:[ _./:,-]+(?:[A-Za-z]+\d{0,2}|\d{1,4}))*[.!?:_]*"
"""Words joined by signs, with no more than a short number at the end of one."""
_PIECES = rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
_COMMON = (
    rb"(?i:(?:my|your|the|test|some|super|top|new|old|db|root|admin|user|default|mock|fake|foo|bar|"
    rb"baz|abc|qwerty|password|passwd|pass|pwd|secret|token|key|api|auth|value|string|sample|demo|"
    rb"dev|local|changeit|letmein|hello|world|x)++[0-9!_. -]{0,6}+)++"
)
_CARRIED = rb"[A-Za-z0-9._~+/%-]{6,}+"
"""What a header carries between its signs."""
_LINE_END = rb"\\+[nrt]"
_KINDS = (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^\w\s]")
_DEFAULTS = frozenset(b"postgres mysql guest rabbitmq redis mongo mongodb neo4j elastic sa".split())


# Few events need any, and to compile them all takes as long as to load the rest.
@cache
def _regex(source: bytes) -> re.Pattern[bytes]:
    return re.compile(source, re.DOTALL)


def entropy(value: bytes) -> float:
    """Bits to each byte, as often as each occurs in it."""
    size = len(value)
    counts = [value.count(byte) for byte in set(value)]
    return -sum(count / size * log2(count / size) for count in counts)


def is_example(token: bytes) -> bool:
    """Whether a token says itself that it is none."""
    head = token[:_LONGEST]
    return bool(_regex(_MASK).search(head) or _regex(_SAYS_SO).search(head))


def is_likely(value: bytes, *, typed: bool = False) -> bool:
    """Whether a value that only its name announces looks like a secret and like nothing else.

    One that was typed by a person may be a word and a number.
    """
    head = _regex(_FILLED_IN).sub(b"", value[:_LONGEST]).strip()
    if len(head) < 6 or is_word(head) or is_example(head) or b"\n" in head:
        return False
    if _regex(_COMMON).fullmatch(head) or _regex(_PLAIN).fullmatch(head):
        return False
    one_word = typed and head.isalnum()
    if not one_word and (_regex(_WORDS).fullmatch(head) or _reads(head)):
        return False
    kinds = sum(1 for kind in _KINDS if _regex(kind).search(head))
    if kinds < 2 or head.count(b" ") > 1:
        return False  # one word, or a sentence
    return entropy(head) >= (2.2 if len(head) < 12 else 2.8)


def _reads(value: bytes) -> bool:
    """Whether it is a name made of words: ``OAuth2PasswordBearer``."""
    return value.isalnum() and len(value) / len(_regex(_PIECES).findall(value)) >= 3.2


def accepts(family: str, name: bytes, value: bytes, scope: Scope) -> bool:
    """Whether what stands in a place is taken for a secret there."""
    if scope is Scope.ALL:
        return True
    if family == "url-password":
        common = _regex(_COMMON).fullmatch(value[:_LONGEST]) or value in _DEFAULTS
        return len(value) >= 4 and not (common or is_example(value))
    if scope is Scope.TOKENS:
        return False
    if family == "bearer":
        return not is_example(value)
    if family in {"netrc", "password"}:
        return is_likely(value, typed=True)
    if family in {"authorization", "cookie"}:
        return any(map(is_likely, _regex(_CARRIED).findall(value[:_LONGEST])))
    if _regex(_OTHER_NAME).search(name) is not None:
        return False
    if _regex(_UUID).fullmatch(value):
        return _regex(_UUID_NAME).search(name) is not None
    typed = _regex(_PASSWORD_NAME).search(name) is not None
    # An escape that was not looked behind is the end of a line, and the next is another's.
    lines = _regex(_LINE_END).split(value[:_LONGEST]) if b"\\" in value else [value]
    return any(is_likely(line, typed=typed) for line in lines)
