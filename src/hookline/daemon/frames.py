"""The words that clients and the daemon exchange: one request, a few short messages, one answer.

All integers are big-endian. Knows bytes only: nothing here waits, reads or writes.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from struct import Struct as Layout

from msgspec import Struct

from hookline.model.errors import HooklineError
from hookline.model.outcome import Reply

__all__ = [
    "ACKNOWLEDGED",
    "KEEP_ALIVE",
    "LARGEST",
    "CallCache",
    "ClientRequest",
    "Decoder",
    "FrameError",
    "Respond",
    "TooLarge",
    "encode_answer",
    "encode_busy",
    "encode_other_version",
    "encode_request",
]

ACKNOWLEDGED = b"A"
KEEP_ALIVE = b"K"
LARGEST = 256 << 20
"""Bytes of one request, beyond which it is refused before its body is read."""

_MAGIC = b"HKL1"
_HEADER = 8
_LONGEST_TEXT = 0xFFFF
_LONGEST_VERSION = 64
_LONGEST_NUMBER = 9
_KEPT_CALLS = 16
_KEPT_CALL = 1 << 16
_ID = re.compile(rb"[0-9a-f]{32}").fullmatch
_U32 = Layout(">I").unpack_from
_PACKED_U32 = Layout(">I").pack
_PACKED_U16 = Layout(">H").pack
_PACKED_ANSWER = Layout(">cBII").pack


class FrameError(HooklineError):
    """What arrived is no request."""


class TooLarge(FrameError):
    """The request says that it is longer than any may be."""


class ClientRequest(Struct, frozen=True, gc=False):
    """One call of a client, as it would have called ``hookline`` itself."""

    version: str
    id: str
    """Chosen by the client, the same for every attempt on one event."""
    attempt: int
    cwd: str
    umask: int
    """With which the client's files are made, and those of its hooks."""
    argv: tuple[str, ...]
    """The words after ``hookline``."""
    env: dict[str, str]
    stdin: bytes
    arrived: float
    """When the client began, by the monotonic clock: deadlines count from here."""
    client_pid: int = 0
    """The number of its process; 0 where that is not known."""


Respond = Callable[[ClientRequest], Awaitable[Reply]]
"""What answers a request. Cancelled when nobody waits for the answer any more."""


class _CallContext(Struct, frozen=True):
    """What is the same for every event of an agent: where it is, and with what it calls."""

    cwd: str
    umask: int
    argv: tuple[str, ...]
    env: dict[str, str]


