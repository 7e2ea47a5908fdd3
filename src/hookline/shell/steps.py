"""The simple commands that a command is certain to come to, and what each of them starts.

Knows shell words and paths; must not know any platform, nor whether what is started is there.
"""

import os
import re
import shlex
import stat
from collections.abc import Iterator, Mapping, Sequence, Set

from msgspec import Struct

from hookline.shell import STDIN, ShellText, SimpleCommand, split
from hookline.shell.budget import Budget
from hookline.shell.executed import find_executed_words
from hookline.shell.fields import Field

__all__ = [
    "ASSIGNMENT",
    "BASH_ONLY",
    "BUILTINS",
    "ENDS_COMPOUND",
    "FUNCTION",
    "JOINED",
    "MAKES_NOTHING",
    "NEVER_FAILING",
    "SHELLS",
    "Program",
    "Step",
    "encode_text",
    "expand",
    "find_inputs",
    "find_started",
    "is_dash",
    "is_open",
    "is_passed",
    "is_tolerated",
    "join_path",
    "read_head",
    "read_steps",
]

SHELLS = re.compile(r"(?:ba|da|z|k|a)?sh|\.|source")
# These read a file by the very name that they are given; others may add to it.
_READERS = re.compile(r"(?:python|pypy|perl|ruby|php|lua)[\d.]*|[gmn]?awk|g?sed|jq")
# What a shell does by itself. What `&&` joins to the first of them is certain to run, after the
# second nothing is.
_SURE = "cd echo printf true : set export readonly umask trap"
_LEAVING = "exit return eval break continue alias"
_OTHERS = "false local . source unset test [ [[ read wait shift type let hash command getopts "
_OTHERS += (
    "builtin exec kill pwd times bg fg jobs unalias shopt mapfile ulimit declare typeset time"
)
NEVER_FAILING, _ENDING = frozenset(_SURE.split()), frozenset(_LEAVING.split())
BUILTINS = frozenset([*NEVER_FAILING, *_ENDING, *_OTHERS.split()])
# They make no file that a later command could start.
BASH_ONLY = frozenset(
    {"source", "[[", "let", "shopt", "mapfile", "declare", "typeset", "builtin", "pushd", "popd"}
)
MAKES_NOTHING = NEVER_FAILING | _ENDING - {"eval"} | frozenset({
    "[", "basename", "cat", "cmp", "cut", "date", "diff", "dirname", "egrep", "false", "fgrep",
    "grep", "head", "id", "jq", "ls", "read", "rg", "sleep", "stat", "tail", "test", "tr", "type",
    "uname", "unset", "wait", "wc", "which", "whoami",
})  # fmt: skip
# They start what follows them on the PATH that they have themselves.
_WRAPPERS = frozenset(["exec", "command", "nohup", "time", "env", "timeout", "nice", "setsid"])
# All options of `env` but those that only take a variable away, or print.
_MOVES = re.compile(r"-(?!u|-unset|v\Z|-\Z)")
# Options of a shell with which it does nothing before the code that it is given.
_PLAIN_CODE = re.compile(r"-[eux]*c")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
# Anything that only a shell could work out.
is_open = re.compile(r"[$`*?'\"]|\{\{|[<>]\(").search
# Between two commands of which the second runs whenever the first one did, in front of one whose
# output a variable gets, and of one that a group, a branch or a loop begins with.
_NEXT = re.compile(
    r'[ \t)"]*(?:[;\n]\s*\}[ \t]*)*(?P<join>\|&?|&&|[;\n]|)\s*(?:#.*\n\s*)*'
    r'(?:(?:!|\{|if|while|until)\s+)*(?:(?:\w+="?\$)?\(\s*)?'
)
# The rest of what `&&` and pipes join to a command, to the end of the compound that it ends.
ENDS_COMPOUND = r"(?:\}|fi|done|esac)(?![\w-])"
_OTHER_BRANCH = r"(?:[;\n]\s*(?:else|elif)\b(?s:.*?)\bfi|;;(?s:.*?)\besac)(?![\w-])"
JOINED = (
    r"(?:[^;&|\n]|&&|(?<=[<>|])&|&(?=>)|(?<!\|)\|(?!\|)"
    rf"|{_OTHER_BRANCH}|[;\n]\s*{ENDS_COMPOUND})*+"
)
_FAILS = r"(?:exit|return)[ \t]*(?:[1-9]|[;\n)]|$)"
# Where it does not matter that a command fails: something else is tried, or nobody waits for it.
_TOLERATED = re.compile(rf"{JOINED}(?:\|\|\s*(?!{_FAILS}|\s)|(?<![<>|&])&(?![&>]))")
# The exit code is that of a later command.
_GOES_ON = re.compile(
    rf"({JOINED})(?:\|\|[^;\n]*)?[;\n][;\s]*(?:#.*\s*)*"
    rf"(?!(?:then|do)(?![\w-])|{ENDS_COMPOUND})[^\s;#)]"
)
_HEREDOC = re.compile(rb"(<<-?[ \t]*['\"]?(\w+)\b.*)((?s:.*?)\n\t*\2(?=\n|\Z))")
FUNCTION = re.compile(r"([\w-]+)\s*\(\s*\)|\bfunction\s+([\w-]+)")
_LONGEST = 100_000


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
    is_data: bool = False
    """Whether the shell opens it for the command to read, so that it only has to be there."""

    def text(self) -> str:
        """The script itself; empty when there is none that can be read."""
        head = read_head(self.path, _LONGEST)
        return "" if b"\0" in head else head.decode("utf-8", "replace")


