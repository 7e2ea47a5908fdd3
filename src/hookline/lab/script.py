"""What a scripted model does: a prompt, and turn by turn what it says and which tools it calls.

Acts are portable: ``shell: ls`` is `Bash` in one client and `run_shell_command` in another, and
each client's driver knows its own name for it.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

__all__ = [
    "Act",
    "Agent",
    "Edit",
    "Mcp",
    "Native",
    "Read",
    "Script",
    "Shell",
    "Turn",
    "Write",
]


class Shell(Struct, frozen=True):
    """Run a shell command."""

    command: str


class Write(Struct, frozen=True):
    """Write a whole file; the path is relative to the project."""

    path: str
    content: str


class Edit(Struct, frozen=True):
    """Replace ``old`` by ``new`` in a file, as a patch where the client edits by patches."""

    path: str
    old: str
    new: str


class Read(Struct, frozen=True):
    """Read a file."""

    path: str


class Mcp(Struct, frozen=True):
    """Call a tool of an MCP server; ``lab`` is the server that every session can have."""

    tool: str
    arguments: Mapping[str, Any] = {}
    server: str = "lab"


class Agent(Struct, frozen=True):
    """Hand ``prompt`` to a sub-agent, whose own model then takes ``turns``."""

    prompt: str
    turns: "tuple[Turn, ...]" = ()


class Native(Struct, frozen=True):
    """Call a tool by the client's own name, with its own arguments."""

    name: str
    arguments: Mapping[str, Any] = {}


Act = Shell | Write | Edit | Read | Mcp | Agent | Native


class Turn(Struct, frozen=True):
    """One answer of the model: words, tool calls, or both; or a failure of its server."""

    say: str = ""
    do: tuple[Act, ...] = ()
    fail: int = 0
    """The HTTP status of an error that is sent instead. Who asks again is given the next turn."""


class Script(Struct, frozen=True, kw_only=True):
    """One session: what the person asks, and what the model answers.

    When the turns are used up the model says ``Done.`` and calls nothing.
    """

    prompt: str
    turns: tuple[Turn, ...] = ()
    files: Mapping[str, str] = {}
    """The project's files before the session, by path."""