class CallCache:
    """Where the last calls came from, their words and variables: an agent's are always the same.

    Reading them anew costs more than all the rest of a request. What is kept is cleared when nobody
    asks for a while, and never leaves the process.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[bytes, _CallContext]] = []

    def read(self, got: bytes | bytearray, at: int, end: int) -> tuple[int, _CallContext]:
        """The call that begins here, and where it ends. Raises FrameError."""
        for index, (raw, call) in enumerate(self._kept):
            if got.startswith(raw, at, end):
                if index:
                    self._kept.insert(0, self._kept.pop(index))
                return at + len(raw), call
        stop, call = _read_call(got, at, end)
        if stop - at <= _KEPT_CALL:
            self._kept.insert(0, (bytes(got[at:stop]), call))
            del self._kept[_KEPT_CALLS:]
        return stop, call

    def clear(self) -> None:
        """Keeps nothing."""
        self._kept.clear()


class Decoder:
    """Puts requests together from bytes that arrive in any pieces."""

    __slots__ = ("_calls", "_client", "_got", "length")

    def __init__(self, calls: CallCache | None = None, client_pid: int = 0) -> None:
        self._calls = calls or CallCache()
        self._client = client_pid
        self._got: bytes | bytearray = b""
        self.length: int | None = None
        """Bytes of the request after its header, once the header is there."""

    def feed(self, data: bytes) -> None:
        """Takes what has arrived. Raises FrameError."""
        if not self._got:
            self._got = data
        else:
            if isinstance(self._got, bytes):
                self._got = bytearray(self._got)
            self._got += data
        if self.length is None:
            self.read_header()

    def read_header(self) -> None:
        """Looks for the beginning of a request in what is there. Raises FrameError."""
        got = self._got
        if got[:4] != _MAGIC[: len(got)]:
            raise FrameError("these are not the words of a hookline client")
        if len(got) >= _HEADER:
            self.length = _U32(got, 4)[0]
            if self.length > LARGEST:
                raise TooLarge(f"a request has {LARGEST >> 20} MB at most")

    @property
    def complete(self) -> bool:
        """Whether a whole request is there."""
        return self.length is not None and len(self._got) >= _HEADER + self.length

    @property
    def empty(self) -> bool:
        """Whether nothing is there, not even a part of a request."""
        return not self._got

    def take(self, sent: float) -> ClientRequest:
        """The request; what came after it is kept for the next one. Raises FrameError.

        ``sent`` is when its first bytes were on their way, by the monotonic clock.
        """
        got, length = self._got, self.length
        assert length is not None
        end = _HEADER + length
        self._got, self.length = b"", None
        request = _read_request(got, end, sent, self._calls, self._client)
        if len(got) > end:
            self._got = bytes(got[end:])
        return request


def _read_request(
    got: bytes | bytearray, end: int, sent: float, calls: CallCache, client: int
) -> ClientRequest:
    at, (version, event, attempt, spent) = _read_fields(got, _HEADER, end, 4)
    at, call = calls.read(got, at, end)
    if at + 4 > end or at + 4 + _U32(got, at)[0] != end:
        raise FrameError("the payload does not end where the request does")
    at += 4
    return ClientRequest(
        _read_version(version),
        _read_event_id(event),
        _read_number(attempt),
        call.cwd,
        call.umask,
        call.argv,
        call.env.copy(),  # whoever has it may change it
        got[at:end] if isinstance(got, bytes) else bytes(memoryview(got)[at:end]),
        sent - _read_number(spent) / 1000,
        client,
    )


def _read_call(got: bytes | bytearray, at: int, end: int) -> tuple[int, _CallContext]:
    at, (cwd, umask, count) = _read_fields(got, at, end, 3)
    at, words = _read_fields(got, at, end, _read_number(count))
    at, (count,) = _read_fields(got, at, end, 1)
    at, entries = _read_fields(got, at, end, _read_number(count))
    env: dict[str, str] = {}
    for entry in entries:
        name, found, value = str(entry, "utf-8", "surrogateescape").partition("=")
        # What has no name could not be given to a program that a hook runs.
        if found and name:
            env[name] = value
    argv = tuple([str(word, "utf-8", "surrogateescape") for word in words])
    call = _CallContext(
        str(cwd, "utf-8", "surrogateescape"), _read_number(umask) & 0o777, argv, env
    )
    return at, call


def _read_fields(
    got: bytes | bytearray, at: int, end: int, count: int
) -> tuple[int, list[bytes | bytearray]]:
    # Every field has a length of four bytes, so a count that cannot be true costs nothing.
    if count * 4 > end - at:
        raise FrameError("it has fewer fields than it says")
    found: list[bytes | bytearray] = []
    for _ in range(count):
        start = at + 4
        if start > end:
            raise FrameError("it ends within a field")
        at = start + _U32(got, at)[0]
        if at > end:
            raise FrameError("a field is longer than what is left")
        found.append(got[start:at])
    return at, found


def _read_number(field: bytes | bytearray) -> int:
    if not 0 < len(field) <= _LONGEST_NUMBER or not field.isdigit():
        raise FrameError("a count or the attempt is not a number")
    return int(field)


def _read_version(field: bytes | bytearray) -> str:
    if len(field) > _LONGEST_VERSION or not field.isascii():
        raise FrameError("the version is not a version")
    return str(field, "ascii")


def _read_event_id(field: bytes | bytearray) -> str:
    # It becomes a key of what is stored, and so is held to its form.
    if not _ID(field):
        raise FrameError("the event's id is not 32 hexadecimal digits")
    return str(field, "ascii")


def encode_request(
    argv: Sequence[str],
    *,
    version: str,
    event: str,
    attempt: int = 1,
    spent: int = 0,
    cwd: str = "/",
    umask: int = 0o077,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
) -> bytes:
    """A request, as clients send it; ``spent`` are the milliseconds since the client began."""
    variables = [f"{name}={value}" for name, value in (env or {}).items()]
    texts = [version, event, str(attempt), str(spent), cwd, str(umask), str(len(argv)), *argv]
    texts += [str(len(variables)), *variables]
    fields = [text.encode("utf-8", "surrogateescape") for text in texts]
    body = b"".join([_encode_field(field) for field in (*fields, stdin)])
    return _MAGIC + _PACKED_U32(len(body)) + body


def _encode_field(content: bytes) -> bytes:
    return _PACKED_U32(len(content)) + content


def encode_other_version(version: str) -> bytes:
    """Refused: the client is of another version than we are."""
    return b"V" + _encode_text(version)


def encode_busy(why: str) -> bytes:
    """Refused: not here, not now."""
    return b"B" + _encode_text(why)


def encode_answer(reply: Reply) -> bytes:
    """The answer, and the last message to its request."""
    return b"".join(
        (
            _PACKED_ANSWER(b"R", reply.exit_code & 0xFF, len(reply.stdout), len(reply.stderr)),
            reply.stdout,
            reply.stderr,
        )
    )


def _encode_text(text: str) -> bytes:
    field = text.encode("utf-8", "replace")[:_LONGEST_TEXT]
    return _PACKED_U16(len(field)) + field
