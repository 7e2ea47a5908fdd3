"""An entry made ready to be stored: redacted, and cut where it is long.

Everything textual is searched for secrets before it becomes a row; nothing else is ever written.
Nearly every event has none, so all of it is searched together, and piece by piece only when
something was found.

Half a token is no token to any rule, so a text is never cut and then redacted: more than is kept is
redacted, by the length of a secret, and of that only what comes from before the cut is kept.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from hookline.model.answers import NO_REWRITE, PASS, Answer
from hookline.model.events import Event, ToolEvent
from hookline.model.journal import Entry, RecordedRun
from hookline.model.outcome import Run, Substitution
from hookline.model.rewriting import changed
from hookline.secrets import redact as redact_secrets
from hookline.secrets import redact_bytes as find_secrets

__all__ = ["Details", "Facts", "close_json", "read_facts", "shorten"]

T = TypeVar("T", str, bytes)

SUBJECT_CAP = 400
REPLY_CAP = 65_536
DETAILS_CAP = 65_536
TEXT_CAP = 4_096
"""For one text, where all details together are more than ``DETAILS_CAP``."""
NAME_CAP = 256

MARGIN = 16_384
"""Longer than any secret is: a private key of 8192 bits in PEM has 6,500 characters."""

# In JSON, and in JSON that is a text in JSON, too.
_ZEROS = re.compile(rb"\0|\\+u0000")
_MOST_ITEMS = 200
_ROUNDS = 4
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
_CLOSING = bytes.maketrans(b"[{", b"]}")

_EMPTY: Mapping[str, Any] = {}
# Where an event that is about no tool says what it is about, the most telling first.
_SUBJECTS = (
    *("prompt", "message", "path", "error", "last_message", "text", "to_model", "to_agent"),
    *("new_cwd", "source", "reason", "trigger", "model", "kind"),
)


class _Run(RecordedRun, frozen=True, kw_only=True, omit_defaults=True):
    """Shorter by what most runs do not say."""


class Details(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """All that is known of an event beside what has a column of its own; stored as JSON."""

    agent: str = ""
    subject: str = ""
    cwd: str = ""
    project_dir: str = ""
    config: str = ""
    reason: str = ""
    failure: str = ""
    answer: Mapping[str, Any] = {}
    runs: list[RecordedRun] = []
    substitutions: tuple[Substitution, ...] = ()
    version: str = ""

    @property
    def hooks(self) -> str:
        """The names of the hooks that ran, each between line feeds so that one can be found."""
        return "\n".join(["", *[each.hook for each in self.runs], ""]) if self.runs else ""


class Facts(Struct, frozen=True, kw_only=True, gc=False):
    """What may be stored of an entry: the columns are read from this."""

    entry: Entry
    """As it was: only what is no text may be taken from it."""
    names: tuple[str, ...]
    """The event's id, its dialect and native name, its session, its tool."""
    details: bytes
    payload: bytes
    stdout: bytes
    stderr: bytes
    hooks: str
    redactions: int = 0
    cut: bool = False


def read_facts(entry: Entry, payload_cap: int) -> Facts:
    """What may be stored of an entry, whatever its hooks put into their answers."""
    try:
        return _redact(entry, _read_details(entry), payload_cap)
    except Exception as error:
        # That there was an event is known, and so is its verdict.
        failure = f"this event could not be written down in full: {type(error).__name__}: {error}"
        reason = entry.outcome.reason if entry.outcome is not None else ""
        rest = Details(reason=reason, failure=f"{entry.failure} {failure}".strip())
        return _redact(entry, rest, payload_cap)


def _redact(entry: Entry, details: Details, payload_cap: int) -> Facts:
    reply = entry.reply
    facts = Facts(
        entry=entry,
        names=_list_names(entry),
        details=_encode(details),
        payload=entry.payload,
        stdout=reply.stdout,
        stderr=reply.stderr,
        hooks=details.hooks,
    )
    if _fits(facts, payload_cap) and _is_clean(facts):
        return facts
    return _censor(facts, details, payload_cap, Censor(), Censor())


def _list_names(entry: Entry) -> tuple[str, ...]:
    event = entry.event
    if event is None:
        return entry.id, entry.dialect, entry.native_event, "", ""
    tool = event.tool.name if isinstance(event, ToolEvent) else ""
    native = entry.native_event or event.native_event
    return entry.id, entry.dialect, native, event.session_id, tool


