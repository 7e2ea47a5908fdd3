"""Which programs and scripts a command is certain to start, and why they cannot be started.

Knows shell words, paths and first lines of scripts; must not know any platform. What it is not
sure of it passes over: a wrong alarm costs more here than a missed one.
"""

import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.shell import SimpleCommand, split
from hookline.shell.budget import Budget
from hookline.shell.executed import find_executed_words
from hookline.shell.fields import Field

__all__ = ["Program", "Trouble", "find_command_troubles", "find_programs", "find_troubles"]

_SHELLS = re.compile(r"(?:ba|da|z|k|a)?sh|\.|source")
# These read a file by the very name that they are given; others may add to it.
_READERS = re.compile(r"(?:python|pypy|perl|ruby|php|lua)[\d.]*|[gmn]?awk|g?sed|jq")
# What a shell does by itself. What `&&` joins to the first of them is certain to run, after the
# second nothing is.
_NEVER_FAILING = "cd echo printf true : set export readonly umask trap alias"
_LEAVING = "exit return eval break continue"
_OTHERS = "false local . source unset test [ [[ read wait shift type let hash command getopts "
_OTHERS += (
    "builtin exec kill pwd times bg fg jobs unalias shopt mapfile ulimit declare typeset time"
)
_HARMLESS, _ENDING = frozenset(_NEVER_FAILING.split()), frozenset(_LEAVING.split())
_BUILTINS = frozenset([*_HARMLESS, *_ENDING, *_OTHERS.split()])
# They start what follows them on the PATH that they have themselves.
_WRAPPERS = frozenset(["exec", "command", "nohup", "time", "env", "timeout", "nice", "setsid"])
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# Anything that only a shell could work out.
_OPEN = re.compile(r"[$`*?'\"]|\{\{")
# Between two commands of which the second runs whenever the first one did, and in front of one
# whose output a variable gets.
_NEXT = re.compile(r'[ \t)"]*(?P<join>\|&?|&&|[;\n]|)\s*(?:#.*\n\s*)*(?:\w+="?\$\(\s*)?')
_TOLERATED = re.compile(r"(?:[^;&|\n]|\|(?!\|))*\|\|\s*(?:true|:|exit 0)\s*(?:$|[;\n)])")
_FUNCTION = re.compile(r"([\w-]+)\s*\(\s*\)|\bfunction\s+([\w-]+)")
_LONGEST = 100_000
# Linux reads this much of a script to find out who runs it.
_FIRST_LINE = 256

Which = Callable[[str], str | None]


class Program(Struct, frozen=True, kw_only=True):
    """What is started: a program by name, a file that is run, or one that an interpreter reads."""

    name: str = ""
    """A program to be found on PATH."""
    path: str = ""
    """A file, run by itself or read by an interpreter."""
    is_run: bool = False
    """Whether the file is run by itself, and so must be executable."""
    is_direct: bool = False
    """Whether no shell is there to take over when the kernel cannot start it."""
    by_shell: bool = False
    """Whether the interpreter that reads it is a shell."""
    is_directory: bool = False
    """Whether it is no file, but where the command goes."""

    def text(self) -> str:
        """The script itself; empty when there is none that can be read."""
        head = _read_head(self.path, _LONGEST)
        return "" if b"\0" in head else head.decode("utf-8", "replace")


class Trouble(Struct, frozen=True):
    """Why a program cannot be started, or does not do what it should."""

    id: str
    what: str
    fix: str


def find_command_troubles(
    command: str | Sequence[str],
    *,
    cwd: str,
    variables: Mapping[str, str],
    which: Which,
    shell: str = "/bin/sh",
    runs_copy: Callable[[str], bool] = lambda path: False,
) -> Iterator[Trouble]:
    """Why a command, or the shell that reads it, is certain not to do its work.

    ``runs_copy`` tells of a file in whose place another one runs.
    """
    if isinstance(command, str):
        reader = Program(path=shell, is_run=True) if "/" in shell else Program(name=shell)
        yield from find_troubles(reader, which)
    started = find_programs(command, cwd=cwd, variables=variables, shell=shell)
    for program in dict.fromkeys(started):
        if not (program.path and runs_copy(program.path)):
            yield from find_troubles(program, which)


# ── from a command to programs ──────────────────────────────────────────────────────────────


