"""What Claude Code's tools answer: the text in it, and another text in the shape of the old one.

The client ignores an output that has not the shape of the tool's own.
"""

from typing import Any

import msgspec

__all__ = ["in_shape", "read_text"]


def read_text(response: Any) -> str | None:
    """The one text that the model reads: a file's, or that of an MCP tool; None without such."""
    if _is_file(response):
        return str(response["file"]["content"])
    parts = response if isinstance(response, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    found = [text for text in texts if isinstance(text, str)]
    return "\n".join(found) if found and len(found) == len(parts) else None


def in_shape(response: Any, text: str) -> Any:
    """``text`` as an answer like ``response``, of which no other text is left."""
    if not isinstance(response, dict):
        return text
    if "stdout" in response:
        return {**_blanked(response, ""), "stdout": text}
    if _is_file(response):
        kept = {**response["file"], "content": text}
        return {**_blanked(response, ""), "type": response.get("type", "text"), "file": kept}
    # Hooks are shown the other answers as JSON, and most that they change stays what it was.
    whole = _decoded(text)
    if _differs_in_texts(response, whole):
        return whole
    if "content" in response:
        shaped = [{"type": "text", "text": text}] if isinstance(response["content"], list) else text
        return {**_blanked(response, ""), "content": shaped}
    return _blanked(response, text)


def _is_file(response: Any) -> bool:
    file = response.get("file") if isinstance(response, dict) else None
    return isinstance(file, dict) and isinstance(file.get("content"), str)


def _decoded(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _differs_in_texts(old: Any, new: Any) -> bool:
    """Whether at most texts are others: the client takes it, and draws it as it drew the old."""
    match old, new:
        case dict(), dict():
            same = list(old) == list(new)
            return same and all(_differs_in_texts(old[key], new[key]) for key in old)
        case list(), list():
            same = len(old) == len(new)
            return same and all(map(_differs_in_texts, old, new))
        case str(), str():
            return True
        case _:
            return type(old) is type(new) and bool(old == new)


def _blanked(value: Any, text: str) -> Any:
    """The same shape with ``text`` in place of every text: nothing of the old one may survive."""
    if isinstance(value, str):
        return text
    if isinstance(value, list):
        return [_blanked(each, "") for each in value]
    if isinstance(value, dict):
        return {key: _blanked(each, text) for key, each in value.items()}
    return value
