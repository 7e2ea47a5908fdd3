"""A script from a YAML file, or every mistake in it by file, line and key.

Knows how scripts are written; must not know how they are played.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, TypeAlias

import yaml
from yaml import MappingNode, Node, ScalarNode, SequenceNode, events

from hookline.lab.script import Act, Agent, Edit, Mcp, Native, Read, Script, Shell, Turn, Write
from hookline.model.errors import ConfigError, HooklineError, Problem, nearest

__all__ = ["read_script"]

Fields: TypeAlias = Mapping[str, Node]

_ACTS = ("shell", "write", "edit", "read", "mcp", "agent", "call")
_A_FILE = "a path inside the project, such as `src/main.py`"


def read_script(path: str | Path) -> Script:
    """The script in a file. Raises ConfigError with every mistake, HooklineError without a file."""
    file = str(path)
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise HooklineError(f"the script {file} cannot be read: {error.strerror}") from None
    node = _nodes_of(raw, file)
    reader = _Reader(file)
    if node is None:
        hint = "it needs at least `prompt: …` and `turns: …`"
        raise ConfigError([Problem(file, 0, "the script is empty", hint)])
    script = reader.script(node)
    if reader.problems:
        raise ConfigError(sorted(reader.problems, key=lambda problem: problem.line))
    return script


class _Reader:
    """Walks the nodes and notes every mistake; what it returns counts only when there is none."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._agents: dict[str, tuple[Turn, ...]] = {}
        self.problems: list[Problem] = []

    def script(self, node: Node) -> Script:
        """The whole file."""
        fields = self._fields(node, "", needed=("prompt",), known=("turns", "files"))
        prompt = self._text(fields, "prompt", "")
        turns = self._turns(fields, "")
        if prompt in self._agents and "prompt" in fields:
            message = "`prompt` is also the prompt of a sub-agent, which nobody could tell apart"
            self._report(fields["prompt"], message, "let the two differ")
        return Script(prompt=prompt, turns=turns, files=self._files(fields))

    def _turns(self, fields: Fields, path: str) -> tuple[Turn, ...]:
        items = self._items(fields, "turns", path)
        return tuple(self._turn(item, where) for item, where in items)

    def _turn(self, node: Node, path: str) -> Turn:
        fields = self._fields(node, path, known=("say", "do", "fail"))
        if isinstance(node, MappingNode) and not node.value:
            self._report(node, f"`{path}` is empty", "it needs `say`, `do` or both")
        say = self._text(fields, "say", path, empty=True)
        acts = (self._act(item, where) for item, where in self._items(fields, "do", path))
        do = tuple(act for act in acts if act is not None)
        return Turn(say, do, self._status(fields, path))

    def _status(self, fields: Fields, path: str) -> int:
        if "fail" not in fields:
            return 0
        status = _value_of(fields["fail"])
        if isinstance(status, int) and 400 <= status <= 599:
            if {"say", "do"} & fields.keys():
                message = f"`{path}` fails, so nothing can be said or done in it"
                self._report(fields["fail"], message, "put that into the next turn")
            return status
        message = f"`{path}.fail` must be an HTTP status from 400 to 599"
        self._report(fields["fail"], f"{message}; found {_kind_of(fields['fail'])}")
        return 0

    def _act(self, node: Node, path: str) -> Act | None:
        if not isinstance(node, MappingNode) or len(node.value) != 1:
            message = f"`{path}` must be one act, such as `shell: ls`; found {_kind_of(node)}"
            self._report(node, message, f"acts: {', '.join(_ACTS)}")
            return None
        fields = self._fields(node, path, known=_ACTS)
        if not fields:
            return None
        name, inner = next(iter(fields.items()))
        where = f"{path}.{name}"
        match name:
            case "shell":
                return Shell(self._text(fields, name, path))
            case "read":
                return Read(self._text(fields, name, path))
            case "write":
                return Write(*self._texts(inner, where, ("path", "content")))
            case "edit":
                return Edit(*self._texts(inner, where, ("path", "old", "new")))
            case "mcp":
                return self._mcp(inner, where)
            case "agent":
                return self._agent(inner, where)
            case _:
                return self._native(inner, where)

    def _mcp(self, node: Node, path: str) -> Mcp:
        fields = self._fields(node, path, needed=("tool",), known=("arguments", "server"))
        server = self._text(fields, "server", path) if "server" in fields else "lab"
        return Mcp(self._text(fields, "tool", path), self._arguments(fields, path), server)

    def _native(self, node: Node, path: str) -> Native:
        fields = self._fields(node, path, needed=("name",), known=("arguments",))
        return Native(self._text(fields, "name", path), self._arguments(fields, path))

    def _agent(self, node: Node, path: str) -> Agent:
        fields = self._fields(node, path, needed=("prompt",), known=("turns",))
        agent = Agent(self._text(fields, "prompt", path), self._turns(fields, path))
        if self._agents.setdefault(agent.prompt, agent.turns) != agent.turns:
            message = f"`{path}` has the prompt of another agent, but other turns"
            self._report(node, message, "agents are told apart by their prompts")
        return agent

    def _files(self, fields: Fields) -> Mapping[str, str]:
        if "files" not in fields:
            return {}
        found = {key.value: (key, node) for key, node in self._pairs(fields["files"], "files")}
        parents = {str(parent) for path in found for parent in PurePosixPath(path).parents}
        for path, (key, _) in found.items():
            if not _is_inside(path):
                self._report(key, f"`files` cannot have `{path}`", f"write {_A_FILE}")
            elif str(PurePosixPath(path)) in parents:
                self._report(key, f"`files` has `{path}` as a file and as a directory")
        nodes = {path: node for path, (_, node) in found.items()}
        return {path: self._text(nodes, path, "files", empty=True) for path in nodes}

    def _texts(self, node: Node, path: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """As many texts as there are names; what is written may be empty, but not where."""
        fields = self._fields(node, path, needed=names)
        return tuple(self._text(fields, name, path, empty=name != "path") for name in names)

    def _arguments(self, fields: Fields, path: str) -> Mapping[str, object]:
        node = fields.get("arguments")
        if node is None:
            return {}
        list(self._pairs(node, f"{path}.arguments"))
        return dict(_value_of(node)) if isinstance(node, MappingNode) else {}

    def _fields(
        self, node: Node, path: str, *, needed: tuple[str, ...] = (), known: tuple[str, ...] = ()
    ) -> Fields:
        """The node's keys that may be there; those that may not, and those missing, are noted."""
        allowed = (*needed, *known)
        found: dict[str, Node] = {}
        for key, value in self._pairs(node, path):
            if key.value in allowed:
                found[key.value] = value
                continue
            hint = nearest(key.value, allowed) or f"known keys: {', '.join(allowed)}"
            self._report(key, f"`{key.value}` is not a key of {_label(path)}", hint)
        if isinstance(node, MappingNode):
            for name in needed:
                if name not in found:
                    self._report(node, f"the key `{name}` of {_label(path)} is missing")
        return found

    def _pairs(self, node: Node, path: str) -> Iterator[tuple[ScalarNode, Node]]:
        if not isinstance(node, MappingNode):
            self._report(node, f"{_label(path)} must be a mapping; found {_kind_of(node)}")
            return
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._report(key, f"a key of {_label(path)} is {_kind_of(key)}", "keys are text")
            elif key.value in seen:
                self._report(key, f"{_label(path)} has the key `{key.value}` twice")
            else:
                seen.add(key.value)
                yield key, value

    def _items(self, fields: Fields, key: str, path: str) -> Iterator[tuple[Node, str]]:
        node = fields.get(key)
        where = f"{path}.{key}".lstrip(".")
        if isinstance(node, SequenceNode):
            yield from ((item, f"{where}[{index}]") for index, item in enumerate(node.value))
        elif node is not None:
            self._report(node, f"`{where}` must be a list; found {_kind_of(node)}")

    def _text(self, fields: Fields, key: str, path: str, *, empty: bool = False) -> str:
        node = fields.get(key)
        where = f"{path}.{key}".lstrip(".")
        if node is None:
            return ""
        if not isinstance(node, ScalarNode):
            self._report(node, f"`{where}` must be text; found {_kind_of(node)}")
        elif not (node.value.strip() or (empty and node.style)):
            self._report(node, f"`{where}` must be text; found nothing")
        else:
            return str(node.value)
        return ""

    def _report(self, node: Node, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self._file, int(node.start_mark.line) + 1, message, hint))


