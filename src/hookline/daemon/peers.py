"""Who is at the other end of a Unix socket, as the system says."""

import socket
from struct import Struct as Layout

__all__ = ["peer_pid", "peer_uid"]

# SO_PEERCRED: process, user, group. LOCAL_PEERCRED elsewhere: an xucred, whose version comes first.
_PEER, _PEER_LAYOUT = (
    ((socket.SOL_SOCKET, socket.SO_PEERCRED), Layout("iII"))
    if hasattr(socket, "SO_PEERCRED")
    else ((0, 1), Layout("2Ih66x"))
)


def peer_uid(sock: socket.socket) -> int:
    """Whose process is at the other end."""
    return _peer(sock)[1]


def peer_pid(sock: socket.socket) -> int | None:
    """Its number, as it is called here; None where the system does not tell."""
    return _peer(sock)[0] if hasattr(socket, "SO_PEERCRED") else None


def _peer(sock: socket.socket) -> tuple[int, ...]:
    return _PEER_LAYOUT.unpack(sock.getsockopt(*_PEER, _PEER_LAYOUT.size))
