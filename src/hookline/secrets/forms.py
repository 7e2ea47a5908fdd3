r"""What a row of the table is, and the pieces its regexes are made of.

A regex is for re2, over bytes as Latin-1. The secret is its first group, or all of it where there
is none. These keep a row safe:

- what may repeat without end must not need something after it (``[^"]*"``): a search that runs on
  to the end of the text and then takes little of it would be started over again and again;
- a secret holds no quote mark, so that a JSON text stays one: ``\x02`` is a quote mark that
  is not escaped, as the finder shows it;
- what stands before a secret may be the letter of an escape (``\nghp_…``): see ``START``;
- a secret and the name before it hold no space but the one around ``=`` or ``:``, or else the row
  says that it is long: only the words around a hint are searched;
- a hint counts little and ends soon (``{12}``, not ``{40}`` or ``{12,}``): a search for the first
  of all hints would wait for the end of a long one, again and again; and texts can be made in
  which every count is another state of the machine that searches them, and many states are slow.
"""

from collections.abc import Callable

from msgspec import Struct

__all__ = [
    "ALNUM",
    "ASSIGNS",
    "ASSIGNS_HINT",
    "GAP",
    "HEX",
    "QUOTE",
    "START",
    "URLSAFE",
    "UUID",
    "Rule",
    "assigned",
    "named",
    "prefixed",
]

QUOTE = r"\\*[\"'`\x02]"
START = r"(?:^|[^A-Za-z0-9_-]|\\[bfnrt])"
"""What stands before a token whose beginning is common inside words."""
ASSIGNS = rf"(?:{QUOTE}\]?)?\s*(?::=|=>|={{1,3}}|:)[ \t]*"
"""What stands between a name and its value, in shell, JSON, YAML and most languages."""
GAP = r"(?:\s|\\+[nrt])"
"""A space as the first look sees it: in JSON it may be written as an escape."""
ASSIGNS_HINT = rf"(?:{QUOTE}\]?)?{GAP}*[:=]"

ALNUM = "[A-Za-z0-9]"
HEX = "[0-9a-f]"
URLSAFE = "[A-Za-z0-9_-]"
UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

_COMMON = 12
"""How much of a token a hint counts when its beginning alone is found in ordinary text."""


class Rule(Struct, frozen=True):
    """One family of tokens."""

    name: str
    regex: str
    keywords: tuple[str, ...]
    """One of these, in whatever case, is in every such token or its name, and where the hint is."""
    hint: str = ""
    """A regex for the first look, where the keywords are common in texts without a secret. It
    sees JSON escapes as they are written, so no slash (``\\\\/``) without ``\\\\*`` before it."""
    names: str = ""
    """A regex for the names before such a token, where there are any: in place of a hint when there
    is none, and beside it when there is."""
    long: bool = False
    """Whether it may go on over spaces and lines."""
    check: Callable[[bytes], bool] | None = None
    """Whether a token of that form is one, where a mistake would do harm."""


def prefixed(
    name: str,
    *prefixes: str,
    body: str = ALNUM,
    size: str = "20,",
    inside: bool = True,
    check: Callable[[bytes], bool] | None = None,
) -> Rule:
    """A family of tokens with a beginning of their own, which is written as it is.

    One that may stand inside a word is found by its beginning alone; another has to begin where
    words do, and is looked at when enough of it follows.
    """
    heads = "|".join(map(_escaped, prefixes))
    token = rf"(?:{heads}){body}{{{size}}}"
    if inside:
        return Rule(name, token, prefixes, check=check)
    least = min(_COMMON, int(size.partition(",")[0]))
    # A slash may be written as an escape.
    hint = rf"(?:{heads})" + (rf"(?:{body}|\\+/)" if "/" in body else body) + rf"{{{least}}}"
    return Rule(name, rf"{START}({token})", prefixes, hint, check=check)


def named(
    name: str,
    names: str,
    value: str,
    *keywords: str,
    check: Callable[[bytes], bool] | None = None,
) -> Rule:
    """A family without a form of its own: known by the vendor's name before it."""
    return Rule(name, assigned(names, value), keywords or (name,), names=names, check=check)


def assigned(names: str, value: str) -> str:
    """A value that is only known by the name before it."""
    return rf"(?i:{names})[\w.-]{{0,30}}{ASSIGNS}(?:{QUOTE})?({value})"


def _escaped(prefix: str) -> str:
    return "".join(char if char.isalnum() or char in "_- " else f"\\{char}" for char in prefix)
