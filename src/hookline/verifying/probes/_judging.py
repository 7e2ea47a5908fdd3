"""Judgements that probes share."""

from collections.abc import Callable

from hookline.verifying.evidence import CALLED, NEW, Evidence
from hookline.verifying.lines import Finding, Names, Part, Probe, State
from hookline.verifying.scenes import PERSON, WORK

__all__ = [
    "INSIDE",
    "blocked",
    "guard",
    "heard",
    "is_asked_about",
    "is_our_reason",
    "leaving_a_trace",
    "not_seen",
    "ran",
]

_SHOWN = 160

# A path of a file that was not there when the hook was trusted would keep the hook from running;
# a bare name, after a step into the project, is no such path.
INSIDE = 'cd "$HOOKLINE_PROJECT_DIR"'


def leaving_a_trace(names: Names, rest: str) -> str:
    """A guard's program that shows it was called, where the model may be told nothing."""
    return f"{INSIDE} && touch {names.word}{CALLED}; {rest}"


def ran(seen: Evidence) -> Finding:
    """An unguarded act has to take effect; if not, what is guarded proves nothing."""
    if seen.made():
        return Finding(State.OK)
    return not_seen(seen, "it left no trace, though nothing of ours guards it")


def blocked(seen: Evidence) -> Finding:
    """The probe's file must not be there, and the client must have got as far as the call."""
    if seen.made():
        return Finding(State.FAILED, "it ran: its file was written")
    if seen.told is None:
        return not_seen(seen, "its file was not written, but the model was never told why")
    if is_our_reason(seen):
        return Finding(State.OK, "its file was not written, and the model was told why")
    # Something else stopped it, such as the client's own way with an answer it cannot read.
    told = " ".join(seen.told.split())[:_SHOWN]
    return Finding(State.FAILED, f"it did not run, but not for our reason; the model read: {told}")


def is_asked_about(seen: Evidence) -> Finding:
    """A question by itself, or by a hook's ask: the person sees it, and their yes counts."""
    suffix = NEW if seen.made(NEW) else ""
    if seen.how != "yes":
        return blocked(seen)
    if seen.was_asked and seen.made(suffix):
        return Finding(State.OK, "the person was asked, said yes, and it ran")
    if seen.made(suffix):
        return Finding(State.FAILED, "it ran, and the person was not asked")
    if seen.was_asked:
        return Finding(State.FAILED, "the person was asked and said yes, but it did not run")
    if seen.told is None:
        return not_seen(seen, "the session did not get as far")
    return Finding(State.FAILED, "it did not run, and the person was not asked")


_ANSWER_KEYS = ("hookSpecificOutput", "permissionDecision", "permission", "decision", "reason")


def is_our_reason(seen: Evidence) -> bool:
    """Whether the model was told what our hook said, by a client that had understood it.

    A client that cannot read an answer may show it to the model as it came, with its keys: that
    is a complaint about us, and no reason.
    """
    told = seen.told or ""
    raw = any(f'"{key}"' in told for key in _ANSWER_KEYS)
    return not raw and any(text in told for text in (seen.names.mark, seen.names.hook))


def guard(
    id: str,
    title: str,
    part: Callable[[Names], Part],
    twin: str = "shell",
    judge: Callable[[Evidence], Finding] = blocked,
) -> Probe:
    """A deny, alone and before a person."""
    return Probe(
        id=id,
        title=title,
        scene=WORK,
        person=PERSON,
        claim=("pre_tool_use", "deny"),
        twin=f"control-{twin}",
        part=part,
        judge=judge,
    )


def heard(seen: Evidence) -> Finding:
    """What the hook said has to be among what the model was sent."""
    if seen.reached(seen.names.mark):
        return Finding(State.OK)
    if not seen.conversation:
        return not_seen(seen, "the model was never asked")
    return Finding(State.FAILED, "the model was not sent it")


def not_seen(seen: Evidence, what: str) -> Finding:
    """The effect could not be observed."""
    return Finding(State.NOT_OBSERVED, f"{what}; {seen.end}")
