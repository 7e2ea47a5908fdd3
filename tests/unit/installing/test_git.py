"""Whether a file travels by git, asked without running what a repository names."""

import shutil
import subprocess
from pathlib import Path

import pytest

from hookline.cli.install import travels

ENV = {"PATH": "/usr/bin:/bin:/usr/local/bin"}

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    return tmp_path


def test_outside_a_repository_nothing_travels(tmp_path: Path) -> None:
    assert travels(str(tmp_path / "a/b/file"), ENV) == "no"


def test_a_file_is_tracked_ignored_or_neither(repository: Path) -> None:
    (repository / "tracked").touch()
    (repository / ".gitignore").write_text("secret/\n")
    subprocess.run(["git", "-C", str(repository), "add", "tracked"], check=True)
    assert travels(str(repository / "tracked"), ENV) == "tracked"
    assert travels(str(repository / "secret/file"), ENV) == "ignored"
    assert travels(str(repository / "new/file"), ENV) == "untracked"


def test_without_git_a_file_counts_as_one_that_travels(repository: Path) -> None:
    assert travels(str(repository / "file"), {"PATH": str(repository)}) == "untracked"


def test_a_repository_names_no_program_that_the_question_runs(repository: Path) -> None:
    mark = repository / "ran"
    spy = repository / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {mark}\n")
    spy.chmod(0o755)
    config = ["git", "-C", str(repository), "config", "core.fsmonitor", str(spy)]
    subprocess.run(config, check=True)
    assert travels(str(repository / "file"), ENV) == "untracked"
    assert not mark.exists()
