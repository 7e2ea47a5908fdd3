"""One reply for every client that may be reading it: at least as strict under each, or a deny.

Each dialect knows how its client reads a hook's answer (``read_answer``, for hooks that it runs
itself), so what a reply does under a client is asked, not tabulated. What clients share comes out
of that by itself: Claude Code, VS Code, Codex and Copilot's PascalCase events read a deny inside
``hookSpecificOutput``; Copilot's other words stand at the top level, where the others pass over
them, except Codex, which voids an answer with any key it does not know; exit 2 with a reason on
stderr blocks under all of these, and beside it Gemini wants no milder word in the JSON.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline import registry
from hookline.model.answers import BLOCKING, PASS, Answer, Verdict, deny
from hookline.model.errors import DecodeError
from hookline.model.events import EVENTS, Event, ToolEvent
from hookline.model.outcome import Outcome, Reply, Translated
from hookline.model.ports import Dialect
from hookline.model.rewriting import rewritten
from hookline.model.support import EventSupport, Support
from hookline.model.text import visible
from hookline.model.tools import Tool, ToolKind
from hookline.pipeline.recognition import Callers, shape

__all__ = ["JointClient"]

_Standard = Callable[[Answer, Answer, bool], bool]
# What a guard may look at in a tool call, beside its kind.
_LOOKED_AT = ("command", "path", "url", "query", "content", "old", "new", "mcp")


class _PossibleReader(Struct, frozen=True):
    """One of the possible readers, with the event as it means it."""

    dialect: Dialect
    event: Event

    @property
    def row(self) -> EventSupport | None:
        return self.dialect.support.find(self.event.native_event)

    def encode(self, outcome: Outcome) -> Reply:
        return self.dialect.encode(self.own(outcome))

    def own(self, outcome: Outcome) -> Outcome:
        """The outcome on the event as this client sent it."""
        final = None
        if outcome.final is not None:
            final = rewritten(self.event, outcome.answer.rewrite, self.dialect.tools)
        return replace(outcome, event=self.event, final=final, translation=None)

    def hears(self, reply: Reply) -> Answer:
        """What this client makes of a reply; nothing, where it would throw it away."""
        own, native = shape(self.dialect.id), self.event.native_event
        if own is not None and own.is_void(reply.exit_code, _read_body(reply), native):
            return PASS
        try:
            heard = self.dialect.read_answer(
                self.event, stdout=reply.stdout, stderr=reply.stderr, exit_code=reply.exit_code
            )
        except Exception:
            return PASS
        # We would grant a hook's halt anywhere; the client passes over it where it has none.
        is_lost = heard.verdict is Verdict.HALT and self.row and not self.row.can("halt")
        return PASS if is_lost else heard


class JointClient:
    """Everybody who may be calling, spoken to as one."""

    def __init__(self, callers: Callers) -> None:
        self.callers = callers
        self.ids = callers.ids
        self.notes = callers.notes()
        self._dialects = [registry.dialect(name) for name in callers.readers]
        self._readers: list[_PossibleReader] = []

    @property
    def support(self) -> Support:
        """The first one's, as careful about endless work as the most careful."""
        each = [dialect.support for dialect in self._dialects[: len(self.ids)]]
        caps = [support.stop_cap for support in each if support.stop_cap is not None]
        return replace(
            each[0],
            stop_cap=min(caps, default=None),
            has_stop_flag=all(support.has_stop_flag for support in each),
        )

    # ── in ──────────────────────────────────────────────────────────────────────────────────

    def decode(self, payload: bytes, event: str | None) -> Event:
        """The event, with all that any of them would see in it. Raises DecodeError."""
        read = [(each, *_decode(each, payload, event)) for each in self._dialects]
        self._readers = [_PossibleReader(each, own) for each, own, row in read if own and row]
        if not self.callers.is_certain:
            raise DecodeError(
                "the payload does not tell who is calling; name it: `hookline hook DIALECT`"
            )
        named_first = sorted(read, key=lambda each: each[0].id != self.callers.named)
        rows = [row for _, _, row in named_first if row]
        meant = self._find_canonical(event) or _choose_event(rows)
        self._readers, others = [], []
        for each, own, row in read:
            if own and (own.event_id() == meant or (event is None and row)):
                self._readers.append(_PossibleReader(each, own))
            elif native := _find_native(each, None, meant):
                self._readers.append(_PossibleReader(each, each.decode(payload, native)))
            elif own:
                others.append(_PossibleReader(each, own))
        self._readers = self._readers or others
        events = [client.event for client in self._readers]
        events = events or [self._dialects[0].decode(payload, event)]  # raises what is wrong
        name = events[0].native_event
        if not meant and name != event:
            raise DecodeError(f"`{visible(name[:60])}` is not an event that hookline knows")
        # What stands on the command line has happened, whatever the payload says.
        fitting = [each for each in events if each.event_id() == meant] or events
        first = fitting[0]
        if not isinstance(first, ToolEvent):
            return next((each for each in fitting if each.gate), first)
        tools = [each.tool for each in events if isinstance(each, ToolEvent) and each is not first]
        return replace(first, tool=_looked_at_by_all(first.tool, tools)) if tools else first

    def _find_canonical(self, event: str | None) -> str:
        """The canonical event that the command line names, in whosever words; or empty."""
        if not event:
            return ""
        named = (self.callers.named,) if self.callers.named else ()
        names = (*named, *self.ids, *registry.dialect_names())
        rows = (registry.dialect(name).support.find(event) for name in names)
        return next((row.event for row in rows if row is not None), "")

    # ── out ─────────────────────────────────────────────────────────────────────────────────

    def translate(self, outcome: Outcome) -> Translated:
        """As far as all of them can take it; a halt that several read closes the gates as well."""
        if len(self._readers) == 1:
            return self._readers[0].dialect.translate(outcome)
        done = [client.dialect.translate(client.own(outcome)) for client in self._readers]
        latch = next((each.latch for each in done if each.latch), "")
        if outcome.verdict is Verdict.HALT:
            latch = latch or outcome.reason
        changes = (change for each in done for change in each.substitutions)
        return Translated(done[0].answer, tuple(dict.fromkeys(changes)), latch)

    def encode(self, outcome: Outcome) -> Reply:
        """What each of them obeys at least as strictly as its own words."""
        if len(self._readers) == 1:
            return self._readers[0].dialect.encode(outcome)
        own = [client.encode(outcome) for client in self._readers]
        meant = self._meant(own)
        unsure = _adds_keys(outcome) and outcome.verdict < Verdict.DENY
        # Whoever is denied needs no more than that, and words beside it are words to trip over.
        denied = all(each.verdict >= Verdict.DENY for each in meant)
        standards = (_says_as_much,) if denied else (_says_all, _says_as_much, _is_as_strict)
        # Whose words a client follows when it reads another one's is our belief alone. A rewrite or
        # a question rests on them entirely, so it has to be there in each one's own.
        alone = outcome.answer.rewrite.input is None and outcome.verdict is not Verdict.ASK
        for standard in () if unsure else standards:
            found = self._find_agreed(own, meant, standard, alone=alone)
            if found is not None:
                return found
        if not outcome.event.gate or outcome.event.continues:
            return own[0]  # there is nothing to close, and what failed must keep nobody going
        denial = replace(outcome, answer=deny(self._why(outcome)), final=None)
        return self._find_denial([client.encode(denial) for client in self._readers], meant)

    def _meant(self, own: Sequence[Reply]) -> list[Answer]:
        return [client.hears(reply) for client, reply in zip(self._readers, own, strict=True)]

    def _why(self, outcome: Outcome) -> str:
        if outcome.verdict in BLOCKING:
            return outcome.reason
        names = " or ".join(dialect.support.client for dialect in self._dialects)
        return (
            f"A hook changes this call, but it cannot be told whether {names} is asking, and no "
            "answer says it to each of them. `hookline hook DIALECT` in the agent's own hook file "
            "is read by that agent alone."
        )

    def _find_agreed(
        self,
        own: Sequence[Reply],
        meant: Sequence[Answer],
        standard: _Standard,
        *,
        alone: bool = True,
    ) -> Reply | None:
        """The first reply that everybody takes by this standard.

        ``alone``: one client's words may do for all of them.
        """
        closing = standard is _is_as_strict or all(each.verdict >= Verdict.DENY for each in meant)
        closing &= not any(client.event.continues for client in self._readers)
        for reply in self._candidates(own, closing=closing, alone=alone):
            if all(self._test(reply, meant, standard)):
                return reply
        return None

    def _test(self, reply: Reply, meant: Sequence[Answer], standard: _Standard) -> Iterator[bool]:
        """Whether each of them takes a reply by this standard."""
        for client, what in zip(self._readers, meant, strict=True):
            yield standard(client.hears(reply), what, client.event.gate)

    def _candidates(self, own: Sequence[Reply], *, closing: bool, alone: bool) -> Iterator[Reply]:
        """Replies to choose from, those first that lean least on how we think a client reads.

        All words side by side hold each one's own. Beside a deny, exit 2 closes the gate even where
        a word is not read after all; but Copilot loses the reason to it, so it comes second where
        it is clear who is calling. One client's words alone are the last resort for another.
        """
        if all(reply == own[0] for reply in own):
            yield own[0]
        stderr = b"".join(dict.fromkeys(reply.stderr for reply in own if reply.stderr))
        merged = _merge_bodies([body for reply in own if (body := _read_body(reply))])
        if merged.get("decision") == "deny":
            merged["decision"] = "block"  # which Gemini CLI takes as well, and others know
        # Cursor takes an empty object for nothing to say, and nothing at all for a failure.
        has_body = any(reply.stdout.startswith(b"{") for reply in own)
        stdout = msgspec.json.encode(merged) + b"\n" if has_body else b""
        told = stderr or _find_reason(merged).encode("utf-8", "backslashreplace")
        closed = (Reply(stdout=stdout, stderr=told, exit_code=2), Reply(stderr=told, exit_code=2))
        is_clear = self.callers.is_certain
        is_clear &= all(reply == own[0] for reply in own[: len(self.ids)])
        yield from closed if closing and not is_clear else ()
        yield Reply(stdout=stdout, stderr=stderr)
        yield from closed if closing and is_clear else ()
        yield from dict.fromkeys(own) if alone else ()
        yield from () if closing else closed

    def _find_denial(self, own: Sequence[Reply], meant: Sequence[Answer]) -> Reply:
        """A deny that everybody obeys; where there is none, the client named and most others."""
        pairs = zip(map(_cap_at_deny, self._meant(own)), map(_cap_at_deny, meant), strict=True)
        floor = [max(pair, key=lambda each: each.verdict.strictness) for pair in pairs]
        agreed = self._find_agreed(own, floor, _is_as_strict)
        return agreed or max(
            self._candidates(own, closing=True, alone=True),
            key=lambda each: self._count_closed(each, floor),
        )

    def _count_closed(self, reply: Reply, floor: Sequence[Answer]) -> tuple[int, ...]:
        """How many gates a reply closes, of the client named, of the recognised ones, of all; and
        how many take it as it is meant, since another's event may be one that nothing closes."""
        taken = list(zip(self._readers, self._test(reply, floor, _is_as_strict), strict=True))
        closed = [
            client.dialect.id
            for (client, is_taken), least in zip(taken, floor, strict=True)
            if is_taken and least.verdict in BLOCKING
        ]
        recognised = sum(name in self.ids for name in closed)
        named = closed.count(self.callers.named or "")
        return named, recognised, len(closed), sum(is_taken for _, is_taken in taken)

    def refuse(self, event: str | None, reason: str) -> Reply:
        """What to say when nothing could be judged, in words that close the gate of each.

        Where nobody knows the event, that is every gate; with nobody named, everybody's.
        """
        # What each of them read in the payload, where nothing stands on the command line.
        read = {each.dialect.id: each.event for each in self._readers if not event and each.row}
        meant = self._find_canonical(event)
        meant = meant or next((each.event_id() for each in read.values()), "")
        dialects = self._dialects
        if not self.callers.is_certain:
            having = [each for each in _list_dialects() if each.support.find(event or "")]
            dialects = list(dict.fromkeys((*dialects, *having))) or _list_dialects()
        names = {each.id: read[each.id].native_event for each in dialects if each.id in read}
        pairs = [(each, _find_native(each, names.get(each.id, event), meant)) for each in dialects]
        known = [(each, name) for each, name in pairs if name]
        gates = ((each, name) for each in dialects for name in _list_gates(each))
        self._readers = [_PossibleReader(each, _blank(each, name)) for each, name in known or gates]
        own = [each.dialect.refuse(each.event.native_event, reason) for each in self._readers]
        if len(own) == 1:
            return own[0]
        if not known and not self.callers.readers:
            replies = self._candidates(own, closing=True, alone=False)
            return next(each for each in replies if each.exit_code == 2)
        return self._find_denial(own, self._meant(own))


