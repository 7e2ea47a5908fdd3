"""Repository, branch and issue, as git itself and the environment of CI services tell them."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.model.events import PreToolUse, Workspace
from hookline.model.ports import Caller
from hookline.workspace import find_workspaces, with_workspace
from support.hostile_git import Traps, configure, git

ORIGIN = "git@github.com:acme/app.git"


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    """A repository on a branch of its own, with a remote."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q", "-b", "feat/145-hooks")
    git(project, "remote", "add", "upstream", "https://github.com/other/fork")
    git(project, "remote", "add", "origin", ORIGIN)
    git(project, "commit", "-q", "--allow-empty", "-m", "first")
    return project


def at(project: Path, cwd: Path | None = None, **env: str) -> Workspace:
    event = PreToolUse(cwd=str(cwd or project))
    found = with_workspace(event, Caller(env=env, project_dir=str(project))).workspace
    return found or Workspace()


def test_gits_files_tell_repository_branch_and_issue(project: Path) -> None:
    assert at(project) == Workspace(repository="acme/app", branch="feat/145-hooks", issue="145")
    below = project / "src/deep"
    below.mkdir(parents=True)
    assert at(below, below) == at(project)


def test_a_branch_that_is_switched_to_is_seen_at_once(project: Path) -> None:
    # Old enough for what was read to be kept.
    for name in ("HEAD", "config"):
        os.utime(project / ".git" / name, (0, 0))
    for branch in ("main", "fix-7", "main"):
        git(project, "switch", "-q", "-C", branch)
        assert at(project).branch == branch
    git(project, "remote", "set-url", "origin", "https://gitlab.com/group/part/name")
    assert at(project).repository == "group/part/name"


def test_a_head_that_was_read_is_read_again_when_it_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.workspace._SETTLED", 0)  # what is read is kept at once
    assert at(project).branch == "feat/145-hooks"
    git(project, "switch", "-q", "-c", "fix/146-hooks")
    assert (at(project).branch, at(project).issue) == ("fix/146-hooks", "146")


def test_what_has_not_changed_is_not_read_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hookline.workspace._SETTLED", 0)
    first = at(project)
    monkeypatch.setattr("hookline.workspace.text_of", lambda path, limit: pytest.fail(path))
    assert at(project) == first


