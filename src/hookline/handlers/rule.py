"""Inline rules: deny, ask, allow, context and rewrite, written in the config itself.

Knows which of them an event can take; must not know matching, merging or platforms.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from hookline.handlers._templates import Templates, is_template, mistake_in, unknown_names
from hookline.model.answers import BLOCKING, NO_REWRITE, PASS, Answer, Rewrite, Verdict
from hookline.model.errors import HandlerAnswerError, IllegalValueError, nearest
from hookline.model.events import EVENTS, Event, ToolEvent
from hookline.model.hook import Hook
from hookline.model.ports import Caller, Handler, KeyProblem, Matcher, Services
from hookline.shell import split

__all__ = ["COMBINES", "EXTRA_KEYS", "KEYS", "asks_about_parts", "check", "every_command", "make"]

KEYS: Mapping[str, Any] = {
    "deny": str,
    "ask": str,
    "allow": str | bool,
    "context": str | list[str],
    # Not the struct itself: a key that belongs under `input` deserves a better hint than
    # "unknown".
    "rewrite": dict[str, Any],
}
EXTRA_KEYS: Mapping[str, Any] = {}
COMBINES: bool = True

_VERDICTS = {"deny": Verdict.DENY, "ask": Verdict.ASK, "allow": Verdict.ALLOW}

# Law 4: what each key needs of the event it stands on.
_LEGAL: Mapping[str, Callable[[type[Event]], bool]] = {
    "deny": lambda event: event.gate or event.hides or event.continues,
    "ask": lambda event: event.asks,
    "allow": lambda event: event.allows,
    "context": lambda event: event.takes_context,
}


def every_command(values: Mapping[str, Any]) -> bool:
    """Whether each command in a compound line must match, because the rule grants or changes.

    What hides output takes nothing from anybody else's verdict, and a secret must not get past it
    for the company it is printed in.
    """
    if "allow" in values:
        return True
    return "rewrite" in values and not _only_hides(values["rewrite"])


def asks_about_parts(values: Mapping[str, Any]) -> bool:
    """Whether the rule changes a call, and so asks where it is meant for a part of one only."""
    changes = values.get("rewrite")
    return isinstance(changes, Mapping) and not {"input", "env"}.isdisjoint(changes)


def _only_hides(changes: object) -> bool:
    return isinstance(changes, Mapping) and set(changes) == {"output"}


def check(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    """Every mistake in the rule."""
    return [
        *_two_verdicts(values),
        *_empty(values),
        *_illegal(values, hook.events),
        *_rewrite_problems(values.get("rewrite"), hook.events),
        *_template_problems(values, hook.events),
    ]


def make(hook: Hook, services: Services) -> Handler:
    """The rule, worked out once unless it has templates to fill in."""
    values = hook.handler.values
    is_fixed = not any(is_template(text) for text in _texts(values))
    rule = Fixed(_answer(values)) if is_fixed else Templated(values)
    return Partial(rule, hook.match) if hook.match and asks_about_parts(values) else rule


class Fixed:
    """A rule that always says the same."""

    instant: ClassVar[Literal[True]] = True

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def answer(self, event: Event, caller: Caller) -> Answer:
        """What the config says."""
        return self._answer


class Templated:
    """A rule whose texts are filled in from the event."""

    instant: ClassVar[Literal[True]] = True

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self._templates = Templates()

    def answer(self, event: Event, caller: Caller) -> Answer:
        """What the config says of this event."""

        def fill(text: str) -> str:
            return self._templates.fill(text, event, caller)

        try:
            return _answer({key: _map_texts(value, fill) for key, value in self._values.items()})
        except IllegalValueError as error:
            raise HandlerAnswerError(f"filled in, {error}") from error


class Partial:
    """A rule that changes a call; one that it is meant for a part of is asked about instead."""

    instant: ClassVar[Literal[True]] = True

    def __init__(self, rule: Fixed | Templated, match: Matcher) -> None:
        self._rule = rule
        self._match = match

    def answer(self, event: Event, caller: Caller) -> Answer:
        """What the rule says of all of the event, or a question that shows what to run."""
        found = self._match.find(event, caller)
        if found is None or found.parts is None or not isinstance(event, ToolEvent):
            return self._rule.answer(event, caller)
        wanted = (self._wanted(event, part, caller) for part in found.parts)
        text = next(filter(None, wanted), "") if found.parts else _ALONE
        if not text:
            return PASS
        own = self._rule.answer(event, caller)
        reason = f"{own.reason}\n{text}" if own.verdict in BLOCKING else text
        verdict = max(Verdict.ASK, own.verdict)
        return replace(own, verdict=verdict, reason=reason, rewrite=NO_REWRITE)

    def _wanted(self, event: ToolEvent, part: str, caller: Caller) -> str:
        """How to run a simple command; empty when it is written like that already."""
        new = _command_of(self._rule.answer(_of_part(event, part), caller).rewrite, event)
        if new is None:
            return f"Run `{part[:80]}` as a call of its own: its input is to be changed."
        if any(f" {part}".endswith(f" {each.text}") for each in split(new).commands):
            return ""
        return f"Run `{new[:120]}` in place of `{part[:50]}`."


_ALONE = "A rule changes a part of this call: make one call for each part."


def _of_part(event: ToolEvent, part: str) -> ToolEvent:
    """The event as if that simple command were all of it."""
    tool = event.tool
    given = {key: part if value == tool.command else value for key, value in tool.input.items()}
    return replace(event, tool=replace(tool, command=part, input=given))


def _command_of(change: Rewrite, event: ToolEvent) -> str | None:
    """The command that a rewrite gives, under its canonical or its platform's name."""
    given = change.input or {}
    keys = [key for key, value in event.tool.input.items() if value == event.tool.command]
    found = next((given[key] for key in (*keys, "command") if key in given), None)
    return found if isinstance(found, str) else None


