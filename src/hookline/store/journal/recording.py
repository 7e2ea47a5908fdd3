"""An entry made ready to be stored: redacted, and cut where it is long.

Everything textual is searched for secrets before it becomes a row; nothing else is ever written.
Nearly every event has none, so all of it is searched together, and piece by piece only when
something was found.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.answers import NO_REWRITE, PASS, Answer
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import Hook
from hookline.model.journal import Entry, RecordedRun
from hookline.model.outcome import Run, Substitution
from hookline.model.rewriting import changed
from hookline.secrets import redact_bytes

if TYPE_CHECKING:
    from hookline.store.journal.cutting import Censor

__all__ = ["Details", "Facts", "read_facts"]

SUBJECT_CAP = 400
REPLY_CAP = 65_536
DETAILS_CAP = 65_536
TEXT_CAP = 4_096
"""For one text, where all details together are more than ``DETAILS_CAP``."""
NAME_CAP = 256

_KNOWN_HOOKS = 1_000
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
    from hookline.store.journal.cutting import Censor

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
    return not zeros and not redact_bytes(together).count


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


class _HookFacts(Struct, frozen=True):
    """What is recorded of a hook, whatever it did; the same hooks run again and again."""

    hook: Hook
    name: str
    source: str
    handler: str
    doing: str
    mode: str


_hooks: dict[int, _HookFacts] = {}


def _read_hook(hook: Hook) -> _HookFacts:
    if len(_hooks) >= _KNOWN_HOOKS:
        _hooks.clear()
    # The hook itself is kept, so that no other one can have its number.
    kind = hook.handler.kind
    known = _hooks[id(hook)] = _HookFacts(
        hook,
        hook.name.replace("\n", " "),
        str(hook.source),
        kind,
        # What a rule says is all there is to it, and is asked again.
        "" if kind == "rule" else hook.doing(),
        hook.mode.value,
    )
    return known


def _record_run(run: Run, event: Event) -> _Run:
    hook, answer = run.hook, run.answer
    known = _hooks.get(id(hook))
    if known is None or known.hook is not hook:
        known = _read_hook(hook)
    return _Run(
        hook=known.name,
        source=known.source,
        handler=known.handler,
        doing=known.doing,
        files=run.files,
        saw=changed(run.seen, event) if run.seen is not event and run.seen is not None else "",
        verdict=answer.verdict._value_,
        reason=answer.reason,
        ns=run.ns,
        failed=run.failed,
        mode=known.mode,
        rejudged=run.rejudged,
        superseded=run.superseded,
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
