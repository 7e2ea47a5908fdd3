"""Starts a program that nobody waits for, yet that has a deadline like any other.

Knows how to leave a supervisor behind; the supervisor itself is ``_supervisor.py``.
"""

import json
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path

from hookline.processes.run import run
from hookline.processes.start import CannotStart

__all__ = ["run_behind"]

_SUPERVISOR = str(Path(__file__).with_name("_supervisor.py"))

# To start an interpreter that imports next to nothing, on a machine that is busy.
_START_SECONDS = 10.0


async def run_behind(
    argv: Sequence[str],
    *,
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    umask: int = -1,
) -> None:
    """Start a program with its input, and go on; its whole group is killed at ``timeout``.

    What it prints goes nowhere. Raises ``CannotStart`` when it never ran.
    """
    order = {"argv": list(argv), "cwd": cwd, "env": dict(env), "timeout": timeout}
    order["stdin"] = b64encode(stdin).decode()
    finished = await run(
        [sys.executable, "-I", "-S", _SUPERVISOR],
        stdin=json.dumps(order).encode(),
        cwd="/",
        env={},
        timeout=_START_SECONDS,
        umask=umask,
    )
    if finished.exit_code != 0:
        why = finished.stderr.decode("utf-8", "replace").strip() or "its supervisor did not start"
        raise CannotStart(f"cannot start {argv[0]!r}: {why}")
