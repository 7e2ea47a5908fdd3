"""What a hook's command line starts, as far as it can be told without running it.

Knows shell words, paths and first lines of scripts; must not know any platform. What it is not
sure of it passes over: a wrong alarm costs more here than a missed one.
"""

import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

__all__ = ["Program", "Trouble", "program_of", "troubles"]

_INTERPRETERS = re.compile(r"(?:ba|da|z|k)?sh|python[\d.]*|node|ruby|perl|pwsh|bun|deno|php")
_SHELLS = re.compile(r"(?:ba|da|z|k)?sh")
_SCRIPT = re.compile(r".*\.(?:sh|bash|zsh|py|js|mjs|cjs|ts|rb|pl|ps1|php)")
# Neither a program on PATH nor a file: what comes after them is not told by the first word.
_KEYWORDS = "if then else elif fi for while until do done case esac select function { } ! ( ) [ [["
_COMMANDS = "cd echo printf true false exit return : . source eval set unset export readonly local "
_COMMANDS += "test read trap wait ulimit umask shift type alias declare let"
_BUILTINS = frozenset([*_KEYWORDS.split(), *_COMMANDS.split()])
_WRAPPERS = {"exec", "command", "nohup", "time", "env"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# Anything that only a shell could work out.
_OPEN = re.compile(r"[$`*?]|\{\{")
_OPERATOR = re.compile(r"[();<>|&\n]+")
_LONGEST = 100_000

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

    def text(self) -> str:
        """The script itself; empty when there is none that can be read."""
        try:
            with open(self.path, "rb") as file:
                return file.read(_LONGEST).decode("utf-8", "replace")
        except (OSError, ValueError):
            return ""


class Trouble(Struct, frozen=True):
    """Why a program cannot be started, or does not do what it should."""

    id: str
    what: str
    fix: str


def program_of(
    command: str | Sequence[str], *, cwd: str, variables: Mapping[str, str]
) -> Program | None:
    """What a command starts first; None when that cannot be told."""
    is_direct = not isinstance(command, str)
    words = _words(command) if isinstance(command, str) else list(command)
    words = [_expanded(word, variables) for word in words]
    while words and (_ASSIGNMENT.match(words[0]) or os.path.basename(words[0]) in _WRAPPERS):
        words = words[1:]
    if not words or not words[0] or words[0].startswith("-") or _OPEN.search(words[0]):
        return None
    first = words[0]
    if first in _BUILTINS and not is_direct:
        return None
    script = _script(words)
    if script and not _OPEN.search(script):
        shell = _SHELLS.fullmatch(os.path.basename(first)) is not None
        name = "" if "/" in first else first
        return Program(name=name, path=_joined(cwd, script), by_shell=shell)
    if "/" in first:
        return Program(path=_joined(cwd, first), is_run=True, is_direct=is_direct)
    return Program(name=first)


def _joined(cwd: str, path: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))


def _words(line: str) -> list[str]:
    """The words of the first simple command in a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace_split = True
    lexer.whitespace, lexer.commenters = " \t\r", ""
    words: list[str] = []
    try:
        for word in lexer:
            if _OPERATOR.fullmatch(word):
                break
            words.append(word)
    except ValueError:  # a quote that nobody closed
        return []
    return words


def _expanded(word: str, variables: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        return variables.get(found[1] or found[2], found[0])

    word = _VARIABLE.sub(value, word)
    home = variables.get("HOME", "")
    if home and (word == "~" or word.startswith("~/")):
        return home + word[1:]
    return word


def _script(words: Sequence[str]) -> str:
    """The file that an interpreter is given to read; empty when it is given something else."""
    if not _INTERPRETERS.fullmatch(os.path.basename(words[0])):
        return ""
    for word in words[1:]:
        if word.startswith("-"):
            # After -c, -m and -e comes code; of the other options none is known to take a word.
            if re.fullmatch(r"-[A-Za-z]*[cme]|--eval|--command|-Command", word):
                return ""
            continue
        return word if "/" in word or _SCRIPT.fullmatch(word) else ""
    return ""


def troubles(program: Program, which: Which) -> Iterator[Trouble]:
    """Why it will not start, or will stop at its first line."""
    if program.name and which(program.name) is None:
        yield Trouble(
            "program-missing",
            f"there is no program `{program.name}` on your PATH",
            f"install `{program.name}`, or write its absolute path",
        )
    if not program.path:
        return
    try:
        mode = os.stat(program.path).st_mode
    except (OSError, ValueError):
        mode = 0
    if not os.path.isfile(program.path):
        what = f"there is no file `{program.path}`"
        yield Trouble("script-missing", what, "put the script there, or correct the path")
        return
    if program.is_run and not mode & 0o111:
        what = f"`{program.path}` is not executable"
        yield Trouble("script-not-executable", what, f"chmod +x {shlex.quote(program.path)}")
    yield from _first_line(program, which)


def _first_line(program: Program, which: Which) -> Iterator[Trouble]:
    try:
        with open(program.path, "rb") as file:
            head = file.read(4_096)
    except OSError as error:
        what = f"`{program.path}` cannot be read: {error.strerror}"
        yield Trouble("script-unreadable", what, f"chmod u+r {shlex.quote(program.path)}")
        return
    line = head.partition(b"\n")[0]
    is_script = line.startswith(b"#!")
    if line.endswith(b"\r") and (is_script if program.is_run else program.by_shell):
        what = f"`{program.path}` has Windows line ends, which its interpreter trips over"
        yield Trouble("script-crlf", what, f"sed -i 's/\\r$//' {shlex.quote(program.path)}")
        return
    if program.is_run and not is_script and program.is_direct and _is_text(head):
        what = f"`{program.path}` has no `#!` line, and no shell is there to run it"
        yield Trouble("script-without-interpreter", what, "write `#!/bin/sh` as its first line")
    if program.is_run and is_script:
        yield from _interpreter(program.path, line[2:].decode("utf-8", "replace"), which)


def _interpreter(path: str, line: str, which: Which) -> Iterator[Trouble]:
    words = line.split()
    by_env = bool(words) and os.path.basename(words[0]) == "env"
    if by_env:
        words = [word for word in words[1:] if word[:1] != "-" and not _ASSIGNMENT.match(word)]
    if not words:
        return
    name = words[0]
    missing = which(name) is None if by_env else not os.access(name, os.X_OK)
    if missing:
        what = f"`{path}` is to be run by `{name}`, which is not there"
        yield Trouble("interpreter-missing", what, f"install `{name}`, or correct the `#!` line")


def _is_text(head: bytes) -> bool:
    return bool(head) and b"\0" not in head and head[:1].isascii() and head[:4] != b"\x7fELF"
