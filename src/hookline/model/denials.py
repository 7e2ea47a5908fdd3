"""What a session remembers of what was denied: acts and their targets, not the words for them."""

from collections.abc import Iterable
from hashlib import sha256

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.events import ToolEvent
from hookline.model.tools import ToolKind

__all__ = [
    "MAX_ACTS",
    "Denial",
    "DeniedAct",
    "after_prompt",
    "call_digest",
    "join_denials",
    "with_denial",
    "without_call",
]

MAX_ACTS = 64
"""More than a session needs; the oldest go first."""


class DeniedAct(Struct, frozen=True, omit_defaults=True):
    """One thing that was not to be done to one target."""

    did: str
    target: str
    deep: bool = False
    """To everything below it as well."""


class Denial(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A tool call that was denied, and what it would have done."""

    call: str
    """The digest of the call, by which it is known when it is made again."""
    hook: str
    reason: str
    acts: tuple[DeniedAct, ...]
    advised: tuple[str, ...] = ()
    """Programs and tools that the hook named as the way to go."""
    prompted: bool = False
    """Whether the person has sent a prompt since, which may have granted it."""


def call_digest(event: ToolEvent) -> str:
    """The same for the same route to the same thing; nothing of the input can be read from it.

    A shell takes any route, so there all of the input counts, and so it does for a tool of an MCP
    server, which may read or delete as its input says. A tool for files is one route to each of
    them, whatever it writes: what was denied for its content may come again with another.
    """
    tool = event.tool
    named = (tool.path, tool.paths, tool.url)
    plain = tool.command is None and any(named) and tool.kind is not ToolKind.MCP
    call = (tool.name, named if plain else tool.input, event.cwd)
    try:
        content = msgspec.json.encode(call, order="deterministic", enc_hook=repr)
    except UnicodeEncodeError:  # half a character, which JSON has no place for
        content = repr(call).encode("utf-8", "surrogatepass")
    return sha256(content).hexdigest()[:32]


def with_denial(denials: tuple[Denial, ...], denial: Denial) -> tuple[Denial, ...]:
    """These and one more; the same call is remembered once, and the oldest make room."""
    if not denial.acts:
        return denials
    denial = replace(denial, acts=denial.acts[:MAX_ACTS])
    kept = (*without_call(denials, denial.call), denial)
    while sum(len(each.acts) for each in kept) > MAX_ACTS:
        kept = kept[1:]
    return kept


def without_call(denials: tuple[Denial, ...], call: str) -> tuple[Denial, ...]:
    """These without the denial of one call, after the call was let through as it was."""
    return tuple(each for each in denials if each.call != call)


def after_prompt(denials: tuple[Denial, ...]) -> tuple[Denial, ...]:
    """These, once the person has spoken."""
    return tuple(each if each.prompted else replace(each, prompted=True) for each in denials)


def join_denials(memories: Iterable[tuple[Denial, ...]]) -> tuple[Denial, ...]:
    """All that is remembered under any of a session's names, each once."""
    return tuple(dict.fromkeys(each for denials in memories for each in denials))
