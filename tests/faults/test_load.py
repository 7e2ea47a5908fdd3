"""A real daemon under load, and lost there."""

import json
import os
import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socket import socket
from struct import unpack
from threading import Event, Thread
from typing import BinaryIO

import pytest

from hookline._version import __version__
from hookline.daemon.frames import encode_request
from hookline.daemon.instance import connect
from support.faults import World, is_alive
from support.serving import eventually

pytestmark = pytest.mark.slow

AGENTS = 12
_MARK = b"0123456789abcdef" * 2
ROUNDS = int(os.environ.get("HOOKLINE_FAULT_ROUNDS", "60")) // 10
SEED = int(os.environ.get("HOOKLINE_FAULT_SEED", "4"))


class Flood:
    """Agents that ask without a pause, each over one connection for as long as that lasts."""

    def __init__(self, place: World) -> None:
        self._place = place
        self._over = Event()
        self.answered: dict[str, None] = {}
        self.wrong: list[bytes] = []
        self._frames = [self._frame(which) for which in range(AGENTS)]
        self._threads = [Thread(target=self._agent, args=[which]) for which in range(AGENTS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def until(self, answered: int) -> None:
        """Waits for so many answers in all."""
        eventually(lambda: len(self.answered) >= answered)

    def _agent(self, which: int) -> None:
        while not self._over.is_set():
            # What is lost on the way a real client would ask elsewhere.
            with (
                suppress(OSError),
                connect(str(self._place.state), __version__, 60) as sock,
                sock.makefile("rb") as heard,
            ):
                while not self._over.is_set() and self._ask(which, sock, heard):
                    pass

    def _ask(self, which: int, sock: socket, heard: BinaryIO) -> bool:
        number = os.urandom(16).hex()
        sock.sendall(self._frames[which].replace(_MARK, number.encode()))
        while (kind := heard.read(1)) in {b"A", b"K"}:
            pass
        if kind != b"R":
            return False  # a refusal, or the end
        header = heard.read(9)
        if len(header) < 9:
            return False
        _, out, err = unpack(">BII", header)
        text = heard.read(out + err)
        if len(text) < out + err:
            return False
        if b'"deny"' not in text:
            self.wrong.append(text)
        self.answered[number] = None
        return True

    def _frame(self, which: int) -> bytes:
        """Large, so that the daemon has more to do with it than we have."""
        place = self._place
        own = ("--home", str(place.state), "--user-config", str(place.user_dir))
        payload = place.payload("PreToolUse", f"{place.mark}-agent-{which}", "rm -rf build")
        return encode_request(
            ("hook", "claude-code", "PreToolUse", *own),
            version=__version__,
            event=_MARK.decode(),
            cwd=str(place.project),
            env={"PATH": "/usr/bin:/bin"},
            stdin=json.dumps({**payload, "padding": "words of no meaning " * 2000}).encode(),
        )


@contextmanager
def flood(place: World) -> Iterator[Flood]:
    found = Flood(place)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def in_journal(place: World, flood: Flood) -> None:
    """Every event that was answered is there, once."""
    # What could not be written while another held the journal comes when that is over.
    eventually(lambda: set(flood.answered) <= {number for (number,) in place.rows("id")})
    rows = [number for (number,) in place.rows("id")]
    assert len(rows) == len(set(rows))
    assert place.is_sound()


def test_all_that_is_answered_under_load_is_in_the_journal_once(place: World) -> None:
    before = place.daemon().answered
    with flood(place) as asked:
        asked.until(2000)
    # It counts an answer a moment after the client has it.
    eventually(lambda: place.daemon().answered - before >= len(asked.answered))
    assert not asked.wrong
    in_journal(place, asked)


def test_kills_under_load_lose_no_verdict_and_nothing_that_was_answered(place: World) -> None:
    rng = random.Random(SEED)
    with flood(place) as asked:
        for _ in range(ROUNDS):
            pid = place.daemon().pid
            asked.until(len(asked.answered) + rng.randrange(1, 200))
            os.kill(pid, signal.SIGKILL)
            assert place.ask("rm -rf build").blocks
            eventually(lambda gone=pid: not is_alive(gone))
    assert not asked.wrong
    in_journal(place, asked)
    place.stop()
    assert not place.serving()
