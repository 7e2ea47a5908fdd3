"""Many connections to a daemon, each asking again as soon as it is answered, by ``drive.c``."""

import subprocess
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from struct import Struct as Layout
from struct import unpack
from tempfile import TemporaryDirectory

from msgspec import Struct

from bench.compiling import compiled
from bench.scenes import COMMANDS, agent_env, payload
from bench.stage import Stage
from hookline._version import __version__
from hookline.daemon.frames import encode_request
from hookline.daemon.instance import connect

__all__ = ["Asking", "Driven", "ask_all", "cpu_us", "drive", "frames"]

_MARK = "@@@@@@@@"
_LONGEST = 900.0  # seconds of one whole run
_NUMBERS = {count: Layout(f"{count}q") for count in (1, 5)}


class Driven(Struct, frozen=True, kw_only=True):
    """What came of a drive."""

    seconds: float
    us: list[float]
    """Of each event, from the first byte sent to the last one received."""

    cpu_us: float = 0.0
    """What all of them cost the daemon; waiting for a core is not in it."""

    @property
    def per_event(self) -> float:
        """Microseconds of the daemon's."""
        return self.cpu_us / len(self.us)

    @property
    def per_second(self) -> float:
        """Events."""
        return len(self.us) / self.seconds


class Asking(Struct, frozen=True):
    """One connection, and what is asked there: one frame after the other, then the first again."""

    descriptor: int
    frames: Sequence[bytes]


def frames(stage: Stage, session: str, *, count: int, size: int = 2048) -> list[bytes]:
    """As many different ones as there are, with a mark where their numbers belong."""
    env = agent_env(str(stage.root), stage.project)
    return [
        encode_request(
            stage.words,
            version=__version__,
            event="0" * 24 + _MARK,
            cwd=stage.project,
            env=env,
            stdin=payload(which, stage.project, size=size, session=session, digits=_MARK),
        )
        for which in range(min(count, len(COMMANDS)))
    ]


def ask_all(
    asking: Sequence[Asking], *, events: int, seconds: float = 0.0, first: int = 0
) -> Driven:
    """So many events over each of these connections; or those answered in so many seconds.

    ``first`` is the number of the first one: they are counted, so no two frames are the same.
    """
    with TemporaryDirectory() as scratch:
        file = Path(scratch, "questions")
        file.write_bytes(_questions(asking, events, seconds, first))
        done = subprocess.run(
            [compiled("drive"), str(file)],
            capture_output=True,
            check=False,
            timeout=_LONGEST,
            pass_fds=[each.descriptor for each in asking],
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.decode(errors="replace").strip())
    took, *rest = unpack(f"{len(done.stdout) // 8}q", done.stdout)
    us: list[float] = []
    while rest:
        count = rest[0]
        us += [ns / 1e3 for ns in rest[1 : count + 1]]
        rest = rest[count + 1 :]
    return Driven(seconds=took / 1e9, us=us)


def _questions(asking: Sequence[Asking], events: int, seconds: float, first: int) -> bytes:
    """The file that ``drive.c`` reads."""
    out = [_packed(len(asking), events, int(seconds * 1e9), len(asking[0].frames), first)]
    for each in asking:
        out.append(_packed(each.descriptor))
        for frame in each.frames:
            out += [_packed(len(frame)), frame]
    return b"".join(out)


def _packed(*numbers: int) -> bytes:
    return _NUMBERS[len(numbers)].pack(*numbers)


def cpu_us(pid: int) -> float:
    """What a process has computed so far, in microseconds; 0 where the system does not tell."""
    spent = 0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # a thread that has ended meanwhile
            spent += int(file.read_text(encoding="ascii").split()[0])
    return spent / 1e3


def drive(
    stage: Stage,
    *,
    connections: int,
    events: int,
    first: int = 0,
    size: int = 2048,
    seconds: float = 0.0,
) -> Driven:
    """So many events over so many connections, each a session of its own.

    ``seconds``: as many of them as are answered in that time.
    """
    share = max(events // connections, 1)
    with ExitStack() as stack:
        asking = []
        for which in range(connections):
            sock = stack.enter_context(connect(stage.home, __version__, 5.0))
            sock.settimeout(None)
            told = frames(stage, f"bench-{which}", count=share, size=size)
            asking.append(Asking(sock.fileno(), told))
        pid = stage.pid()
        before = cpu_us(pid)
        driven = ask_all(asking, events=share, seconds=seconds, first=first)
        spent = cpu_us(pid) - before
    return Driven(seconds=driven.seconds, us=driven.us, cpu_us=spent)
