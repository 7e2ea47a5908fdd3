"""Recorded payloads: what one file holds, what it is called, and how a directory of them is read.

Knows the form of the files; must not know how they came to be, nor what is compared in them.
"""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from hookline.model.errors import HooklineError

__all__ = ["ASKED", "Recording", "RecordingError", "read_recordings", "write_recordings"]

_TOOL_KEYS = ("tool_name", "toolName")
# What tells two payloads of one event apart, in the words of all clients.
_KIND_KEYS = ("source", "trigger", "reason", "load_reason", "notification_type", "error", "event")
# What the model wrote, and what the tool answered: of these each tool has its own shape.
ASKED = ("tool_input", "toolArgs")
_OF_TOOLS = (*ASKED, "tool_response", "toolResult")


class RecordingError(HooklineError):
    """A directory has no recordings, or a file in it is none."""


class Recording(Struct, frozen=True, kw_only=True):
    """One payload as a client sent it, and where it is from."""

    client: str
    version: str
    event: str
    payload: Mapping[str, Any]
    scenario: str = ""
    """The script during which it was first seen."""
    scenarios: tuple[str, ...] = ()
    """Every script during which one of the same shape was seen."""
    transport: str = "command"
    env_names: tuple[str, ...] = ()
    env_added: tuple[str, ...] = ()
    """Those of them that the client was not started with: what it sets for its hooks."""
    recorded: str = ""
    """The day; empty for what was not recorded by ``hookline lab capture``."""

    @property
    def tool(self) -> str:
        """The tool it is about, in the client's words; empty when it is about none."""
        found = (self.payload.get(key) for key in _TOOL_KEYS)
        return next((each for each in found if isinstance(each, str)), "")

    @property
    def kind(self) -> str:
        """What else the event is about, such as `startup` or `manual`, when it is one word."""
        found = (self.payload.get(key) for key in _KIND_KEYS)
        words = (each for each in found if isinstance(each, str))
        return next((each for each in words if re.fullmatch(r"[A-Za-z_]{1,30}", each)), "")

    @property
    def own(self) -> Mapping[str, Any]:
        """What is the tool's own: what it was asked, and what it answered."""
        return {key: each for key, each in self.payload.items() if key in _OF_TOOLS}

    @property
    def around(self) -> Mapping[str, Any]:
        """The rest, which an event has whatever the tool is."""
        return _around(self.payload)

    @property
    def name(self) -> str:
        """What its file is called: the event, the tool, and what is special about it."""
        special = "" if self.scenario in {"basic", self.kind} else self.scenario
        parts = (self.event, self.tool or self.kind, special)
        return "-".join(re.sub(r"[^A-Za-z0-9_.-]", "_", each) for each in parts if each)


def _around(value: Mapping[str, Any]) -> Mapping[str, Any]:
    # A batch holds the calls of several tools, so what is a tool's own is looked for inside too.
    return {key: "" if key in _OF_TOOLS else _bare(each) for key, each in value.items()}


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return _around(value)
    return [_bare(each) for each in value] if isinstance(value, list) else value


def read_recordings(folder: str) -> list[Recording]:
    """Every recording in a directory, by file name. Raises RecordingError."""
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError as error:
        raise RecordingError(f"`{folder}` cannot be read: {error.strerror}") from error
    if not names:
        hint = "`hookline lab capture CLIENT --out DIR` makes them"
        raise RecordingError(f"`{folder}` has no recorded payloads; {hint}")
    return [_read(os.path.join(folder, name)) for name in names]


def _read(path: str) -> Recording:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=Recording)
    except (OSError, msgspec.DecodeError) as error:
        wanted = "expected an object with client, version, event and payload"
        raise RecordingError(f"`{path}` is no recorded payload: {error}; {wanted}") from error


def write_recordings(folder: str, recordings: Iterable[Recording]) -> Sequence[str]:
    """One file for each, named after what is in it; the names. Raises RecordingError."""
    written: list[str] = []
    try:
        os.makedirs(folder, exist_ok=True)
        for each in recordings:
            name = _free(each.name, written)
            encoded = msgspec.json.format(msgspec.json.encode(_shown(each)), indent=1)
            with open(os.path.join(folder, f"{name}.json"), "wb") as file:
                file.write(encoded + b"\n")
            written.append(name)
    except OSError as error:
        raise RecordingError(f"`{folder}` cannot be written to: {error.strerror}") from error
    return written


def _free(name: str, taken: Sequence[str]) -> str:
    """The name itself, or with the first number that makes it one of its own."""
    number = 2
    free = name
    while free in taken:
        free = f"{name}-{number}"
        number += 1
    return free


def _shown(recording: Recording) -> Mapping[str, Any]:
    """In the order in which people read it: where it is from, and then what it says."""
    first = ("client", "version", "recorded", "event", "scenario", "scenarios", "transport")
    return {key: getattr(recording, key) for key in (*first, "env_names", "env_added", "payload")}
