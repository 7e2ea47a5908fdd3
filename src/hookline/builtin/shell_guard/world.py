"""Where things are: which place a path is in, once every variable and link is followed.

Looks at the disk, with a few calls for each path, and never changes anything.
"""

import os
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from fnmatch import fnmatchcase, translate
from functools import cache, lru_cache
from pwd import getpwnam
from typing import Protocol

from msgspec import Struct

__all__ = ["MAX_STEPS", "Place", "Where", "World", "is_build_name", "is_junk", "is_of_system"]


class Place(Enum):
    """What a path belongs to, as far as its loss is concerned."""

    SYSTEM = "the system"
    HOME = "a home directory"
    PERSONAL = "someone's own files"
    MOUNT = "a mounted disk"
    DEVICE = "a device"
    PROJECT_TOP = "the project as a whole"
    GIT = "the repository's history"
    PROJECT = "the project"
    BUILD = "what a build or a cache makes again"
    TEMP = "temporary files"
    GUARD = "what guards the agent"
    NOWHERE = "nothing"
    ELSEWHERE = "another directory"
    UNKNOWN = "a place that cannot be told"


_BUILD = frozenset({
    "build", "dist", "target", "node_modules", "__pycache__", ".cache", "coverage", "out", ".next",
    ".nuxt", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".venv", "venv", "tmp",
    "temp", ".tmp", ".turbo", ".parcel-cache", "htmlcov", "obj", ".gradle", ".terraform", "Pods",
    "DerivedData", "logs", "log", ".nyc_output", "_build", ".svelte-kit", ".output", ".eggs",
    ".hypothesis", ".serverless", ".vite", ".angular", ".dart_tool", "bower_components",
    "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "scratch", "_site", ".docusaurus",
    "test-results", "playwright-report", "storybook-static", ".aws-sam", "cdk.out", ".stack-work",
    "cache", "caches",
})  # fmt: skip
_BUILD_LIKE = frozenset({
    "*.egg-info", "cmake-build-*", "bazel-*", "*.dSYM", "build-*", "*-build", "tmp.*",
})  # fmt: skip
_JUNK = frozenset({
    "*.pyc", "*.pyo", "*.o", "*.obj", "*.a", "*.log", "*.log.*", "*.tmp", "*.temp", "*.bak",
    "*.orig", "*.rej", "*.swp", "*.swo", "*~", "*.class", ".DS_Store", "*.egg-info", "*.gcda",
    "*.gcno", "*.gcov", "*.tsbuildinfo", ".coverage", ".coverage.*", "*.pid", "core.*", "*.prof",
    "*.old", "__pycache__", "*.whl", "*.elc", "Thumbs.db", "*.cache", "*.aux", "*.out", "*.d",
    ".eslintcache", "*.stackdump", "*.pyc.*", "nohup.out", "*.py[co]", "*.py[cod]",
})  # fmt: skip
_SYSTEM = frozenset({
    "bin", "boot", "dev", "etc", "lib", "lib32", "lib64", "libx32", "opt", "proc", "run", "sbin",
    "srv", "sys", "usr", "var", "System", "Library", "Applications", "nix", "snap", "efi", "cores",
})  # fmt: skip
_MOUNTS = frozenset({"mnt", "media", "Volumes", "cygdrive"})
# Where programs keep such files, not where we do.
_TEMPS = ("/tmp", "/var/tmp", "/private/tmp", "/dev/shm", "/var/folders")  # noqa: S108
_NOWHERE = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero"})
_FOREIGN_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root")
_CACHES = (".cache", ".npm/_cacache", "Library/Caches", ".cargo/registry", ".gradle/caches")
# What package managers fetch again.
_SYSTEM_CACHES = (
    "/var/lib/apt/lists",
    *(f"/var/cache/{manager}" for manager in ("apk", "apt", "dnf", "pacman", "yum")),
)
# Below /usr/local: what is installed there as a whole lies beside these.
_LOCAL = frozenset({"bin", "etc", "games", "include", "lib", "lib64", "man", "sbin", "share"})
# A step is one command judged or one path looked up, some fifty microseconds. The largest scripts
# that a Debian system comes with need about half of these.
MAX_STEPS = 2_000

