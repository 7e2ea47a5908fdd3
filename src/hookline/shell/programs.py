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

from hookline.shell.steps import ASSIGNMENT, JOINED, Program, read_steps
from hookline.shell.steps import read_head as _read_head

__all__ = [
    "Program",
    "Trouble",
    "find_command_troubles",
    "find_last_programs",
    "find_programs",
    "find_troubles",
]

# Nothing after a command has a say in the exit code if it fails.
_LAST = re.compile(rf"[ \t)\"]*(?P<chain>&&{JOINED})?(?:\|\|\s*exit +[1-9]\d*)?[\s;)]*(?:#.*\s*)?")
# Linux reads this much of a script to find out who runs it.
_FIRST_LINE = 256

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
) -> Iterator[Trouble]:
    """Why a command, or the shell that reads it, is certain not to do its work.

    ``runs_copy`` tells of a file in whose place another one runs.
    """
    if isinstance(command, str):
        reader = Program(path=shell, is_run=True) if "/" in shell else Program(name=shell)
        yield from find_troubles(reader, which)
    told = set[Program]()
    for step in read_steps(command, cwd, variables, shell):
        for program in step.programs:
            is_doubtful = program.path and (step.is_after_work or runs_copy(program.path))
            if step.is_tolerated or step.is_passed or is_doubtful or program in told:
                continue
            told.add(program)
            for trouble in find_troubles(program, which):
                # There may be nothing to set.
                if trouble.id != "script-empty" or step.words[0] not in {".", "source"}:
                    yield trouble


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
    if program.is_data:
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
        name = next((word for word in names if not ASSIGNMENT.match(word)), "")
        # What follows an option may be its value.
        missing = name if name[:1] not in {"", "-", "$"} and which(name) is None else ""
    if missing:
        what = f"`{path}` is to be run by `{missing}`, which is not there"
        fix = f"install {missing}, or correct the `#!` line"
        yield Trouble("interpreter-missing", what, fix)
