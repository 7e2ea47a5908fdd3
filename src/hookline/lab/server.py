"""The scripted model: one server on loopback that speaks every wire at once.

Knows the order of arrival and the bounds; the wires know words, and `lanes` knows which turn it is.
"""

import socket
from collections.abc import Callable, Mapping
from secrets import token_hex
from threading import Condition
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from msgspec import DecodeError, json

from hookline.lab.lanes import Lanes
from hookline.lab.listening import Listening, Refused, Reply, Request
from hookline.lab.ports import Asked, Said, ToolCall
from hookline.lab.script import Act, Script
from hookline.lab.sides import answer_aside, is_side, list_of_models
from hookline.lab.wires import anthropic, chat, gemini, responses
from hookline.lab.wires._exchange import Answer, Call, Question, Wire

__all__ = ["MAX_REQUESTS", "ModelServer"]

# No session of a script asks this often; a client that does goes round in circles.
MAX_REQUESTS = 500

_WIRES: tuple[Wire, ...] = (anthropic, responses, chat, gemini)


class ModelServer:
    """Plays one script to whichever client asks, and keeps what it was asked.

    ``say`` puts an act into the client's words. All acts are put so at once, so that one which the
    client cannot say is an error here and not a puzzling answer in the middle of a session.
    """

    def __init__(
        self,
        script: Script,
        say: Callable[[Act], ToolCall],
        listener: socket.socket | None = None,
        *,
        limit: int = MAX_REQUESTS,
    ) -> None:
        self._lanes = Lanes(script, say)
        self._listener = listener
        self._listening: Listening | None = None
        self._limit = limit
        self._count = 0
        self._nonce = token_hex(6)
        self._answers = 0
        self._broken: Exception | None = None
        self._news = Condition()
        self._asked: list[Asked] = []
        self._notes: list[str] = []

    def __enter__(self) -> Self:
        self._listening = Listening(self._answer, self._listener)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._listening:
            self._listening.close()
        if self._broken is not None and error is None:
            raise self._broken

    @property
    def port(self) -> int:
        """Where it listens, on 127.0.0.1."""
        assert self._listening is not None, "the server is entered before it is asked for its port"
        return self._listening.port

    @property
    def url(self) -> str:
        """Its address without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def asked(self) -> tuple[Asked, ...]:
        """Every request so far, in the order of arrival."""
        with self._news:
            return tuple(self._asked)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know: requests that were refused, tools that do not exist."""
        with self._news:
            return tuple(self._notes)

    def wait_until_asked(self, times: int, timeout: float) -> bool:
        """Wait for so many requests of the conversations; False when the time was up first."""
        with self._news:
            return self._news.wait_for(lambda: self._conversed() >= times, timeout)

    def _conversed(self) -> int:
        return sum(not each.side for each in self._asked)

    def _answer(self, request: Request) -> Reply:
        """Every request comes through here, on a thread of its connection."""
        path = _plain(request.target)
        wire, what = _route(request.method, path)
        try:
            self._admit(request)
            if wire is None:
                return self._beside(request, path)
            return self._reply(wire, what, path, request)
        except Refused as refused:
            return self._refuse(wire, request, refused)
        except Exception as error:
            # Nobody would see it on this thread, and the client would be blamed.
            self._broken = self._broken or error
            return self._refuse(wire, request, Refused(500, f"the lab itself failed: {error!r}"))

    def _admit(self, request: Request) -> None:
        with self._news:
            self._count += 1
            if self._count > self._limit:
                message = f"a session of more than {self._limit} requests goes round in circles"
                raise Refused(429, message)
        if request.problem is not None:
            raise request.problem

    def _reply(self, wire: Wire, what: str, path: str, request: Request) -> Reply:
        try:
            body = json.decode(request.body, type=dict[str, Any])
            question = wire.understand(path, body) if what == "ask" else None
        except DecodeError as error:
            raise Refused(400, f"the body is not a JSON object: {error}") from None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            message = f"the body is no request of the {wire.NAME} wire: {error!r}"
            raise Refused(400, message) from None
        if question is None:
            self._keep(Asked(wire.NAME, request.target, body, side=True))
            return _json(200, wire.aside(what, body))
        answer = self._ask(wire, request, question, body)
        if question.stream:
            return Reply(200, wire.stream(answer), "text/event-stream")
        return _json(200, wire.whole(answer))

    def _ask(
        self, wire: Wire, request: Request, question: Question, body: Mapping[str, Any]
    ) -> Answer:
        """The answer to a question, with the question kept in the same breath."""
        with self._news:
            if is_side(question) or not self._lanes.admits(question):
                lane = self._lanes.place(question)
                self._keep(Asked(wire.NAME, request.target, body, lane, side=True))
                return self._named(wire, answer_aside(question), question, body)
            served = self._lanes.serve(question)
            answer = self._named(wire, served.said, question, body)
            self._lanes.remember(served, tuple(call.id for call in answer.calls))
            self._keep(Asked(wire.NAME, request.target, body, served.lane))
            self._look_at(answer)
        if served.fail:
            raise Scripted(served.fail, "the script has the model fail here")
        return answer

    def _named(self, wire: Wire, said: Said, question: Question, body: Mapping[str, Any]) -> Answer:
        """The answer under a name that no other has, and its calls under ids made of it."""
        self._answers += 1
        name = f"{self._nonce}{self._answers:05d}"
        calls = tuple(
            Call(f"{wire.CALL}{name}{index:02d}", call.name, call.arguments)
            for index, call in enumerate(said.calls)
        )
        return Answer(name, said.text, calls, question, body)

    def _look_at(self, answer: Answer) -> None:
        """Notes a call that the client is not going to understand."""
        for call in answer.calls:
            if call.name not in answer.question.tools:
                self._note(f"the model calls `{call.name}`, which the client did not offer it")

    def _beside(self, request: Request, path: str) -> Reply:
        """What no wire knows: lists of models, signs of life, and what we have never seen."""
        if request.method == "GET" and (models := list_of_models(path)) is not None:
            self._keep(Asked("", request.target, {}, side=True))
            return _json(200, models)
        if request.method == "HEAD":
            self._keep(Asked("", request.target, {}, side=True))
            return Reply(200, b"")
        if request.headers.get("upgrade", "").lower() == "websocket":
            raise Refused(426, "only plain HTTP is spoken here, and no websocket")
        raise Refused(404, f"{request.method} {path} is no request to a model")

    def _refuse(self, wire: Wire | None, request: Request, refused: Refused) -> Reply:
        if not isinstance(refused, Scripted):
            self._keep(Asked(wire.NAME if wire else "", request.target, {}, side=True))
            self._note(f"{request.method} {request.target}: answered {refused.status}: {refused}")
        return _json(refused.status, (wire or chat).failure(refused.status, str(refused)))

    def _keep(self, asked: Asked) -> None:
        with self._news:
            self._asked.append(asked)
            self._news.notify_all()

    def _note(self, note: str) -> None:
        with self._news:
            if note not in self._notes:
                self._notes.append(note)


class Scripted(Refused):
    """A failure that the script's author asked for; its request was kept as any other."""


def _route(method: str, path: str) -> tuple[Wire | None, str]:
    for wire in _WIRES:
        if what := wire.route(method, path):
            return wire, what
    return None, ""


def _plain(target: str) -> str:
    """The path without a version before it: clients differ in what they take for the base."""
    path = urlsplit(target).path
    while path.startswith("/v1/"):
        path = path.removeprefix("/v1")
    return path


def _json(status: int, content: Mapping[str, Any]) -> Reply:
    return Reply(status, json.encode(content))
