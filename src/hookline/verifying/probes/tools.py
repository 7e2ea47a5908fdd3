"""Before a tool runs: deny, ask, rewrite, pass, and guards that break."""

from collections.abc import Callable, Mapping
from typing import Any

from hookline.lab.script import Shell, Turn, Write
from hookline.verifying.evidence import CALLED, NEW, Evidence
from hookline.verifying.lines import ASKED, Finding, Names, Part, Probe, State
from hookline.verifying.probes._judging import (
    guard,
    is_asked_about,
    leaving_a_trace,
    not_seen,
)
from hookline.verifying.scenes import ASK, PERSON, WORK

__all__ = ["PROBES"]

_ASK = ("pre_tool_use", "ask")


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
    return {"rewrite": {"input": {"command": f"touch {names.word}{NEW}"}}}


def _ask(names: Names) -> Mapping[str, Any]:
    answer = f'{{"verdict": "ask", "reason": "{names.mark}"}}'
    return {"run": leaving_a_trace(names, f"echo '{answer}'")}


def _does_nothing_alone(seen: Evidence) -> Finding:
    if seen.made():
        return Finding(State.FAILED, "it ran, and nobody was asked")
    if seen.told is not None:
        return Finding(State.OK, "with nobody to ask, it was denied")
    # Some clients end where they would have to ask, others wait for an answer that never comes.
    if seen.made(CALLED) and seen.session.exit_code == 0:
        return Finding(State.OK, "with nobody to ask, the run ended before it")
    if seen.made(CALLED) and seen.session.cut:
        return Finding(State.CANNOT, f"with nobody to ask, the client only waits; {seen.end}")
    return not_seen(seen, "its file was not written, but the model was never told why")


def _is_rewritten(seen: Evidence) -> Finding:
    if seen.made():
        return Finding(State.FAILED, "the original input ran")
    if seen.made(NEW) and seen.how != "yes":
        return Finding(State.FAILED, "the new input ran, though it is said that it cannot")
    if seen.made(NEW):
        return Finding(State.OK, "the new input ran, and the original did not")
    if seen.how != "yes" and f"{seen.names.word}{NEW}" in (seen.told or ""):
        return Finding(State.OK, "neither ran, and the model was told the new input")
    if seen.told is None:
        return not_seen(seen, "neither input ran, and the model was never told why")
    return Finding(State.FAILED, "neither the original nor the new input ran")


PROBES = (
    guard("deny", "a denied command does not run", _guarded(lambda names: {"deny": names.mark})),
    guard("deny-write", "a denied file is not written", _write, "write"),
    guard("crash", "a guard that crashes blocks", _guarded(lambda names: {"run": "exit 3"})),
    guard("killed", "a guard that is killed blocks", _guarded(lambda names: {"run": "kill -9 $$"})),
    guard(
        "hung",
        "a guard that hangs is cut off, and blocks",
        # Far longer than any client waits: only hookline's own limit can be what ends it.
        _guarded(lambda names: {"run": "exec sleep 86400", "timeout": "1s"}),
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
        id="ask-alone",
        title="an ask does not run where nobody can be asked",
        scene=ASK,
        claim=_ASK,
        twin="control-ask",
        part=_guarded(_ask),
        judge=_does_nothing_alone,
        may_wait=True,
    ),
    Probe(
        id="ask",
        title="an ask is asked, and runs after a yes",
        scene=PERSON,
        claim=_ASK,
        twin=ASKED,
        part=_guarded(_ask),
        judge=is_asked_about,
    ),
    Probe(
        id="pass",
        title="a command that a hook only adds context to is still asked about",
        scene=PERSON,
        twin=ASKED,
        part=_guarded(lambda names: {"context": names.mark}),
        judge=is_asked_about,
    ),
    Probe(
        id="rewrite-asked",
        title="a rewritten input is still asked about",
        scene=PERSON,
        claim=("pre_tool_use", "input"),
        twin=ASKED,
        part=_guarded(_rewrite),
        judge=is_asked_about,
    ),
)
