"""Python functions as hooks: the ``@hook`` mark, and what it takes to run them in place."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec import Struct, convert

from hookline.config.matchers import compile_match
from hookline.config.schema import MatchEntry
from hookline.engine.plan import Bound
from hookline.handlers.python import make_inline
from hookline.model.errors import IllegalValueError, nearest
from hookline.model.events import EVENTS
from hookline.model.hook import (
    DEFAULT_PRIORITY,
    DEFAULT_TIMEOUT,
    HandlerSpec,
    Hook,
    Layer,
    Mode,
    OnError,
    Source,
)

__all__ = ["bound_hooks", "hook", "marks"]

F = TypeVar("F", bound=Callable[..., Any])
_MARKS = "__hookline__"


class _Mark(Struct, frozen=True):
    hook: Hook
    timeout: float | None


def hook(
    *events: str,
    name: str | None = None,
    priority: int = DEFAULT_PRIORITY,
    timeout: float | None = None,
    on_error: str | None = None,
    guard: bool | None = None,
    always: bool = False,
    mode: str = "enforce",
    **match: Any,
) -> Callable[[F], F]:
    """Marks a function as a hook on ``events``; further keywords are ``match`` keys.

    The function takes the event and returns an Answer, text for the model, or None. It stays an
    ordinary function. ``@hook("pre_tool_use", tool="shell")``
    """
    _check_events(events)
    is_guard = any(EVENTS[event].gate for event in events) if guard is None else guard

    def mark(function: F) -> F:
        code = getattr(function, "__code__", None)
        entry = Hook(
            name=name or str(getattr(function, "__name__", function)),
            events=events,
            handler=HandlerSpec("python", {"function": function}),
            match=_matcher(match),
            priority=priority,
            timeout=timeout or DEFAULT_TIMEOUT,
            on_error=OnError(on_error) if on_error else OnError.BLOCK if is_guard else OnError.WARN,
            guard=is_guard,
            always=always,
            mode=Mode(mode),
            source=Source(
                code.co_filename if code else "", code.co_firstlineno if code else 0, Layer.CODE
            ),
        )
        setattr(function, _MARKS, (*marks(function), _Mark(entry, timeout)))
        return function

    return mark


def _check_events(events: tuple[str, ...]) -> None:
    if not events:
        raise IllegalValueError('name at least one event: @hook("pre_tool_use")')
    for event in events:
        if event not in EVENTS:
            hint = nearest(event, EVENTS)
            raise IllegalValueError(f"no event is called `{event}`. {hint}".strip())


def _matcher(match: dict[str, Any]) -> Any:
    known = MatchEntry.__struct_fields__
    for key in match:
        if key not in known:
            hint = nearest(key, known) or f"known: {', '.join(known)}"
            raise IllegalValueError(f"@hook has no keyword `{key}` ({hint})")
    return compile_match(convert(match, MatchEntry), every=False, project_dir="") if match else None


def marks(function: object) -> tuple[_Mark, ...]:
    """The marks that ``@hook`` left on a function; empty for an ordinary one."""
    return getattr(function, _MARKS, ())


def bound_hooks(functions: Iterable[Callable[..., Any]]) -> list[Bound]:
    """Every mark of every function, ready for an engine."""
    bound = []
    for function in functions:
        found = marks(function)
        if not found:
            shown = getattr(function, "__name__", repr(function))
            raise IllegalValueError(f'`{shown}` is no hook: mark it with @hook("pre_tool_use", …)')
        bound += [Bound(mark.hook, make_inline(function, mark.timeout)) for mark in found]
    return bound
