"""Builtins that ask git, in real repositories."""

import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert

import hookline.git
from hookline.builtin import _git, add_git_diff, add_git_status, add_recent_commits
from hookline.model.answers import PASS
from hookline.model.events import Event, SessionStart, TurnStart
from hookline.model.ports import Caller

PATH = "/usr/local/bin:/usr/bin:/bin"
REAL = shutil.which("git", path=PATH)


def git(directory: Path, *words: str) -> None:
    who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
    env = {"PATH": PATH, "HOME": str(directory)}
    subprocess.run(
        ["git", "-C", str(directory), *who, *words], check=True, env=env, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-b", "main")
    return tmp_path


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(env={"PATH": PATH, "HOME": str(tmp_path)})


def said(module: Any, event: Event, caller: Caller, **options: Any) -> str:
    answer = module.make(convert(options, module.Options))(event, caller)
    return "".join(answer.context)


def commit(repository: Path, count: int) -> None:
    for number in range(count):
        git(repository, "commit", "--allow-empty", "-m", f"change {number}")


def test_the_status_is_short_and_names_the_branch(repository: Path, caller: Caller) -> None:
    (repository / "new.py").touch()
    assert said(add_git_status, TurnStart(cwd=str(repository)), caller) == (
        "Current git status:\n\n## No commits yet on main\n?? new.py"
    )


def test_the_latest_commits_are_told_newest_first(repository: Path, caller: Caller) -> None:
    commit(repository, 12)
    lines = said(add_recent_commits, SessionStart(cwd=str(repository)), caller).splitlines()
    assert lines[:2] == ["Recent commits:", ""]
    assert [line.split(" ", 1)[1] for line in lines[2:]] == [
        f"change {number}" for number in range(11, 1, -1)
    ]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        ({"limit": 2}, 2),
        ({"args": ["3"]}, 3),
        ({"args": ["none"]}, 4),
        ({"args": ["0"]}, 4),
        ({"limit": 1, "args": ["3"]}, 1),
    ],
)
def test_how_many_commits_is_an_option(
    repository: Path, caller: Caller, options: dict[str, Any], count: int
) -> None:
    commit(repository, 4)
    found = said(add_recent_commits, SessionStart(cwd=str(repository)), caller, **options)
    assert len(found.splitlines()) == 2 + count


def test_a_limit_below_one_is_refused() -> None:
    with pytest.raises(ValidationError):
        convert({"limit": 0}, add_recent_commits.Options)


def test_a_repository_without_commits_has_none_to_tell(repository: Path, caller: Caller) -> None:
    assert said(add_recent_commits, SessionStart(cwd=str(repository)), caller) == ""


@pytest.mark.parametrize("module", [add_git_status, add_recent_commits])
@pytest.mark.parametrize("directory", [".", "gone", "a\0b"])
def test_outside_a_repository_there_is_nothing_to_tell(
    module: Any, tmp_path: Path, caller: Caller, directory: str
) -> None:
    event = TurnStart(cwd=os.path.join(tmp_path, directory))
    assert module.make(module.Options())(event, caller) is PASS


def test_without_git_there_is_nothing_to_tell(repository: Path) -> None:
    caller = Caller(env={"PATH": str(repository)})
    assert said(add_git_status, TurnStart(cwd=str(repository)), caller) == ""