class Step(Struct, frozen=True):
    """One simple command of those that a command is certain to come to."""

    words: tuple[str, ...]
    programs: tuple[Program, ...]
    rest: str
    """What is written after it."""
    is_tolerated: bool
    """Whether something else is done if it fails, or nobody waits for it."""
    is_passed: bool
    """Whether the command goes on after it, however it ends."""
    is_after_work: bool
    """Whether a command before it may have made the files that it needs."""


def read_steps(
    command: str | Sequence[str], cwd: str, variables: Mapping[str, str], shell: str
) -> Iterator[Step]:
    is_direct = not isinstance(command, str)
    if not is_direct and not SHELLS.fullmatch(os.path.basename(shell)):
        return
    text = command if isinstance(command, str) else shlex.join(command)
    source = encode_text(text)
    functions = {name for pair in FUNCTION.findall(text) for name in pair}
    finds = not re.search(r"\bPATH\b", text)  # else programs may be looked for elsewhere
    stops = re.search(r"\bset +-\w*e", text) is not None
    needs_success = {"&&", ";", "\n"} if stops else {"&&"}
    foreign = BASH_ONLY if is_dash(shell) and not is_direct else frozenset()
    end, before, works, after_work, moved = 0, ":", False, False, False
    read = split(text)
    for number, each in enumerate(read.commands):
        gap = _NEXT.fullmatch(source[end : each.start].decode("utf-8", "replace"))
        if gap is None or (end and not gap["join"]) or not each.words:
            return
        if moved and ")" in gap[0]:
            return  # the `cd` before it may have been in a subshell
        if gap["join"] in needs_success and before not in NEVER_FAILING:
            return
        after_work = after_work or (works and not gap["join"].startswith("|"))
        end, before = each.end, each.words[0]
        works = works or before not in MAKES_NOTHING or bool(each.wrappers)
        works = works or any(into.writes and into.start < end for into in read.redirections)
        if before == "cd" and not is_direct:
            target = expand(each.words[-1], variables)
            if len(each.words) != 2 or is_open(target) or target == "-":
                return
            cwd, moved = join_path(cwd, target), True
            programs = [Program(path=cwd, is_directory=True)]
        else:
            found = [*find_started(each, variables, cwd, is_direct=is_direct)]
            found += find_inputs(read, {number}, cwd, variables)
            found += [Program(name=before)] if before in foreign else []
            programs = [
                program
                for program in found
                if program.name not in functions and (finds or not program.name)
            ]
        rest = source[end:].decode("utf-8", "replace")
        yield Step(
            each.words,
            tuple(programs),
            rest,
            is_tolerated=is_tolerated(rest),
            is_passed=not stops and is_passed(each, source, rest),
            is_after_work=after_work,
        )
        if before == "cd" and not is_direct and not os.path.isdir(cwd):
            return
        finds = finds and before not in {".", "source"}
        if before in _ENDING or "exec" in each.wrappers or is_direct:
            return


def is_dash(shell: str) -> bool:
    return os.path.realpath(f"/bin/{os.path.basename(shell)}").endswith("/dash")


def encode_text(text: str) -> bytes:
    """The text as its commands count it, with here-documents blanked out."""
    source = text.encode("utf-8", "surrogateescape")
    return _HEREDOC.sub(lambda found: found[1] + b" " * len(found[3]), source)


