"""The unguarded twins: each act that a guard is tried on has to work without one."""

from collections.abc import Callable

from hookline.lab.script import Agent, Edit, Mcp, Read, Shell, Turn, Write
from hookline.verifying.evidence import Evidence
from hookline.verifying.lines import Finding, Names, Part, Probe, Scene, State
from hookline.verifying.probes._judging import is_asked_about, not_seen, ran
from hookline.verifying.scenes import ASK, HALT, PERSON, WORK

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


def _control(
    id: str,
    title: str,
    part: Callable[[Names], Part] = _shell,
    judge: Callable[[Evidence], Finding] = ran,
    scene: Scene = WORK,
) -> Probe:
    return Probe(
        id=f"control-{id}",
        title=title,
        scene=scene,
        part=part,
        judge=judge,
        may_wait=scene == ASK,
        order=_FIRST,
    )


PROBES = (
    _control("prompt", "an unguarded prompt reaches the model", _prompt, _is_asked),
    _control("shell", "an unguarded command runs"),
    _control("output", "the output of an unguarded command reaches the model", _output, _is_told),
    _control("write", "an unguarded file is written", _write),
    _control("edit", "an unguarded file is edited", _edit),
    _control("mcp", "an unguarded MCP tool answers", _mcp, _is_echoed),
    _control("sub-agent", "an unguarded command of a sub-agent runs", _agent),
    _control("ask", "an unguarded command runs before an ask", scene=ASK),
    _control(
        "asked",
        "an unguarded command is still asked about, and runs after a yes",
        judge=is_asked_about,
        scene=PERSON,
    ),
    _control("halt", "an unguarded command runs before a halt", scene=HALT),
)
