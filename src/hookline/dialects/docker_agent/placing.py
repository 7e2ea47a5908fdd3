"""Where our entries go in a docker-agent file, and which of those in it are ours.

Knows the shape of agents' hooks; must not know where files are. Whatever an edit did is read again:
if anything but our entries changed, there is no edit and a person is asked to help.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from hookline.dialects._call import words_of
from hookline.dialects._located import UnreadableText
from hookline.dialects._spoken import spoken_line
from hookline.dialects.docker_agent import DIALECT
from hookline.dialects.docker_agent.answers import PREEMPT_LANE
from hookline.dialects.docker_agent.reading import MATCHED, PREEMPT
from hookline.dialects.docker_agent.yamlnodes import Edit, Node, Text, read_nodes
from hookline.model.installing import Call, Entry, InstallError

__all__ = ["Placing", "Shape"]

_TIMEOUT = 600
_ANY = {"", "*"}
_BY_HAND = (
    "hookline cannot be written in there: put it on lines of its own, as in `- type: command`"
)


class Shape(Enum):
    """What a file holds: agents with hooks, or the hooks themselves."""

    AGENTS = "agents"
    HOOKS = "hooks"


@dataclass(frozen=True, slots=True)
class _Holder:
    """One mapping of events, or the agent that has none yet."""

    name: str
    agent: Node
    key: Node | None
    hooks: Node | None


@dataclass(frozen=True, slots=True)
class _Ours:
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


def _read(content: bytes) -> Node:
    """The nodes of a file. Raises InstallError."""
    try:
        return read_nodes(content)
    except (UnreadableText, UnicodeDecodeError) as error:
        line = getattr(error, "line", 1)
        said = getattr(error, "message", "the file is not UTF-8")
        raise InstallError(f"line {line}: {said}") from error


class Placing:
    """One file, and our entries in it."""

    def __init__(self, content: bytes, shape: Shape, events: Sequence[str]) -> None:
        self._shape = shape
        self._events = events
        self._text = Text(content)
        self._root = _read(content)
        self._holders = list(_holders(self._root, shape))
        self._ours = [each for holder in self._holders for each in _find(holder)]

    # ── what there is ───────────────────────────────────────────────────────────────────────

    def entries(self) -> list[Entry]:
        """One for each event and call: what all agents and lanes have alike is one entry."""
        found: dict[tuple[str, tuple[str, ...]], list[_Ours]] = {}
        for each in self._ours:
            words = tuple(each.event if word == PREEMPT_LANE else word for word in each.words)
            found.setdefault((each.event, words), []).append(each)
        return [
            Entry(event=event, words=words, matcher=self._narrowed(event, ours))
            for (event, words), ours in found.items()
        ]

    def _narrowed(self, event: str, ours: Sequence[_Ours]) -> str:
        """What an event's entries leave out; empty when nothing."""
        there = {(each.holder, each.lane) for each in ours if each.matcher in _ANY}
        for each in ours:
            if each.matcher not in _ANY:
                return each.matcher
        for holder in self._holders:
            for lane in _lanes(event):
                if (holder.name, lane) not in there:
                    agent = f" of agent {holder.name}" if holder.name else ""
                    return f"not on {lane}{agent}"
        return ""

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def added(self, call: Call) -> bytes:
        """The file with our entries. Raises InstallError."""
        if self._shape is Shape.AGENTS and not self._holders:
            raise InstallError("there is no agent in it: docker-agent's files have `agents:`")
        edits = [edit for holder in self._holders for edit in self._into(holder, call)]
        new = self._text.edited(edits)
        done = Placing(new, self._shape, self._events)
        whole = {entry.event for entry in done.entries() if not entry.matcher}
        if whole != set(self._events) or done._rest() != self._rest():
            raise InstallError(_BY_HAND)
        return new

    def _into(self, holder: _Holder, call: Call) -> Iterator[Edit]:
        ours = [each for each in self._ours if each.holder == holder.name]
        kept: dict[str, _Ours] = {}
        for each in ours:
            if each.event in self._events and each.lane not in kept:
                kept[each.lane] = each
        gone = [each for each in ours if kept.get(each.lane) is not each]
        for lane, each in kept.items():
            column = each.siblings.column
            yield _edit(each, (_written(each.event, lane, call, column, each.shares),))
        yield from self._dropped(holder, gone, {})
        missing = {
            event: lanes
            for event in self._events
            if (lanes := [lane for lane in _lanes(event) if lane not in kept])
        }
        yield from _inserted(holder, missing, call)

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def removed(self, before: bytes | None) -> bytes:
        """The file without our entries. Raises InstallError."""
        theirs = _empties(before, self._shape)
        edits = [
            edit
            for holder in self._holders
            for edit in self._dropped(
                holder, [each for each in self._ours if each.holder == holder.name], theirs
            )
        ]
        new = self._text.edited(edits)
        done = Placing(new, self._shape, self._events)
        if done._ours or done._rest() != self._rest():
            raise InstallError("hookline stands there in a way of its own: take it out by hand")
        return new

    def _dropped(
        self, holder: _Holder, gone: Sequence[_Ours], theirs: Mapping[str, set[str]]
    ) -> Iterator[Edit]:
        """Without these entries, nor the keys that only they made necessary."""
        yield from (_edit(each, ()) for each in gone)
        if not gone or holder.hooks is None:
            return
        kept = theirs.get(holder.name, set())
        bare = 0
        for key, listed in holder.hooks.members:
            own = [each for each in gone if each.siblings is listed]
            emptied = bool(own) and len(own) == len(listed.items) and key.value not in kept
            if emptied and self._is_bare(key):
                yield Edit(key.line, key.line + 1)
                bare += 1
        all_gone = bare == len(holder.hooks.members)
        if all_gone and holder.key is not None and "" not in kept and self._is_bare(holder.key):
            yield Edit(holder.key.line, holder.key.line + 1)

    def _is_bare(self, key: Node) -> bool:
        """Whether nothing else stands on the line of a key, not even a comment."""
        return self._text.lines[key.line].strip() == f"{key.value}:"

    def _rest(self) -> object:
        """Everything but our entries, and but what they alone made necessary."""
        ours = {id(each.node) for each in self._ours}
        holding = {id(holder.hooks) for holder in self._holders}
        agents = {id(holder.agent) for holder in self._holders}
        plain = _plain(self._root, ours, holding, agents)
        return None if plain == {"&": ""} else plain


