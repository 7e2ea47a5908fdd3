"""Which values are secrets once their name says so: ``abc`` is, ``$PW`` and ``str`` are not."""

import re

__all__ = ["is_placeholder", "is_reference", "is_word", "looks_random", "names_code"]

_LONGEST = 200
"""No placeholder is longer; it also bounds the work of the regexes below.

They are the standard library's, which is faster on short texts and would try all ways to split one
when there are several. So there is one way only: what may repeat gives nothing back (``*+``).
"""

_MARKER = rb"\[redacted:[a-z0-9-]+\]"
# Nothing, everything, a type, a mask, and what we leave behind ourselves.
_PLACEHOLDER = re.compile(
    rb"(?i:none|null|nil|undefined|true|false|yes|no|on|off|0|1|-|inherit|include|omit|same-origin|"
    rb"required|optional|basic|bearer|oauth2?|digest)|"
    rb"(?:[*.x]|\xe2\x80[\xa2\xa6])+|<[^<>]*+>|(?:" + _MARKER + rb"[\s,;]*+)+|\[REDACTED\]|"
    rb"%[sdr]|%\(\w++\)s|\{[\w.]*+\}|arn:[\w:/.-]++|op://.*|vault:.*|!\w++"
)
_BRACED = (
    rb"\$\{\w++(?::?[?])?[^{}:=+-]*+\}|\$\{\{[^{}]*+(?:\}\})?|\{\{[^{}]*+\}\}|\$\([^()]*+\)?|"
    rb"%[A-Z_]++%"
)
_JOINTS = rb"[:/@.,]"
_REFERENCE = re.compile(rb"(?:" + _BRACED + rb"|\$[A-Za-z_]\w*+|\$[0-9@*#?]|" + _JOINTS + rb")+")
_CERTAIN_REFERENCE = re.compile(rb"(?:" + _BRACED + rb"|\$[A-Z_][A-Z0-9_]*+|" + _JOINTS + rb")+")
_PATH = re.compile(rb"(?:~|\.{1,2})/[\w./-]*+|(?:/[a-z0-9_.-]++){2,}/?")
_TYPE = re.compile(
    rb"(?:str|string|String|bytes|int|bool|boolean|number|any|Any|object|unknown|char|varchar|text|"
    rb"[A-Z][a-z]+(?:[A-Z][a-z]+)*)(?:[\[|?(;].*)?"
)
_ROOTS = (
    rb"self|this|cls|os|process|settings|config|cfg|conf|env|request|req|args|opts|options|ctx|"
    rb"context|secrets|vars?|local|data|module|each|params|props|state|user|client|event|github|"
    rb"steps|inputs|import"
)
_EXPRESSION = re.compile(rb"[A-Za-z_][\w.]*[(\[].*|(?:" + _ROOTS + rb")\.[\w.\[\]!]+", re.DOTALL)
_WORD = re.compile(rb"[A-Za-z_][A-Za-z_.]*")
_SYMBOL = re.compile(rb"[!@#$%^*+=~?]")
_DIGIT = re.compile(rb"[0-9]")


def is_placeholder(value: bytes) -> bool:
    """Whether it stands for no secret, or for one that was taken out."""
    return len(value) <= _LONGEST and _PLACEHOLDER.fullmatch(value) is not None


def is_reference(value: bytes, *, literal: bool) -> bool:
    """Whether it says where the secret is. In literal text, ``$`` may be a part of the secret."""
    if len(value) > _LONGEST:
        return False
    found = (_CERTAIN_REFERENCE if literal else _REFERENCE).fullmatch(value)
    return found is not None or _PATH.fullmatch(value) is not None


def names_code(value: bytes, *, after_colon: bool) -> bool:
    """Whether an unquoted value is an expression or, after a colon, a type."""
    if len(value) > _LONGEST:
        return False
    return _EXPRESSION.fullmatch(value) is not None or (
        after_colon and _TYPE.fullmatch(value) is not None
    )


def is_word(value: bytes) -> bool:
    """Whether it may be a word of a language, or a variable."""
    return len(value) <= _LONGEST and _WORD.fullmatch(value) is not None


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
