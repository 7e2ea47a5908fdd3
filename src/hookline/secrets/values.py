"""Which values are secrets once their name says so: ``abc`` is, ``$PW`` and ``str`` are not."""

import re

__all__ = ["is_placeholder", "is_reference", "is_word", "looks_random", "names_code"]

_LONGEST = 200
"""No placeholder is longer; it also bounds the work of the regexes below.

They are the standard library's, which is faster on short texts and would try all ways to split one
when there are several. So there is one way only: what may repeat gives nothing back (``*+``).
"""


class _Whole:
    """A regex for a whole value, compiled when it is first asked.

    Few events have anything that it is asked about, and to compile them all takes as long as to
    load everything else that redacts.
    """

    __slots__ = ("_compiled", "_flags", "_source")

    def __init__(self, source: bytes, flags: int = 0) -> None:
        self._source = source
        self._flags = flags
        self._compiled: re.Pattern[bytes] | None = None

    def fits(self, value: bytes) -> bool:
        if self._compiled is None:
            self._compiled = re.compile(self._source, self._flags)
        return self._compiled.fullmatch(value) is not None


_MARKER = rb"\[(?:redacted:[a-z0-9-]+|REDACTED)\]"
# Nothing, everything, a type, a mask, and what we leave behind ourselves.
_PLACEHOLDER = _Whole(
    rb"(?i:none|null|nil|undefined|true|false|yes|no|on|off|0|1|-|inherit|include|omit|same-origin|"
    rb"required|optional|basic|bearer|oauth2?|digest)|"
    rb"(?:[*.x]|\xe2\x80[\xa2\xa6])+|<[^<>]*+>|(?:" + _MARKER + rb"[\s,;]*+)+|"
    rb"%[sdr]|%\(\w++\)s|\{[\w.]*+\}|arn:[\w:/.-]++|op://.*|vault:.*|!\w++"
)
_BRACED = (
    rb"\$\{\w++(?::?[?])?[^{}:=+-]*+\}|\$\{\{[^{}]*+(?:\}\})?|\{\{[^{}]*+\}\}|\$\([^()]*+\)?|"
    rb"%[A-Z_]++%"
)
_JOINTS = rb"[:/@.,]"
_REFERENCE = _Whole(rb"(?:" + _BRACED + rb"|\$[A-Za-z_]\w*+|\$[0-9@*#?]|" + _JOINTS + rb")+")
_CERTAIN_REFERENCE = _Whole(rb"(?:" + _BRACED + rb"|\$[A-Z_][A-Z0-9_]*+|" + _JOINTS + rb")+")
_PATH = _Whole(rb"(?:~|\.{1,2})/[\w./-]*+|(?:/[a-z0-9_.-]++){2,}/?")
_TYPE = _Whole(
    rb"(?:str|string|String|bytes|int|bool|boolean|number|any|Any|object|unknown|char|varchar|text|"
    rb"[A-Z][a-z]+(?:[A-Z][a-z]+)*)(?:[\[|?(;].*)?"
)
_ROOTS = (
    rb"self|this|cls|os|process|settings|config|cfg|conf|env|request|req|args|opts|options|ctx|"
    rb"context|secrets|vars?|local|data|module|each|params|props|state|user|client|event|github|"
    rb"steps|inputs|import"
)
_EXPRESSION = _Whole(rb"[A-Za-z_][\w.]*[(\[].*|(?:" + _ROOTS + rb")\.[\w.\[\]!]+", re.DOTALL)
_WORD = _Whole(rb"[A-Za-z_][A-Za-z_.]*")
_SYMBOL = re.compile(rb"[!@#$%^*+=~?]")
_DIGIT = re.compile(rb"[0-9]")


def is_placeholder(value: bytes) -> bool:
    """Whether it stands for no secret, or for one that was taken out."""
    return len(value) <= _LONGEST and _PLACEHOLDER.fits(value)


def is_reference(value: bytes, *, literal: bool) -> bool:
    """Whether it says where the secret is. In literal text, ``$`` may be a part of the secret."""
    if len(value) > _LONGEST:
        return False
    return (_CERTAIN_REFERENCE if literal else _REFERENCE).fits(value) or _PATH.fits(value)


def names_code(value: bytes, *, after_colon: bool) -> bool:
    """Whether an unquoted value is an expression or, after a colon, a type."""
    if len(value) > _LONGEST:
        return False
    return _EXPRESSION.fits(value) or (after_colon and _TYPE.fits(value))


def is_word(value: bytes) -> bool:
    """Whether it may be a word of a language, or a variable."""
    return len(value) <= _LONGEST and _WORD.fits(value)


def looks_random(value: bytes) -> bool:
    """Whether no word of a language looks so."""
    if len(value) < 6:
        return False
    head = value[:_LONGEST]
    if len(value) >= 20 and b" " not in head and not is_word(value):
        return True
    if _DIGIT.search(head) is not None and not head.isdigit():
        return True
    return _SYMBOL.search(head) is not None
