"""The keys of ``judge:``, as our own config writes them; all that loading a config needs of it."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

__all__ = ["Cache", "Example", "Spec"]


def _doc(text: str) -> Any:
    return Meta(description=text)


class Cache(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long the same question need not be asked again, and how many are remembered."""

    seconds: Annotated[float, Meta(gt=0, le=86_400)] = 600.0
    entries: Annotated[int, Meta(ge=1, le=10_000)] = 256


class Example(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A case the model is shown, and the verdict that is right for it."""

    case: str
    verdict: Literal["pass", "ask", "deny"]
    reason: str = ""


class Spec(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which model is asked what, and what it may say."""

    model: Annotated[str, _doc("`provider/name`, or a name from the user's `models:`.")]
    prompt: Annotated[str, _doc("The question; `{{ tool.command }}` is filled in as data.")]
    system: Annotated[str, _doc("What the model is told before the question, besides our own.")] = (
        ""
    )
    endpoint: Annotated[str, _doc("Another server, such as http://127.0.0.1:11434/v1.")] = ""
    key: Annotated[str, _doc("The caller's variable that holds the key.")] = ""
    examples: list[Example] = []
    max_tokens: Annotated[int, Meta(ge=16, le=100_000)] = 1_024
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    structured: Annotated[bool, _doc("Hold the model to a schema, where its server can.")] = True
    redact: Annotated[bool, _doc("Take secrets out of the question before it is sent.")] = True
    cache: Annotated[bool | Cache, _doc("Whether the same question is asked once.")] = True
    may_allow: Annotated[bool, _doc("Whether it may skip the host's own question.")] = False
