"""Asks git about a work tree without running anything that its repository names.

A repository's configuration can name programs: filters, hooks, fsmonitor, textconv, pagers, remote
helpers. So git never works with it. Each question goes to a private git directory: our settings,
the repository's objects as alternates, its references, copies of its index and HEAD. Of its own
settings only those that change what git sees or shows are taken over, by value.
"""

import os
import re
import signal
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, PIPE, Popen
from tempfile import TemporaryDirectory, TemporaryFile
from threading import Timer
from time import monotonic
from typing import NamedTuple

from hookline.files import open_regular

__all__ = [
    "GitError",
    "GitResult",
    "NoGit",
    "Repository",
    "View",
    "build_environment",
    "find_repository",
    "open_view",
    "read_dated",
    "read_settings",
    "run_git",
]

SECONDS = 5.0
"""How long git may take for one question."""
LARGEST_FILE = 256 << 20
_LONGEST_TEXT = 1 << 20
_MEMORY = "/dev/shm"  # noqa: S108 - a directory is made there that is ours alone
_PASSED_ON = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER")
_COPIED = ("HEAD", "index", "shallow", "info/exclude", "info/attributes", "info/sparse-checkout")
_LINKED = ("refs", "packed-refs", "reftable")

# None of them can name a program. By its upstream git tells how far a branch is ahead.
_HONOURED = re.compile(
    r"(?:core\.(?:abbrev|autocrlf|checkstat|eol|filemode|ignorecase|precomposeunicode|quotepath"
    r"|repositoryformatversion|sparsecheckout|sparsecheckoutcone|symlinks|trustctime)"
    r"|diff\.(?:algorithm|context|indentheuristic|interhunkcontext|mnemonicprefix|noprefix"
    r"|renamelimit|renames|suppressblankempty)"
    r"|status\.(?:aheadbehind|relativepaths|renamelimit|renames|showuntrackedfiles)"
    r"|extensions\.(?:objectformat|refstorage)|index\.sparse)\n[\w-]{0,40}"
    r"|(?:branch\.[^\n]+\.(?:merge|remote)|remote\.[^\n]+\.fetch)\n[^\0-\x1f]+"
)
_OWN_SETTINGS = (
    b"[core]\nbare=false\nfsmonitor=false\nhooksPath=/dev/null\nuntrackedCache=false\n"
    b"[color]\nui=false\n[gc]\nauto=0\n[protocol]\nallow=never\n[submodule]\nrecurse=false\n"
)


class GitError(Exception):
    """Git did not answer; the text says why."""


class NoGit(GitError):
    """There is no git on the PATH."""


class Repository(NamedTuple):
    """A work tree, and where git keeps what belongs to it."""

    root: str
    """The directory that holds `.git`, whatever `core.worktree` says."""
    git_dir: str
    common_dir: str
    """What linked work trees share; the same as ``git_dir`` in all others."""


def find_repository(directory: str) -> Repository | None:
    """The repository whose work tree a directory is in; a bare one has none. Raises GitError."""
    try:
        root = os.path.realpath(directory)
    except ValueError:
        return None
    looked_in = [root]
    while not (found := _repository_at(root)) and root != os.path.dirname(root):
        root = os.path.dirname(root)
        looked_in.append(root)
    for place in looked_in if found else ():
        _refuse_pipes(place)
    return found


def _refuse_pipes(directory: str) -> None:
    """Raises GitError where git would wait for somebody to write its rules for a directory."""
    for name in (".gitattributes", ".gitignore", ".gitmodules"):
        with suppress(OSError, ValueError):
            if stat.S_ISFIFO(os.lstat(path := f"{directory}/{name}").st_mode):
                raise GitError(f"`{path}` is not a file")


def _repository_at(root: str) -> Repository | None:
    git_dir = os.path.join(root, ".git")
    link = _read_path(git_dir)
    if link.startswith("gitdir: "):  # in a linked work tree or a submodule
        git_dir = os.path.join(root, link.removeprefix("gitdir: "))
    git_dir = os.path.realpath(git_dir)
    common_dir = os.path.realpath(os.path.join(git_dir, _read_path(f"{git_dir}/commondir")))
    is_whole = os.path.isfile(f"{git_dir}/HEAD") and all(
        os.path.isdir(f"{common_dir}/{name}") for name in ("objects", "refs")
    )
    return Repository(root, git_dir, common_dir) if is_whole else None


