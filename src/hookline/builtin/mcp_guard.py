"""Lets through only the MCP servers and tools that are listed, from where they are known to come.

Patterns are `SERVER` or `SERVER.TOOL`, and `*` stands for anything. With `pins`, tools must also
say of themselves what they said when the person ran `hookline mcp pin`. What is allowed here is
still left to the client's own rules.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import monotonic
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.builtin._paths import Names
from hookline.model.answers import PASS, Answer, Verdict, ask, deny
from hookline.model.events import Event, SessionStart, ToolEvent
from hookline.model.ports import Caller
from hookline.model.tools import Mcp, Tool, ToolKind

EVENTS: tuple[str, ...] = ("pre_tool_use", "session_start")
ALSO: tuple[str, ...] = ("permission_request",)
PRIORITY: int = 20
GUARD: bool = True

_PREFIX = re.compile(r"^mcp(?:__|_|:)")
_BREAK = re.compile(r"__|[_:./-]")

# Of the time that is left a part is for telling what was found.
_SECONDS = 30.0
_SHARE = 0.8


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which servers and tools, by patterns; the strictest list that names one counts."""

    deny: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()
    unknown: Literal["ask", "deny", "pass"] = "ask"
    """What is said about a tool that no list names."""
    origins: dict[str, tuple[str, ...]] = {}
    """By server, globs of the command line or address it may be started with; any other is denied,
    where the client tells."""
    pins: Literal["require", "report", "off"] = "off"
    """Whether a tool that nobody has pinned is asked about, and one that has changed since denied;
    or whether the person is only told."""
    check: Literal["never", "session_start"] = "never"
    """When pinned servers are started, to see whether they still say the same."""

    def __post_init__(self) -> None:
        for globs in (self.deny, self.ask, self.allow, *self.origins.values()):
            Names(globs)
        for server, globs in self.origins.items():
            if not globs:
                raise ValueError(f"`origins` of `{server}` is empty: name a command or an address")
        if self.check != "never" and self.pins == "off":
            raise ValueError("`check` compares with pins, and `pins` is off: write `pins: require`")


def _waits(options: Options) -> bool:
    return options.check != "never"


def _acts(options: Options) -> tuple[str, ...]:
    return ("session_start",) if options.check == "session_start" else ()


def _moment(options: Options) -> bool:
    return options.pins != "off"


# Only starting servers takes long, and does anything; what is pinned may change.
WAITS: Callable[[Options], bool] = _waits
ACTS: Callable[[Options], tuple[str, ...]] = _acts
MOMENT: Callable[[Options], bool] = _moment


def misfits(options: Options, events: Sequence[str]) -> Iterator[tuple[str, str]]:
    """An option for an event on which the guard does not run."""
    if options.check == "session_start" and "session_start" not in events:
        yield "`check: session_start` needs that event", "add it to `on:`, or leave `on:` out"


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    lists = _Lists(options)

    def answer(event: Event, caller: Caller) -> Answer:
        if isinstance(event, SessionStart) and options.check == "session_start":
            from hookline.builtin._mcp_pins import check_now

            left = _SECONDS if caller.deadline is None else caller.deadline - monotonic()
            return Answer(notice=tuple(check_now(event, caller, left * _SHARE)))
        if not isinstance(event, ToolEvent):
            return PASS
        tool = event.tool
        if tool.mcp is None and tool.kind is not ToolKind.MCP:
            return PASS
        mcp = tool.mcp or Mcp("", tool.name)
        said = lists.origin(mcp, event) or lists.judge(mcp, tool)
        return said if options.pins == "off" else _with_pins(said, options, event, mcp, caller)

    return answer


