"""What all wire formats have in common: a question with its history, and the model's answer.

Knows no wire: each reads its requests into a `Question` and writes an `Answer` in its own way.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from msgspec import Struct, json

__all__ = ["Answer", "Call", "Message", "Question", "Wire", "chunks", "pieces", "sse", "tokens"]


class Message(Struct, frozen=True):
    """One message of a conversation as the client sent it."""

    role: str
    """``user``, ``assistant``, ``tool`` or ``system``, whatever the wire calls it."""
    text: str = ""
    calls: tuple[str, ...] = ()
    """The ids of the tool calls that it makes."""
    results: Mapping[str, str] = {}
    """What came of earlier calls, by their ids."""


class Question(Struct, frozen=True, kw_only=True):
    """One request for an answer, in no wire's words."""

    messages: tuple[Message, ...]
    system: str = ""
    tools: Mapping[str, Mapping[str, Any]] = {}
    """What is offered, by name: the schema of each tool's arguments."""
    stream: bool = False
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the answer has to fit; None for free text."""
    forced: str = ""
    """The one tool that has to be called; empty when the model is free to choose."""
    model: str = "scripted"


class Call(Struct, frozen=True):
    """A tool call with the id by which its result will be known."""

    id: str
    name: str
    arguments: Mapping[str, Any]

    @property
    def json(self) -> str:
        """The arguments as the text that models write."""
        return json.encode(self.arguments).decode()


class Answer(Struct, frozen=True):
    """What the model answers, ready to be written."""

    id: str
    text: str
    calls: tuple[Call, ...]
    question: Question
    body: Mapping[str, Any]
    """The request that it answers, for what only its wire understands."""

    @property
    def sent(self) -> int:
        """How many tokens the conversation had, roughly."""
        texts = (message.text for message in self.question.messages)
        return tokens(self.question.system) + sum(map(tokens, texts))

    @property
    def said(self) -> int:
        """How many tokens the answer has, roughly."""
        return tokens(self.text) + sum(tokens(call.json) for call in self.calls)


class Wire(Protocol):
    """One wire format; every module beside this one is one."""

    NAME: str
    CALL: str
    """What the ids of tool calls begin with."""

    def route(self, method: str, path: str) -> str:
        """``ask`` for a question, another word for what `aside` answers, empty if not ours."""

    def understand(self, path: str, body: Mapping[str, Any]) -> Question:
        """The request in neutral words."""

    def whole(self, answer: Answer) -> Mapping[str, Any]:
        """The answer as one JSON document."""

    def stream(self, answer: Answer) -> Iterator[bytes]:
        """The answer piece by piece."""

    def aside(self, what: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is answered to a request that asks the model nothing."""

    def failure(self, status: int, message: str) -> Mapping[str, Any]:
        """An error as this wire tells it."""


def tokens(text: str) -> int:
    """Roughly how many tokens a text has; never none, because no model counts none."""
    return len(text) // 4 + 1


def pieces(text: str) -> tuple[str, ...]:
    """The text in two parts where it can be parted: clients have to put it together again."""
    middle = len(text) // 2
    return tuple(part for part in (text[:middle], text[middle:]) if part)


def sse(data: Mapping[str, Any] | str, event: str = "") -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.encode(data).decode()
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {text}\n\n".encode()


def chunks(content: Any, key: str = "text") -> str:
    """The text of a message that is either a text or a list of parts with texts in them."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        inner = content.get(key)
        return inner if isinstance(inner, str) else chunks(content.get("content"), key)
    if isinstance(content, list):
        return "\n".join(filter(None, (chunks(part, key) for part in content)))
    return ""
