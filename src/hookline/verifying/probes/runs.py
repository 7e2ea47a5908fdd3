"""A whole run: its prompt is blocked, a tool ends it, a hook keeps it going."""

from hookline.lab.script import Shell, Turn
from hookline.verifying.evidence import CALLED, Evidence
from hookline.verifying.lines import Finding, Names, Part, Probe, State
from hookline.verifying.probes._judging import INSIDE, leaving_a_trace, not_seen
from hookline.verifying.scenes import HALT, PROMPT, STOP

__all__ = ["PROBES"]

_LATER = "-later"


def _prompt(names: Names) -> Part:
    block = leaving_a_trace(names, f"echo {names.mark} >&2; exit 2")
    judge = f"if grep -q {names.word}; then {block}; fi"
    return Part(hooks=({"on": "user_prompt_submit", "run": judge},), prompt=names.word)


def _halt(names: Names) -> Part:
    # The later command is not what the guard is about: only an ended run keeps it from running.
    match = {"tool": "shell", "command": f"touch {names.word}"}
    answer = f'{{"verdict": "halt", "reason": "{names.mark}"}}'
    judge = leaving_a_trace(names, f"echo '{answer}'")
    return Part(
        hooks=({"on": "pre_tool_use", "match": match, "run": judge},),
        turns=(
            Turn(do=(Shell(f"touch {names.word}"),)),
            Turn(do=(Shell(f"touch {names.word}{_LATER}"),)),
        ),
    )


def _stop(names: Names) -> Part:
    # Silent in every other session: only this one makes the file.
    judge = f"if {INSIDE} && test -e {names.word}; then echo {names.mark} >&2; exit 2; fi"
    return Part(
        hooks=({"on": "stop", "run": judge},),
        turns=(Turn(do=(Shell(f"touch {names.word}"),)), Turn(say="That is all.")),
    )


def _never_asked(seen: Evidence) -> Finding:
    if seen.reached(seen.names.word):
        return Finding(State.FAILED, "the model was asked it")
    if not seen.made(CALLED):
        return not_seen(seen, "the model was not asked, but the guard was not called either")
    return Finding(State.OK, "the model was never asked")


def _has_ended(seen: Evidence) -> Finding:
    if seen.made():
        return Finding(State.FAILED, "it ran: its file was written")
    if seen.how == "deny":
        if seen.told is None:
            return not_seen(seen, "its file was not written, but the model was never told why")
        return Finding(State.OK, "its file was not written")
    if seen.made(_LATER):
        return Finding(State.FAILED, "it did not run, but the run went on after it")
    if not seen.made(CALLED):
        return not_seen(seen, "it did not run, but the guard was not called either")
    return Finding(State.OK, "its file was not written, nor what came after it")


def _goes_on_for_a_while(seen: Evidence) -> Finding:
    count, most = seen.continuations, seen.most_follow_ups
    if not seen.made():
        return not_seen(seen, "the session did not get as far as stopping")
    if seen.session.cut:
        return Finding(State.FAILED, f"{count} continuations, and no end; {seen.end}")
    if not most:
        return Finding(State.SKIPPED, "your max_follow_ups is 0: no hook keeps an agent going")
    if not count:
        return Finding(State.FAILED, "it stopped at once")
    if count > most:
        return Finding(State.FAILED, f"{count} continuations, and at most {most} are promised")
    return Finding(State.OK, f"{count} continuations, then it ended")


PROBES = (
    Probe(
        id="halt",
        title="a halt ends the run",
        scene=HALT,
        claim=("pre_tool_use", "halt"),
        twin="control-halt",
        part=_halt,
        judge=_has_ended,
        order=90,
    ),
    Probe(
        id="prompt",
        title="a blocked prompt does not reach the model",
        scene=PROMPT,
        claim=("user_prompt_submit", "deny"),
        twin="control-prompt",
        part=_prompt,
        judge=_never_asked,
    ),
    Probe(
        id="stop",
        title="a hook keeps the agent going, but not for ever",
        scene=STOP,
        claim=("stop", "follow_up"),
        part=_stop,
        judge=_goes_on_for_a_while,
    ),
)
