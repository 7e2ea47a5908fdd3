"""The files that a command needs wherever it comes to: in branches, loops, functions and lists.

Whether it comes there nobody can tell, so what the text tests for, makes or names otherwise is
passed over, and so are programs by name, which other machines may have.
"""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from hookline.shell import ShellText, SimpleCommand, split
from hookline.shell.budget import Budget
from hookline.shell.executed import ELSEWHERE, find_executed_words
from hookline.shell.fields import Field
from hookline.shell.steps import (
    FUNCTION,
    MAKES_NOTHING,
    NEVER_FAILING,
    SHELLS,
    Program,
    encode_text,
    expand,
    find_inputs,
    find_started,
    is_open,
    is_passed,
    is_tolerated,
    join_path,
)

__all__ = ["find_needed_files"]

# What these are given to start, they start where they are; what is given as code is read as such.
_STARTERS = frozenset({"find", "xargs"})
_GOES_ELSEWHERE = re.compile(r"-(?:C|D|w|execdir|-chdir|-cwd|-directory|-prefix)(?:=.*)?\Z")
_FILE_TEST = re.compile(r"-[defhLrswx]")
_BASH_TEST = re.compile(r"\[\[\s(.*?)\s\]\]", re.DOTALL)
# A test that has to fail for the commands after it.
_LEAVES = re.compile(r"[^;\n]*?&&\s*(?:exit|return)|\s*\|\|")


def find_needed_files(
    command: str | Sequence[str], cwd: str, variables: Mapping[str, str], shell: str
) -> Iterator[Program]:
    """Files that ought to be there when the command starts, as far as their place is known."""
    if isinstance(command, str) and not SHELLS.fullmatch(os.path.basename(shell)):
        return
    text = command if isinstance(command, str) else shlex.join(command)
    source = encode_text(text)
    read = split(text)
    in_front, calls, workers = True, FUNCTION.search(text), list[SimpleCommand]()
    for number, each in enumerate(read.commands):
        rest = source[each.end :].decode("utf-8", "replace")
        is_lost = is_tolerated(rest) or (is_passed(each, source, rest) and not calls)
        name = each.words[0] if each.words else ":"
        in_front = in_front and name in NEVER_FAILING
        if name == "cd":
            target = expand(each.words[-1], variables)
            is_known = in_front and each.depth == 0 and not is_open(target) and b"(" not in source
            cwd = join_path(cwd, target) if is_known else ""
            if is_known and not os.path.isdir(cwd):
                return
        elif not is_lost and all(other.runs(each) for other in workers):
            files = _find_files(read, number, cwd, variables)
            yield from _without_named(files, read, text, cwd)
        if _needs_missing_file(each, rest, cwd, variables):
            return
        makes = any(into.writes and into.start < each.end for into in read.redirections)
        if makes or name not in MAKES_NOTHING or each.wrappers:
            workers.append(each)


def _find_files(
    read: ShellText, number: int, cwd: str, variables: Mapping[str, str]
) -> Iterator[Program]:
    command = read.commands[number]
    if not _stays_here(command, read.commands):
        return
    yield from find_started(command, variables, cwd, is_certain=False)
    for word, by, is_code in find_executed_words([*map(Field, command.full)], Budget()):
        if is_code:
            yield from find_needed_files(
                word.text, cwd, variables, "sh" if by in {"eval", "trap"} else by
            )
    yield from find_inputs(read, {number, -1}, cwd, variables)


def _stays_here(command: SimpleCommand, commands: Sequence[SimpleCommand]) -> bool:
    """Whether a command runs on this machine, and where the text before it leads."""
    if any(map(_GOES_ELSEWHERE.match, command.full)) or (
        {*command.wrappers, command.name} & ELSEWHERE
    ):
        return False
    # What carries a command stands in the very same place.
    place = command.start, command.end
    outer = [each for each in commands if each.runs(command) and (each.start, each.end) == place]
    return all(each.name in _STARTERS and _stays_here(each, ()) for each in outer)


def _without_named(
    programs: Iterator[Program], read: ShellText, text: str, cwd: str
) -> Iterator[Program]:
    """Those which, with the directories that they are in, nothing else in the text names."""
    words = [word for test in _BASH_TEST.findall(text) for word in test.split()]
    for each in read.commands:
        found = find_executed_words([*map(Field, each.full)], Budget())
        executed = {one.word.text for one in found}
        words += [word for word in each.words[1:] if word not in executed]
    named = {join_path(cwd, word.strip("'\"")) for word in words}
    missing = [f"{path}/" for path in named if not os.path.lexists(path)]
    for program in programs:
        path = program.path
        if path and "{" not in path and not f"{path}/".startswith(tuple(missing)):
            yield program


def _needs_missing_file(
    command: SimpleCommand, rest: str, cwd: str, variables: Mapping[str, str]
) -> bool:
    """Whether what follows is only for those who have a file that is not there."""
    if command.name not in {"test", "["} or "!" in command.words or _LEAVES.match(rest):
        return False
    tested = (path for sign, path in pairwise(command.words) if _FILE_TEST.fullmatch(sign))
    paths = (join_path(cwd, expand(path, variables)) for path in tested)
    return any(not is_open(path) and not os.path.lexists(path) for path in paths)
