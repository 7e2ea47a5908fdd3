"""What one hook said: a verdict, and effects beside it on axes of their own."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from msgspec import Struct

from hookline.model.errors import IllegalValueError

__all__ = [
    "BLOCKING",
    "NOT_ASKED",
    "NO_REWRITE",
    "PASS",
    "Announcement",
    "Answer",
    "Rewrite",
    "Verdict",
    "allow",
    "ask",
    "context",
    "deny",
    "follow_up",
    "halt",
    "notice",
    "rewrite",
]


class Verdict(StrEnum):
    """What one hook, or all of them together, decided.

    ``<`` compares strictness: ``allow < pass < ask < deny < halt``.
    """

    ALLOW = "allow"
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    ASK = "ask"
    DENY = "deny"
    HALT = "halt"

    @property
    def strictness(self) -> int:
        """0 for allow up to 4 for halt."""
        return _STRICTNESS[self]

    def __lt__(self, other: str) -> bool:
        return self.strictness < _STRICTNESS[Verdict(other)]

    def __le__(self, other: str) -> bool:
        return self.strictness <= _STRICTNESS[Verdict(other)]

    def __gt__(self, other: str) -> bool:
        return self.strictness > _STRICTNESS[Verdict(other)]

    def __ge__(self, other: str) -> bool:
        return self.strictness >= _STRICTNESS[Verdict(other)]


_STRICTNESS = {verdict: rank for rank, verdict in enumerate(Verdict)}

# Verdicts that hold somebody back; each needs a reason.
BLOCKING = frozenset({Verdict.ASK, Verdict.DENY, Verdict.HALT})


class Rewrite(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a hook wants changed. ``None`` leaves a part alone."""

    input: dict[str, Any] | None = None
    """Tool input: laid over the old one key by key; a null deletes the key."""
    output: str | None = None
    """Tool output as the model will see it."""
    prompt: str | None = None
    messages: list[dict[str, Any]] | None = None
    summary: str | None = None
    env: dict[str, str] | None = None
    """Variables for shell tools."""
    display: str | None = None
    """Text on the person's screen; the model's is untouched."""

    def __bool__(self) -> bool:
        return self is not NO_REWRITE and self != NO_REWRITE

    def parts(self) -> dict[str, Any]:
        """The parts that were asked for, by name."""
        return {
            name: value
            for name in self.__struct_fields__
            if (value := getattr(self, name)) is not None
        }


NO_REWRITE = Rewrite()


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One verdict and any number of effects; "ask, with a note to the model" is one Answer."""

    verdict: Verdict = Verdict.PASS
    reason: str = ""
    """Why; ask, deny and halt cannot be built without it."""
    context: tuple[str, ...] = ()
    """Text for the model."""
    overwrite_context: bool = False
    """Whether the text for the model from hooks before this one no longer counts."""
    notice: tuple[str, ...] = ()
    """Text for the person."""
    rewrite: Rewrite = NO_REWRITE
    follow_up: tuple[str, ...] = ()
    """What to work on next, instead of stopping."""
    metadata: dict[str, Any] = {}

    def __post_init__(self) -> None:
        if self.verdict in BLOCKING and not self.reason.strip():
            raise IllegalValueError(
                f"verdict `{self.verdict}` needs a reason: say why, so the model and the person "
                "can act on it"
            )


PASS = Answer()


class Announcement(Struct, frozen=True):
    """An answer of a builtin that has also found moments which the platform may not tell."""

    answer: Answer
    moments: Mapping[str, Mapping[str, Any]]
    """The ids of canonical events, and of each the values of its own fields."""


NOT_ASKED = Answer()
"""In place of an answer: the hook turned out not to be for this event, so it did not run."""

Texts = str | Sequence[str]


def _texts(value: Texts) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def allow(
    reason: str = "", *, notice: Texts = (), metadata: Mapping[str, Any] | None = None
) -> Answer:
    """Skip the host's own question. Never overrides another hook or the host's deny rules."""
    return Answer(
        verdict=Verdict.ALLOW, reason=reason, notice=_texts(notice), metadata=dict(metadata or {})
    )


def ask(
    reason: str,
    *,
    context: Texts = (),
    notice: Texts = (),
    metadata: Mapping[str, Any] | None = None,
) -> Answer:
    """Let the person decide."""
    return _blocking(Verdict.ASK, reason, context, notice, metadata)


def deny(
    reason: str,
    *,
    context: Texts = (),
    notice: Texts = (),
    metadata: Mapping[str, Any] | None = None,
) -> Answer:
    """Stop this one thing; the reason goes to the model."""
    return _blocking(Verdict.DENY, reason, context, notice, metadata)


def halt(
    reason: str,
    *,
    context: Texts = (),
    notice: Texts = (),
    metadata: Mapping[str, Any] | None = None,
) -> Answer:
    """Stop the whole run, and the tool at hand."""
    return _blocking(Verdict.HALT, reason, context, notice, metadata)


def _blocking(
    verdict: Verdict,
    reason: str,
    context: Texts,
    notice: Texts,
    metadata: Mapping[str, Any] | None,
) -> Answer:
    return Answer(
        verdict=verdict,
        reason=reason,
        context=_texts(context),
        notice=_texts(notice),
        metadata=dict(metadata or {}),
    )


def context(*texts: str) -> Answer:
    """Tell the model something."""
    return Answer(context=texts)


def notice(*texts: str) -> Answer:
    """Tell the person something."""
    return Answer(notice=texts)


def follow_up(*texts: str) -> Answer:
    """Keep the agent going after it stopped, with this to do."""
    return Answer(follow_up=texts)


def rewrite(
    *,
    output: str | None = None,
    prompt: str | None = None,
    messages: list[dict[str, Any]] | None = None,
    summary: str | None = None,
    env: dict[str, str] | None = None,
    display: str | None = None,
    **input: Any,
) -> Answer:
    """Change the event; keywords that name no part are tool input: ``rewrite(command="ls")``."""
    return Answer(
        rewrite=Rewrite(
            input=input or None,
            output=output,
            prompt=prompt,
            messages=messages,
            summary=summary,
            env=env,
            display=display,
        )
    )
