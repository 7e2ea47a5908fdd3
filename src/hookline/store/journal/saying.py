"""What was said of an event, gathered into one value that is stored as one JSON text."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from hookline.model.answers import NO_REWRITE, PASS, Answer
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import Hook
from hookline.model.journal import Entry, RecordedRun
from hookline.model.outcome import Run, Substitution
from hookline.model.rewriting import changed

__all__ = ["SUBJECT_CAP", "Said", "encoded", "in_one_line", "said_of", "subject_of"]

SUBJECT_CAP = 400

# Where an event that is about no tool says what it is about, the most telling first.
_SUBJECTS = (
    "prompt",
    "message",
    "path",
    "error",
    "last_message",
    "text",
    "to_model",
    "to_agent",
    "new_cwd",
    "source",
    "reason",
    "trigger",
    "model",
    "kind",
)


class _Run(RecordedRun, frozen=True, kw_only=True, omit_defaults=True):
    """Shorter by what most runs do not say."""


class Said(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """All that is known of an event beside what has a column of its own."""

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


def said_of(entry: Entry) -> Said:
    """As it was: nothing is redacted yet."""
    event, outcome = entry.event, entry.outcome
    answer = outcome.answer if outcome is not None else PASS
    return Said(
        agent=event.agent.name if event is not None else "",
        subject=in_one_line(subject_of(event)),
        cwd=event.cwd if event is not None else "",
        project_dir=entry.project_dir,
        config=entry.config,
        reason=answer.reason,
        failure=entry.failure,
        answer=_NOTHING if answer is PASS else _effects(answer),
        runs=[_run(each, outcome.event) for each in outcome.runs] if outcome is not None else [],
        substitutions=outcome.substitutions if outcome is not None else (),
        version=entry.version,
    )


def _run(run: Run, event: Event) -> _Run:
    hook, answer = run.hook, run.answer
    known = _known.get(id(hook))
    if known is None or known.hook is not hook:
        known = _get_to_know(hook)
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
        effects=_NOTHING if answer is PASS else _effects(answer),
    )


class _Known(Struct, frozen=True):
    """What is said of a hook, whatever it did; the same hooks run again and again."""

    hook: Hook
    name: str
    source: str
    handler: str
    doing: str
    mode: str


_known: dict[int, _Known] = {}
_MOST_KNOWN = 1_000
_NOTHING: Mapping[str, Any] = {}


def _get_to_know(hook: Hook) -> _Known:
    if len(_known) >= _MOST_KNOWN:
        _known.clear()
    # The hook itself is kept, so that no other one can have its number.
    kind = hook.handler.kind
    known = _known[id(hook)] = _Known(
        hook,
        hook.name.replace("\n", " "),
        str(hook.source),
        kind,
        # What a rule says is all there is to it, and is asked again.
        "" if kind == "rule" else hook.doing(),
        hook.mode.value,
    )
    return known


def _effects(answer: Answer) -> Mapping[str, Any]:
    """What was said beside the verdict and its reason."""
    said: dict[str, Any] = {}
    if answer.context:
        said["context"] = answer.context
    if answer.notice:
        said["notice"] = answer.notice
    if answer.rewrite is not NO_REWRITE and answer.rewrite:
        said["rewrite"] = answer.rewrite
    if answer.follow_up:
        said["follow_up"] = answer.follow_up
    if answer.metadata:
        said["metadata"] = answer.metadata
    return said


def subject_of(event: Event | None) -> str:
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


def in_one_line(text: str) -> str:
    """No longer than a line should be."""
    if len(text) > SUBJECT_CAP or "\n" in text:
        text = " ".join(text[: 4 * SUBJECT_CAP].split())
    return text if len(text) <= SUBJECT_CAP else f"{text[: SUBJECT_CAP - 1]}…"


def _shown(value: object) -> str:
    """For what no JSON can hold, such as an object in a function's metadata."""
    return repr(value)


_encoder = msgspec.json.Encoder(enc_hook=_shown)


def encoded(said: Said) -> bytes:
    """As JSON, in UTF-8 whatever it holds."""
    try:
        return _encoder.encode(said)
    except UnicodeEncodeError:
        # File names that are no UTF-8 come as lone surrogates, which no database takes.
        return _encoder.encode(_valid(msgspec.to_builtins(said, enc_hook=_shown)))


def _valid(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_valid(key): _valid(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_valid(each) for each in value]
    return value
