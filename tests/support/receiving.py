"""A server on loopback that keeps what is posted to it, and answers with a status."""

import json
from typing import Any

from support.loopback import Loopback, Quiet

__all__ = ["Receiver"]


class Receiver(Loopback):
    """``seen`` has each path and its JSON."""

    def __init__(self, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.seen: list[tuple[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        receiver = self

        class Handler(Quiet):
            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", "0"))
                body = self.rfile.read(length)
                receiver.seen.append((self.path, json.loads(body) if body else None))
                receiver.headers.append({name.lower(): v for name, v in self.headers.items()})
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.send_header("content-length", "0")
                self.end_headers()

        super().__init__(Handler)
        self.url = self.origin
