"""The scripted model's server: its bounds, its log, and how it ends."""

import gzip
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from hookline.lab import listening
from hookline.lab.ports import ToolCall
from hookline.lab.script import Act, Script, Shell, Turn
from hookline.lab.server import ModelServer
from hookline.model.errors import HooklineError
from support.model_clients import CLIENTS, Chat, ModelClient

PROMPT = "Clean up MK_PROMPT."
CHAT = "/v1/chat/completions"


def say(act: Act) -> ToolCall:
    """Acts in the words of no client in particular."""
    assert isinstance(act, Shell)
    return ToolCall("tool", {"command": act.command})


@contextmanager
def serving(*turns: Turn, **options: Any) -> Iterator[ModelServer]:
    """A server for these turns."""
    with ModelServer(Script(prompt=PROMPT, turns=turns), say, **options) as server:
        yield server


def post(url: str, content: Any, **headers: str) -> httpx.Response:
    """A plain POST of bytes."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.post(
        url, content=content, headers=given, trust_env=False, verify=False, timeout=30
    )


def question(text: str = PROMPT) -> bytes:
    """A question of the chat wire."""
    client = Chat("", stream=False)
    client.history.append(client.user(text))
    return json.dumps(client.body()).encode()


def test_what_was_asked_is_kept_as_it_was_sent() -> None:
    with serving(Turn("a")) as server:
        assert server.wait_until_asked(0, timeout=0)
        assert not server.wait_until_asked(1, timeout=0)
        post(f"{server.url}{CHAT}?x=1", question("MK_BODY"))
        assert server.wait_until_asked(1, timeout=0)
        [asked] = server.asked
    assert (asked.wire, asked.path) == ("chat", f"{CHAT}?x=1")
    assert asked.body == json.loads(question("MK_BODY"))


def test_waiting_ends_when_the_model_is_asked() -> None:
    with serving(Turn("a")) as server:
        timer = threading.Timer(0.05, post, (server.url + CHAT, question()))
        timer.start()
        assert server.wait_until_asked(1, timeout=30)
        timer.join()


def test_an_act_that_cannot_be_said_is_an_error_before_the_session() -> None:
    def mute(act: Act) -> ToolCall:
        raise HooklineError(f"no words for {act}")

    with pytest.raises(HooklineError, match="no words for"):
        ModelServer(Script(prompt=PROMPT, turns=(Turn("", (Shell("ls"),)),)), mute)


@pytest.mark.parametrize("path", ["/v1/other", "/", "/v1/messages/batches"])
def test_an_unknown_path_is_not_found_and_kept(path: str) -> None:
    with serving() as server:
        response = post(server.url + path, b"{}")
        [asked], notes = server.asked, server.notes
    assert response.status_code == 404
    assert "is no request to a model" in response.json()["error"]["message"]
    assert (asked.path, asked.side) == (path, True)
    assert notes[0].startswith(f"POST {path}: answered 404")


def test_a_websocket_is_refused_so_that_clients_fall_back() -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    with serving(Turn("a")) as server:
        url = f"{server.url}/v1/responses"
        response = httpx.get(url, headers=headers, trust_env=False, verify=False)
        assert post(server.url + CHAT, question()).status_code == 200
    assert response.status_code == 426
    assert response.json()["error"]["code"] == "426"


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'"a"', b"\xff", b"{}}"])
def test_a_body_that_is_no_object_is_refused(content: bytes) -> None:
    with serving(Turn("a")) as server:
        response = post(server.url + CHAT, content)
        assert response.status_code == 400
        assert "is not a JSON object" in response.json()["error"]["message"]
        assert post(server.url + CHAT, question()).json()["choices"][0]["message"]["content"] == "a"


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("wrong", [[1], ["a"], [None], 7, {"a": 1}])
def test_a_body_of_wrong_shapes_never_breaks_the_server(
    kind: type[ModelClient], wrong: Any
) -> None:
    client = kind("", stream=False)
    client.history.append(client.user(PROMPT))
    body = client.body()
    with serving(Turn("a")) as server:
        for key in body:
            response = post(server.url + client.path(), json.dumps(body | {key: wrong}).encode())
            assert response.status_code in {200, 400}, (key, response.text)
        assert not any("the lab itself failed" in note for note in server.notes)


def test_too_many_requests_are_refused_and_said_so() -> None:
    with serving(Turn("a"), limit=2) as server:
        statuses = [post(server.url + CHAT, question()).status_code for _ in range(3)]
        assert server.notes == (
            f"POST {CHAT}: answered 429: a session of more than 2 requests goes round in circles",
        )
    assert statuses == [200, 200, 429]


def test_a_body_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listening, "MAX_BODY", 1_000)
    long = question("x" * 1_000)
    with serving() as server:
        refused = post(server.url + CHAT, long)
        assert (refused.status_code, refused.headers["connection"]) == (413, "close")
        assert post(server.url + CHAT, iter([long])).status_code == 413
        packed = gzip.compress(long)
        assert len(packed) < 1_000
        assert post(server.url + CHAT, packed, content_encoding="gzip").status_code == 413
        assert post(server.url + CHAT, question()).status_code == 200


def test_bodies_come_in_chunks_and_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    body = question()
    with serving(Turn("a")) as server:
        url = server.url + CHAT
        assert post(url, iter([body[:10], body[10:]])).status_code == 200
        assert post(url, gzip.compress(body), content_encoding="gzip").status_code == 200
        assert post(url, b"no gzip", content_encoding="gzip").status_code == 400
        assert post(url, body, content_encoding="zstd").status_code == 415


@pytest.mark.parametrize(
    "head",
    [
        b"Content-Length: many\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n-5\r\nabcde\r\n",
        b"Content-Length: 10\r\n\r\nabc",
    ],
)
def test_a_broken_request_is_refused(head: bytes) -> None:
    with serving() as server, socket.create_connection(("127.0.0.1", server.port), 30) as raw:
        raw.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n" + head)
        raw.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: raw.recv(65_536), b""))
    assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 "))


def test_a_given_socket_is_listened_on() -> None:
    with socket.create_server(("127.0.0.1", 0)) as given:
        port = given.getsockname()[1]
        for text in ("first", "second"):
            with serving(Turn(text), listener=given.dup()) as server:
                assert server.port == port
                found = post(server.url + CHAT, question()).json()
                assert found["choices"][0]["message"]["content"] == text


def test_a_peer_that_is_not_this_machine_is_not_answered() -> None:
    with serving() as server:
        assert server._listening is not None
        inner = server._listening._server
        assert inner.verify_request(None, ("127.0.0.1", 1))
        assert inner.verify_request(None, ("::1", 1))
        assert not inner.verify_request(None, ("192.0.2.7", 1))


def test_a_connection_carries_many_requests() -> None:
    with serving(Turn("a")) as server, httpx.Client(trust_env=False, verify=False) as client:
        for _ in range(3):
            assert client.post(server.url + CHAT, content=question()).status_code == 200
            assert client.get(server.url + "/nowhere").status_code == 404


def test_nothing_runs_when_the_server_is_left() -> None:
    before = {*threading.enumerate()}
    with httpx.Client(trust_env=False, verify=False) as kept, serving(Turn("a")) as server:
        port = server.port
        idle = socket.create_connection(("127.0.0.1", port), 30)
        kept.post(server.url + CHAT, content=question())
        started = {*threading.enumerate()} - before
        assert started
    with idle:
        assert idle.recv(1) == b""
    for thread in started:
        thread.join(30)
        assert not thread.is_alive()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), 30)


def test_a_client_that_goes_away_in_the_middle_harms_nobody() -> None:
    with serving(Turn("x" * 3_000_000)) as server:
        raw = socket.create_connection(("127.0.0.1", server.port), 30)
        body = question().replace(b'"stream": false', b'"stream": true')
        head = f"POST {CHAT} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        raw.sendall(head.encode() + body)
        raw.recv(10)
        raw.close()
        assert post(server.url + CHAT, question()).status_code == 200


def test_a_mistake_of_the_lab_is_raised_where_it_is_seen() -> None:
    def broken(result: str) -> ToolCall | None:
        raise RuntimeError("MK_BROKEN")

    def session() -> None:
        script = Script(prompt=PROMPT, turns=(Turn("", (Shell("ls"),)),))
        with ModelServer(script, lambda act: ToolCall("tool", {}, broken)) as server:
            client = Chat(server.url)
            heard = client.ask(PROMPT)
            client.history.extend(client.results(heard, "ok"))
            with pytest.raises(httpx.HTTPStatusError, match="500"):
                client.ask()

    with pytest.raises(RuntimeError, match="MK_BROKEN"):
        session()
