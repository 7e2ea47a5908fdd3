"""Hypothesis strategies for events, answers and hooks.

Values are drawn from small pools, so that examples collide often: laws about merging are
interesting where two hooks speak about the same key.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from hypothesis import strategies as st
from msgspec import Raw

from hookline.model.answers import PASS, Answer, Rewrite
from hookline.model.events import EVENTS, Agent, Budget, Event, Task
from hookline.model.tools import CANONICAL_TOOLS, Tool, ToolKind
from hookline.model.verdicts import BLOCKING, Verdict

__all__ = [
    "PARTS",
    "answers",
    "any_event",
    "bare_event",
    "events_of",
    "inputs",
    "json_values",
    "priorities",
    "rewrites",
    "tools",
    "words",
]

words = st.sampled_from(("a", "b", "ü", "two words", "two\nlines", "\u202eright to left", "\x00"))
lists_of_words = st.lists(words, max_size=2).map(tuple)
priorities = st.sampled_from((10, 50, 50, 90))

_leaves = st.none() | st.booleans() | st.integers(-3, 3) | words
json_values = st.recursive(
    _leaves,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(words, json_values, max_size=2)

# Normal names, their native spellings, and one that means nothing to us.
_keys = st.sampled_from(("command", "cmd", "path", "file_path", "paths", "content", "timeout"))
inputs = st.dictionaries(_keys, st.none() | words | st.integers(-3, 3), max_size=3)

PARTS: Mapping[str, st.SearchStrategy[Any]] = {
    "input": inputs,
    "output": words,
    "prompt": words,
    "messages": st.lists(st.fixed_dictionaries({"role": words}), max_size=2),
    "summary": words,
    "env": st.dictionaries(st.sampled_from(("A", "B", "C")), words, max_size=2),
    "display": words,
}


def rewrites(parts: Iterable[str] = PARTS) -> st.SearchStrategy[Rewrite]:
    """Any subset of these parts."""
    optional = {part: PARTS[part] for part in parts}
    return st.fixed_dictionaries({}, optional=optional).map(lambda chosen: Rewrite(**chosen))


def answers(
    rewritten: st.SearchStrategy[Rewrite] | None = None,
    verdicts: st.SearchStrategy[Verdict] | None = None,
) -> st.SearchStrategy[Answer]:
    """Any answer; ``PASS`` itself and values equal to it are among them."""

    def answer(verdict: Verdict, reason: str, **effects: Any) -> Answer:
        said = (reason.strip("\x00") or "why") if verdict in BLOCKING else reason
        return Answer(verdict=verdict, reason=said, **effects)

    made = st.builds(
        answer,
        verdict=verdicts if verdicts is not None else st.sampled_from(Verdict),
        reason=st.just("") | words,
        context=lists_of_words,
        notice=lists_of_words,
        follow_up=lists_of_words,
        metadata=st.dictionaries(words, _leaves, max_size=2),
        rewrite=rewritten if rewritten is not None else rewrites(),
    )
    return st.just(PASS) | made if verdicts is None else made


def _tool(name: str, input: dict[str, Any], rest: dict[str, Any]) -> Tool:
    return msgspec.structs.replace(CANONICAL_TOOLS.read(name, input), **rest)


tools = st.builds(
    _tool,
    st.sampled_from(("shell", "Bash", "Write", "apply_patch", "mcp__git__push", "unheard_of")),
    inputs,
    st.fixed_dictionaries(
        {},
        optional={
            "call_id": words,
            "output": words,
            "ok": st.booleans(),
            "duration_ms": st.sampled_from((0.0, 1.5)),
        },
    ),
)

_numbers = st.none() | st.integers(0, 10)
_money = st.none() | st.sampled_from((0.0, 0.25))
_BY_TYPE: Mapping[object, st.SearchStrategy[Any]] = {
    Literal[1]: st.just(1),
    str: words,
    bool: st.booleans(),
    int | None: _numbers,
    float | None: _money,
    datetime: st.datetimes(timezones=st.just(UTC)),
    Agent: st.builds(Agent, name=words, depth=st.integers(0, 3), id=st.none() | words),
    Budget | None: st.none() | st.builds(Budget, used_tokens=_numbers, limit_usd=_money),
    Raw: json_values.map(lambda value: Raw(msgspec.json.encode(value))),
    Tool: tools,
    Task: st.builds(Task, id=words, subject=words),
    Any: json_values,
    dict[str, Any] | None: st.none() | objects,
    tuple[str, ...]: lists_of_words,
    tuple[Any, ...]: st.lists(json_values, max_size=2).map(tuple),
    tuple[Tool, ...]: st.lists(tools, max_size=2).map(tuple),
    tuple[dict[str, Any], ...]: st.lists(objects, max_size=2).map(tuple),
}


def events_of(name: str) -> st.SearchStrategy[Event]:
    """Events of one kind with every field set."""
    cls = EVENTS[name]
    fields = {
        field.name: _BY_TYPE[field.type]
        for field in msgspec.structs.fields(cls)
        if field.name != "dialect"
    }
    return st.fixed_dictionaries(fields).map(lambda values: cls(**values))


def any_event(names: Iterable[str] = EVENTS) -> st.SearchStrategy[Event]:
    """A bare event of any kind; tool events carry a shell command."""
    return st.sampled_from([bare_event(name) for name in names])


def bare_event(name: str) -> Event:
    """The event of this name with little more than a shell command on it, if it is about a tool."""
    cls = EVENTS[name]
    is_tool = "tool" in cls.__struct_fields__
    shell = Tool(kind=ToolKind.SHELL, name="shell", input={"command": "ls"}, command="ls")
    event: Event = cls(id="e1", **({"tool": shell} if is_tool else {}))
    return event
