"""An explanation as a value: what came in, who ran, how it added up, who did not run and why."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from hookline.model.outcome import Substitution

__all__ = ["Explanation", "Ran", "Told", "Unrun"]


class Ran(Struct, frozen=True, kw_only=True):
    """A hook that ran, and what it said."""

    hook: str
    source: str
    handler: str
    tier: int | None
    """Its priority; None when it is in no config any more."""
    verdict: str
    reason: str
    ms: float
    failed: str | None = None
    notes: tuple[str, ...] = ()
    """``observed``, ``superseded``, ``rejudged``, ``decided``, ``gone since``."""
    effects: Mapping[str, Any] = {}


class Unrun(Struct, frozen=True, kw_only=True):
    """A hook that did not run."""

    hook: str
    source: str
    cause: str
    """In one word, for programs: ``event``, ``match``, ``except``, ``disabled``, ``paused``,
    ``untrusted``, ``edited``, ``native``, ``not-asked``, ``ended``, ``lane``, ``duplicate``,
    ``answered``, ``halted``, ``failure``, ``changed``, ``undecided`` or ``unknown``."""
    why: str


class Told(Struct, frozen=True, kw_only=True):
    """What the client got."""

    client: str
    exit_code: int
    stdout: str
    stderr: str
    means: str
    """What the client makes of it, as its dialect reads answers."""


class Explanation(Struct, frozen=True, kw_only=True):
    """Everything that is known of one event."""

    id: str
    attempt: int
    at: datetime
    ms: float
    machine: str
    """Where it was written down; empty for this one."""
    dialect: str
    native_event: str
    event: str
    session_id: str
    agent: str
    subject: str
    cwd: str
    project_dir: str
    payload: str
    """As much of it as a person wants to read."""
    approximate: bool
    redactions: int
    cut: bool
    verdict: str
    reason: str
    failure: str
    answer: Mapping[str, Any]
    ran: tuple[Ran, ...]
    merge: tuple[str, ...]
    substitutions: tuple[Substitution, ...]
    told: Told
    not_run: tuple[Unrun, ...]
    notes: tuple[str, ...]
    """What is to be known of the config in force now, and of how far this explanation goes."""
    same_config: bool
    """Whether the hooks in force now are those of then."""
