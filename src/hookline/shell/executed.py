"""Finds the words of a command that name what it executes: programs, scripts, sourced files.

All other words are data. What runs on another machine or in a container is not executed here.
A script that is read from standard input is the word STDIN.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from hookline.shell.budget import Budget
from hookline.shell.carriers import SHELL_OPTIONS, SHELLS, carried
from hookline.shell.fields import Field
from hookline.shell.inner import Argv, Code, Stdin, Words
from hookline.shell.model import STDIN, STDIN_NAMES
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
    files: frozenset[str]
    """Options whose value is such a file."""
    instead: frozenset[str]
    """Options with which no operand is a script."""


# Names, then options whose value is data, those whose value is executed, and those with which no
# operand is; all of them may take a value.
_TABLE = (
    (". source", "", "", ""),
    ("python pythonw pypy ipython", "-W -X --check-hash-based-pycs", "", "-c -m -h -V"),
    *((names, "-C -O -P --conditions --env-file --input-type --project --tsconfig",
       "-r --require --import --loader --experimental-loader",
       f"{checks} -e --eval -p --print --run --test")
      for names, checks in (("node", "-c --check"), ("tsx ts-node vite-node zx", ""))),
    ("deno bun", "-c --config --cwd --import-map", "-r --preload --require", "-e --eval -p"),
    ("ruby", "-C -E -I", "-r", "-c -e"),
    ("perl", "-I -M -m", "", "-c -e -E"),
    ("php", "-c -d -S -t -z", "-f --file", "-B -E -F -R -l -r --run --syntax-check -f --file"),
    ("lua luajit", "-e -j -l", "", ""),
    ("awk gawk mawk nawk", "-F -v --assign --field-separator -e --source -l --load",
     "-f --file -E --exec -i --include", ""),
    ("sed gsed", "-e --expression -l", "-f --file", ""),
    ("jq gojq jaq", "-L --indent", "-f --from-file", ""),
    ("R emacs", "-e", "-f --file -l --load --script", "-e -f --file"),
    ("make gmake bmake", "-C --directory -E --eval -I --include-dir -W -o",
     "-f --file --makefile", ""),
    ("ninja samu", "-C -d -j -k -l -t -w", "-f", ""),
    ("just", "-d --working-directory", "-f --justfile", ""),
    ("task", "-d --dir -o --output -C --concurrency", "-t --taskfile", ""),
    ("rake", "-I -r", "-f --rakefile", ""),
    ("nox", "-s -e -p -k -t", "-f --noxfile", ""),
    ("gdb cmake", "-B -D -G -S --build", "-P -x --command", ""),
    ("julia", "-J -p -t", "-L --load", "-e -E --eval"),
    ("expect guile", "-L", "-l -f -s", "-c -f -s"),
    ("pdb ipdb trace cProfile profile kernprof pyinstrument scalene viztracer debugpy",
     "-c -o -s -C -f --listen --connect --outfile --outdir --ignore-dir --ignore-module", "", "-m"),
    ("tclsh wish racket groovy scala kotlin swift elixir escript runghc runhaskell ocaml raku mono"
     " wine Rscript osascript coverage dart crystal wasmtime go dotnet java", "", "", "-e -c"),
)  # fmt: skip
_INTERPRETERS = {
    **{name: _Interpreter(SHELL_OPTIONS, frozenset({"--rcfile", "--init-file"}),
                          frozenset({"-c", "-n", "-s"})) for name in SHELLS},
    **{name: _Interpreter(
        Options(frozenset(f"{valued} {files} {instead}".split()),
                double=frozenset({"--arg", "--argjson", "--rawfile", "--slurpfile"}),
                last=frozenset({"-c", "-m"} & {*instead.split()})),
        frozenset(files.split()), frozenset(instead.split()))
       for names, valued, files, instead in _TABLE for name in names.split()},
}  # fmt: skip
# Their operands are data; options may stand behind them, but for awk's.
_AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
_ONLY_OPTIONS = _AWKS | {
    *("sed", "gsed", "jq", "gojq", "jaq", "R", "emacs", "make", "gmake", "bmake", "ninja", "samu"),
    *("just", "task", "rake", "nox", "gdb", "cmake"),
}
# They have commands of their own, some of which a script follows; it looks like a file.
_HAVE_VERBS = frozenset(
    {"deno", "bun", "coverage", "dart", "crystal", "wasmtime", "go", "dotnet", "java"}
)
# They read no script from standard input.
_NEED_SCRIPT = frozenset(
    {*SHELLS, *_ONLY_OPTIONS, *_HAVE_VERBS, ".", "source", *_TABLE[-2][0].split(), "Rscript"}
) - {"R"}
_VERBS = frozenset({"exec", "fsi", "run", "script", "watch"})

# Where another machine or a container executes what they are given.
ELSEWHERE = frozenset({
    "adb", "chroot", "clush", "distrobox", "docker", "docker-compose", "dsh", "gcloud", "incus",
    "kubectl", "lxc", "machinectl", "mosh", "multipass", "nerdctl", "nsenter", "oc",
    "parallel-ssh", "pdsh", "podman", "pssh", "salt", "ssh", "systemd-nspawn", "toolbox",
    "vagrant", "wsl",
})  # fmt: skip

_STDIN = Field(STDIN)
_POWERSHELL_FLAGS = ("-no", "-l", "-interactive", "-mta", "-sta")
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
    is_script = by in ("uv", "pipx") and command[0].text.endswith(".py")
    yield ExecutedWord(command[0], by if is_script else "")
    name = _name(command[0])
    if name in ELSEWHERE:
        return
    for word in _find_scripts(command, name):
        yield ExecutedWord(_STDIN if word.text in STDIN_NAMES else word, name)
    for inner in carried(command):
        if isinstance(inner, Argv):
            yield from find_executed_words(inner.words, budget)
        elif isinstance(inner, Code):
            yield ExecutedWord(inner.text, name, is_code=True)
        elif isinstance(inner, Stdin) and not _only_checks(command, name):
            yield ExecutedWord(_STDIN, name)


def _only_checks(words: Words, name: str) -> bool:
    """Whether a shell reads its script to find mistakes in it, and runs nothing."""
    if name not in SHELLS:
        return False
    parsed = parse(words, SHELL_OPTIONS)
    return parsed.has("-n") and not parsed.has("+n")


def _name(program: Field) -> str:
    return program.text.rpartition("/")[2]


def _find_scripts(words: Words, name: str) -> Iterator[Field]:
    name = name if name in _INTERPRETERS else _VERSION.sub("", name)
    interpreter = _INTERPRETERS.get(name)
    if interpreter is None:
        yield from _find_powershell_scripts(words) if name in ("pwsh", "powershell") else ()
        return
    parsed = parse(words, interpreter.options)
    for option, value in parsed.found:
        if option in interpreter.files and value is not None:
            yield value
    at = parsed.operands
    if parsed.has(*interpreter.instead, "--help", "--version") and not parsed.has("+n"):
        module = parsed.value("-m")
        if module is not None and not parsed.has("-c"):
            yield from _find_scripts((module, *words[at:]), module.text)
        return
    shows_version = parsed.has("-v") and not name.startswith(("py", "ipy"))
    if at == len(words) and name not in _NEED_SCRIPT and not shows_version:
        yield _STDIN
    if name in _ONLY_OPTIONS:
        if at < len(words) and name not in _AWKS:
            yield from _find_scripts(words[at:], name)
        return
    if name in _HAVE_VERBS:
        yield from _find_behind_verb(words, at, interpreter)
        return
    for word in words[at:]:
        if word.text != "-" or name not in SHELLS:
            yield word
        if word.exact or not _LONE_SUBSTITUTION.match(word.text):
            return  # else it may be an option, or nothing at all, and the script comes next


def _find_behind_verb(words: Words, at: int, interpreter: _Interpreter) -> Iterator[Field]:
    if at < len(words) and words[at].text in _VERBS:
        at = parse(words, interpreter.options, at + 1).operands
    script = words[at : at + 1]
    yield from (w for w in script if w.text == "-" or "/" in w.text or "." in w.text.strip("."))


def _find_powershell_scripts(words: Words) -> Iterator[Field]:
    """Its options have one dash, any case, and may be cut short; most of them take a value."""
    rest = iter(words[1:])
    for word in rest:
        option = word.text.lower()
        if option[:1] != "-" or option == "-":
            yield word
        elif "-file".startswith(option):
            yield from (next(rest, _STDIN),)
        elif not "-command".startswith(option) and not "-encodedcommand".startswith(option):
            if option != "-i" and not option.startswith(_POWERSHELL_FLAGS):
                next(rest, None)
            continue
        return
