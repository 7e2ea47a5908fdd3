"""A server on loopback for the time of a test."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any, Self

__all__ = ["Loopback", "Quiet"]


class Quiet(BaseHTTPRequestHandler):
    """A handler that prints nothing: tests look at what it kept."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Loopback:
    """Started on entering, gone on leaving."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def origin(self) -> str:
        """Its address, without a path."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
