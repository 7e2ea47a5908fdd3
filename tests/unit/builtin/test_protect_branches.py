"""Protected branches: by the words of git commands, and by what is checked out where they run."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert

from hookline.builtin import protect_branches
from hookline.model.answers import Answer, Verdict
from hookline.model.events import PreToolUse
from hookline.model.ports import Caller
from hookline.model.tools import tool
from hookline.testing import assert_denied, assert_passed, fire, shell


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One with ``main`` checked out, a branch ``feature``, and a work tree ``wt`` that is on it."""
    path = tmp_path_factory.mktemp("repository")

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", path, *words], check=True, capture_output=True, env=ENV)

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "first")
    git("branch", "feature")
    git("worktree", "add", "-q", str(path / "wt"), "feature")
    return path


ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


def answered(command: str, cwd: Path, **options: Any) -> Answer:
    """What is said about a command."""
    guard = protect_branches.make(convert(options, protect_branches.Options))
    return guard(shell(command, cwd=str(cwd)), Caller(env={"HOME": str(cwd)}))


ON_MAIN = [
    "git commit -m x",
    "git commit --amend --no-edit",
    "git cherry-pick abc",
    "git revert HEAD",
    "git merge feature",
    "git pull origin feature",
    "git rebase feature",
    "git reset --hard HEAD~1",
    "git reset HEAD^",
    "git push",
    "git push origin",
    "git push -u origin HEAD",
    "git push --force",
    "git branch -m other",
]
BY_NAME = [
    "git push origin main",
    "git push -f origin main",
    "git push origin +feature:main",
    "git push origin HEAD:main",
    "git push origin HEAD:refs/heads/main",
    "git push origin :main",
    "git push --delete origin main",
    "git push origin feature release/1.0",
    "git push --all",
    "git push --mirror",
    "git branch -D main",
    "git branch -f main feature",
    "git branch -M feature main",
    "git checkout -B main",
    "git switch -C master",
    "git update-ref refs/heads/main HEAD~1",
    "git update-ref -d refs/heads/main",
    "git fetch origin feature:main",
    "git rebase feature main",
    "git -c alias.p='push -f' p origin main",
]


@pytest.mark.parametrize("command", ON_MAIN + BY_NAME)
def test_what_acts_on_a_protected_branch_is_denied(command: str, repository: Path) -> None:
    answer = answered(command, repository)
    assert answer.verdict is Verdict.DENY
    assert answer.metadata["category"] == "protected-branch"


@pytest.mark.parametrize("command", ON_MAIN)
def test_the_same_is_fine_on_a_branch_of_its_own(command: str, repository: Path) -> None:
    assert answered(command, repository / "wt").verdict is Verdict.PASS


@pytest.mark.parametrize("command", BY_NAME)
def test_a_branch_that_is_named_counts_wherever_one_is(command: str, repository: Path) -> None:
    assert answered(command, repository / "wt").verdict is Verdict.DENY


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git log main",
        "git diff main...feature",
        "git fetch origin main",
        "git pull",
        "git pull --ff-only origin main",
        "git merge --ff-only origin/main",
        "git merge --abort",
        "git rebase --abort",
        "git reset HEAD a.py",
        "git reset --hard",
        "git commit --dry-run -m x",
        "git push --dry-run origin main",
        "git push --tags",
        "git push origin v1.2",
        "git push origin feature",
        "git branch -D feature",
        "git branch --list 'main*'",
        "git checkout main",
        "git checkout -- main",
        "git tag main-1",
        "echo 'git push origin main'",
        "grep -rn 'git push origin main' docs",
        "git stash",
    ],
)
def test_what_only_looks_or_acts_on_other_branches_passes(command: str, repository: Path) -> None:
    assert answered(command, repository).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("git checkout -b topic && git commit -m x", Verdict.PASS),
        ("git switch feature && git push", Verdict.PASS),
        ("git checkout feature && git commit -m x", Verdict.PASS),
        # When the checkout fails, the commit is made on main.
        ("git checkout feature; git commit -m x", Verdict.DENY),
        ("git checkout nothing && git commit -m x", Verdict.DENY),
        ("cd wt && git commit -m x", Verdict.PASS),
        ("cd wt && git checkout main && git commit -m x", Verdict.DENY),
        ("git -C wt commit -m x", Verdict.PASS),
        ('git -C "$PWD/wt" commit -m x', Verdict.PASS),
        ("cd wt && git -C .. commit -m x", Verdict.DENY),
        ("cd / && git commit -m x", Verdict.PASS),
    ],
)
def test_it_follows_where_the_command_goes(
    command: str, verdict: Verdict, repository: Path
) -> None:
    assert answered(command, repository).verdict is verdict


