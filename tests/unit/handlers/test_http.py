"""Hooks behind a URL, against a real server on this machine."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import Struct

from hookline.dialects.canonical.codec import Canonical
from hookline.handlers import http
from hookline.model.answers import PASS, deny
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerTimeout,
    HandlerUnavailable,
)
from hookline.model.events import PreToolUse

EVENT = PreToolUse(session_id="s1")
DENY = b'{"verdict":"deny","reason":"no"}'


class Seen(Struct):
    """What the server got."""

    head: str
    body: bytes
    connection: int

    def header(self, name: str) -> str | None:
        for line in self.head.splitlines():
            key, _, value = line.partition(":")
            if key.lower() == name:
                return value.strip()
        return None


class Server(Struct):
    """Where the server is, and everything it was asked."""

    url: str
    seen: list[Seen]


Reply = Callable[[asyncio.StreamWriter], Awaitable[None]]


def reply(body: bytes = b"", status: str = "200 OK", *headers: str) -> Reply:
    async def write(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        await writer.drain()

    return write


async def stopped(server: asyncio.Server, tasks: list[asyncio.Task[None] | None]) -> None:
    """Close the server and every connection it still has."""
    for _ in range(5):  # asyncio drops a connection that arrives while its server closes
        await asyncio.sleep(0)
    server.close()
    for task in filter(None, tasks):
        task.cancel()
        await asyncio.wait([task])
    await asyncio.sleep(0)  # a closed transport lets go of its socket in the next turn


@asynccontextmanager
async def serving(answer: Reply) -> AsyncIterator[Server]:
    seen: list[Seen] = []
    serving_tasks: list[asyncio.Task[None] | None] = []
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        serving_tasks.append(asyncio.current_task())
        connections += 1
        mine = connections
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                request = Seen(head, b"", mine)
                length = int(request.header("content-length") or 0)
                request.body = await reader.readexactly(length)
                seen.append(request)
                await answer(writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield Server(f"http://127.0.0.1:{port}/hook?q=token-in-query", seen)
    finally:
        await http.aclose()
        await stopped(server, serving_tasks)


@pytest.fixture
def asked(kit: Any) -> Any:
    async def ask(
        server: Server | str, *, headers: Any = None, env: Any = None, **more: Any
    ) -> Any:
        url = server if isinstance(server, str) else server.url
        value = url if headers is None else {"url": url, "headers": headers}
        hook = kit.hook({"http": value}, env=more.pop("listed", ()))
        handler = http.make(hook, kit.services())
        assert not handler.instant
        return await handler.run(kit.call(more.pop("event", EVENT), hook, env=env or {}, **more))

    return ask


def test_the_event_is_posted_and_the_body_is_the_answer(asked: Any) -> None:
    async def scenario() -> None:
        async with serving(reply(DENY)) as server:
            assert await asked(server) == deny("no")
        [request] = server.seen
        assert request.head.startswith("POST /hook?q=token-in-query HTTP/1.1")
        assert request.header("content-type") == "application/json"
        assert request.body == Canonical().stdin(EVENT)
        assert json.loads(request.body)["session_id"] == "s1"

    asyncio.run(scenario())


def test_an_empty_response_is_pass(asked: Any) -> None:
    async def scenario() -> None:
        async with serving(reply(b"", "204 No Content")) as server:
            assert await asked(server) is PASS

    asyncio.run(scenario())


def test_connections_are_kept_for_the_next_event(asked: Any) -> None:
    async def scenario() -> list[int]:
        async with serving(reply()) as server:
            for _ in range(3):
                await asked(server)
        return [request.connection for request in server.seen]

    assert asyncio.run(scenario()) == [1, 1, 1]


def test_each_event_loop_has_its_own_connections(asked: Any) -> None:
    async def scenario() -> Any:
        async with serving(reply()) as server:
            return await asked(server)

    assert asyncio.run(scenario()) is PASS
    assert asyncio.run(scenario()) is PASS


def test_header_values_are_filled_in_from_the_callers_environment(asked: Any) -> None:
    async def scenario() -> Seen:
        async with serving(reply()) as server:
            await asked(
                server,
                headers={"Authorization": "Bearer ${TOKEN}", "X-Plain": "$TOKEN ü"},
                env={"TOKEN": "s3cret\n"},
                listed=("TOKEN",),
            )
        return server.seen[0]

    request = asyncio.run(scenario())
    assert request.header("authorization") == "Bearer s3cret"
    assert request.header("x-plain") == "$TOKEN ü"


@pytest.mark.parametrize("env", [{}, {"TOKEN": ""}, {"TOKEN": "a\r\nX-Evil: 1"}])
def test_a_variable_that_is_missing_or_no_header_value_makes_the_hook_unavailable(
    asked: Any, env: dict[str, str]
) -> None:
    request = asked("http://127.0.0.1:1", headers={"A": "${TOKEN}"}, env=env, listed=("TOKEN",))
    with pytest.raises(HandlerUnavailable, match="`TOKEN`") as failure:
        asyncio.run(request)
    assert "Evil" not in str(failure.value)


@pytest.mark.parametrize("status", ["404 Not Found", "500 Oh no", "302 Found"])
def test_any_status_but_success_is_a_failure(asked: Any, status: str) -> None:
    async def scenario() -> Server:
        async with serving(reply(DENY, status, "Location: http://127.0.0.1:1/")) as server:
            with pytest.raises(HandlerCrashed, match=f"answered {status[:3]}"):
                await asked(server)
        return server

    assert len(asyncio.run(scenario()).seen) == 1


def test_a_redirect_says_that_it_was_not_followed(asked: Any) -> None:
    async def scenario() -> None:
        async with serving(reply(b"", "307 There", "Location: /other")) as server:
            with pytest.raises(HandlerCrashed, match="redirects are not followed"):
                await asked(server)

    asyncio.run(scenario())


def test_nobody_listening_means_unavailable(asked: Any) -> None:
    with pytest.raises(HandlerUnavailable, match=r"cannot connect to http://127\.0\.0\.1:1"):
        asyncio.run(asked("http://127.0.0.1:1/path-secret"))


def test_an_answer_that_does_not_come_in_time_is_a_timeout(asked: Any) -> None:
    async def never(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async def scenario() -> None:
        async with serving(never) as server:
            with pytest.raises(HandlerTimeout):
                await asked(server, timeout=0.05)

    asyncio.run(scenario())


def test_a_body_that_trickles_for_ever_is_a_timeout(asked: Any) -> None:
    async def trickle(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\nx\r\n")
            await writer.drain()
            await asyncio.sleep(0.01)

    async def scenario() -> None:
        async with serving(trickle) as server:
            with pytest.raises(HandlerTimeout):
                await asked(server, timeout=0.1)

    asyncio.run(scenario())


def test_a_body_without_end_is_cut(asked: Any) -> None:
    async def flood(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b" " * 1_000_000)
            await writer.drain()

    async def scenario() -> None:
        async with serving(flood) as server:
            with pytest.raises(HandlerAnswerError, match="longer than 10,000,000 bytes"):
                await asked(server)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "noise", [b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"]
)
def test_what_is_no_http_is_a_crash(asked: Any, noise: bytes) -> None:
    async def speak(writer: asyncio.StreamWriter) -> None:
        writer.write(noise)
        await writer.drain()
        raise ConnectionError

    async def scenario() -> None:
        async with serving(speak) as server:
            with pytest.raises(HandlerCrashed, match="RemoteProtocolError"):
                await asked(server)

    asyncio.run(scenario())


def test_a_body_that_is_no_answer_is_a_failed_answer(asked: Any) -> None:
    async def scenario() -> None:
        async with serving(reply(b'{"verdict": "deny"')) as server:
            with pytest.raises(HandlerAnswerError, match="not an answer"):
                await asked(server)

    asyncio.run(scenario())


def test_a_secret_that_the_server_repeats_is_not_shown(asked: Any) -> None:
    async def scenario() -> str:
        async with serving(reply(b'{"verdict":"my-s3cret"}')) as server:
            with pytest.raises(HandlerAnswerError) as failure:
                await asked(server, headers={"A": "${T}"}, env={"T": "my-s3cret"}, listed=("T",))
            return str(failure.value)

    assert "s3cret" not in asyncio.run(scenario())


def test_failures_show_neither_path_nor_query(asked: Any) -> None:
    async def scenario() -> str:
        async with serving(reply(b"", "403 No")) as server:
            with pytest.raises(HandlerCrashed) as failure:
                await asked(server)
            return str(failure.value)

    assert "token" not in asyncio.run(scenario())


def test_cookies_are_not_kept(asked: Any) -> None:
    async def scenario() -> list[Seen]:
        async with serving(reply(b"", "200 OK", "Set-Cookie: a=b; Path=/")) as server:
            await asked(server)
            await asked(server)
        return server.seen

    assert [request.header("cookie") for request in asyncio.run(scenario())] == [None, None]


def test_proxies_of_the_process_are_not_used(asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")

    async def scenario() -> Any:
        async with serving(reply(DENY)) as server:
            return await asked(server)

    assert asyncio.run(scenario()) == deny("no")


@pytest.mark.parametrize(
    "value",
    [
        "https://example.com/hook",
        "http://localhost:8080",
        http.Target("https://example.com", {"A": "b"}),
        {"url": "https://[::1]:8443/x", "headers": {"Authorization": "Bearer ${TOKEN}"}},
    ],
)
def test_good_targets_have_no_problems(kit: Any, value: Any) -> None:
    hook = kit.hook({"http": value}, env=("TOKEN",))
    assert http.check({"http": value}, hook, kit.services()) == []
    assert not http.make(hook, kit.services()).instant


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ("example.com/hook", "neither http nor https", "https://"),
        ("ftp://example.com", "neither http nor https", ""),
        ("https:///path", "no host", ""),
        ("https://user:pw@example.com", "password", "Authorization"),
        ("https://example.com:99999999", "no URL", ""),
        ("https://[::1", "no URL", ""),
        ("https://exa mple.com", "blanks", ""),
        ("https://example.com/\r\nX: y", "control characters", ""),
        ("https://example.com/${TOKEN}", "variable", "`headers`"),
        ({"url": "https://e.com", "header": {}}, "unknown field `header`", "`headers`"),
        ({"headers": {}}, "missing required field `url`", ""),
        ({"url": "https://e.com", "headers": {"A b": "c"}}, "header's name", ""),
        ({"url": "https://e.com", "headers": {"": "c"}}, "header's name", ""),
        ({"url": "https://e.com", "headers": {"A": "b\r\nC: d"}}, "line break", ""),
        ({"url": "https://e.com", "headers": {"Content-Length": "1"}}, "hookline", "leave it out"),
        ({"url": "https://e.com", "headers": {"A": "${SECRET}"}}, "`${SECRET}`", "env: [SECRET]"),
        ({"url": "https://e.com", "headers": {"A": "${}"}}, "`${}`", ""),
    ],
)
def test_mistakes_in_the_target_are_told_apart(
    kit: Any, value: Any, message: str, hint: str
) -> None:
    [problem] = http.check({"http": value}, kit.hook({"http": value}), kit.services())
    assert problem.key == "http"
    assert message in problem.message
    assert hint in problem.hint
