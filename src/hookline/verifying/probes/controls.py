"""The unguarded twins: each act that a guard is tried on has to work without one."""

from hookline.lab.script import Agent, Edit, Mcp, Read, Shell, Turn, Write
from hookline.verifying.evidence import Evidence
from hookline.verifying.lines import Finding, Names, Part, Probe, State
from hookline.verifying.probes._judging import not_seen, ran
from hookline.verifying.scenes import ASK, HALT, WORK

__all__ = ["PROBES"]

_FIRST = 10


def _shell(names: Names) -> Part:
    return Part(turns=(Turn(do=(Shell(f"touch {names.word}"),)),))


def _output(names: Names) -> Part:
    # The text is in a file, because the command itself is known to the model anyway.
    return Part(
        files={names.word: f"{names.mark}\n"},
        turns=(Turn(do=(Shell(f"cat {names.word}"),)),),
    )


def _write(names: Names) -> Part:
    return Part(turns=(Turn(do=(Write(names.word, "written\n"),)),))


def _edit(names: Names) -> Part:
    return Part(
        files={names.word: "before\n"},
        # Some clients only edit what they have read.
        turns=(
            Turn(do=(Read(names.word),)),
            Turn(do=(Edit(names.word, "before", "after"),)),
        ),
    )


def _mcp(names: Names) -> Part:
    return Part(turns=(Turn(do=(Mcp("echo_text", {"text": names.word}),)),))


def _agent(names: Names) -> Part:
    prompt = f"Please see to {names.mark[::-1]}."
    inner = (Turn(do=(Shell(f"touch {names.word}"),)), Turn(say="That is done."))
    return Part(turns=(Turn(do=(Agent(prompt, inner),)),))


def _prompt(names: Names) -> Part:
    return Part(prompt=names.word)


def _is_told(seen: Evidence) -> Finding:
    if seen.names.mark in (seen.told or ""):
        return Finding(State.OK)
    return not_seen(seen, "the model was not told the output, though nothing of ours hides it")


def _is_echoed(seen: Evidence) -> Finding:
    if seen.names.word in (seen.told or ""):
        return Finding(State.OK)
    return not_seen(seen, "the MCP tool did not answer, though nothing of ours guards it")


def _is_asked(seen: Evidence) -> Finding:
    if seen.reached(seen.names.word):
        return Finding(State.OK)
    return not_seen(seen, "the model was never asked it")


PROBES = (
    Probe(
        id="control-prompt",
        title="an unguarded prompt reaches the model",
        scene=WORK,
        part=_prompt,
        judge=_is_asked,
        order=_FIRST,
    ),
    Probe(
        id="control-shell",
        title="an unguarded command runs",
        scene=WORK,
        part=_shell,
        judge=ran,
        order=_FIRST,
    ),
    Probe(
        id="control-output",
        title="the output of an unguarded command reaches the model",
        scene=WORK,
        part=_output,
        judge=_is_told,
        order=_FIRST,
    ),
    Probe(
        id="control-write",
        title="an unguarded file is written",
        scene=WORK,
        part=_write,
        judge=ran,
        order=_FIRST,
    ),
    Probe(
        id="control-edit",
        title="an unguarded file is edited",
        scene=WORK,
        part=_edit,
        judge=ran,
        order=_FIRST,
    ),
    Probe(
        id="control-mcp",
        title="an unguarded MCP tool answers",
        scene=WORK,
        part=_mcp,
        judge=_is_echoed,
        order=_FIRST,
    ),
    Probe(
        id="control-sub-agent",
        title="an unguarded command of a sub-agent runs",
        scene=WORK,
        part=_agent,
        judge=ran,
        order=_FIRST,
    ),
    Probe(
        id="control-ask",
        title="an unguarded command runs before an ask",
        scene=ASK,
        part=_shell,
        judge=ran,
        may_wait=True,
        order=_FIRST,
    ),
    Probe(
        id="control-halt",
        title="an unguarded command runs before a halt",
        scene=HALT,
        part=_shell,
        judge=ran,
        order=_FIRST,
    ),
)
