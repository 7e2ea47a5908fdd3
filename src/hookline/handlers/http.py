"""Hooks behind a URL: the event is POSTed, the body of the response is the answer.

Knows HTTP; must not know what the answer means. Values of headers are secrets: they come from
the caller's environment and appear in no text that leaves this module.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import Struct, ValidationError, convert

from hookline.handlers._exchange import OUTPUT_CAP, as_asked, question, understood
from hookline.handlers._per_loop import PerLoop
from hookline.model.answers import PASS, Answer
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerError,
    HandlerTimeout,
    HandlerUnavailable,
)
from hookline.model.hook import Hook
from hookline.model.ports import Call, Handler, KeyProblem, Services

if TYPE_CHECKING:
    from httpx import AsyncClient

__all__ = ["COMBINES", "EXTRA_KEYS", "KEYS", "Target", "aclose", "check", "make"]


class Target(Struct, frozen=True, forbid_unknown_fields=True):
    """Where to POST, and with which headers; ``${NAME}`` in a value is a caller's variable."""

    url: str
    headers: dict[str, str] = {}


KEYS: Mapping[str, Any] = {"http": str | Target}
EXTRA_KEYS: Mapping[str, Any] = {}
COMBINES: bool = False

# Patterns stay text here: most configs have no such hook, so importing compiles none.
_VARIABLE = r"\$\{([^}]*)\}"
_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_CONTROL = r"[\x00-\x08\x0a-\x1f\x7f]"
_SECRET_LENGTH = 8
# These frame the message; a second opinion about them is how requests are smuggled.
_OURS = {"connection", "content-length", "transfer-encoding"}


