"""The thin client in Python: hands an event to the daemon and its answer back, byte for byte.

Keeps the rules of client.c, one to one; see there. Every import costs the agent time at each event,
so only modules written in C are used here, and nothing of ours but what is needed when all is not
well (``thin_cold``).
"""

import _socket
import posix
import select
import sys
import time

__all__ = ["Refused", "Talk", "Unanswered", "folder", "main"]

TYPE_CHECKING = False  # spares us the import of typing
if TYPE_CHECKING:
    from hookline.client import thin_cold
    from hookline.client.thin_io import Signals, deliver, hold_standard_descriptors, wait

    Reply = tuple[bytes, bytes, int]
else:
    from thin_io import Signals, deliver, hold_standard_descriptors, wait

ACKNOWLEDGED_IN = 0.25
SILENT_FOR = 2.0
TIME_BYTES = 5
VALUED = {"--home", "--user-config", "--config", "--timeout"}


class Unanswered(Exception):
    """There is no answer, and this is why."""


class Refused(Unanswered):
    """The event was turned away before any of its hooks ran."""


def main() -> int:
    """Answers the event on stdin; returns the exit code."""
    started = time.monotonic()
    if len(sys.argv) < 3 or sys.argv[2] != "hook":
        hold_standard_descriptors()
        usage = b"usage: thin.py PYTHON hook DIALECT [EVENT] [options]\n"
        deliver(b"", usage, started + 1)
        return 64
    words, values = _sorted_out(sys.argv[3:])
    deadline = started + _allowance(values.get("--timeout"))
    cwd, gone, why = b"", True, ""
    try:
        hold_standard_descriptors()
        Signals.heed()
        cwd, gone = _directory()
        out, err, code = _ask(cwd, values, started, deadline)
        if deliver(out, err, deadline):
            return code
    except BaseException as exc:  # whatever it is, a gate closes
        why = str(exc) if isinstance(exc, Unanswered) else f"{type(exc).__name__}: {exc}"
    # Not before the error has let go of the payload, which may have taken all the memory.
    Signals.give_back()
    _load_cold()
    if not why:
        return thin_cold.undelivered(words)
    return thin_cold.give_last_answer(words, values, None if gone else cwd, why)


def _load_cold() -> None:
    """Import what is needed only now."""
    globals()["thin_cold"] = __import__("thin_cold")


def _sorted_out(argv: list[str]) -> tuple[tuple[str | None, str | None], dict[str, str]]:
    """Dialect and event, and the options; as `hookline hook` reads them, the last one counts."""
    words: list[str | None] = []
    values: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        if word in VALUED:
            values[word] = next(rest, "")
        elif word == "--trust-env":
            values[word] = ""
        elif not word.startswith("-"):
            words.append(word)
    dialect, event = (*words, None, None)[:2]
    return (dialect, event), values


def _allowance(timeout: str | None) -> float:
    """How long everything may take: the platform's limit, less what we need to speak first."""
    try:
        seconds = float(timeout or "")
    except ValueError:
        return 600.0
    return max(0.9 * seconds - 0.5, 0.2) if 0 < seconds <= 1e9 else 600.0


def _directory() -> tuple[bytes, bool]:
    """Where we are, or were before it was removed; empty when nobody can say it. And if it is gone.

    The name that it had still tells whose project this is.
    """
    try:
        return posix.getcwdb(), False
    except OSError:
        pass
    try:
        name, deleted, rest = posix.readlink(b"/proc/self/cwd").rpartition(b" (deleted)")
        removed = posix.stat(".").st_nlink == 0  # else it may be called so, and be out of reach
    except OSError:
        return b"", True
    known = removed and deleted and not rest and name.startswith(b"/")
    return (name if known else b""), True


