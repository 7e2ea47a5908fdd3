"""Asks a model, whoever serves it: one request, one answer, and what it took.

Knows what can go wrong on the way; must not know what is asked or what the answer means. A key goes
into a request and into no text of ours.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from hookline.handlers._judge.connecting import BODY_CAP, TooLong, connected, loaded
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerError,
    HandlerUnavailable,
)
from hookline.model.models import Place
from hookline.model.text import visible
from hookline.secrets import redact

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters
    from pydantic_ai.settings import ModelSettings

__all__ = ["EXTRA", "Cost", "Refused", "Talk", "opened"]

EXTRA = "pip install 'hookline[judge]'"

_HINTS = {
    400: "the request was not taken",
    401: "the key was not accepted",
    402: "the account has no credit",
    403: "the key may not use this model",
    404: "there is no such model, or the endpoint is not the right one",
    413: "the prompt is too long for it",
    429: "it has had too many requests",
    529: "it has too much to do",
}


class Refused(HandlerCrashed):
    """The server did not take the request as it was."""


class Cost(Struct, frozen=True):
    """What was used up."""

    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    """None where no price is known, as for a server of one's own."""

    def __add__(self, other: "Cost") -> "Cost":
        known = self.usd is not None and other.usd is not None
        return Cost(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            (self.usd or 0.0) + (other.usd or 0.0) if known else None,
        )


class Talk:
    """One model, ready to be asked."""

    def __init__(self, model: "Model", place: Place, key: str) -> None:
        self._model = model
        self._place = place
        self._key = key

    async def ask(
        self,
        messages: "Sequence[ModelMessage]",
        parameters: "ModelRequestParameters",
        settings: "ModelSettings",
    ) -> "tuple[ModelResponse, Cost]":
        """The model's response. Raises HandlerError, without the key in it."""
        from pydantic_ai.direct import model_request

        try:
            response = await model_request(
                self._model,
                messages,
                model_settings=settings,
                model_request_parameters=parameters,
                instrument=False,
            )
        except Exception as error:
            # Without the error itself: a server may repeat the key, and a trace shows all of it.
            raise self._told(error) from None
        if response.finish_reason == "content_filter":
            raise HandlerAnswerError(f"{self._place} refused to answer (content filter)")
        if response.finish_reason == "length":
            raise HandlerAnswerError(f"the answer of {self._place} was cut at `max_tokens`")
        return response, self._cost(response)

    def unlocked(self, text: str) -> str:
        """The text, unless a server gave back the key in it. Raises HandlerAnswerError."""
        if self._key and self._key in text:
            raise HandlerAnswerError(f"what {self._place} answered repeats the key")
        return text

    def supports_schema(self) -> bool:
        """Whether the model can be held to a JSON schema."""
        return bool(self._model.profile.get("supports_json_schema_output"))

    def _cost(self, response: "ModelResponse") -> Cost:
        usd = None
        if self._place.usual:
            with suppress(Exception):  # no price is known of it
                usd = float(response.cost().total_price)
        return Cost(response.usage.input_tokens, response.usage.output_tokens, usd)

    def _told(self, error: Exception) -> HandlerError:
        from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError

        place = f"{self._place} at {_origin(self._place.url)}"
        causes = list(_causes(error))
        if any(isinstance(each, TooLong) for each in causes):
            return HandlerAnswerError(f"{place} sent more than {BODY_CAP:,} bytes, or packed ones")
        if isinstance(error, ModelHTTPError):
            return self._refused(place, error.status_code, error.body)
        if isinstance(error, ModelAPIError) or any(isinstance(each, OSError) for each in causes):
            return HandlerUnavailable(f"{place} cannot be reached")
        return HandlerCrashed(f"what {place} sent is no answer of a model ({type(error).__name__})")

    def _refused(self, place: str, status: int, body: object) -> HandlerError:
        hint = _HINTS.get(status, "its server failed" if status >= 500 else "it refused")
        if status in {401, 403} and self._place.key:
            hint += f"; it is the one in `{self._place.key}`"
        said = _said(body)
        if said and status in {400, 404, 422} and not (self._key and self._key in said):
            short = visible(" ".join(redact(said).text.split()))[:200]
            hint += f": {short}"
        kind: type[HandlerError] = Refused if status in {400, 422} else HandlerCrashed
        if status in {401, 402, 403, 404}:
            kind = HandlerUnavailable
        return kind(f"{place} answered {status}: {hint}")


async def opened(place: Place, env: Mapping[str, str]) -> Talk:
    """The model, with the caller's key for it. Raises HandlerUnavailable."""
    key = env.get(place.key, "").strip() if place.key else ""
    if place.key and not key:
        raise HandlerUnavailable(
            f"`{place.key}`, which holds the key for {place}, is not set in the caller's "
            "environment; set it, or name another variable as `key:`, of the judge or of the "
            "model under `models:`"
        )
    if not key.isascii() or not key.isprintable():
        raise HandlerUnavailable(f"what `{place.key}` holds cannot be a key")
    try:
        await loaded(place.wire)
    except ImportError as error:
        missing = error.name or "a library"
        raise HandlerUnavailable(f"asking a model needs `{missing}`: {EXTRA}") from error
    return Talk(await connected(place, key), place, key)


def _causes(error: BaseException | None) -> "Sequence[BaseException]":
    found: list[BaseException] = []
    while error is not None and len(found) < 20:
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


def _origin(url: str) -> str:
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _said(body: Any) -> str:
    """What a server says in its error, wherever it says it."""
    for _ in range(3):
        if isinstance(body, dict):
            body = body.get("message") or body.get("error") or ""
    return body if isinstance(body, str) else ""
