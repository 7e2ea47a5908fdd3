"""When the parts of a command are all there is to it, so that to judge each is to judge the whole.

Knows shell text as the parser took it apart; must not know patterns.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.shell import ShellText

__all__ = ["parts_of"]

# What may stand between commands: nothing that sets a variable, and so changes what they mean.
# Possessive throughout, because the text may be written to make a search run wild.
_BETWEEN = re.compile(
    rb"(?:[\s;&|(){}!]|\\\n|#[^\n]*+"
    rb"|(?<!\w)(?:if|then|elif|else|fi|while|until|do|done|time)(?!\w))*+"
)
# Before its first word a command may set variables, and a redirection may hide one that does.
_PREFIX = re.compile(rb"[A-Za-z_]\w*+(?:\[[^\]]*+\])?\+?=|[^\s<>]*+[<>]")


def parts_of(text: str, shell: "ShellText") -> list[str]:
    """Every simple command with its wrappers; none when there is more to the text than those."""
    if not shell.plain or _sets_variables(text):
        return []
    # Offsets are in bytes; a text with half a character in it is never plain.
    raw = text.encode()
    at = 0
    for start, end in sorted({(each.start, each.end) for each in shell.commands if not each.depth}):
        if not _BETWEEN.fullmatch(raw, at, start) or _PREFIX.match(raw, start, end):
            return []
        at = end
    if not _BETWEEN.fullmatch(raw, at):
        return []
    return [" ".join(command.full) for command in shell.commands]


def _sets_variables(text: str) -> bool:
    """Whether an expansion may set a variable while its word is worked out."""
    return (
        "$((" in text
        or "$[" in text
        or any("=" in part.partition("}")[0] for part in text.split("${")[1:])
    )
