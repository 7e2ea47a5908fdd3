"""Starts a program, or says in a person's words why it cannot be started; and hears of its exit.

Knows ``Popen``, the reasons of a failed ``exec`` and exit notices; must not know what is said to
the child once it runs, nor deadlines.
"""

import errno
import os
from asyncio import AbstractEventLoop, sleep
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from subprocess import Popen
from threading import Thread
from typing import Protocol

from msgspec import Struct

__all__ = ["CannotStart", "Started", "Watch", "start", "watch"]

# Somebody is still writing the program, or forked while doing so; either is over in a moment.
BUSY_PAUSES = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064)

# None sends every child down the portable path, as on a system without pidfds.
open_pidfd: Callable[[int], int] | None = getattr(os, "pidfd_open", None)


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


class Watch(Protocol):
    """A standing order to report one child's exit, and to leave the child unreaped until asked.

    As long as it is unreaped its number cannot pass to a stranger, so its group can still be
    signalled safely.
    """

    def reap(self) -> int | None:
        """The exit code of the exited child, negative for a signal; None when it was lost."""
        ...

    def close(self) -> None: ...


def watch(loop: AbstractEventLoop, pid: int, on_exit: Callable[[], None]) -> Watch:
    """Call ``on_exit`` once, from the loop, when the child ``pid`` has exited."""
    if open_pidfd is not None:
        # Out of descriptors, or in a sandbox that forbids the call, a thread still works.
        with suppress(OSError):
            return _DescriptorWatch(loop, pid, open_pidfd(pid), on_exit)
    return _ThreadWatch(loop, pid, on_exit)


class _DescriptorWatch:
    def __init__(
        self, loop: AbstractEventLoop, pid: int, pidfd: int, on_exit: Callable[[], None]
    ) -> None:
        self._loop = loop
        self._pid = pid
        self._pidfd = pidfd
        self._on_exit = on_exit
        try:
            loop.add_reader(pidfd, self._readable)
        except BaseException:
            os.close(pidfd)
            raise

    def _readable(self) -> None:
        # An exited child's pidfd stays readable: still registered, it would spin the loop.
        self._loop.remove_reader(self._pidfd)
        self._on_exit()

    def reap(self) -> int | None:
        return _reap(self._pid)

    def close(self) -> None:
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)


class _ThreadWatch:
    """One thread per child, not a pool: a full pool would hide the exit of the next child."""

    def __init__(self, loop: AbstractEventLoop, pid: int, on_exit: Callable[[], None]) -> None:
        self._loop = loop
        self._pid = pid
        self._on_exit = on_exit
        self._code: int | None = None
        Thread(target=self._wait, name=f"watch-{pid}", daemon=True).start()

    def _wait(self) -> None:
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        else:
            # macOS before Python 3.13 can only wait by reaping. The group's number stays taken
            # while a member lives, so signalling it a moment later is still all but safe.
            self._code = _reap(self._pid)
        with suppress(RuntimeError):  # the loop was closed: nobody is left to tell
            self._loop.call_soon_threadsafe(self._on_exit)

    def reap(self) -> int | None:
        return _reap(self._pid) if hasattr(os, "waitid") else self._code

    def close(self) -> None:
        """Nothing to undo: the thread ends with the child."""


def _reap(pid: int) -> int | None:
    # Popen.wait() reports 0 for a status it lost (SIGCHLD ignored, a foreign waitpid); to a
    # caller who reads 0 as consent that would be a lie.
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return None
