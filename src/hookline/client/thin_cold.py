"""What the thin client in Python does when no daemon answers; imported only then.

Keeps the rules of exchange.c and last.c, one to one; see there.
"""

import _socket
import posix
import sys
import time
from select import POLLIN

__all__ = ["ask_new_process", "give_last_answer", "undelivered"]

TYPE_CHECKING = False  # spares us the import of typing
if TYPE_CHECKING:
    import signal as _signal

    from hookline.client.thin_ask import Talk, Unanswered, folder
    from hookline.client.thin_io import GRACE, deliver, wait

    Words = tuple[str | None, str | None]
    Row = tuple[bytes, bytes, bytes, int, bool]
else:
    import _signal

    from thin_ask import Talk, Unanswered, folder
    from thin_io import GRACE, deliver, wait

LARGEST_TABLE = 1 << 16
SERVE = ("-I", "-m", "hookline", "daemon", "serve", "--fd", "0")
REASON = (
    b"hookline could not judge this: none of its programs gave an answer. "
    b"`hookline doctor` says what to mend."
)
UNCONFIGURED = (
    b"hookline: none of its programs gave an answer; nothing is configured here, so nothing was "
    b"blocked. `hookline doctor` says what to mend.\n"
)


def ask_new_process(request: bytes, deadline: float, *, once: bool) -> tuple[bytes, bytes, int]:
    """Ask a process that we start. Unless it answers ``once`` only, it stays as the daemon."""
    python = sys.argv[1]
    if not python.startswith("/") or not posix.access(python, posix.X_OK):
        raise Unanswered("its Python cannot be run")
    ours, theirs = _socket.socketpair()
    child = posix.fork()
    if child == 0:
        _become(python, theirs.fileno(), (*SERVE, "--once") if once else SERVE)
    theirs.close()
    talk = Talk(ours, request)
    try:
        return talk.converse(deadline, float("inf"), float("inf"))
    except BaseException:
        # One that has acknowledged ends its hooks when it sees that we are gone. One that has not
        # has none yet, and may be stuck before it ever looks; so may one that sees nothing.
        if not talk.acknowledged or not _hangs_up(ours):
            _end(child)
        raise


def _hangs_up(socket: _socket.socket) -> bool:
    """Whether the other side hangs up, too, once we have: it still looks, and ends its hooks."""
    until = time.monotonic() + GRACE
    try:
        socket.shutdown(_socket.SHUT_WR)
    except OSError:
        return True  # it has already
    while wait({socket.fileno(): POLLIN}, until, heeding=False) and time.monotonic() < until:
        try:
            if not socket.recv(4096):
                return True
        except BlockingIOError:
            continue
        except OSError:
            return True
    return False


def _end(child: int) -> None:
    for number in (-child, child):  # its group, which it may not lead yet
        try:
            posix.kill(number, _signal.SIGKILL)
        except ProcessLookupError:
            continue


def _become(python: str, socket: int, words: tuple[str, ...]) -> None:
    """Nothing of the agent's is left in the process that stays as the daemon."""
    try:
        posix.setsid()
        env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
        home = _home_of_user()
        env |= {"HOME": home} if home else {}
        posix.chdir("/")
        posix.dup2(socket, 0)
        posix.closerange(1, posix.sysconf("SC_OPEN_MAX"))
        for number in (posix.open("/dev/null", posix.O_RDWR), posix.dup(1)):
            posix.set_inheritable(number, True)
        _forget_signals()
        posix.execve(python, [python, *words], env)
    finally:
        posix._exit(127)


def _forget_signals() -> None:
    """Every signal as on a fresh login, whatever the agent had ignored."""
    for number in _signal.valid_signals() - {_signal.SIGKILL, _signal.SIGSTOP}:
        try:
            _signal.signal(number, _signal.SIG_DFL)
        except OSError:
            continue  # one that the C library keeps for itself
    _signal.pthread_sigmask(_signal.SIG_SETMASK, ())


def give_last_answer(words: "Words", values: dict[str, str], cwd: bytes | None, why: str) -> int:
    """Say what is said when nobody answered, and why; returns the exit code."""
    row = _row(words)
    until = time.monotonic() + GRACE
    if not _may_be_configured(values, cwd):
        out, err, code = (row[2] if row else b""), UNCONFIGURED, 0
    elif row is None:
        # Nobody knows who is calling: 2 blocks wherever an exit code does.
        out, err, code = b"", b"hookline: " + REASON + b"\n", 2
    else:
        out, err, _, code, _ = row
    arrived = deliver(out, err, until)
    line = b"" if err.endswith(b"\n") else b"\n"
    deliver(b"", line + f"hookline-client: {why}\n".encode(), until)
    return code if arrived else undelivered(words)


def undelivered(words: "Words") -> int:
    """The exit code when stdout could not be written: 2 closes a gate, 1 has no effect."""
    # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
    line = b"hookline: the answer could not be written to stdout\n"
    deliver(b"", line, time.monotonic() + GRACE)
    row = _row(words)
    return 2 if row is None or row[4] else 1


def _row(words: "Words") -> "Row | None":
    """The row of an event; the dialect's row without a name for one it does not know."""
    try:
        return _row_in(_table(), words)
    except Exception:  # it is damaged, or cannot be read: then only the exit code is left to us
        return None


def _table() -> list[str]:
    file = posix.open(f"{folder()}/last_answers.txt", posix.O_RDONLY)
    try:
        return posix.read(file, LARGEST_TABLE).decode().splitlines()
    finally:
        posix.close(file)


def _row_in(lines: list[str], words: "Words") -> "Row | None":
    texts = [line[2:].replace("\\n", "\n").encode() for line in lines if line.startswith("= ")]
    general = None
    for dialect, event, *cells in [line.split(" ") for line in lines if line[0] != "="]:
        if dialect == words[0] and event in (words[1], "-"):
            out, err, passing, code, closes = map(int, cells)
            row = (texts[out], texts[err], texts[passing], code, bool(closes))
            if event != "-":
                return row
            general = row
    return general


def _may_be_configured(values: dict[str, str], cwd: bytes | None) -> bool:
    """Whether there may be anything to guard; whatever we cannot look at counts as configured."""
    # A config that was named is meant, and an environment that is believed may name more.
    if "--config" in values or "--trust-env" in values:
        return True
    person = _home_of_user()
    user, home = values.get("--user-config", ""), values.get("--home")
    if not user.startswith("/"):
        user = person and f"{person}/.config"
    if home is None:
        home = person and f"{person}/.local/state/hookline"
    # A home that is no whole path leads from a directory that we may have left.
    if not user or not home.startswith("/"):
        return True
    return (
        _may_exist("/etc/hookline/hookline.yaml")
        or _may_exist(f"{user}/hookline/hookline.yaml")
        or _may_hold_something(f"{home}/trust")
        or _project_may_have_config(cwd)
    )


def _home_of_user() -> str:
    """From the user database; empty when it does not say."""
    import pwd

    try:
        return pwd.getpwuid(posix.getuid()).pw_dir
    except KeyError:
        return ""


def _may_exist(path: str | bytes) -> bool:
    try:
        posix.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        pass
    return True


def _may_hold_something(directory: str) -> bool:
    try:
        return bool(posix.listdir(directory))
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _project_may_have_config(cwd: bytes | None) -> bool:
    if cwd is None or not cwd.startswith(b"/"):
        return True
    while True:
        if _may_exist(cwd + b"/hookline.yaml") or _may_exist(cwd + b"/.hookline/hookline.yaml"):
            return True
        if not cwd:
            return False
        cwd = cwd.rpartition(b"/")[0]
