"""What a client hears from the moment it connects, whatever it does itself."""

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from struct import unpack
from typing import Any

import pytest

from hookline._version import __version__
from hookline.daemon import connection
from hookline.daemon.frames import LARGEST, ClientRequest, Respond
from hookline.daemon.instance import peer_uid
from hookline.daemon.judging import JudgingThread
from hookline.daemon.server import Server, ServerLimits
from hookline.model.outcome import Reply
from support.serving import Said, request

MB = 1 << 20


class Client:
    """A client on the same loop as its server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def send(self, data: bytes) -> "Client":
        self.writer.write(data)
        await self.writer.drain()
        return self

    async def next(self) -> Said:
        async with asyncio.timeout(30):
            try:
                kind = (await self.reader.read(1)).decode()
            except ConnectionResetError:
                kind = ""
            if kind in {"V", "B"}:
                size = unpack(">H", await self.reader.readexactly(2))[0]
                return Said(kind, await self.reader.readexactly(size))
            if kind == "R":
                code, out, err = unpack(">BII", await self.reader.readexactly(9))
                stdout = await self.reader.readexactly(out)
                return Said(kind, stdout, await self.reader.readexactly(err), code)
            return Said(kind)

    async def answer(self) -> Said:
        if (first := await self.next()).kind != "A":
            assert first.kind == "", first
            return first
        while (said := await self.next()).kind == "K":
            pass
        return said

    def close(self) -> None:
        self.writer.transport.abort()


class Place:
    """A server, its socket, and what it wrote down."""

    def __init__(self, path: Path, respond: Respond, limits: ServerLimits | None) -> None:
        self.path = str(path)
        self.notes: list[str] = []
        self.clients: list[Client] = []
        self.lost = 0
        self.judge = JudgingThread(asyncio.get_running_loop(), respond)
        self.server = Server(
            self.judge,
            version=__version__,
            note=self.notes.append,
            limits=limits,
            on_lost=self.on_lost,
        )
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen(100)
        self.server.listen(listener)

    def on_lost(self) -> None:
        self.lost += 1

    async def connect(self) -> Client:
        client = Client(*await asyncio.open_unix_connection(self.path))
        self.clients.append(client)
        return client

    async def ask(self, payload: object = b"", **fields: Any) -> Said:
        client = await (await self.connect()).send(request(payload, **fields))
        try:
            return await client.answer()
        finally:
            client.close()

    async def until(self, done: Callable[[], object]) -> None:
        async with asyncio.timeout(30):
            while not done():  # noqa: ASYNC110 - the server has no reason to tell
                await asyncio.sleep(0.001)


@asynccontextmanager
async def served(
    path: Path, respond: Respond, limits: ServerLimits | None = None
) -> AsyncIterator[Place]:
    place = Place(path / "s", respond, limits)
    try:
        yield place
    finally:
        place.server.cancel()
        place.server.close()
        for client in place.clients:
            client.close()
        await place.judge.close(30)


class Latch:
    """What events on the judging thread wait for, and a test opens and shuts."""

    def __init__(self) -> None:
        self._open = threading.Event()
        self.set, self.clear = self._open.set, self._open.clear

    async def wait(self) -> None:
        while not self._open.is_set():  # noqa: ASYNC110 - opened from another thread
            await asyncio.sleep(0.001)


class Gate:
    """Events that wait until they are let go, and who of them has begun and was cancelled."""

    def __init__(self) -> None:
        self.open = Latch()
        self.begun: list[bytes] = []
        self.cancelled: list[bytes] = []

    async def __call__(self, request: ClientRequest) -> Reply:
        self.begun.append(request.stdin)
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled.append(request.stdin)
            raise
        return Reply(stdout=request.stdin)


async def echo(request: ClientRequest) -> Reply:
    return Reply(stdout=request.stdin, stderr=request.cwd.encode(), exit_code=3)


def run(work: Awaitable[None]) -> None:
    async def within() -> None:
        async with asyncio.timeout(60):
            await work

    asyncio.run(within())


def test_a_request_is_acknowledged_and_answered(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            said = await place.ask(b"hello", cwd="/here")
            assert said == Said("R", b"hello", b"/here", 3)
            assert place.server.counts.answered == 1

    run(go())


def test_the_acknowledgement_comes_before_the_body(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            data = request(b"late")
            client = await (await place.connect()).send(data[:7])
            await place.until(lambda: place.server.connections)
            await client.send(data[7:8])
            assert (await client.next()).kind == "A"
            assert (await client.next()).kind == "K"
            await client.send(data[8:])
            while (said := await client.next()).kind == "K":
                pass
            assert said.text == b"late"

    run(go())


def test_keep_alives_go_to_those_that_run_and_those_that_wait(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate, ServerLimits(at_once=1)) as place:
            clients = [await (await place.connect()).send(request(b"%d" % n)) for n in range(3)]
            for client in clients:
                assert [(await client.next()).kind for _ in range(4)] == ["A", "K", "K", "K"]
            assert len(gate.begun) == 1
            gate.open.set()
            for number, client in enumerate(clients):
                while (said := await client.next()).kind == "K":
                    pass
                assert said.text == b"%d" % number

    run(go())


def test_nothing_ticks_when_nobody_waits(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            for _ in range(3):
                await place.ask(b"x")
            await place.until(lambda: not place.server._owed)
            await place.until(lambda: not place.server._ticking)

    run(go())


def test_a_connection_is_good_for_many_requests_one_after_the_other(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            client = await place.connect()
            for number in range(50):
                await client.send(request(b"%d" % number))
                assert (await client.answer()).text == b"%d" % number
            assert place.server.connections == 1

    run(go())


@pytest.mark.parametrize("size", [10, 200_000])
def test_what_is_said_ahead_is_answered_in_order(tmp_path: Path, size: int) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            client = await place.connect()
            payloads = [b"%d" % number + b"x" * size for number in range(20)]
            sending = asyncio.ensure_future(client.send(b"".join(map(request, payloads))))
            for payload in payloads:
                assert (await client.answer()).text == payload
            await sending

    run(go())


def test_of_several_at_once_those_that_have_to_wait_are_acknowledged(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        gate.open.set()
        async with served(tmp_path, gate, ServerLimits(at_once=2)) as place:
            clients = [await place.connect() for _ in range(3)]
            for client in clients:
                await client.send(request(b"first"))
                assert (await client.answer()).text == b"first"
            gate.open.clear()
            for client in clients:
                client.writer.write(request(b"second"))
            for client in clients:  # whether it runs already or waits for its turn
                assert (await client.next()).kind == "A"
            gate.open.set()
            for client in clients:
                while (said := await client.next()).kind == "K":
                    pass
                assert said.text == b"second"

    run(go())


def test_while_an_event_holds_the_judging_thread_all_others_are_acknowledged(
    tmp_path: Path,
) -> None:
    async def go() -> None:
        let_go = threading.Event()

        async def respond(request: ClientRequest) -> Reply:
            if request.stdin == b"slow":
                while not let_go.is_set():  # computes, and never waits
                    pass
            return Reply(stdout=request.stdin)

        async with served(tmp_path, respond) as place:
            slow = await (await place.connect()).send(request(b"slow"))
            clients = [await (await place.connect()).send(request(b"quick")) for _ in range(5)]
            for client in (slow, *clients):
                assert (await client.next()).kind == "A"
            let_go.set()
            for client in (slow, *clients):
                while (said := await client.next()).kind == "K":
                    pass
                assert said.kind == "R"
            assert place.lost == 0

    run(go())


def test_an_event_that_never_lets_go_is_abandoned_and_the_others_are_sent_elsewhere(
    tmp_path: Path,
) -> None:
    async def go() -> None:
        let_go = threading.Event()

        async def respond(request: ClientRequest) -> Reply:
            while not let_go.is_set():  # computes, and never waits
                pass
            return Reply()

        async with served(tmp_path, respond, ServerLimits(at_once=4)) as place:
            stuck = await (await place.connect()).send(request({"session_id": "stuck"}))
            await place.until(lambda: place.server.scheduler.running)
            begun = await (await place.connect()).send(request({"session_id": "other"}))
            waiting = [
                await (await place.connect()).send(request({"session_id": "stuck"}))
                for _ in range(3)
            ]
            # It has begun, so a refusal would hide an attempt; the others have not.
            assert (await stuck.answer()).kind == ""
            for client in (begun, *waiting):
                assert (await client.answer()).kind == "B"
            assert (await place.ask(b"new")).kind == "B"
            assert place.lost == 1
            assert place.server.busy  # until its hooks are over, too
            let_go.set()
            assert await place.server.until_quiet(30)
            assert place.server.budget.held == place.server.counts.abandoned == 0

    run(go())


def test_another_version_is_told_ours(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            assert await place.ask(version="9.9.9") == Said("V", __version__.encode())
            assert place.server.counts.answered == 0

    run(go())


def test_a_client_that_goes_takes_its_event_with_it(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate) as place:
            client = await (await place.connect()).send(request(b"gone"))
            await place.until(lambda: gate.begun)
            client.close()
            await place.until(lambda: gate.cancelled)
            await place.until(lambda: not place.server.scheduler.running)
            assert gate.cancelled == [b"gone"]
            assert place.server.counts.abandoned == 1
            assert any("went away" in note for note in place.notes)
            assert place.server.budget.held == 0

    run(go())


def test_as_long_as_hooks_are_being_ended_it_is_not_quiet(tmp_path: Path) -> None:
    async def go() -> None:
        begun, over = threading.Event(), Latch()

        async def slow_to_end(request: ClientRequest) -> Reply:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                await over.wait()
            return Reply()

        async with served(tmp_path, slow_to_end) as place:
            client = await (await place.connect()).send(request(b"x"))
            await place.until(begun.is_set)
            client.close()
            await place.until(lambda: not place.server.connections)
            assert not await place.server.until_quiet(0.01)
            over.set()
            assert await place.server.until_quiet(30)

    run(go())


def test_a_client_that_goes_while_it_waits_is_never_begun(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate, ServerLimits(at_once=1)) as place:
            first = await (await place.connect()).send(request(b"first"))
            await place.until(lambda: gate.begun)
            second = await (await place.connect()).send(request(b"second"))
            await place.until(lambda: place.server.scheduler.waiting)
            second.close()
            await place.until(lambda: not place.server.scheduler.waiting)
            gate.open.set()
            assert (await first.answer()).text == b"first"
            assert gate.begun == [b"first"]
            assert place.server.budget.held == 0

    run(go())


def test_an_event_that_fails_is_left_without_a_word_to_be_tried_elsewhere(tmp_path: Path) -> None:
    async def fail(request: ClientRequest) -> Reply:
        raise SystemExit("a hook's own exit") if request.stdin == b"exit" else ValueError("broken")

    async def go() -> None:
        async with served(tmp_path, fail) as place:
            # A refusal would say that none of its hooks has run.
            assert (await place.ask(b"exit")).kind == ""
            assert (await place.ask(b"error")).kind == ""
            assert place.server.counts.failed == 2
            assert "ValueError: broken" in "\n".join(place.notes)
            assert place.server.scheduler.running == 0
            assert place.server.counts.abandoned == place.server.budget.held == 0

    run(go())


def test_too_many_are_sent_away_at_once(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate, ServerLimits(at_once=1, waiting=1)) as place:
            for name in (b"runs", b"waits"):
                await (await place.connect()).send(request(name))
            await place.until(lambda: place.server.scheduler.waiting)
            assert await place.ask(b"more") == Said("B", b"too many events are waiting")

    run(go())


def test_told_to_stop_it_finishes_what_runs_and_sends_the_rest_away(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate, ServerLimits(at_once=1)) as place:
            idle = await place.connect()
            first = await (await place.connect()).send(request(b"first"))
            await place.until(lambda: gate.begun)
            second = await (await place.connect()).send(request(b"second"))
            await place.until(lambda: place.server.scheduler.waiting)
            place.server.stop_listening()
            place.server.refuse("the daemon stops")
            assert (await second.answer()).kind == "B"
            assert (await (await idle.send(request(b"new"))).answer()).kind == "B"
            with pytest.raises(OSError):  # noqa: PT011 - gone or refused, as the system says it
                await place.connect()
            assert not await place.server.until_quiet(0.01)
            gate.open.set()
            assert (await first.answer()).text == b"first"
            assert await place.server.until_quiet(30)

    run(go())


def test_cancelled_by_us_the_client_is_left_without_a_word_to_ask_elsewhere(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate) as place:
            client = await (await place.connect()).send(request(b"x"))
            await place.until(lambda: gate.begun)
            place.server.cancel()
            assert (await client.answer()).kind == ""
            assert place.server.counts.abandoned == place.server.budget.held == 0

    run(go())


@pytest.mark.parametrize(
    "data", [b"GET / HTTP/1.0\r\n", b"\0", b"HKL1" + (9).to_bytes(4, "big") + b"123456789"]
)
def test_garbage_ends_the_connection_and_nothing_else(tmp_path: Path, data: bytes) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            client = await (await place.connect()).send(data)
            kinds = []
            while (said := await client.next()).kind:
                kinds.append(said.kind)
            assert kinds in ([], ["A", "B"])
            assert (await place.ask(b"next")).text == b"next"
            # The judging thread sends an answer before the main one gives its room back.
            await place.until(lambda: place.server.budget.held == 0)
            assert any("sent away" in note for note in place.notes)

    run(go())


def test_a_claim_beyond_the_largest_is_refused_before_its_body(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            client = await place.connect()
            await client.send(b"HKL1" + (LARGEST + 1).to_bytes(4, "big"))
            assert (await client.answer()).kind == "B"
            assert (await client.next()).kind == ""

    run(go())


def test_a_large_claim_costs_nothing_until_it_comes(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            for _ in range(2):
                claim = await place.connect()
                await claim.send(b"HKL1" + LARGEST.to_bytes(4, "big"))
                assert (await claim.next()).kind == "A"
            assert place.server.budget.held == 2 * LARGEST
            assert (await place.ask(b"small")).text == b"small"
            large = await place.connect()
            sending = asyncio.ensure_future(large.send(request(b"x" * MB)))
            assert [(await large.next()).kind for _ in range(3)] == ["A", "K", "K"]
            assert not sending.done()
            claim.close()
            while (said := await large.next()).kind == "K":
                pass
            assert len(said.text) == MB
            await sending

    run(go())


def test_fifty_megabytes_go_in_and_out_past_a_slow_reader(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            payload = os.urandom(MB) * 50
            client = await place.connect()
            await client.send(request(payload))
            # Nothing is read here, and the others are answered meanwhile.
            await place.until(lambda: place.server.counts.answered)
            for _ in range(5):
                assert (await place.ask(b"quick")).text == b"quick"
            assert place.server.budget.held > 40 * MB
            assert (await client.answer()).text == payload
            await place.until(lambda: not place.server.budget.held)

    run(go())


def test_a_reader_that_has_gone_frees_its_answer(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo) as place:
            client = await (await place.connect()).send(request(b"x" * 20 * MB))
            await place.until(lambda: place.server.counts.answered)
            client.close()
            await place.until(lambda: not place.server.budget.held)
            await place.until(lambda: not place.server.connections)

    run(go())


def test_a_sender_that_stops_in_the_middle_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "SILENCE", 0.5)

    async def go() -> None:
        async with served(tmp_path, echo) as place:
            client = await (await place.connect()).send(request(b"x" * 1000)[:500])
            assert (await client.next()).kind == "A"
            while (await client.next()).kind == "K":
                pass
            assert place.server.connections == 0
            assert place.server.budget.held == 0
            assert any("did nothing" in note for note in place.notes)

    run(go())


def test_sessions_share_the_turns_fairly(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate, ServerLimits(at_once=2)) as place:

            async def send(session: str, number: int) -> None:
                await (await place.connect()).send(
                    request({"session_id": session, "number": number})
                )

            for number in range(20):
                await send("crowd", number)
            await place.until(lambda: place.server.scheduler.waiting == 19)
            await send("lonely", 0)
            # The crowd has one of the two turns, so the other one is free for whoever comes.
            await place.until(lambda: len(gate.begun) == 2)
            assert b"lonely" in gate.begun[1]

    run(go())


def test_connections_beyond_the_limit_push_out_idle_ones(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo, ServerLimits(connections=4)) as place:
            idle = [await place.connect() for _ in range(4)]
            await place.until(lambda: place.server.connections == 4)
            assert (await place.ask(b"one more")).text == b"one more"
            assert (await idle[0].next()).kind == ""
            assert (await (await idle[3].send(request(b"x"))).answer()).text == b"x"

    run(go())


def test_connections_beyond_the_limit_wait_while_all_are_busy(tmp_path: Path) -> None:
    async def go() -> None:
        gate = Gate()
        async with served(tmp_path, gate, ServerLimits(connections=2)) as place:
            clients = [await (await place.connect()).send(request(b"x")) for _ in range(3)]
            await place.until(lambda: len(gate.begun) == 2 and place.server._paused)
            gate.open.set()
            for client in clients:
                assert (await client.answer()).text == b"x"

    run(go())


def test_whoever_had_to_wait_for_room_leaves_no_claim_to_it(tmp_path: Path) -> None:
    async def go() -> None:
        async with served(tmp_path, echo, ServerLimits(held=2 * MB)) as place:
            greedy = await (await place.connect()).send(b"HKL1" + (2 * MB).to_bytes(4, "big"))
            await place.until(lambda: place.server.budget.held)
            large = await (await place.connect()).send(request(b"x" * (MB // 4)))
            assert (await large.next()).kind == "A"
            large.close()
            await place.until(lambda: place.server.connections == 1)
            greedy.close()
            await place.until(lambda: place.server.connections == 0)
            assert place.server.budget.held == 0
            assert (await place.ask(b"y" * (MB // 4))).text == b"y" * (MB // 4)
            assert not place.server.busy

    run(go())


def test_one_that_is_gone_as_it_comes_takes_no_event_of_another_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = 0

    def gone(sock: socket.socket) -> int:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise OSError(107, "Transport endpoint is not connected")
        return peer_uid(sock)

    async def go() -> None:
        async with served(tmp_path, echo) as place:
            monkeypatch.setattr("hookline.daemon.server.peer_uid", gone)
            assert (await place.ask(b"a")).text == b"a"
            lost = await place.connect()
            assert (await lost.next()).kind == ""
            assert (await place.ask(b"c")).text == b"c"
            assert asked == 3
            assert place.server.scheduler.running == 0

    run(go())


def test_the_other_end_is_known_by_its_user() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_uid(ours) == os.getuid()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_refused_even_where_the_directory_is_open(tmp_path: Path) -> None:
    script = (
        "import socket, sys\n"
        "sock = socket.socket(socket.AF_UNIX)\n"
        "sock.connect(sys.argv[1])\n"
        "sock.settimeout(20)\n"
        "sys.stdout.write(repr(sock.recv(1)))\n"
    )

    async def go() -> None:
        async with served(tmp_path, echo) as place:
            os.chmod(place.path, 0o777)
            for directory in (tmp_path, *tmp_path.parents[:-2]):
                os.chmod(directory, 0o755)
            process = await asyncio.create_subprocess_exec(
                "setpriv", "--reuid=65534", "--clear-groups", "/usr/bin/python3", "-c", script,
                place.path, stdout=subprocess.PIPE,
            )  # fmt: skip
            out, _ = await process.communicate()
            assert out == b"b''"
            assert place.notes == ["refused a connection of user 65534: only our own user may ask"]

    assert sys.platform == "linux"
    run(go())
