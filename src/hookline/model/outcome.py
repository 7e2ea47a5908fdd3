"""What the engine concluded, who said what on the way, and what goes back to the platform."""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.events import Event
from hookline.model.hook import Hook, Mode

__all__ = ["Outcome", "Reply", "Run", "Substitution", "Translated"]


class Substitution(Struct, frozen=True, rename={"was": "from", "now": "to"}):
    """Something said in other words than it was given, at least as strict, and why."""

    was: str
    now: str
    why: str


class Run(Struct, frozen=True):
    """One hook's doing on one event."""

    hook: Hook
    answer: Answer
    ns: int
    failed: str | None = None
    seen: Event | None = None
    """The event as this hook saw it: earlier hooks may have rewritten the input."""
    rejudged: bool = False
    superseded: bool = False
    """On the platform this hook was written for, a later one's answer took the place of this."""
    files: str = ""
    """A digest of the files that it ran, where that is known."""
    moments: Mapping[str, Mapping[str, Any]] = {}
    """What a builtin found beside its answer: see ``Announcement``."""

    @property
    def counts(self) -> bool:
        """Whether the answer is enforced, not only written down."""
        return self.hook.mode is Mode.ENFORCE and not self.superseded

    def as_json(self) -> dict[str, Any]:
        """The run as the outcome's JSON shows it."""
        shown: dict[str, Any] = {
            "hook": self.hook.name,
            "source": str(self.hook.source),
            "verdict": self.answer.verdict.value,
            "ms": round(self.ns / 1e6, 3),
            "failed": self.failed,
        }
        if self.hook.mode is Mode.OBSERVE:
            shown["observed"] = True
        if self.superseded:
            shown["superseded"] = True
        if self.rejudged:
            shown["rejudged"] = True
        if self.derived:
            shown["derived"] = self.derived
        return shown

    @property
    def derived(self) -> str:
        """The derived event that it ran for; empty for the one that the platform sent."""
        seen = self.seen
        return seen.event_id() if seen is not None and seen.derived_from else ""


class Reply(Struct, frozen=True, kw_only=True, gc=False):
    """What a platform gets: bytes on two streams and an exit code."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


class Outcome(Struct, frozen=True, kw_only=True):
    """The engine's conclusion on one event."""

    event: Event
    answer: Answer = PASS
    runs: tuple[Run, ...] = ()
    substitutions: tuple[Substitution, ...] = ()
    final: Event | None = None
    """The event with every rewrite applied; None when nothing was rewritten."""
    project_dir: str = ""
    config: str = ""
    """The digest of the hooks in force, by which outcomes are seen to come from the same."""
    signature: str = ""
    """For the person who is held back: which hooks said so, in which files, and how to see more."""
    translation: "Translated | None" = None
    """How the client can be told of the answer, once that has been worked out."""

    @property
    def verdict(self) -> Verdict:
        """The merged verdict."""
        return self.answer.verdict

    @property
    def reason(self) -> str:
        """Why; empty for pass and for a silent allow."""
        return self.answer.reason

    def translation_for(self, client: str) -> "Translated | None":
        """The translation of this very answer for this client; None where there is none yet."""
        made = self.translation
        return made if made and made.source is self.answer and made.client == client else None

    def with_notices(self, *notices: str) -> "Outcome":
        """The same, but that a person is told this."""
        if notices == self.answer.notice:
            return self
        return replace(self, answer=replace(self.answer, notice=notices))

    def with_files(self, files_of: Callable[[Hook], str]) -> "Outcome":
        """The same, and for every hook that runs files a digest of those that it has run."""
        if not any(run.hook.runs_files for run in self.runs):
            return self
        runs = (
            replace(run, files=files_of(run.hook)) if run.hook.runs_files else run
            for run in self.runs
        )
        return replace(self, runs=tuple(runs))

    def as_json(self, *, reply: Reply | None = None, error: str | None = None) -> dict[str, Any]:
        """The outcome as JSON-ready data; every key is always there but ``reply`` and ``error``."""
        shown: dict[str, Any] = {
            "event": self.event.event_id(),
            "id": self.event.id,
            "verdict": self.answer.verdict.value,
            "reason": self.answer.reason,
            "context": list(self.answer.context),
            "notice": list(self.answer.notice),
            "rewrite": self.answer.rewrite.parts(),
            "follow_up": list(self.answer.follow_up),
            "metadata": dict(self.answer.metadata),
            "runs": [run.as_json() for run in self.runs],
            "substitutions": [to_builtins(each) for each in self.substitutions],
        }
        if reply is not None:
            shown["reply"] = {
                "stdout": reply.stdout.decode("utf-8", "replace"),
                "stderr": reply.stderr.decode("utf-8", "replace"),
                "exit_code": reply.exit_code,
            }
        if error is not None:
            shown["error"] = error
        return shown


class Translated(Struct, frozen=True):
    """An answer in which everything can be said on one native event of one platform."""

    answer: Answer
    substitutions: tuple[Substitution, ...] = ()
    latch: str = ""
    """The reason of a halt that the platform cannot say: gates stay closed until a new prompt."""
    source: Answer | None = None
    """The answer that this is a translation of."""
    client: str = ""
    """For whom it was made."""
    later: tuple[str, ...] = ()
    """Context that the session keeps for the model, because this event has no way to it."""
