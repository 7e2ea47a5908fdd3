"""Asks a running daemon something, and waits for the answer: for people's commands."""

import os
import socket
from contextlib import suppress
from struct import unpack
from time import monotonic

import msgspec

from hookline.daemon.frames import encode_request
from hookline.daemon.instance import connect
from hookline.daemon.status import Status
from hookline.model.outcome import Reply

__all__ = ["ask", "ask_status"]


def ask(home: str, argv: tuple[str, ...], *, version: str, timeout: float = 2.0) -> Reply | None:
    """The daemon's answer; None when there is no daemon, or none that answers."""
    deadline = monotonic() + timeout
    with suppress(OSError), connect(home, version, timeout) as sock:
        sock.sendall(encode_request(argv, version=version, event=os.urandom(16).hex()))
        return _reply(sock, deadline)
    return None


def ask_status(home: str, *, version: str, timeout: float = 2.0) -> Status | None:
    """What the daemon says of itself; None when there is none that answers."""
    reply = ask(home, ("daemon", "status"), version=version, timeout=timeout)
    if reply is None:
        return None
    try:
        return msgspec.json.decode(reply.stdout, type=Status)
    except msgspec.MsgspecError:
        return None


def _reply(sock: socket.socket, deadline: float) -> Reply | None:
    while (kind := _exactly(sock, 1, deadline)) in {b"A", b"K"}:
        pass
    if kind != b"R":
        return None  # refused
    code, stdout, stderr = unpack(">BII", _exactly(sock, 9, deadline))
    return Reply(
        exit_code=code,
        stdout=_exactly(sock, stdout, deadline),
        stderr=_exactly(sock, stderr, deadline),
    )


def _exactly(sock: socket.socket, count: int, deadline: float) -> bytes:
    got = bytearray()
    while len(got) < count:
        # Keep-alives alone are no answer, so the whole has one deadline.
        sock.settimeout(max(deadline - monotonic(), 0.001))
        more = sock.recv(count - len(got))
        if not more:
            raise ConnectionError("the daemon has gone")
        got += more
    return bytes(got)