def test_in_a_linked_work_tree_its_own_branch_counts(project: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    git(project, "worktree", "add", "-q", "-b", "fix-9", str(linked))
    assert at(project, linked) == Workspace(repository="acme/app", branch="fix-9", issue="9")
    event, caller = PreToolUse(cwd=str(linked)), Caller(project_dir=str(project))
    assert [each.branch for each in find_workspaces(event, caller)] == ["feat/145-hooks", "fix-9"]


def test_in_another_repository_the_projects_facts_stay(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q", "-b", "wild")
    assert at(project, other).branch == "feat/145-hooks"
    assert at(project, tmp_path).repository == "acme/app"


def test_nothing_of_a_hostile_repository_runs(tmp_path: Path) -> None:
    traps = Traps(tmp_path)
    root = traps.repository(tmp_path / "root")
    configure(root, {"remote.origin.url": "ext::sh -c true%20acme/app"})
    traps.sprung()  # as it was made
    assert at(root) == Workspace(branch="main")
    assert traps.sprung() == set()


def test_a_head_that_is_no_file_holds_nothing_up(project: Path) -> None:
    (project / ".git/HEAD").unlink()
    os.mkfifo(project / ".git/HEAD")
    assert at(project) == Workspace(repository="acme/app")


CI = {
    "github": {"GITHUB_REPOSITORY": "acme/app", "GITHUB_REF_NAME": "main"},
    "github pull request": {
        "GITHUB_REPOSITORY": "acme/app",
        "GITHUB_HEAD_REF": "main",
        "GITHUB_REF_NAME": "12/merge",
    },
    "gitlab": {"CI_PROJECT_PATH": "acme/app", "CI_COMMIT_BRANCH": "main"},
    "azure": {
        "BUILD_REPOSITORY_NAME": "acme/app",
        "BUILD_SOURCEBRANCH": "refs/heads/main",
        "BUILD_SOURCEBRANCHNAME": "wrong",
    },
    "bitbucket": {"BITBUCKET_REPO_FULL_NAME": "acme/app", "BITBUCKET_BRANCH": "main"},
    "buildkite": {"BUILDKITE_REPO": ORIGIN, "BUILDKITE_BRANCH": "main"},
    "jenkins": {"GIT_URL": "https://github.com/Acme/App.git", "GIT_BRANCH": "origin/main"},
    "jenkins pull request": {
        "GIT_URL": ORIGIN,
        "BRANCH_NAME": "PR-3",
        "CHANGE_BRANCH": "main",
    },
    "woodpecker": {"CI_REPO": "acme/app", "CI_COMMIT_BRANCH": "main"},
    "codebuild": {
        "CODEBUILD_SOURCE_REPO_URL": "https://github.com/acme/app.git",
        "CODEBUILD_WEBHOOK_HEAD_REF": "refs/heads/main",
    },
}


@pytest.mark.parametrize("env", CI.values(), ids=CI)
def test_a_ci_service_tells_what_git_does_not(env: dict[str, str], tmp_path: Path) -> None:
    found = at(tmp_path, **env)
    assert (found.repository.lower(), found.branch) == ("acme/app", "main")


@pytest.mark.parametrize("env", CI.values(), ids=CI)
def test_a_detached_checkout_has_the_branch_of_its_build(
    env: dict[str, str], project: Path
) -> None:
    git(project, "checkout", "-q", "--detach")
    assert at(project, **env).branch == "main"
    git(project, "remote", "set-url", "origin", "https://github.com/other/app")
    assert at(project, **env) == Workspace(repository="other/app")


def test_azures_own_repositories_are_known_by_their_address(project: Path) -> None:
    git(project, "checkout", "-q", "--detach")
    address = "https://acme@dev.azure.com/acme/web/_git/app"
    git(project, "remote", "set-url", "origin", address)
    env = {
        "BUILD_REPOSITORY_NAME": "app",
        "BUILD_REPOSITORY_URI": address,
        "BUILD_SOURCEBRANCH": "refs/heads/feat/7-x",
    }
    assert at(project, **env) == Workspace(repository="acme/web/app", branch="feat/7-x", issue="7")


def test_variables_do_not_outvote_git(project: Path) -> None:
    env = {"GITHUB_REPOSITORY": "evil/app", "GITHUB_REF_NAME": "harmless"}
    assert at(project, **env) == at(project)


@pytest.mark.parametrize(
    "env",
    [
        {"GITHUB_REF_NAME": "v1", "GITHUB_REF_TYPE": "tag"},
        {"BUILD_SOURCEBRANCH": "refs/tags/v1", "BUILD_SOURCEBRANCHNAME": "v1"},
        {"TRAVIS_BRANCH": "v1", "TRAVIS_TAG": "v1"},
        {"BUILDKITE_BRANCH": "v1", "BUILDKITE_TAG": "v1"},
        {"BRANCH_NAME": "v1", "TAG_NAME": "v1"},
    ],
)
def test_a_tag_is_no_branch(env: dict[str, str], tmp_path: Path) -> None:
    assert at(tmp_path, **env) == Workspace()


def test_what_the_client_says_comes_first(project: Path) -> None:
    event = PreToolUse(cwd=str(project), workspace=Workspace(branch="told", issue="ABC-1"))
    found = with_workspace(event, Caller()).workspace
    assert found == Workspace(repository="acme/app", branch="told", issue="ABC-1")
    assert with_workspace(replace(event, workspace=found), Caller()).workspace is found


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://user:secret@github.com/acme/app.git", "acme/app"),
        ("ssh://git@host.example:22/acme/app", "acme/app"),
        ("host:acme/app.git", "acme/app"),
        ("https://dev.azure.com/org/project/_git/repo", "org/project/repo"),
        ("git@ssh.dev.azure.com:v3/org/project/repo", "org/project/repo"),
        ("/srv/git/app.git", ""),
        ("../app", ""),
        ("file:///srv/git/app.git", ""),
        ("C:/git/app", ""),
    ],
)
def test_a_repository_is_named_by_its_address(address: str, name: str, project: Path) -> None:
    git(project, "remote", "set-url", "origin", address)
    assert at(project).repository == name


@pytest.mark.parametrize(
    ("branch", "issue"),
    [
        ("ABC-12-login", "ABC-12"),
        ("feature/ABC-12", "ABC-12"),
        ("fix-145", "145"),
        ("gh-12", "12"),
        ("claude/issue-55-20250101", "55"),
        ("145", "145"),
        ("main", ""),
        ("release/2024", ""),
        ("v1.2.3", ""),
        ("2024-01-15-notes", ""),
        ("dependabot/npm/lodash-4.17.21", ""),
    ],
)
def test_an_issue_is_found_in_a_branchs_name(branch: str, issue: str, project: Path) -> None:
    git(project, "switch", "-q", "-c", branch)
    assert at(project).issue == issue
