"""Hooks that a program registers by BaseCoat's contract: functions of an envelope.

Knows envelopes; how functions are run is for whoever takes the hooks.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeVar, overload

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from hookline.dialects.basecoat import DIALECT
from hookline.dialects.basecoat.files import CHAIN, FILES, canonical, is_moment
from hookline.model.answers import PASS, Answer
from hookline.model.errors import HandlerAnswerError, IllegalValueError, nearest
from hookline.model.events import Event
from hookline.model.hook import DEFAULT_PRIORITY, HandlerSpec, Hook, Layer, Source
from hookline.model.ports import Caller, Match

__all__ = ["Envelope", "Registry", "Response"]

Envelope: TypeAlias = Mapping[str, Any]
Response: TypeAlias = Mapping[str, Any] | None
F = TypeVar("F", bound=Callable[[dict[str, Any]], Response | Awaitable[Response]])


class Registry:
    """Registered functions; ``hooks()`` are those of an engine.

    ``registry.register("PreToolUse", guard, priority=10)``, or as a decorator without ``guard``.
    """

    def __init__(self) -> None:
        self._hooks: list[Hook] = []

    @overload
    def register(
        self, event: str, handler: F, *, priority: int = ..., name: str = ..., timeout: float = ...
    ) -> F: ...
    @overload
    def register(
        self,
        event: str,
        handler: None = None,
        *,
        priority: int = ...,
        name: str = ...,
        timeout: float = ...,
    ) -> Callable[[F], F]: ...
    def register(
        self,
        event: str,
        handler: F | None = None,
        *,
        priority: int = DEFAULT_PRIORITY,
        name: str = "",
        timeout: float = FILES.default_timeout,
    ) -> F | Callable[[F], F]:
        """Takes a function for an event of BaseCoat's, under any platform's name."""
        native = DIALECT.to_own_name(event)
        if native not in DIALECT.support.events:
            hint = nearest(event, DIALECT.support.events)
            raise IllegalValueError(f"BaseCoat has no event `{event}`. {hint}".strip())
        if handler is None:
            return lambda later: self.register(
                event, later, priority=priority, name=name, timeout=timeout
            )
        code = getattr(handler, "__code__", None)
        self._hooks.append(
            Hook(
                name=name or str(getattr(handler, "__name__", handler)),
                events=canonical(native),
                handler=HandlerSpec("python", {"function": _answering(native, handler)}),
                match=_Moment(native),
                priority=priority,
                timeout=timeout,
                source=Source(
                    code.co_filename if code else "", code.co_firstlineno if code else 0, Layer.CODE
                ),
                speaks=DIALECT.id,
                native=native,
                lane=CHAIN,
            )
        )
        return handler

    def hooks(self) -> tuple[Hook, ...]:
        """The hooks by priority; each one's function is in its handler's values."""
        return tuple(sorted(self._hooks, key=lambda hook: hook.priority))


class _Moment(Struct, frozen=True):
    """Platforms tell some of BaseCoat's moments with events that they also send at others."""

    native: str

    def find(self, event: Event, caller: Caller) -> Match | None:
        """The match, or None."""
        return Match() if is_moment(self.native, event) else None

    def identity(self) -> object:
        """Equal for the same event."""
        return self.native


def _answering(
    native: str, handler: Callable[[dict[str, Any]], Response | Awaitable[Response]]
) -> Callable[[Event], Awaitable[Answer]]:
    """The function as hookline calls one: an event in, an answer out."""

    async def answer(event: Event) -> Answer:
        asked = replace(event, dialect=DIALECT.id, native_event=native, raw=Raw(b"null"))
        envelope = DIALECT.payload(asked)
        if inspect.iscoroutinefunction(handler):
            said = await handler(envelope)
        else:
            said = await asyncio.to_thread(handler, envelope)
            said = await said if inspect.isawaitable(said) else said
        if said is None:
            return PASS
        try:
            stdout = msgspec.json.encode(said)
        except (TypeError, ValueError, RecursionError) as error:
            raise HandlerAnswerError(f"not a response envelope: {error}") from error
        return DIALECT.read_answer(asked, stdout=stdout, stderr=b"", exit_code=0)

    return answer
