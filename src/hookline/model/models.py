"""Language models by name: which there are, where they are, and which variable holds their key.

Pure values. A key itself is never one of them: only the name of the caller's variable is.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from msgspec import Meta, Struct

from hookline.model.errors import HandlerUnavailable, nearest

__all__ = ["PROVIDERS", "ModelEntry", "Place", "Provider", "mistakes_in", "place_of"]


def _doc(text: str) -> Any:
    return Meta(description=text)


class ModelEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A model that hooks may call by another name: which one it is, and where."""

    model: Annotated[str, _doc("`provider/name`, such as anthropic/claude-haiku-4-5.")]
    endpoint: Annotated[str, _doc("The address of another server that speaks the same way.")] = ""
    key: Annotated[str, _doc("The caller's variable that holds the key.")] = ""


class Provider(Struct, frozen=True):
    """Who serves models, in which wire format, and where unless another endpoint is named."""

    wire: str
    url: str
    key: str = ""


class Place(Struct, frozen=True):
    """One model where it is."""

    provider: str
    name: str
    wire: str
    url: str
    key: str
    """The caller's variable; empty when none is sent."""
    usual: bool
    """Whether it is the provider's own server, whose prices are known."""

    def __str__(self) -> str:
        return f"{self.provider}/{self.name}"


PROVIDERS: Mapping[str, Provider] = {
    "anthropic": Provider("anthropic", "https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "deepseek": Provider("openai", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "dmr": Provider("openai", "http://127.0.0.1:12434/engines/v1"),
    "google": Provider("google", "https://generativelanguage.googleapis.com", "GOOGLE_API_KEY"),
    "groq": Provider("openai", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Provider("openai", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "ollama": Provider("openai", "http://127.0.0.1:11434/v1"),
    "openai": Provider("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": Provider("openai", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "xai": Provider("openai", "https://api.x.ai/v1", "XAI_API_KEY"),
}

_VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
_LOCAL = "for any other server that speaks like OpenAI's write `openai/NAME` and `endpoint:`"


def mistakes_in(entry: ModelEntry, *, may_be_named: bool = False) -> Iterator[tuple[str, str]]:
    """What is wrong with an entry, and what to write instead.

    ``may_be_named``: a word without a slash is a name of the user's `models:`.
    """
    provider, slash, name = entry.model.partition("/")
    if not slash and may_be_named and entry.model.strip():
        if entry.endpoint or entry.key:
            yield (
                f"`{entry.model}` is a name, and where it is stands under `models:` in the user's "
                "own file",
                "leave `endpoint` and `key` out, or write `provider/name`",
            )
    elif not slash or not name.strip():
        hint = "write `provider/name`, such as anthropic/claude-haiku-4-5"
        yield f"`{entry.model}` does not name a provider and a model", hint
    elif provider not in PROVIDERS:
        hint = nearest(provider, PROVIDERS) or f"known: {', '.join(PROVIDERS)}; {_LOCAL}"
        yield f"no provider is called `{provider}`", hint
    if entry.endpoint:
        yield from _endpoint_mistakes(entry.endpoint)
    if entry.key and not re.fullmatch(_VARIABLE, entry.key):
        hint = "write the variable's name alone; its value comes from the caller"
        yield "`key` is not the name of a variable", hint


def place_of(entry: ModelEntry) -> Place:
    """Where the model is. Raises HandlerUnavailable for one that nobody knows."""
    for message, hint in mistakes_in(entry):
        raise HandlerUnavailable(f"{message} ({hint})" if hint else message)
    provider, _, name = entry.model.partition("/")
    known = PROVIDERS[provider]
    if not entry.endpoint:
        return Place(provider, name, known.wire, known.url, entry.key or known.key, True)
    # The provider's own key is for the provider: another server gets only the one named for it.
    return Place(provider, name, known.wire, entry.endpoint, entry.key, False)


def _endpoint_mistakes(url: str) -> Iterator[tuple[str, str]]:
    from urllib.parse import urlsplit  # slow to load, and most configs name no endpoint

    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        yield f"the endpoint is no URL: {error}", ""
        return
    if not url.isprintable() or " " in url:
        yield "the endpoint has blanks or control characters", ""
    elif parts.scheme not in {"http", "https"} or not host:
        yield "the endpoint is no address of a server", "write `http://127.0.0.1:11434/v1`"
    elif "@" in parts.netloc:
        yield "the endpoint carries a password", "name the variable that holds it: `key: NAME`"
