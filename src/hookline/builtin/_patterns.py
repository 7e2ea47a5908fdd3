"""Patterns for paths as regexes: globs as in `match: path:`.

A pattern without a slash is about a name at any depth; with one it counts from the project, after
`/` from the root, after `~/` from home, and whatever it names includes everything below. Case does
not count: on many file systems it does not, and none needs two names that differ in it alone.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Any

__all__ = ["END", "compiled", "regex", "regex_anywhere"]

END = "\0"
"""Behind each spelling of a path in a text of several; no path has it in it."""
_STOP = r"\x00"
_ANY = f"[^{_STOP}]*"
_BELOW = f"(?:/{_ANY})?"
_TOKEN = re.compile(r"\*\*/|\*+|\?|\[[!^]?\]?[^\]/]*\]|\\.|.", re.DOTALL)
# Without their stars, the names in patterns that match one sign.
_SIGNS = frozenset({"", "?", ".", "~"})


@lru_cache(1024)
def compiled(source: str) -> Any:
    """What searches a text of spellings for one that a regex matches as a whole."""
    import re2  # in time that grows with the path alone, whatever the pattern is

    return re2.compile(f"(?is)(?:^|{_STOP})(?:{source}){_STOP}")


def regex(glob: str) -> str:
    """The pattern as a regex over the forms of a place."""
    root, body = _read(glob)
    if root == "/":
        return f"/{_tokens(body)}{_BELOW}" if body else f"/{_ANY}"
    if root == "~":
        return f"~/{_tokens(body)}{_BELOW}" if body else f"~{_BELOW}"
    return rf"\./{_tokens(body)}{_BELOW}" if root else _at_any_depth(body)


def regex_anywhere(glob: str) -> str:
    """A regex over places as they are: it finds each of which any form matches the pattern."""
    root, body = _read(glob)
    if root == "/":
        return regex(glob)
    # Forms write `.` or `~` for a directory: what these could match by that may be any place.
    first = body.partition("/")[0]
    odd = not root and ("[" in first or "\\" in first or first.replace("*", "") in _SIGNS)
    return _ANY if odd or not body else _at_any_depth(body)


def _at_any_depth(body: str) -> str:
    return f"(?:{_ANY}/)?{_tokens(body)}{_BELOW}"


def _read(glob: str) -> tuple[str, str]:
    """Where a pattern counts from, `/`, `~`, `.` or empty for anywhere, and the names from there.

    Raises ValueError for one that is no pattern.
    """
    if not glob.strip("/") and glob != "/":
        raise ValueError("a pattern cannot be empty")
    if glob.startswith("!"):
        raise ValueError(f"`{glob}`: what is left out goes under `allow`, not behind `!`")
    if ".." in glob.split("/"):
        raise ValueError(f"`{glob}`: paths are resolved first, so `..` would never match")
    if "," in glob.partition("{")[2].partition("}")[0]:
        raise ValueError(f"`{glob}`: braces are not expanded; write a list of patterns")
    glob = unicodedata.normalize("NFC", glob)
    names = [name for name in glob.split("/") if name not in {"", "."}]
    while names and names[-1] == "**":
        names.pop()
    body = "/".join(names)
    if glob.startswith("/"):
        return "/", body
    if names[:1] == ["~"]:
        return "~", "/".join(names[1:])
    if "/" in glob.rstrip("/") and names[:1] != ["**"]:
        return ".", body
    return "", body.removeprefix("**/")


@lru_cache(1024)
def _tokens(body: str) -> str:
    signs = {"**/": f"(?:{_ANY}/)?", "?": f"[^/{_STOP}]"}
    out = ""
    for token in _TOKEN.findall(body):
        if token in signs:
            out += signs[token]
        elif token[0] == "*":
            out += f"[^/{_STOP}]*"
        elif token[0] == "[" and len(token) > 2:
            negated = token[1] in "!^"
            members = token[2 if negated else 1 : -1]
            not_in = f"^/{_STOP}" if negated else ""
            out += f"[{not_in}{re.escape(members).replace(chr(92) + '-', '-')}]"
        else:
            out += re.escape(token[-1] if token[0] == "\\" else token)
    return out
