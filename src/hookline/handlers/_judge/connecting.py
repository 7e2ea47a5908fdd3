"""The way to a model: its libraries, one bounded connection, and nothing of our own environment.

Knows the library that speaks to models; must not know what is asked. The library is slow to load,
so it is loaded in a thread when the first question is asked, and nobody else has to wait for that.
"""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.handlers._per_loop import PerLoop
from hookline.model.models import Place

if TYPE_CHECKING:
    from httpx2 import AsyncClient, Request, Response
    from pydantic_ai.models import Model

__all__ = ["BODY_CAP", "TooLong", "aclose", "connected", "loaded"]

BODY_CAP = 2_000_000
"""The longest response that is read, in bytes: a verdict has a few hundred."""

_wires: set[str] = set()


async def loaded(wire: str) -> None:
    """Waits until the libraries for a wire format are there. Raises ImportError."""
    if wire in _wires:
        return
    import asyncio
    from threading import Thread

    loop = asyncio.get_running_loop()
    done: asyncio.Future[None] = loop.create_future()

    def tell(error: Exception | None) -> None:
        if not done.done():
            done.set_exception(error) if error is not None else done.set_result(None)

    def load() -> None:
        failed: Exception | None = None
        try:
            _load(wire)
        except Exception as error:
            failed = error
        with suppress(RuntimeError):  # nobody waits any more
            loop.call_soon_threadsafe(tell, failed)

    # Not a worker of the loop's: a process would wait for that at its end, past its deadline.
    Thread(target=load, daemon=True).start()
    await done


def _load(wire: str) -> None:
    """Seconds of imports, away from the event loop."""
    from importlib import import_module

    import_module("pydantic_ai.direct")
    import_module("httpx2")
    import_module(f"pydantic_ai.models.{wire}")
    import_module(f"pydantic_ai.providers.{wire}")
    _wires.add(wire)


async def connected(place: Place, key: str) -> "Model":
    """The model, over the running loop's connections; its libraries are loaded."""
    return _model(place, key, await _clients.get())


async def aclose() -> None:
    """Close the running loop's connections."""
    await _clients.aclose()


def _model(place: Place, key: str, client: "AsyncClient") -> "Model":
    """The model; nothing about it comes from this process's own environment."""
    if place.wire == "anthropic":
        return _anthropic(place, key, client)
    if place.wire == "google":
        return _google(place, key, client)
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    speaker = AsyncOpenAI(
        api_key=key or "none", base_url=place.url, http_client=client, max_retries=0
    )
    speaker.organization = speaker.project = None
    speaker._custom_headers = {}  # what it found in this process's environment
    return OpenAIChatModel(place.name, provider=OpenAIProvider(openai_client=speaker))


def _anthropic(place: Place, key: str, client: "AsyncClient") -> "Model":
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    speaker = AsyncAnthropic(
        api_key=key or "none", base_url=place.url, http_client=client, max_retries=0
    )
    speaker.auth_token = None
    speaker._custom_headers = {}  # what it found in this process's environment
    return AnthropicModel(place.name, provider=AnthropicProvider(anthropic_client=speaker))


def _google(place: Place, key: str, client: "AsyncClient") -> "Model":
    from ssl import PROTOCOL_TLS_CLIENT, SSLContext

    from google.genai.client import Client, DebugConfig
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    # For the clients that it makes beside ours and that nobody uses: they trust nobody, while its
    # own choice would be the environment's.
    nobody = SSLContext(PROTOCOL_TLS_CLIENT)
    speaker = Client(
        vertexai=False,
        api_key=key or "none",
        # Else the environment could have requests recorded with their key, or replayed.
        debug_config=DebugConfig(client_mode="api", replays_directory=None, replay_id=None),
        http_options=HttpOptions(
            base_url=place.url,
            httpx_async_client=client,
            client_args={"verify": nobody},
            async_client_args={"verify": nobody, "ssl": nobody},
        ),
    )
    return GoogleModel(place.name, provider=GoogleProvider(client=speaker))


# ── the connection ──────────────────────────────────────────────────────────────────────────


class TooLong(Exception):
    """A response longer than any verdict."""


def _new_client() -> "AsyncClient":
    import httpx2

    class Bounded(httpx2.AsyncHTTPTransport):
        """Reads no more of a response than a verdict could need."""

        async def handle_async_request(self, request: "Request") -> "Response":
            response = await super().handle_async_request(request)
            packed = response.headers.get("content-encoding", "identity")
            if packed != "identity":
                await response.aclose()
                raise TooLong
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _Counted(response.stream)
            return response

    class _Counted(httpx2.AsyncByteStream):
        def __init__(self, inner: httpx2.AsyncByteStream) -> None:
            self._inner = inner

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = BODY_CAP
            async for chunk in self._inner:
                left -= len(chunk)
                if left < 0:
                    raise TooLong
                yield chunk

        async def aclose(self) -> None:
            await self._inner.aclose()

    # Where requests go, and whose certificates are believed, is not the environment's to say: a
    # repository can set an agent's, and with it a proxy, an authority, a file for session keys.
    return httpx2.AsyncClient(
        transport=Bounded(trust_env=False),
        trust_env=False,
        follow_redirects=False,
        headers={"accept-encoding": "identity"},
        timeout=None,  # the deadline of the run holds for all of it together
    )


async def _close(client: "AsyncClient") -> None:
    await client.aclose()


_clients = PerLoop(_new_client, _close)
