"""Texts with ``{{ … }}`` in them, filled in from an event.

Knows the template engine; must not know rules. The engine is imported when the first such text
is met, because most configs have none.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

import msgspec
from msgspec import Struct

from hookline.model.errors import HandlerCrashed, nearest
from hookline.model.events import Event
from hookline.model.ports import NOBODY, Caller
from hookline.model.text import visible
from hookline.workspace import with_workspace

if TYPE_CHECKING:
    from minijinja import Environment, TemplateError

__all__ = ["Templates", "is_template", "mistake_in", "unknown_names"]

# Instructions of the engine, not seconds: enough for a loop over a long message list.
_FUEL = 100_000

# Mistakes that show only when the text is filled in, and then whatever it is filled in with.
_ALWAYS_WRONG = {"UnknownFilter", "UnknownFunction", "UnknownTest"}


def is_template(text: str) -> bool:
    """Whether anything in the text is to be filled in."""
    return "{{" in text or "{%" in text


def mistake_in(text: str) -> str:
    """What is wrong with a template, whatever the event; empty when nothing is."""
    from minijinja import TemplateError

    environment = _environment()
    # A missing value passes here: which ones there are depends on the event.
    environment.undefined_behavior = "chainable"
    try:
        environment.add_template("text", text)
    except TemplateError as error:
        return _why(error)
    try:
        environment.render_template("text")
    except TemplateError as error:
        return _why(error) if error.kind in _ALWAYS_WRONG else ""
    return ""


def unknown_names(text: str, events: Sequence[type[Event]]) -> Iterator[tuple[str, str]]:
    """Names in a template that no such event has, and for each what may have been meant."""
    environment = _environment()
    environment.add_template("text", text)
    for name in sorted(environment.undeclared_variables_in_template("text", nested=True)):
        flaws = [_flaw(event, name.split(".")) for event in events]
        if flaws and all(flaw is not None for flaw in flaws):
            yield name, flaws[0] or ""


def _flaw(kind: type[Struct], path: Sequence[str]) -> str | None:
    """None when there is such a field, else a hint at the nearest; the text may guard for more."""
    fields = {each.encode_name: each.type for each in msgspec.structs.fields(kind)}
    if path[0] not in fields:
        return nearest(path[0], fields)
    found = fields[path[0]]
    options = (found, *get_args(found))
    inner = next((o for o in options if isinstance(o, type) and issubclass(o, Struct)), None)
    return _flaw(inner, path[1:]) if inner is not None and len(path) > 1 else None


class Templates:
    """The template engine, for the texts of one hook."""

    def __init__(self, finalizer: Callable[[Any], Any] | None = None) -> None:
        """``finalizer`` is given each value that is filled in, and says what stands there."""
        self._environment = _environment(finalizer)
        self._wants: dict[str, set[str]] = {}

    def fill(self, text: str, event: Event, caller: Caller = NOBODY) -> str:
        """The text with every ``{{ … }}`` filled in. Raises HandlerCrashed."""
        if not is_template(text):
            return text
        from minijinja import TemplateError

        try:
            if text not in self._wants:
                self._compile(text)
            wanted = self._wants[text]
            if "workspace" in wanted:
                event = with_workspace(event, caller)
            return self._environment.render_template(text, **_data(event, "raw" in wanted))
        except TemplateError as error:
            raise HandlerCrashed(f"template: {visible(_why(error))}") from error

    def _compile(self, text: str) -> None:
        self._environment.add_template(text, text)
        self._wants[text] = self._environment.undeclared_variables_in_template(text)


def _data(event: Event, with_payload: bool) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.to_builtins(event, enc_hook=lambda raw: None)
    # Decoding a whole payload for a template that never looks at it would be a waste.
    if with_payload:
        data["raw"] = _payload(event)
    return data


def _environment(finalizer: Callable[[Any], Any] | None = None) -> "Environment":
    from minijinja import Environment

    return Environment(
        finalizer=finalizer,
        fuel=_FUEL,
        undefined_behavior="strict",
        auto_escape_callback=lambda name: False,
        keep_trailing_newline=True,
    )


def _payload(event: Event) -> Any:
    try:
        return msgspec.json.decode(event.raw)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise HandlerCrashed(
            f"template: the native payload in `raw` is no JSON: {error}"
        ) from error


def _why(error: "TemplateError") -> str:
    what = error.detail or error.message.partition(" (in ")[0]  # where is told by line
    return f"{what} (line {error.line})" if error.line and error.line > 1 else what