def _answer(values: Mapping[str, Any]) -> Answer:
    verdict, reason = Verdict.PASS, ""
    for key, meant in _VERDICTS.items():
        if key in values:
            verdict, reason = meant, "" if values[key] is True else values[key]
    context = values.get("context", ())
    changes = values.get("rewrite")
    return Answer(
        verdict=verdict,
        reason=reason,
        context=(context,) if isinstance(context, str) else tuple(context),
        rewrite=msgspec.convert(changes, Rewrite) if changes else NO_REWRITE,
    )


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case Mapping():
            return {key: _map_texts(item, change) for key, item in value.items()}
        case list() | tuple():
            return [_map_texts(item, change) for item in value]
        case _:
            return value


def _texts(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)


def _two_verdicts(values: Mapping[str, Any]) -> Iterator[KeyProblem]:
    first, *others = [key for key in _VERDICTS if key in values] or [""]
    for other in others:
        yield KeyProblem(other, f"a rule says one thing: `{first}` or `{other}`, not both")


def _empty(values: Mapping[str, Any]) -> Iterator[KeyProblem]:
    allow = values.get("allow")
    if allow is False:
        hint = "leave it out, or write `deny:` with a reason"
        yield KeyProblem("allow", "`allow: false` would mean nothing", hint)
    for key in _VERDICTS:
        reason = values.get(key)
        if isinstance(reason, str) and not reason.strip():
            hint = (
                "write `allow: true`" if key == "allow" else "say why, so the model can act on it"
            )
            yield KeyProblem(key, f"`{key}` has no reason", hint)
    if "context" in values:
        context = values["context"]
        texts = [context] if isinstance(context, str) else context
        if not texts or not all(text.strip() for text in texts):
            yield KeyProblem("context", "`context` has no text")


def _illegal(values: Mapping[str, Any], events: Sequence[str]) -> Iterator[KeyProblem]:
    for key, legal in _LEGAL.items():
        if key in values:
            yield from _misplaced(key, f"`{key}`", legal, events)


def _misplaced(
    key: str, what: str, legal: Callable[[type[Event]], bool], events: Sequence[str]
) -> Iterator[KeyProblem]:
    for event in events:
        known = EVENTS.get(event)
        if known is not None and not legal(known):
            where = ", ".join(name for name, cls in EVENTS.items() if legal(cls))
            yield KeyProblem(key, f"{what} can do nothing on `{event}`", f"it works on {where}")


def _rewrite_problems(changes: Any, events: Sequence[str]) -> Iterator[KeyProblem]:
    if changes is None:
        return
    if not changes:
        yield KeyProblem("rewrite", "`rewrite` changes nothing", f"it takes {_parts()}")
        return
    parts = Rewrite.__struct_fields__
    for name in changes:
        if name not in parts:
            yield KeyProblem("rewrite", f"`rewrite` has no part `{name}`", _part_hint(name, events))
        else:
            takes = partial(_takes_part, name)
            yield from _misplaced("rewrite", f"`rewrite` of `{name}`", takes, events)
    try:
        msgspec.convert({name: changes[name] for name in changes if name in parts}, Rewrite)
    except msgspec.ValidationError as error:
        yield KeyProblem("rewrite", f"`rewrite` does not fit: {error}")


def _takes_part(part: str, event: type[Event]) -> bool:
    return part in event.rewrites


def _part_hint(name: str, events: Sequence[str]) -> str:
    close = nearest(name, Rewrite.__struct_fields__)
    takes_input = any("input" in EVENTS[event].rewrites for event in events if event in EVENTS)
    if takes_input and not close:
        return f"write `input: {{{name}: …}}`"
    return close or f"it takes {_parts()}"


def _parts() -> str:
    return ", ".join(Rewrite.__struct_fields__)


def _template_problems(values: Mapping[str, Any], events: Sequence[str]) -> Iterator[KeyProblem]:
    classes = [EVENTS[event] for event in events if event in EVENTS]
    for key, value in values.items():
        for text in filter(is_template, _texts(value)):
            if mistake := mistake_in(text):
                yield KeyProblem(key, f"the template in `{key}` is wrong: {mistake}")
                continue
            for name, hint in unknown_names(text, classes):
                yield KeyProblem(key, f"the event has no `{name}` for the template", hint)
