"""The first answer to a call, for the same call arriving again through another hook file.

Through one entry of one file a call comes once, so the same content through an entry that was
answered already is an agent doing the same thing again, and is judged again. Answers are kept for
seconds: in the memory of a process that hears of every call, else in files. Whatever fails here,
the hooks run: an answer is never guessed.
"""

import fcntl
import hmac
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256, shake_256
from time import monotonic
from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.events import Event, ToolEvent
from hookline.model.outcome import Outcome, Substitution
from hookline.model.ports import needs_loop
from hookline.model.rewriting import rewritten
from hookline.model.tools import ToolKind, ToolTable

if TYPE_CHECKING:
    import asyncio

__all__ = ["Answered", "Arrival", "DiskShelf", "DuplicateCalls", "MemoryShelf", "Slot"]

FRESH = 10.0
"""Seconds after which the same content is another call."""
KEPT = 60.0
_WAIT = 30.0
_POLL = 0.01
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# On disk.
_MOST_FILES = 256
_LARGEST = 1 << 20
# Of 256 calls, how many look for what is too old: each look reads the whole directory.
_SWEEPS = 16

# In memory.
_MOST_CALLS = 4096


class Arrival(Struct, frozen=True, kw_only=True, dict=True):
    """One call as it came in."""

    event: Event
    callers: str
    entry: str
    """Which line of which hook file this is, as well as the command line tells."""
    policy: str = ""
    """By whose hooks it is judged: what one has let through, another may not."""

    @classmethod
    def of(
        cls, event: Event, *, callers: Sequence[str], entry: str, policy: str = ""
    ) -> "Arrival | None":
        """None for an event of no session, which nothing ties to an earlier one."""
        if not event.session_id:
            return None
        return cls(event=event, callers="+".join(callers), entry=entry, policy=policy)

    @cached_property
    def content(self) -> bytes:
        """A digest of all that hooks are told of the event, however the client spells it.

        Empty where there is none: then nothing is the same.
        """
        event = replace(
            self.event, id="", time=_EPOCH, raw=Raw(b"null"), native_event="", dialect=self.callers
        )
        if isinstance(event, ToolEvent) and event.tool.kind not in {ToolKind.OTHER, ToolKind.MCP}:
            # One client may have two names for a tool, by the spelling of the event.
            event = replace(event, tool=replace(event.tool, name=""))
        try:
            encoded = msgspec.json.encode(event)
        except UnicodeEncodeError:
            return b""
        digest = sha256(self.policy.encode() + b"\0")
        digest.update(encoded)  # which may be long, and is not copied
        return digest.digest()


class Answered(Struct, frozen=True):
    """What is kept of an outcome: never an allow, so that nothing on the disk grants anything."""

    answer: Answer
    substitutions: tuple[Substitution, ...] = ()
    signature: str = ""

    @classmethod
    def of(cls, outcome: Outcome) -> "Answered":
        """An allow is kept as a pass: the first answer has said it already."""
        answer = outcome.answer
        if answer is PASS and not outcome.substitutions:
            return _PASSED
        if answer.verdict is Verdict.ALLOW:
            answer = replace(answer, verdict=Verdict.PASS, reason="")
        return cls(answer, outcome.substitutions, outcome.signature)

    def outcome(self, event: Event, table: ToolTable) -> Outcome:
        """The same outcome on the same event, which no hook has seen again."""
        final = rewritten(event, self.answer.rewrite, table)
        note = Substitution("its hooks", "the first answer", "this call was answered already")
        return Outcome(
            event=event,
            answer=self.answer,
            substitutions=(*self.substitutions, note),
            signature=self.signature,
            final=None if final is event else final,
        )


_PASSED = Answered(PASS)


class CallClaim(Protocol):
    """A call's place on a shelf, until it is settled."""

    @property
    def known(self) -> Answered | None:
        """What it was answered when it came in before; None when it is to be judged."""

    def settle(self, answered: Answered | None) -> None:
        """The call is answered, or never will be. Never raises."""


