"""A script from a YAML file, or every mistake in it by file, line and key.

Knows how scripts are written; must not know how they are played.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from hookline.lab._nodes import kind_of, line_of, nodes_of, value_of
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
    node = nodes_of(raw, file)
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
        status = value_of(fields["fail"])
        if isinstance(status, int) and 400 <= status <= 599:
            if {"say", "do"} & fields.keys():
                message = f"`{path}` fails, so nothing can be said or done in it"
                self._report(fields["fail"], message, "put that into the next turn")
            return status
        message = f"`{path}.fail` must be an HTTP status from 400 to 599"
        self._report(fields["fail"], f"{message}; found {kind_of(fields['fail'])}")
        return 0

    def _act(self, node: Node, path: str) -> Act | None:
        if not isinstance(node, MappingNode) or len(node.value) != 1:
            message = f"`{path}` must be one act, such as `shell: ls`; found {kind_of(node)}"
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
        return dict(value_of(node)) if isinstance(node, MappingNode) else {}

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
            self._report(node, f"{_label(path)} must be a mapping; found {kind_of(node)}")
            return
        seen: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._report(key, f"a key of {_label(path)} is {kind_of(key)}", "keys are text")
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
            self._report(node, f"`{where}` must be a list; found {kind_of(node)}")

    def _text(self, fields: Fields, key: str, path: str, *, empty: bool = False) -> str:
        node = fields.get(key)
        where = f"{path}.{key}".lstrip(".")
        if node is None:
            return ""
        if not isinstance(node, ScalarNode):
            self._report(node, f"`{where}` must be text; found {kind_of(node)}")
        elif not (node.value.strip() or (empty and node.style)):
            self._report(node, f"`{where}` must be text; found nothing")
        else:
            return str(node.value)
        return ""

    def _report(self, node: Node, message: str, hint: str = "") -> None:
        self.problems.append(Problem(self._file, line_of(node), message, hint))


def _label(path: str) -> str:
    return f"`{path}`" if path else "the script"


def _is_inside(path: str) -> bool:
    """Whether a path leads to a place below the project, whatever else is there."""
    parts = PurePosixPath(path).parts
    leaves = path.startswith("/") or path.endswith("/") or ".." in parts
    return bool(parts) and not leaves and "\0" not in path
