"""The touches of plain commands: as `_touch_shell` has them, without reading the text as a whole.

Most commands only name files that they read. Where anything else is in a text, such as a wrapper,
a `cd`, a pattern or a redirection to a file, it is left to the reader of whole texts.
"""

from hookline.builtin._touch_code import Use
from hookline.builtin._touch_programs import uses
from hookline.shell.budget import Budget
from hookline.shell.carriers import carried, carries
from hookline.shell.fields import as_source
from hookline.shell.plain import PlainCommand, plain_commands
from hookline.shell.wrappers import unwrap
from hookline.shell.wrapping import wrapper_named

__all__ = ["plain_uses"]

# They move the shell, make a program of what they say, or take patches.
_INVOLVED = frozenset(
    {"cd", "chdir", "pushd", "popd", "echo", "printf", "apply_patch", "applypatch"}
)
# Options that name another directory to start from.
_ELSEWHERE = ("-C", "--chdir", "--directory", "--prefix", "--work-tree")


def plain_uses(text: str) -> list[Use] | None:
    """What each word stands for that may be a path; None where the text has to be read."""
    commands = plain_commands(as_source(text))
    if commands is None or not text.isascii():
        return None
    if ">" in text and ">" in text.replace("2>&1", ""):
        return None
    found: list[Use] = []
    for command in commands:
        if not _is_simple(command):
            return None
        for use in uses(command.words):
            if use.inside:
                return None
            found.append(use)
    return found


def _is_simple(command: PlainCommand) -> bool:
    """Whether its words are all there is to it, and nothing else is run by it."""
    name = command.words[0].rpartition("/")[2]
    if command.globs or name in _INVOLVED:
        return False
    # A plain loop: every command of every agent passes here.
    for word in command.words:
        if word.startswith(_ELSEWHERE) or "<" in word:
            return False
    if wrapper_named(name) is None and not carries(name):
        return True
    unwrapped = unwrap(command.fields, Budget())
    return not unwrapped.wrappers and not any(True for _ in carried(unwrapped.words))
