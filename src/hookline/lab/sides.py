"""Requests beside the script's conversations: titles, summaries, classifications, own agents.

Clients ask their model more than the person asked for. None of that may use up a turn of a script,
and all of it gets an answer that the client can go on with.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec import json

from hookline.lab.ports import Said, ToolCall
from hookline.lab.wires._exchange import Question

__all__ = ["SUMMARY", "answer_aside", "closing", "is_side", "list_of_models", "sample"]

SUMMARY = "The work of the scripted session goes on as asked."

# In the tags that Claude Code looks for; the others take them for words.
_COMPACTED = f"<analysis>All is said below.</analysis>\n<summary>{SUMMARY}</summary>"

# Offered to agents whose words are heard by nobody until they call it.
_VERDICT = "StructuredOutput"
_CLOSING_TOOLS = ("complete_task", _VERDICT)

# How clients ask for a summary, in the last message, with all tools still offered.
_COMPACTING = (
    r"(?i)create an? (?:\w+ )?summary of th(?:e|is) conversation|context checkpoint compaction"
)

# How they ask for one without tools; who wants a title by these words can use it for that, too.
_SUMMING = r"(?i)\bsummar"

# What a question without tools has somewhere in it, and the form of answer it is looking for.
_FORMS = (
    ("<block>", "<block>no</block>"),
    ("<severity>", "<severity>0</severity>"),
    ("<state_snapshot>", f"<state_snapshot>{SUMMARY}</state_snapshot>"),
)


def is_side(question: Question) -> bool:
    """Whether the question is by its look no part of a script's conversation."""
    # A hook of Claude Code that is an agent hands over a verdict, and can start no other agent.
    judges = _VERDICT in question.tools and "Agent" not in question.tools
    return not question.tools or bool(question.forced) or judges or _compacts(question)


def answer_aside(question: Question) -> Said:
    """A plausible answer, which fits the schema if one is demanded."""
    if question.forced in question.tools:
        arguments = sample(question.tools[question.forced])
        return Said("", (ToolCall(question.forced, arguments),))
    if question.schema is not None:
        return Said(json.encode(sample(question.schema)).decode())
    if _compacts(question):
        return Said(_COMPACTED)
    texts = [question.system, *(message.text for message in question.messages)]
    forms = (answer for mark, answer in _FORMS if any(mark in text for text in texts))
    plain = SUMMARY if re.search(_SUMMING, texts[0] + texts[-1]) else "Scripted session"
    return closing(question, next(forms, plain))


def closing(question: Question, text: str) -> Said:
    """The last words of an agent: as text, or in the tool by which it has to hand them over."""
    for name in _CLOSING_TOOLS:
        if name in question.tools:
            return Said("", (ToolCall(name, sample(question.tools[name], text)),))
    return Said(text)


def sample(schema: Mapping[str, Any], text: str = "scripted") -> Any:
    """The plainest value that fits a JSON schema; ``text`` stands wherever any text will do."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        if schema.get(key):
            return sample(schema[key][0], text)
    kind = schema.get("type", "object")
    # Gemini writes the names of types in capitals.
    match str(kind[0] if isinstance(kind, list) else kind).lower():
        case "object":
            inner = schema.get("properties") or {}
            wanted = schema.get("required") or ()
            return {name: sample(inner.get(name) or {"type": "string"}, text) for name in wanted}
        case "array":
            return [sample(schema.get("items") or {}, text)] * int(schema.get("minItems", 0))
        case "boolean":
            return True
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "null":
            return None
        case _:
            return text


def list_of_models(path: str) -> Mapping[str, Any] | None:
    """The models there are, as each family of clients expects to read it; None for another path."""
    if path == "/models":
        model = {"id": "scripted", "object": "model", "type": "model", "display_name": "Scripted"}
        return {"object": "list", "data": [model], "has_more": False}
    if path.endswith("/models"):
        return {"models": [{"name": "models/scripted", "displayName": "Scripted"}]}
    return None


def _compacts(question: Question) -> bool:
    last = next((m.text for m in reversed(question.messages) if m.role == "user"), "")
    return re.search(_COMPACTING, last) is not None
