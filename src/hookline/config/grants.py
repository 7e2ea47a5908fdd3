"""When the parts of a command are all there is to it, so that to judge each is to judge the whole.

Knows shell text as the parser took it apart; must not know patterns.
"""

import re
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.shell import ShellText, SimpleCommand

__all__ = ["parts_of"]

# What may stand between commands: nothing that sets a variable, and so changes what they mean.
# Possessive throughout, because the text may be written to make a search run wild.
_BETWEEN = re.compile(
    rb"(?:[\s;&|(){}!]|\\\n|#[^\n]*+"
    rb"|(?<!\w)(?:if|then|elif|else|fi|while|until|do|done|time)(?!\w))*+"
)
# Before its first word a command may set variables, and a redirection may hide one that does.
_PREFIX = re.compile(rb"[A-Za-z_]\w*+(?:\[[^\]]*+\])?\+?=|[^\s<>]*+[<>]")
# What `${` may start. Not in it: subscripts, offsets that are no numbers, `${!a}` and `${a@P}`, in
# all of which the value of a variable is worked out once more, and run if it looks like code.
_EXPANSION = re.compile(
    r"(?:#?[A-Za-z_]\w*+|#?\d++|[@*#?$-])(?:\}|:?[-+?]|[#%/^,]|:\s*+\d++(?::\d++)?\})", re.ASCII
)
# Shells work out a subscript in the words of these, and run a substitution in it.
_EVALUATE = frozenset({"test", "[", "exit", "return", "shift", "break", "continue"})
# These do so, too, or change what a name means for the commands after them.
_SET = frozenset({
    "alias", "declare", "enable", "export", "float", "getopts", "hash", "integer", "let", "local",
    "mapfile", "read", "readarray", "readonly", "typeset", "unset", "vared",
})  # fmt: skip
_SET_BY_OPTION = {"printf": "v", "print": "v", "wait": "p"}
_QUOTED = re.compile(rb'"[^"\\]*+"')


def parts_of(text: str, shell: "ShellText") -> list[str]:
    """Every simple command with its wrappers; none when there is more to the text than those."""
    if not shell.plain or not _expands_plainly(text):
        return []
    # Offsets are in bytes; a text with half a character in it is never plain.
    raw = text.encode()
    at = 0
    for start, end in sorted({(each.start, each.end) for each in shell.commands if not each.depth}):
        if not _BETWEEN.fullmatch(raw, at, start) or _PREFIX.match(raw, start, end):
            return []
        at = end
    if not _BETWEEN.fullmatch(raw, at) or not _keeps_meaning(shell.commands, raw):
        return []
    return [" ".join(command.full) for command in shell.commands]


def _expands_plainly(text: str) -> bool:
    """Whether no expansion sets a variable, or runs one, while its word is worked out."""
    return (
        "$((" not in text
        and "$[" not in text
        and all(
            _EXPANSION.match(part) and "=" not in part.partition("}")[0]
            for part in text.split("${")[1:]
        )
    )


def _keeps_meaning(commands: "Sequence[SimpleCommand]", raw: bytes) -> bool:
    """Whether no builtin runs what its words hide, or changes what the other commands mean."""
    for command in commands:
        sets = command.name in _SET or _sets_by_option(command)
        if sets and (len(commands) > 1 or not _names_plainly(command.words[1:])):
            return False
        if command.name in _EVALUATE and not _tests_plainly(command, raw):
            return False
    return True


def _sets_by_option(command: "SimpleCommand") -> bool:
    letter = _SET_BY_OPTION.get(command.name)
    if letter is None:
        return False
    # A word with a value in front may turn out to be an option.
    options = takewhile(lambda word: word.startswith(("-", "$")), command.words[1:])
    return any(word[0] == "$" or letter in word for word in options)


def _names_plainly(words: "Sequence[str]") -> bool:
    """Whether it can be seen which names are set, and no subscript is among them."""
    return not any("[" in word or "$" in word.partition("=")[0] for word in words)


def _tests_plainly(command: "SimpleCommand", raw: bytes) -> bool:
    """Whether no word is a subscript, and no value can become one."""
    words = command.words[1:]
    if any("[" in word for word in words):
        return False
    if not any("$" in word for word in words):
        return True
    # A value that is not in quotes may become several words, and so bring a `-v` of its own.
    unquoted = _QUOTED.sub(b"", raw[command.start : command.end])
    return not (command.depth or b"$" in unquoted or {"-v", "-R"}.intersection(words))