class Shelf(Protocol):
    """Where answers are kept."""

    async def claim(self, arrival: Arrival, wait: float) -> CallClaim | None:
        """The place of a call; None when it is judged without one.

        While the first one's hooks run an equal call waits here, but no longer than ``wait``.
        """


class DuplicateCalls:
    """Gives a call that comes in again the answer that it was given before."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def once(self, arrival: Arrival | None, *, timeout: float | None = None) -> "Slot":
        """The slot of a call. While the first one's hooks run, an equal call waits here.

        At most half of ``timeout``, so that it can still judge by itself when the first one does
        not come to an end.
        """
        return Slot(self._shelf, arrival, _WAIT if timeout is None else timeout / 2)


class Slot:
    """The place of one call: ``known`` if it was answered, else ``keep`` what is answered now."""

    __slots__ = ("_arrival", "_claim", "_kept", "_shelf", "_wait", "known")

    def __init__(self, shelf: Shelf, arrival: Arrival | None, wait: float) -> None:
        self._shelf = shelf
        self._arrival = arrival
        self._wait = wait
        self._claim: CallClaim | None = None
        self._kept: Answered | None = None
        self.known: Answered | None = None

    def keep(self, outcome: Outcome) -> None:
        """Remembers the outcome when the slot is left."""
        self._kept = Answered.of(outcome)

    async def __aenter__(self) -> "Slot":
        if self._arrival is not None:
            claim = self._claim = await self._shelf.claim(self._arrival, self._wait)
            self.known = None if claim is None else claim.known
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._claim is not None:
            self._claim.settle(self._kept if kind is None else None)


class _RememberedCall:
    """One call in memory: through which entries it came, and what the first was answered."""

    def __init__(self, entry: str, clock: Callable[[], float]) -> None:
        self.entries = {entry}
        self.known: Answered | None = None
        self._clock = clock
        self._at = 0.0
        self._is_open = True
        """Whether its first answer is still to come."""
        self._settled: asyncio.Event | None = None

    async def wait(self, seconds: float) -> Answered | None:
        """The first answer; None when there is none after so many seconds, or it is old."""
        if self._is_open:
            await needs_loop()
        if self._is_open:  # still: meanwhile others went on
            import asyncio

            self._settled = self._settled or asyncio.Event()
            try:
                await asyncio.wait_for(self._settled.wait(), seconds)
            except TimeoutError:
                return None
        return self.known if 0 <= self._clock() - self._at <= FRESH else None

    def settle(self, answered: Answered | None) -> None:
        """As a claim says it."""
        self.known, self._at, self._is_open = answered, self._clock(), False
        if self._settled is not None:
            self._settled.set()


class _Known(Struct, frozen=True):
    """The claim of a call that was answered before."""

    known: Answered

    def settle(self, answered: Answered | None) -> None:
        """It was."""


class MemoryShelf:
    """In the memory of a process that hears of every call: the last few thousand."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._calls: dict[bytes, _RememberedCall] = {}

    async def claim(self, arrival: Arrival, wait: float) -> CallClaim | None:
        """As the port says."""
        if not arrival.content:
            return None
        earlier = self._calls.get(arrival.content)
        # Through an entry that it came through before, it is done again.
        if earlier is not None and arrival.entry not in earlier.entries:
            known = await earlier.wait(wait)
            if known is not None:
                earlier.entries.add(arrival.entry)
                return _Known(known)
        while len(self._calls) >= _MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        self._calls.pop(arrival.content, None)  # to become the newest
        call = self._calls[arrival.content] = _RememberedCall(arrival.entry, self._clock)
        return call


class _Record(Struct, frozen=True, kw_only=True):
    """What stands in the file of a call."""

    entries: tuple[str, ...] = ()
    """Digests of the entries that this call has come through."""
    at: float = 0.0
    sealed: bytes = b""
    """The answer, sealed with a key made from the call itself: of that only a digest is here."""


