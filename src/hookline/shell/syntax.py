"""Whether a shell or Python can read a text at all; nothing of the text runs."""

import re
import shutil
import subprocess
import warnings
from functools import lru_cache

__all__ = ["find_python_error", "find_shell_error"]

_TIME_LIMIT = 2
_LONGEST = 100_000
_PREFIX = re.compile(r"[^:]*: (?:line )?(\d+): ")
# The rest need not be code.
_END = re.compile(r"^(?:exit|exec)\b.*\n", re.MULTILINE)
# What is read before may change how the rest is read.
_CHANGES_SYNTAX = re.compile(r"\balias\b|\0")


@lru_cache(64)
def find_shell_error(shell: str, text: str) -> str:
    """What a shell of this name says of a text that it cannot read; empty for any other."""
    # Not the one on the person's PATH: there a repository may have put one of its own.
    path = shutil.which(shell, path="/bin:/usr/bin")
    if path is None or shell not in {"sh", "bash", "dash"} or len(text) >= _LONGEST:
        return ""
    if _CHANGES_SYNTAX.search(text):
        return ""
    error = _parse(path, text)
    ends = [found.end() for found in _END.finditer(text)]
    return error if error and all(_parse(path, text[:end]) for end in ends[:8]) else ""


def _parse(path: str, text: str) -> str:
    globs = ["-O", "extglob"] if "extglob" in text and path.endswith("bash") else []
    script = text.encode("utf-8", "surrogateescape")
    try:
        done = subprocess.run(  # noqa: S603 - a shell of the system, which only reads
            [path, *globs, "-n"],
            input=script,
            capture_output=True,
            env={"LC_ALL": "C"},
            timeout=_TIME_LIMIT,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    said = done.stderr.decode("utf-8", "replace").strip().partition("\n")[0]
    return _PREFIX.sub(r"line \1: ", said) if done.returncode else ""


@lru_cache(64)
def find_python_error(text: str) -> str:
    """What this Python says of a text that it cannot read; empty for any other."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "script", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError):
        return ""
    return ""
