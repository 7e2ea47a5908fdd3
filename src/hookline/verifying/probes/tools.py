"""Before a tool runs: deny, ask, rewrite, and guards that break."""

from collections.abc import Callable, Mapping
from typing import Any

from hookline.lab.script import Shell, Turn, Write
from hookline.verifying.evidence import CALLED, Evidence
from hookline.verifying.lines import Finding, Names, Part, Probe, State
from hookline.verifying.probes._judging import blocked, leaving_a_trace, not_seen
from hookline.verifying.scenes import ASK, WORK

__all__ = ["PROBES"]

_DENY = ("pre_tool_use", "deny")
_NEW = "-instead"
# Seconds after its guard's answer in which a command that is let through has long run.
_WAITS = 10.0


def _guarded(handler: Callable[[Names], Mapping[str, Any]]) -> Callable[[Names], Part]:
    """A command that one hook is about."""

    def part(names: Names) -> Part:
        match = {"tool": "shell", "command": f"*{names.word}*"}
        return Part(
            hooks=({"on": "pre_tool_use", "match": match, **handler(names)},),
            turns=(Turn(do=(Shell(f"touch {names.word}"),)),),
        )

    return part


def _write(names: Names) -> Part:
    match = {"tool": ["write", "edit"], "path": names.word}
    return Part(
        hooks=({"on": "pre_tool_use", "match": match, "deny": names.mark},),
        turns=(Turn(do=(Write(names.word, "written\n"),)),),
    )


def _rewrite(names: Names) -> Mapping[str, Any]:
    return {"rewrite": {"input": {"command": f"touch {names.word}{_NEW}"}}}


def _ask(names: Names) -> Mapping[str, Any]:
    answer = f'{{"verdict": "ask", "reason": "{names.mark}"}}'
    return {"run": leaving_a_trace(names, f"echo '{answer}'")}


def _asks(seen: Evidence) -> Finding:
    if seen.made():
        return Finding(State.FAILED, "it ran, and nobody was asked")
    if seen.told is not None:
        return Finding(State.OK, "with nobody to ask, it was denied")
    # Some clients end where they would have to ask, others wait for an answer that never comes.
    if seen.made(CALLED) and seen.session.exit_code == 0:
        return Finding(State.OK, "with nobody to ask, the run ended before it")
    if seen.made(CALLED) and seen.session.cut and seen.waited > _WAITS:
        return Finding(
            State.OK, f"with nobody to ask, it waited {seen.waited:.0f} s, until its end"
        )
    return not_seen(seen, "its file was not written, but the model was never told why")


def _is_rewritten(seen: Evidence) -> Finding:
    if seen.made():
        return Finding(State.FAILED, "the original input ran")
    if seen.made(_NEW) and seen.how != "yes":
        return Finding(State.FAILED, "the new input ran, though it is said that it cannot")
    if seen.made(_NEW):
        return Finding(State.OK, "the new input ran, and the original did not")
    if seen.how != "yes" and f"{seen.names.word}{_NEW}" in (seen.told or ""):
        return Finding(State.OK, "neither ran, and the model was told the new input")
    if seen.told is None:
        return not_seen(seen, "neither input ran, and the model was never told why")
    return Finding(State.FAILED, "neither the original nor the new input ran")


PROBES = (
    Probe(
        id="deny",
        title="a denied command does not run",
        scene=WORK,
        claim=_DENY,
        twin="control-shell",
        part=_guarded(lambda names: {"deny": names.mark}),
        judge=blocked,
    ),
    Probe(
        id="deny-write",
        title="a denied file is not written",
        scene=WORK,
        claim=_DENY,
        twin="control-write",
        part=_write,
        judge=blocked,
    ),
    Probe(
        id="rewrite",
        title="a rewritten input is what runs",
        scene=WORK,
        claim=("pre_tool_use", "input"),
        twin="control-shell",
        part=_guarded(_rewrite),
        judge=_is_rewritten,
    ),
    Probe(
        id="crash",
        title="a guard that crashes blocks",
        scene=WORK,
        claim=_DENY,
        twin="control-shell",
        part=_guarded(lambda names: {"run": "exit 3"}),
        judge=blocked,
    ),
    Probe(
        id="killed",
        title="a guard that is killed blocks",
        scene=WORK,
        claim=_DENY,
        twin="control-shell",
        part=_guarded(lambda names: {"run": "kill -9 $$"}),
        judge=blocked,
    ),
    Probe(
        id="hung",
        title="a guard that hangs is cut off, and blocks",
        scene=WORK,
        claim=_DENY,
        twin="control-shell",
        # Far longer than any client waits: only hookline's own limit can be what ends it.
        part=_guarded(lambda names: {"run": "exec sleep 86400", "timeout": "1s"}),
        judge=blocked,
    ),
    Probe(
        id="ask",
        title="an ask is asked, or denied where nobody can be",
        scene=ASK,
        claim=("pre_tool_use", "ask"),
        twin="control-ask",
        part=_guarded(_ask),
        judge=_asks,
        may_wait=True,
    ),
)
