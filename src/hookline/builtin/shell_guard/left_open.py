"""Programs that wait for what is typed into them later, which reaches no hook of some platforms."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookline.builtin.shell_guard.lazy import lazy
from hookline.builtin.shell_guard.model import Act, Finding, risky

if TYPE_CHECKING:
    from hookline.builtin.shell_guard.reading import Story

__all__ = ["LEAVE_OPEN", "left_open", "may_wait"]

# Their agents go on writing to a command that still runs, and no event is fired for it.
LEAVE_OPEN = frozenset({"codex"})

_SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "fish", "ash", "csh", "tcsh")
_INTERPRETERS = ("python", "python2", "python3", "ipython", "node", "perl", "ruby", "irb", "php",
                 "deno", "bun", "lua", "pwsh", "powershell")  # fmt: skip
_WAITING = frozenset({*_SHELLS, *_INTERPRETERS})
_NAMES = lazy(rf"(?<![\w.-])(?:{'|'.join(sorted(_WAITING))})(?![\w-])")
# With one of these the program has its code already, or only says something about itself.
_HAS_CODE = ("-c", "-e", "-E", "-m", "-r", "-p", "-n", "-v", "-V", "-h", "-?", "--")


def may_wait(command: str) -> bool:
    """Whether a text names such a program at all."""
    return _NAMES.search(command) is not None


def left_open(story: "Story") -> Iterator[Finding]:
    """What speaks against a text that leaves a program waiting for code."""
    if story.traces.sources:
        return  # it has a file for its input
    for act in story.acts:
        if act.name in _WAITING and not act.elsewhere and _is_typed_into(act):
            why = "what is typed into it later reaches no guard"
            yield risky("runs-unseen-code", act.text[:120], why, radius="high")


def _is_typed_into(act: Act) -> bool:
    words = act.words[1:]
    if "-i" in words and act.name not in ("perl", "ruby"):
        return True
    # What comes through a pipe is judged, or asked about, as what it is.
    if act.inputs or act.producers or any(not word.startswith("-") for word in words):
        return False
    return not any(word.startswith(_HAS_CODE) and word != "--" for word in words)
