"""What words of a shell text stand for, as far as its variables and substitutions are known."""

import re
from collections.abc import Mapping

__all__ = ["UNKNOWN", "assigned", "guessed", "is_literal", "known"]

UNKNOWN = re.compile(r"\$\([^()]*\)|`[^`]*`|\$\{[^}]{0,200}\}|\$\w+|\$[@*#?!$-]")
"""What a shell puts something in the place of."""
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?[-=+?]([^}]{0,200}))?\})")
_HERE = re.compile(r"\$\(\s*pwd(?:\s+-[LP])?\s*\)|`\s*pwd\s*`|\$\{?PWD\}?(?!\w)")
_TOP = re.compile(r"\$\(\s*git rev-parse --show-toplevel\s*\)|`git rev-parse --show-toplevel`")
_HOME = re.compile(r"^(?:\$HOME|\$\{HOME\})(?=/|$)|^\$\(\s*echo\s+~\s*\)(?=/|$)")
_ASSIGNED = re.compile(r"""(?:^|[\s;&|({])(\w+)=([^\s;&|()'"$`]+|'[^'\n]*'|"[^"$`\n]*")""")


def is_literal(word: str) -> bool:
    """Whether no variable, substitution or place for another word is in it."""
    return "$" not in word and "`" not in word and "{}" not in word


def known(word: str, project: str, env: Mapping[str, str]) -> str:
    """The word with what is known in place of its variables."""
    if "$" not in word and "`" not in word:
        return word
    word = _HOME.sub("~", word)
    word = _TOP.sub(lambda _: project or ".", _HERE.sub(".", word))

    def value(match: re.Match[str]) -> str:
        name, default = match[1] or match[2], match[3]
        return env.get(name) or (default if default is not None else match[0])

    return _VARIABLE.sub(value, word)


def assigned(text: str) -> list[dict[str, str]]:
    """What variables may be set to where that is left open: first to last, and the reverse."""
    found = [(name, value.strip("'\"")) for name, value in _ASSIGNED.findall(text)]
    return [dict(found), dict(reversed(found))] if found else []


def guessed(word: str, values: Mapping[str, str]) -> str:
    """The word with these values; a name that none has may be a shorter one and what follows."""

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        fits = [each for each in values if name.startswith(each)]
        best = max(fits, key=len, default="")
        return values[best] + name[len(best) :] if best else match[0]

    return _VARIABLE.sub(value, word)
