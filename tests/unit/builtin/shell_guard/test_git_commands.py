"""git: uncommitted work and shared history are asked about, everything else is everyday."""

from collections.abc import Callable

import pytest

from hookline.model.answers import Answer, Verdict

Guard = Callable[..., Answer]


@pytest.mark.parametrize(
    "command",
    [
        "git clean -fdx",
        "git -c clean.requireForce=false clean -d",
        "git reset --hard HEAD~1",
        "git reset HEAD~1 --har",
        "git reset --keep HEAD~1",
        "git checkout -- .",
        "git checkout src/app.py",
        "git checkout -f main",
        "git switch --discard-changes main",
        "git restore .",
        "git restore -SW README.md",
        "git read-tree -u --reset HEAD",
        "git push -f",
        "git push --force-with-lease",
        "git push origin +main",
        "git push origin :main",
        "git push --delete origin v1",
        "git push --mirror",
        "git push --all other",
        "git branch -D x",
        "git branch --delete --force x",
        "git tag -d v1",
        "git stash drop",
        "git stash clear",
        "git worktree remove --force ../x",
        "git remote remove origin",
        "git remote set-url origin https://example.com/x",
        "git rebase --root -i",
        "git update-ref -d refs/heads/main",
        "git rm -rf .",
        "git add .env",
        "git show HEAD:.env",
        "git config core.hooksPath /tmp/x",
        "git config alias.x '!rm -rf ~'",
        "git submodule deinit -f x",
        "git prune",
        "/usr/bin/git -C . reset --hard",
    ],
)
def test_work_and_history_are_asked_about(guard: Guard, command: str) -> None:
    assert guard(command).verdict is not Verdict.PASS


@pytest.mark.parametrize(
    "command",
    [
        "git filter-branch --all",
        "git reflog expire --expire=now --all",
        "git gc --prune=now",
        "bfg",
    ],
)
def test_the_last_way_back_is_kept(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.DENY


@pytest.mark.parametrize(
    "command",
    [
        "git status",
        "git commit -m 'git reset --hard'",
        "git commit --amend --no-edit",
        "git push",
        "git push -u origin feature",
        "git push --dry-run --force",
        "git checkout main",
        "git checkout -b feature",
        "git switch -c feature",
        "git restore --staged README.md",
        "git reset --soft HEAD~1",
        "git reset README.md",
        "git clean -nfdx",
        "git clean -fdx build/",
        "git branch -d merged",
        "git stash",
        "git stash pop",
        "git rebase main",
        "git gc",
        "git reflog",
        "git remote add origin git@example.com:x/y",
        "git rm old.py",
        "git config user.name Dev",
        "git config alias.st status",
        "git tag v1",
        "git log -S'rm -rf'",
        "git help push",
    ],
)
def test_the_everyday_passes(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.PASS
