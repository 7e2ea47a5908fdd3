"""Puts our entries into a docker-agent file and takes them out, line by line.

Must not know where files are. Whatever an edit did is read again: if anything but our entries
changed, there is no edit, and a person is asked to help.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from hookline.dialects._spoken import spoken_line
from hookline.dialects.docker_agent import DIALECT
from hookline.dialects.docker_agent.answers import PREEMPT, PREEMPT_LANE
from hookline.dialects.docker_agent.ours import (
    Holder,
    Ours,
    Shape,
    find,
    holders,
    keys_before,
    lanes,
    read,
    rest,
)
from hookline.dialects.docker_agent.reading import MATCHED
from hookline.dialects.docker_agent.yamlnodes import Edit, Node, Text
from hookline.dialects.docker_agent.yamltext import parse_yaml
from hookline.model.installing import Call, Entry, InstallError

__all__ = ["Placing"]

_TIMEOUT = 600
_ANY = {"", "*"}
_BY_HAND = (
    "hookline cannot be written in there: put it on lines of its own, as in `- type: command`"
)


class Placing:
    """One file, and our entries in it."""

    def __init__(self, content: bytes, shape: Shape, events: Sequence[str]) -> None:
        self._shape = shape
        self._events = events
        self._root = read(content)
        self._text = Text(content)
        self._merged = parse_yaml(content)
        self._holders = list(holders(self._root, shape))
        self._ours = [each for holder in self._holders for each in find(holder)]

    # ── what there is ───────────────────────────────────────────────────────────────────────

    def entries(self) -> list[Entry]:
        """One for each event and call: what all agents and lanes have alike is one entry."""
        found: dict[tuple[str, tuple[str, ...]], list[Ours]] = {}
        for each in self._ours:
            words = tuple(each.event if word == PREEMPT_LANE else word for word in each.words)
            found.setdefault((each.event, words), []).append(each)
        return [
            Entry(
                event=event,
                words=words,
                matcher=self._narrowed(event, ours),
                written={(each.lane, repr(_handlers(each.node))) for each in ours},
            )
            for (event, words), ours in found.items()
        ]

    def _narrowed(self, event: str, ours: Sequence[Ours]) -> str:
        """What an event's entries leave out; empty when nothing."""
        there = {(each.holder, each.lane) for each in ours if each.matcher in _ANY}
        for each in ours:
            if each.matcher not in _ANY:
                return each.matcher
        for holder in self._holders:
            for lane in lanes(event):
                if (holder.name, lane) not in there:
                    agent = f" of agent {holder.name}" if holder.name else ""
                    return f"not on {lane}{agent}"
        return ""

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def added(self, call: Call) -> bytes:
        """The file with our entries. Raises InstallError."""
        if self._shape is Shape.AGENTS and not self._holders:
            raise InstallError("there is no agent in it: docker-agent's files have `agents:`")
        for holder in self._holders:
            self._refuse_to_hide(holder)
        edits = [edit for holder in self._holders for edit in self._into(holder, call)]
        new = self._text.edited(edits)
        done = Placing(new, self._shape, self._events)
        whole = {entry.event for entry in done.entries() if not entry.matcher}
        if whole != set(self._events) or done._rest() != self._rest():
            raise InstallError(_BY_HAND)
        return new

    def _refuse_to_hide(self, holder: Holder) -> None:
        """What comes by a merge (`<<`) would give way to a key of ours."""
        keys = self._merged.members
        if holder.hooks is not self._root:
            agent = keys["agents"].members[holder.name].members
            keys = agent["hooks"].members if "hooks" in agent else {}
        own = {key.value for key, _ in holder.hooks.members} if holder.hooks is not None else set()
        if keys.keys() - own:
            raise InstallError(
                f"line {holder.agent.line + 1}: hooks are merged in there with `<<`, and would be "
                "lost beside ours: write them out"
            )

    def _into(self, holder: Holder, call: Call) -> Iterator[Edit]:
        ours = [each for each in self._ours if each.holder == holder.name]
        kept: dict[str, Ours] = {}
        for each in ours:
            # One that shares its matcher would stay as narrow as that is.
            if each.event in self._events and not each.shares and each.lane not in kept:
                kept[each.lane] = each
        gone = [each for each in ours if kept.get(each.lane) is not each]
        for lane, each in kept.items():
            column = each.siblings.column
            yield _edit(each, (_written(each.event, lane, call, column),))
        yield from self._dropped(holder, gone, {})
        missing = {
            event: wanted
            for event in self._events
            if (wanted := [lane for lane in lanes(event) if lane not in kept])
        }
        yield from _inserted(holder, missing, call)

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def removed(self, before: bytes | None) -> bytes:
        """The file without our entries. Raises InstallError."""
        theirs = keys_before(before, self._shape)
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
        self, holder: Holder, gone: Sequence[Ours], theirs: Mapping[str, set[str]]
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
        plain = rest(self._root, ours, holding, agents)
        return None if plain == {"&": ""} else plain


def _handlers(node: Node) -> object:
    """What a group or an entry without one runs, in whatever order its keys are."""
    inner = node.get("hooks")
    handlers = [node] if inner is None else inner.items
    return [
        sorted((key.value, str(rest(value, set(), set(), set()))) for key, value in each.members)
        for each in handlers
    ]


# ── writing ─────────────────────────────────────────────────────────────────────────────────


def _written(event: str, lane: str, call: Call, column: int) -> str:
    """One entry on one line."""
    seconds = call.timeout or _TIMEOUT
    command = spoken_line(call, DIALECT, lane, timeout=seconds)
    quoted = json.dumps(command, ensure_ascii=False)
    hook = f"{{type: command, name: hookline, command: {quoted}, timeout: {seconds}}}"
    if event in MATCHED:
        preempt = f"{PREEMPT}: true, " if lane == PREEMPT_LANE else ""
        hook = f'{{matcher: "*", {preempt}hooks: [{hook}]}}'
    return f"{' ' * column}- {hook}"


def _edit(ours: Ours, lines: tuple[str, ...]) -> Edit:
    if ours.siblings.flow:
        raise InstallError(f"line {ours.node.line + 1}: {_BY_HAND}")
    return Edit(ours.node.line, ours.node.end, lines)


def _inserted(holder: Holder, missing: Mapping[str, Sequence[str]], call: Call) -> Iterator[Edit]:
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
    for event, wanted in missing.items():
        if event in there:
            key, listed = there[event]
            yield _appended(event, wanted, key, listed, call)
    new = {event: wanted for event, wanted in missing.items() if event not in there}
    if new:
        yield Edit(hooks.end, hooks.end, tuple(_blocks(new, call, hooks.column)))


def _appended(event: str, wanted: Sequence[str], key: Node, listed: Node, call: Call) -> Edit:
    if listed.empty:
        column = key.column + 2
    elif listed.kind == "list" and not listed.flow:
        column = listed.column
    else:
        raise InstallError(f"line {listed.line + 1}: {_BY_HAND}")
    lines = tuple(_written(event, lane, call, column) for lane in wanted)
    return Edit(listed.end, listed.end, lines)


def _blocks(missing: Mapping[str, Sequence[str]], call: Call, column: int) -> Iterator[str]:
    for event, wanted in missing.items():
        yield f"{' ' * column}{event}:"
        for lane in wanted:
            yield _written(event, lane, call, column + 2)
