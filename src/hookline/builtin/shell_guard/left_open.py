"""Programs that wait for what is typed into them later, which reaches no hook of some platforms."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hookline.builtin.shell_guard.model import Act, Finding, risky

if TYPE_CHECKING:
    from hookline.builtin.shell_guard.reading import Story

__all__ = ["LEAVE_OPEN", "left_open"]

# Their agents go on writing to a command that still runs, and no event is fired for it.
LEAVE_OPEN = frozenset({"codex"})


class _Flags(Struct, frozen=True, kw_only=True):
    """What the letters of a program's short options mean; all others are switches."""

    code: str = ""
    """With one of these it has its code already."""
    tells: str = ""
    """With one of these it only says something about itself."""
    opens: str = ""
    """With one of these it waits although it has code."""
    takes: str = ""
    """Those that have a value, in the same word or as the next one."""
    is_shell: bool = False
    """Values are words of their own, `+x` is an option too, and code ends the matter."""


_SHELL = _Flags(code="c", opens="s", takes="oO", is_shell=True)
_PYTHON = _Flags(code="c", tells="Vh?", opens="i", takes="WX")
_PROGRAMS: Mapping[str, _Flags] = {
    **dict.fromkeys(
        ("bash", "sh", "zsh", "dash", "ksh", "ash", "csh", "tcsh", "mksh", "rbash", "rksh", "rzsh",
         "pdksh", "lksh", "oksh", "yash"),
        _SHELL,
    ),
    "fish": _Flags(code="c", tells="v", takes="CdDpf"),
    **dict.fromkeys(("python", "pypy", "ipython", "bpython", "ptpython"), _PYTHON),
    "node": _Flags(code="epc", tells="vh", opens="i", takes="rC"),
    "nodejs": _Flags(code="epc", tells="vh", opens="i", takes="rC"),
    "perl": _Flags(code="eE", tells="vVh?", opens="d", takes="IMmFiDx"),
    "ruby": _Flags(code="e", tells="vh", takes="rIiECFTxW"),
    "irb": _Flags(tells="vh", takes="rIEW"),
    "php": _Flags(code="rBRFSfl", tells="vimh", opens="a", takes="dcz"),
    "lua": _Flags(code="e", tells="v", opens="i", takes="l"),
    "luajit": _Flags(code="e", tells="v", opens="i", takes="ljO"),
    "deno": _Flags(tells="Vh"),
    "bun": _Flags(code="ep", tells="vh", takes="r"),
    "pwsh": _Flags(),
    "powershell": _Flags(),
    "script": _Flags(code="c", tells="Vh", takes="EIOBTmo"),
}  # fmt: skip
# Modules and words with which a program waits as it does without any.
_MODULES = frozenset({"code", "pdb", "ipdb", "pudb", "IPython", "asyncio", "idlelib", "bpython",
                      "ptpython"})  # fmt: skip
_VERBS: Mapping[str, frozenset[str]] = {
    "node": frozenset({"inspect", "debug"}),
    "nodejs": frozenset({"inspect", "debug"}),
    "deno": frozenset({"repl"}),
    "bun": frozenset({"repl"}),
}
_LONG_TELLS = ("--version", "--help", "--v8-options", "--completion-bash", "--prof-process")
_LONG_CODE = frozenset({"--eval", "--print", "--command", "--test", "--run", "--check"})
_LONG_OPENS = frozenset({"--interactive", "--no-exit"})
_LONG_TAKES = frozenset({
    "--rcfile", "--init-file", "--init-command", "--require", "--import", "--loader",
    "--experimental-loader", "--conditions", "--check-hash-based-pycs",
})  # fmt: skip
_POWERSHELL_CODE = ("-c", "-f", "-e", "-v", "-h", "-?")
_SOURCING = frozenset({".", "source"})

# Names of what is typed; the program that opens one of these waits for it.
_TYPED = re.compile(r"/dev/(?:stdin|tty|console|fd/0|pts/\d+)|/proc/[^/]+/fd/0")


