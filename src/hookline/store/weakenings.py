"""What a person did that makes hookline protect less: kept, and told in every open session."""

import os
import time
from contextlib import suppress
from datetime import datetime

import msgspec
from msgspec import Struct

from hookline.model.errors import HooklineError
from hookline.store.memory import SessionMemories
from hookline.store.sessions import DAY, open_sessions

__all__ = ["last_weakening", "record_weakening"]

_MOST = 100_000


class _Weakening(Struct, frozen=True):
    time: float
    what: str

    def __str__(self) -> str:
        return f"{self.what}, at {datetime.fromtimestamp(self.time):%Y-%m-%d %H:%M:%S}"


def record_weakening(home: str, what: str, *, now: float) -> None:
    """Keep it, and have it told with the next event of every open session. Raises HooklineError."""
    weakening = _Weakening(now, what)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        with open(_file(home), "ab", opener=_open_private) as file:
            file.write(msgspec.json.encode(weakening) + b"\n")
    except OSError as error:
        raise HooklineError(f"`{home}` cannot be written: {error.strerror}") from error
    memories = SessionMemories(home)
    for name in open_sessions(home, now):
        with suppress(HooklineError):  # one damaged memory keeps nobody else from being told
            memories.add_untold(name, str(weakening))


def last_weakening(home: str) -> str:
    """The last one, when it is not older than a day; empty if there is none."""
    try:
        with open(_file(home), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MOST))
            last = msgspec.json.decode(file.read().splitlines()[-1], type=_Weakening)
    except (OSError, IndexError, msgspec.MsgspecError):
        return ""
    return str(last) if time.time() - last.time < DAY else ""


def _file(home: str) -> str:
    return os.path.join(home, "weakenings.jsonl")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC, 0o600)
