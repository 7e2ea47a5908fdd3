"""The same command as it would change nothing: what to run in place of one that is held back.

Made of the command's own words and one option, never of other names; most commands have none.
"""

import re

from hookline.shell import split

__all__ = ["rehearse"]

_PLAIN = re.compile(r"[\w./:@+=,~^-]+")
_MAX_LENGTH = 80
# What publishes, or makes one directory like another, can say first what it would do.
_DRY_RUN = {
    "git": frozenset({"push", "rm"}),
    "npm": frozenset({"publish"}),
    "pnpm": frozenset({"publish"}),
    "cargo": frozenset({"publish"}),
    "rsync": frozenset[str](),
}
_FORCED = re.compile(r"-[A-Za-z]*f[A-Za-z]*")


def rehearse(command: str) -> str:
    """That command; empty where there is none, or where the text is more than one command."""
    shell = split(command)
    if len(shell.commands) != 1 or not shell.plain or shell.commands[0].wrappers:
        return ""
    name, *words = shell.commands[0].words
    if len(command) > _MAX_LENGTH or not all(map(_PLAIN.fullmatch, words)):
        return ""
    if "--no-dry-run" in words or "--" in words:
        return ""
    if name == "git" and "clean" in words:
        words = [word.replace("f", "n") if _FORCED.fullmatch(word) else word for word in words]
        words = ["--dry-run" if word == "--force" else word for word in words]
    elif name == "git" and "branch" in words:
        words = ["-d" if word == "-D" else word for word in words]
    elif name == "find" and words[-1:] == ["-delete"]:
        words[-1] = "-print"
    elif name in _DRY_RUN:
        verb = next((at for at, word in enumerate(words) if word in _DRY_RUN[name]), -1)
        if verb < 0 and _DRY_RUN[name]:
            return ""
        words.insert(verb + 1, "--dry-run")
    else:
        return ""
    return " ".join((name, *words))