def _with_pins(
    said: Answer, options: Options, event: ToolEvent, mcp: Mcp, caller: Caller
) -> Answer:
    """The lists' answer, or a stricter one where the tool is not as it was pinned."""
    from hookline.builtin._mcp_pins import found  # most configs have no pins

    readings = [(mcp.server, mcp.tool), *_cuts(event.tool.name)]
    wrong = found(dict.fromkeys(readings), event, caller)
    if wrong is None:
        return said
    text = f"`{mcp.tool}` of the MCP server `{mcp.server}`: {wrong.reason}"
    shown = (wrong.shown,) if wrong.shown else ()
    if options.pins == "report":
        return replace(said, notice=(*said.notice, text, *shown))
    verdict = Verdict.DENY if wrong.changed else Verdict.ASK
    if said.verdict > verdict:
        return replace(said, notice=(*said.notice, *shown))
    return Answer(
        verdict=verdict,
        reason=f"{said.reason}; {text}" if said.verdict is verdict else text,
        notice=(*said.notice, *shown),
        metadata={"category": "mcp", "server": mcp.server, "tool": mcp.tool, "changed": "pin"},
    )


class _Lists:
    """The options, ready to be asked."""

    def __init__(self, options: Options) -> None:
        self._deny = Names(_whole(options.deny), any_case=True)
        self._ask = Names(_whole(options.ask), any_case=True)
        # What is let through must be called so to the letter.
        self._allow = Names(_whole(options.allow))
        self._unknown = options.unknown
        self._origins = {name: Names(globs) for name, globs in options.origins.items()}

    def judge(self, mcp: Mcp, tool: Tool) -> Answer:
        """What the lists say."""
        shown = f"`{mcp.tool}` of the MCP server `{mcp.server}`"
        readings = [f"{mcp.server}.{mcp.tool}", *_readings(tool.name)]
        metadata = {"category": "mcp", "server": mcp.server, "tool": mcp.tool}
        if any(map(self._deny, readings)):
            return deny(f"{shown} is on the deny list", metadata=metadata)
        if any(map(self._ask, readings)):
            return ask(f"{shown} is on the list of what to ask about", metadata=metadata)
        if self._unknown == "pass" or self._allow(readings[0]):
            return PASS
        build = deny if self._unknown == "deny" else ask
        return build(f"{shown} is on no list of known tools", metadata=metadata)

    def origin(self, mcp: Mcp, event: ToolEvent) -> Answer | None:
        """A deny for a server that is not the one that was meant; None when nothing is wrong."""
        pinned = self._origins.get(mcp.server)
        told = _origin(event) if pinned is not None else ""
        if pinned is None or not told or pinned(told):
            return None
        metadata = {"category": "mcp", "server": mcp.server, "changed": "origin"}
        reason = f"the MCP server `{mcp.server}` is not started as it was pinned: `{told[:200]}`"
        return deny(reason, metadata=metadata)


def _whole(globs: tuple[str, ...]) -> tuple[str, ...]:
    """A server alone means all of its tools."""
    return tuple(glob if "." in glob else f"{glob}.*" for glob in globs)


def _readings(name: str) -> Iterator[str]:
    return (f"{server}.{tool}" for server, tool in _cuts(name))


def _cuts(name: str) -> Iterator[tuple[str, str]]:
    """Every way to cut a name in two: where a server's name ends, clients do not always tell."""
    bare = _PREFIX.sub("", name)
    for cut in _BREAK.finditer(bare):
        yield bare[: cut.start()], bare[cut.end() :]


def _origin(event: ToolEvent) -> str:
    """How the client says that the server was started; empty where it does not say."""
    try:
        payload = msgspec.json.decode(event.raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    told = payload.get("mcp_context") if isinstance(payload, Mapping) else None
    if not isinstance(told, Mapping):
        return ""
    for key in ("url", "tcp"):
        if isinstance(address := told.get(key), str) and address:
            return address
    command, words = told.get("command"), told.get("args")
    if not isinstance(command, str):
        return ""
    rest = [word for word in words if isinstance(word, str)] if isinstance(words, list) else []
    return " ".join([command, *rest])