def check(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    """Every mistake in the URL and the headers."""
    try:
        target = _target(values["http"])
    except ValidationError as error:
        return [KeyProblem("http", f"`http` does not fit: {error}", "it takes `url` and `headers`")]
    messages = [*_url_mistakes(target.url), *_header_mistakes(target.headers, hook)]
    return [KeyProblem("http", message, hint) for message, hint in messages]


def make(hook: Hook, services: Services) -> Handler:
    """The handler for one URL."""
    return Http(_target(hook.handler.values["http"]), hook, services)


class Http:
    """POSTs events to one URL over kept connections."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, target: Target, hook: Hook, services: Services) -> None:
        self._target = target
        from urllib.parse import urlsplit  # slow to load, and most configs call no address

        self._codec = services.codec(hook.speaks)
        parts = urlsplit(target.url)
        # All that errors may show: paths and queries of webhooks are secrets too.
        self._origin = f"{parts.scheme}://{parts.netloc}"

    async def run(self, call: Call) -> Answer:
        """The answer in the response."""
        from asyncio import timeout

        headers, secrets = self._headers(call)
        event = as_asked(call)
        body = question(self._codec, event, call.caller)
        try:
            async with timeout(call.timeout):
                reply = await self._post(body, headers)
        except TimeoutError as error:
            raise HandlerTimeout(call.timeout) from error
        try:
            if call.hook.native and not reply.lstrip().startswith(b"{"):
                return self._read_text(reply)
            return understood(self._codec, event, stdout=reply)
        except HandlerError as error:
            if any(secret in str(error) for secret in secrets):
                raise HandlerAnswerError("not an answer; it repeats a secret header") from None
            raise

    def _read_text(self, reply: bytes) -> Answer:
        """A body that is no object, from a hook of another platform."""
        if reply.strip() and not self._codec.ignores_http_text:
            raise HandlerAnswerError("the response is no JSON object")
        return PASS

    def _headers(self, call: Call) -> tuple[list[tuple[bytes, bytes]], list[str]]:
        """The headers with their variables filled in, and what must not be shown of them."""
        secrets: list[str] = []

        def value_of(variable: re.Match[str]) -> str:
            name = variable[1]
            value = call.caller.env.get(name, "").strip()
            if not value and not call.hook.native:  # other platforms send it empty
                raise HandlerUnavailable(f"`{name}` is not set in the caller's environment")
            if re.search(_CONTROL, value):
                raise HandlerUnavailable(f"`{name}` has control characters; no header takes them")
            secrets.extend(filter(None, [value]))
            return value

        own = {"content-type": "application/json", "accept-encoding": "identity"}
        given = {
            name.lower(): re.sub(_VARIABLE, value_of, text).strip()
            for name, text in self._target.headers.items()
        }
        # Those written out in the config may be secrets as well, unless too short to be one.
        secrets += [value for value in given.values() if len(value) >= _SECRET_LENGTH]
        headers = {**own, **given}
        return [(n.encode(), v.encode("utf-8", "replace")) for n, v in headers.items()], secrets

    async def _post(self, body: bytes, headers: list[tuple[bytes, bytes]]) -> bytes:
        import httpx

        client = await _clients.get()
        try:
            async with client.stream(
                "POST", self._target.url, content=body, headers=headers
            ) as response:
                if not response.is_success:
                    raise HandlerCrashed(f"{self._origin} answered {_status(response.status_code)}")
                return await _bounded(response)
        except httpx.ConnectError as error:
            raise HandlerUnavailable(f"cannot connect to {self._origin}: {error}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            # Without the error's own words: they may quote a header.
            raise HandlerCrashed(
                f"talking to {self._origin} failed ({type(error).__name__})"
            ) from None


async def _bounded(response: Any) -> bytes:
    body = bytearray()
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > OUTPUT_CAP:
            raise HandlerAnswerError(f"the response is longer than {OUTPUT_CAP:,} bytes")
    return bytes(body)


def _status(code: int) -> str:
    return f"{code}; redirects are not followed" if 300 <= code < 400 else str(code)


def _new_client() -> "AsyncClient":
    # Half of HTTP comes with these, and most configs call no address.
    from http.cookiejar import CookieJar, DefaultCookiePolicy

    import httpx

    # No cookies: what one hook's server sets is no business of another's.
    nobody = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx.AsyncClient(
        cookies=nobody,
        trust_env=False,
        follow_redirects=False,
        timeout=None,  # noqa: S113 - the deadline of the run holds for all of it together
    )


async def aclose() -> None:
    """Close the running loop's connections."""
    await _clients.aclose()


async def _close(client: "AsyncClient") -> None:
    await client.aclose()


_clients = PerLoop(_new_client, _close)


def _target(value: Any) -> Target:
    if isinstance(value, str):
        return Target(value)
    return value if isinstance(value, Target) else convert(value, Target)


def _url_mistakes(url: str) -> Iterator[tuple[str, str]]:
    if not url.isprintable() or " " in url:
        yield "the URL has blanks or control characters", ""
        return
    from urllib.parse import urlsplit

    if "${" in url:
        yield "the URL has a variable", "variables work in `headers` only"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        yield f"this is no URL: {error}", ""
        return
    if parts.scheme not in {"http", "https"}:
        yield "the URL is neither http nor https", "write `https://…`"
    elif not host:
        yield "the URL names no host", ""
    if "@" in parts.netloc:
        yield "the URL carries a password", "write `headers: {Authorization: …}`"


def _header_mistakes(headers: Mapping[str, str], hook: Hook) -> Iterator[tuple[str, str]]:
    for name, value in headers.items():
        if not re.fullmatch(_HEADER_NAME, name):
            yield f"`{name!r}` cannot be a header's name", ""
        elif name.lower() in _OURS:
            yield f"the header `{name}` is set by hookline", "leave it out"
        if re.search(_CONTROL, value):
            yield f"the header `{name}` has a line break or another control character", ""
        for variable in re.findall(_VARIABLE, value):
            if variable not in hook.env:
                yield (
                    f"the header `{name}` uses `${{{variable}}}`, which `env` does not list",
                    f"add `env: [{variable}]`" if variable else "",
                )