# Files in which agents and hookline are told what to do; under the home or any project.
_GUARD = re.compile(
    r"(?:^|/)(?:hookline\.ya?ml$|\.hookline(?:/|$)|\.claude/settings[\w.]*\.json$"
    r"|\.claude/hooks(?:/|$)"
    r"|\.codex/(?:hooks\.json|config\.toml)$|\.gemini/settings\.json$|\.cursor/hooks\.json$"
    r"|\.github/hooks(?:/|$)|\.opencode/plugins?(?:/|$)|\.config/opencode/plugins?(?:/|$)"
    r"|\.kodelet/hooks(?:/|$)|\.pi/extensions(?:/|$)|\.config/hookline(?:/|$)"
    r"|\.local/state/hookline(?:/|$)|\.copilot/hooks(?:/|$)|\.git/hooks(?:/|$))"
    r"|^/etc/hookline(?:/|$)"
)


def is_build_name(name: str) -> bool:
    """Whether a directory of this name is made again by a build."""
    return name in _BUILD or _any_of(_BUILD_LIKE).match(name) is not None


def is_junk(name: str) -> bool:
    """Whether files of this name, or this pattern, are left-overs."""
    return name in _JUNK or _any_of(_JUNK).match(name) is not None


@cache
def _any_of(globs: frozenset[str]) -> re.Pattern[str]:
    """One regex for many globs, made when the first name is looked at."""
    return re.compile("|".join(map(translate, sorted(globs))))


@lru_cache(64)  # it is about names alone
def is_of_system(path: str) -> bool:
    """Whether a path without links is the root, or of the system whatever a project says."""
    if any(path.startswith(f"{root}/") for root in _TEMPS) or _found(path):
        return False
    return _outside(path) in (Place.SYSTEM, Place.DEVICE)


class Where(Protocol):
    """Where an event happens; all of it without links."""

    @property
    def cwd(self) -> str:
        """The directory in which the command runs."""

    @property
    def project(self) -> str:
        """The project's top."""

    @property
    def homes(self) -> tuple[str, ...]:
        """What `~` is, and then the account's own, where the environment names another one."""