def _ask(cwd: bytes, values: dict[str, str], started: float, deadline: float) -> "Reply":
    version = _version()
    event_id = _event_id()
    words = [
        word.encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
        for word in sys.argv[2:]
    ]
    variables = [name + b"=" + value for name, value in posix.environ.items()]
    umask = posix.umask(0o077)
    context = [cwd, b"%d" % umask, b"%d" % len(words), *words]
    context += [b"%d" % len(variables), *variables]
    context.append(_payload(deadline))
    attempt = b"1"
    once = posix.environ.get(b"HOOKLINE_NO_DAEMON") == b"1"
    if not once:
        acknowledged_by = time.monotonic() + ACKNOWLEDGED_IN
        daemon = _dial(values.get("--home", ""), version, min(acknowledged_by, deadline))
        if daemon is not None:
            request = _frame(version, event_id, attempt, _spent(started), context)
            try:
                return Talk(daemon, request).converse(deadline, acknowledged_by, SILENT_FOR)
            except Refused:
                pass
            except Unanswered:
                attempt = b"2"
            daemon.close()
        if Signals.told or time.monotonic() >= deadline:
            raise Unanswered("the daemon gave no answer in time")
    _load_cold()
    request = _frame(version, event_id, attempt, _spent(started), context)
    return thin_cold.ask_new_process(request, deadline, once=once)


def _event_id() -> bytes:
    """Begins with the time; client.c says why."""
    moment = int(time.time() * 1000) % (1 << 8 * TIME_BYTES)
    drawn = posix.urandom(16 - TIME_BYTES)
    return (moment.to_bytes(TIME_BYTES, "big") + drawn).hex().encode()


def _spent(started: float) -> bytes:
    """Milliseconds since we began: whoever answers takes them off the time that there is."""
    return b"%d" % min((time.monotonic() - started) * 1000, 999_999_999)


def _version() -> bytes:
    """Read, not imported: importing it would import all of hookline."""
    file = posix.open(f"{folder()}/../_version.py", posix.O_RDONLY)
    text = posix.read(file, 65536)
    posix.close(file)
    return text.split(b'__version__ = "')[1].split(b'"')[0]


def folder() -> str:
    """Where we lie."""
    return __file__.rpartition("/")[0] or "."


def _frame(
    version: bytes, event_id: bytes, attempt: bytes, spent: bytes, context: list[bytes]
) -> bytes:
    fields = (version, event_id, attempt, spent, *context)
    body = b"".join([part for field in fields for part in (len(field).to_bytes(4, "big"), field)])
    return b"HKL1" + len(body).to_bytes(4, "big") + body


def _payload(deadline: float) -> bytes:
    pieces: list[bytes] = []
    while True:
        late = not wait({0: select.POLLIN}, deadline) or time.monotonic() >= deadline
        if late:
            raise Unanswered("the payload did not come to its end in time")
        try:
            piece = posix.read(0, 1 << 20)
        except BlockingIOError:
            continue
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


