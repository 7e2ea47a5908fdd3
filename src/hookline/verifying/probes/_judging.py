"""Judgements that probes share."""

from hookline.verifying.evidence import Evidence
from hookline.verifying.lines import Finding, Names, State

__all__ = ["CALLED", "INSIDE", "blocked", "heard", "leaving_a_trace", "not_seen", "ran"]

CALLED = "-called"
"""The suffix of the file by which a guard shows that it was called."""

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
    if seen.names.mark in seen.told:
        return Finding(State.OK, "its file was not written, and the model was told why")
    return Finding(State.OK, "its file was not written")


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