def _label(path: str) -> str:
    return f"`{path}`" if path else "the script"


def _is_inside(path: str) -> bool:
    """Whether a path leads to a place below the project, whatever else is there."""
    parts = PurePosixPath(path).parts
    leaves = path.startswith("/") or path.endswith("/") or ".." in parts
    return bool(parts) and not leaves and "\0" not in path


MAX_BYTES = 1_000_000
MAX_DEPTH = 50

_WORDS: dict[str, bool | None] = dict.fromkeys(("", "~", "null"))
_WORDS |= {"true": True, "false": False}
_INTEGER = r"[-+]?[0-9]{1,18}"
_FLOAT = r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,2})?"


def _nodes_of(raw: bytes, file: str) -> Node | None:
    """The outermost node, None for an empty file; raises ConfigError with what is wrong."""
    if len(raw) > MAX_BYTES:
        message = f"the file has {len(raw):,} bytes, and at most {MAX_BYTES:,} are read"
        raise ConfigError([Problem(file, 0, message)])
    try:
        text = raw.decode("utf-8-sig")
        problems = list(_refused(text, file))
        node: Node | None = yaml.compose(text, yaml.SafeLoader) if not problems else None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        problem = Problem(file, line, "this is not UTF-8", "save the file as UTF-8")
        raise ConfigError([problem]) from None
    except yaml.YAMLError as error:
        raise ConfigError([_broken(error, file)]) from None
    if problems:
        raise ConfigError(problems)
    return node


