"""Canonical JSON ↔ events, answers and replies: the contract of every portable hook."""

import re
from collections.abc import Mapping

import msgspec
from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookline.dialects._wire import line
from hookline.model.answers import PASS, Answer, context, deny, notice
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerCrashed, nearest
from hookline.model.events import EVENTS, AnyEvent, Event, ToolEvent
from hookline.model.outcome import Outcome, Reply, Substitution, Translated
from hookline.model.ports import Caller
from hookline.model.support import CELLS, EventSupport, Support
from hookline.model.text import visible
from hookline.model.tools import CANONICAL_TOOLS, Tool, ToolKind

__all__ = ["Canonical"]

_NORMAL_FIELDS = ("command", "path", "paths", "url", "query", "content", "old", "new")
_NO_REASON = "blocked by a hook that gave no reason"


class _Peek(Struct):
    event: str | None = None


_ANSWER_INSIDE = re.compile(rb'\{\s*"(%s)"' % b"|".join(map(str.encode, Answer.__struct_fields__)))

_events = msgspec.json.Decoder(AnyEvent)
_peek = msgspec.json.Decoder(_Peek)
_answers = msgspec.json.Decoder(Answer)
_encoder = msgspec.json.Encoder()


class Canonical:
    """The dialect that needs no translation."""

    id = "canonical"
    ids = (id,)
    notes: tuple[Substitution, ...] = ()
    support = Support(
        id="canonical",
        client="hookline",
        version="1",
        events={
            name: EventSupport(native=name, event=name, cells=dict.fromkeys(CELLS, "yes"))
            for name in EVENTS
        },
    )
    tools = CANONICAL_TOOLS
    ignores_http_text = False
    tells_workspace = True

    def decode(self, payload: bytes, event: str | None = None) -> Event:
        """The event in a canonical payload; only ``event`` is needed, the rest has defaults."""
        try:
            said = _peek.decode(payload).event
            name = _event_name(said, event)
            decoded: Event = _events.decode(payload if said else _with_event(payload, name))
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
            raise DecodeError(f"the payload is not canonical JSON: {_why(exc)}") from exc
        if bytes(decoded.raw) == b"null":
            decoded = replace(decoded, raw=msgspec.Raw(payload))
        if isinstance(decoded, ToolEvent):
            return replace(decoded, tool=_completed(decoded.tool))
        return decoded

    def translate(self, outcome: Outcome) -> Translated:
        """Nothing needs to be said otherwise."""
        return Translated(outcome.answer)

    def encode(self, outcome: Outcome) -> Reply:
        """The merged answer; ``verdict`` is always there."""
        said = to_builtins(outcome.answer)
        if outcome.signature:
            said["notice"] = [*said.get("notice", ()), outcome.signature]
        return Reply(stdout=line({"verdict": outcome.verdict, **said}))

    def refuse(self, event: str | None, reason: str) -> Reply:
        """Deny when the event is a gate or unknown; otherwise a line on stderr and no effect."""
        stderr = f"hookline: {visible(reason)}\n".encode()
        known = EVENTS.get(event or "")
        if known is not None and not (known.gate and not known.continues):
            return Reply(stdout=line({"verdict": "pass"}), stderr=stderr)
        return Reply(stdout=line({"verdict": "deny", "reason": reason}), stderr=stderr)

    def stdin(self, event: Event) -> bytes:
        """The event as every canonical hook reads it."""
        return _encoder.encode(event)

    def variables(self, event: Event, caller: Caller) -> Mapping[str, str]:
        """None: what hookline sets, it sets for every hook."""
        return {}

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        """Exit 0: JSON, plain text or nothing. Exit 2: deny, with stderr as the reason."""
        if exit_code == 2:
            return deny(_text(stderr) or _text(stdout) or _NO_REASON)
        if exit_code != 0:
            tail = visible(_text(stderr) or _text(stdout))[-500:]
            raise HandlerCrashed(f"exit code {exit_code}" + (f": {tail}" if tail else ""))
        body = stdout.removeprefix(b"\xef\xbb\xbf").strip()
        if not body:
            return PASS
        if body.startswith(b"{") or _is_json_array(body):
            return _read_json(body)
        return _read_plain(body, event)


def _event_name(said: str | None, given: str | None) -> str:
    if said and given and said != given:
        raise DecodeError(f"the payload says `{said}`, the command line says `{given}`")
    name = said or given
    if not name:
        raise DecodeError('the payload names no event: add `"event": "pre_tool_use"` or another')
    if name not in EVENTS:
        raise DecodeError(f"no event is called `{visible(name)}`. {nearest(name, EVENTS)}".strip())
    return name


def _with_event(payload: bytes, name: str) -> bytes:
    fields = msgspec.json.decode(payload, type=dict[str, msgspec.Raw])
    fields["event"] = msgspec.Raw(_encoder.encode(name))
    return _encoder.encode(fields)


def _completed(tool: Tool) -> Tool:
    """The tool with ``input`` and the normal fields derived from each other; ``input`` wins."""
    kind = None if tool.kind is ToolKind.OTHER else tool.kind
    name = tool.name or (kind or "")
    read = CANONICAL_TOOLS.read(name, tool.input, kind=kind)
    missing = {
        field: list(value) if field == "paths" else value
        for field in _NORMAL_FIELDS
        if (value := getattr(tool, field)) and not getattr(read, field)
    }
    if missing:
        read = CANONICAL_TOOLS.read(name, {**tool.input, **missing}, kind=kind)
    if tool.mcp is not None:
        read = replace(read, mcp=tool.mcp, kind=kind or ToolKind.MCP)
    return replace(
        read,
        call_id=tool.call_id,
        output=tool.output,
        ok=tool.ok,
        duration_ms=tool.duration_ms,
    )


def _why(exc: Exception) -> str:
    return "nested too deep" if isinstance(exc, RecursionError) else str(exc)


def _text(stream: bytes) -> str:
    return stream.decode("utf-8", "replace").strip()


def _is_json_array(body: bytes) -> bool:
    if not body.startswith(b"["):
        return False
    try:
        msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False  # a log line such as "[info] done"
    return True


def _read_json(body: bytes) -> Answer:
    try:
        answer = _answers.decode(body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as exc:
        raise HandlerAnswerError(f"not an answer: {_why(exc)}") from exc
    return PASS if answer == PASS else answer


def _read_plain(body: bytes, event: Event) -> Answer:
    # A verdict that a stray line of output turned into prose would be lost without a sound.
    if _ANSWER_INSIDE.search(body):
        raise HandlerAnswerError("printed other text round its JSON answer; print the JSON alone")
    if b"\0" in body:
        raise HandlerAnswerError("printed something that is neither JSON nor UTF-8 text")
    text = _text(body)
    return context(text) if event.takes_context else notice(text)
