"""What a client was told of an outcome, and what it makes of that.

Knows replies as dialects read and write them; must not know hooks.
"""

from msgspec.structs import replace

from hookline import registry
from hookline.explaining.explanation import Told
from hookline.explaining.recorded import answer_of
from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.errors import HooklineError
from hookline.model.events import Event
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.outcome import Outcome, Substitution

__all__ = ["excerpt", "substitutions", "told"]

_LONGEST = 2000


def excerpt(raw: bytes) -> str:
    """As much of a text as a person wants to read."""
    text = raw[: 4 * _LONGEST].decode("utf-8", "replace")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(raw):,} bytes)"


def substitutions(recorded: Recorded, event: Event | None) -> tuple[Substitution, ...]:
    """Those of the engine, which are in the record, and those made for the platform."""
    found = tuple(recorded.substitutions)
    if event is None or recorded.failure:
        return found
    outcome = Outcome(event=event, answer=_answer(recorded))
    try:
        changes = registry.dialect(recorded.dialect).translate(outcome).substitutions
    except HooklineError:
        changes = ()
    return tuple(dict.fromkeys((*found, *changes)))


def _answer(recorded: Recorded) -> Answer:
    """The merged answer, put together again from the record."""
    whole = RecordedRun(
        hook="",
        source="",
        handler="",
        verdict=recorded.verdict,
        reason=recorded.reason,
        effects=recorded.answer,
    )
    return answer_of(whole)


def told(recorded: Recorded, event: Event | None) -> Told:
    """What the client got, in its own words and in ours."""
    try:
        dialect = registry.dialect(recorded.dialect)
        client = "the caller" if dialect.id == "canonical" else dialect.support.client
    except HooklineError:
        dialect, client = None, recorded.dialect
    means = ""
    if dialect is not None and event is not None:
        try:
            heard = dialect.read_answer(
                replace(event, dialect=dialect.id),
                stdout=recorded.stdout,
                stderr=recorded.stderr,
                exit_code=recorded.exit_code,
            )
            means = _heard(heard)
        except Exception as error:  # a reply that was cut when it was stored is none any more
            means = f"as it was stored, it cannot be read: {error}"
    return Told(
        client=client,
        exit_code=recorded.exit_code,
        stdout=excerpt(recorded.stdout),
        stderr=excerpt(recorded.stderr),
        means=means,
    )


def _heard(answer: Answer) -> str:
    """What a client takes a reply for, in our words."""
    if answer == PASS:
        return "nothing: it goes on by its own rules"
    words = [] if answer.verdict is Verdict.PASS else [answer.verdict.value]
    effects = ("context", "notice", "follow_up")
    words += (name.replace("_", "-") for name in effects if getattr(answer, name))
    words += (f"rewritten {part}" for part in answer.rewrite.parts())
    return ", ".join(words) or "nothing: it goes on by its own rules"