def _kind_of(node: Node) -> str:
    """What a node is, in people's words."""
    if isinstance(node, SequenceNode):
        return "a list"
    if isinstance(node, MappingNode):
        return "a mapping"
    return f"`{_brief(node.value)}`" if node.value else "nothing"


def _value_of(node: Node) -> Any:
    """The plain data of a node, as JSON would have it."""
    if isinstance(node, SequenceNode):
        return [_value_of(each) for each in node.value]
    if isinstance(node, MappingNode):
        return {str(key.value): _value_of(each) for key, each in node.value}
    assert isinstance(node, ScalarNode)
    return node.value if node.style else _meant(node.value)


def _meant(word: str) -> Any:
    """What an unquoted word stands for. `yes`, `no` and dates are the text they look like."""
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    if re.fullmatch(_INTEGER, word):
        return int(word)
    return float(word) if re.fullmatch(_FLOAT, word) else word


def _brief(text: str) -> str:
    shown = text if text.isprintable() else text.encode("unicode_escape").decode()
    return shown if len(shown) <= 40 else f"{shown[:39]}…"


def _refused(text: str, file: str) -> list[Problem]:
    """Aliases and depths by which a small file becomes an endless one; tags, which mean nothing."""
    problems, depth = [], 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = event.start_mark.line + 1
        depth += isinstance(event, events.CollectionStartEvent)
        depth -= isinstance(event, events.CollectionEndEvent)
        if depth > MAX_DEPTH:
            return [Problem(file, line, f"nested more than {MAX_DEPTH} levels deep")]
        if isinstance(event, events.AliasEvent):
            hint = "write the value out, or put text that starts with `*` in quotes"
            problems.append(Problem(file, line, f"aliases (`*{event.anchor}`) are not read", hint))
        elif isinstance(event, events.ScalarEvent | events.CollectionStartEvent) and event.tag:
            hint = "remove it, or put text that starts with `!` in quotes"
            problems.append(Problem(file, line, f"tags (`{event.tag}`) are not read", hint))
    return problems


def _broken(error: yaml.YAMLError, file: str) -> Problem:
    mark = getattr(error, "problem_mark", None)
    said = getattr(error, "problem", None) or str(error).partition("\n")[0]
    return Problem(file, mark.line + 1 if mark else 0, f"not valid YAML: {said}")
