"""What platforms with hooks in a JSON settings file share when hookline is written into one.

Knows the shapes such files have and the line that calls us; must not know any single platform.
"""

import os
import shlex
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hookline.dialects._call import line, words_of
from hookline.dialects._json_edits import (
    add_members,
    at,
    document,
    drop_if_bare,
    has_comments,
    put_values,
)
from hookline.jsontext import JsonTextError, Node, Step, append, remove
from hookline.model.errors import IllegalValueError
from hookline.model.installing import (
    Call,
    Entry,
    Inactive,
    Installed,
    Machine,
    Remains,
    Scope,
    Target,
)
from hookline.model.support import Support

__all__ = ["JsonSettings", "closes", "settings"]

# Words for people, and an order: ours runs and counts with them as without.
_HARMLESS = frozenset({"description", "sequential", "statusMessage"})
# What an event is narrowed to is told apart, since a person may want it.
_APART = _HARMLESS | {"matcher"}


def closes(support: Support, event: str) -> bool:
    """Whether a failure on this native event must block: a gate, and none that continues."""
    row = support.find(event)
    if row is None:
        raise IllegalValueError(f"{support.client} has no event `{event}`")
    return row.is_gate


def settings(content: bytes | None) -> Mapping[str, Any]:
    """A settings file as data; empty when there is none or it is no object."""
    try:
        root = document(content or b"").root
    except JsonTextError:
        return {}
    value = root.value() if root else None
    return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class _Found:
    """Our handler in a file: the path to it, the group around it, and what it calls."""

    path: tuple[Step, ...]
    group: tuple[Step, ...]
    alone: bool
    """Whether the group holds nothing else."""
    entry: Entry
    misplaced: bool = False
    """Whether the platform would look for it elsewhere, or the group has a say in it."""


