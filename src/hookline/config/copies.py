"""Runs a hook's files in the bytes that were trusted: in place while they are equal, else a copy.

Knows files and sets; must not know how a hook is run.
"""

import os
from contextlib import suppress
from functools import cached_property
from hashlib import sha256

from hookline.config.discover import is_within
from hookline.config.named import find_executed_files, root_names
from hookline.config.path_watch import PathWatch
from hookline.config.pins import glob_files, glob_matches
from hookline.config.reading import MAX_BYTES, locked, make_private, read_file, write_file
from hookline.config.trust import TrustedFile, TrustedSet
from hookline.model.errors import HandlerUnavailable, TrustError
from hookline.model.hook import Hook
from hookline.model.ports import PinnedFiles
from hookline.shell import PathWord

__all__ = ["FreeFiles", "HookFiles", "UntrustedFiles", "VouchedFiles"]


class FreeFiles(PinnedFiles):
    """Files that need no trust: those of the user's own config, or of one a person named."""

    def stand_in(self, path: str) -> str | None:
        """Always the file itself."""
        return None


class UntrustedFiles(FreeFiles):
    """Files of a project config that nobody trusted, or that was not loaded here."""

    def stand_in(self, path: str) -> str | None:
        """Never anything: such files do not run."""
        raise HandlerUnavailable(f"`{path}` belongs to a config that is not trusted")


class _WatchedFiles(FreeFiles):
    """Files that are watched from before they are read until nothing runs any more."""

    def __init__(self, hook: Hook) -> None:
        self._hook = hook
        self._watch = PathWatch()

    def finish(self) -> None:
        """Raises HandlerUnavailable when what ran may not be the file that was read."""
        if not self._watch.is_quiet():
            message = "a file of this hook, or a directory on the way to it, was changed meanwhile"
            raise HandlerUnavailable(f"{message}, so its answer does not count")


class VouchedFiles(_WatchedFiles):
    """The files of a hook whose config HOOKLINE_TRUST names by its hash: each needs its own."""

    def __init__(self, hook: Hook, digests: frozenset[str]) -> None:
        super().__init__(hook)
        self._digests = digests

    def stand_in(self, path: str) -> str | None:
        """Always the file itself. Raises HandlerUnavailable for one that nobody vouched for."""
        hook, name = self._hook, os.path.normpath(path)
        _refuse_other_root(hook, name)
        is_own = name in find_executed_files(hook) or glob_matches(hook, name)
        if is_own or (hook.start is not None and hook.start.in_cwd):
            self._check(name)
        return None

    def start(self) -> None:
        """Raises HandlerUnavailable where nobody vouched for a file that a pattern finds."""
        for path in glob_files(self._hook):
            self._check(path)

    def _check(self, path: str) -> None:
        project = os.path.realpath(self._hook.project_dir)
        if not os.path.isfile(path) or not is_within(os.path.realpath(path), project):
            return
        if not self._watch.add(path):
            raise HandlerUnavailable(f"nobody could tell if `{path}` was replaced while it runs")
        try:
            digest = sha256(read_file(path, limit=MAX_BYTES)[0]).hexdigest()
        except OSError as error:
            raise HandlerUnavailable(f"`{path}` cannot be read: {error.strerror}") from error
        if digest not in self._digests:
            raise HandlerUnavailable(
                f"HOOKLINE_TRUST does not name `{path}` by its sha256, {digest}"
            )