class Talk:
    """One request and what comes back."""

    def __init__(self, socket: _socket.socket, request: bytes) -> None:
        socket.setblocking(False)
        self._socket = socket
        self._left = memoryview(request)
        self._heard = bytearray()
        self.acknowledged = False

    def converse(self, deadline: float, acknowledged_by: float, silent_for: float) -> "Reply":
        """The answer. Raises Unanswered."""
        patience = acknowledged_by
        number = self._socket.fileno()
        self._send_some()
        while True:
            events = select.POLLIN | (select.POLLOUT if self._left else 0)
            ready = wait({number: events}, min(patience, deadline))
            if not ready:
                over = time.monotonic() >= deadline
                late = "the time that it had is over" if over else "the daemon was silent too long"
                raise Unanswered(late)
            if ready[number] & select.POLLOUT:
                self._send_some()
            if ready[number] & ~select.POLLOUT:
                ended = self._hear_some()
                answer = self._understood()
                if answer is not None:
                    return answer
                if ended:
                    raise Unanswered("the process that was asked ended without an answer")
                if self.acknowledged:
                    patience = time.monotonic() + silent_for
            if time.monotonic() >= deadline:
                raise Unanswered("the time that it had is over")

    def _send_some(self) -> None:
        try:
            while self._left:
                self._left = self._left[self._socket.send(self._left) :]
        except BlockingIOError:
            pass
        except OSError:
            self._left = self._left[:0]  # it takes no more; it may still have something to say

    def _hear_some(self) -> bool:
        try:
            piece = self._socket.recv(1 << 18)
        except BlockingIOError:
            return False
        except OSError:
            return True
        self._heard += piece
        return not piece

    def _understood(self) -> "Reply | None":
        heard = self._heard
        while heard:
            kind = heard[0]
            if kind in b"AK":
                self.acknowledged = self.acknowledged or kind == ord("A")
                del heard[:1]
            elif kind in b"VB":
                if len(heard) < 3 or len(heard) - 3 < int.from_bytes(heard[1:3], "big"):
                    return None
                raise Refused("the daemon turned the event away")
            elif kind == ord("R"):
                return _answer(heard)
            else:
                raise Unanswered("what came back is not the protocol")
        return None


def _answer(heard: bytearray) -> "Reply | None":
    end = 10 + int.from_bytes(heard[2:6], "big")
    last = end + int.from_bytes(heard[6:10], "big")
    if len(heard) < 10 or len(heard) < last:
        return None
    return bytes(heard[10:end]), bytes(heard[end:last]), heard[1]


def _dial(home: str, version: bytes, until: float) -> _socket.socket | None:
    """A connection to the daemon, if one is there and nobody else can have put it there."""
    if not home.startswith("/"):
        return None
    try:
        directory = posix.open(
            _run_directory(home, version), posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW
        )
    except OSError:
        return None
    try:
        if not _is_ours_alone(posix.fstat(directory)):
            return None
        # The name is short and means that directory, whatever becomes of its path.
        posix.fchdir(directory)
        socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    except OSError:
        return None
    finally:
        posix.close(directory)
    if _connect(socket, until) and _peer(socket) == posix.getuid():
        return socket
    socket.close()
    return None


def _connect(socket: _socket.socket, until: float) -> bool:
    socket.setblocking(False)
    while True:
        try:
            socket.connect("daemon.sock")
        except BlockingIOError:  # a full queue cannot be waited for, only tried again
            turn = time.monotonic() + 0.005
            if turn > until or Signals.told:
                return False
            wait({}, turn)
        except OSError:
            return False
        else:
            return True


def _peer(socket: _socket.socket) -> int:
    """The user behind a socket."""
    # Linux: pid, uid, gid; macOS: version, uid, … (SOL_LOCAL, LOCAL_PEERCRED)
    level, option = _socket.SOL_SOCKET, getattr(_socket, "SO_PEERCRED", 0)
    if not option:
        level, option = 0, 1
    try:
        return int.from_bytes(socket.getsockopt(level, option, 12)[4:8], sys.byteorder)
    except OSError:
        return -1


def _run_directory(home: str, version: bytes) -> str:
    key = 0xCBF29CE484222325
    try:
        # In a container the same names may be other files: its daemon must not judge for us.
        mounts = b"%d" % posix.stat("/proc/self/ns/mnt").st_ino
    except OSError:
        mounts = b""
    encoded = home.encode(sys.getfilesystemencoding(), "surrogateescape")
    for byte in b"\0".join((encoded, version, mounts)):
        key = (key ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    users = f"/run/user/{posix.getuid()}"
    try:
        ours = _is_ours_alone(posix.lstat(users))
    except OSError:
        ours = False
    return f"{users}/hookline-{key:016x}" if ours else f"{home}/run-{key:016x}"


def _is_ours_alone(found: posix.stat_result) -> bool:
    return found.st_mode == 0o040700 and found.st_uid == posix.getuid()