# ── names ───────────────────────────────────────────────────────────────────────────────────


def _find_native(dialect: Dialect, event: str | None, meant: str) -> str:
    """A dialect's name of the event on the command line; empty when it has none."""
    if event and dialect.support.find(event) is not None:
        return event
    rows = dialect.support.events.items()
    return next((native for native, row in rows if row.event == meant), "")


def _decode(
    dialect: Dialect, payload: bytes, event: str | None
) -> tuple[Event | None, EventSupport | None]:
    """The event as this client means it, if it has one of that name, and its row."""
    try:
        found = dialect.decode(payload, event)
    except DecodeError:
        return None, None
    return found, dialect.support.find(found.native_event)


def _choose_event(rows: Sequence[EventSupport]) -> str:
    """The canonical event by the payload alone; a gate before what is none. Raises DecodeError."""
    gates = sorted({row.event for row in rows if row.is_gate})
    if len(gates) > 1:
        told = " or ".join(gates)
        raise DecodeError(f"this may be {told}; name it: `hookline hook DIALECT EVENT`")
    return [*gates, *(row.event for row in rows), ""][0]


def _list_gates(dialect: Dialect) -> list[str]:
    return [native for native, row in dialect.support.events.items() if row.is_gate]


def _list_dialects() -> list[Dialect]:
    names = registry.dialect_names()
    return [registry.dialect(name) for name in names if shape(name) is not None]


