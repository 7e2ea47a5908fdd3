"""One POST to one address: bounded in time, no redirects, no proxies, and no secret in an error.

Paths and queries of addresses are secrets as often as not, so only scheme and host are ever shown.
"""

import socket
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpcore

__all__ = ["Unsent", "is_public", "origin", "posted"]

# IPv6 addresses that stand for an IPv4 one behind a gateway.
_NAT64 = IPv6Network("64:ff9b::/96")
# All that is given out on the internet; the rest is old, local, or of some gateway.
_GIVEN_OUT = IPv6Network("2000::/3")
_PROTOCOLS = IPv4Network("192.0.0.0/24")


class Unsent(Exception):
    """Nothing came back; the text says why, without the address."""


def origin(url: str) -> str:
    """What may be shown of an address; empty when it is no whole http or https address."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if parts.scheme not in {"http", "https"} or not host or not url.isprintable() or " " in url:
        return ""
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")


def is_public(address: str) -> bool:
    """Whether an address belongs to the internet, rather than to this machine or its network."""
    try:
        found: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(found, IPv6Address):
        inner = found.ipv4_mapped or found.sixtofour
        if found in _NAT64:
            inner = IPv4Address(int(found) & 0xFFFFFFFF)
        if inner is not None:
            found = inner
        elif found.teredo is not None or found not in _GIVEN_OUT:
            return False
    if isinstance(found, IPv4Address) and found in _PROTOCOLS:
        return False
    return found.is_global and not found.is_multicast


def posted(url: str, body: bytes, *, seconds: float, public_only: bool) -> int:
    """The status that came back for ``body`` as JSON. Raises Unsent."""
    import httpcore

    if seconds <= 0:
        raise Unsent("there was no time left")
    # A host that is written with other letters than ASCII has no one spelling on the wire.
    if not url.isascii():
        raise Unsent("the address has other characters than ASCII")
    deadline = monotonic() + seconds
    headers = [("Content-Type", "application/json"), ("Accept-Encoding", "identity")]
    with httpcore.ConnectionPool(network_backend=_dialler(deadline, public_only)) as pool:
        try:
            # Only the status counts, so the body is left where it is.
            with pool.stream(
                "POST", _bare(url), headers=[*headers, *_login(url)], content=body
            ) as reply:
                return int(reply.status)
        except (httpcore.TimeoutException, TimeoutError):
            raise Unsent(f"no answer within {seconds:g} s") from None
        except _Refused as error:
            raise Unsent(str(error)) from None
        except (httpcore.NetworkError, httpcore.ProtocolError, OSError, ValueError) as error:
            raise Unsent(f"talking to it failed ({type(error).__name__})") from None


class _Refused(Exception):
    """An address that must not be called."""


def _bare(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="").geturl()


def _login(url: str) -> list[tuple[str, str]]:
    """What stands before the host goes into a header, as everywhere."""
    from base64 import b64encode
    from urllib.parse import unquote

    login, has_one, _ = urlsplit(url).netloc.rpartition("@")
    if not has_one:
        return []
    name, _, word = login.partition(":")
    said = b64encode(f"{unquote(name)}:{unquote(word)}".encode())
    return [("Authorization", f"Basic {said.decode()}")]


def _looked_up(host: str, port: int, seconds: float) -> list[str]:
    """The addresses of a name, which the system may take far longer for than there is."""
    from threading import Thread

    found: list[str] = []
    wrong: list[Exception] = []

    def look() -> None:
        try:
            each = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend(dict.fromkeys(str(address[4][0]) for address in each))
        except (OSError, ValueError) as error:
            wrong.append(error)

    thread = Thread(target=look, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise TimeoutError
    if wrong:
        raise wrong[0]
    return found


def _dialler(deadline: float, public_only: bool) -> "httpcore.NetworkBackend":
    """Connects to the very address that was looked at: a name may mean another one a moment later.

    Each step gets only what is left of the time, so that no drip of bytes can hold us.
    """
    import httpcore

    def left(timeout: float | None) -> float:
        remaining = deadline - monotonic()
        if remaining <= 0:
            raise httpcore.ReadTimeout
        return remaining if timeout is None else min(timeout, remaining)

    class Timed(httpcore.NetworkStream):
        def __init__(self, inner: httpcore.NetworkStream) -> None:
            self._inner = inner

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            return self._inner.read(max_bytes, left(timeout))

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            self._inner.write(buffer, left(timeout))

        def close(self) -> None:
            self._inner.close()

        def start_tls(
            self, ssl_context: Any, server_hostname: Any = None, timeout: float | None = None
        ) -> httpcore.NetworkStream:
            return Timed(self._inner.start_tls(ssl_context, server_hostname, left(timeout)))

        def get_extra_info(self, info: str) -> Any:
            return self._inner.get_extra_info(info)

    class Dialler(httpcore.NetworkBackend):
        def connect_tcp(
            self,
            host: str,
            port: int,
            timeout: float | None = None,
            local_address: str | None = None,
            socket_options: Iterable[Any] | None = None,
        ) -> httpcore.NetworkStream:
            addresses = _looked_up(host, port, left(timeout))
            if public_only and not all(map(is_public, addresses)):
                raise _Refused("its address is private: this machine's, or its network's")
            for last, address in enumerate(addresses, 1):
                try:
                    return Timed(
                        httpcore.SyncBackend().connect_tcp(
                            address, port, left(timeout), local_address, socket_options
                        )
                    )
                except httpcore.ConnectError:
                    if last == len(addresses):
                        raise
            raise httpcore.ConnectError("the name has no address")

    return Dialler()
