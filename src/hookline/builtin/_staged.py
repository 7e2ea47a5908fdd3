"""What a commit would bring in: the added lines of git's own diff, bounded in time and size."""

import os
import re
import stat
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen
from threading import Timer
from time import monotonic

from hookline.model.ports import Caller

__all__ = ["staged_lines"]

_TIMEOUT = 5.0
_CAP = 4 << 20
_MAX_FILES = 500
# Neither a repository's configuration nor its attributes may name programs that this would run.
_SAFELY = (
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "safe.bareRepository=explicit",
)
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=0", "--text")
_OTHERS = ("ls-files", "--others", "--exclude-standard", "--full-name", "-z")
_ADDED = re.compile(rb"^\+(?!\+\+ )(.*)$", re.MULTILINE)


def staged_lines(directory: str, caller: Caller, *, unstaged: bool, new: bool) -> str | None:
    """The lines that a commit would add; with ``unstaged`` and ``new`` what is not staged yet.

    None when git did not tell all of it in time. Empty outside of a repository.
    """
    wanted = [(*_DIFF, "--cached"), *([_DIFF] if unstaged or new else [])]
    found = [_asked(directory, caller, *question) for question in wanted]
    if new:
        top = _asked(directory, caller, "rev-parse", "--show-toplevel")
        found.append(_new_files(os.fsdecode(top or b"").strip(), directory, caller))
    if any(each is None for each in found):
        return None
    diffs, rest = found[: len(wanted)], found[len(wanted) :]
    lines = [line for each in diffs for line in _ADDED.findall(each or b"")]
    return b"\n".join([*lines, *(each or b"" for each in rest)]).decode("utf-8", "replace")


def _new_files(top: str, directory: str, caller: Caller) -> bytes | None:
    """What is in the files that git does not know yet and would not ignore."""
    listed = _asked(directory, caller, *_OTHERS)
    names = [os.fsdecode(name) for name in (listed or b"").split(b"\0") if name]
    if listed is None or len(names) > _MAX_FILES:
        return None
    texts, left = [], _CAP
    for name in names if top else ():
        text = _content(os.path.join(top, name), left)
        texts.append(text)
        left -= len(text)
        if left <= 0:
            return None
    return b"\n".join(texts)


def _content(path: str, cap: int) -> bytes:
    try:
        # A pipe that nobody writes to would keep the agent waiting.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return b""
    with open(handle, "rb") as file:
        return file.read(cap) if stat.S_ISREG(os.fstat(handle).st_mode) else b""


def _asked(directory: str, caller: Caller, *question: str) -> bytes | None:
    """What git printed; None when there was more than we wait for, or read."""
    seconds = _TIMEOUT
    if caller.deadline is not None:
        seconds = min(seconds, caller.deadline - monotonic())
    path = [entry for entry in caller.env.get("PATH", "").split(":") if entry.startswith("/")]
    env = {"HOME": caller.env.get("HOME", "/"), "PATH": ":".join(path) or os.defpath}
    late: list[bool] = []
    try:
        process = Popen(  # noqa: S603 - a fixed program with arguments of ours
            ["git", "-C", directory, *_SAFELY, *question],  # noqa: S607 - on a PATH made safe
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            cwd="/",
            env={**env, "GIT_TERMINAL_PROMPT": "0"},
            start_new_session=True,
        )
    except (OSError, ValueError):
        return b""

    def end() -> None:
        late.append(True)
        process.kill()

    with process:
        assert process.stdout is not None
        timer = Timer(max(seconds, 0), end)
        timer.daemon = True
        timer.start()
        try:
            output = process.stdout.read(_CAP)
        finally:
            timer.cancel()
            with suppress(ProcessLookupError):
                process.kill()
    return None if late or len(output) == _CAP else output
