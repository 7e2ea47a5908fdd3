"""What tests say they prove, read from their files without running them.

``@pytest.mark.proves("claude-code", "PreToolUse.deny")`` on a test, on its class, on one of its
parameters or as ``pytestmark``. Names and claims are written out: what has to be run to be known
cannot be checked here.
"""

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

Claim = tuple[str, str]
"""A dialect, and what is claimed of it."""

_WRITTEN_OUT = (
    'write out what is proved, as in `@pytest.mark.proves("claude-code", "PreToolUse.deny")`'
)


class Marks(Struct, frozen=True):
    """The tests of some files, what each says it proves, and marks that cannot be read."""

    tests: Mapping[str, frozenset[Claim]]
    unread: tuple[str, ...] = ()

    def carries(self, test: str, claim: Claim) -> bool:
        """Whether the test with this id exists and has that very mark; for ``test_x[param]``,
        whether ``test_x`` has."""
        return claim in self.tests.get(function(test), frozenset())


def function(test: str) -> str:
    """The id of a test without its parameters."""
    return test.partition("[")[0]


def under(folder: Path, root: Path) -> Marks:
    """The marks of every test file in a folder; ids start at ``root``, as pytest's do."""
    tests: dict[str, frozenset[Claim]] = {}
    unread: list[str] = []
    for path in sorted(folder.rglob("test_*.py")):
        reader = _Reader(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8"))
        tests |= dict(reader.tests())
        unread += reader.unread
    return Marks(tests, tuple(unread))


class _Reader:
    """One file."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._tree = ast.parse(text)
        self._values = dict(_assigned(self._tree))
        self.unread: dict[str, None] = {}

    def tests(self) -> Iterator[tuple[str, frozenset[Claim]]]:
        """Every test and its marks."""
        return self._in(self._tree, self._name, frozenset())

    def _in(
        self, body: ast.Module | ast.ClassDef, name: str, outer: frozenset[Claim]
    ) -> Iterator[tuple[str, frozenset[Claim]]]:
        shared = dict(_assigned(body)).get("pytestmark")
        marks = outer | (self._marks(shared) if shared is not None else set())
        for node in body.body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.name.startswith("test"):
                    yield f"{name}::{node.name}", marks | self._of(node)
            elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
                yield from self._in(node, f"{name}::{node.name}", marks | self._of(node))

    def _of(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> set[Claim]:
        return {claim for each in node.decorator_list for claim in self._marks(each)}

    def _marks(self, value: ast.expr, seen: frozenset[str] = frozenset()) -> set[Claim]:
        """Every mark inside an expression, and inside what its names stand for in this file."""
        found: set[Claim] = set()
        for node in ast.walk(value):
            if isinstance(node, ast.Call) and _is_mark(node.func):
                found |= self._claims(node)
            elif isinstance(node, ast.Name) and node.id in self._values and node.id not in seen:
                found |= self._marks(self._values[node.id], seen | {node.id})
        return found

    def _claims(self, call: ast.Call) -> set[Claim]:
        words = [each.value for each in call.args if isinstance(each, ast.Constant)]
        texts = [word for word in words if isinstance(word, str)]
        if call.keywords or len(texts) != len(call.args) or len(texts) < 2:
            # Once, however many tests share it.
            self.unread[f"{self._name}:{call.lineno}: {_WRITTEN_OUT}"] = None
            return set()
        dialect, *claims = texts
        return {(dialect, claim) for claim in claims}


def _is_mark(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and ast.unparse(called).endswith("mark.proves")


def _assigned(body: ast.Module | ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    """The names that a module or class gives to values."""
    for node in body.body:
        if isinstance(node, ast.Assign):
            yield from (
                (each.id, node.value) for each in node.targets if isinstance(each, ast.Name)
            )
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, node.value
