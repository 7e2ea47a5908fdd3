"""Python functions as hooks: the ``@hook`` mark, and what it takes to run them in place."""

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, TypeVar

from msgspec import Struct, ValidationError, convert

from hookline.config.firing import never_fires
from hookline.config.hooks import seconds
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
from hookline.model.ports import Matcher

__all__ = ["bind_function", "bound_hooks", "hook", "marks"]

F = TypeVar("F", bound=Callable[..., Any])
W = TypeVar("W", bound=StrEnum)
_MARKS = "__hookline__"
_KEYS = {"mode": "permission_mode"}
_KEYWORDS = ("name", "priority", "timeout", "on_error", "guard", "always", "mode")


class _Mark(Struct, frozen=True):
    hook: Hook
    timeout: float | None


def hook(
    *events: str,
    name: str | None = None,
    priority: int = DEFAULT_PRIORITY,
    timeout: float | str | None = None,
    on_error: str | None = None,
    guard: bool | None = None,
    always: bool = False,
    mode: str = "enforce",
    **match: Any,
) -> Callable[[F], F]:
    """Marks a function as a hook on ``events``; further keywords are ``match`` keys.

    The function takes the event and returns an Answer, text for the model, or None. It stays an
    ordinary function. ``@hook("pre_tool_use", tool="shell")``; the match key ``mode`` is called
    ``permission_mode`` here, because ``mode`` says whether the hook's answers count.
    """
    _check_events(events)
    if not 0 <= priority <= 100:
        raise IllegalValueError(f"`priority` is a number from 0 to 100, got {priority}")
    is_guard = any(EVENTS[event].gate for event in events) if guard is None else guard
    limit = None if timeout is None else seconds(timeout)
    usual = OnError.BLOCK if is_guard else OnError.WARN
    on_failure = _read_word(OnError, "on_error", on_error) if on_error else usual
    how = _read_word(Mode, "mode", mode)
    matcher = _compile_matcher(match, events)

    def mark(function: F) -> F:
        code = getattr(function, "__code__", None)
        entry = Hook(
            name=name or str(getattr(function, "__name__", function)),
            events=events,
            handler=HandlerSpec("python", {"function": function}),
            match=matcher,
            priority=priority,
            timeout=DEFAULT_TIMEOUT if limit is None else limit,
            on_error=on_failure,
            guard=is_guard,
            always=always,
            mode=how,
            source=Source(
                code.co_filename if code else "", code.co_firstlineno if code else 0, Layer.CODE
            ),
        )
        try:
            setattr(function, _MARKS, (*marks(function), _Mark(entry, limit)))
        except AttributeError:
            shown = f"{type(function).__name__} `{entry.name}`"
            raise IllegalValueError(f"{shown} cannot be marked: wrap it in a function") from None
        return function

    return mark


def _check_events(events: tuple[str, ...]) -> None:
    if not events or not all(isinstance(event, str) for event in events):
        raise IllegalValueError('name at least one event: @hook("pre_tool_use")')
    for event in events:
        if event not in EVENTS:
            hint = nearest(event, EVENTS)
            raise IllegalValueError(f"no event is called `{event}`. {hint}".strip())


def _read_word(kind: type[W], key: str, word: str) -> W:
    try:
        return kind(word)
    except ValueError:
        words = ", ".join(kind)
        raise IllegalValueError(f"`{key}` cannot be `{word}`; it is one of {words}") from None


def _compile_matcher(match: dict[str, Any], events: Sequence[str]) -> Matcher | None:
    known = [_KEYS.get(key, key) for key in MatchEntry.__struct_fields__]
    for key in match:
        if key not in known:
            hint = nearest(key, [*known, *_KEYWORDS]) or f"known: {', '.join([*known, *_KEYWORDS])}"
            raise IllegalValueError(f"@hook has no keyword `{key}` ({hint})")
    names = {keyword: key for key, keyword in _KEYS.items()}
    try:
        entry = convert({names.get(key, key): value for key, value in match.items()}, MatchEntry)
    except ValidationError as exc:
        raise IllegalValueError(f"@hook: {exc}") from None
    for _, message, hint in never_fires(entry, events, chosen=True, known_tools=()):
        raise IllegalValueError(f"this can never fire: {message} ({hint})")
    return compile_match(entry, every=False, project_dir="")


def marks(function: object) -> tuple[_Mark, ...]:
    """The marks that ``@hook`` left on a function; empty for anything else."""
    try:
        found = getattr(function, _MARKS, ())
    except Exception:  # an object that makes up its attributes, such as a proxy out of context
        return ()
    is_ours = isinstance(found, tuple) and all(isinstance(mark, _Mark) for mark in found)
    return found if is_ours else ()


def bind_function(hook: Hook) -> Bound:
    """A hook whose handler is a function of this program, ready for an engine."""
    return Bound(hook, make_inline(hook.handler.values["function"]))


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
