"""What a client runs as its hook while it is being recorded: keeps the payload, and says nothing.

Runs as a script, on its own and with the standard library alone: ``python -I -S _spy.py DIR hook
DIALECT EVENT …``. Of the environment it keeps the names. No value ever leaves the process.
"""

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

__all__ = ["keep"]


def keep(folder: str, event: str, payload: bytes, env: Mapping[str, str]) -> None:
    """One payload as one file, which is there whole or not at all."""
    name = f"{time.time_ns()}-{os.getpid()}"
    seen = {
        "event": event,
        "env_names": sorted(env),
        "payload": payload.decode("utf-8", "replace"),
    }
    unfinished = os.path.join(folder, f".{name}")
    with open(unfinished, "w", encoding="utf-8") as file:
        json.dump(seen, file)
    os.rename(unfinished, os.path.join(folder, f"{name}.json"))


def _main(words: Sequence[str]) -> None:
    folder, event = words[0], words[3]
    # A client that is only watched must go on as if nobody watched: whatever fails here, it is
    # never told.
    with suppress(OSError):
        keep(folder, event, sys.stdin.buffer.read(), os.environ)


if __name__ == "__main__":
    _main(sys.argv[1:])