def left_open(story: "Story") -> Iterator[Finding]:
    """What speaks against a text that leaves a program waiting for code."""
    for number, act in enumerate(story.acts):
        if not act.elsewhere and _is_typed_into(act, story.traces.read_by.get(number, ())):
            why = "what is typed into it later reaches no guard"
            yield risky("runs-unseen-code", act.text[:120], why, radius="high")


def _is_typed_into(act: Act, files: Sequence[str]) -> bool:
    if act.name in _SOURCING:
        return any(_is_typed(word, act) for word in act.words[1:2])
    name = act.name.removesuffix(".exe").rstrip("0123456789.")  # `python3.12` is a python
    # Many a project has a `./script` of its own.
    if name not in _PROGRAMS or act.words[0] == "./script":
        return False
    if "-i" in act.words and (_PROGRAMS[name].is_shell or "i" in _PROGRAMS[name].opens):
        return True
    # What comes through a pipe is judged, or asked about, as what it is. Code inside code has its
    # carrier's place, so which file is read there nobody can tell.
    from_file = not act.depth and any(not _is_typed(each, act) for each in files)
    if act.inputs or act.producers or from_file:
        return False
    if name in ("pwsh", "powershell"):
        return _waits_in_windows(act)
    return _Words(act, name).wait()


def _waits_in_windows(act: Act) -> bool:
    words = [word.lower() for word in act.words[1:]]
    if any(word.startswith("-noe") for word in words):
        return True
    has_code = any(word.startswith(_POWERSHELL_CODE) and word != "-" for word in words)
    return not has_code and not any(word[:1] != "-" and word.endswith(".ps1") for word in words)


def _is_typed(path: str, act: Act) -> bool:
    return _TYPED.fullmatch(os.path.normpath(os.path.join(act.cwd, path))) is not None


class _Words:
    """Reads the words of one program as it would itself."""

    def __init__(self, act: Act, name: str) -> None:
        self._act = act
        self._name = name
        self._flags = _PROGRAMS[name]
        self._rest = list(act.words[:0:-1])
        self._opened = False

    def wait(self) -> bool:
        """Whether nothing but what is typed is its code."""
        while self._rest:
            word = self._rest.pop()
            if word == "--" or (word == "-" and self._flags.is_shell):
                break
            if word == "-" or not word.startswith(("-", "+" if self._flags.is_shell else "-")):
                self._rest.append(word)
                break
            settled = self._long(word) if word.startswith("--") else self._short(word)
            if settled is not None:
                return settled
        return self._opened or self._waits_with(self._rest[::-1])

    def _waits_with(self, operands: Sequence[str]) -> bool:
        if self._name == "script":
            return len(operands) < 2  # the first is where it keeps what it saw
        if not operands:
            return True
        first = operands[0]
        if first in _VERBS.get(self._name, ()):
            return True
        if self._name == "deno":
            return any(word == "-" or _is_typed(word, self._act) for word in operands)
        return first == "-" or _is_typed(first, self._act)

    def _long(self, word: str) -> bool | None:
        name, sign, _ = word.partition("=")
        if name.startswith(_LONG_TELLS):
            return False
        if name in _LONG_CODE and not self._flags.is_shell:
            return self._opened
        self._opened = self._opened or name in _LONG_OPENS
        if name in _LONG_TAKES and not sign and self._rest:
            self._rest.pop()
        return None

    def _short(self, word: str) -> bool | None:
        flags = self._flags
        for at, letter in enumerate(word[1:], start=2):
            if letter in flags.code:
                return self._opened and not flags.is_shell
            if letter in flags.tells:
                return False
            if letter == "m" and flags is _PYTHON:
                module = word[at:] or (self._rest.pop() if self._rest else "")
                return self._opened or module.partition(".")[0] in _MODULES
            self._opened = self._opened or letter in flags.opens
            if letter in flags.takes:
                if self._rest and (flags.is_shell or not word[at:]):
                    self._rest.pop()
                if not flags.is_shell:
                    break
        return None