# ── reading ─────────────────────────────────────────────────────────────────────────────────


def _lanes(event: str) -> tuple[str, ...]:
    return (event, PREEMPT_LANE) if event == "pre_tool_use" else (event,)


def _holders(root: Node, shape: Shape) -> Iterator[_Holder]:
    if shape is Shape.HOOKS and root.get("agents") is None:
        yield _Holder("", root, None, root)
        return
    agents = root.get("agents")
    for name, agent in agents.members if agents is not None else ():
        keys = {key.value: (key, value) for key, value in agent.members}
        key, hooks = keys.get("hooks", (None, None))
        yield _Holder(name.value, agent, key, hooks)


def _find(holder: _Holder) -> Iterator[_Ours]:
    for key, listed in holder.hooks.members if holder.hooks is not None else ():
        for item in listed.items if listed.kind == "list" else ():
            yield from _in_item(holder.name, key.value, listed, item)


def _in_item(name: str, event: str, listed: Node, item: Node) -> Iterator[_Ours]:
    inner = item.get("hooks")
    if inner is None or inner.kind != "list":
        words = _words(item)
        if words:
            yield _Ours(name, event, event, item, listed, words)
        return
    matcher, preempt = item.get("matcher"), item.get(PREEMPT)
    is_preempt = preempt is not None and preempt.value == "true" and event == "pre_tool_use"
    lane = PREEMPT_LANE if is_preempt else event
    narrowed = matcher.value if matcher is not None else ""
    called = [(handler, _words(handler)) for handler in inner.items]
    if called and all(words for _, words in called):
        yield _Ours(name, event, lane, item, listed, called[0][1], narrowed)
        return
    for handler, words in called:
        if words:
            yield _Ours(name, event, lane, handler, inner, words, narrowed, shares=True)


def _words(handler: Node) -> tuple[str, ...]:
    command = handler.get("command")
    return words_of(command.value, DIALECT.id) if command is not None else ()


