"""``match``, compiled: whether an event is one that a hook was written for.

Knows which field of which event a key is about; nothing of files, hooks or handlers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from hookline.config.schema import MatchEntry
from hookline.config.sight import sight_of
from hookline.model.errors import HandlerUnavailable, IllegalValueError
from hookline.model.events import EVENTS, Elicitation, Event, PostToolBatch, ToolEvent
from hookline.model.ports import Caller, Match
from hookline.model.tools import Tool, ToolKind
from hookline.workspace import IN_REFTABLE

if TYPE_CHECKING:
    from hookline.config.patterns import PathPatterns, Screen, TextPatterns

__all__ = [
    "CARRIED_BY",
    "Conditions",
    "compile_match",
    "pattern_flaw",
]

# The event's own word for where it came from, under the name it has there.
_SOURCE_WORDS = (
    "source",
    "trigger",
    "reason",
    "kind",
    "change",
    "decision",
    "action",
    "why",
    "where",
)
_SOURCES: Mapping[type[Any], str] = {
    **{
        cls: word
        for cls in EVENTS.values()
        for word in reversed(_SOURCE_WORDS)
        if word in cls.__struct_fields__
    },
    EVENTS["stop_failure"]: "error",
}


def _ids(carries: Callable[[type[Any]], bool]) -> frozenset[str]:
    return frozenset(name for name, cls in EVENTS.items() if carries(cls))


def _has(field: str) -> frozenset[str]:
    return _ids(lambda cls: issubclass(cls, ToolEvent) or field in cls.__struct_fields__)


CARRIED_BY: Mapping[str, frozenset[str]] = {
    "tool": _has("tool"),
    "command": _has("command"),
    "path": _has("path"),
    "url": _has("url"),
    "mcp": _has("server"),
    "agent": frozenset(EVENTS),
    "source": _ids(_SOURCES.__contains__),
    "prompt": _ids(lambda cls: "prompt" in cls.__struct_fields__),
    **dict.fromkeys(("mode", "repository", "branch", "dialect", "native"), frozenset(EVENTS)),
}
"""For each match key the events that can have what it is about."""

_ANY = Match()
_KINDS = frozenset(ToolKind)


def compile_match(
    spec: MatchEntry, *, every: bool, project_dir: str, screen: "Screen | None" = None
) -> "Conditions | None":
    """The condition, or None for one that always holds. Raises IllegalValueError.

    With ``every``, all of an event has to match: each simple command of a command in which
    nothing is hidden, each path in every sense. Conditions that share a ``screen`` look at a
    command together first.
    """
    given = dict(spec.patterns())
    if not given:
        return None
    return Conditions(given, every=every, project_dir=project_dir, screen=screen)


def pattern_flaw(key: str, source: str, *, every: bool) -> str:
    """What is wrong with one pattern; empty when nothing is."""
    from hookline.config.patterns import path_patterns, text_patterns

    try:
        if key == "path":
            _check_path(source, every=every)
            path_patterns([source])
        else:
            text_patterns([source])
    except IllegalValueError as error:
        return str(error)
    return ""


def _check_path(source: str, *, every: bool) -> None:
    from hookline.config.patterns import looks_like_directory

    if looks_like_directory(source) and (every or "/" in source[1:-1]):
        raise IllegalValueError(
            f"`{source}` would be searched as a regex; write `{source}**` for all below it"
        )


class Conditions:
    """All keys of one ``match``."""

    __slots__ = (
        "_command",
        "_every",
        "_identity",
        "_kinds",
        "_mcp",
        "_names",
        "_path",
        "_project_dir",
        "_screen",
        "_url",
        "_words",
    )

    def __init__(
        self,
        given: Mapping[str, tuple[str, ...]],
        *,
        every: bool,
        project_dir: str,
        screen: "Screen | None" = None,
    ) -> None:
        # Many configs have no pattern at all.
        from hookline.config.patterns import path_patterns, text_patterns

        def texts(key: str) -> "TextPatterns | None":
            return text_patterns(given[key]) if key in given else None

        self._every = every
        self._project_dir = project_dir
        self._kinds = tuple(ToolKind(word) for word in given.get("tool", ()) if word in _KINDS)
        self._names = texts("tool")
        self._words = tuple(
            (read, text_patterns(given[key])) for key, read in _WORDS.items() if key in given
        )
        self._url = texts("url")
        self._mcp = texts("mcp")
        self._command = texts("command")
        # One that asks for all of a command to match has other parts to look at.
        screened = screen and self._command and not every and screen.add(self._command)
        self._screen = screen if screened else None
        self._path: PathPatterns | None = None
        if "path" in given:
            for source in given["path"]:
                _check_path(source, every=every)
            # A grant for a directory's name is none for what lies in it.
            self._path = path_patterns(given["path"], below=not every)
        self._identity = (
            frozenset((key, frozenset(sources)) for key, sources in given.items()),
            every,
            project_dir if "path" in given else None,
        )

    def identity(self) -> object:
        """Equal for equal keys, whatever the order of alternatives."""
        return self._identity

    def can_hold(self, key: str, words: Iterable[str]) -> bool:
        """Whether a key such as ``dialect`` holds for one of these words; one not given does."""
        given = dict(self._identity[0])
        patterns = dict(zip(filter(given.__contains__, _WORDS), self._words, strict=True))
        return key not in patterns or patterns[key][1].some(words)

    def find(self, event: Event, caller: Caller) -> Match | None:
        """The match, or None."""
        if type(event) is PostToolBatch and event.calls:
            found = (self._find(event, call, caller) for call in event.calls)
            if self._every:
                matches = list(found)
                return matches[0] if all(matches) else None
            return next(filter(None, found), None)
        return self._find(event, getattr(event, "tool", None), caller)

    def parts(self, event: Event, caller: Caller) -> tuple[str, ...]:
        """The simple commands of an event that are meant."""
        text = getattr(getattr(event, "tool", None), "command", None)
        if self._command is None or not text:
            return ()
        return tuple(filter(self._command.holds, sight_of(event, caller).commands(text)))

    def why_not(self, event: Event, caller: Caller) -> str:
        """Which keys do not hold, in words for people; empty when all of them do."""
        tools = [getattr(event, "tool", None)]
        if type(event) is PostToolBatch and event.calls:
            tools = list(event.calls)
        flaws = ["; ".join(self._flaws(event, tool, caller)) for tool in tools]
        found = [each for each in flaws if each]
        if not found or (not self._every and len(found) < len(flaws)):
            return ""
        return found[0] if len(tools) == 1 else f"of {len(found)} of {len(tools)} calls: {found[0]}"

    def _flaws(self, event: Event, tool: Tool | None, caller: Caller) -> Iterator[str]:
        given: Mapping[str, frozenset[str]] = dict(self._identity[0])
        if self._names is not None and (
            tool is None or not (tool.kind in self._kinds or self._names.holds(tool.name))
        ):
            # A tool that was not meant has none of the rest either.
            yield _flaw("tool", f"{tool.kind} (`{tool.name}`)" if tool else "", given["tool"])
            return
        words = ((key, read) for key, read in _WORDS.items() if key in given)
        for (key, read), (_, patterns) in zip(words, self._words, strict=True):
            if not self._hold(patterns, texts := read(event, caller)):
                yield _flaw(key, ", ".join(filter(None, map(_quoted, texts))), given[key])
        if self._url is not None and not self._holds_url(event, tool, caller):
            yield _flaw("url", _quoted(tool.url if tool else ""), given["url"])
        if self._mcp is not None and not self._mcp.some(names := _mcp_names(event, tool)):
            yield _flaw("mcp", _quoted(names[-1] if names else ""), given["mcp"])
        if self._command is not None and not self._holds_command(event, tool, caller):
            text = getattr(event if tool is None else tool, "command", None) or ""
            all_of = self._every and len(sight_of(event, caller).granted_commands(text)) != 1
            yield _flaw("command", _quoted(text), given["command"], all_of=bool(text) and all_of)
        if self._path is not None and self._find_path(event, tool, caller) is None:
            paths = _paths(event, tool)
            shown = ", ".join(map(_quoted, paths))
            yield _flaw("path", shown, given["path"], all_of=self._every and len(paths) > 1)

    def _find(self, event: Event, tool: Tool | None, caller: Caller) -> Match | None:
        # The cheapest first: most events fail here, and every tool call waits for all hooks.
        if self._names is not None and (
            tool is None or not (tool.kind in self._kinds or self._names.holds(tool.name))
        ):
            return None
        for read, patterns in self._words:
            if not self._hold(patterns, read(event, caller)):
                return None
        if self._url is not None and not self._holds_url(event, tool, caller):
            return None
        if self._mcp is not None and not self._mcp.some(_mcp_names(event, tool)):
            return None
        if self._command is not None and not self._holds_command(event, tool, caller):
            return None
        return self._find_path(event, tool, caller) if self._path is not None else _ANY

    def _hold(self, patterns: "TextPatterns", texts: Sequence[str]) -> bool:
        return patterns.each(texts) if self._every else patterns.some(texts)

    def _holds_url(self, event: Event, tool: Tool | None, caller: Caller) -> bool:
        assert self._url is not None
        text = tool.url if tool is not None else None
        if not text or text.isspace():
            return False
        sight = sight_of(event, caller)
        if self._every:
            return self._url.each(sight.granted_urls(text))
        return self._url.some(sight.urls(text))

    def _holds_command(self, event: Event, tool: Tool | None, caller: Caller) -> bool:
        assert self._command is not None
        if tool is None:
            return self._command.some(_texts(getattr(event, "command", None)))
        text = tool.command
        if text is None:
            return False
        if self._every:
            # With their wrappers: what grants `git status` does not grant `sudo git status`.
            parts = sight_of(event, caller).granted_commands(text)
            return bool(parts) and self._command.each(parts)
        sight = sight_of(event, caller)
        if self._screen is not None and not self._screen.may_hold(sight, text):
            return False
        return self._command.holds(text) or self._command.some(sight.commands(text))

    def _find_path(self, event: Event, tool: Tool | None, caller: Caller) -> Match | None:
        assert self._path is not None
        given = _paths(event, tool)
        sight = sight_of(event, caller)
        if self._every:
            places = [sight.granted_spots(path, self._project_dir) for path in given]
            if not places or not all(places) or not self._path.each(chain(*places)):
                return None
            return Match(sight.absolute(given[0], self._project_dir))
        for path in given:
            if self._path.some(sight.spots(path, self._project_dir)):
                return Match(sight.absolute(path, self._project_dir))
        return None


def _flaw(key: str, shown: str, wanted: Iterable[str], *, all_of: bool = False) -> str:
    patterns = " or ".join(f"`{each}`" for each in sorted(wanted))
    if not shown:
        return f"the event has no `{key}`, and {patterns} is asked for"
    if all_of:
        # What is let through or changed has to match as a whole.
        return f"`{key}` is {shown}, and not every part of it is plainly {patterns}"
    return f"`{key}` is {shown}, not {patterns}"


def _quoted(text: str | None) -> str:
    text = " ".join((text or "").split())
    return f"`{text if len(text) <= 120 else text[:119] + '…'}`" if text else ""


def _texts(value: str | None) -> tuple[str, ...]:
    return (value,) if value else ()


def _source(event: Event, _caller: Caller) -> Sequence[str]:
    word = _SOURCES.get(type(event))
    return (getattr(event, word) if word else "",)


def _prompts(event: Event, _caller: Caller) -> Sequence[str]:
    """What the person said; a person who steers may have said several things."""
    prompts: Sequence[str] = getattr(event, "prompts", ())
    return prompts or (getattr(event, "prompt", ""),)


def _repositories(event: Event, caller: Caller) -> Sequence[str]:
    return [each.repository for each in sight_of(event, caller).workspaces()]


def _branches(event: Event, caller: Caller) -> Sequence[str]:
    found = [each.branch for each in sight_of(event, caller).workspaces()]
    if IN_REFTABLE in found:
        raise HandlerUnavailable("`match: {branch: …}` cannot read the branch from a reftable")
    return found


_WORDS: Mapping[str, Callable[[Event, Caller], Sequence[str]]] = {
    "dialect": lambda event, _: (event.dialect,),
    "native": lambda event, _: (event.native_event,),
    "agent": lambda event, _: (event.agent.name,),
    "mode": lambda event, _: (event.permission_mode,),
    "source": _source,
    "prompt": _prompts,
    # Last: to find them, files are looked at.
    "repository": _repositories,
    "branch": _branches,
}


def _mcp_names(event: Event, tool: Tool | None) -> tuple[str, ...]:
    """The server alone, and every way people write a tool of it."""
    if isinstance(event, Elicitation):
        return _texts(event.server)
    if tool is None or tool.mcp is None:
        return ()
    server, name = tool.mcp.server, tool.mcp.tool
    return (server, f"{server}.{name}", f"{server}__{name}", f"mcp__{server}__{name}")


def _paths(event: Event, tool: Tool | None) -> Sequence[str]:
    if tool is None:
        return _texts(getattr(event, "path", None))
    return tuple(dict.fromkeys([*_texts(tool.path), *filter(None, tool.paths)]))