def find_programs(
    command: str | Sequence[str],
    *,
    cwd: str,
    variables: Mapping[str, str],
    shell: str = "/bin/sh",
) -> Iterator[Program]:
    """What a command is certain to start, in order, as far as that can be told."""
    is_direct = not isinstance(command, str)
    if not is_direct and not _SHELLS.fullmatch(os.path.basename(shell)):
        return
    text = command if isinstance(command, str) else shlex.join(command)
    source = text.encode("utf-8", "surrogateescape")
    functions = {name for pair in _FUNCTION.findall(text) for name in pair}
    finds = not re.search(r"\bPATH\b", text)  # else programs may be looked for elsewhere
    needs_success = {"&&", ";", "\n"} if re.search(r"\bset +-\w*e", text) else {"&&"}
    end, before = 0, ":"
    for each in split(text).commands:
        gap = _NEXT.fullmatch(source[end : each.start].decode("utf-8", "replace"))
        if gap is None or (end and not gap["join"]) or not each.words:
            return
        if gap["join"] in needs_success and before not in _HARMLESS:
            return
        end, before = each.end, each.words[0]
        if before == "cd" and not is_direct:
            target = _expand(each.words[-1], variables)
            if len(each.words) != 2 or _OPEN.search(target) or target == "-":
                return
            cwd = _join(cwd, target)
            yield Program(path=cwd, is_directory=True)
            if not os.path.isdir(cwd):
                return
        elif not _TOLERATED.match(source[end:].decode("utf-8", "replace")):
            for program in _programs_in(each, variables, cwd, is_direct):
                if program.name not in functions and (finds or not program.name):
                    yield program
        finds = finds and before not in {".", "source"}
        if before in _ENDING or "exec" in each.wrappers or is_direct:
            return


def _programs_in(
    command: SimpleCommand, variables: Mapping[str, str], cwd: str, is_direct: bool
) -> Iterator[Program]:
    """What one simple command starts."""
    wrappers = command.wrappers
    own = frozenset[str]() if is_direct else _BUILTINS
    options = command.full[: len(command.full) - len(command.words)]
    moved = "env" in wrappers and any(each.startswith("-") for each in options)
    certain = not moved and _WRAPPERS.issuperset(wrappers)
    started = False
    for word, by, is_code in find_executed_words([Field(each) for each in command.full], Budget()):
        text = _expand(word.text, variables)
        if is_code or (started and not (by and certain)):
            return  # what it carries may not be run
        started = started or not certain or word.text == command.words[0]
        if not text or text[0] == "-" or _OPEN.search(text) or _ASSIGNMENT.match(text):
            continue
        if not by and "/" not in text:
            yield from () if text in own else (Program(name=text),)
        elif not by:
            yield Program(path=_join(cwd, text), is_run=True, is_direct=is_direct and not wrappers)
        elif _is_read(text, by):
            yield Program(path=_join(cwd, text), by_shell=_SHELLS.fullmatch(by) is not None)


def _is_read(text: str, by: str) -> bool:
    """Whether an interpreter reads the very file that it is given, and looks nowhere else."""
    if by in {".", "source"} or ("/" in text and _SHELLS.fullmatch(by)):
        return "/" in text
    return "." in os.path.basename(text) or _READERS.fullmatch(by) is not None


def _join(cwd: str, path: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))


