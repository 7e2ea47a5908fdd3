"""Programs started in turns by ``spawn.c``, a parent that costs next to nothing itself."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
from msgspec import Struct

from bench.compiling import compiled
from bench.spread import Spread, spread

__all__ = ["Program", "Timed", "run", "words"]

_LONGEST = 900.0  # seconds of one whole run


class Program(Struct, frozen=True, kw_only=True):
    """What is started in each round."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: str
    inputs: Sequence[str]
    """Files: in round r the r-th is its stdin, and the first again behind the last."""
    says: str = ""
    """Must be in what it wrote to stdout last: a fast failure is no fast answer."""


class Timed(Struct, frozen=True, kw_only=True):
    """One program's timings."""

    us: list[float]
    stdout: str
    stderr: str

    @property
    def spread(self) -> Spread:
        """Its middle and its tail."""
        return spread(self.us)


class _Result(Struct, frozen=True):
    ns: list[int]
    exit: int
    failures: int
    stdout: str
    stderr: str


def run(programs: Sequence[Program], *, rounds: int, warm: int) -> dict[str, Timed]:
    """All of them in turns, ``rounds`` times each after ``warm`` that do not count."""
    with TemporaryDirectory() as scratch:
        file = Path(scratch, "words")
        file.write_bytes(words(programs, rounds=rounds, warm=warm))
        done = subprocess.run(
            [compiled("spawn"), str(file)], capture_output=True, check=False, timeout=_LONGEST
        )
    if done.returncode != 0:
        raise RuntimeError(f"spawn: {done.stderr.decode(errors='replace')}")
    results = msgspec.json.decode(done.stdout, type=list[_Result])
    return {
        program.name: _checked(program, result)
        for program, result in zip(programs, results, strict=True)
    }


def words(programs: Sequence[Program], *, rounds: int, warm: int) -> bytes:
    """The file that ``spawn.c`` reads: words that each end in a NUL."""
    out = [str(rounds), str(warm), str(len(programs))]
    for program in programs:
        env = [f"{name}={value}" for name, value in program.env.items()]
        out += [program.name, program.cwd]
        for several in (program.argv, env, program.inputs):
            out += [str(len(several)), *several]
    return b"".join(os.fsencode(word) + b"\0" for word in out)


def _checked(program: Program, result: _Result) -> Timed:
    if result.failures or program.says not in result.stdout:
        raise RuntimeError(
            f"{program.name}: {result.failures} of {len(result.ns)} runs failed; the last one "
            f"ended with {result.exit}, wrote {result.stdout!r} and {result.stderr!r}, and "
            f"{program.says!r} was expected on stdout"
        )
    return Timed(us=[ns / 1e3 for ns in result.ns], stdout=result.stdout, stderr=result.stderr)
