"""Run as a program: starts one child in a session of its own, and ends its group in time.

Stays alive as long as the child, detached from whoever started it. Imports as little as it can,
since a process starts it and waits until the child runs.
"""

import json
import os
import signal
import sys
from base64 import b64decode
from contextlib import suppress
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired


def main() -> int:
    """0 when the child runs; the caller is then rid of both."""
    order = json.loads(sys.stdin.buffer.read())
    told, tell = os.pipe()
    if os.fork():
        os.close(tell)
        why = os.read(told, 4096)
        sys.stderr.buffer.write(why)
        return 1 if why else 0
    os.close(told)
    os.setsid()
    for number in (0, 1, 2):
        os.dup2(os.open(os.devnull, os.O_RDWR), number)
    try:
        child = Popen(  # noqa: S603 - running the given program is what this is for
            order["argv"],
            cwd=order["cwd"],
            env=order["env"],
            stdin=PIPE,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        os.write(tell, (error.strerror or "unknown reason").encode())
        return 1
    os.close(tell)
    with suppress(TimeoutExpired, OSError):
        child.communicate(b64decode(order["stdin"]), timeout=order["timeout"])
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    return 0


if __name__ == "__main__":
    sys.exit(main())
