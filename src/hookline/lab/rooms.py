"""A room for one session: a fresh home and project in one temporary directory, gone at the end.

Nothing of the person's is in it: not their settings, not their tokens, not their history.
"""

import os
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from threading import current_thread, main_thread
from time import monotonic, sleep
from types import FrameType

from hookline.lab.ports import Room
from hookline.model.errors import HooklineError
from hookline.processes.strays import Mark

__all__ = ["MARK", "furnished_room"]

MARK = "HOOKLINE_LAB"
"""The variable that every process of a session inherits."""

# A Unix socket's path is at most some hundred characters, and clients add to the room's.
_LONGEST = 48
# All that a room keeps of the person's environment.
_KEPT = ("PATH", "LANG", "LC_ALL", "TZ")
_ENDING = (signal.SIGTERM, signal.SIGHUP)
_GIT_TIMEOUT = 60.0
_GRACE = 3.0
_PATIENCE = 5.0


@contextmanager
def furnished_room(
    files: Mapping[str, str] | None = None,
    *,
    env: Mapping[str, str] | None = None,
    keep: bool = False,
) -> Iterator[Room]:
    """A room whose project, a git repository, has ``files`` in its only commit.

    ``env`` is the environment of the person, of which a room keeps the PATH and the language.
    With ``keep`` the directory stays; what runs in the room ends in any case.
    """
    root = _directory()
    nonce = token_hex(8)
    with _leaving_tidily():
        try:
            room = _laid_out(root, nonce, os.environ if env is None else env)
            _make_repository(room, files or {})
            yield room
        finally:
            end_bearers(nonce)
            if not keep:
                _remove(root)


def _directory() -> str:
    try:
        base = tempfile.gettempdir()
        if len(base) > _LONGEST and os.access("/tmp", os.W_OK | os.X_OK):  # noqa: S108
            base = "/tmp"  # noqa: S108 - mkdtemp makes a directory that is ours alone
        return os.path.realpath(tempfile.mkdtemp(prefix="hl-", dir=base))
    except OSError as error:
        raise HooklineError(
            f"cannot make a temporary directory ({error.strerror or error}): "
            "set TMPDIR to a directory that you can write to and that has room"
        ) from error


def _laid_out(root: str, nonce: str, person: Mapping[str, str]) -> Room:
    home, project, tmp = (os.path.join(root, name) for name in ("home", "project", "tmp"))
    places = {
        "HOME": home,
        "TMPDIR": tmp,
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "XDG_CACHE_HOME": f"{home}/.cache",
    }
    env = {name: person[name] for name in _KEPT if person.get(name)}
    env.setdefault("PATH", os.defpath)
    env.setdefault("LANG", "C.UTF-8")
    env |= places
    env |= _constants()
    env[MARK] = nonce
    with _needing_space(root):
        for place in (project, *places.values()):
            os.makedirs(place, mode=0o700, exist_ok=True)
    return Room(root=root, home=home, project=project, tmp=tmp, env=env)


def _constants() -> dict[str, str]:
    dead = "http://127.0.0.1:9"
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    proxies = {name: dead for each in names for name in (each, each.lower())}
    here = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
    git = {
        f"GIT_{who}_{what}": value
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Lab"), ("EMAIL", "lab@localhost"))
    }
    shell = "/bin/bash" if os.path.exists("/bin/bash") else "/bin/sh"
    own = {"SHELL": shell, "TERM": "dumb", "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    return proxies | here | git | own


def _make_repository(room: Room, files: Mapping[str, str]) -> None:
    for name, content in files.items():
        path = Path(room.project, name)
        if not path.resolve().is_relative_to(room.project):
            raise HooklineError(f"the file `{name}` is not inside the project")
        with _needing_space(room.root):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="")
    for words in (
        ("init", "--quiet", "--initial-branch=main"),
        ("add", "--all"),
        ("commit", "--quiet", "--allow-empty", "--message=Begin"),
    ):
        _git(room, words)


def _git(room: Room, words: tuple[str, ...]) -> None:
    program = shutil.which("git", path=room.env["PATH"])
    if program is None:
        raise HooklineError("a session needs a git repository, and git is not on the PATH")
    try:
        done = subprocess.run(  # noqa: S603 - git, as the person has it
            [program, *words],
            cwd=room.project,
            env=dict(room.env),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise HooklineError(
            f"git {words[0]} did not end within {_GIT_TIMEOUT:g} seconds"
        ) from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise HooklineError(f"git {words[0]} failed in the session's project: {said}")


@contextmanager
def _needing_space(root: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HooklineError(
            f"cannot write to the temporary directory {root}: {error.strerror}; "
            "set TMPDIR to a directory that you can write to and that has room"
        ) from error


def end_bearers(nonce: str) -> None:
    """Ends whatever was started with a room's mark and runs still: asked first, then killed.

    A daemon of ours takes its socket along when it is asked, which may be outside the room.
    """
    began = monotonic()
    asked: set[int] = set()
    mark = Mark(nonce)
    while bearers := [pid for pid in mark.bearers(patient=True) if pid != os.getpid()]:
        late = monotonic() > began + _GRACE
        for pid in bearers:
            if late or pid not in asked:
                asked.add(pid)
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL if late else signal.SIGTERM)
        if monotonic() > began + _GRACE + _PATIENCE:
            return
        sleep(0.02)


def _remove(root: str) -> None:
    def unlocked(call: Callable[..., object], path: str, _: object) -> None:
        # A read-only directory keeps what is in it; ours it is, so we may open it. Never what the
        # room itself lies in: that is everybody's.
        with suppress(OSError):
            if path != root:
                os.chmod(os.path.dirname(path), stat.S_IRWXU)
            if not os.path.islink(path) and os.path.isdir(path):
                os.chmod(path, stat.S_IRWXU)
                shutil.rmtree(path)
            else:
                os.unlink(path)

    for _ in range(3):  # one that is being ended may still write
        shutil.rmtree(root, onerror=unlocked)
        if not os.path.lexists(root):
            return


@contextmanager
def _leaving_tidily() -> Iterator[None]:
    """What would end us unwinds as Ctrl-C does, and the room goes; not where others handle it."""
    if current_thread() is not main_thread():
        yield
        return
    ours = [each for each in _ENDING if signal.getsignal(each) == signal.SIG_DFL]

    def leave(number: int, frame: FrameType | None) -> None:
        for each in ours:  # once is enough, and leaving takes a moment
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for each in ours:
        signal.signal(each, leave)
    try:
        yield
    finally:
        for each in ours:
            signal.signal(each, signal.SIG_DFL)
