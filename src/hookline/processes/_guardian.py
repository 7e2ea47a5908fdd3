"""Run as a program: hears of every run on stdin, and when that ends, ends those still under way.

Whoever told us is gone then, and may have been killed before it could end them itself. Imports as
little as it can, since most of its life is waiting.
"""

import os
import signal
import sys
import time
from contextlib import suppress
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

# A program that was only just being started shows its mark a moment later.
PASSES = 3
PAUSE = 0.1


def main() -> None:
    """Waits for the end of stdin."""
    under_way: set[str] = set()
    for line in sys.stdin.buffer:
        sign, token = line[:1], line[1:].strip().decode()
        if sign == b"+":
            under_way.add(token)
        else:
            under_way.discard(token)
    for number in range(PASSES if under_way else 0):
        time.sleep(PAUSE if number else 0)
        for token in under_way:
            _end(_strays(), token)


def _end(strays: Any, token: str) -> None:
    """Kills every process of one run."""
    mark = strays.Mark(token)
    # Its own group first, frozen so that none leaves it behind our back.
    leaders = [pid for pid in mark.bearers() if _group(pid) == pid]
    for leader in leaders or [0]:
        _signal(leader, signal.SIGSTOP)
        strays.kill_strays(leader, mark)
        _signal(leader, signal.SIGKILL)
        strays.kill_strays(leader, mark)


def _group(pid: int) -> int:
    with suppress(ProcessLookupError, PermissionError):
        return os.getpgid(pid)
    return -1


def _signal(group: int, number: signal.Signals) -> None:
    if group:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def _strays() -> Any:
    """The module beside this one: without installed packages there is no other way to it."""
    spec = spec_from_file_location("strays", Path(__file__).with_name("strays.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