class World(Struct, frozen=True, kw_only=True):
    """The places of one event: home, project, temporary directories."""

    where: Where
    env: Mapping[str, str] = {}
    protect: tuple[str, ...] = ()
    left_open: bool = False
    """Whether the platform lets an agent type into a command that still runs, unseen by hooks."""
    depth: int = 0
    """Code inside code so far."""
    steps: list[int] = []
    """What was done for this event so far; one list for all that is nested in it."""

    @property
    def cwd(self) -> str:
        """The directory in which the command runs."""
        return self.where.cwd

    @property
    def project(self) -> str:
        """The project's top."""
        return self.where.project

    @property
    def home(self) -> str:
        """What `~` is."""
        return self.where.homes[0]

    def spend(self, steps: int = 1) -> bool:
        """Whether that much more may be done; what is not paid for is not to be done."""
        so_far = self.steps
        so_far[:] = (so_far[0] + steps if so_far else steps,)
        if so_far[0] <= MAX_STEPS:
            return True
        so_far[0] = MAX_STEPS + 1
        return False

    @property
    def spent(self) -> int:
        """How much was done so far."""
        return self.steps[0] if self.steps else 0

    @property
    def exhausted(self) -> bool:
        """Whether more was asked for than one event may take."""
        return self.spent > MAX_STEPS

    def user_home(self, name: str) -> str:
        """The home of a user of this machine, by name."""
        try:
            return getpwnam(name).pw_dir
        except (KeyError, ValueError):
            return f"/home/{name}"

    def is_temp(self, path: str) -> bool:
        """Whether the path is inside a temporary directory."""
        given = self.env.get("TMPDIR", "")
        roots = (*_TEMPS, os.path.normpath(given)) if given.startswith("/") else _TEMPS
        return any(path.startswith(f"{root}/") or path == root for root in roots)

    def real(self, path: str, *, follow: bool = False) -> str:
        """The path without links; the last part is followed only if asked for."""
        try:
            if follow or path.endswith("/"):
                return os.path.realpath(path)
            head, tail = os.path.split(os.path.normpath(path))
            if head in (self.cwd, self.project, self.home):
                return os.path.join(head, tail)  # those are without links already
            return os.path.join(os.path.realpath(head), tail)
        except (OSError, ValueError):
            return os.path.normpath(path)

    def place(self, path: str) -> Place:
        """The place of a path that is absolute and without links."""
        if path in _NOWHERE or path.startswith(("/dev/fd/", "/proc/self/fd/")):
            return Place.NOWHERE
        if _GUARD.search(path) or any(self._is_above(path, each) for each in self.protect):
            return Place.GUARD
        if self.project and self._is_above(path, self.project):
            return self._in_project(path[len(self.project) + 1 :])
        for home in (self.home, *_found(path)):
            if home and self._is_above(path, home):
                return self._in_home(path, home)
        if self._covers(path):
            return Place.HOME
        if self.is_temp(path):
            return Place.TEMP
        outside = _outside(path)
        if outside is Place.ELSEWHERE:
            for home in self.where.homes[1:]:
                if self._is_above(path, home):
                    return self._in_home(path, home)
        return outside

    def _is_above(self, path: str, root: str) -> bool:
        return path == root or path.startswith(root.rstrip("/") + "/")

    def _covers(self, path: str) -> bool:
        """Whether the home or the project lies in it."""
        inside = path.rstrip("/") + "/"
        roots = (self.project, *self.where.homes)
        return any(each.startswith(inside) for each in roots) and path != "/"

    def _in_project(self, inner: str) -> Place:
        if not inner:
            return Place.PROJECT_TOP
        parts = inner.split("/")
        if parts[0] == ".git" or (parts[-1] == ".git" and len(parts) < 4):
            return Place.GIT
        return Place.BUILD if any(is_build_name(part) for part in parts) else Place.PROJECT

    def _in_home(self, path: str, home: str) -> Place:
        if path == home:
            return Place.HOME
        if self.project and self._is_above(self.project, path):
            return Place.PROJECT_TOP
        inner = path[len(home.rstrip("/")) + 1 :]
        # All of `.cache` is more than one program's.
        if inner in _CACHES[1:] or any(inner.startswith(f"{cache}/") for cache in _CACHES):
            return Place.BUILD
        parts = inner.split("/")
        if len(parts) > 1 and any(is_build_name(part) for part in parts[1:]):
            return Place.BUILD
        # `../app-build`, beside a project that is called `app`.
        beside, name = os.path.split(self.project)
        if os.path.dirname(path) == beside and name in parts[-1] and is_build_name(parts[-1]):
            return Place.BUILD
        return Place.PERSONAL

    def reached(self, pattern: str) -> Iterator[str]:
        """Paths that matter and that an absolute pattern could stand for, itself or above them."""
        wanted = pattern.rstrip("/").split("/")
        roots = [self.home, self.project, *(f"/{name}" for name in sorted(_SYSTEM)), "/home"]
        for root in roots:
            parts = root.split("/")
            if root and len(wanted) <= len(parts):
                pairs = zip(wanted, parts, strict=False)
                if all(fnmatchcase(part, glob) for glob, part in pairs):
                    yield "/".join(parts[: len(wanted)]) or "/"


def _found(path: str) -> list[str]:
    match = _FOREIGN_HOME.match(path)
    return [match.group()] if match is not None else []


def _outside(path: str) -> Place:
    parts = path.split("/")
    if len(parts) < 2 or not parts[1] or parts[1] in ("home", "Users"):
        return Place.SYSTEM
    if parts[1] == "dev":
        return Place.DEVICE
    if parts[1] in _MOUNTS:
        return Place.MOUNT
    if any(path.startswith(f"{cache}/") for cache in _SYSTEM_CACHES) or path in _SYSTEM_CACHES:
        return Place.BUILD
    if parts[1:3] == ["usr", "local"] and len(parts) > 4 and parts[3] not in _LOCAL:
        return Place.ELSEWHERE
    if parts[1] in _SYSTEM:
        return Place.SYSTEM
    return Place.BUILD if any(is_build_name(part) for part in parts[2:]) else Place.ELSEWHERE
