"""Imports point down to ``model``, and siblings never import each other."""

import ast
from pathlib import Path

import pytest

import hookline

SRC = Path(hookline.__file__).parent

# What each part may import of ours, beside itself. A part that is not named here fails the test.
MAY_IMPORT = {
    "shell": set(),
    "processes": {"shell"},
    "jsontext": set(),
    "secrets": set(),
    "files": set(),
    "client": {"_version"},
    "model": set(),
    # The way to its socket, and what is said there, is written once.
    "daemon": {"model", "client", "_version"},
    "engine": {"model"},
    "workspace": {"files", "model"},
    "config": {"model", "shell", "workspace"},
    "handlers": {"files", "model", "shell", "processes", "secrets", "workspace"},
    "git": {"files"},
    "snapshots": {"git"},
    "pinning": {"files", "model", "processes", "jsontext", "secrets", "_version"},
    "builtin": {
        "files",
        "model",
        "shell",
        "secrets",
        "git",
        "snapshots",
        "store",
        "pinning",
        "workspace",
    },
    "store": {"model", "secrets", "_version"},
    "dialects": {"_version", "files", "jsontext", "model", "shell"},
    "installing": {"files", "model", "registry", "jsontext", "client", "git", "_version"},
    "doctoring": {
        "files",
        "model",
        "registry",
        "installing",
        "config",
        "app",
        "client",
        "_version",
    },
    # By name: `hookline.dialects.NAME.write`.
    "converting": {"model", "registry", "dialects"},
    "verifying": {"model", "registry", "lab", "_version"},
    "lab": {"model", "processes", "jsontext", "secrets", "_version"},
    # By name, which is all that it is for.
    "registry": {"model", "dialects", "handlers", "builtin"},
    "app": {"model", "engine", "config", "store", "registry"},
    "pipeline": {
        "model",
        "engine",
        "config",
        "store",
        "registry",
        "app",
        "processes",
        "_version",
    },
    "explaining": {"model", "config", "app", "registry", "pipeline"},
    "functions": {"model", "engine", "config", "handlers"},
    "library": {
        "model",
        "engine",
        "config",
        "app",
        "client",
        "registry",
        "pipeline",
        "functions",
    },
    "testing": {"model", "app", "registry", "pipeline", "library", "processes"},
    "cli": {
        "model",
        "app",
        "pipeline",
        "explaining",
        "store",
        "daemon",
        "client",
        "secrets",
        "processes",
        "registry",
        "library",
        "config",
        "lab",
        "verifying",
        "installing",
        "doctoring",
        "converting",
        "pinning",
        "git",
        "snapshots",
        "_version",
    },
    "__init__": {"model", "functions", "library", "_version"},
    "__main__": {"cli"},
    "_version": set(),
}


LOADERS = ("import_module", "__import__")


def part_of(path: Path) -> str:
    """The part of the package that a file belongs to."""
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Every module of ours that a file imports, however deep in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            found |= {
                f"{node.module}.{name.name}" for name in node.names if node.module == "hookline"
            }
        elif isinstance(node, ast.Import):
            # The bare package has everything that it gives out.
            found |= {name.name for name in node.names}
            found |= {"hookline.__init__" for name in node.names if name.name == "hookline"}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(LOADERS):
            found.add(_first_words(node.args[0]))
    return {name.removeprefix("hookline.") for name in found if name.startswith("hookline.")}


def _first_words(name: ast.expr) -> str:
    """What is fixed of a module's name, such as ``hookline.dialects.`` of an f-string."""
    if isinstance(name, ast.JoinedStr):
        name = name.values[0]
    return str(name.value) if isinstance(name, ast.Constant) else ""


FILES = sorted(SRC.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SRC)))
def test_a_module_imports_only_the_layers_below_its_own(path: Path) -> None:
    part = part_of(path)
    allowed = MAY_IMPORT[part] | {part}
    upward = {name for name in imports(path) if name.split(".")[0] not in allowed}
    assert not upward, f"{path.relative_to(SRC)} may not import {sorted(upward)}"


@pytest.mark.parametrize(
    "folder", ["dialects", "builtin", "handlers", "lab/clients", "lab/wires", "verifying/probes"]
)
def test_siblings_inside_a_folder_never_import_each_other(folder: str) -> None:
    above = folder.split("/")
    for path in sorted((SRC / folder).rglob("*.py")):
        own = path.relative_to(SRC / folder).parts[0].removesuffix(".py")
        for name in imports(path):
            words = name.split(".")
            if words[: len(above)] != above or len(words) == len(above):
                continue
            # What starts with `_` is there to be shared.
            other = words[len(above)]
            assert other == own or other.startswith("_"), f"{path.name} imports {name}"


def test_modules_stay_readable() -> None:
    too_long = {
        str(path.relative_to(SRC)): lines
        for path in FILES
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 500
    }
    assert not too_long, f"split by topic: {too_long}"
