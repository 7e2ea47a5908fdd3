"""Programs that end with us even when we are killed: another process is told of each of them.

Only for a process that is nobody's part, such as a daemon. Must not know how a run ends; the
process that is told is ``_guardian.py``.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen

from hookline.processes.strays import Mark

__all__ = ["guard_runs", "guarded"]

_GUARDIAN = str(Path(__file__).with_name("_guardian.py"))


class _Guarding:
    """The guardian, started with the first run, and what it has to know."""

    def __init__(self) -> None:
        self.wanted = False
        self._under_way: set[str] = set()
        self._pipe = -1
        self._process: Popen[bytes] | None = None

    def begin(self, token: str) -> None:
        self._under_way.add(token)
        if not self._say(f"+{token}\n"):
            self._start()

    def end(self, token: str) -> None:
        self._under_way.discard(token)
        self._say(f"-{token}\n")

    def _say(self, line: str) -> bool:
        if self._pipe < 0:
            return False
        try:
            os.write(self._pipe, line.encode())
        except BlockingIOError:
            return True  # it is there, and is slow; at worst it looks for one that has ended
        except OSError:
            return False  # somebody has killed it
        return True

    def _start(self) -> None:
        """A new one, which is told all that is under way."""
        self._forget()
        # Without one, runs are as they are everywhere else: it is never worth failing for.
        with suppress(OSError):
            theirs, self._pipe = os.pipe()
            try:
                os.set_blocking(self._pipe, False)
                self._process = Popen(  # noqa: S603 - our own interpreter and our own program
                    [sys.executable, "-I", "-S", _GUARDIAN],
                    stdin=theirs,
                    stdout=DEVNULL,
                    stderr=DEVNULL,
                    cwd="/",
                    env={},
                    start_new_session=True,
                )
            finally:
                os.close(theirs)
        if self._process is not None:
            for token in self._under_way:
                self._say(f"+{token}\n")

    def _forget(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
        self._pipe = -1
        if self._process is not None:
            self._process.poll()
            self._process.returncode = 0  # it may outlive us, and nobody waits for it
        self._process = None


_guarding = _Guarding()


def guard_runs() -> None:
    """From now on the programs that this process runs end with it, however it ends."""
    _guarding.wanted = True


@contextmanager
def guarded(mark: Mark) -> Iterator[None]:
    """For the length of one run, if runs are to be guarded here."""
    if not _guarding.wanted:
        yield
        return
    # Before it is started: we may be gone before we know its number.
    _guarding.begin(mark.token)
    try:
        yield
    finally:
        _guarding.end(mark.token)