def is_tolerated(rest: str) -> bool:
    """Whether something else is done if a command fails, before ``rest``, or nobody waits."""
    return _TOLERATED.match(rest) is not None


def is_passed(command: SimpleCommand, source: bytes, rest: str) -> bool:
    """Whether the command goes on without it, and needs nothing of what it prints."""
    goes_on = _GOES_ON.match(rest)
    if goes_on is None or re.match(rf"{JOINED}\|\|\s*{_FAILS}", rest):
        return False
    is_used = command.depth > 0 and ")" in goes_on[1]
    return not is_used or b"/dev/null" in source[command.start : command.end]


def find_inputs(
    read: ShellText, numbers: Set[int], cwd: str, variables: Mapping[str, str]
) -> Iterator[Program]:
    """The files that commands with these numbers read on standard input, as data or as code."""
    code = dict[str, str]()
    for number in numbers & read.sources.keys():
        words = [Field(word) for word in read.commands[number].full]
        found = find_executed_words(words, Budget())
        by = next((each.interpreter for each in found if each.word.text == STDIN), "")
        code |= dict.fromkeys((expand(each, variables) for each in read.sources[number] if by), by)
    for path, by in code.items():
        if path != STDIN and not is_open(path):
            yield Program(path=join_path(cwd, path), by_shell=SHELLS.fullmatch(by) is not None)
    for into in read.redirections:
        path = expand(into.target, variables)
        is_data = into.number in numbers and into.operator == "<" and path not in code
        if is_data and not is_open(path):
            yield Program(path=join_path(cwd, path), is_data=True)


def find_started(
    command: SimpleCommand,
    variables: Mapping[str, str],
    cwd: str,
    *,
    is_direct: bool = False,
    is_certain: bool = True,
) -> Iterator[Program]:
    """What one simple command starts; unless it ``is_certain``, what its wrappers may start, too,
    but nothing of the code that it carries.
    """
    wrappers = command.wrappers
    own = frozenset[str]() if is_direct else BUILTINS
    options = command.full[: len(command.full) - len(command.words)]
    moved = "env" in wrappers and any(map(_MOVES.match, options))
    certain = not is_certain or (not moved and _WRAPPERS.issuperset(wrappers))
    started = False
    for word, by, is_code in find_executed_words([Field(each) for each in command.full], Budget()):
        text = expand(word.text, {} if is_direct else variables)
        if is_code and certain and is_certain and _PLAIN_CODE.fullmatch(command.words[1]):
            for step in read_steps(word.text, cwd, variables, by):
                if not (step.is_tolerated or step.is_passed or step.is_after_work):
                    yield from step.programs
        if is_code or (started and not (by and certain)):
            return  # what it carries may not be run
        started = started or not certain or word.text == command.words[0]
        is_literal = is_direct and word.text == command.words[0]
        if text in {"", STDIN} or text[0] == "-" or ASSIGNMENT.match(text):
            continue
        if is_open(text) and not is_literal:
            continue
        if not by and "/" not in text:
            yield from () if text in own else (Program(name=text),)
        elif not by:
            yield Program(
                path=join_path(cwd, text), is_run=True, is_direct=is_direct and not wrappers
            )
        elif by in {".", "source"} and "/" not in text and not os.path.exists(join_path(cwd, text)):
            yield Program(name=text)  # looked for on PATH
        elif _is_read(text, by) or os.path.isdir(join_path(cwd, text)):
            yield Program(path=join_path(cwd, text), by_shell=SHELLS.fullmatch(by) is not None)


def _is_read(text: str, by: str) -> bool:
    """Whether an interpreter reads the very file that it is given, and looks nowhere else."""
    if by in {".", "source"} or ("/" in text and SHELLS.fullmatch(by)):
        return "/" in text
    return "." in os.path.basename(text) or _READERS.fullmatch(by) is not None


def join_path(cwd: str, path: str) -> str:
    return os.path.normpath(os.path.join(cwd, path))


def expand(word: str, variables: Mapping[str, str]) -> str:
    def value(found: re.Match[str]) -> str:
        return variables.get(found[1] or found[2], found[0])

    word = _VARIABLE.sub(value, word)
    home = variables.get("HOME", "")
    if home and (word == "~" or word.startswith("~/")):
        return home + word[1:]
    return word


def read_head(path: str, size: int) -> bytes:
    """The beginning of a regular file; of anything else, which may keep us waiting, nothing."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return file.read(size) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else b""
    except (OSError, ValueError):
        return b""
