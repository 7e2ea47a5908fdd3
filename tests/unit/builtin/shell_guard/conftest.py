"""A home with a project in it, and a guard that is asked about commands there."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.builtin import shell_guard
from hookline.model.answers import Answer
from hookline.model.ports import Caller
from hookline.testing import shell

Guard = Callable[..., Answer]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Somebody's home, with a project that has sources, a build and a file of secrets."""
    home = tmp_path / "home" / "dev"
    project = home / "project"
    for name in ("src", "build", "dist", "node_modules", ".git", "docs"):
        (project / name).mkdir(parents=True)
    (project / "src" / "app.py").write_text("print('hello')\n", encoding="utf-8")
    (project / "README.md").write_text("# A project\n", encoding="utf-8")
    (project / ".env").write_text("PASSWORD=\n", encoding="utf-8")
    for name in ("Documents", ".ssh", ".config"):
        (home / name).mkdir()
    return home


@pytest.fixture
def guard(home: Path) -> Guard:
    """What is said about a command that is run in the project."""
    project = home / "project"
    caller = Caller(env={"HOME": str(home), "USER": "dev"}, project_dir=str(project))

    def asked(command: str, cwd: Path = project, **options: Any) -> Answer:
        answer = shell_guard.make(shell_guard.Options(**options))
        return answer(shell(command, cwd=str(cwd)), caller)

    return asked
