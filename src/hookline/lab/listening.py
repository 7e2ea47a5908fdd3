"""A small HTTP server on loopback that hands whole requests to a function.

Knows sockets, threads and bounds; must not know what is asked or answered.
"""

import gzip
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from ipaddress import ip_address
from threading import Condition, Thread
from typing import Any, cast
from zlib import error as BrokenGzip

from msgspec import Struct

from hookline.model.errors import HooklineError

__all__ = ["MAX_BODY", "Listening", "Refused", "Reply", "Request"]

MAX_BODY = 64_000_000

# How long we wait at the end for threads whose connections were just cut.
PATIENCE = 5.0


class Refused(HooklineError):
    """A request that gets no answer; ``status`` is what HTTP calls the reason."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class Request(Struct, frozen=True):
    """One request, read to its end."""

    method: str
    target: str
    """The path with its query, as it was sent."""
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes = b""
    problem: Refused | None = None
    """Why there is no body, when it could not be taken."""


class Reply(Struct, frozen=True):
    """What is sent back: bytes, or parts that are sent as they come."""

    status: int
    content: bytes | Iterable[bytes]
    kind: str = "application/json"


class Listening:
    """The server's socket and threads, from the first to the last."""

    def __init__(
        self, answer: Callable[[Request], Reply], listener: socket.socket | None = None
    ) -> None:
        self._server = _Server(answer, listener)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """Where it listens, on loopback."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Take no more connections, cut those there are, and wait until nothing runs."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.cut()


class _Server(ThreadingHTTPServer):
    """Keeps the open connections, so that none outlives it."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, answer: Callable[[Request], Reply], listener: socket.socket | None = None
    ) -> None:
        self.answer = answer
        self._open: set[socket.socket] = set()
        self._closed = Condition()
        super().__init__(("127.0.0.1", 0), _Handler, bind_and_activate=listener is None)
        if listener is not None:
            self.socket.close()
            self.socket = listener
            self.server_address = listener.getsockname()

    def server_bind(self) -> None:
        """Binds without asking for the name of the address, which may take seconds offline."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.server_address = self.socket.getsockname()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Only this machine is answered, whatever the socket we were given listens on."""
        return ip_address(client_address[0]).is_loopback

    def process_request(self, request: Any, client_address: Any) -> None:
        """Notes the connection before its thread starts."""
        with self._closed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Forgets the connection when its thread has ended."""
        super().shutdown_request(request)
        with self._closed:
            self._open.discard(request)
            self._closed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle is no news: agents do so when they are stopped."""

    def cut(self) -> None:
        """End every connection and wait for the threads that serve them."""
        with self._closed:
            for connection in self._open:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._closed.wait_for(lambda: not self._open, PATIENCE)


class _Handler(BaseHTTPRequestHandler):
    """One connection: requests one after the other until the client has no more."""

    protocol_version = "HTTP/1.1"
    server_version = "hookline-lab"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Every method goes the same way."""
        self._serve()

    do_POST = do_PUT = do_HEAD = do_DELETE = do_OPTIONS = do_PATCH = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was asked is kept by whom it was asked."""

    def _serve(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body, problem = b"", None
        try:
            body = _unpacked(self._body(headers), headers.get("content-encoding", ""))
        except Refused as error:
            # What was not read is still in the connection, where the next request would begin.
            problem, self.close_connection = error, True
        request = Request(self.command, self.path, headers, body, problem)
        self._send(cast("_Server", self.server).answer(request))

    def _body(self, headers: Mapping[str, str]) -> bytes:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return self._chunks()
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            raise Refused(400, f"the content length `{length}` is not a number")
        return self._exactly(int(length))

    def _chunks(self) -> bytes:
        body = BytesIO()
        while True:
            line = self.rfile.readline(100).partition(b";")[0].strip()
            try:
                size = int(line, 16)
            except ValueError:
                raise Refused(400, "a chunk of the body has no size") from None
            if size == 0:
                while self.rfile.readline(65_537).strip():
                    pass
                return body.getvalue()
            if size < 0 or body.tell() + size > MAX_BODY:
                raise _too_large()
            body.write(self._exactly(size))
            self.rfile.readline(100)

    def _exactly(self, size: int) -> bytes:
        if size > MAX_BODY:
            raise _too_large()
        body = self.rfile.read(size)
        if len(body) < size:
            raise Refused(400, f"the body ended after {len(body):,} of {size:,} bytes")
        return body

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        whole = reply.content if isinstance(reply.content, bytes) else None
        if whole is None:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(whole)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command == "HEAD":
            return
        if whole is not None:
            self.wfile.write(whole)
            return
        for part in cast("Iterable[bytes]", reply.content):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")


def _too_large() -> Refused:
    return Refused(413, f"the body has more than {MAX_BODY:,} bytes")


def _unpacked(body: bytes, encoding: str) -> bytes:
    """The body as it was before it was packed for the way."""
    match encoding.lower():
        case "" | "identity":
            return body
        case "gzip":
            try:
                with gzip.open(BytesIO(body)) as packed:
                    plain = packed.read(MAX_BODY + 1)
            except (OSError, EOFError, BrokenGzip):
                raise Refused(400, "the body is not gzip, though its header says so") from None
            if len(plain) > MAX_BODY:
                raise _too_large()
            return plain
        case other:
            raise Refused(415, f"the body is packed as `{other}`; only gzip is understood here")
