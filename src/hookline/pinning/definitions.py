"""Which MCP servers a person's agents know, by what stands in their files.

Reads files and starts nothing. What a definition says is untrusted: a repository brings its own.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from time import time_ns
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.files import read_regular
from hookline.jsontext import JsonTextError, parse
from hookline.secrets import redact

__all__ = ["Definition", "Flaw", "Surroundings", "definitions", "filled"]

_PROJECT = "{project}"
"""A key that is the project's own path."""

_DEEPEST = 64
_PLACES_KEPT = 32


class _Place(Struct, frozen=True):
    """Where one client looks for servers, and under which key they stand."""

    client: str
    path: str
    keys: tuple[str, ...] = ("mcpServers",)
    at_home: bool = False
    moved_by: tuple[str, str] = ("", "")
    """A variable that names another directory, and what the file is called there."""
    upward: bool = False
    """Whether some version of the client also looks in all directories above the project."""
    bare: bool = False
    """Whether the servers may also stand there without that key."""


_CLAUDE = ("CLAUDE_CONFIG_DIR", ".claude.json")
_VSCODE = ("XDG_CONFIG_HOME", "Code/User/mcp.json")
_PLACES = (
    _Place("claude-code", "/etc/claude-code/managed-mcp.json", at_home=True),
    _Place("claude-code", ".mcp.json", upward=True, bare=True),
    _Place("claude-code", ".claude.json", ("mcpServers",), True, _CLAUDE),
    _Place("claude-code", ".claude.json", ("projects", _PROJECT, "mcpServers"), True, _CLAUDE),
    _Place("codex", ".codex/config.toml", ("mcp_servers",)),
    _Place("codex", ".codex/config.toml", ("mcp_servers",), True, ("CODEX_HOME", "config.toml")),
    _Place("vscode", ".vscode/mcp.json", ("servers",)),
    _Place("vscode", ".config/Code/User/mcp.json", ("servers",), True, _VSCODE),
    _Place("copilot", ".copilot/mcp-config.json"),
    _Place("copilot", ".mcp.json", bare=True),
    _Place("copilot", ".github/mcp.json", bare=True),
    _Place(
        "copilot",
        ".copilot/mcp-config.json",
        at_home=True,
        moved_by=("COPILOT_HOME", "mcp-config.json"),
    ),
    _Place("gemini", ".gemini/settings.json"),
    _Place("gemini", ".gemini/settings.json", at_home=True),
    _Place("cursor", ".cursor/mcp.json"),
    _Place("cursor", ".cursor/mcp.json", at_home=True),
)

Places = tuple[tuple[_Place, str], ...]


def _placed(project: str, cwd: str, home: str, env: Mapping[str, str]) -> Places:
    """Every place with its path; without those of a person of whom nobody knows where they live."""
    return _found(project, cwd, home, tuple(env.get(place.moved_by[0], "") for place in _PLACES))


@lru_cache(_PLACES_KEPT)
def _found(project: str, cwd: str, home: str, moved: tuple[str, ...]) -> Places:
    paths = []
    for place, elsewhere in zip(_PLACES, moved, strict=True):
        if os.path.isabs(elsewhere):
            paths.append((place, os.path.join(elsewhere, place.moved_by[1])))
            continue
        bases = (home,) if place.at_home else _directories(project, cwd, place.upward)
        paths += [(place, os.path.join(base, place.path)) for base in bases]
    return tuple((place, path) for place, path in paths if os.path.isabs(path))


def _directories(project: str, cwd: str, upward: bool) -> list[str]:
    """The project, those on the way down from it to ``cwd``, and perhaps those above it."""
    found = [project]
    below = os.path.normpath(cwd) if os.path.isabs(cwd) else project
    if below.startswith(project.rstrip("/") + "/"):
        while len(below) > len(project) and len(found) < _DEEPEST:
            found.append(below)
            below = os.path.dirname(below)
    above = os.path.dirname(project)
    while upward and os.path.isabs(above) and above != found[-1] and len(found) < 2 * _DEEPEST:
        found.append(above)
        above = os.path.dirname(above)
    return found


_MOST_BYTES = 20 << 20
_MOST_SERVERS = 200
_LONGEST = 500
_LOGIN = re.compile(r"//[^/@]*@")


# Clients that put these into a definition themselves; what only they can ask for is not here.
_VARIABLE = re.compile(r"\$\{([^}]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")


class Surroundings(Struct, frozen=True):
    """Where a person works, as far as it says which servers there are."""

    project: str
    home: str
    env: Mapping[str, str]
    cwd: str = ""
    """Where below the project, if it is not the project itself: clients look there, too."""


class Definition(Struct, frozen=True, kw_only=True):
    """One server as its client knows it."""

    name: str
    clients: tuple[str, ...]
    project: str = ""
    """The project that has it; empty for one of the person's own."""
    file: str
    said: Mapping[str, Any]
    """What stands in the file."""

    @property
    def url(self) -> str:
        """Its address, for one that is called and not started."""
        found = self.said.get("httpUrl") or self.said.get("url") or self.said.get("serverUrl")
        return found if isinstance(found, str) else ""

    @property
    def argv(self) -> tuple[str, ...]:
        """Its command line, for one that is started."""
        command, rest = self.said.get("command"), self.said.get("args")
        words = [word for word in rest if isinstance(word, str)] if isinstance(rest, list) else []
        return (command, *words) if isinstance(command, str) and command else ()

    @property
    def origin(self) -> str:
        """Where it comes from, in one line that may be shown to anybody."""
        address = _LOGIN.sub("//", self.url.partition("?")[0])
        return redact(" ".join(self.argv) or address).text[:_LONGEST]

    def digest(self, salt: str) -> str:
        """Equal for definitions that say the same; nobody can tell from it what they say."""
        body = msgspec.json.encode(self.said, order="deterministic")
        return sha256(salt.encode() + b"\0" + body).hexdigest()


