"""Hypothesis strategies for events, answers and hooks.

Values are drawn from small pools, so that examples are cheap and collide often: laws about merging
are interesting where two hooks speak about the same key.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec
from hypothesis import strategies as st
from msgspec import Raw

from hookline.model.answers import BLOCKING, PASS, Answer, Rewrite, Verdict
from hookline.model.events import EVENTS, Agent, Budget, Event, Task, Workspace
from hookline.model.tools import CANONICAL_TOOLS, Tool, ToolKind

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
texts = st.sampled_from(((), (), ("a",), ("b",), ("a", "b"), ("two\nlines", "\u202e")))
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
    "input": st.sampled_from(
        (
            {"command": "a"},
            {"command": "b", "timeout": 1},
            {"command": None},
            {"cmd": "c"},
            {"path": "p", "command": "a"},
            {"timeout": None},
            {},
        )
    ),
    "output": words,
    "prompt": words,
    "messages": st.sampled_from(([], [{"role": "user"}], [{"role": "user"}, {"role": "tool"}])),
    "summary": words,
    "env": st.sampled_from(({"A": "1"}, {"A": "2"}, {"A": "1", "B": "1"}, {})),
    "display": words,
}
_metadata = st.sampled_from(({}, {}, {"a": 1}, {"a": [2]}, {"b": None}, {"a": {"b": 1}, "b": 2}))


def rewrites(parts: Iterable[str] = PARTS) -> st.SearchStrategy[Rewrite]:
    """Any subset of these parts."""
    optional = {part: PARTS[part] for part in parts}
    return st.fixed_dictionaries({}, optional=optional).map(lambda chosen: Rewrite(**chosen))


def answers(
    rewritten: st.SearchStrategy[Rewrite] | None = None,
) -> st.SearchStrategy[Answer]:
    """Any answer; now and then ``PASS`` itself, which is more than a value equal to it."""

    def answer(nothing: bool, verdict: Verdict, reason: str, **effects: Any) -> Answer:
        if nothing:
            return PASS
        said = (reason.strip("\x00") or "why") if verdict in BLOCKING else reason
        return Answer(verdict=verdict, reason=said, **effects)

    return st.builds(
        answer,
        nothing=st.sampled_from([False] * 5 + [True]),
        verdict=st.sampled_from(Verdict),
        reason=st.just("") | words,
        context=texts,
        notice=texts,
        follow_up=texts,
        metadata=_metadata,
        rewrite=rewritten if rewritten is not None else rewrites(),
    )


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
    Workspace | None: st.none() | st.builds(Workspace, repository=words, branch=words, issue=words),
    Raw: json_values.map(lambda value: Raw(msgspec.json.encode(value))),
    Tool: tools,
    Task: st.builds(Task, id=words, subject=words),
    Any: json_values,
    dict[str, Any] | None: st.none() | objects,
    tuple[str, ...]: texts,
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
    """A bare event of any kind, every other time the one on which everything can happen."""
    kinds = [bare_event(name) for name in names]
    usual = [event for event in kinds if event.event_id() == "pre_tool_use"]
    return st.sampled_from(kinds + usual * len(kinds))


def bare_event(name: str) -> Event:
    """The event of this name with little more than a shell command on it, if it is about a tool."""
    cls = EVENTS[name]
    is_tool = "tool" in cls.__struct_fields__
    shell = Tool(kind=ToolKind.SHELL, name="shell", input={"command": "ls"}, command="ls")
    event: Event = cls(id="e1", **({"tool": shell} if is_tool else {}))
    return event
