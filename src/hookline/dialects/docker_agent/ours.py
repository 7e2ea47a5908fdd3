"""Which entries in a docker-agent file are ours, and for whom they stand there.

Knows the shape of agents' hooks; must not know how a file is edited.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from hookline.dialects._call import words_of
from hookline.dialects._located import UnreadableText
from hookline.dialects.docker_agent import DIALECT
from hookline.dialects.docker_agent.answers import PREEMPT, PREEMPT_LANE
from hookline.dialects.docker_agent.yamlnodes import Node, read_nodes
from hookline.model.installing import InstallError

__all__ = ["Holder", "Ours", "Shape", "find", "holders", "keys_before", "lanes", "read", "rest"]


class Shape(Enum):
    """What a file holds: agents with hooks, or the hooks themselves."""

    AGENTS = "agents"
    HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class Holder:
    """One mapping of events, or the agent that has none yet."""

    name: str
    agent: Node
    key: Node | None
    hooks: Node | None


@dataclass(frozen=True, slots=True)
class Ours:
    """An entry of ours: the node that goes when it goes, and what it calls."""

    holder: str
    event: str
    lane: str
    node: Node
    siblings: Node
    """The list that the node stands in."""
    words: tuple[str, ...]
    matcher: str = ""
    shares: bool = False
    """Whether it stands beside hooks of others under one matcher."""


def read(content: bytes) -> Node:
    """The nodes of a file. Raises InstallError."""
    try:
        return read_nodes(content)
    except UnreadableText as error:
        raise InstallError(f"line {error.line}: {error.message}") from error


def lanes(event: str) -> tuple[str, ...]:
    """What an event is asked on."""
    return (event, PREEMPT_LANE) if event == "pre_tool_use" else (event,)


def holders(root: Node, shape: Shape) -> Iterator[Holder]:
    """Whoever has hooks in a file, or could."""
    if shape is Shape.HOOKS and root.get("agents") is None:
        yield Holder("", root, None, root)
        return
    agents = root.get("agents")
    for name, agent in agents.members if agents is not None else ():
        keys = {key.value: (key, value) for key, value in agent.members}
        key, hooks = keys.get("hooks", (None, None))
        yield Holder(name.value, agent, key, hooks)


def find(holder: Holder) -> Iterator[Ours]:
    """Our entries, in the order of the file."""
    for key, listed in holder.hooks.members if holder.hooks is not None else ():
        for item in listed.items if listed.kind == "list" else ():
            yield from _in_item(holder.name, key.value, listed, item)


def _in_item(name: str, event: str, listed: Node, item: Node) -> Iterator[Ours]:
    inner = item.get("hooks")
    if inner is None or inner.kind != "list":
        words = _words(item)
        if words:
            yield Ours(name, event, event, item, listed, words)
        return
    matcher, preempt = item.get("matcher"), item.get(PREEMPT)
    is_preempt = preempt is not None and preempt.value == "true" and event == "pre_tool_use"
    lane = PREEMPT_LANE if is_preempt else event
    narrowed = matcher.value if matcher is not None else ""
    called = [(handler, _words(handler)) for handler in inner.items]
    if called and all(words for _, words in called):
        yield Ours(name, event, lane, item, listed, called[0][1], narrowed)
        return
    for handler, words in called:
        if words:
            yield Ours(name, event, lane, handler, inner, words, narrowed, shares=True)


def _words(handler: Node) -> tuple[str, ...]:
    command = handler.get("command")
    return words_of(command.value, DIALECT.id) if command is not None else ()


def rest(node: Node, ours: set[int], holding: set[int], agents: set[int]) -> object:
    """A node as data, without ours; aliases stay names, so that none can grow without end."""
    if node.kind in {"text", "alias"}:
        return None if node.empty else (node.kind, node.anchor, node.value)
    if node.kind == "list":
        kept = [each for each in node.items if id(each) not in ours]
        return [node.anchor, *(rest(each, ours, holding, agents) for each in kept)]
    found = {key.value: rest(value, ours, holding, agents) for key, value in node.members}
    if id(node) in holding:
        found = {key: value for key, value in found.items() if value not in (None, [""])}
    if id(node) in agents and found.get("hooks", 0) in (None, {"&": ""}):
        del found["hooks"]
    return {**found, "&": node.anchor}


def keys_before(before: bytes | None, shape: Shape) -> Mapping[str, set[str]]:
    """By agent, the events that were there without us, and `hooks` itself."""
    if before is None:
        return {}
    found: dict[str, set[str]] = {}
    for holder in holders(read(before), shape):
        events = {key.value for key, _ in holder.hooks.members} if holder.hooks else set()
        found[holder.name] = events | ({""} if holder.key is not None else set())
    return found
