"""House rules that a reviewer would otherwise have to remember."""

import ast
import re
from pathlib import Path

import pytest

import hookline
from hookline import registry
from hookline.model.events import EVENTS

SRC = Path(hookline.__file__).parent
ROOT = SRC.parent.parent
FILES = sorted(SRC.rglob("*.py"))


def calls(path: Path) -> set[str]:
    """Every dotted name in a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute | ast.Name)
    }


@pytest.mark.parametrize("part", ["engine", "handlers", "builtin", "dialects", "model", "config"])
def test_the_callers_environment_is_a_value_never_our_own(part: str) -> None:
    for path in sorted((SRC / part).rglob("*.py")):
        if path.name == "_python_worker.py":
            continue  # it is the child: its environment is the caller's, set for each call
        own = calls(path) & {"os.environ", "os.getenv", "os.getcwd", "Path.cwd", "environ"}
        assert not own, f"{path.relative_to(SRC)} looks at its own process: {own}"


# How builtins open what is not read: a place alone (O_PATH), a file that we have just made, and a
# list of ours that grows by a line.
OPENED = {"os.open(path, _OPEN)", "open(handle, 'wb')", "open(path, 'a', encoding='utf-8')"}


def test_builtins_read_files_through_the_one_reader_that_never_waits() -> None:
    for path in sorted((SRC / "builtin").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = ast.unparse(node.func).rpartition(".")[2]
            if called in {
                "open",
                "fdopen",
                "read_text",
                "read_bytes",
                "mmap",
                "FileIO",
                "fileinput",
            }:
                said = ast.unparse(node)
                assert said in OPENED, f"{path.relative_to(SRC)}: {said}; use files.read_regular"


def test_only_the_command_line_prints() -> None:
    for path in FILES:
        if path.relative_to(SRC).parts[0] != "cli":
            assert "print" not in calls(path), f"stdout belongs to the protocol: {path}"


def test_the_hook_path_loads_no_heavy_library() -> None:
    import subprocess
    import sys

    script = (
        "import sys; from hookline.cli import hook; import hookline.app; "
        "print(' '.join(sorted({name.split('.')[0] for name in sys.modules})))"
    )
    loaded = set(subprocess.check_output([sys.executable, "-c", script], text=True).split())
    assert not loaded & {"click", "rich", "httpx", "minijinja", "regex", "tree_sitter", "httpcore"}


# Each costs about as much as all of Python's start, or drags in one that does.
HEAVY = {
    *("click", "rich", "httpx", "httpcore", "minijinja", "regex", "tree_sitter"),
    *("asyncio", "concurrent", "ssl", "socket", "subprocess", "logging", "inspect", "email"),
    *("http", "urllib", "json", "tomllib", "pathlib", "shlex", "difflib", "typing_extensions"),
}


def test_an_event_under_the_starter_config_is_answered_without_any_heavy_library(
    tmp_path: Path,
) -> None:
    import subprocess
    import sys

    config = tmp_path / "config/hookline/hookline.yaml"
    config.parent.mkdir(parents=True)
    config.write_bytes((SRC / "cli/_starter.yaml").read_bytes())
    payload = (
        b'{"session_id":"s","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash",'
        b'"tool_input":{"command":"git push --force"},"tool_use_id":"t"}'
    )
    script = (
        "import os, sys; end = os._exit\n"
        "def tell(code):\n"
        "    sys.stderr.write(' '.join({name.split('.')[0] for name in sys.modules}))\n"
        "    sys.stderr.flush()\n"
        "    end(code)\n"
        "os._exit = tell\n"
        "from hookline.__main__ import program; program()"
    )
    words = ("hook", "claude-code", "PreToolUse", "--home", str(tmp_path / "state"))
    done = subprocess.run(
        [sys.executable, "-I", "-c", script, *words, "--user-config", str(tmp_path / "config")],
        input=payload,
        env={},  # not what measures a run: it loads half of the standard library
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert b'"ask"' in done.stdout
    assert (tmp_path / "state/journal/journal.db").exists()
    loaded = set(done.stderr.decode().split())
    assert {"yaml", "sqlite3", "hookline"} <= loaded
    assert not loaded & HEAVY


def test_every_event_says_in_one_sentence_when_it_fires() -> None:
    for cls in EVENTS.values():
        assert cls.__doc__ is not None
        assert cls.__doc__.startswith("Fires "), cls


def test_every_handler_and_builtin_says_what_it_is() -> None:
    for module in registry.handlers().values():
        assert module.__doc__, module
    for name in registry.builtin_names():
        assert registry.builtin(name).__doc__, name


def test_the_changelog_knows_the_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {hookline.__version__}" in changelog


def test_tracked_files_name_no_machine_and_no_registry() -> None:
    words = re.compile(r"[/]root/|pypi[.]org|registry[.]npmjs")
    for path in [*FILES, *sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("requirements/*.txt"))]:
        found = words.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path}: {found}"
