"""The first answer to a call, for the same call arriving again through another hook file.

Through one entry of one file a call comes once, so the same content through an entry that was
answered already is an agent doing the same thing again, and is judged again. Answers are kept for
seconds and sealed with a key made from the call itself, so that what stays on the disk cannot be
read without it. Whatever fails here, the hooks run: an answer is never guessed.
"""

import fcntl
import hmac
import os
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256, shake_256
from time import monotonic
from typing import Protocol

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

__all__ = ["Answered", "Answers", "Arrival", "FirstAnswers", "Packed", "Slot"]

FRESH = 10.0
"""Seconds after which the same content is another call."""
KEPT = 60.0
_WAIT = 30.0
_POLL = 0.01
_MOST = 256
_LARGEST = 1 << 20
# Of 256 calls, how many look for what is too old: each look reads the whole directory.
_SWEEPS = 16


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

    def packed(self) -> "Packed | Arrival":
        """What is enough to know the same call again, and takes less to keep."""
        return self if self.again is None else Packed(self.again, self.callers, self.policy)

    @cached_property
    def content(self) -> bytes:
        """A digest of all that hooks are told of the event, however the client spells it.

        Empty where there is none: then nothing is the same.
        """
        bare = replace(
            self.event,
            id="",
            time=_EPOCH,
            raw=Raw(b"null"),
            native_event="",
            dialect=self.callers,
        )
        if isinstance(bare, ToolEvent) and bare.tool.kind not in {ToolKind.OTHER, ToolKind.MCP}:
            # One client may have two names for a tool, by the spelling of the event.
            bare = replace(bare, tool=replace(bare.tool, name=""))
        try:
            told = msgspec.json.encode(bare)
        except UnicodeEncodeError:
            return b""
        digest = sha256(self.policy.encode() + b"\0")
        digest.update(told)  # which may be long, and is not copied
        return digest.digest()


class Packed(Struct, frozen=True, gc=False):
    """A call of which only the payload is kept: all that was made of it is many times as much."""

    again: Callable[[], Event]
    callers: str
    policy: str

    @property
    def content(self) -> bytes:
        """As an arrival has it."""
        try:
            event = self.again()
        except HooklineError:
            return b""
        return Arrival(event=event, callers=self.callers, entry="", policy=self.policy).content


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


class Slot:
    """The place of one call: ``known`` if it was answered, else ``keep`` what is answered now."""

    __slots__ = ("kept", "known")

    def __init__(self, known: Answered | None = None) -> None:
        self.known = known
        self.kept: Answered | None = None

    def keep(self, outcome: Outcome) -> None:
        """Remembers the outcome when the slot is left."""
        self.kept = Answered.of(outcome)


class FirstAnswers(Protocol):
    """Where a call finds what was answered when it came in before."""

    def once(
        self, arrival: Arrival | None, *, timeout: float | None = None
    ) -> AbstractAsyncContextManager[Slot]:
        """The slot of a call. While the first one's hooks run, an equal call waits here."""


class _Record(Struct, frozen=True, kw_only=True):
    entries: tuple[str, ...] = ()
    """Digests of the entries that this call has come through."""
    at: float = 0.0
    sealed: bytes = b""


class Answers:
    """One small file per call, locked while its hooks run."""

    def __init__(self, home: str, *, clock: Callable[[], float] = time.time) -> None:
        self._dir = os.path.join(home, "answers")
        self._clock = clock

    @asynccontextmanager
    async def once(
        self, arrival: Arrival | None, *, timeout: float | None = None
    ) -> AsyncIterator[Slot]:
        """The slot of a call. While the first one's hooks run, an equal call waits here.

        At most half of ``timeout``, so that it can still judge by itself when the first one does
        not come to an end.
        """
        handle = None
        if arrival is not None and arrival.content:
            with suppress(OSError):
                handle = await self._claimed(arrival, _WAIT if timeout is None else timeout / 2)
        if arrival is None or handle is None:
            yield Slot()
            return
        try:
            slot = self._opened(handle, arrival)
            yield slot
            if slot.kept is not None:
                with suppress(OSError, UnicodeError):
                    self._answered(handle, arrival, slot.kept)
        finally:
            os.close(handle)

    async def _claimed(self, arrival: Arrival, wait: float) -> int | None:
        """The call's file, locked; None when it is better not to wait for it."""
        os.makedirs(self._dir, mode=0o700, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        handle = os.open(os.path.join(self._dir, sha256(arrival.content).hexdigest()), flags, 0o600)
        until = monotonic() + wait
        try:
            while not _locked(handle):
                another = _entry(arrival) in _read(handle).entries
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

    def _opened(self, handle: int, arrival: Arrival) -> Slot:
        with suppress(OSError):
            record, entry = _read(handle), _entry(arrival)
            fresh = 0 <= self._clock() - record.at <= FRESH
            if fresh and entry not in record.entries:
                known = _opened(record.sealed, arrival.content)
                if known is not None:
                    _write(handle, replace(record, entries=(*record.entries, entry)))
                    return Slot(known)
            _write(handle, _Record(entries=(entry,)))
        return Slot()

    def _answered(self, handle: int, arrival: Arrival, kept: Answered) -> None:
        sealed = _sealed(kept, arrival.content)
        if len(sealed) > _LARGEST:
            return
        _write(handle, _Record(entries=(_entry(arrival),), at=self._clock(), sealed=sealed))
        if arrival.content[0] < _SWEEPS:
            self._prune()

    def _prune(self) -> None:
        """Removes what is too old to be used, and everything when there is too much of it."""
        with os.scandir(self._dir) as entries:
            found = [(entry.path, entry.stat().st_mtime) for entry in entries]
        oldest = self._clock() - (KEPT if len(found) <= _MOST else FRESH)
        for path, changed in found:
            if changed < oldest:
                with suppress(FileNotFoundError):
                    os.unlink(path)


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _entry(arrival: Arrival) -> str:
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


def _crossed(text: bytes, content: bytes, nonce: bytes) -> bytes:
    """Hidden, or shown again; of the key, the call's digest, only a digest is on the disk."""
    stream = shake_256(b"hookline answer" + content + nonce).digest(len(text))
    crossed = int.from_bytes(text, "big") ^ int.from_bytes(stream, "big")
    return crossed.to_bytes(len(text), "big")


def _sealed(kept: Answered, content: bytes) -> bytes:
    plain = msgspec.json.encode(kept)
    nonce = os.urandom(16)
    hidden = _crossed(plain, content, nonce)
    return _mark(content, nonce + hidden) + nonce + hidden


def _opened(sealed: bytes, content: bytes) -> Answered | None:
    mark, nonce, hidden = sealed[:32], sealed[32:48], sealed[48:]
    if not hmac.compare_digest(mark, _mark(content, nonce + hidden)):
        return None
    try:
        return msgspec.json.decode(_crossed(hidden, content, nonce), type=Answered)
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _mark(content: bytes, sealed: bytes) -> bytes:
    return hmac.digest(content, sealed, "sha256")
