"""Where guards have to reach: MCP tools, sub-agents, edits by patch."""

from msgspec.structs import replace

from hookline.lab.script import Agent, Edit, Mcp, Read, Shell, Turn
from hookline.verifying.evidence import Evidence
from hookline.verifying.lines import Finding, Names, Part, State
from hookline.verifying.probes._judging import blocked, guard, is_our_reason, not_seen

__all__ = ["PROBES"]


def _mcp(names: Names) -> Part:
    # Its twin calls the same tool, so the word decides and not the name.
    judge = f"if grep -q {names.word}; then echo {names.mark} >&2; exit 2; fi"
    return Part(
        hooks=({"on": "pre_tool_use", "match": {"mcp": "lab.echo_text"}, "run": judge},),
        turns=(Turn(do=(Mcp("echo_text", {"text": names.word}),)),),
    )


def _agent(names: Names) -> Part:
    match = {"tool": "shell", "command": f"*{names.word}*"}
    # Without the word: only the command itself is to be known by it.
    prompt = f"Please attend to {names.mark[::-1]}."
    inner = (Turn(do=(Shell(f"touch {names.word}"),)), Turn(say="That is done."))
    return Part(
        hooks=({"on": "pre_tool_use", "match": match, "deny": names.mark},),
        turns=(Turn(do=(Agent(prompt, inner),)),),
    )


def _edit(names: Names) -> Part:
    match = {"tool": ["edit", "write"], "path": names.word}
    return Part(
        hooks=({"on": "pre_tool_use", "match": match, "deny": names.mark},),
        files={names.word: "before\n"},
        turns=(
            Turn(do=(Read(names.word),)),
            Turn(do=(Edit(names.word, "before", "after"),)),
        ),
    )


def _is_not_echoed(seen: Evidence) -> Finding:
    told = seen.told
    if told is None:
        return not_seen(seen, "the model was told nothing of the call")
    if is_our_reason(seen):
        return Finding(State.OK, "the model was told why instead of an answer")
    if seen.names.mark in told:
        return Finding(State.FAILED, "the client could not read our answer, and showed it as it is")
    if seen.names.word in told:
        return Finding(State.FAILED, "the tool answered")
    return not_seen(seen, "the model was told neither an answer nor why there is none")


def _edit_is_blocked(seen: Evidence) -> Finding:
    """The file was read first, so that the model was told something says nothing."""
    found = blocked(seen)
    if found.state is State.FAILED and not seen.made() and seen.names.mark not in (seen.told or ""):
        return not_seen(seen, "the file is as it was, but nothing shows that our guard kept it so")
    return found


PROBES = (
    guard("mcp", "guards reach MCP tools", _mcp, "mcp", _is_not_echoed),
    # Not before a person: some clients ask about reading the file, as they may.
    replace(
        guard("edit", "guards reach edits by patch", _edit, "edit", _edit_is_blocked), person=None
    ),
    guard("sub-agent", "guards reach the tools of sub-agents", _agent, "sub-agent"),
)
