"""What the model is given: context at four moments, and output that is redacted."""

from collections.abc import Callable

from hookline.lab.script import Shell, Turn
from hookline.verifying.evidence import Evidence
from hookline.verifying.lines import Finding, Names, Part, Probe, State
from hookline.verifying.probes._judging import heard, not_seen
from hookline.verifying.scenes import WORK

__all__ = ["PROBES"]


def _at_start(names: Names) -> Part:
    return Part(hooks=({"on": "session_start", "context": names.mark},))


def _on_prompt(names: Names) -> Part:
    say = f"if grep -q {names.word}; then echo {names.mark}; fi"
    return Part(hooks=({"on": "user_prompt_submit", "run": say},), prompt=names.word)


def _before(names: Names) -> Part:
    return _beside("pre_tool_use", names)


def _after(names: Names) -> Part:
    return _beside("post_tool_use", names)


def _beside(event: str, names: Names) -> Part:
    match = {"tool": "shell", "command": f"*{names.word}*"}
    return Part(
        hooks=({"on": event, "match": match, "context": names.mark},),
        turns=(Turn(do=(Shell(f"touch {names.word}"),)),),
    )


def _redacted(names: Names) -> Part:
    match = {"tool": "shell", "command": f"*{names.word}*"}
    return Part(
        hooks=({"on": "post_tool_use", "match": match, "rewrite": {"output": names.mark}},),
        # Spelled backwards the secret is in no command, prompt or file name.
        files={names.word: f"{_secret(names)}\n"},
        turns=(Turn(do=(Shell(f"cat {names.word}"),)),),
    )


def _secret(names: Names) -> str:
    return f"{names.mark[::-1]}-hidden"


def _is_hidden(seen: Evidence) -> Finding:
    if seen.reached(_secret(seen.names)):
        return Finding(State.FAILED, "the model was sent the output itself")
    if seen.told is None:
        return not_seen(seen, "the model was told nothing of the command")
    if seen.how == "yes" and seen.names.mark not in seen.told:
        return Finding(State.FAILED, "the model saw neither the output nor what replaces it")
    return Finding(State.OK, "the output itself is nowhere in what the model was sent")


def _context(id: str, title: str, event: str, part: Callable[[Names], Part]) -> Probe:
    claim = (event, "context")
    return Probe(id=id, title=title, scene=WORK, claim=claim, part=part, judge=heard)


PROBES = (
    _context(
        "context-start",
        "context at the start of a session reaches the model",
        "session_start",
        _at_start,
    ),
    _context(
        "context-prompt", "context on a prompt reaches the model", "user_prompt_submit", _on_prompt
    ),
    _context("context-before", "context before a tool reaches the model", "pre_tool_use", _before),
    _context("context-after", "context after a tool reaches the model", "post_tool_use", _after),
    Probe(
        id="redact",
        title="redacted output is what the model sees",
        scene=WORK,
        claim=("post_tool_use", "output"),
        twin="control-output",
        part=_redacted,
        judge=_is_hidden,
    ),
)