class DiskShelf:
    """One small file per call, locked while its hooks run."""

    def __init__(self, home: str, *, clock: Callable[[], float] = time.time) -> None:
        self.directory = os.path.join(home, "answers")
        self.clock = clock

    async def claim(self, arrival: Arrival, wait: float) -> CallClaim | None:
        """As the port says; None also where nothing can be written."""
        if not arrival.content:
            return None
        handle = None
        with suppress(OSError):
            handle = await self._lock(arrival, wait)
        return None if handle is None else _FileClaim(self, handle, arrival)

    async def _lock(self, arrival: Arrival, wait: float) -> int | None:
        """The call's file, locked; None when it is better not to wait for it."""
        os.makedirs(self.directory, mode=0o700, exist_ok=True)
        name = os.path.join(self.directory, sha256(arrival.content).hexdigest())
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        until = monotonic() + wait
        try:
            while not _try_lock(handle):
                another = _digest_entry(arrival) in _read(handle).entries
                if another or monotonic() >= until:
                    os.close(handle)
                    return None
                await needs_loop()
                import asyncio

                await asyncio.sleep(_POLL)
        except BaseException:
            os.close(handle)
            raise
        return handle

    def prune(self) -> None:
        """Removes what is too old to be used, and everything when there is too much of it."""
        with os.scandir(self.directory) as entries:
            found = [(entry.path, entry.stat().st_mtime) for entry in entries]
        oldest = self.clock() - (KEPT if len(found) <= _MOST_FILES else FRESH)
        for path, changed in found:
            if changed < oldest:
                with suppress(FileNotFoundError):
                    os.unlink(path)


class _FileClaim:
    """A call whose file is locked."""

    def __init__(self, shelf: DiskShelf, handle: int, arrival: Arrival) -> None:
        self._shelf = shelf
        self._handle = handle
        self._content = arrival.content
        self._entry = _digest_entry(arrival)
        self.known: Answered | None = None
        with suppress(OSError):
            record = _read(handle)
            if 0 <= shelf.clock() - record.at <= FRESH and self._entry not in record.entries:
                self.known = _open(record.sealed, self._content)
            if self.known is not None:
                _write(handle, replace(record, entries=(*record.entries, self._entry)))
            else:
                _write(handle, _Record(entries=(self._entry,)))

    def settle(self, answered: Answered | None) -> None:
        """As a claim says it."""
        try:
            if answered is not None:
                with suppress(OSError, UnicodeError):
                    self._keep(_seal(answered, self._content))
        finally:
            os.close(self._handle)

    def _keep(self, sealed: bytes) -> None:
        if len(sealed) > _LARGEST:
            return
        record = _Record(entries=(self._entry,), at=self._shelf.clock(), sealed=sealed)
        _write(self._handle, record)
        if self._content[0] < _SWEEPS:
            self._shelf.prune()


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _digest_entry(arrival: Arrival) -> str:
    return sha256(arrival.content + arrival.entry.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _read(handle: int) -> _Record:
    """What stands in the file; nothing, where it is damaged or only half written."""
    try:
        return msgspec.json.decode(os.pread(handle, 2 * _LARGEST, 0), type=_Record)
    except msgspec.MsgspecError:
        return _Record()


def _write(handle: int, record: _Record) -> None:
    content = msgspec.json.encode(record)
    os.ftruncate(handle, 0)
    os.pwrite(handle, content, 0)


def _encrypt(text: bytes, content: bytes, nonce: bytes) -> bytes:
    """Hidden, or shown again; of the key, the call's digest, only a digest is on the disk."""
    stream = shake_256(b"hookline answer" + content + nonce).digest(len(text))
    crossed = int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")
    return crossed.to_bytes(len(text), "big")


def _seal(answered: Answered, content: bytes) -> bytes:
    nonce = os.urandom(16)
    hidden = nonce + _encrypt(msgspec.json.encode(answered), content, nonce)
    return hmac.digest(content, hidden, "sha256") + hidden


def _open(sealed: bytes, content: bytes) -> Answered | None:
    mark, hidden = sealed[:32], sealed[32:]
    if not hmac.compare_digest(mark, hmac.digest(content, hidden, "sha256")):
        return None
    try:
        plain = _encrypt(hidden[16:], content, hidden[:16])
        return msgspec.json.decode(plain, type=Answered)
    except (msgspec.MsgspecError, UnicodeError):
        return None
