"""Text for people: nothing in it may act on a terminal or hide from a reader."""

import unicodedata

__all__ = ["visible"]

_KEEP = "\n\t"


def _shown(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:04x}}}"


def visible(text: str) -> str:
    """``text`` with control, bidi, zero-width and unpaired characters made visible."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _shown(char)
        if char not in _KEEP and unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        else char
        for char in text
    )