class JsonSettings:
    """An installer for ``{"hooks": {EVENT: [...]}}``, with groups around handlers or without.

    A platform says where its files are and what one handler looks like.
    """

    id: ClassVar[str]
    support: ClassVar[Support]
    scopes: ClassVar[tuple[Scope, ...]] = (Scope.USER, Scope.PROJECT)
    left_out: ClassVar[Mapping[str, str]] = {}
    takes_files: ClassVar[bool] = False
    clients: ClassVar[tuple[str, ...]] = ()
    grouped: ClassVar[bool] = True
    """Handlers stand in groups: ``{"matcher": …, "hooks": [handler, …]}``."""
    frame: ClassVar[Mapping[str, object]] = {}
    """Keys that the platform wants beside ``hooks``, written where they are missing."""
    user_file: ClassVar[str] = ""
    """Below the home; empty where a person has no file of their own."""
    project_file: ClassVar[str]
    """Below the project, in git."""
    commands: ClassVar[tuple[str, ...]] = ("command",)
    """The keys of a handler under which a command line may stand; ours stands under the first."""
    timeout_key: ClassVar[str] = "timeout"
    default_timeout: ClassVar[int] = 600
    """Seconds. Each hook has a limit of its own; this one is for when ours does not end it."""
    starts_posix_shell: ClassVar[bool] = False
    """The client hands commands to a POSIX shell, never to the person's own, which may be fish."""
    files_shown: ClassVar[str] = ""
    """What the line's messages name in place of its file, where lines have to be alike in all."""
    longest: ClassVar[Mapping[str, int]] = {}
    """Events for which the client cuts a longer limit, in seconds."""

    def targets(self, machine: Machine, scope: Scope, *, shared: bool) -> Sequence[Target]:
        """The file that an installation writes; a project's is one that git carries."""
        places = self.places(machine)
        return [places[0] if scope is Scope.USER else places[-1]]

    def places(self, machine: Machine) -> Sequence[Target]:
        """Every file in which our entries may stand: the user's, if there is one, the project's."""
        project = os.path.join(machine.project, self.project_file)
        own = [Target(file=self.user_path(machine), scope=Scope.USER)] if self.user_file else []
        return [*own, Target(file=project, scope=Scope.PROJECT, personal=False)]

    def user_path(self, machine: Machine) -> str:
        """Where the user's own file is."""
        return os.path.join(machine.home, self.user_file)

    def handler(self, event: str, call: Call) -> Mapping[str, object]:
        """The entry for one native event."""
        return {
            "type": "command",
            self.commands[0]: self.line(event, call),
            self.timeout_key: self.timeout(event, call),
        }

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """What keeps the platform from running our entries right now, if that can be seen."""
        return []

    def events(self) -> Sequence[str]:
        """The native events that get an entry: all that the platform has, but those left out."""
        return [event for event in self.support.events if event not in self.left_out]

    def timeout(self, event: str, call: Call) -> int:
        """The platform's limit for one event, in seconds."""
        chosen = call.timeout or self.default_timeout
        return min(chosen, self.longest.get(event, chosen))

    def line(self, event: str, call: Call) -> str:
        """The command for one event, which closes the gate when hookline cannot answer."""
        return line(
            call,
            self.id,
            event,
            closes=self.closes(event),
            timeout=self.timeout(event, call),
            flat=self.starts_posix_shell,
        )

    def closes(self, event: str) -> bool:
        """Whether a failure on this native event must block."""
        return closes(self.support, event)

    # ── the port ────────────────────────────────────────────────────────────────────────────

    def add(self, target: Target, content: bytes | None, call: Call) -> bytes:
        """The file with one entry per event: those that are there replaced, the rest added."""
        call = replace(call, file=self.files_shown or target.file)
        wanted = {event: self.handler(event, call) for event in target.events or self.events()}
        raw = self._without_strays(content or b"", wanted)
        here = settings(raw)
        raw = add_members(raw, (), {k: v for k, v in self.frame.items() if k not in here})
        there = {each.entry.event: each.path for each in self._find(raw)}
        raw = put_values(raw, {path: wanted[event] for event, path in there.items()})
        for event, path in there.items():
            handler = at(raw, path)
            for key in {each.key: 0 for each in handler.members} if handler else ():
                if key not in wanted[event] and key not in _APART:
                    raw = remove(raw, (*path, key))
        hooks = here.get("hooks")
        new: dict[str, object] = {}
        for event in (each for each in wanted if each not in there):
            if isinstance(hooks, dict) and event in hooks:
                raw = append(raw, ("hooks", event), self._wrapped(wanted[event]))
            else:
                new[event] = [self._wrapped(wanted[event])]
        return add_members(raw, ("hooks",), new)

    def remove(self, target: Target, content: bytes, before: bytes | None = None) -> Remains:
        """The file without our entries; what ``before`` had empty stays, empty."""
        kept = settings(before)
        if "hooks" not in kept and self._is_all_ours(content):
            raw = remove(content, ("hooks",))
        else:
            raw = self._without(content, kept.get("hooks"))
        if raw != content and "hooks" not in kept:
            raw = drop_if_bare(raw, ("hooks",))
        left = settings(raw)
        bare = all(key in self.frame and left[key] == self.frame[key] for key in left)
        return Remains(raw, empty=bare and not document(raw).comments)

    def inspect(self, target: Target, content: bytes) -> Sequence[Entry]:
        """Our entries, wherever in the file they stand."""
        return [each.entry for each in self._find(content)]

    # ── the shape ───────────────────────────────────────────────────────────────────────────

    def _wrapped(self, handler: Mapping[str, object]) -> Mapping[str, object]:
        return {"hooks": [handler]} if self.grouped else handler

    def _find(self, raw: bytes) -> list[_Found]:
        """Every handler of ours, in the order of the file."""
        hooks = at(raw, ("hooks",))
        found: list[_Found] = []
        for member in hooks.members if hooks else ():
            for index, item in enumerate(member.value.items):
                place = ("hooks", member.key, index)
                found += self._in_item(member.key, place, item)
        return found

    def _in_item(self, event: str, place: tuple[Step, ...], item: Node) -> Iterator[_Found]:
        """Ours in one element of an event's list, whether that is a group or a handler."""
        inner = item.find("hooks")
        matcher = item.find("matcher")
        narrowed = str(matcher.scalar or "") if matcher is not None else ""
        narrowed = "" if narrowed == "*" else narrowed
        if inner is None:
            entry = self._entry(event, narrowed, item)
            if entry:
                yield _Found(place, place, True, entry, misplaced=self.grouped)
            return
        more = _plain(item, {"hooks"})
        ours = [self._entry(event, narrowed, handler, more) for handler in inner.items]
        for number, entry in enumerate(ours):
            if entry:
                path = (*place, "hooks", number)
                misplaced = bool(more) or not self.grouped
                yield _Found(path, place, all(ours), entry, misplaced=misplaced)

    def _entry(
        self, event: str, matcher: str, handler: Node, group: Mapping[str, object] | None = None
    ) -> Entry | None:
        """The call of hookline in a handler; None when it calls something else."""
        args = handler.find("args")
        more = [str(each.scalar) for each in args.items] if args is not None else None
        for key in self.commands:
            command = handler.find(key)
            if command is not None and isinstance(command.scalar, str):
                words = words_of(command.scalar, self.id, args=more)
                if words:
                    line = command.scalar if more is None else shlex.join((command.scalar, *more))
                    written = (group, _plain(handler))
                    return Entry(
                        event=event, words=words, line=line, matcher=matcher, written=written
                    )
        return None

    # ── edits ───────────────────────────────────────────────────────────────────────────────

    def _without_strays(self, raw: bytes, wanted: Container[str]) -> bytes:
        """Without our entries on events that get none or out of place, nor two on one event."""
        seen: set[str] = set()
        strays: list[_Found] = []
        for each in self._find(raw):
            if each.misplaced or each.entry.event in seen or each.entry.event not in wanted:
                strays.append(each)
            else:
                seen.add(each.entry.event)
        for each in reversed(strays):
            raw = _taken_out(raw, each)
        return raw

    def _is_all_ours(self, raw: bytes) -> bool:
        """Whether ``hooks`` holds our entries and nothing else, not even a comment."""
        hooks = at(raw, ("hooks",))
        count = sum(len(member.value.items) for member in hooks.members) if hooks else 0
        groups = {each.group for each in self._find(raw) if each.alone}
        return bool(count) and len(groups) == count and not has_comments(raw, ("hooks",))

    def _without(self, raw: bytes, theirs: object) -> bytes:
        """Without any of our entries, nor the lists that only they made necessary."""
        found = self._find(raw)
        for event in dict.fromkeys(each.entry.event for each in reversed(found)):
            ours = [each for each in found if each.entry.event == event]
            items = at(raw, ("hooks", event))
            groups = {each.group for each in ours if each.alone}
            was_there = isinstance(theirs, dict) and event in theirs
            all_ours = items is not None and len(groups) == len(items.items)
            if all_ours and not was_there and not has_comments(raw, ("hooks", event)):
                raw = remove(raw, ("hooks", event))
                continue
            for each in reversed(ours):
                raw = _taken_out(raw, each)
            raw = raw if was_there else drop_if_bare(raw, ("hooks", event))
        return raw


def _plain(node: Node, but: Container[str] = ()) -> Mapping[str, object]:
    """An object as data, without what is told apart."""
    return {
        each.key: each.value.value()
        for each in node.members
        if each.key not in _APART and each.key not in but
    }


def _taken_out(raw: bytes, found: _Found) -> bytes:
    """Without one handler; its group goes with the last one in it.

    A group without handlers does nothing, and some platforms take it for a broken file.
    """
    inner = at(raw, (*found.group, "hooks"))
    if inner is None or len(inner.items) == 1:
        return remove(raw, found.group)
    return remove(raw, found.path)