def _expand(word: str, variables: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        return variables.get(found[1] or found[2], found[0])

    word = _VARIABLE.sub(value, word)
    home = variables.get("HOME", "")
    if home and (word == "~" or word.startswith("~/")):
        return home + word[1:]
    return word


# ── what is wrong with a program ────────────────────────────────────────────────────────────


def find_troubles(program: Program, which: Which) -> Iterator[Trouble]:
    """Why it will not start, or will stop at its first line."""
    if program.name and which(program.name) is None:
        yield Trouble(
            "program-missing",
            f"there is no program `{program.name}` on your PATH",
            f"install {program.name}, or write its absolute path",
        )
    path = program.path
    if not path.startswith("/") or path.startswith(("/dev/fd/", "/dev/std", "/proc/")):
        return  # nobody can tell where a relative one leads
    if program.is_directory:
        if not os.path.isdir(path):
            what = f"there is no directory `{path}`"
            yield Trouble("script-missing", what, "make it, or correct the path")
        return
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        leads = f"`{path}` is a link to a file that is gone"
        what = leads if os.path.islink(path) else f"there is no file `{path}`"
        yield Trouble("script-missing", what, "put it back, or correct the path")
        return
    if stat.S_ISDIR(mode) and (program.is_run or program.by_shell):
        yield Trouble("script-missing", f"`{path}` is a directory", "name the script in it")
    elif program.is_run and not os.access(path, os.X_OK):
        what = f"`{path}` is not executable"
        yield Trouble("script-not-executable", what, f"chmod +x {shlex.quote(path)}")
    elif not program.is_run and not os.access(path, os.R_OK):
        what = f"`{path}` cannot be read"
        yield Trouble("script-unreadable", what, f"chmod u+r {shlex.quote(path)}")
    if stat.S_ISREG(mode):
        yield from _find_in_first_line(program, which)


def _find_in_first_line(program: Program, which: Which) -> Iterator[Trouble]:
    path, quoted = program.path, shlex.quote(program.path)
    if os.access(path, os.R_OK) and not os.path.getsize(path):
        yield Trouble("script-empty", f"`{path}` is empty, so it does nothing", "put it back")
    head = _read_head(path, 4_096)
    line, ended, _ = head.partition(b"\n")
    if program.is_run and line.startswith(b"\xef\xbb\xbf#!"):
        what = f"`{path}` has a byte order mark before its `#!`, which is not found there"
        yield Trouble("script-bom", what, f"sed -i '1s/^\\xef\\xbb\\xbf//' {quoted}")
        return
    is_script = line.startswith(b"#!")
    is_text = b"\0" not in head and head[:4] != b"\x7fELF"
    by_shell = program.by_shell or (program.is_run and not is_script and is_text)
    if line.endswith(b"\r") and ((is_script and program.is_run) or by_shell):
        what = f"`{path}` has Windows line ends, which its interpreter trips over"
        yield Trouble("script-crlf", what, f"convert to LF: sed -i 's/\\r$//' {quoted}")
    elif program.is_run and is_script:
        if len(line) + len(ended) > _FIRST_LINE and sys.platform == "linux":
            what = f"the `#!` line of `{path}` is longer than the 255 characters that Linux reads"
            yield Trouble("script-without-interpreter", what, "shorten it")
            return
        yield from _find_interpreter(path, line[2:].decode("utf-8", "replace"), which)
    elif head and program.is_run and program.is_direct and is_text:
        what = f"`{path}` has no `#!` line, and no shell is there to run it"
        yield Trouble("script-without-interpreter", what, "write `#!/bin/sh` as its first line")


def _find_interpreter(path: str, line: str, which: Which) -> Iterator[Trouble]:
    words = line.split()
    # The kernel takes it from where the hook runs, which is hardly what `#!python3` means.
    if not words or not words[0].startswith("/"):
        what = f"the `#!` line of `{path}` names no interpreter by its whole path"
        yield Trouble("interpreter-missing", what, "write `#!/usr/bin/env NAME` there")
        return
    missing = "" if os.path.isfile(words[0]) and os.access(words[0], os.X_OK) else words[0]
    if not missing and os.path.basename(words[0]) == "env":
        rest = " ".join(words[1:])
        splits = re.match(r"(?:-v?S|--split-string)[ =]?", rest)
        if " " in rest and not splits and sys.platform == "linux":
            what = f"`env` takes `{rest}` in the `#!` line of `{path}` for one name"
            yield Trouble("interpreter-missing", what, f"write `#!{words[0]} -S {rest}`")
            return
        names = rest[splits.end() if splits else 0 :].split()
        name = next((word for word in names if not _ASSIGNMENT.match(word)), "")
        # What follows an option may be its value.
        missing = name if name[:1] not in {"", "-", "$"} and which(name) is None else ""
    if missing:
        what = f"`{path}` is to be run by `{missing}`, which is not there"
        fix = f"install {missing}, or correct the `#!` line"
        yield Trouble("interpreter-missing", what, fix)


def _read_head(path: str, size: int) -> bytes:
    """The beginning of a regular file; of anything else, which may keep us waiting, nothing."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except (OSError, ValueError):
        return b""