class Flaw(Struct, frozen=True):
    """A file of one client that is there and could not be read."""

    client: str
    text: str


def definitions(where: Surroundings) -> tuple[tuple[Definition, ...], tuple[Flaw, ...]]:
    """Every server that may count there, and what could not be read.

    Which of two with one name counts is the client's to say; whoever looks must look at both.
    The same again while all files are the same: tools are called more often than these are edited.
    """
    places = _placed(where.project, where.cwd, where.home, where.env)
    stamps = tuple(_stamp(path) for _, path in places)
    before = _kept.get(places)
    if before is not None and before[0] == stamps:
        return before[1]
    found: list[Definition] = []
    flaws: dict[Flaw, None] = {}
    for place, path in places:
        try:
            found += _defined(place, path, where.project)
        except _Unreadable as error:
            flaws[Flaw(place.client, f"{path}: {error}")] = None
    result = tuple(_joined(found)), tuple(flaws)
    if _are_settled(stamps):
        while len(_kept) >= _KEPT:
            _kept.pop(next(iter(_kept)), None)
        _kept[places] = (stamps, result)
    return result


def filled(text: str, where: Surroundings) -> str:
    """A text of a definition with its variables. Raises LookupError for one that nobody knows."""
    own = {
        "workspaceFolder": where.project,
        "workspaceFolderBasename": os.path.basename(where.project),
        "userHome": where.home,
    }

    def value(found: re.Match[str]) -> str:
        name, has_default, default = (found[1] or found[2] or "").partition(":-")
        if name in own:
            return own[name]
        name = name.removeprefix("env:")
        if name in where.env:
            return where.env[name]
        if has_default:
            return default
        raise LookupError(f"`{found[0]}` is not set here")

    return _VARIABLE.sub(value, text)


class _Unreadable(Exception):
    """A file that is there and is of no use."""


_Stamp = tuple[int, ...] | None
_Result = tuple[tuple[Definition, ...], tuple[Flaw, ...]]
_kept: dict[Places, tuple[tuple[_Stamp, ...], _Result]] = {}
_KEPT = 32
_SETTLED = 2_000_000_000


def _stamp(path: str) -> _Stamp:
    try:
        now = os.stat(path)
    except OSError:
        return None
    return (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_dev)


def _are_settled(stamps: Iterable[_Stamp]) -> bool:
    """Whether no file was changed so lately that it could be changed again under the same stamp."""
    now = time_ns()
    return all(now - stamp[1] > _SETTLED for stamp in stamps if stamp is not None)


def _defined(place: _Place, path: str, project: str) -> Iterator[Definition]:
    node = _read(path)
    is_bare = place.bare and isinstance(node, Mapping) and place.keys[0] not in node
    for key in () if is_bare else place.keys:
        node = node.get(project if key == _PROJECT else key) if isinstance(node, Mapping) else None
    if node is None:
        return
    if not isinstance(node, Mapping) or len(node) > _MOST_SERVERS:
        raise _Unreadable(f"`{place.keys[-1]}` is no mapping of at most {_MOST_SERVERS} servers")
    inside = not place.at_home or _PROJECT in place.keys
    for name, said in node.items():
        # Only Codex has a switch in here. Where a client has none, the word means nothing to it.
        if isinstance(said, Mapping) and not (
            place.client == "codex" and said.get("enabled") is False
        ):
            yield Definition(
                name=str(name),
                clients=(place.client,),
                project=project if inside else "",
                file=path,
                said=said,
            )


def _read(path: str) -> Any:
    try:
        content = read_regular(path, _MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _Unreadable(error.strerror or "it cannot be read") from error
    if len(content) > _MOST_BYTES:
        raise _Unreadable(f"it has more than {_MOST_BYTES:,} bytes")
    return _decoded(path, content)


def _decoded(path: str, content: bytes) -> Any:
    if path.endswith(".toml"):
        from tomllib import TOMLDecodeError, loads

        try:
            return loads(content.decode())
        except (TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
            raise _Unreadable(f"it is no TOML: {error}") from error
    if not content.strip():
        return None
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return parse(content).value()  # with comments, as some clients take it
    except JsonTextError as error:
        raise _Unreadable(f"it is no JSON: {error.message}, line {error.line}") from error


def _joined(found: Iterable[Definition]) -> list[Definition]:
    """One for several clients that know the same server in the same words."""
    together: dict[tuple[str, str, str], Definition] = {}
    for each in found:
        key = (each.name, each.project, each.digest(""))
        before = together.get(key)
        clients = dict.fromkeys((*(before.clients if before else ()), *each.clients))
        together[key] = replace(before or each, clients=tuple(clients))
    return sorted(together.values(), key=lambda each: (not each.project, each.name, each.clients))
