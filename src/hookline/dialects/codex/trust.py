"""How Codex remembers which hooks a person trusts: what to ask its client, and what to write.

Knows the app-server's words and config.toml; starts no program and opens no file.
"""

import copy
import json
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hookline._version import __version__
from hookline.model.installing import InstallError

__all__ = ["Listed", "hashes", "listed", "questions", "snake", "with_hashes", "without_hashes"]

_LIST = 1
_HEADER = re.compile(r"[ \t]*\[[^\[\]\r\n]*\][ \t]*(?:#[^\r\n]*)?")
_WHOLE_HASH_LINE = re.compile(r"(?m)^[ \t]*trusted_hash[ \t]*=[^\r\n]*(?:\r\n|\n|\Z)")
_HASH_LINE = re.compile(r"([ \t]*trusted_hash[ \t]*=[ \t]*)(\"[^\"\r\n]*\"|'[^'\r\n]*')")


@dataclass(frozen=True, slots=True)
class Listed:
    """One hook as the client sees it."""

    key: str
    file: str
    command: str
    hash: str
    status: str
    enabled: bool

    @property
    def runs(self) -> bool:
        """Whether the client runs it as it is."""
        return self.enabled and self.status in ("trusted", "managed")


def snake(event: str) -> str:
    """An event as it stands in a key: ``PreToolUse`` is ``pre_tool_use``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


def questions(project: str) -> Sequence[Mapping[str, object]]:
    """What to say to ``codex app-server``; each message with an id is answered."""
    about = {"name": "hookline", "title": "hookline", "version": __version__}
    return [
        {"id": 0, "method": "initialize", "params": {"clientInfo": about}},
        {"method": "initialized"},
        {"id": _LIST, "method": "hooks/list", "params": {"cwds": [project]}},
    ]


def listed(replies: Mapping[int, Any]) -> Iterator[Listed]:
    """The hooks in the client's answer. Raises InstallError when it is not understood."""
    try:
        for place in replies[_LIST]["data"]:
            for hook in place["hooks"]:
                yield Listed(
                    key=str(hook["key"]),
                    file=str(hook["sourcePath"]),
                    command=str(hook.get("command") or ""),
                    hash=str(hook["currentHash"]),
                    status=str(hook["trustStatus"]),
                    enabled=bool(hook.get("enabled", True)),
                )
    except (KeyError, TypeError, AttributeError) as error:
        message = "your `codex` lists its hooks in a way that hookline does not know"
        raise InstallError(f"{message} ({error}); inside Codex, /hooks does it") from error


def hashes(config: Mapping[str, Any]) -> Mapping[str, str]:
    """The hash that is trusted, by key; only of hooks that are not switched off."""
    hooks = config.get("hooks")
    state = hooks.get("state") if isinstance(hooks, dict) else None
    rows = state.items() if isinstance(state, dict) else ()
    return {
        key: row["trusted_hash"]
        for key, row in rows
        if isinstance(row, dict) and "trusted_hash" in row and row.get("enabled") is not False
    }


def with_hashes(content: bytes, new: Mapping[str, str]) -> bytes:
    """``config.toml`` with these hashes trusted, and every other byte as it is.

    Raises InstallError where that is not possible, as with a table written on one line.
    """
    try:
        text = content.decode()
        wanted = copy.deepcopy(tomllib.loads(text))
    except ValueError as error:
        raise InstallError(f"this is no TOML: {error}") from error
    for key, value in new.items():
        row = _row(wanted, key)
        if row.get("trusted_hash") != value:
            text = _put(text, key, value)
            row["trusted_hash"] = value
    try:
        done = tomllib.loads(text) == wanted
    except ValueError:
        done = False
    if not done:
        message = "`hooks.state` is written in a way that hookline cannot add to"
        raise InstallError(f"{message}; inside Codex, /hooks does it")
    return text.encode()


def without_hashes(content: bytes, keys: Collection[str]) -> bytes:
    """``config.toml`` without the hashes under these keys; a table goes if nothing is left in it.

    What is written in another way than ours stays: a hash of a hook that is gone vouches for none.
    """
    text = content.decode("utf-8", "surrogateescape")
    for key in keys:
        header = next((each for each in _headers(text) if _is_for(each.group(), key)), None)
        if header is not None:
            text = _without_hash(text, header)
    return text.encode("utf-8", "surrogateescape")


def _without_hash(text: str, header: re.Match[str]) -> str:
    end = _end_of_table(text, header)
    before, after = text[: header.start()], text[end:]
    kept = _WHOLE_HASH_LINE.sub("", text[header.end() : end])
    if kept.strip():
        return text[: header.end()] + kept + after
    if not after:
        # The blank line before the last table was there for its sake.
        for newline in ("\r\n", "\n"):
            if before.endswith(newline * 2):
                return before.removesuffix(newline)
    return before + after


def _row(config: dict[str, Any], key: str) -> dict[str, Any]:
    """The row of one hook, made where it is missing."""
    row = config
    for step in ("hooks", "state", key):
        row = row.setdefault(step, {})
        if not isinstance(row, dict):
            raise InstallError(f"`{step}` must be a table, and this is something else")
    return row


def _put(text: str, key: str, value: str) -> str:
    """The text with one hash in it: in its table if there is one, else in a new one at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    written = f"trusted_hash = {json.dumps(value)}"
    header = next((each for each in _headers(text) if _is_for(each.group(), key)), None)
    if header is None:
        gap = "" if not text else newline if text.endswith("\n") else newline * 2
        table = f"[hooks.state.{json.dumps(key, ensure_ascii=False)}]"
        return f"{text}{gap}{table}{newline}{written}{newline}"
    body = text[header.end() : _end_of_table(text, header)]
    line = next((each for each in _HASH_LINE.finditer(body) if _starts_line(body, each)), None)
    if line is None:
        return f"{text[: header.end()]}{newline}{written}{text[header.end() :]}"
    start = header.end() + line.start(2)
    return text[:start] + json.dumps(value) + text[header.end() + line.end(2) :]


def _end_of_table(text: str, header: re.Match[str]) -> int:
    following = (each.start() for each in _headers(text) if each.start() > header.start())
    return next(following, len(text))


def _headers(text: str) -> Iterator[re.Match[str]]:
    return (each for each in _HEADER.finditer(text) if _starts_line(text, each))


def _starts_line(text: str, found: re.Match[str]) -> bool:
    return found.start() == 0 or text[found.start() - 1] == "\n"


def _is_for(header: str, key: str) -> bool:
    try:
        data = tomllib.loads(header)
    except ValueError:
        return False
    return data == {"hooks": {"state": {key: {}}}}
