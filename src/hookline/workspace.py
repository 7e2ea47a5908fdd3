"""What the work is about: its repository, branch and issue, from git's own files and from CI.

Starts no process and asks no configuration but the addresses of remotes. The environment is the
caller's, and says only what git's files do not: a repository can set variables of an agent.
"""

import os
import re
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from hookline.files import text_of
from hookline.model.events import Event, Workspace
from hookline.model.ports import Caller

__all__ = [
    "IN_REFTABLE",
    "Checkout",
    "checkout_at",
    "find_place",
    "find_workspaces",
    "with_workspace",
]

T = TypeVar("T")

_LONGEST = 1 << 20
_MOST_KEPT = 256
# Nanoseconds after which a second change within one tick of the clock cannot be missed.
_SETTLED = 2_000_000_000
_REF = "ref: refs/heads/"
IN_REFTABLE = ".invalid"
"""What git's files call every branch where only git itself can read which one it is."""
# Up to a query or a fragment, without the host and whoever logs in there.
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://[^/]+|(?:[^/@:]+@)?[^/@:]{2,}:)/*([^?#]+)", re.I)
_NOT_NAMES = re.compile(r"^v3/|(?<=/)_git/|\.git/?$|/$")
_NAME = re.compile(r"[\w.~+%-]+(?:/[\w.~+%-]+)+")
_REMOTE = re.compile(r'\[\s*remote\s+"((?:[^"\\]|\\.)*)"\s*\]', re.I)
_URL = re.compile(r"\s*url\s*=\s*\"?([^\s\"]+)", re.I)

_REPOSITORY = (
    "GITHUB_REPOSITORY",
    "CI_PROJECT_PATH",
    "BITBUCKET_REPO_FULL_NAME",
    "BUILD_REPOSITORY_URI",
    "BUILD_REPOSITORY_NAME",
    "TRAVIS_REPO_SLUG",
    "DRONE_REPO",
    "CIRCLE_REPOSITORY_URL",
    "BUILDKITE_REPO",
    "SEMAPHORE_GIT_REPO_SLUG",
    "APPVEYOR_REPO_NAME",
    "CODEBUILD_SOURCE_REPO_URL",
    "CI_REPO",
    "GIT_URL",
)
# Of a pull request the branch that it comes from, before the one that it goes to.
_BRANCH = (
    "GITHUB_HEAD_REF",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
    "SYSTEM_PULLREQUEST_SOURCEBRANCH",
    "TRAVIS_PULL_REQUEST_BRANCH",
    "DRONE_SOURCE_BRANCH",
    "CI_COMMIT_SOURCE_BRANCH",
    "SEMAPHORE_GIT_PR_BRANCH",
    "APPVEYOR_PULL_REQUEST_HEAD_REPO_BRANCH",
    "CHANGE_BRANCH",
    "GITHUB_REF_NAME",
    "CI_COMMIT_BRANCH",
    "BUILD_SOURCEBRANCH",
    "BUILD_SOURCEBRANCHNAME",
    "BITBUCKET_BRANCH",
    "CIRCLE_BRANCH",
    "TRAVIS_BRANCH",
    "DRONE_BRANCH",
    "BUILDKITE_BRANCH",
    "SEMAPHORE_GIT_BRANCH",
    "APPVEYOR_REPO_BRANCH",
    "CODEBUILD_WEBHOOK_HEAD_REF",
    "BRANCH_NAME",
    "GIT_LOCAL_BRANCH",
    "GIT_BRANCH",
)
# Some services tell a tag as a branch, and beside it as what it is.
_TAG = (
    "BUILD_SOURCEBRANCH",
    "BUILDKITE_TAG",
    "TRAVIS_TAG",
    "DRONE_TAG",
    "TAG_NAME",
    "APPVEYOR_REPO_TAG_NAME",
)
# A key as in Jira, a number after a word that says what it is, or one that a part begins with.
_ISSUE = re.compile(
    r"(?:^|/)(?:([A-Z][A-Z0-9]+-\d+)(?![\w.])"
    r"|(?:\w+[-_])?(?:issues?|gh|bug|fix|ticket)[-_/]?#?(\d+)(?![\w.])"
    r"|#?(\d{1,7})(?=[-_]|$)(?!-\d\d-))"
)
_NO_ISSUE = re.compile(r"(?:releases?|support|dependabot|renovate)/")


