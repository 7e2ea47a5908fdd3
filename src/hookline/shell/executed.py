"""Finds the words of a command that name what it executes: programs, scripts, sourced files.

All other words are data. What runs on another machine or in a container is not executed here.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hookline.shell.budget import Budget
from hookline.shell.carriers import SHELL_OPTIONS, SHELLS, carried
from hookline.shell.fields import Field
from hookline.shell.inner import Argv, Code, Words
from hookline.shell.options import Options, parse
from hookline.shell.wrappers import unwrap

__all__ = ["ELSEWHERE", "ExecutedWord", "find_executed_words"]


class ExecutedWord(NamedTuple):
    """A word that names what is executed, or that is code itself."""

    word: Field
    interpreter: str = ""
    """What reads the word as a script; empty for a program."""
    is_code: bool = False


class _Interpreter(NamedTuple):
    """How to find the files among the words of a program that executes them."""

    options: Options
    files: frozenset[str] = frozenset()
    """Options whose value is such a file."""
    instead: frozenset[str] = frozenset()
    """Options with which no operand is a script."""
    verbs: frozenset[str] = frozenset()
    """Commands of its own that a script follows. With them, only what looks like a file is one."""
    takes_operand: bool = True


def _interpreter(
    valued: str = "", *, files: str = "", code: str = "", instead: str = "", verbs: str = "",
    double: str = "", operand: bool = True,
) -> _Interpreter:  # fmt: skip
    """``valued`` options have a value that is data, and ``code`` ones code in its own language."""
    return _Interpreter(
        Options(frozenset(f"{valued} {files} {code}".split()), double=frozenset(double.split())),
        frozenset(files.split()),
        frozenset(f"{code} {instead}".split()),
        frozenset(verbs.split()),
        operand,
    )


def _same(names: str, interpreter: _Interpreter) -> dict[str, _Interpreter]:
    return dict.fromkeys(names.split(), interpreter)


_SHELL = _Interpreter(
    SHELL_OPTIONS, frozenset({"--rcfile", "--init-file"}), frozenset({"-c", "-s"})
)
_INTERPRETERS = {
    **dict.fromkeys(SHELLS, _SHELL),
    **_same(". source", _interpreter()),
    **_same("python pythonw pypy", _interpreter(
        "-W -X --check-hash-based-pycs", code="-c -m", instead="-h -V --help --version")),
    "node": _interpreter(
        "-C --conditions --env-file --input-type --stack-trace-limit --title --watch-path",
        files="-r --require --import --loader --experimental-loader",
        code="-e --eval -p --print", instead="--run --test"),
    **_same("tsx ts-node ts-node-esm", _interpreter(
        "-C -O -P --compiler --compiler-options --project --tsconfig",
        files="-r --require --import", code="-e --eval -p --print", verbs="watch")),
    **_same("deno bun", _interpreter(
        "-c --config --cwd --import-map", files="-r --preload --require", code="-e --eval -p",
        verbs="run watch")),
    "ruby": _interpreter("-C -E -I", files="-r", code="-e"),
    "perl": _interpreter("-I -M -m", code="-e -E"),
    "php": _interpreter("-c -d -S -t -z", files="-f --file", code="-B -E -F -R -r --run",
                        instead="-f --file"),
    **_same("lua luajit texlua", _interpreter("-e -j -l")),
    **_same("awk gawk mawk nawk", _interpreter(
        "-F -v --assign --field-separator -e --source -l --load",
        files="-f --file -E --exec -i --include", operand=False)),
    **_same("sed gsed", _interpreter("-e --expression -l", files="-f --file", operand=False)),
    **_same("jq gojq jaq", _interpreter(
        "-L --indent", files="-f --from-file", operand=False,
        double="--arg --argjson --rawfile --slurpfile")),
    **_same("tclsh wish racket groovy scala kotlin swift elixir escript runghc runhaskell"
            " ocaml raku mono wine", _interpreter(code="-e -c")),
    "guile": _interpreter("-L -x", files="-l -s", code="-c", instead="-s"),
    "expect": _interpreter("-c", files="-f", instead="-f"),
    "Rscript": _interpreter(code="-e"),
    "R": _interpreter("-e", files="-f --file", operand=False),
    "julia": _interpreter("-J -p -t", files="-L --load", code="-e -E --eval"),
    "emacs": _interpreter(files="-l --load --script", operand=False),
    "osascript": _interpreter("-l", code="-e"),
    **_same("dart crystal wasmtime go dotnet java", _interpreter(verbs="exec fsi run script")),
}  # fmt: skip

# Where another machine or a container executes what they are given.
ELSEWHERE = frozenset({
    "adb", "chroot", "clush", "distrobox", "docker", "docker-compose", "dsh", "gcloud", "incus",
    "kubectl", "lxc", "machinectl", "mosh", "multipass", "nerdctl", "nsenter", "oc",
    "parallel-ssh", "pdsh", "podman", "pssh", "salt", "ssh", "systemd-nspawn", "toolbox",
    "vagrant", "wsl",
})  # fmt: skip

_VERSION = re.compile(r"[\d.]+\Z")
_LONE_SUBSTITUTION = re.compile(r"`[^`]*`\Z|\$\(.*\)\Z", re.DOTALL)


def find_executed_words(words: Words, budget: Budget) -> Iterator[ExecutedWord]:
    """What a command executes on this machine, in the order of its words; code where it has any."""
    unwrapped = unwrap(words, budget)
    for program in unwrapped.programs:
        yield ExecutedWord(program)
        if _name(program) in ELSEWHERE:
            return
    command = unwrapped.words
    by = unwrapped.wrappers[-1] if unwrapped.wrappers else ""
    # They run a file by its name alone; what else would be looked for on PATH.
    is_script = by in ("uv", "pipx") and command[0].text.endswith((".py", ".pyw"))
    yield ExecutedWord(command[0], by if is_script else "")
    name = _name(command[0])
    if name in ELSEWHERE:
        return
    interpreter = _INTERPRETERS.get(name) or _INTERPRETERS.get(_VERSION.sub("", name))
    if interpreter is not None:
        yield from (ExecutedWord(word, name) for word in _scripts(command, interpreter))
    for inner in carried(command):
        if isinstance(inner, Argv):
            yield from find_executed_words(inner.words, budget)
        elif isinstance(inner, Code):
            yield ExecutedWord(inner.text, name, is_code=True)


def _name(program: Field) -> str:
    return program.text.rpartition("/")[2]


def _scripts(words: Words, interpreter: _Interpreter) -> Iterator[Field]:
    parsed = parse(words, interpreter.options)
    for option, value in parsed.found:
        if option in interpreter.files and value is not None:
            yield value
    if not interpreter.takes_operand or parsed.has(*interpreter.instead):
        return
    if interpreter.verbs:
        at = parsed.operands
        if at < len(words) and words[at].text in interpreter.verbs:
            at = parse(words, interpreter.options, at + 1).operands
        script = words[at : at + 1]
        yield from (word for word in script if "/" in word.text or "." in word.text.strip("."))
        return
    for word in words[parsed.operands :]:
        if word.text != "-":
            yield word
        if word.exact or not _LONE_SUBSTITUTION.match(word.text):
            return  # else it may be an option, or nothing at all, and the script comes next
