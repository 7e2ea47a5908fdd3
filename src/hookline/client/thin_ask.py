"""The thin client in Python: hands an event to the daemon and its answer back, byte for byte.

Keeps the rules of client.c, exchange.c and last.c, one to one; see there. Every import costs the
agent time at each event, so only modules written in C are used here.
"""

import _socket
import posix
import sys
import time
from select import POLLIN

__all__ = ["main"]

TYPE_CHECKING = False  # spares us the import of typing
if TYPE_CHECKING:
    import signal as _signal

    from hookline.client import thin_io as io

    Reply = tuple[bytes, bytes, int]
    Words = tuple[str | None, str | None]
    Row = tuple[bytes, bytes, bytes, int, bool]
else:
    import _signal

    import thin_io as io

ACKNOWLEDGED_IN = 0.25
SILENT_FOR = 2.0
TIME_BYTES = 5
VALUED = {"--home", "--user-config", "--config", "--timeout"}
LARGEST_TABLE = 1 << 16
SERVE = ("-I", "-m", "hookline", "daemon", "serve", "--fd", "0")
REASON = (
    b"hookline could not judge this: none of its programs gave an answer. "
    b"`hookline doctor` says what to fix."
)
UNCONFIGURED = (
    b"hookline: none of its programs gave an answer; nothing is configured here, so nothing was "
    b"blocked. `hookline doctor` says what to fix.\n"
)


def main() -> int:
    """Answers the event on stdin; returns the exit code."""
    started = time.monotonic()
    if len(sys.argv) < 3 or sys.argv[2] != "hook":
        io.hold_standard_descriptors()
        usage = b"usage: thin.py PYTHON hook DIALECT [EVENT] [options]\n"
        io.deliver(b"", usage, started + 1)
        return 64
    words, values = _sorted_out(sys.argv[3:])
    deadline = started + _allowance(values.get("--timeout"))
    cwd, gone, why = b"", True, ""
    try:
        io.hold_standard_descriptors()
        io.Signals.heed()
        cwd, gone = io.find_directory()
        out, err, code = _ask(cwd, values, started, deadline)
        if io.deliver(out, err, deadline):
            return code
    except BaseException as exc:  # whatever it is, a gate closes
        why = str(exc) if isinstance(exc, io.Unanswered) else f"{type(exc).__name__}: {exc}"
    # Not before the error has let go of the payload, which may have taken all the memory.
    io.Signals.give_back()
    if not why:
        return _report_undelivered(words)
    return _give_last_answer(words, values, None if gone else cwd, why)


def _sorted_out(argv: list[str]) -> tuple[tuple[str | None, str | None], dict[str, str]]:
    """Dialect and event, and the options; as `hookline hook` reads them, the last one counts."""
    words: list[str | None] = []
    values: dict[str, str] = {}
    rest = iter(argv)
    for word in rest:
        if word in VALUED:
            values[word] = next(rest, "")
        elif word == "--trust-env":
            values[word] = ""
        elif not word.startswith("-"):
            words.append(word)
    dialect, event = (*words, None, None)[:2]
    return (dialect, event), values


def _allowance(timeout: str | None) -> float:
    """How long everything may take: the platform's limit, less what we need to speak first."""
    try:
        seconds = float(timeout or "")
    except ValueError:
        return 600.0
    return max(0.9 * seconds - 0.5, 0.2) if 0 < seconds <= 1e9 else 600.0


def _ask(cwd: bytes, values: dict[str, str], started: float, deadline: float) -> "Reply":
    version = _version()
    event_id = _event_id()
    words = [
        word.encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
        for word in sys.argv[2:]
    ]
    variables = [name + b"=" + value for name, value in posix.environ.items()]
    umask = posix.umask(0o077)
    context = [cwd, b"%d" % umask, b"%d" % len(words), *words]
    context += [b"%d" % len(variables), *variables]
    payload = io.read_payload(0, deadline)
    if payload is None:
        raise io.Unanswered("the payload did not come to its end in time")
    context.append(payload)
    attempt = b"1"
    once = posix.environ.get(b"HOOKLINE_NO_DAEMON") == b"1"
    if not once:
        acknowledged_by = time.monotonic() + ACKNOWLEDGED_IN
        daemon = _dial(values.get("--home", ""), version, min(acknowledged_by, deadline))
        if daemon is not None:
            request = _frame(version, event_id, attempt, _spent(started), context)
            try:
                return io.DaemonTalk(daemon, request).converse(
                    deadline, acknowledged_by, SILENT_FOR
                )
            except io.TurnedAway:
                pass
            except io.Unanswered:
                attempt = b"2"
            daemon.close()
        if io.Signals.told or time.monotonic() >= deadline:
            raise io.Unanswered("the daemon gave no answer in time")
    request = _frame(version, event_id, attempt, _spent(started), context)
    return _ask_new_process(request, deadline, once=once)


def _event_id() -> bytes:
    """Begins with the time; client.c says why."""
    moment = int(time.time() * 1000) % (1 << 8 * TIME_BYTES)
    drawn = posix.urandom(16 - TIME_BYTES)
    return (moment.to_bytes(TIME_BYTES, "big") + drawn).hex().encode()