def _read_path(file: str) -> str:
    """What a file says, read as git does: two readings of one name would be two repositories."""
    content, _ = read_dated(file, _LONGEST_TEXT)
    return os.fsdecode(content.rstrip(b"\r\n").split(b"\0")[0])


def build_environment(env: Mapping[str, str], root: str) -> dict[str, str]:
    """The variables git gets: none that point it elsewhere, no program of the work tree."""
    entries = [entry for entry in env.get("PATH", "").split(":") if entry.startswith("/")]
    inside = os.path.join(root, "")
    outside = [entry for entry in entries if not f"{os.path.realpath(entry)}/".startswith(inside)]
    return {
        **{name: env[name] for name in _PASSED_ON if name in env},
        "PATH": ":".join(outside if entries else [os.defpath]) or "/nonexistent",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


class GitResult(NamedTuple):
    """How git ended, and what it printed."""

    code: int
    output: bytes
    is_cut: bool
    """Git printed more than was wanted, and was ended."""
    complaint: str


def run_git(
    *words: str, env: Mapping[str, str], seconds: float, cap: int, stdin: bytes = b""
) -> GitResult:
    """Run git, bounded in time and in what it prints. Raises GitError."""
    memory = _find_memory()
    with TemporaryFile(dir=memory) as told, TemporaryFile(dir=memory) as wrong:
        told.write(stdin)
        told.seek(0)
        try:
            process = Popen(  # noqa: S603 - a fixed program with arguments of ours
                ["git", "--no-pager", *words],  # noqa: S607 - on a PATH made safe
                stdin=told if stdin else DEVNULL,
                stdout=PIPE,
                stderr=wrong,
                cwd="/",
                env=env,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise NoGit("there is no git here") from error
        except (OSError, ValueError) as error:
            raise GitError(f"git cannot be started: {error}") from error
        with process:
            assert process.stdout is not None
            # A process cannot be read and watched at once without a second thread.
            timer = Timer(max(seconds, 0), _kill, [process])
            timer.daemon = True
            timer.start()
            try:
                output = process.stdout.read(cap + 1)
                is_cut = len(output) > cap
                code = 0 if is_cut else process.wait()
            finally:
                timer.cancel()
                _kill(process)
        if code == -signal.SIGKILL:
            raise GitError("git took too long")
        wrong.seek(0)
        complaint = wrong.read(300).decode("utf-8", "replace").strip()
    return GitResult(code, output[:cap], is_cut, complaint)


def _kill(process: Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


class View(NamedTuple):
    """A private git directory that shows one work tree as it is."""

    root: str
    directory: str
    """Where in the work tree git is asked."""
    env: Mapping[str, str]
    deadline: float | None

    def ask(self, *question: str, cap: int) -> GitResult:
        """What git says to a question that changes nothing. Raises GitError."""
        seconds = _seconds_until(self.deadline)
        return run_git("-C", self.directory, *question, env=self.env, seconds=seconds, cap=cap)


@contextmanager
def open_view(
    directory: str, env: Mapping[str, str], deadline: float | None = None
) -> Iterator[View | None]:
    """A view of the work tree that a directory is in; None outside of any. Raises GitError."""
    repository = find_repository(directory)
    if repository is None:
        yield None
        return
    try:
        with TemporaryDirectory(prefix="hookline-git-", dir=_find_memory()) as private:
            git_dir = _fill(private, repository, env, deadline)
            own = build_environment(env, repository.root)
            # Older versions of git read the settings of their home whatever they are told.
            own |= {"HOME": private, "GIT_DIR": git_dir, "GIT_WORK_TREE": repository.root}
            yield View(repository.root, directory, own, deadline)
    except OSError as error:
        raise GitError(f"git's files cannot be copied: {error}") from error


def _find_memory() -> str | None:
    """A file system in memory that has room: on a disk a view takes several times as long."""
    with suppress(OSError):
        room = os.statvfs(_MEMORY)
        if room.f_bavail * room.f_frsize > 4 * LARGEST_FILE and os.access(_MEMORY, os.W_OK):
            return _MEMORY
    return None


def _fill(
    private: str, repository: Repository, env: Mapping[str, str], deadline: float | None
) -> str:
    """Makes the git directory that is asked. That of a linked work tree refers to a common one."""
    common, linked = f"{private}/common", f"{private}/linked"
    _mirror(repository.common_dir, common)
    os.makedirs(f"{common}/objects/info")
    # Git has rules for special characters in this file, which a link spares us.
    os.symlink(f"{repository.common_dir}/objects", f"{common}/theirs")
    Path(f"{common}/objects/info/alternates").write_bytes(b"../theirs\n")
    settings = read_settings(repository, env, common, deadline)
    lines = "".join(_format_setting(key, value) for key, value in settings)
    Path(f"{common}/config").write_bytes(os.fsencode(lines) + _OWN_SETTINGS)
    if repository.git_dir == repository.common_dir:
        return common
    _mirror(repository.git_dir, linked)
    Path(f"{linked}/commondir").write_bytes(b"../common\n")
    return linked


def _mirror(source: str, target: str) -> None:
    os.makedirs(f"{target}/info")
    shared = [name for name in os.listdir(source) if name.startswith("sharedindex.")]
    left = LARGEST_FILE  # for all of them: a repository may name any number of index files
    for name in (*_COPIED, *shared):
        content, changed = read_dated(f"{source}/{name}", left)
        left -= len(content)
        if changed:
            Path(f"{target}/{name}").write_bytes(content)
            # By the time of its index git tells which files it has to compare by content.
            os.utime(f"{target}/{name}", ns=(changed, changed))
    for name in _LINKED:
        path = f"{source}/{name}"
        if os.path.isdir(path) or os.path.isfile(path):
            os.symlink(path, f"{target}/{name}")


def read_settings(
    repository: Repository, env: Mapping[str, str], git_dir: str, deadline: float | None
) -> list[tuple[str, str]]:
    """What is taken over of the person's and the repository's settings; the last one counts.

    ``git_dir`` is one of ours, for git to start in. Raises GitError.
    """
    own = build_environment(env, repository.root) | {"GIT_DIR": git_dir}
    del own["GIT_CONFIG_GLOBAL"], own["GIT_CONFIG_NOSYSTEM"]
    own |= {name: env[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in env}
    names = (f"{repository.common_dir}/config", f"{repository.git_dir}/config.worktree")
    files = [name for name in names if os.path.isfile(name)]
    # To list settings runs nothing, whatever they are.
    listed = run_git(
        *(part for path in files for part in ("-c", f"include.path={path}")),
        *("config", "--list", "-z"),
        env=own,
        seconds=_seconds_until(deadline),
        cap=_LONGEST_TEXT,
    )
    if listed.code or listed.is_cut:
        raise GitError(f"git cannot read its settings: {listed.complaint}")
    pairs = (each.partition("\n") for each in os.fsdecode(listed.output).split("\0") if each)
    found = [(key, value if has_value else "true") for key, has_value, value in pairs]
    honoured = [(key, value) for key, value in found if _HONOURED.fullmatch(f"{key}\n{value}")]
    home = env.get("HOME", "/")
    config = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    for key, usual in (("core.excludesfile", "ignore"), ("core.attributesfile", "attributes")):
        path = dict(found).get(key, f"{config}/git/{usual}")
        path = home + path[1:] if path.startswith("~/") else path
        is_usable = os.path.isabs(path) and os.path.isfile(path) and "\n" not in path
        honoured.append((key, path if is_usable else os.devnull))
    return honoured


def _format_setting(key: str, value: str) -> str:
    section, _, rest = key.partition(".")
    inner, _, name = rest.rpartition(".")
    inner, value = (re.sub(r'(["\\])', r"\\\1", each) for each in (inner, value))
    head = f'{section} "{inner}"' if inner else section
    return f'[{head}]\n{name} = "{value}"\n'


def _seconds_until(deadline: float | None) -> float:
    return SECONDS if deadline is None else min(SECONDS, deadline - monotonic())


def read_dated(path: str, cap: int, *, follow: bool = True) -> tuple[bytes, int]:
    """What is in a regular file and when that changed; nothing, and 0, where there is none.

    Raises GitError when there is more than ``cap``.
    """
    try:
        with open_regular(path, follow=follow) as file:
            content, changed = file.read(cap + 1), os.fstat(file.fileno()).st_mtime_ns
    except (OSError, ValueError):
        return b"", 0
    if len(content) > cap:
        raise GitError(f"`{path}` is too large to look at")
    return content, changed