class Checkout(NamedTuple):
    """A work tree: its git directory, and the branch it is on; empty when on none."""

    git_dir: str
    branch: str

    @property
    def common_dir(self) -> str:
        """What linked work trees share; the git directory in all others."""
        common = _read(os.path.join(self.git_dir, "commondir"))
        return os.path.normpath(os.path.join(self.git_dir, common)) if common else self.git_dir

    def shares(self, other: "Checkout") -> bool:
        """Whether both are work trees of one repository."""
        return os.path.realpath(self.common_dir) == os.path.realpath(other.common_dir)

    def has_branch(self, name: str) -> bool:
        """Whether there is a branch of that name."""
        folder = self.common_dir
        if os.path.isfile(os.path.join(folder, "refs", "heads", name)):
            return True
        packed = text_of(os.path.join(folder, "packed-refs"), _LONGEST)
        return f" refs/heads/{name}\n" in packed

    def read_repository(self) -> str:
        """``owner/name`` in the address of ``origin``, else of the first remote; or empty."""
        return _read(os.path.join(self.common_dir, "config"), _repository_in)


def checkout_at(directory: str) -> Checkout | None:
    """The work tree that a directory is in; None outside of any."""
    while os.path.isabs(directory):
        found = _git_dir(directory)
        if found:
            return Checkout(found, _read(os.path.join(found, "HEAD"), _branch_of))
        above = os.path.dirname(directory)
        if above == directory:
            break
        directory = above
    return None


def _branch_of(head: str) -> str:
    head = head.strip()
    return head.removeprefix(_REF) if head.startswith(_REF) else ""


def _git_dir(directory: str) -> str:
    path = os.path.join(directory, ".git")
    if os.path.isdir(path):
        return path
    # Of a linked work tree or a submodule: a file that says where it is.
    said = _read(path)
    if said.startswith("gitdir:"):
        return os.path.join(directory, said.removeprefix("gitdir:").strip())
    bare = os.path.isfile(os.path.join(directory, "HEAD"))
    return directory if bare and os.path.isdir(os.path.join(directory, "refs")) else ""


