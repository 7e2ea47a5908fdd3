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
from contextlib import suppress

from msgspec import Struct

from hookline.shell import split
from hookline.shell.branches import find_needed_files
from hookline.shell.steps import (
    BASH_ONLY,
    BUILTINS,
    ENDS_COMPOUND,
    JOINED,
    Program,
    encode_text,
    expand,
    is_dash,
    read_steps,
)
from hookline.shell.steps import read_head as _read_head
from hookline.shell.syntax import find_python_error, find_shell_error

__all__ = [
    "Program",
    "Trouble",
    "find_command_troubles",
    "find_last_programs",
    "find_programs",
    "find_troubles",
    "has_given_up",
]

# Nothing after a command has a say in the exit code if it fails.
_ENDS = rf"(?:[\s;)]|{ENDS_COMPOUND})*"
_LAST = re.compile(
    rf"[ \t)\"]*(?P<chain>&&{JOINED})?{_ENDS}(?:\|\|\s*exit +[1-9]\d*)?{_ENDS}(?:#.*\s*)?"
)
# What shells and Python say last, if they cannot read a script or go on with it.
_GAVE_UP = re.compile(
    r"(?:; stderr: )?(.+?): (?:can't open file|(?:-c: )?(?:line )?\d+: .*?(?:[Ss]yntax error"
    r"|[Bb]ad substitution|(?:parameter|unbound|read ?-?only|shift|cannot open|unexpected EOF)\b"
    r"|arithmetic|Illegal option|bad variable))"
)
# A shell that only checks what it is given complains of that.
_CHECKS = re.compile(r"sh +-\w*n\b")
# A test of bash's, where a command begins; what stands in quotes is none.
_BASH_TEST = re.compile(r"(?:^|[;&|(){}\n!]|\b(?:if|elif|then|else|while|until|do))\s*\[\[\s")
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|(?:^|(?<=\s))#.*", re.DOTALL | re.MULTILINE)
# Linux reads this much of a script to find out who runs it, and of a program for what machine.
_FIRST_LINE = 256
_ELF_HEADER = 20
_MAX_INTERPRETERS = 4

Which = Callable[[str], str | None]


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
    reads_branches: bool = False,
) -> Iterator[Trouble]:
    """Why a command, or the shell that reads it, is certain not to do its work; or, where it
    ``reads_branches``, cannot do a part of it.

    ``runs_copy`` tells of a file in whose place another one runs.
    """
    if isinstance(command, str):
        reader = Program(path=shell, is_run=True) if "/" in shell else Program(name=shell)
        yield from find_troubles(reader, which)
        error = find_shell_error(os.path.basename(shell), command)
        if error:
            what = f"`{os.path.basename(shell)}` cannot read the command: {error}"
            yield Trouble("command-invalid", what, "correct it")
            return
        if is_dash(shell) and _BASH_TEST.search(_QUOTED.sub("_", encode_text(command).decode())):
            yield _explain_missing("[[")
    told = set[Program]()
    for step in read_steps(command, cwd, variables, shell):
        for program in step.programs:
            is_doubtful = program.path and (step.is_after_work or runs_copy(program.path))
            if step.is_tolerated or step.is_passed or is_doubtful or program in told:
                continue
            told.add(program)
            for trouble in find_troubles(program, which, _get_reader(step.words)):
                # There may be nothing to set.
                if trouble.id != "script-empty" or step.words[0] not in {".", "source"}:
                    yield trouble
    paths = {program.path for program in told}
    # No shell expands the words of a list.
    known = variables if isinstance(command, str) else {}
    for program in find_needed_files(command, cwd, known, shell) if reads_branches else ():
        if program.path not in paths and not runs_copy(program.path):
            paths.add(program.path)
            yield from (each for each in find_troubles(program, which) if each.id != "script-empty")


# ── from a command to programs ──────────────────────────────────────────────────────────────


def find_programs(
    command: str | Sequence[str],
    *,
    cwd: str,
    variables: Mapping[str, str],
    shell: str = "/bin/sh",
) -> Iterator[Program]:
    """What a command is certain to start, in order, as far as that can be told."""
    for step in read_steps(command, cwd, variables, shell):
        if not step.is_tolerated:
            yield from step.programs


def find_last_programs(
    command: str | Sequence[str],
    *,
    cwd: str,
    variables: Mapping[str, str],
    shell: str = "/bin/sh",
) -> Iterator[Program]:
    """Those which, when they cannot be started, are certain to be why a command ended as it did."""
    steps = list(read_steps(command, cwd, variables, shell))
    if any(step.words[0] == "trap" for step in steps):
        return
    for step in steps:
        last = _LAST.fullmatch(step.rest)
        for program in step.programs if last else ():
            # What is not in order may work all the same, and then the next one has its say.
            if not (last and last["chain"]) or not os.path.exists(program.path or "/"):
                yield program