def _fits(facts: Facts, payload_cap: int) -> bool:
    """Whether nothing has to be cut, and nothing was cut that nobody has searched."""
    return (
        len(facts.payload) <= payload_cap
        and len(facts.details) <= DETAILS_CAP
        and len(facts.stdout) <= REPLY_CAP
        and len(facts.stderr) <= REPLY_CAP
        and max(map(len, facts.names)) <= NAME_CAP
        # The subject is a part of the payload, which is searched whole.
        and (bool(facts.payload) or len(_find_subject(facts.entry.event)) <= SUBJECT_CAP)
    )


def _is_clean(facts: Facts) -> bool:
    try:
        names = "\n".join(facts.names).encode()
    except UnicodeEncodeError:
        return False
    together = b"\n".join((facts.details, facts.payload, facts.stdout, facts.stderr, names))
    # Between zeros, as in UTF-16, no secret is seen here.
    zeros = b"\0" in together or b"u0000" in together
    return not zeros and not find_secrets(together).count


def _censor(
    facts: Facts, details: Details, payload_cap: int, censor: "Censor", of_subject: "Censor"
) -> Facts:
    # The subject was cut already, perhaps in the middle of a secret: begin again with all of it.
    text = of_subject.redact_text(_find_subject(facts.entry.event), 4 * SUBJECT_CAP)
    if details.subject:
        details = replace(details, subject=_fit_line(text))
    encoded = censor.redact_json(_encode(details), DETAILS_CAP, TEXT_CAP)
    names = [_replace_surrogates(censor.redact_text(name, NAME_CAP)) for name in facts.names]
    payload = censor.redact_bytes(facts.payload, payload_cap)
    return Facts(
        entry=facts.entry,
        names=tuple(names),
        details=encoded,
        payload=payload,
        stdout=censor.redact_bytes(facts.stdout, REPLY_CAP),
        stderr=censor.redact_bytes(facts.stderr, REPLY_CAP),
        hooks=msgspec.json.decode(encoded, type=Details).hooks,
        # What the subject is a part of has the same secrets, and they are not counted twice.
        redactions=max(censor.redactions, of_subject.redactions),
        cut=censor.cut,
    )


def _read_details(entry: Entry) -> Details:
    """As it was: nothing is redacted yet."""
    event, outcome = entry.event, entry.outcome
    answer = outcome.answer if outcome is not None else PASS
    return Details(
        agent=event.agent.name if event is not None else "",
        subject=_fit_line(_find_subject(event)),
        cwd=event.cwd if event is not None else "",
        project_dir=entry.project_dir,
        config=entry.config,
        reason=answer.reason,
        failure=entry.failure,
        answer=_list_effects(answer),
        runs=[_record_run(run, outcome.event) for run in outcome.runs] if outcome else [],
        substitutions=outcome.substitutions if outcome is not None else (),
        version=entry.version,
    )


def _record_run(run: Run, event: Event) -> _Run:
    hook, answer = run.hook, run.answer
    kind = hook.handler.kind
    return _Run(
        hook=hook.name.replace("\n", " "),
        source=str(hook.source),
        handler=kind,
        # What a rule says is all there is to it, and is asked again.
        doing="" if kind == "rule" else hook.doing(),
        files=run.files,
        saw=changed(run.seen, event) if run.seen is not event and run.seen is not None else "",
        verdict=answer.verdict._value_,
        reason=answer.reason,
        ns=run.ns,
        failed=run.failed,
        mode=hook.mode.value,
        rejudged=run.rejudged,
        superseded=run.superseded,
        derived=run.derived,
        effects=_list_effects(answer),
    )


def _list_effects(answer: Answer) -> Mapping[str, Any]:
    """What was answered beside the verdict and its reason."""
    if answer is PASS:
        return _EMPTY
    effects: dict[str, Any] = {}
    if answer.context:
        effects["context"] = answer.context
    if answer.notice:
        effects["notice"] = answer.notice
    if answer.rewrite is not NO_REWRITE and answer.rewrite:
        effects["rewrite"] = answer.rewrite
    if answer.follow_up:
        effects["follow_up"] = answer.follow_up
    if answer.metadata:
        effects["metadata"] = answer.metadata
    return effects


