"""Asks an MCP server which tools it has, over stdio or HTTP: bounded in time, words and tools.

Knows the protocol; what the server says is untrusted and is handed on as it is.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from hookline._version import __version__
from hookline.pinning.definitions import Definition, Surroundings, filled
from hookline.processes import CannotStart
from hookline.processes.talking import SaidTooMuch, talking
from hookline.secrets import redact

if TYPE_CHECKING:
    import httpx

__all__ = ["CannotAsk", "tools_of"]

MOST_TOOLS = 2_000
_MOST_PAGES = 200
_MOST_BYTES = 16 << 20
_LONGEST_LINE = 8 << 20
_LEAST = 1024
_VERSION = "2025-06-18"
_NO_METHOD = -32601

Message = dict[str, Any]
_Ask = Callable[[str, Message], Awaitable[Message]]
_Tell = Callable[[Message], Awaitable[None]]


class CannotAsk(Exception):
    """A server that could not be asked; the text says why, and quotes no secret."""


async def tools_of(
    definition: Definition, where: Surroundings, *, timeout: float
) -> dict[str, Message]:
    """What the server says of each of its tools, by name. Raises CannotAsk."""
    try:
        async with asyncio.timeout(timeout), _reached(definition, where) as (ask, tell):
            return await _listed(ask, tell)
    except TimeoutError:
        raise CannotAsk(f"no answer within {timeout:g} s") from None
    except SaidTooMuch:
        raise CannotAsk("it says more than is listened to") from None
    except CannotStart as error:
        raise CannotAsk(str(error)) from None
    except LookupError as error:
        raise CannotAsk(str(error.args[0]) if error.args else "something is missing") from None


async def _listed(ask: _Ask, tell: _Tell) -> dict[str, Message]:
    begun = await ask(
        "initialize",
        {
            "protocolVersion": _VERSION,
            "capabilities": {},
            "clientInfo": {"name": "hookline", "version": __version__},
        },
    )
    await tell({"method": "notifications/initialized"})
    offers = begun.get("capabilities")
    if not isinstance(offers, Mapping) or "tools" not in offers:
        return {}
    tools: dict[str, Message] = {}
    cursor: Any = None
    for _ in range(_MOST_PAGES):
        page = await ask("tools/list", {} if cursor is None else {"cursor": cursor})
        found = page.get("tools")
        if not isinstance(found, list):
            raise CannotAsk("its answer to tools/list has no list of tools")
        for each in found:
            if not isinstance(each, dict) or not isinstance(each.get("name"), str):
                raise CannotAsk("one of its tools has no name")
            if each["name"] in tools:
                raise CannotAsk(f"two of its tools are called `{each['name'][:60]}`")
            tools[each["name"]] = each
        if len(tools) > MOST_TOOLS:
            raise CannotAsk(f"it has more than {MOST_TOOLS:,} tools")
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return tools
    raise CannotAsk(f"its list has more than {_MOST_PAGES} pages")


@asynccontextmanager
async def _reached(
    definition: Definition, where: Surroundings
) -> AsyncIterator[tuple[_Ask, _Tell]]:
    kind = str(definition.said.get("type", ""))
    if definition.argv:
        async with _started(definition, where) as both:
            yield both
    elif kind == "sse" or (
        definition.url
        and "gemini" in definition.clients
        and not kind
        and "httpUrl" not in definition.said
    ):
        raise CannotAsk("it speaks the older SSE transport, over which hookline does not ask")
    elif definition.url:
        async with _called(definition, where) as both:
            yield both
    else:
        raise CannotAsk("its definition has neither a command nor an address")


# ── over stdio ──────────────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def _started(
    definition: Definition, where: Surroundings
) -> AsyncIterator[tuple[_Ask, _Tell]]:
    said = definition.said
    argv = [filled(word, where) for word in definition.argv]
    cwd = said.get("cwd")
    directory = filled(cwd, where) if isinstance(cwd, str) else where.project
    numbers = iter(range(1, 1_000_000))
    async with talking(
        argv,
        cwd=directory,
        env=_environment(said, where),
        output_cap=_MOST_BYTES,
        line_cap=_LONGEST_LINE,
    ) as talk:

        async def tell(message: Message) -> None:
            await talk.say(msgspec.json.encode({"jsonrpc": "2.0", **message}))

        async def ask(method: str, parameters: Message) -> Message:
            number = next(numbers)
            await tell({"id": number, "method": method, "params": parameters})
            while (line := await talk.hear()) is not None:
                if not line.strip():
                    continue
                message = _message(line)
                if message.get("id") == number and "method" not in message:
                    return _result(message)
                if "method" in message and "id" in message:
                    await tell(_declined(message))
            why = redact(bytes(talk.stderr).decode("utf-8", "replace")).text.strip()[-300:]
            raise CannotAsk("it ended before it answered" + (f": {why}" if why else ""))

        yield ask, tell


def _environment(said: Mapping[str, Any], where: Surroundings) -> dict[str, str]:
    """The person's own, without what is hookline's business, and what the definition adds."""
    env = {name: value for name, value in where.env.items() if not name.startswith("HOOKLINE_")}
    added = said.get("env")
    for name, value in added.items() if isinstance(added, Mapping) else ():
        if isinstance(value, str | int | float):
            env[str(name)] = filled(str(value), where)
    return env


def _declined(message: Message) -> Message:
    """A server may see whether we are there, and ask for nothing else."""
    if message["method"] == "ping":
        return {"id": message["id"], "result": {}}
    return {"id": message["id"], "error": {"code": _NO_METHOD, "message": "not supported"}}


def _message(line: bytes) -> Message:
    try:
        return msgspec.json.decode(line, type=Message)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise CannotAsk("what it says is no JSON-RPC") from None


def _result(message: Message) -> Message:
    error = message.get("error")
    if error is not None:
        text = error.get("message") if isinstance(error, Mapping) else error
        raise CannotAsk(f"it answered with an error: {str(text)[:200]}")
    result = message.get("result")
    if not isinstance(result, dict):
        raise CannotAsk("its answer has no result")
    return result


# ── over HTTP ───────────────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def _called(definition: Definition, where: Surroundings) -> AsyncIterator[tuple[_Ask, _Tell]]:
    import httpx

    url = filled(definition.url, where)
    headers = {
        "accept": "application/json, text/event-stream",
        "accept-encoding": "identity",
        **_headers(definition.said, where),
    }
    session: dict[str, str] = {}
    numbers = iter(range(1, 1_000_000))
    left = [_MOST_BYTES]
    async with httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=None) as client:  # noqa: S113 - one deadline holds for all of it together

        async def send(message: Message, number: int | None) -> Message | None:
            body = msgspec.json.encode({"jsonrpc": "2.0", **message})
            known = {**headers, **session, "content-type": "application/json"}
            try:
                async with client.stream("POST", url, content=body, headers=known) as reply:
                    if not reply.is_success:
                        raise CannotAsk(f"it answered {reply.status_code}")
                    if found := reply.headers.get("mcp-session-id"):
                        session["mcp-session-id"] = found
                    return await _heard(reply, number, left) if number is not None else None
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                # Without the error's own words: they may quote a header.
                raise CannotAsk(f"talking to it failed ({type(error).__name__})") from None

        async def tell(message: Message) -> None:
            await send(message, None)

        async def ask(method: str, parameters: Message) -> Message:
            number = next(numbers)
            message = await send({"id": number, "method": method, "params": parameters}, number)
            if message is None:
                raise CannotAsk("it did not answer what it was asked")
            result = _result(message)
            if method == "initialize" and isinstance(result.get("protocolVersion"), str):
                session["mcp-protocol-version"] = result["protocolVersion"]
            return result

        yield ask, tell


def _headers(said: Mapping[str, Any], where: Surroundings) -> dict[str, str]:
    """Those that each client writes under a name of its own."""
    found: dict[str, str] = {}
    for key in ("headers", "http_headers", "requestInit"):
        given = said.get(key)
        if key == "requestInit" and isinstance(given, Mapping):
            given = given.get("headers")
        for name, value in given.items() if isinstance(given, Mapping) else ():
            found[str(name).lower()] = filled(str(value), where)
    by_variable = said.get("env_http_headers")
    for name, variable in by_variable.items() if isinstance(by_variable, Mapping) else ():
        found[str(name).lower()] = filled(f"${{{variable}}}", where)
    if isinstance(token := said.get("bearer_token_env_var"), str):
        found["authorization"] = f"Bearer {filled(f'${{{token}}}', where)}"
    return found


async def _heard(reply: "httpx.Response", number: int, left: list[int]) -> Message | None:
    """The answer with our number, in a body of its own or among the events of a stream."""
    streamed = reply.headers.get("content-type", "").startswith("text/event-stream")
    body = bytearray()
    async for chunk in reply.aiter_bytes():
        left[0] -= len(chunk)
        if left[0] < 0:
            raise SaidTooMuch
        body += chunk
        while streamed and (cut := _event_end(body)):
            event, body = bytes(body[: cut[0]]), body[cut[1] :]
            left[0] -= _LEAST
            if (message := _told(event)) is not None and message.get("id") == number:
                return message
    if streamed:
        message = _told(bytes(body))
        return message if message is not None and message.get("id") == number else None
    return _message(bytes(body))


def _event_end(body: bytearray) -> tuple[int, int] | None:
    ends = [(at, at + len(mark)) for mark in (b"\r\n\r\n", b"\n\n") if (at := body.find(mark)) >= 0]
    return min(ends) if ends else None


def _told(event: bytes) -> Message | None:
    lines = [line[5:].strip() for line in event.splitlines() if line.startswith(b"data:")]
    return _message(b"\n".join(lines)) if any(lines) else None
