"""Which variables, and which arguments, a command that is sure to run leaves behind."""

import re
from fnmatch import fnmatchcase

from hookline.shell.fields import Field
from hookline.shell.script import Command, Script

__all__ = ["SETTERS", "cut_value", "settle"]

# ``export`` and its like give variables their values; ``set --`` gives the script its arguments.
_DECLARES = frozenset({"export", "readonly", "declare", "typeset", "local"})
SETTERS = _DECLARES | {"set"}

# Longer values are not carried along: repeated, they would make a short text a huge one.
_MAX_VALUE = 256

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=", re.ASCII)
# Options that change nothing about the value; ``-i`` or ``-u`` would.
_HARMLESS = re.compile(r"-[xrg]+|--")


_CUT = re.compile(
    r"\$\{\w+(?:\[[^]]*\])?(?:(?P<cut>##?|%%?)(?P<end>.*)"
    r"|(?P<all>//?)(?P<old>[^/*?[]+)(?:/(?P<new>.*))?"
    r"|:[ ]*(?P<start>-?\d{1,4})[ ]*(?::[ ]*(?P<size>\d{1,4})[ ]*)?"
    r"|(?P<case>\^\^?|,,?))\}",
    re.DOTALL,
)


def cut_value(expansion: str, value: str) -> str:
    """What ``${x#…}`` and its like make of a value; the value itself where that is not known."""
    found = _CUT.fullmatch(expansion)
    if found is None or len(value) > _MAX_VALUE:
        return value
    if found["cut"]:
        pattern = found["end"].strip("'\"")
        cuts = range(len(value) + 1)
        at_start = found["cut"][0] == "#"
        longest_first = (len(found["cut"]) == 2) == at_start
        for cut in reversed(cuts) if longest_first else cuts:
            if fnmatchcase(value[:cut] if at_start else value[cut:], pattern):
                return value[cut:] if at_start else value[:cut]
        return value
    if found["all"]:
        old, new = found["old"].strip("'\""), (found["new"] or "").strip("'\"")
        return value.replace(old, new, -1 if found["all"] == "//" else 1) if old else value
    if found["start"]:
        rest = value[int(found["start"]) :]
        return rest[: int(found["size"])] if found["size"] else rest
    change = str.upper if found["case"][0] == "^" else str.lower
    return change(value) if len(found["case"]) == 2 else change(value[:1]) + value[1:]


def settle(command: Command, script: Script) -> None:
    """Keep in mind what the variables are from here on."""
    if not command.words:
        _keep(script, command.assigned, declared=False)
    elif command.words[0].text == "set":
        _arguments(script, command.words[1:])
    else:
        _declared(script, command.words[1:])


def _keep(script: Script, assigned: list[tuple[str, Field]], *, declared: bool) -> None:
    for name, value in assigned:
        if value.exact and len(value.text) <= _MAX_VALUE:
            script.values[name] = value.text
            script.declared.discard(name)
            if declared:
                script.declared.add(name)


def _declared(script: Script, words: list[Field]) -> None:
    assigned: list[tuple[str, Field]] = []
    for text, exact in words:
        assignment = _ASSIGNMENT.match(text)
        if assignment is not None:
            value = Field(text[assignment.end() :], exact)
            assigned.append((assignment.group(1), value))
        elif not _HARMLESS.fullmatch(text):
            return
    _keep(script, assigned, declared=True)


def _arguments(script: Script, words: list[Field]) -> None:
    at = 0
    while at < len(words) and words[at].text[:1] in ("-", "+"):
        at += 1
        if words[at - 1].text in ("--", "-"):
            break
        # ``set -euo pipefail`` names an option in a word of its own.
        at += words[at - 1].text.endswith("o")
    else:
        if at >= len(words):
            return
    script.arguments = [Field("$0", exact=False), *words[at:]]