def _plain(node: Node, ours: set[int], holding: set[int], agents: set[int]) -> object:
    """A node as data, without ours; aliases stay names, so that none can grow without end."""
    if node.kind in {"text", "alias"}:
        return None if node.empty else (node.kind, node.anchor, node.value)
    if node.kind == "list":
        kept = [each for each in node.items if id(each) not in ours]
        return [node.anchor, *(_plain(each, ours, holding, agents) for each in kept)]
    found = {key.value: _plain(value, ours, holding, agents) for key, value in node.members}
    if id(node) in holding:
        found = {key: value for key, value in found.items() if value not in (None, [""])}
    if id(node) in agents and found.get("hooks", 0) in (None, {"&": ""}):
        del found["hooks"]
    return {**found, "&": node.anchor}


def _empties(before: bytes | None, shape: Shape) -> Mapping[str, set[str]]:
    """By agent, the events that were there without us, and `hooks` itself."""
    if before is None:
        return {}
    found: dict[str, set[str]] = {}
    for holder in _holders(_read(before), shape):
        events = {key.value for key, _ in holder.hooks.members} if holder.hooks else set()
        found[holder.name] = events | ({""} if holder.key is not None else set())
    return found


# ── writing ─────────────────────────────────────────────────────────────────────────────────


def _written(event: str, lane: str, call: Call, column: int, bare: bool = False) -> str:
    """One entry on one line."""
    seconds = call.timeout or _TIMEOUT
    command = spoken_line(call, DIALECT, lane, timeout=seconds)
    quoted = json.dumps(command, ensure_ascii=False)
    hook = f"{{type: command, name: hookline, command: {quoted}, timeout: {seconds}}}"
    if event in MATCHED and not bare:
        preempt = f"{PREEMPT}: true, " if lane == PREEMPT_LANE else ""
        hook = f'{{matcher: "*", {preempt}hooks: [{hook}]}}'
    return f"{' ' * column}- {hook}"


def _edit(ours: _Ours, lines: tuple[str, ...]) -> Edit:
    if ours.siblings.flow:
        raise InstallError(f"line {ours.node.line + 1}: {_BY_HAND}")
    return Edit(ours.node.line, ours.node.end, lines)


def _inserted(holder: _Holder, missing: Mapping[str, Sequence[str]], call: Call) -> Iterator[Edit]:
    if not missing:
        return
    hooks, agent = holder.hooks, holder.agent
    if hooks is agent and agent.empty:  # a file of hooks that has none yet
        yield Edit(agent.end, agent.end, tuple(_blocks(missing, call, 0)))
        return
    if agent.kind != "map" or agent.flow:
        raise InstallError(f"line {agent.line + 1}: {_BY_HAND}")
    if hooks is None or hooks.empty:
        lines = _blocks(missing, call, agent.column + 2)
        head = (f"{' ' * agent.column}hooks:",) if hooks is None else ()
        at = agent.end if hooks is None else hooks.end
        yield Edit(at, at, (*head, *lines))
        return
    if hooks.kind != "map" or hooks.flow:
        raise InstallError(f"line {hooks.line + 1}: {_BY_HAND}")
    there = {key.value: (key, value) for key, value in hooks.members}
    for event, lanes in missing.items():
        if event in there:
            key, listed = there[event]
            yield _appended(event, lanes, key, listed, call)
    new = {event: lanes for event, lanes in missing.items() if event not in there}
    if new:
        yield Edit(hooks.end, hooks.end, tuple(_blocks(new, call, hooks.column)))


def _appended(event: str, lanes: Sequence[str], key: Node, listed: Node, call: Call) -> Edit:
    if listed.empty:
        column = key.column + 2
    elif listed.kind == "list" and not listed.flow:
        column = listed.column
    else:
        raise InstallError(f"line {listed.line + 1}: {_BY_HAND}")
    lines = tuple(_written(event, lane, call, column) for lane in lanes)
    return Edit(listed.end, listed.end, lines)


def _blocks(missing: Mapping[str, Sequence[str]], call: Call, column: int) -> Iterator[str]:
    for event, lanes in missing.items():
        yield f"{' ' * column}{event}:"
        for lane in lanes:
            yield _written(event, lane, call, column + 2)