def _find_subject(event: Event | None) -> str:
    """What an event is about: the command, the path, the prompt; as long as that is."""
    if event is None:
        return ""
    if isinstance(event, ToolEvent):
        tool = event.tool
        server = f"{tool.mcp.server}.{tool.mcp.tool}" if tool.mcp is not None else ""
        return tool.command or tool.path or tool.url or tool.query or server or tool.name
    for name in _SUBJECTS:
        value = getattr(event, name, None)
        if isinstance(value, str) and value:
            return value
    task = getattr(event, "task", None)
    return getattr(task, "subject", "") or (event.agent.name if event.agent.depth else "")


def _fit_line(text: str) -> str:
    """No longer than a line should be."""
    if len(text) > SUBJECT_CAP or "\n" in text:
        text = " ".join(text[: 4 * SUBJECT_CAP].split())
    return text if len(text) <= SUBJECT_CAP else f"{text[: SUBJECT_CAP - 1]}…"


# What no JSON can hold, such as an object in a function's metadata, is shown as Python does.
_encoder = msgspec.json.Encoder(enc_hook=repr)


def _encode(details: Details) -> bytes:
    """As JSON, in UTF-8 whatever it holds."""
    try:
        return _encoder.encode(details)
    except UnicodeEncodeError:
        # File names that are no UTF-8 come as lone surrogates, which no database takes.
        return _encoder.encode(_replace_surrogates(msgspec.to_builtins(details, enc_hook=repr)))


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replace_surrogates(each) for each in value]
    return value


# Long texts made short without leaving half a secret at the cut


class Censor:
    """Redacts and cuts the pieces of one entry, and keeps count of it."""

    def __init__(self) -> None:
        self.redactions = 0
        self.cut = False

    def redact_bytes(self, raw: bytes, cap: int) -> bytes:
        """At most about ``cap`` bytes without secrets; what was JSON stays JSON."""
        if not raw:
            return raw
        bare, more = None, False
        if _has_zeros(raw[: cap + MARGIN]):
            # There is more to look at than there is to keep.
            head = raw[: 4 * (cap + MARGIN)]
            bare, more = self._remove_zeros(head), len(head) < len(raw)
        if bare is None:
            kept, cut = self._shorten(raw, cap, _redact_bytes)
        else:
            kept, cut = self._shorten(bare, cap, _redact_bytes, more=more)
        return close_json(kept) if cut else kept

    def redact_text(self, text: str, cap: int) -> str:
        """The same for a text."""
        if "\0" in text:
            raw = text.encode("utf-8", "surrogatepass")
            return self.redact_bytes(raw, cap).decode("utf-8", "replace")
        return self._shorten(text, cap, _redact_text)[0] if text else text

    def redact_json(self, encoded: bytes, cap: int, text_cap: int) -> bytes:
        """The same for a JSON object; when it has more than ``cap``, each of its texts is cut."""
        if len(encoded) <= cap:
            return self._redact_whole(encoded)
        self.cut = True
        # Each text by itself first, as none may end with half a secret; then in its place, since
        # the name of a value may tell that it is one.
        less = shorten(msgspec.json.decode(encoded), text_cap, self.redact_text)
        encoded = self._redact_whole(msgspec.json.encode(less))
        while len(encoded) > 4 * cap and text_cap > 16:
            # Many texts rather than long ones.
            text_cap //= 4
            encoded = msgspec.json.encode(shorten(msgspec.json.decode(encoded), text_cap))
        return encoded

    def _redact_whole(self, raw: bytes) -> bytes:
        bare = self._remove_zeros(raw) if _has_zeros(raw) else None
        kept, count = _redact_bytes(raw if bare is None else bare)
        self.redactions += count
        return kept

    def _remove_zeros(self, raw: bytes) -> bytes | None:
        """Without its zeros, where these hide a secret; None where they do not.

        So is UTF-16 written, as PowerShell does, and no rule knows a token with zeros in it. Where
        they stand between tokens it takes them to know these, so both ways are looked at.
        """
        kept, count = _redact_bytes(raw)
        bare = _ZEROS.sub(b"", kept)
        if not find_secrets(bare).count:
            return None
        self.redactions += count
        return bare

    def _shorten(
        self, text: T, cap: int, redact: Callable[[T], tuple[T, int]], *, more: bool = False
    ) -> tuple[T, bool]:
        """At most ``cap`` of it, and whether it was cut; ``more`` was there behind it before."""
        if more:
            cap = min(cap, max(len(text) - MARGIN, 0))
        kept, count = redact(text[: cap + MARGIN])
        self.redactions += count
        if len(text) <= cap:
            return kept, False
        self.cut = True
        if count and (more or len(text) > cap + MARGIN):
            # Secrets and what stands for them differ in length. What comes out for the part before
            # the cut alone tells where that is; from a secret on that is cut, it is something else.
            kept = _common_start(kept, redact(text[:cap])[0])
        return kept[:cap], True


