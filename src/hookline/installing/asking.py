"""Asks programs: a client that answers JSON lines, and the line that calls us in its settings."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from threading import Timer
from typing import IO

import msgspec

from hookline.model.line_test import LINE_TEST, REPORT_MARK, LineReport

__all__ = ["ask_line", "ask_version", "converse"]

PATIENCE = 20.0
_LONGEST = 4_000_000
_VERSION = re.compile(r"\bv?(\d+)\.(\d+)\.(\d+)")


def ask_version(argv: Sequence[str], *, env: Mapping[str, str], cwd: str) -> tuple[int, ...]:
    """The first version in what a program prints; empty when there is none."""
    try:
        done = subprocess.run(  # noqa: S603 - the client that the person has on their PATH
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ()
    found = _VERSION.search(done.stdout[:_LONGEST].decode(errors="replace"))
    return tuple(int(part) for part in found.groups()) if found else ()


def converse(
    argv: Sequence[str],
    messages: Sequence[Mapping[str, object]],
    *,
    env: Mapping[str, str],
    cwd: str,
    patience: float = PATIENCE,
) -> Mapping[int, object] | None:
    """The result of each message that has an id; None when the program did not answer them all."""
    try:
        process = subprocess.Popen(  # noqa: S603 - the client that the person has on their PATH
            list(argv),
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, ValueError):
        return None
    # Whatever it is waiting for, it does not wait for ever.
    limit = Timer(patience, process.kill)
    limit.start()
    try:
        with process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                return _exchanged(process.stdin, process.stdout, messages)
            except (OSError, ValueError):
                return None
            finally:
                process.terminate()
                with suppress(OSError):
                    process.stdin.close()
    finally:
        limit.cancel()


def _exchanged(
    to: IO[bytes], answers: IO[bytes], messages: Sequence[Mapping[str, object]]
) -> Mapping[int, object] | None:
    results: dict[int, object] = {}
    for message in messages:
        to.write(json.dumps(message).encode() + b"\n")
        to.flush()
        number = message.get("id")
        if isinstance(number, int):
            reply = _reply(answers, number)
            if reply is None or "result" not in reply:
                return None
            results[number] = reply["result"]
    return results


def _reply(answers: IO[bytes], number: int) -> Mapping[str, object] | None:
    """The answer to one message; whatever else the program says meanwhile is passed over."""
    while line := answers.readline(_LONGEST):
        said = json.loads(line)
        if isinstance(said, dict) and said.get("id") == number and "method" not in said:
            return said
    return None


def ask_line(
    line: str, *, env: Mapping[str, str], cwd: str, patience: float = PATIENCE
) -> LineReport | str:
    """What an installed line reports when a shell runs it, or what came instead.

    No daemon is started for it.
    """
    process = subprocess.Popen(  # noqa: S603 - a line that the caller knows for ours
        ["/bin/sh", "-c", line],
        env={**env, "HOOKLINE_NO_DAEMON": "1"},
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        _, said = process.communicate(LINE_TEST, patience)
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"no answer in {patience:g} seconds"
    for each in said.splitlines():
        if each.startswith(REPORT_MARK):
            with suppress(msgspec.MsgspecError):
                return msgspec.json.decode(each.removeprefix(REPORT_MARK), type=LineReport)
    last = said.decode(errors="replace").strip().rpartition("\n")[2][:300]
    return f"exit code {process.returncode}" + (f" and `{last}`" if last else " and no word")
