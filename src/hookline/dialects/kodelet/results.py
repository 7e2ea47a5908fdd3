"""Kodelet's structured tool results: where in one the text stands that a model would read."""

from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["result_text", "with_text"]

# What the metadata of each type calls its text.
_TEXT = {
    "bash": "output",
    "code_execution": "output",
    "custom_tool": "output",
    "mcp_tool": "contentText",
    "read_conversation": "content",
    "subagent": "response",
    "web_fetch": "content",
}


def result_text(result: Mapping[str, Any]) -> str:
    """A result as text: what the tool printed, and its error."""
    metadata, error = result.get("metadata"), result.get("error")
    texts = [_printed(result.get("metadataType"), metadata)]
    texts.append(error if isinstance(error, str) else "")
    return "\n".join(filter(None, texts))


def _printed(kind: Any, metadata: Any) -> str:
    if not isinstance(metadata, dict):
        return ""
    text = metadata.get(_TEXT.get(str(kind), ""))
    if isinstance(text, str):
        return text
    lines = metadata.get("lines")
    if kind == "file_read" and isinstance(lines, list):
        return "\n".join(map(str, lines))
    return msgspec.json.encode(metadata).decode()


def with_text(result: Mapping[str, Any], text: str) -> dict[str, Any]:
    """A result with nothing of the old one's text in it.

    Metadata of a known type that does not decode makes the client drop the whole answer, so only
    what has one place for text keeps its type.
    """
    kept = {key: result[key] for key in ("toolName", "success", "timestamp") if key in result}
    kind, metadata = str(result.get("metadataType")), result.get("metadata")
    if kind not in _TEXT or not isinstance(metadata, dict):
        kind, metadata = "custom_tool", {"executionTime": 0}
    new = {**metadata, _TEXT[kind]: text}
    if kind == "mcp_tool":
        new["content"] = [{"type": "text", "text": text}]
    failed = {"error": text} if result.get("error") else {}
    return {**kept, **failed, "metadataType": kind, "metadata": new}