@pytest.mark.parametrize(
    "command",
    [
        "sudo git push origin main",
        "env A=b git push origin main",
        "bash -c 'git push origin main'",
        "g''it push origin main",
        "/usr/bin/git push origin main",
        "true && (git push origin main)",
        "B=main; git push origin $B",
        "eval git push origin main",
        "echo $(git push origin main)",
    ],
)
def test_no_wrapping_hides_a_push(command: str, repository: Path) -> None:
    assert answered(command, repository / "wt").verdict is Verdict.DENY


@pytest.mark.parametrize(
    "command",
    [
        "git push origin $BRANCH",
        "git push origin $(cat name)",
        "gh pr merge 3 --squash",
        "git push 'unclosed",
        "git push origin main" + " " * 70_000,
    ],
)
def test_what_cannot_be_told_is_asked(command: str, repository: Path) -> None:
    assert answered(command, repository / "wt").verdict is Verdict.ASK


def test_what_is_allowed_passes_and_what_is_asked_is_asked(repository: Path) -> None:
    options: dict[str, Any] = {"allow": ["commit"], "ask": ["push"]}
    assert answered("git commit -m x", repository, **options).verdict is Verdict.PASS
    assert answered("git push", repository, **options).verdict is Verdict.ASK
    assert answered("git push -f", repository, **options).verdict is Verdict.DENY
    both = answered("git push && git push -f", repository, **options)
    assert both.verdict is Verdict.DENY


def test_to_allow_a_push_does_not_allow_a_forced_one(repository: Path) -> None:
    assert answered("git push -f", repository, allow=["push"]).verdict is Verdict.DENY


def test_branches_are_globs(repository: Path) -> None:
    options = {"branches": ["prod-*"]}
    assert answered("git push origin prod-eu", repository, **options).verdict is Verdict.DENY
    assert answered("git push origin main", repository, **options).verdict is Verdict.PASS


def test_outside_of_a_repository_only_names_count(tmp_path: Path) -> None:
    assert answered("git commit -m x", tmp_path).verdict is Verdict.PASS
    assert answered("git push origin main", tmp_path).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("name", "input", "verdict"),
    [
        ("mcp__github__push_files", {"branch": "main"}, Verdict.DENY),
        ("mcp__github__create_or_update_file", {"branch": "refs/heads/main"}, Verdict.DENY),
        ("mcp__github__push_files", {"branch": "feature"}, Verdict.PASS),
        ("mcp__github__get_file_contents", {"branch": "main"}, Verdict.PASS),
    ],
)
def test_tools_of_servers_that_write_to_a_branch_are_judged_by_it(
    name: str, input: dict[str, str], verdict: Verdict
) -> None:
    guard = protect_branches.make(protect_branches.Options())
    assert guard(PreToolUse(tool=tool(name, **input)), Caller()).verdict is verdict


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"branches": []}, "name at least one"),
        ({"branches": [""]}, "cannot be empty"),
        ({"allow": ["shove"]}, "shove"),
    ],
)
def test_a_bad_option_is_refused_in_words_that_help(options: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        convert(options, protect_branches.Options)


CONFIG = """
version: 1
hooks:
  - use: protect-branches
    with: {branches: [main], allow: [commit]}
"""


def test_it_works_from_a_config(repository: Path) -> None:
    cwd = str(repository)
    assert_denied(fire(CONFIG, shell("git push", cwd=cwd)), "a push to `main`")
    assert_passed(fire(CONFIG, shell("git commit -m x", cwd=cwd)))
