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
from collections import deque
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
from hookline.model.errors import HooklineError
from hookline.model.events import Event, ToolEvent
from hookline.model.outcome import Outcome, Substitution
from hookline.model.rewriting import rewritten
from hookline.model.tools import ToolKind, ToolTable
from hookline.model.waiting import needs_loop

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

# In memory, of the calls of one kind in one session; fewer where all came through one entry, as
# nearly always: what is kept would only push what is needed out of the processor's caches.
_MOST_GROUPS = 256
_MOST_CALLS, _FEW_CALLS = 64, 16
# An event longer than this is known by its digest alone, and not kept for one.
_KEPT_WHOLE = 1 << 16


class Arrival(Struct, frozen=True, kw_only=True, dict=True):
    """One call as it came in."""

    event: Event
    callers: str
    entry: str
    """Which line of which hook file this is, as well as the command line tells."""
    policy: str = ""
    """By whose hooks it is judged: what one has let through, another may not."""
    again: Callable[[], Event] | None = None
    """Reads the same event once more; None where only the event itself has it."""

    @classmethod
    def of(
        cls,
        event: Event,
        *,
        callers: Sequence[str],
        entry: str,
        policy: str = "",
        again: Callable[[], Event] | None = None,
    ) -> "Arrival | None":
        """None for an event of no session, which nothing ties to an earlier one."""
        if not event.session_id:
            return None
        return cls(event=event, callers="+".join(callers), entry=entry, policy=policy, again=again)

    @cached_property
    def content(self) -> bytes:
        """A digest of all that hooks are told of the event, however the client spells it.

        Empty where there is none: then nothing is the same.
        """
        return _digest(self.event, self.callers, self.policy)


def _digest(event: Event, callers: str, policy: str) -> bytes:
    bare = replace(event, id="", time=_EPOCH, raw=Raw(b"null"), native_event="", dialect=callers)
    if isinstance(bare, ToolEvent) and bare.tool.kind not in {ToolKind.OTHER, ToolKind.MCP}:
        # One client may have two names for a tool, by the spelling of the event.
        bare = replace(bare, tool=replace(bare.tool, name=""))
    try:
        encoded = msgspec.json.encode(bare)
    except UnicodeEncodeError:
        return b""
    digest = sha256(policy.encode() + b"\0")
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


class Claim(Protocol):
    """A call's place on a shelf, until it is settled."""

    @property
    def known(self) -> Answered | None:
        """What it was answered when it came in before; None when it is to be judged."""

    def settle(self, answered: Answered | None) -> None:
        """The call is answered, or never will be. Never raises."""


class Shelf(Protocol):
    """Where answers are kept."""

    async def claim(self, arrival: Arrival, wait: float) -> Claim | None:
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
        self._claim: Claim | None = None
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


class _Call:
    """One call in memory: through which entries it came, and what the first was answered."""

    __slots__ = (
        *("_clock", "_content", "_is_large", "_settled", "_source"),
        *("at", "entries", "is_open", "known"),
    )

    def __init__(self, arrival: Arrival, clock: Callable[[], float]) -> None:
        self.entries = {arrival.entry}
        self.known: Answered | None = None
        self.at = 0.0
        self.is_open = True
        """Whether its first answer is still to come."""
        self._clock = clock
        self._settled: asyncio.Event | None = None
        self._content: bytes | None = None
        # Only the payload is kept until a digest is needed: the event takes many times as much.
        event = arrival.event
        self._is_large = memoryview(event.raw).nbytes > _KEPT_WHOLE
        read = None if self._is_large else arrival.again
        self._source = read or (lambda: event), arrival.callers, arrival.policy

    @property
    def content(self) -> bytes:
        """The digest of the call; made when another one might be the same."""
        if self._content is None:
            read, callers, policy = self._source
            try:
                self._content = _digest(read(), callers, policy)
            except HooklineError:
                self._content = b""
            self._source = _read_nothing, "", ""
        return self._content

    async def wait(self, seconds: float) -> Answered | None:
        """The first answer; None when there is none after so many seconds, or it is old."""
        if self.is_open:
            await needs_loop()
        if self.is_open:  # still: meanwhile others went on
            import asyncio

            self._settled = self._settled or asyncio.Event()
            try:
                await asyncio.wait_for(self._settled.wait(), seconds)
            except TimeoutError:
                return None
        return self.known if 0 <= self._clock() - self.at <= FRESH else None

    def settle(self, answered: Answered | None) -> None:
        """As a claim says it."""
        self.known, self.at, self.is_open = answered, self._clock(), False
        if self._settled is not None:
            self._settled.set()
        if self._is_large:
            _ = self.content


def _read_nothing() -> Event:
    raise HooklineError("the event is not kept: its digest is")


class _Known(Struct, frozen=True):
    """The claim of a call that was answered before."""

    known: Answered

    def settle(self, answered: Answered | None) -> None:
        """It was."""


class _Group:
    """The last calls of one kind in one session."""

    __slots__ = ("calls", "entries", "is_shared")

    def __init__(self) -> None:
        self.calls: deque[_Call] = deque(maxlen=_MOST_CALLS)
        self.entries: set[str] = set()
        """Those that a call came through first."""
        self.is_shared = False
        """Whether one came through a second entry."""

    def add(self, call: _Call, entry: str) -> _Call:
        """Another call, which came through this entry."""
        self.calls.append(call)
        self.entries.add(entry)
        while len(self.calls) > _FEW_CALLS and len(self.entries) == 1 and not self.is_shared:
            self.calls.popleft()
        return call

    def find_equal(self, arrival: Arrival) -> _Call | None:
        """The latest equal call, unless it came through this entry: then it is done again."""
        for call in reversed(self.calls):
            if arrival.content and call.content == arrival.content:
                return None if arrival.entry in call.entries else call
        return None


class MemoryShelf:
    """In the memory of a process that hears of every call: the last few hundred."""

    def __init__(self, *, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._groups: dict[tuple[object, ...], _Group] = {}

    async def claim(self, arrival: Arrival, wait: float) -> Claim:
        """As the port says."""
        key = (arrival.event.session_id, type(arrival.event), arrival.policy)
        group = self._groups.get(key)
        if group is None:
            while len(self._groups) >= _MOST_GROUPS:
                del self._groups[next(iter(self._groups))]
            group = self._groups[key] = _Group()
        # Nearly always all came through one entry, and then nothing need be compared.
        if len(group.entries) > (arrival.entry in group.entries):
            earlier = group.find_equal(arrival)
            known = None if earlier is None else await earlier.wait(wait)
            if earlier is not None and known is not None:
                earlier.entries.add(arrival.entry)
                group.is_shared = True
                return _Known(known)
        return group.add(_Call(arrival, self._clock), arrival.entry)


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

    async def claim(self, arrival: Arrival, wait: float) -> Claim | None:
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