def _spent(started: float) -> bytes:
    """Milliseconds since we began: whoever answers takes them off the time that there is."""
    return b"%d" % min((time.monotonic() - started) * 1000, 999_999_999)


def _version() -> bytes:
    """Read, not imported: importing it would import all of hookline."""
    file = posix.open(f"{_folder()}/../_version.py", posix.O_RDONLY)
    text = posix.read(file, 65536)
    posix.close(file)
    return text.split(b'__version__ = "')[1].split(b'"')[0]


def _folder() -> str:
    """Where we lie."""
    return __file__.rpartition("/")[0] or "."


def _frame(
    version: bytes, event_id: bytes, attempt: bytes, spent: bytes, context: list[bytes]
) -> bytes:
    fields = (version, event_id, attempt, spent, *context)
    body = b"".join([part for field in fields for part in (len(field).to_bytes(4, "big"), field)])
    return b"HKL1" + len(body).to_bytes(4, "big") + body


def _dial(home: str, version: bytes, until: float) -> _socket.socket | None:
    """A connection to the daemon, if one is there and nobody else can have put it there."""
    if not home.startswith("/"):
        return None
    try:
        directory = posix.open(
            io.find_run_dir(home, version.decode()),
            posix.O_RDONLY | posix.O_DIRECTORY | posix.O_NOFOLLOW,
        )
    except OSError:
        return None
    try:
        if not io.is_ours_alone(posix.fstat(directory)):
            return None
        # The name is short and means that directory, whatever becomes of its path.
        posix.fchdir(directory)
        socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    except OSError:
        return None
    finally:
        posix.close(directory)
    if _connect(socket, until) and _peer(socket) == posix.getuid():
        return socket
    socket.close()
    return None


def _connect(socket: _socket.socket, until: float) -> bool:
    socket.setblocking(False)
    while True:
        try:
            socket.connect("daemon.sock")
        except BlockingIOError:  # a full queue cannot be waited for, only tried again
            turn = time.monotonic() + 0.005
            if turn > until or io.Signals.told:
                return False
            io.wait({}, turn)
        except OSError:
            return False
        else:
            return True


def _peer(socket: _socket.socket) -> int:
    """The user behind a socket."""
    # Linux: pid, uid, gid; macOS: version, uid, … (SOL_LOCAL, LOCAL_PEERCRED)
    level, option = _socket.SOL_SOCKET, getattr(_socket, "SO_PEERCRED", 0)
    if not option:
        level, option = 0, 1
    try:
        return int.from_bytes(socket.getsockopt(level, option, 12)[4:8], sys.byteorder)
    except OSError:
        return -1


# When no daemon answers


def _ask_new_process(request: bytes, deadline: float, *, once: bool) -> tuple[bytes, bytes, int]:
    """Ask a process that we start. Unless it answers ``once`` only, it stays as the daemon."""
    python = sys.argv[1]
    if not python.startswith("/") or not posix.access(python, posix.X_OK):
        raise io.Unanswered("its Python cannot be run")
    ours, theirs = _socket.socketpair()
    child = posix.fork()
    if child == 0:
        _become(python, theirs.fileno(), (*SERVE, "--once") if once else SERVE)
    theirs.close()
    talk = io.DaemonTalk(ours, request)
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
    until = time.monotonic() + io.GRACE
    try:
        socket.shutdown(_socket.SHUT_WR)
    except OSError:
        return True  # it has already
    while io.wait({socket.fileno(): POLLIN}, until, heeding=False) and time.monotonic() < until:
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


def _give_last_answer(words: "Words", values: dict[str, str], cwd: bytes | None, why: str) -> int:
    """Say what is said when nobody answered, and why; returns the exit code."""
    row = _row(words)
    until = time.monotonic() + io.GRACE
    if not _may_be_configured(values, cwd):
        out, err, code = (row[2] if row else b""), UNCONFIGURED, 0
    elif row is None:
        # Nobody knows who is calling: 2 blocks wherever an exit code does.
        out, err, code = b"", b"hookline: " + REASON + b"\n", 2
    else:
        out, err, _, code, _ = row
    arrived = io.deliver(out, err, until)
    line = b"" if err.endswith(b"\n") else b"\n"
    io.deliver(b"", line + f"hookline-client: {why}\n".encode(), until)
    return code if arrived else _report_undelivered(words)


def _report_undelivered(words: "Words") -> int:
    """The exit code when stdout could not be written: 2 closes a gate, 1 has no effect."""
    # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
    line = b"hookline: the answer could not be written to stdout\n"
    io.deliver(b"", line, time.monotonic() + io.GRACE)
    row = _row(words)
    return 2 if row is None or row[4] else 1


def _row(words: "Words") -> "Row | None":
    """The row of an event; the dialect's row without a name for one it does not know."""
    try:
        return _row_in(_table(), words)
    except Exception:  # it is damaged, or cannot be read: then only the exit code is left to us
        return None


def _table() -> list[str]:
    file = posix.open(f"{_folder()}/last_answers.txt", posix.O_RDONLY)
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