def _blank(dialect: Dialect, native: str) -> Event:
    """An event of which only the name is known."""
    cls = EVENTS[dialect.support.events[native].event]
    event: Event = cls(native_event=native, dialect=dialect.id)
    return event


def _looked_at_by_all(tool: Tool, others: Sequence[Tool]) -> Tool:
    """The tool with what the others read in it: a guard must find a path under any one's key."""
    fields: dict[str, Any] = {}
    for name in _LOOKED_AT:
        values = [getattr(each, name) for each in (tool, *others)]
        fields[name] = next((value for value in values if value is not None), None)
    paths = tuple(dict.fromkeys(path for each in (tool, *others) for path in each.paths))
    kinds = [each.kind for each in (tool, *others) if each.kind is not ToolKind.OTHER]
    return replace(tool, **fields, paths=paths, kind=kinds[0] if kinds else tool.kind)


def _adds_keys(outcome: Outcome) -> bool:
    """Whether a rewrite sets a key that is not in the input: under whose name is a guess."""
    event, change = outcome.event, outcome.answer.rewrite.input
    return isinstance(event, ToolEvent) and bool(set(change or ()) - set(event.tool.input))


# ── answers compared, and replies put into one ──────────────────────────────────────────────

_DENIED = deny("denied")


def _cap_at_deny(answer: Answer) -> Answer:
    """An answer that is no stricter than a deny."""
    return _DENIED if answer.verdict >= Verdict.DENY else answer


