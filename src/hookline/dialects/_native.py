"""What platforms that send JSON to a command have in common: tables in, tables out.

A dialect gives its rows, its tools and its spelling; reading a payload, writing one for a hook
that expects this platform, and the refusal when nothing can be judged are the same everywhere.
"""

import re
from abc import ABC, abstractmethod
from codecs import BOM_UTF8
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from hookline.dialects._shown import changes, shown
from hookline.dialects._translate import PASSED, translate
from hookline.dialects._wire import joined, said
from hookline.model.answers import PASS, Answer, deny
from hookline.model.errors import DecodeError
from hookline.model.events import (
    EVENTS,
    Agent,
    Event,
    Other,
    SessionResume,
    Task,
    ToolEvent,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome, Reply, Substitution, Translated
from hookline.model.ports import Caller, take_payload
from hookline.model.rewriting import overlay
from hookline.model.support import Support
from hookline.model.text import visible
from hookline.model.tools import Mcp, Tool, ToolKind, ToolTable

__all__ = ["JsonDialect", "Keys", "Words", "joined", "read_count", "said"]


class Keys(Struct, frozen=True, kw_only=True):
    """Under which native keys the things stand that most events have."""

    event: str = "hook_event_name"
    session: str = "session_id"
    cwd: str = "cwd"
    tool: str = "tool_name"
    input: str = "tool_input"
    call: str = "tool_use_id"
    response: str = "tool_response"
    duration: str = "duration_ms"
    agent_id: str = "agent_id"
    agent_type: str = "agent_type"


class Words(NamedTuple):
    """A field that holds one of a few words; the usual one stands for other platforms' own."""

    field: str
    known: frozenset[str]
    usual: str


class JsonDialect(ABC):
    """A platform whose hooks read one JSON object and are answered in JSON or by exit code."""

    id: ClassVar[str]
    tools: ClassVar[ToolTable]
    support: ClassVar[Support]
    notes: ClassVar[tuple[Substitution, ...]] = ()
    keys: ClassVar[Keys] = Keys()
    # Native event → {canonical field: native key}; "task.id" reaches into a nested value.
    fields: ClassVar[Mapping[str, Mapping[str, str]]]
    # What any event may tell besides: canonical field → native key; and, of those that not every
    # event of the platform tells, the events that do.
    facts: ClassVar[Mapping[str, str]] = {}
    facts_on: ClassVar[Mapping[str, frozenset[str]]] = {}
    # Native event → its field of which the platform names all words.
    words: ClassVar[Mapping[str, Words]] = {}
    # Canonical events that only others have → the native one that a hook for them is asked with.
    also: ClassVar[Mapping[str, str]] = {}
    ignores_http_text: ClassVar[bool] = False
    tells_workspace: ClassVar[bool] = False
    # How the prompts begin and end that a client sends by itself, as when a background task ends.
    automatic: ClassVar[tuple[tuple[str, str], ...]] = (
        ("<task-notification>", "</task-notification>"),
        ("<system_notification>", "</system_notification>"),
    )

    @property
    def ids(self) -> tuple[str]:
        """Its own: whoever calls in this dialect speaks no other."""
        return (self.id,)

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def decode(self, payload: bytes, event: str | None = None) -> Event:
        """The canonical event in a native payload; an event nobody knows becomes ``other``."""
        payload = payload.removeprefix(BOM_UTF8)  # which Windows puts before everything
        data = self.parse(payload)
        native = self.native_name(data, event)
        row = self.support.find(native)
        cls = EVENTS[row.event] if row is not None else Other
        values = self.common(data, native)
        values["raw"] = Raw(payload)
        own: dict[str, Any] = {}
        for field, key in self.fields.get(native, _NO_FIELDS).items():
            if data.get(key) is not None:
                _put(own, field, data[key])
        if issubclass(cls, ToolEvent):
            values["tool"] = self.read_tool(data, native)
        elif cls is UserPromptSubmit:
            own["automatic"] = self.is_automatic(data, _text(own.get("prompt")))
        own |= self.own_fields(data, native)
        if not own and type(self).common is JsonDialect.common:
            return cls(**values)  # as with most events: all of it is made here, and as it has to be
        try:
            return _built(cls, values | own)
        except msgspec.ValidationError as exc:
            raise DecodeError(f"{self.support.client}'s {visible(native)} payload: {exc}") from exc

    def parse(self, payload: bytes) -> dict[str, Any]:
        """The payload as an object."""
        try:
            data = take_payload(payload)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
            why = "nested too deep" if isinstance(exc, RecursionError) else str(exc)
            raise DecodeError(f"the payload is not JSON: {why}") from exc
        if not isinstance(data, dict):
            raise DecodeError(f"the payload is a JSON {type(data).__name__}, not an object")
        return data

    def native_name(self, data: Mapping[str, Any], given: str | None) -> str:
        """The event on the command line, if this platform has it; else the payload's own word."""
        said, given = self.to_own_name(self.read_event_name(data)), self.to_own_name(given or "")
        name = said or given
        if not name:
            raise DecodeError(f"the payload names no event: no `{self.keys.event}` in it")
        if name == given or (row := self.support.find(given)) is None:
            return name
        own = self.support.find(said)
        if own is None or own.event == row.event or row.can_block or own.can_block:
            return given
        return said  # more precise: clients call a custom agent's Stop hook as SubagentStop

    def read_event_name(self, data: Mapping[str, Any]) -> str:
        """The event that the payload names; empty where it names none."""
        return _text(data.get(self.keys.event))

    def to_own_name(self, name: str) -> str:
        """This platform's name of an event, where it also answers to another platform's."""
        return name

    def common(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """What every event of this platform has."""
        keys = self.keys
        agent_id, agent_type = data.get(keys.agent_id), data.get(keys.agent_type)
        agent = _ROOT
        if agent_id or agent_type:
            name = agent_type if isinstance(agent_type, str) and agent_type else "root"
            agent = Agent(name=name, depth=1, id=_text(agent_id)) if agent_id else Agent(name=name)
        facts = {
            field: value
            for field, key in self.facts.items()
            if (value := data.get(key)) is not None and _is_word(value)
        }
        return {
            **facts,
            "session_id": _text(data.get(keys.session)),
            "cwd": _text(data.get(keys.cwd)),
            "dialect": self.id,
            "native_event": native,
            "agent": agent,
        }

    def read_tool(self, data: Mapping[str, Any], native: str) -> Tool:
        """The canonical tool in a payload."""
        keys = self.keys
        name, given = _text(data.get(keys.tool)), data.get(keys.input)
        if isinstance(given, dict):
            tool = self.tools.read(name, given)
        else:
            tool = self.tools.read(name, {})
            if given is not None:
                # Some tools take one bare text; it is judged as what it most likely is, a command.
                kind = ToolKind.SHELL if tool.kind is ToolKind.OTHER else tool.kind
                tool = replace(tool, command=_text(given) or str(given), kind=kind)
        fields: dict[str, Any] = {}
        call = data.get(keys.call)
        if isinstance(call, str) and call:
            fields["call_id"] = call
        server = data.get("mcp_server")
        if isinstance(server, dict) and tool.mcp is None and server.get("name"):
            fields |= {"mcp": Mcp(_text(server["name"]), name), "kind": ToolKind.MCP}
        if keys.response in data:
            fields |= {"output": self.output_text(data[keys.response]), "ok": True}
        duration = data.get(keys.duration)
        if isinstance(duration, float) or (isinstance(duration, int) and abs(duration) < 2**53):
            fields["duration_ms"] = float(duration)
        return replace(tool, **fields) if fields else tool

    def output_text(self, response: Any) -> str:
        """A tool's answer as text."""
        if isinstance(response, str):
            return response
        if isinstance(response, dict) and isinstance(response.get("stdout"), str):
            return "\n".join(filter(None, (response["stdout"], _text(response.get("stderr")))))
        return msgspec.json.encode(response).decode()

    def is_automatic(self, data: Mapping[str, Any], prompt: str) -> bool:
        """Whether the client has sent this prompt by itself."""
        text = prompt.strip()
        return any(text.startswith(begin) and text.endswith(end) for begin, end in self.automatic)

    def own_fields(self, data: Mapping[str, Any], native: str) -> dict[str, Any]:
        """Fields of single events that a table cannot say."""
        return {}

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def translate(self, outcome: Outcome) -> Translated:
        """The outcome as far as this platform can take it."""
        if outcome.answer is PASS:
            return PASSED
        native = self.native_of(outcome.event)
        return translate(outcome, self.support, native, self.own_cells(outcome, native))

    def own_cells(self, outcome: Outcome, native: str) -> Mapping[str, str]:
        """Cells of the table that depend on more than the event's name."""
        return {}

    def encode(self, outcome: Outcome) -> Reply:
        """The outcome in this platform's words, at least as strict."""
        translated = outcome.translation_for(self.id) or self.translate(outcome)
        return self.spell(outcome, translated.answer)

    @abstractmethod
    def spell(self, outcome: Outcome, answer: Answer) -> Reply:
        """An answer that this platform can take, in its words."""

    def refuse(self, event: str | None, reason: str) -> Reply:
        """Deny on a gate event or an unknown one; a line on stderr everywhere else."""
        event = self.to_own_name(event or "")
        row = self.support.find(event)
        stderr = f"hookline: {visible(reason)}\n".encode()
        if row is not None and not row.is_gate:
            return Reply(stderr=stderr)
        cls = EVENTS[row.event] if row is not None else EVENTS["pre_tool_use"]
        name = event if row is not None else self.native_for("pre_tool_use")
        blocked = Outcome(event=cls(native_event=name, dialect=self.id), answer=deny(reason))
        reply = self.encode(blocked)
        return Reply(stdout=reply.stdout, stderr=reply.stderr or stderr, exit_code=reply.exit_code)

    def native_of(self, event: Event) -> str:
        """This platform's name of an event, whichever platform it came from; or empty."""
        if event.dialect == self.id and event.native_event:
            return event.native_event
        name = event.event_id()
        return self.also.get(name) or self.native_for(name)

    def native_for(self, event: str) -> str:
        """The first native event that stands for a canonical one; empty when there is none."""
        return next((name for name, row in self.support.events.items() if row.event == event), "")

    def final_input(self, outcome: Outcome) -> dict[str, Any]:
        """The whole tool input with every rewrite in it."""
        event = outcome.final or outcome.event
        assert isinstance(event, ToolEvent)
        if outcome.final is not None:
            return event.tool.input
        return overlay(event.tool.input, outcome.answer.rewrite.input or {})

    # ── as a host: a hook written for this platform runs inside ours ────────────────────────

    def stdin(self, event: Event) -> bytes:
        """The event as a hook of this platform reads it: the native bytes where they are."""
        if event.dialect == self.id and bytes(event.raw) != b"null":
            return bytes(event.raw)
        return msgspec.json.encode(self.payload(event))

    def variables(self, event: Event, caller: Caller) -> Mapping[str, str]:
        """What this platform sets in the environment of the hooks it runs."""
        name = self.support.project_variable
        return {name: caller.project_dir or event.cwd} if name else {}

    def payload(self, event: Event) -> dict[str, Any]:
        """A native payload for an event that came from elsewhere."""
        keys, native = self.keys, self.native_of(event)
        data: dict[str, Any] = {keys.session: event.session_id, keys.cwd: event.cwd}
        data[keys.event] = native
        for field, key in self.facts.items():
            tells = native in self.facts_on.get(field, (native,))
            if tells and (value := getattr(event, field)):
                data[key] = value
        for field, key in self.fields.get(native, {}).items():
            value = _get(event, field)
            if value or field not in _LEFT_OUT:
                data[key] = value
        word = self.native_word(native, event)
        if word is not None:
            data[self.fields[native][self.words[native].field]] = word
        if isinstance(event, ToolEvent):
            tool = event.tool
            data |= {keys.tool: self.native_tool(tool), keys.input: self.native_input(tool)}
            if tool.call_id is not None:
                data[keys.call] = tool.call_id
            if tool.output is not None:
                data[keys.response] = tool.output
        if event.agent.id:
            data |= {keys.agent_id: event.agent.id, keys.agent_type: event.agent.name}
        return data

    @classmethod
    def native_word(cls, native: str, event: Event) -> str | None:
        """What stands in the event's field of known words, on this platform; None without one."""
        row = cls.words.get(native)
        if row is None:
            return None
        word = getattr(event, row.field, "")
        if word in row.known:
            return str(word)
        is_resumed = isinstance(event, SessionResume) and "resume" in row.known
        return "resume" if is_resumed else row.usual

    def native_tool(self, tool: Tool) -> str:
        """This platform's name of a tool: the first of its kind when it has none of that name."""
        if tool.name in self.tools.rows or tool.kind in {ToolKind.OTHER, ToolKind.MCP}:
            return tool.name
        rows = self.tools.rows.items()
        return next((name for name, row in rows if row.kind is tool.kind), tool.name)

    def native_input(self, tool: Tool) -> dict[str, Any]:
        """A tool's input under this platform's keys."""
        if tool.name in self.tools.rows:  # which may be another platform's, of the same name
            return shown(self.tools, tool.name, tool)[0] or tool.input
        row = self.tools.rows.get(self.native_tool(tool))
        if row is None:
            return tool.input
        known = {key: value for key in row.keys if (value := getattr(tool, key, None))}
        return {row.keys[key]: value for key, value in known.items()} or tool.input

    def meant(self, tool: Tool, new: Mapping[str, Any]) -> dict[str, Any]:
        """A whole new input in a hook's answer, as what it changes in the one it was shown."""
        given = self.native_input(tool)
        row = None if given is tool.input else self.tools.rows.get(self.native_tool(tool))
        # Another platform's tool wants canonical names, which it writes under its own keys.
        names = {} if row is None else {native: name for name, native in row.keys.items()}
        return changes(given, names, new, whole=True)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def read_count(data: Mapping[str, Any], key: str) -> int | None:
    """The number of something under a key; None for anything that counts nothing."""
    value = data.get(key)
    return value if type(value) is int and 0 <= value < 2**53 else None


def _is_word(value: Any) -> bool:
    """Whether it can be a name or a path: else it stays in the raw payload alone."""
    if not isinstance(value, str) or len(value) > _LONGEST_WORD:
        return False
    return value.isprintable() or _UNSEEN.search(value) is None


def _put(values: dict[str, Any], field: str, value: Any) -> None:
    outer, _, inner = field.partition(".")
    if inner:
        values.setdefault(outer, {})[inner] = value
    else:
        values[outer] = value


def _get(event: Event, field: str) -> Any:
    value: Any = event
    for name in field.split("."):
        value = getattr(value, name)
    return value


def _built(cls: type[Any], values: dict[str, Any]) -> Event:
    """The event, with each own field forced into its type rather than refused.

    Clients change their payloads weekly: a number where a text was must not lose the event.
    """
    if isinstance(values.get("task"), dict):
        values["task"] = Task(**{k: str(v) for k, v in values["task"].items()})
    event: Event
    is_text = _is_text(cls.event_id())
    known: dict[str, Any] = {}
    plain = True
    for name, value in values.items():
        text = is_text.get(name)
        if text is None:
            continue
        if text:
            known[name] = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        else:
            known[name] = tuple(value) if isinstance(value, list) else value
            plain = plain and name in _BUILT
    if plain:
        event = cls(**known)  # then there is nothing to force
        return event
    given = {k: v for k, v in known.items() if k not in _BUILT}
    event = msgspec.convert({"event": cls.event_id(), **given}, cls, strict=False)
    return replace(event, **{k: v for k, v in known.items() if k in _BUILT})


@cache
def _is_text(event: str) -> Mapping[str, bool]:
    """The fields of an event; whether each is a text."""
    return {each.name: each.type is str for each in msgspec.structs.fields(EVENTS[event])}


_LONGEST_WORD = 4096
# Fields that payloads leave out where there is nothing in them.
_LEFT_OUT = frozenset({"title", "custom_instructions"})
# Control characters, what changes the direction of text or has no width, and half a character.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
_BUILT = {"agent", "raw", "tool", "task", "calls"}
_ROOT = Agent()
_NO_FIELDS: Mapping[str, str] = {}
