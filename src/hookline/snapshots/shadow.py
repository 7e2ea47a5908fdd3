"""A repository of our own that looks at somebody's work tree: trees only, no commits, no branches.

The person's own repository is asked what it ignores and nothing else: its index, HEAD, objects and
files stay as they are. Knows git; must not know sessions or turns.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from time import monotonic, sleep
from urllib.parse import quote_from_bytes, unquote_to_bytes

from msgspec import Struct

from hookline.git import (
    GitError,
    GitResult,
    NoGit,
    Repository,
    build_environment,
    read_dated,
    read_settings,
    run_git,
)

__all__ = ["Captured", "Change", "Shadow", "SnapshotError", "quoted"]

LARGE = 2 << 20
"""Bytes; a new file with more is left out."""

_SECONDS = 30.0
_LONGEST = 32 << 20
_MAX_SKIPPED = 1_000
_LONGEST_EXCLUDE = 1 << 20
# One that appeared between two questions. Git would go into it to ask what has changed there.
_IS_REPOSITORY = re.compile(rb"[^?] 160000 ")

# Nothing that a repository or a person has set up may run a program, change bytes on their way in,
# or clean up what we still need.
_SETTINGS = {
    "core.bare": "false",
    "core.autocrlf": "false",
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.quotePath": "false",
    "core.untrackedCache": "false",
    "advice.addEmbeddedRepo": "false",
    "gc.auto": "0",
    "gc.autoDetach": "false",
}
_ATTRIBUTES = "* -text -filter -ident -working-tree-encoding -diff -merge\n"


class SnapshotError(GitError):
    """A tree could not be taken; the text says why."""


class Captured(Struct, frozen=True, kw_only=True):
    """One tree, and what has to be known to compare it with a later one."""

    tree: str
    scope: str
    """The directory it was taken of, below the root of the work tree."""
    skipped: tuple[str, ...] = ()
    """What was there and was left out, as quoted paths."""
    ignoring: str = ""
    """Changes with the rules by which files are left out that are in no tree."""


class Change(Struct, frozen=True):
    """One file of two trees: mode and object in each, as in ``100644 af5626b…``."""

    before: str = ""
    """Empty for a file that was not there."""
    after: str = ""

    @property
    def how(self) -> str:
        """Git's letter for it."""
        return "M" if self.before and self.after else "D" if self.before else "A"


