"""What a person did that makes hookline protect less: kept, and told in every open session."""

import os
import time
from contextlib import suppress
from datetime import datetime

from hookline.model.errors import HooklineError
from hookline.store.session_state import SessionMemories
from hookline.store.sessions import DAY, open_sessions

__all__ = ["last_weakening", "record_weakening"]

_LONGEST = 100_000


def record_weakening(home: str, what: str, *, now: float) -> None:
    """Keep it, and have it told with the next event of every open session. Raises HooklineError."""
    text = f"{what}, at {datetime.fromtimestamp(now):%Y-%m-%d %H:%M:%S}".replace("\n", " ")
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        handle = os.open(_file(home), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        with open(handle, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{now:.3f} {text}\n")
    except OSError as error:
        raise HooklineError(f"`{home}` cannot be written: {error.strerror}") from error
    memories = SessionMemories(home)
    for name in open_sessions(home, now):
        with suppress(HooklineError):  # one damaged memory keeps nobody else from being told
            memories.add_untold(name, text)


def last_weakening(home: str) -> str:
    """The last one, when it is not older than a day; empty if there is none."""
    try:
        with open(_file(home), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LONGEST))
            when, _, text = file.read().decode(errors="replace").splitlines()[-1].partition(" ")
        return text if time.time() - float(when) < DAY else ""
    except (OSError, IndexError, ValueError):
        return ""


def _file(home: str) -> str:
    return os.path.join(home, "weakenings.log")