def _is_as_strict(heard: Answer, meant: Answer, gate: bool) -> bool:
    """Nothing gets through that was meant to be held back or changed."""
    if heard.verdict < meant.verdict:
        return False
    if gate and heard.verdict >= Verdict.DENY:
        return True
    # Where there is no gate, a deny alone leaves the output that was to be replaced.
    changed = heard.rewrite == meant.rewrite
    return changed and bool(heard.follow_up) == bool(meant.follow_up)


def _says_as_much(heard: Answer, meant: Answer, gate: bool) -> bool:
    """The same happens, though something beside it may be lost."""
    return heard.verdict is meant.verdict and _is_as_strict(heard, meant, gate)


def _says_all(heard: Answer, meant: Answer, gate: bool) -> bool:
    """Also the texts arrive."""
    return _says_as_much(heard, meant, gate) and all(
        bool(getattr(heard, part)) >= bool(getattr(meant, part)) for part in ("context", "notice")
    )


def _read_body(reply: Reply) -> dict[str, Any]:
    """The JSON object on stdout; empty when there is none."""
    try:
        body = msgspec.json.decode(reply.stdout)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _merge_bodies(bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """All keys; of two values the first, since what comes of it is asked again afterwards."""
    whole: dict[str, Any] = {}
    for body in bodies:
        for key, value in body.items():
            known = whole.get(key)
            if isinstance(known, dict) and isinstance(value, dict):
                whole[key] = _merge_bodies([known, value])
            else:
                whole.setdefault(key, value)
    return whole


def _find_reason(body: Mapping[str, Any]) -> str:
    """A reason somewhere in an answer: exit 2 counts for some only with a text beside it."""
    places = (body, *(value for value in body.values() if isinstance(value, dict)))
    words = ("permissionDecisionReason", "reason", "message", "user_message", "stopReason")
    texts = (place.get(word) for word in words for place in places)
    found = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return f"{found or 'blocked by a hook'}\n"