def _has_zeros(raw: bytes) -> bool:
    return b"\0" in raw or b"u0000" in raw


def _redact_text(text: str) -> tuple[str, int]:
    found = redact_secrets(text)
    return found.text, found.count


def _redact_bytes(raw: bytes) -> tuple[bytes, int]:
    found = find_secrets(raw)
    return found.raw, found.count


def _common_start(one: T, other: T) -> T:
    """As far as the two are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return one[:low]


def close_json(start: bytes) -> bytes:
    """The start of a JSON text, ended so that it can be read again; other bytes as they are."""
    if start[:1] not in {b"{", b"["}:
        return start
    return next(filter(_is_json, _try_endings(start)), start)


def _try_endings(start: bytes) -> Iterator[bytes]:
    # Without escapes a quote is a quote.
    plain = start.replace(b"\\\\", b"__").replace(b'\\"', b"__")
    end = len(plain)
    if plain.count(b'"') % 2:
        # The string that was cut: as a value, or as a key.
        end = plain.rfind(b'"')
        string = start[:end] + _drop_half_character(start[end:]) + "…".encode() + b'"'
        brackets = _close_brackets(plain[:end])
        yield string + brackets
        yield string + b":null" + brackets
    # Or without whatever follows the last comma: a number may have lost half its digits.
    comma = _last_comma(plain, end)
    if comma >= 0:
        yield start[:comma] + _close_brackets(plain[:comma])


def _last_comma(plain: bytes, end: int) -> int:
    """Where the last comma is outside of strings; -1 when there is none. So is the end."""
    while (comma := plain.rfind(b",", 0, end)) >= 0:
        if plain.count(b'"', comma, end) % 2 == 0:
            break
        end = plain.rfind(b'"', 0, comma)
    return comma


def _drop_half_character(text: bytes) -> bytes:
    """Without half a character or half an escape at its end; the longest is \\ud83d\\ude00."""
    text = text.decode("utf-8", "ignore").encode()
    escape = text.rfind(b"\\", max(len(text) - 12, 0))
    while escape > 0 and text[escape - 1 : escape] == b"\\":
        escape -= 1
    return text if escape < 0 else text[:escape]


def _close_brackets(plain: bytes) -> bytes:
    """What closes all that is open in a text that ends outside of strings."""
    # With nothing between them two quotes change nothing for what comes before and after.
    marks = plain.translate(None, _OTHERS).replace(b'""', b"")
    marks = b"".join(marks.split(b'"')[::2])
    # Most are closed soon after they were opened. A few rounds only: depth is not to be squared.
    for _ in range(_ROUNDS):
        marks = marks.replace(b"{}", b"").replace(b"[]", b"")
    stack = bytearray()
    for mark in marks:
        if mark in b"{[":
            stack.append(mark)
        elif stack:
            stack.pop()
    stack.reverse()
    return bytes(stack).translate(_CLOSING)


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=Raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    return True


def _cut(text: str, limit: int) -> str:
    return text[:limit]


def shorten(value: Any, limit: int, start: Callable[[str, int], str] = _cut) -> Any:
    """The same data with every text at most ``limit`` long, and no more items than are readable.

    ``start`` says what is kept of a text that is longer.
    """
    if isinstance(value, str):
        return value if len(value) <= limit else f"{start(value, limit - 1)}…"
    most = min(_MOST_ITEMS, limit)
    if isinstance(value, dict):
        kept = list(value.items())[:most]
        return {shorten(key, limit, start): shorten(each, limit, start) for key, each in kept}
    if isinstance(value, list):
        return [shorten(each, limit, start) for each in value[:most]]
    return value