class Shadow:
    """The repository beside one work tree."""

    def __init__(
        self,
        folder: str,
        repository: Repository,
        *,
        env: Mapping[str, str],
        deadline: float | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """``folder`` holds those of all work trees, and is the person's alone."""
        name = sha256(os.fsencode(repository.root)).hexdigest()[:32]
        self.root = repository.root
        self._repository = repository
        self.directory = os.path.join(folder, name)
        self._clock = clock
        self._latest = deadline
        self._deadline = self._begun()
        self._theirs = env
        self._env = {
            **build_environment(env, self.root),
            "GIT_DIR": os.path.join(self.directory, "git"),
            "GIT_WORK_TREE": self.root,
        }
        self._restoring = os.path.join(self.directory, "restoring")

    def _begun(self) -> float:
        until = self._clock() + _SECONDS
        return until if self._latest is None else min(until, self._latest)

    @contextmanager
    def held(self) -> Iterator[None]:
        """For as long as this process alone may use it, which it is made for if it is not there."""
        import fcntl

        if shutil.which("git", path=self._env["PATH"]) is None:
            raise NoGit("there is no git here")
        # A person may have thought for long about whether to go on.
        self._deadline = self._begun()
        try:
            folder = os.path.dirname(self.directory)
            os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
            for each in (folder, self.directory):
                with suppress(FileExistsError):
                    os.mkdir(each, 0o700)
            lock = os.open(os.path.join(self.directory, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise SnapshotError(f"`{self.directory}` cannot be used: {error.strerror}") from error
        try:
            while True:
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                if self._clock() > self._deadline:
                    raise SnapshotError("another event holds the snapshots of this work tree")
                sleep(0.01)
            self._prepare()
            yield
        finally:
            os.close(lock)

    def capture(self, scope: str) -> Captured:
        """What lies in a directory of the work tree now; what git ignores is left out."""
        theirs = read_settings(self._repository, self._theirs, self._env["GIT_DIR"], self._latest)
        settings = {"core.excludesFile": dict(theirs)["core.excludesfile"]}
        own = os.path.join(self._repository.common_dir, "info/exclude")
        excludes, _ = read_dated(own, _LONGEST_EXCLUDE)
        self._write("info/exclude", excludes)
        where = os.path.join(self.root, scope)
        listed = self._git(
            *("ls-files", "-t", "--stage", "--cached", "--others", "--exclude-standard", "-z"),
            *("--", "."),
            at=where,
            also=settings,
        ).split(b"\0")
        others = [line[2:] for line in listed if line.startswith(b"? ")]
        skipped = [name for name in others if self._is_left_out(where, name)]
        if len(skipped) > _MAX_SKIPPED:
            raise SnapshotError(f"more than {_MAX_SKIPPED:,} new files are larger than 2 MiB")
        self._forget(where, [_name(line) for line in listed if _IS_REPOSITORY.match(line)])
        if self._add(where, skipped, settings):
            # Without these files it may go well. With the index as it is the tree would be old.
            folder = os.fsencode(where)
            names = {_name(line) for line in listed if line} - set(skipped)
            unreadable = [name for name in names if _is_unreadable(os.path.join(folder, name))]
            self._forget(where, unreadable)
            skipped += unreadable
            complaint = self._add(where, skipped, settings)
            if complaint:
                raise SnapshotError(f"git cannot keep every file: {complaint}")
        tree = self._git("write-tree").strip().decode()
        rules = sha256(excludes + b"\0" + os.fsencode(settings["core.excludesFile"]))
        return Captured(
            tree=tree,
            scope=scope,
            skipped=tuple(quoted(os.path.join(os.fsencode(scope), name)) for name in skipped),
            ignoring=rules.hexdigest()[:16],
        )

    def changes(self, before: str, after: str, scope: str) -> dict[str, Change]:
        """Which files differ between two trees."""
        where = [f":(top,literal){scope}"] if scope else []
        words = ("diff-tree", "-r", "-z", "--no-renames", "--raw", "--no-abbrev", before, after)
        fields = self._git(*words, "--", *where).split(b"\0")[:-1]
        found: dict[str, Change] = {}
        for said, name in zip(fields[::2], fields[1::2], strict=True):
            old, new, was, now, _ = said.removeprefix(b":").decode().split(" ")
            found[quoted(name)] = Change(
                f"{old} {was}" if int(old) else "", f"{new} {now}" if int(new) else ""
            )
        return found

    def files(self, tree: str) -> dict[str, str]:
        """Mode and object of each file in a tree, by its quoted path."""
        listed = self._git("ls-tree", "-r", "-z", "--full-tree", tree).split(b"\0")
        rows = [row.partition(b"\t") for row in listed if row]
        return {quoted(name): said.decode().replace(" blob ", " ") for said, _, name in rows}

    def prepare(self, files: Mapping[str, str]) -> None:
        """Makes sure that `restore` can bring these back; nothing of the work tree is touched."""
        kept = [said for said in files.values() if said]
        names = "".join(f"{said.split()[1]}\n" for said in kept).encode()
        if b"missing" in self._git("cat-file", "--batch-check", stdin=names):
            raise SnapshotError("what this checkpoint kept is no longer whole")
        with suppress(FileNotFoundError):
            os.unlink(self._restoring)
        rows = [
            f"{said}\t".encode() + unquote_to_bytes(path) for path, said in files.items() if said
        ]
        # No other entries: all that is in this index is written.
        self._git(
            *("update-index", "--add", "-z", "--index-info"),
            index=self._restoring,
            stdin=b"".join(row + b"\0" for row in rows),
        )

    def restore(self, files: Mapping[str, str]) -> None:
        """Brings files back as they were when `prepare` was told; those without content go.

        Directories that this empties go too, as with git's own commands.
        """
        root = os.fsencode(self.root)
        for path in (path for path, said in files.items() if not said):
            whole = os.path.join(root, unquote_to_bytes(path))
            # What is a link on the way by now leads to files that are none of this work tree.
            if os.path.realpath(os.path.dirname(whole)) == os.path.dirname(whole):
                with suppress(FileNotFoundError, IsADirectoryError):
                    os.unlink(whole)
                with suppress(OSError):
                    os.removedirs(os.path.dirname(whole))
        private: list[bytes] = []
        for path in (path for path, said in files.items() if said):
            # git would take away whatever is in a directory; only one that is empty may go.
            whole = os.path.join(root, unquote_to_bytes(path))
            if os.path.isdir(whole) and not os.path.islink(whole):
                for folder, _, _ in os.walk(whole, topdown=False):
                    os.rmdir(folder)
            elif os.path.lexists(whole) and not os.lstat(whole).st_mode & 0o077:
                private.append(whole)
        if any(files.values()):
            self._git("checkout-index", "--force", "--all", index=self._restoring)
            os.unlink(self._restoring)
        # Git keeps of a mode only whether a file is a program.
        for whole in private:
            if not os.path.islink(whole):
                os.chmod(whole, os.lstat(whole).st_mode & 0o700)

    def collect(self) -> None:
        """Drops what nobody has named for a week."""
        self._git("gc", "--quiet", "--prune=7.days.ago")

    def _add(self, where: str, skipped: Sequence[bytes], settings: Mapping[str, str]) -> str:
        """Take the files of a directory into the index; what git complained of if it did not."""
        wanted = [b".", *(b":(exclude,literal)" + name.rstrip(b"/") for name in skipped)]
        words = ("add", "--all", "--ignore-errors", "--pathspec-from-file=-", "--pathspec-file-nul")
        done = self._run(*words, at=where, also=settings, stdin=b"\0".join(wanted))
        return (done.complaint or f"git ended with {done.code}") if done.code else ""

    def _forget(self, where: str, names: Sequence[bytes]) -> None:
        if names:
            words = ("update-index", "--force-remove", "-z", "--stdin")
            self._git(*words, at=where, stdin=b"\0".join(names))

    def _is_left_out(self, where: str, name: bytes) -> bool:
        if name.endswith(b"/"):
            return True  # another repository inside this one
        with suppress(OSError):
            return os.lstat(os.path.join(os.fsencode(where), name)).st_size > LARGE
        return True

    def _prepare(self) -> None:
        git_dir = self._env["GIT_DIR"]
        if not os.path.exists(os.path.join(git_dir, "HEAD")):
            self._git("init", "--quiet", "--template=", at="/")
        self._write("info/attributes", _ATTRIBUTES.encode())
        # Whoever left it behind is dead: we are the only one here.
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(git_dir, "index.lock"))

    def _write(self, name: str, content: bytes) -> None:
        path = os.path.join(self._env["GIT_DIR"], name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def _git(
        self,
        *words: str,
        at: str = "",
        stdin: bytes = b"",
        also: Mapping[str, str] | None = None,
        index: str = "",
    ) -> bytes:
        """What git printed. Raises SnapshotError."""
        done = self._run(*words, at=at, stdin=stdin, also=also, index=index)
        if done.code:
            raise SnapshotError(f"git ended with {done.code}: {done.complaint}")
        if done.is_cut:
            raise SnapshotError("there are too many files to look at")
        return done.output

    def _run(
        self,
        *words: str,
        at: str = "",
        stdin: bytes = b"",
        also: Mapping[str, str] | None = None,
        index: str = "",
    ) -> GitResult:
        settings = {**_SETTINGS, **(also or {})}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        seconds = self._deadline - self._clock()
        env = {**self._env, **({"GIT_INDEX_FILE": index} if index else {})}
        words = ("-C", at or self.root, *options, *words)
        return run_git(*words, env=env, seconds=seconds, cap=_LONGEST, stdin=stdin)


def _name(listed: bytes) -> bytes:
    """The path in a line of `ls-files -t --stage`."""
    return listed[2:] if listed.startswith(b"? ") else listed.partition(b"\t")[2]


def _is_unreadable(path: bytes) -> bool:
    """Whether git cannot take this in: it may not be read, or is a pipe, a socket or a device."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return False
    except OSError:
        return True
    if stat.S_ISREG(mode):
        return not os.access(path, os.R_OK)
    return not (stat.S_ISLNK(mode) or stat.S_ISDIR(mode))


def quoted(path: bytes) -> str:
    """A path as text, whatever bytes it has."""
    return quote_from_bytes(path, safe="/ !#$&'()+,;=@[]~{}^")