def has_given_up(
    command: str | Sequence[str], shell: str, line: str, variables: Mapping[str, str]
) -> bool:
    """Whether ``line``, the last on stderr, is why a command ended: the shell that reads it, or
    what it ends with, could not go on. Such a line names who speaks, and the line of the script.
    """
    said = _GAVE_UP.match(line)
    text = command if isinstance(command, str) else shlex.join(command)
    if said is None or _CHECKS.search(text):
        return False
    source = encode_text(text)
    names = {shell}
    for each in split(text).commands:
        if _LAST.fullmatch(source[each.end :].decode("utf-8", "replace")):
            names.update(expand(word, variables) for word in each.words)
    return said[1] in names or os.path.basename(said[1]) in names


# ── what is wrong with a program ────────────────────────────────────────────────────────────


def find_troubles(program: Program, which: Which, reader: str = "bash") -> Iterator[Trouble]:
    """Why it will not start, will stop at its first line, or cannot be read at all.

    ``reader`` is the shell that reads it, if one does; bash reads what the others do.
    """
    if program.name and which(program.name) is None:
        yield _explain_missing(program.name)
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
    if program.is_data:
        return
    if stat.S_ISDIR(mode) and (program.is_run or program.by_shell):
        yield Trouble("script-missing", f"`{path}` is a directory", "name the script in it")
    elif program.is_run and not os.access(path, os.X_OK):
        yield _explain_not_executable(path, mode)
    elif not program.is_run and not os.access(path, os.R_OK):
        what = f"`{path}` cannot be read"
        yield Trouble("script-unreadable", what, f"chmod u+r {shlex.quote(path)}")
    if stat.S_ISREG(mode):
        found = [*_find_in_first_line(program, which)]
        yield from found or _find_in_syntax(program, which, reader)


def _explain_not_executable(path: str, mode: int) -> Trouble:
    what, fix = f"`{path}` is not executable", f"chmod +x {shlex.quote(path)}"
    if mode & 0o111 and os.statvfs(path).f_flag & os.ST_NOEXEC:
        what = f"`{path}` lies on a file system that is mounted noexec"
        fix = "move it, or write its interpreter in front of it"
    return Trouble("script-not-executable", what, fix)


def _explain_missing(name: str) -> Trouble:
    fix = f"install {name}, or write its absolute path"
    if name in BASH_ONLY:
        fix = "it is part of bash: write `run: [bash, -c, …]`"
    elif name in BUILTINS:
        fix = "it is part of the shell: write the command as text, not as a list"
    return Trouble("program-missing", f"there is no program `{name}` on your PATH", fix)


def _get_reader(words: Sequence[str]) -> str:
    """The shell that is given a script, where that one reads no more than bash does."""
    is_code = any(re.match(r"-\w*c", word) for word in words)
    return "sh" if words[0] in {"sh", "dash"} and not is_code else "bash"


def _find_in_syntax(program: Program, which: Which, reader: str) -> Iterator[Trouble]:
    text = program.text()
    first = text.partition("\n")[0] if program.is_run else ""
    named = os.path.basename((first.removeprefix("#!").split() or [""])[-1])
    error = ""
    if program.by_shell:
        error = find_shell_error(reader, text)
    elif program.is_run and text:
        error = find_shell_error(named if first.startswith("#!") else "sh", text)
    if re.match(r"python3?\Z", named) or (not program.is_run and program.path.endswith(".py")):
        python = os.path.basename(os.path.realpath(which("python3") or ""))
        error = find_python_error(text) if python == f"python3.{sys.version_info.minor}" else ""
    if error:
        yield Trouble("script-invalid", f"`{program.path}` cannot be read: {error}", "correct it")


def _find_in_first_line(program: Program, which: Which, depth: int = 0) -> Iterator[Trouble]:
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
        yield from _find_interpreter(path, line[2:].decode("utf-8", "replace"), which, depth)
    elif head and program.is_run and program.is_direct and is_text:
        what = f"`{path}` has no `#!` line, and no shell is there to run it"
        yield Trouble("script-without-interpreter", what, "write `#!/bin/sh` as its first line")
    elif program.is_run and not is_text and _is_for_no_machine_here(head):
        what = f"`{path}` is not a program that this machine can run"
        yield Trouble("program-invalid", what, "put one there that is built for it, or a script")


def _is_for_no_machine_here(head: bytes) -> bool:
    if sys.platform != "linux":
        return False
    with suppress(OSError):
        if {*os.listdir("/proc/sys/fs/binfmt_misc")} - {"register", "status"}:
            return False  # something else may run it
    if head[:4] != b"\x7fELF":
        return b"\0" in head.partition(b"\n")[0]
    own = _read_head("/proc/self/exe", _ELF_HEADER)
    # A machine of 64 bits may run programs of 32.
    return bool(own) and head[4:5] == own[4:5] and head[18:20] != own[18:20]


def _find_interpreter(path: str, line: str, which: Which, depth: int) -> Iterator[Trouble]:
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
        started = split(f"env {rest[splits.end() :] if splits else rest}").commands[:1]
        name = next((each.name for each in started if each.exact), "")
        missing = name if name not in {"", "env"} and which(name) is None else ""
    elif not missing and depth < _MAX_INTERPRETERS:
        yield from _find_in_first_line(Program(path=words[0], is_run=True), which, depth + 1)
    if missing:
        what = f"`{path}` is to be run by `{missing}`, which is not there"
        fix = f"install {missing}, or correct the `#!` line"
        yield Trouble("interpreter-missing", what, fix)
