"""What a person has seen of a server's tools and said yes to, and what is different from it."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff
from hashlib import sha256
from secrets import token_hex
from typing import Any, Literal

import msgspec
from msgspec import Struct

from hookline.pinning.definitions import Definition
from hookline.secrets import redact

__all__ = ["Change", "Kind", "Pin", "PinnedTool", "compared", "described", "pin_of", "redefined"]

_LONGEST_TEXT = 20_000
_SHORTEST_TEXT = 1_000
_ALL_TEXTS = 2_000_000
_MOST_LINES = 60
_LONGEST_DIFFERENCE = 6_000
_LONGEST_LINE = 300
# Lines times lines: what one program compares with another is another's to choose.
_COMPARED = 10_000
_CUT = "\n… ("
# What a server may say differently each time, and that no model reads.
_LEFT_OUT = ("name", "_meta", "icons")

Kind = Literal["changed", "added", "gone", "defined otherwise", "not pinned", "not reached"]


class PinnedTool(Struct, frozen=True):
    """One tool as it was described when it was pinned."""

    sha256: str
    text: str
    """As a person reads it, so that a change can be shown; long ones are cut."""


class Pin(Struct, frozen=True, kw_only=True):
    """One server: what it is, and what its tools say of themselves."""

    name: str
    clients: tuple[str, ...]
    project: str = ""
    origin: str = ""
    definition: str = ""
    salt: str = ""
    tools: dict[str, PinnedTool] = {}
    time: float = 0.0

    @property
    def key(self) -> str:
        """By which what was seen of it is remembered."""
        return msgspec.json.encode([self.project, self.name, sorted(self.clients)]).decode()

    def is_of(self, server: "Pin | Definition") -> bool:
        """Whether this is about that server, as one of the same clients knows it."""
        return (
            self.name == server.name
            and self.project == server.project
            and not set(self.clients).isdisjoint(server.clients)
        )

    def is_as(self, server: Definition) -> bool:
        """Whether this was pinned of that very definition."""
        return self.is_of(server) and server.digest(self.salt) == self.definition


class Change(Struct, frozen=True, kw_only=True):
    """One thing that is not as it was pinned."""

    server: str
    tool: str = ""
    """Empty for what is about the server as a whole."""
    kind: Kind
    text: str = ""

    @property
    def is_told(self) -> bool:
        """Whether a server said something else than before, rather than nothing at all."""
        return self.kind not in {"not pinned", "not reached"}


def pin_of(definition: Definition, tools: Mapping[str, Any], *, now: float) -> Pin:
    """The pin for a server as it is now."""
    salt = token_hex(16)
    # A server with very many tools leaves less of each to be shown later; all of it is hashed.
    longest = min(_LONGEST_TEXT, max(_ALL_TEXTS // max(len(tools), 1), _SHORTEST_TEXT))
    return Pin(
        name=definition.name,
        clients=definition.clients,
        project=definition.project,
        origin=definition.origin,
        definition=definition.digest(salt),
        salt=salt,
        tools={name: described(said, longest) for name, said in sorted(tools.items())},
        time=now,
    )


def described(said: Mapping[str, Any], longest: int = _LONGEST_TEXT) -> PinnedTool:
    """What a tool says of itself: all of it hashed, as much of it kept as a person would read."""
    kept = {key: value for key, value in said.items() if key not in _LEFT_OUT}
    canonical = msgspec.json.encode(kept, order="deterministic")
    # The hash is of what was said; what is kept may be committed, and shown to anybody.
    text = redact("\n".join(_lines(kept))).text
    if len(text) > longest:
        text = f"{text[:longest]}{_CUT}{len(text) - longest:,} characters more)"
    return PinnedTool(sha256(canonical).hexdigest(), text)


def _lines(said: Mapping[str, Any]) -> Iterator[str]:
    """The description line by line, for it is what a model obeys; then the rest as JSON."""
    description = said.get("description")
    if isinstance(description, str):
        yield from description.splitlines()
        said = {key: value for key, value in said.items() if key != "description"}
    for key in sorted(said):
        body = msgspec.json.encode(said[key], order="deterministic")
        yield f"{key}: {msgspec.json.format(body, indent=2).decode()}"


def compared(pin: Pin, tools: Mapping[str, Any], *, whole: bool = False) -> list[Change]:
    """Every tool that is not as it was pinned; ``whole`` for a person who is to say yes to it."""
    found: list[Change] = []
    for name in sorted({*pin.tools, *tools}):
        before = pin.tools.get(name)
        after = described(tools[name]) if name in tools else None
        if before is not None and after is not None and _are_same(before, after):
            continue
        kind: Kind = "added" if before is None else "gone" if after is None else "changed"
        texts = before.text if before else "", after.text if after else ""
        text = _difference(*texts, whole=whole)
        if kind == "changed" and not text:
            text = "(only what is too long, or too secret, to be shown)"
        found.append(Change(server=pin.name, tool=name, kind=kind, text=text))
    return found


def _are_same(before: PinnedTool, after: PinnedTool) -> bool:
    """In their words too: who writes a project's file can put any hash beside any words."""
    kept, cut, _ = before.text.rpartition(_CUT)
    told = after.text.startswith(kept) if cut else before.text == after.text
    return before.sha256 == after.sha256 and told


def redefined(server: Definition, pins: Sequence[Pin]) -> Change | None:
    """How a server is defined otherwise than all of its pins; None where one of them is of it."""
    ours = [pin for pin in pins if pin.is_of(server)]
    if any(pin.is_as(server) for pin in ours):
        return None
    if not ours:
        text = f"{server.origin}\nin {server.file}"
        return Change(server=server.name, kind="not pinned", text=text)
    difference = _difference(ours[0].origin, server.origin)
    text = f"{difference or 'its environment, headers or options'}\nin {server.file}"
    return Change(server=server.name, kind="defined otherwise", text=text)


def _difference(before: str, after: str, *, whole: bool = False) -> str:
    """The lines that went and came, with long ones in pieces: a change may be far along one."""
    old, new = _pieces(before), _pieces(after)
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    tail = 0
    while tail < min(len(old), len(new)) - same and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    near = max(same - 1, 0)
    old, new = (lines[near : len(lines) - max(tail - 1, 0)] for lines in (old, new))
    if len(old) * len(new) <= _COMPARED:
        lines = [
            line
            for line in unified_diff(old, new, lineterm="", n=1)
            if not line.startswith(("--- ", "+++ ", "@@"))
        ]
        return _cut(lines, _MOST_LINES, whole)
    # What was sent to be slow to compare is shown side by side instead.
    parts = [f"-{line}" for line in old], [f"+{line}" for line in new]
    return "\n".join(_cut(lines, _MOST_LINES // 2, whole) for lines in parts)


def _pieces(text: str) -> list[str]:
    return [
        line[at : at + _LONGEST_LINE]
        for line in text.splitlines()
        for at in range(0, max(len(line), 1), _LONGEST_LINE)
    ]


def _cut(lines: list[str], most: int, whole: bool) -> str:
    if whole:
        return "\n".join(lines)
    if len(lines) > most:
        lines = [*lines[:most], f"… ({len(lines) - most} lines more)"]
    text = "\n".join(lines)
    return text if len(text) <= _LONGEST_DIFFERENCE else f"{text[:_LONGEST_DIFFERENCE]}…"