class HookFiles(_WatchedFiles):
    """The files of one hook of a trusted config."""

    def __init__(self, hook: Hook, trusted: TrustedSet) -> None:
        super().__init__(hook)
        self._trusted = trusted
        self.changed: tuple[str, ...] = ()
        """What was not as trusted when ``stand_in`` first looked."""
        self._base: str | None = None
        """Where the copies lie; empty while none is needed, None before anybody has looked."""
        self._missing: list[str] = []

    def stand_in(self, path: str) -> str | None:
        """A private copy when any file of the hook is not as it was trusted, else None.

        Raises HandlerUnavailable when no copy can be had, and for a file that the hook executes
        but that nobody has trusted, because it was not there yet.
        """
        name = os.path.normpath(path)
        if ".." in path.split("/") and os.path.realpath(path) != os.path.realpath(name):
            raise HandlerUnavailable(f"`{path}` goes through a link and back with `..`")
        if name not in self._executed and not glob_matches(self._hook, name):
            self._refuse_stranger(name)
            return None
        if self._trusted.find(name) is None:
            self._refuse_newcomer(name)
            self._missing.append(name)
            return None
        try:
            self._base = self._look() if self._base is None else self._base
        except (OSError, TrustError) as error:
            raise HandlerUnavailable(f"no trusted copy of `{path}`: {error}") from error
        return self._base + name if self._base else None

    def start(self) -> None:
        """Raises HandlerUnavailable where a pinned file changed that nothing can stand in for."""
        if self._hook.pins and self._base is None and (changed := self._changes()):
            message = f"`{changed[0]}` is not as it was trusted, and the command cannot run a copy"
            raise HandlerUnavailable(f"{message}: look at it and run `hookline trust`")

    def finish(self) -> None:
        """The same for what came where nothing was."""
        super().finish()
        for name in self._missing:
            self._refuse_newcomer(name)

    def _look(self) -> str:
        """Where the copies lie, if any is needed; whatever is to run is watched from now on."""
        self.changed = self._changes()
        if not self.changed:
            return ""
        self._watch = PathWatch()
        base = _copied(self._trusted)
        if not all(self._watch.add(base + path) for path in self._own):
            raise TrustError("nobody could tell if it was replaced while it runs")
        return _copied(self._trusted)  # as they are now that they are watched

    @cached_property
    def _executed(self) -> dict[str, PathWord]:
        return find_executed_files(self._hook)

    def _refuse_newcomer(self, name: str) -> None:
        if is_within(name, self._trusted.project_dir) and os.path.isfile(name):
            word = self._executed[name].text if name in self._executed else name
            message = f"`{word}` was not there when the config was trusted"
            raise HandlerUnavailable(f"{message}: look at it and run `hookline trust`")

    def _refuse_stranger(self, name: str) -> None:
        _refuse_other_root(self._hook, name)
        if not is_within(name, self._trusted.project_dir) or not os.path.isfile(name):
            return
        start = self._hook.start
        if start is not None and start.in_cwd and self._is_named_from_elsewhere(name):
            message = f"`{name}` is not the file that was trusted under this name"
            raise HandlerUnavailable(f"{message}: name it from the project's directory")

    def _is_named_from_elsewhere(self, name: str) -> bool:
        """Whether a word of the hook leads here, only because it runs in another directory."""
        words = (os.path.normpath(word.text) for word in self._executed.values())
        tails = (word[word.rfind("../") + 3 :] if "../" in word else word for word in words)
        return any(name.endswith(f"/{tail.lstrip('/')}") for tail in tails)

    def _changes(self) -> tuple[str, ...]:
        """The hook's own files that differ, are gone, or are new where a pattern finds them."""
        own = self._own
        new = (path for path in glob_files(self._hook) if path not in own)
        # Watched before it is read, so that what runs later is what was read.
        same = {p for p, f in own.items() if self._watch.add(p) == f.real and f.has_content()}
        return (*(path for path in own if path not in same), *new)

    @cached_property
    def _own(self) -> dict[str, TrustedFile]:
        return {
            file.path: file
            for file in self._trusted.files
            if file.path in self._executed or glob_matches(self._hook, file.path)
        }


def _refuse_other_root(hook: Hook, name: str) -> None:
    """Raises for a file that the hook names below a project which is not that of its config."""
    if not os.path.isfile(name) or name in find_executed_files(hook):
        return
    for tail in root_names(hook):
        if name.endswith(tail):
            message = f"`$HOOKLINE_PROJECT_DIR{tail}` is `{name}` here, which nobody has trusted"
            hint = f"name it `{tail[1:]}`, from the directory of the config"
            raise HandlerUnavailable(f"{message}: {hint}")


def _copied(trusted: TrustedSet) -> str:
    """The directory below which the whole set lies, each file under its own absolute path.

    What lies there is checked every time, mended, and cleared of whatever else got there.
    """
    runs = os.path.join(trusted.store, "run")
    base = os.path.join(runs, trusted.digest)
    make_private(runs)
    with locked(runs):
        _clear(base, {base + file.path for file in trusted.files})
        for file in trusted.files:
            _mend(trusted, file, base)
    return base


def _clear(base: str, wanted: set[str]) -> None:
    for directory, subdirectories, names in os.walk(base):
        for name in (*names, *subdirectories):
            path = os.path.join(directory, name)
            if path not in wanted and not any(is_within(each, path) for each in wanted):
                _remove(path)


def _mend(trusted: TrustedSet, file: TrustedFile, base: str) -> None:
    path = base + file.path
    make_private(os.path.dirname(path))
    if file.real != file.path:
        # The layout keeps its links, so that a script behind one finds its neighbours.
        inside = trusted.find(file.real) is not None
        here = os.path.dirname(path)
        _link(path, os.path.relpath(base + file.real, here) if inside else file.real)
        return
    content = trusted.read(file.path)
    if not os.path.islink(path):
        with suppress(OSError):
            if read_file(path, limit=file.size) == (content, file.executable):
                return
    _remove(path)
    write_file(path, content, mode=0o500 if file.executable else 0o400)


def _link(path: str, target: str) -> None:
    with suppress(OSError):
        if os.readlink(path) == target:
            return
    _remove(path)
    os.symlink(target, path)


def _remove(path: str) -> None:
    with suppress(FileNotFoundError):
        if os.path.isdir(path) and not os.path.islink(path):
            from shutil import rmtree  # slow to load, and rarely needed

            rmtree(path)
        else:
            os.unlink(path)