def test_long_output_is_cut_and_says_so(repository: Path, caller: Caller) -> None:
    for number in range(200):
        (repository / f"{number:03}-{'x' * 30}").touch()
    found = said(add_git_status, TurnStart(cwd=str(repository)), caller)
    assert found.endswith("\n... (truncated)")
    shown = found.removeprefix("Current git status:\n\n").removesuffix("\n... (truncated)")
    assert len(shown.encode()) == 4096


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A work tree beside which there is room for other files."""
    (tmp_path / "work").mkdir()
    git(tmp_path / "work", "init", "-b", "main")
    return tmp_path / "work"


def program(work: Path, script: str) -> Caller:
    """A caller whose ``git`` answers questions about the work tree by a script."""
    fake = work.parent / "git"
    fake.write_text(f'#!/bin/sh\ncase "$*" in *config*) exec /usr/bin/env -i {REAL} "$@";; esac\n')
    with fake.open("a") as file:
        file.write(f"{script}\n")
    fake.chmod(0o755)
    return Caller(env={"PATH": f"{work.parent}:{PATH}"})


def test_output_without_end_is_cut(work: Path) -> None:
    found = _git.ask_git(str(work), program(work, "yes"), "status")
    assert found.endswith("\n... (truncated)")


def test_a_git_that_hangs_is_ended(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hookline.git, "SECONDS", 0.1)
    hanging = program(work, "sleep 1000")
    assert _git.ask_git(str(work), hanging, "status") == ""


def test_the_callers_deadline_ends_it_earlier(work: Path) -> None:
    hanging = program(work, "sleep 1000")
    late = Caller(env=hanging.env, deadline=time.monotonic() - 1)
    assert _git.ask_git(str(work), late, "status") == ""


def test_only_harmless_variables_reach_git(work: Path) -> None:
    listing = program(work, "env | sort")
    evil = {"GIT_DIR": "/x", "GIT_CONFIG_COUNT": "1", "LD_PRELOAD": "/x.so", "PAGER": "evil"}
    found = _git.ask_git(str(work), Caller(env={**listing.env, **evil, "HOME": "/h"}), "x")
    lines = dict(line.split("=", 1) for line in found.splitlines())
    own = {name for name in lines if name.startswith("GIT_")}
    assert set(lines) - own <= {"PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_"}
    assert own == {
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_DIR", "GIT_NO_LAZY_FETCH"),
        *("GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "GIT_WORK_TREE"),
    }
    assert "/h" not in (lines["HOME"], lines["GIT_DIR"])
    assert not os.path.exists(lines["GIT_DIR"])


@pytest.mark.parametrize("entry", [".:", "{}", "{}/../work"])
def test_a_git_in_a_relative_directory_of_the_path_or_in_the_work_tree_is_not_run(
    work: Path, entry: str
) -> None:
    (work / "git").write_text(f"#!/bin/sh\ntouch {work}/started\n")
    (work / "git").chmod(0o755)
    caller = Caller(env={"PATH": f"{entry.format(work)}:{PATH}"})
    assert "?? git" in said(add_git_status, TurnStart(cwd=str(work)), caller)
    assert not (work / "started").exists()


def test_a_repository_cannot_make_a_question_run_its_programs(
    repository: Path, caller: Caller
) -> None:
    trap = repository / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {repository}/sprung\n")
    trap.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(trap))
    git(repository, "config", "core.pager", str(trap))
    git(repository, "config", "gpg.program", str(trap))
    git(repository, "config", "log.showSignature", "true")
    git(repository, "-c", "core.fsmonitor=false", "commit", "--allow-empty", "-m", "x")
    (repository / "sprung").unlink(missing_ok=True)
    assert said(add_git_status, TurnStart(cwd=str(repository)), caller)
    assert said(add_recent_commits, SessionStart(cwd=str(repository)), caller)
    assert not (repository / "sprung").exists()


def test_a_bare_repository_inside_a_checkout_is_none(tmp_path: Path, caller: Caller) -> None:
    git(tmp_path, "init", "--bare")
    assert said(add_git_status, TurnStart(cwd=str(tmp_path)), caller) == ""
    assert said(add_recent_commits, SessionStart(cwd=str(tmp_path)), caller) == ""


def changed(repository: Path) -> Event:
    """A work tree in which one line is new."""
    (repository / "a.py").write_text("one\n")
    git(repository, "add", "a.py")
    git(repository, "commit", "-m", "begin")
    (repository / "a.py").write_text("one\ntwo\n")
    return TurnStart(cwd=str(repository))


def test_the_difference_is_told_in_numbers(repository: Path, caller: Caller) -> None:
    text = said(add_git_diff, changed(repository), caller)
    assert text.startswith("Current working-tree diff (stat):\n\n")
    assert "a.py | 1 +" in text
    assert "+two" not in text


@pytest.mark.parametrize("options", [{"full": True}, {"args": ["full"]}])
def test_the_difference_is_told_whole_where_that_is_asked_for(
    options: dict[str, Any], repository: Path, caller: Caller
) -> None:
    text = said(add_git_diff, changed(repository), caller, **options)
    assert text.startswith("Current working-tree diff:\n\n")
    assert "\n+two" in text


def test_without_a_difference_or_a_repository_nothing_is_told(
    repository: Path, caller: Caller
) -> None:
    assert said(add_git_diff, TurnStart(cwd=str(repository)), caller) == ""
    assert said(add_git_diff, TurnStart(cwd="/"), caller) == ""
    assert said(add_git_diff, TurnStart(), caller) == ""


def test_a_repository_cannot_have_its_own_program_show_the_difference(
    repository: Path, caller: Caller
) -> None:
    event = changed(repository)
    git(repository, "config", "diff.external", "touch started; echo")
    git(repository, "config", "diff.x.textconv", "touch started; cat")
    (repository / ".gitattributes").write_text("*.py diff=x\n")
    assert "+two" in said(add_git_diff, event, caller, full=True)
    assert not (repository / "started").exists()