def _read(path: str, parse: Callable[[str], str] = str.strip) -> str:
    """What is in a file; kept as long as the file is the same, since agents wait for us."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return ""
    stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    kept = _kept.get(path)
    if kept is not None and kept[0] == stamp:
        return kept[1]
    value = parse(text_of(path, _LONGEST))
    if abs(time.time_ns() - status.st_ctime_ns) > _SETTLED:
        _keep(_kept, path, (stamp, value))
    return value


def find_workspaces(event: Event, caller: Caller) -> tuple[Workspace, ...]:
    """What is known of the project, and of the event's directory where that is in another checkout.

    An agent can leave a project's directory, or work in a linked work tree: a hook for the branch
    of either is meant. What the client says of the workspace comes before what is read.
    """
    found = _find_checkouts(event, caller)
    return tuple(dict.fromkeys(_read_workspace(each, event, caller.env) for each in found))


def with_workspace(event: Event, caller: Caller) -> Event:
    """The event with what is known of its workspace, for a hook that reads the whole event."""
    project, *others = _find_checkouts(event, caller)
    # Of a project's linked work trees the one counts where the agent is.
    linked = (each for each in others if project and each and each.shares(project))
    workspace = _read_workspace(next(linked, project), event, caller.env)
    branch = "" if workspace.branch == IN_REFTABLE else workspace.branch
    workspace = replace(workspace, branch=branch, issue=workspace.issue or _issue_in(branch))
    if workspace == (event.workspace or _NOTHING):
        return event
    return replace(event, workspace=workspace)


def find_place(event: Event, caller: Caller) -> tuple[str, Workspace]:
    """Where the project's repository is kept, the same for its linked work trees; outside of git
    the project's directory. And what is known of it; ``IN_REFTABLE`` may stand for the branch.
    """
    directory = caller.project_dir or event.cwd
    checkout = _find_checkout(directory)
    workspace = with_workspace(event, caller).workspace or _NOTHING
    if checkout is not None and not workspace.branch:
        workspace = replace(workspace, branch=checkout.branch)
    return os.path.realpath(checkout.common_dir if checkout else directory), workspace


def _find_checkouts(event: Event, caller: Caller) -> list[Checkout | None]:
    places = dict.fromkeys(filter(None, (caller.project_dir, event.cwd))) or ("",)
    return list(dict.fromkeys(map(_find_checkout, places)))


def _find_checkout(directory: str) -> Checkout | None:
    """As ``checkout_at``; where that was is remembered, and what is checked out there is read."""
    git_dir = _git_dirs.get(directory)
    if git_dir is not None and (branch := _read(f"{git_dir}/HEAD", _branch_of)):
        return Checkout(git_dir, branch)
    found = checkout_at(directory)
    if found is not None:
        _keep(_git_dirs, directory, found.git_dir)
    return found


def _keep(kept: dict[str, T], key: str, value: T) -> None:
    if len(kept) >= _MOST_KEPT:
        kept.clear()
    kept[key] = value


def _read_workspace(checkout: Checkout | None, event: Event, env: Mapping[str, str]) -> Workspace:
    told = event.workspace or _NOTHING
    repository = told.repository or (checkout.read_repository() if checkout else "")
    branch = told.branch or (checkout.branch if checkout else "")
    if not (repository and branch):
        given = (_name_in(env[key]) for key in _REPOSITORY if key in env)
        known = next(filter(None, given), "")
        if not repository or repository.lower() == known.lower():
            repository, branch = repository or known, branch or _find_ci_branch(env)
    return Workspace(repository=repository, branch=branch, issue=told.issue)


def _find_ci_branch(env: Mapping[str, str]) -> str:
    tags = {env.get(key, "").removeprefix("refs/tags/") for key in _TAG}
    for key in _BRANCH:
        branch = env.get(key, "")
        if key == "GIT_BRANCH":
            branch = branch.removeprefix("origin/")
        if not branch.startswith("refs/") and branch in tags:
            continue
        if branch.startswith("refs/") and not branch.startswith("refs/heads/"):
            continue  # a tag, or a merge that the service has made
        is_tag = key == "GITHUB_REF_NAME" and env.get("GITHUB_REF_TYPE", "branch") != "branch"
        if branch and not is_tag:
            return branch.removeprefix("refs/heads/")
    return ""


def _repository_in(config: str) -> str:
    addresses: dict[str, str] = {}
    remote = ""
    for line in config.splitlines():
        if line.lstrip().startswith("["):
            section = _REMOTE.match(line.lstrip())
            remote = section[1] if section else ""
        elif remote and (url := _URL.match(line)):
            addresses.setdefault(remote, url[1])
    return _name_in(addresses.get("origin") or next(iter(addresses.values()), ""))


def _name_in(address: str) -> str:
    """``owner/name`` of an address or of a name; empty for a directory."""
    if address.startswith(("/", ".", "~", "file:")):
        return ""
    found = _ADDRESS.match(address)
    name = _NOT_NAMES.sub("", (found[1] if found else address).strip("/"))
    return name if _NAME.fullmatch(name) else ""


def _issue_in(branch: str) -> str:
    found = None if _NO_ISSUE.match(branch) else _ISSUE.search(branch)
    return next(filter(None, found.groups()), "") if found else ""


_NOTHING = Workspace()
_kept: dict[str, tuple[tuple[int, ...], str]] = {}
_git_dirs: dict[str, str] = {}
