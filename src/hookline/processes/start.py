"""Starts a program, or says in a person's words why it cannot be started.

Knows ``Popen`` and the reasons of a failed ``exec``; must not know what is said to the child
once it runs.
"""

import errno
import os
from asyncio import sleep
from collections.abc import Mapping, Sequence
from subprocess import Popen

from msgspec import Struct

__all__ = ["CannotStart", "Started", "start"]

# Somebody is still writing the program, or forked while doing so; either is over in a moment.
BUSY_PAUSES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064)


class CannotStart(Exception):
    """The program never ran; the text says why, the cause is what the system said."""


class Started(Struct, frozen=True):
    """A running program, and our ends of its pipes: whoever has it closes them."""

    process: Popen[bytes]
    stdin: int
    stdout: int
    stderr: int


async def start(
    argv: Sequence[str], *, cwd: str, env: Mapping[str, str], umask: int = -1
) -> Started:
    """The running program: leader of its own session, its stdin, stdout and stderr on pipes."""
    if not argv or not argv[0]:
        raise CannotStart("cannot start an empty command")
    pauses = iter(BUSY_PAUSES)
    while True:
        try:
            return _start(argv, cwd, env, umask)
        except ValueError as error:
            raise CannotStart(f"cannot start {argv[0]!r}: {_misspelt(argv, cwd, env)}") from error
        except OSError as error:
            pause = next(pauses, None) if error.errno == errno.ETXTBSY else None
            if pause is None:
                reason = _reason(error, argv, cwd, env)
                raise CannotStart(f"cannot start {argv[0]!r}: {reason}") from error
        await sleep(pause)


def _start(argv: Sequence[str], cwd: str, env: Mapping[str, str], umask: int) -> Started:
    # Pipes of our own: a file object for each end would cost a tenth of what starting costs.
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for read_end_is_theirs in (True, False, False):
            read_end, write_end = os.pipe()
            ours.append(write_end if read_end_is_theirs else read_end)
            theirs.append(read_end if read_end_is_theirs else write_end)
        # Only options under which CPython still takes vfork: a fork would copy the page tables
        # of a large daemon for every hook.
        process = Popen(  # noqa: S603 - running the given program is what this module is for
            argv,
            stdin=theirs[0],
            stdout=theirs[1],
            stderr=theirs[2],
            close_fds=True,
            cwd=cwd,
            env=env,
            start_new_session=True,
            umask=umask,
        )
    except BaseException:
        _close(ours)
        raise
    finally:
        _close(theirs)
    return Started(process, *ours)


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _misspelt(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> str:
    """Which of the strings no system call can carry."""
    places = [(f"argument {index}", text) for index, text in enumerate(argv)]
    places.append(("the working directory", cwd))
    for name, value in env.items():
        if "=" in name:
            return f"the environment variable name {name!r} contains `=`"
        places.append((f"the environment variable {name!r}", name + value))
    for place, text in places:
        if "\0" in text:
            return f"{place} contains a NUL character"
    return "an argument or environment variable is not valid Unicode text"


def _reason(error: OSError, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> str:
    if not os.path.isdir(cwd):
        state = "is not a directory" if os.path.exists(cwd) else "does not exist"
        return f"its working directory {cwd!r} {state}"
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR | errno.EACCES | errno.EPERM | errno.ENOEXEC:
            return _why_not_started(error, argv[0], cwd, env)
        case errno.E2BIG:
            return f"its arguments and environment are too large; {_largest(argv, env)}"
        case errno.EMFILE | errno.ENFILE:
            return "too many files are open"
        case errno.ENOMEM | errno.EAGAIN:
            return "the system is out of memory or at its limit of processes"
        case errno.ETXTBSY:
            return "the program file is still being written by another process"
        case _:
            return os.strerror(error.errno or 0)


def _why_not_started(error: OSError, program: str, cwd: str, env: Mapping[str, str]) -> str:
    if not os.access(cwd, os.X_OK):
        return f"its working directory {cwd!r} may not be entered"
    from shutil import which

    from hookline.shell.programs import Program, find_troubles

    path = os.path.join(cwd, program) if "/" in program else which(program, path=env.get("PATH"))
    named = Program(name=program)
    started = Program(path=path, is_run=True, is_direct=True) if path else named
    for trouble in find_troubles(started, lambda name: which(name, path=env.get("PATH"))):
        return f"{trouble.what} ({trouble.fix})"
    if error.errno == errno.ENOENT:
        return f"{path!r} exists, but not the loader it needs (was it built for another system?)"
    return os.strerror(error.errno or 0)


def _largest(argv: Sequence[str], env: Mapping[str, str]) -> str:
    sizes = {f"argument {index}": len(os.fsencode(text)) for index, text in enumerate(argv)}
    for name, value in env.items():
        sizes[f"the environment variable {name!r}"] = len(os.fsencode(name + value)) + 1
    place, size = max(sizes.items(), key=lambda item: item[1])
    return f"the largest is {place} with {size} bytes"
