"""What both thin clients promise: one suite, against real sockets, processes and signals.

The daemon is a peer scripted here, and the interpreter a stand-in that speaks the protocol, so
that they can be made to fail in every way that the real ones must not.
"""

import fcntl
import hashlib
import importlib.util
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

from hookline import __version__, client, registry
from hookline.client.thin_io import find_run_dir

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 60.0
"""Seconds that anything here may take before it counts as hanging."""

GATE = ("hook", "claude-code", "PreToolUse")
MEGABYTE = 1_000_000


def module(path: str) -> ModuleType:
    """A file of ours that is no part of the package."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


last_answers = module("tools/last_answers.py")


class Request(NamedTuple):
    """What a client sent."""

    version: bytes
    event_id: bytes
    attempt: bytes
    spent: bytes
    cwd: bytes
    umask: bytes
    argv: list[bytes]
    env: dict[bytes, bytes]
    stdin: bytes


def read_request(data: bytes) -> Request:
    """A whole request; everything in it must be accounted for."""
    assert data[:4] == b"HKL1"
    assert int.from_bytes(data[4:8], "big") == len(data) - 8
    fields = []
    at = 8
    while at < len(data):
        end = at + 4 + int.from_bytes(data[at : at + 4], "big")
        fields.append(data[at + 4 : end])
        at = end
    assert at == len(data)
    version, event_id, attempt, spent, cwd, umask, count, *rest = fields
    argv, (count, *rest) = rest[: int(count)], rest[int(count) :]
    env = dict(variable.split(b"=", 1) for variable in rest[: int(count)])
    (stdin,) = rest[int(count) :]
    return Request(version, event_id, attempt, spent, cwd, umask, argv, env, stdin)


def answer(out: bytes = b"", err: bytes = b"", code: int = 0) -> bytes:
    """An answer as the daemon sends it."""
    sizes = len(out).to_bytes(4, "big") + len(err).to_bytes(4, "big")
    return b"R" + bytes([code]) + sizes + out + err


def run_directory(home: Path) -> Path:
    """Where the daemon's socket lies, by the rule that all sides keep."""
    key = 0xCBF29CE484222325
    mounts = os.readlink("/proc/self/ns/mnt").partition("[")[2].rstrip("]")
    for byte in os.fsencode(f"{home}\0{__version__}\0{mounts}"):
        key = (key ^ byte) * 0x100000001B3 % 2**64
    users = Path(f"/run/user/{os.getuid()}")
    with suppress(OSError):
        found = users.lstat()
        if found.st_uid == os.getuid() and found.st_mode & 0o177777 == 0o040700:
            return users / f"hookline-{key:016x}"
    return home / f"run-{key:016x}"


def until(condition: Callable[[], Any]) -> None:
    """Wait for something to become true."""
    limit = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.002)


def is_gone(pid: int) -> bool:
    """Whether no such process runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


class Line:
    """The peer's end of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        connection.settimeout(LIMIT)

    def hear(self) -> Request:
        """The whole request, acknowledged as soon as it begins."""
        data = bytearray()
        while len(data) < 8 or len(data) < 8 + int.from_bytes(data[4:8], "big"):
            known = len(data) >= 8
            piece = self.socket.recv(1 << 20)
            assert piece, "the client hung up in the middle of its request"
            data += piece
            if not known and len(data) >= 8:
                self.say(b"A")
        return read_request(bytes(data))

    def say(self, data: bytes) -> None:
        self.socket.sendall(data)

    def is_hung_up(self) -> bool:
        """Whether the client has gone, once it has."""
        try:
            return self.socket.recv(1) == b""
        except ConnectionError:
            return True


class Peer:
    """A scripted daemon: ``behave`` is called in a thread of its own for each connection."""

    def __init__(self, behave: Callable[["Peer", Line], None]) -> None:
        self._behave = behave
        self.requests: list[Request] = []
        self.errors: list[BaseException] = []
        self.over = threading.Event()
        self.hung_up = threading.Event()
        self._threads: list[threading.Thread] = []

    def serve(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                thread = threading.Thread(target=self._talk, args=(connection,), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _talk(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._behave(self, Line(connection))
            except BaseException as exc:
                self.errors.append(exc)

    def join(self) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join(LIMIT)


@contextmanager
def serving(home: Path, behave: Callable[[Peer, Line], None]) -> Iterator[Peer]:
    """A scripted daemon where the clients look for one."""
    directory = run_directory(home)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    path = directory / "daemon.sock"
    peer = Peer(behave)
    here = os.open(directory, os.O_RDONLY)
    # Not by its path, which may be longer than the name of a socket.
    listener.bind(f"/proc/self/fd/{here}/daemon.sock")
    os.close(here)
    listener.listen(16)
    thread = threading.Thread(target=peer.serve, args=(listener,), daemon=True)
    thread.start()
    try:
        yield peer
        peer.join()
        assert not peer.errors, peer.errors
    finally:
        peer.over.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(LIMIT)
        with suppress(OSError):
            path.unlink()
            directory.rmdir()


def answers(data: bytes) -> Callable[[Peer, Line], None]:
    """A daemon that always gives this answer."""

    def behave(peer: Peer, line: Line) -> None:
        peer.requests.append(line.hear())
        line.say(data)

    return behave


def stays_silent(peer: Peer, line: Line) -> None:
    """A daemon that takes a request and never says more than that it has it."""
    peer.requests.append(line.hear())
    peer.over.wait(LIMIT)


def keeps_waiting(peer: Peer, line: Line) -> None:
    """A daemon whose hooks never end; it notes when its client hangs up."""
    peer.requests.append(line.hear())
    line.socket.settimeout(0.2)
    while not peer.over.is_set():
        try:
            if line.is_hung_up():
                peer.hung_up.set()
                return
        except TimeoutError:
            with suppress(OSError):
                line.say(b"K")


STAND_IN = """#!{python} -IS
import _socket, os, signal, sys
HERE = {folder!r}
socket = _socket.socket(fileno=0)

def hear():
    data = bytearray()
    while len(data) < 8 or len(data) < 8 + int.from_bytes(data[4:8], "big"):
        piece = socket.recv(1 << 20)
        if not piece:
            sys.exit(1)
        data += piece
    note("request", bytes(data))
    return data

def say(data):
    socket.sendall(data)

def answer(out, code=0):
    say(b"R" + bytes([code]) + len(out).to_bytes(4, "big") + bytes(4) + out)

def note(name, data):
    with open(HERE + "/part", "wb") as file:
        file.write(data)
    os.rename(HERE + "/part", HERE + "/" + name)

signal.alarm({limit})
note("pid", b"%d" % os.getpid())
{behaviour}
"""

ANSWERS = "say(b'A'); hear(); answer(b'in process', 7)"


class Done(NamedTuple):
    """How a client ended."""

    code: int
    out: bytes
    err: bytes


class Agent:
    """An agent that calls one of the clients, in a world of its own."""

    def __init__(self, base: Path, words: Callable[[str], list[str]], name: str) -> None:
        self.name = name
        self._words = words
        self.home, self.config, self.project = base / "home", base / "config", base / "project"
        self.tools = base / "tools"
        for directory in (self.home, self.config, self.project, self.tools):
            directory.mkdir()
        self.python = self.tools / "python"
        self.stands_in(ANSWERS)

    def stands_in(self, behaviour: str) -> None:
        """What the interpreter does when it is started."""
        text = STAND_IN.format(
            python=sys.executable, folder=str(self.tools), limit=int(LIMIT), behaviour=behaviour
        )
        self.stands_in_with(text)

    def stands_in_with(self, text: str) -> None:
        """The interpreter, as a script."""
        self.python.unlink(missing_ok=True)
        self.python.write_text(text)
        self.python.chmod(0o755)

    def noted(self, name: str) -> bytes:
        """What the interpreter wrote down."""
        return (self.tools / name).read_bytes()

    def argv(self, *words: str | bytes, timeout: str = "600") -> list[str | bytes]:
        own = ["--home", str(self.home), "--user-config", str(self.config), "--timeout", timeout]
        return [*self._words(str(self.python)), *(words or GATE), *own]

    def start(
        self, *words: str | bytes, timeout: str = "600", through: str = "", **options: Any
    ) -> "subprocess.Popen[bytes]":
        """The client, started; ``through`` is a shell line that ends up as it."""
        argv = self.argv(*words, timeout=timeout)
        if through:
            argv = ["/bin/sh", "-c", through, "sh", *argv]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(argv, **{"cwd": self.project, **pipes, **options})

    def run(self, *words: str | bytes, stdin: bytes = b"{}", **options: Any) -> Done:
        """One event from start to end."""
        process = self.start(*words, **options)
        try:
            out, err = process.communicate(stdin if process.stdin else None, timeout=LIMIT)
        finally:
            process.kill()
            process.wait()
        return Done(process.returncode, out or b"", err or b"")

    @contextmanager
    def running(self, *words: str | bytes, **options: Any) -> Iterator["subprocess.Popen[bytes]"]:
        """A client that is looked after while it runs."""
        process = self.start(*words, **options)
        try:
            yield process
        finally:
            process.kill()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            process.wait(LIMIT)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client in C, compiled from the sources as they are."""
    built = tmp_path_factory.mktemp("bin") / "hookline-client"
    why = module("hatch_build.py").compiled(ROOT / "src/hookline/client", built, __version__)
    assert not why, why
    return built


@pytest.fixture(scope="session")
def library_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a C library, as it is made where it cannot do without."""
    built = tmp_path_factory.mktemp("library") / "hookline-client"
    build = module("hatch_build.py")
    tried = list(build.commands(["cc"], ROOT / "src/hookline/client", built, __version__))
    subprocess.run(tried[1], check=True, timeout=100)
    return built


@pytest.fixture(params=["c", "c with a library", "python"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Agent:
    def words(python: str) -> list[str]:
        return [*start, python]

    start = [sys.executable, "-I", "-S", "-E", client.SCRIPT]
    if request.param != "python":
        made = "program" if request.param == "c" else "library_program"
        start = [str(request.getfixturevalue(made))]
    return Agent(tmp_path, words, request.param)


DENIAL = registry.dialect("claude-code").refuse("PreToolUse", last_answers.REASON)


def is_closed(done: Done) -> bool:
    """Whether this is the last answer on a gate of something configured."""
    return done.code == 0 and done.out == DENIAL.stdout and done.err.startswith(DENIAL.stderr)


@pytest.fixture
def configured(agent: Agent) -> Agent:
    """An agent with something to guard."""
    (agent.config / "hookline").mkdir()
    (agent.config / "hookline/hookline.yaml").write_text("hooks: {}\n")
    return agent


# What is handed on, and back


def test_argv_directory_environment_and_payload_arrive_byte_for_byte(agent: Agent) -> None:
    odd = os.fsencode(agent.project) + b"/\xff odd\n"
    os.mkdir(odd)
    env = {b"PATH": b"/bin", b"EMPTY": b"", b"ODD": b"\xff=\n\xfe", "\u00fc".encode(): b"1"}
    payload = bytes(range(256)) * 10
    words = (*GATE, b"\xff\xfe", "\u00fc", "")

    with serving(agent.home, answers(answer())) as peer:
        agent.run(*words, stdin=payload, cwd=odd, env=env)

    (request,) = peer.requests
    argv = agent.argv(*words)
    expected = [os.fsencode(word) for word in argv[argv.index("hook") :]]
    assert (request.argv, request.cwd, request.stdin) == (expected, odd, payload)
    # Python sets this one for itself in the C locale; the agent did not.
    assert {**request.env, b"LC_CTYPE": b""} == {**env, b"LC_CTYPE": b""}


def test_the_umask_of_the_agent_is_handed_on(agent: Agent) -> None:
    with serving(agent.home, answers(answer())) as peer:
        agent.run(preexec_fn=lambda: os.umask(0o027))
    assert int(peer.requests[0].umask) == 0o027


def test_every_event_has_an_id_of_its_own_and_starts_with_the_first_attempt(agent: Agent) -> None:
    with serving(agent.home, answers(answer())) as peer:
        agent.run()
        agent.run()

    first, second = peer.requests
    assert {first.attempt, second.attempt} == {b"1"}
    assert {first.version, second.version} == {__version__.encode()}
    assert len(first.event_id) == len(second.event_id) == 32
    assert first.event_id != second.event_id
    assert bytes.fromhex(first.event_id.decode())


def test_an_events_id_begins_with_its_time_so_that_the_journal_grows_at_one_end(
    agent: Agent,
) -> None:
    times = [time.time()]
    with serving(agent.home, answers(answer())) as peer:
        for _ in range(2):
            agent.run()
            times.append(time.time())

    first, second = (request.event_id for request in peer.requests)
    began, between, ended = (int(each * 1000) % 2**40 for each in times)
    assert began <= int(first[:10], 16) <= between <= int(second[:10], 16) <= ended
    assert first[10:] != second[10:]


@pytest.mark.parametrize("code", [0, 1, 2, 127, 255])
def test_the_answer_comes_back_byte_for_byte(agent: Agent, code: int) -> None:
    out, err = bytes(range(256)) * 3, b"\xff\0" * 50

    with serving(agent.home, answers(answer(out, err, code))):
        assert agent.run() == Done(code, out, err)


def test_an_empty_payload_and_an_empty_answer_are_handed_on(agent: Agent) -> None:
    with serving(agent.home, answers(answer())) as peer:
        assert agent.run(stdin=b"") == Done(0, b"", b"")

    assert peer.requests[0].stdin == b""


def test_fifty_megabytes_go_there_and_back(agent: Agent) -> None:
    payload = hashlib.shake_128(b"seed").digest(MEGABYTE) * 50

    def echo(peer: Peer, line: Line) -> None:
        line.say(answer(line.hear().stdin))

    with serving(agent.home, echo):
        done = agent.run(stdin=payload)

    assert (done.code, len(done.out), done.out == payload) == (0, len(payload), True)


def test_an_answer_that_comes_in_single_bytes_is_put_together(agent: Agent) -> None:
    def dribble(peer: Peer, line: Line) -> None:
        line.hear()
        for byte in b"KK" + answer(b"out", b"err", 3):
            line.say(bytes([byte]))

    with serving(agent.home, dribble):
        assert agent.run() == Done(3, b"out", b"err")


def test_a_slow_answer_is_waited_for_while_keep_alives_come(agent: Agent) -> None:
    def slow(peer: Peer, line: Line) -> None:
        peer.requests.append(line.hear())
        for _ in range(9):
            peer.over.wait(0.3)
            line.say(b"K")
        line.say(answer(b"late"))

    with serving(agent.home, slow) as peer:
        assert agent.run() == Done(0, b"late", b"")

    assert len(peer.requests) == 1


def test_a_directory_that_is_gone_is_handed_on_by_the_name_that_it_had(agent: Agent) -> None:
    gone = agent.project / "gone"
    gone.mkdir()

    with serving(agent.home, answers(answer(b"fine"))) as peer:
        done = agent.run(cwd=gone, through='rmdir "$PWD"; exec "$@"')

    assert (done, peer.requests[0].cwd) == (Done(0, b"fine", b""), os.fsencode(gone))


def test_a_directory_that_is_too_deep_to_be_named_in_one_call_is_handed_on(agent: Agent) -> None:
    name = "d" * 250
    climb = f"for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do mkdir {name}; cd -P {name};"

    with serving(agent.home, answers(answer(b"fine"))) as peer:
        done = agent.run(cwd=agent.project, through=f'{climb} done; exec "$@"')

    shutil.rmtree(agent.project)  # by steps, as nobody else can
    deep = os.fsencode(agent.project) + f"/{name}".encode() * 18
    assert (done, peer.requests[0].cwd) == (Done(0, b"fine", b""), deep)


def can_unshare() -> bool:
    """Whether processes can have mounts of their own here."""
    if os.getuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-m", "true"], check=False, timeout=LIMIT).returncode == 0


@pytest.mark.skipif(not can_unshare(), reason="only root has mounts of its own")
def test_a_directory_that_has_no_name_at_all_is_handed_on_as_none(agent: Agent) -> None:
    detach = 'mount -t tmpfs none "$PWD"; cd "$PWD"; umount -l "$PWD"; exec "$@"'
    assert in_process(agent.run(through=f"exec unshare -m -- sh -c '{detach}' sh \"$@\""))

    assert read_request(agent.noted("request")).cwd == b""


# The agent's own descriptors


def waiting_in(pipe: Any) -> int:
    """How many bytes lie in a pipe."""
    size = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return int.from_bytes(size, sys.byteorder)


def test_a_reader_that_comes_late_misses_nothing(agent: Agent) -> None:
    out = hashlib.shake_128(b"late").digest(MEGABYTE)

    with serving(agent.home, answers(answer(out))), agent.running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        full = fcntl.fcntl(process.stdout, 1032)  # F_GETPIPE_SZ
        until(lambda: waiting_in(process.stdout) > full - 4096)
        assert process.stdout.read() == out
        assert process.wait(LIMIT) == 0


@pytest.mark.parametrize("first", ["stdout", "stderr"])
def test_either_stream_may_be_read_to_its_end_first(agent: Agent, first: str) -> None:
    size = 300_000

    with (
        serving(agent.home, answers(answer(b"o" * size, b"e" * size))),
        agent.running() as process,
    ):
        assert process.stdin is not None
        process.stdin.close()
        streams = {"stdout": process.stdout, "stderr": process.stderr}
        for name in sorted(streams, key=lambda name: name != first):
            stream = streams[name]
            assert stream is not None
            assert stream.read(size) == name[3:4].encode() * size
        assert process.wait(LIMIT) == 0


@pytest.mark.parametrize(
    ("event", "code"), [("PreToolUse", 2), ("PostToolUse", 1), ("Stop", 1), ("Unheard", 2)]
)
@pytest.mark.parametrize("how", ["nobody reads", "disk full", "closed"])
def test_stdout_that_cannot_be_written_closes_a_gate_by_exit_code(
    agent: Agent, event: str, code: int, how: str
) -> None:
    through = {"nobody reads": "", "disk full": 'exec "$@" >/dev/full', "closed": 'exec "$@" >&-'}

    def behave(peer: Peer, line: Line) -> None:
        line.hear()
        assert peer.over.wait(LIMIT)
        line.say(answer(b"said in vain"))

    words = ("hook", "claude-code", event)
    with (
        serving(agent.home, behave) as peer,
        agent.running(*words, through=through[how]) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.close()
        peer.over.set()
        said = process.stderr.read()
        assert process.wait(LIMIT) == code
    assert b"could not be written" in said


def test_a_file_that_may_not_grow_closes_a_gate_by_exit_code(agent: Agent, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    with (
        serving(agent.home, answers(answer(b"said in vain"))),
        (tmp_path / "out").open("wb") as file,
    ):
        done = agent.run(stdout=file, preexec_fn=limit)

    assert done.code == 2
    assert b"could not be written" in done.err


def test_both_streams_may_be_one_pipe_whose_reader_comes_late(agent: Agent) -> None:
    size = 300_000
    with (
        serving(agent.home, answers(answer(b"o" * size, b"e" * size))),
        agent.running(stderr=subprocess.STDOUT) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        full = fcntl.fcntl(process.stdout, 1032)  # F_GETPIPE_SZ
        until(lambda: waiting_in(process.stdout) > full - 4096)
        said = process.stdout.read()
        assert process.wait(LIMIT) == 0

    assert (said.count(b"o"), said.count(b"e"), len(said)) == (size, size, 2 * size)


def test_an_empty_answer_needs_no_stdout(agent: Agent) -> None:
    with serving(agent.home, answers(answer(b"", b"told", 5))):
        assert agent.run(through='exec "$@" >&-') == Done(5, b"", b"told")


@pytest.mark.parametrize("number", [0, 2])
def test_a_closed_descriptor_does_not_become_the_socket(agent: Agent, number: int) -> None:
    with serving(agent.home, answers(answer(b"fine", b"a word"))) as peer:
        done = agent.run(through=f'exec "$@" {number}>&-')

    assert (done.code, done.out) == (0, b"fine")
    assert peer.requests[0].stdin == (b"" if number == 0 else b"{}")


def test_all_descriptors_closed_still_close_a_gate(agent: Agent) -> None:
    with serving(agent.home, answers(answer(b"said in vain"))) as peer:
        assert agent.run(through='exec "$@" <&- >&- 2>&-').code == 2

    assert len(peer.requests) == 1


def test_the_agents_descriptors_stay_blocking(agent: Agent) -> None:
    read, write = os.pipe()
    try:
        with serving(agent.home, answers(answer(b"x"))):
            agent.run(stdout=write)
        assert os.get_blocking(write)
    finally:
        os.close(read)
        os.close(write)


# When the daemon does not answer


def in_process(done: Done) -> bool:
    """Whether the stand-in answered."""
    return done == Done(7, b"in process", b"")


def test_without_a_daemon_a_process_is_started_that_answers(agent: Agent) -> None:
    assert in_process(agent.run(stdin=b"\xff payload"))

    request = read_request(agent.noted("request"))
    assert (request.stdin, request.attempt) == (b"\xff payload", b"1")


def test_ten_megabytes_reach_a_process_that_was_started(agent: Agent) -> None:
    payload = b"0123456789" * MEGABYTE
    assert in_process(agent.run(stdin=payload))

    assert read_request(agent.noted("request")).stdin == payload


def never_acknowledges(peer: Peer, line: Line) -> None:
    peer.requests.append(read_request(line.socket.recv(1 << 20)))
    peer.over.wait(LIMIT)


@pytest.mark.parametrize("behave", [never_acknowledges, stays_silent])
def test_a_silent_daemon_is_given_up_with_the_same_id_and_a_second_attempt(
    agent: Agent, behave: Callable[[Peer, Line], None]
) -> None:
    with serving(agent.home, behave) as peer:
        assert in_process(agent.run())

    before, after = peer.requests[0], read_request(agent.noted("request"))
    assert (before.attempt, after.attempt) == (b"1", b"2")
    assert after._replace(attempt=b"1", spent=before.spent) == before


@pytest.mark.parametrize(("behave", "least"), [(never_acknowledges, 250), (stays_silent, 2000)])
def test_the_time_that_a_silent_daemon_took_is_told_to_whoever_is_asked_then(
    agent: Agent, behave: Callable[[Peer, Line], None], least: int
) -> None:
    with serving(agent.home, behave):
        assert in_process(agent.run())

    assert int(read_request(agent.noted("request")).spent) >= least


def test_the_time_that_the_payload_took_is_told(agent: Agent) -> None:
    with serving(agent.home, answers(answer(b"fine"))) as peer, agent.running() as process:
        assert process.stdin is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        until(lambda: waiting_in(process.stdin) == 0)  # so it has begun
        began = time.monotonic()
        until(lambda: time.monotonic() > began + 0.3)
        process.stdin.close()
        assert process.wait(LIMIT) == 0

    assert int(peer.requests[0].spent) >= 300


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"K",
        b"X",
        b"KX",
        b"R",
        b"R\0\0\0\0",
        answer(b"half an answer")[:-1],
        answer(b"", b"half an answer")[:-1],
        b"V\0\5abc",
        b"B\0",
        bytes(range(128, 256)),
    ],
    ids=repr,
)
def test_half_an_answer_and_nonsense_are_no_answer(agent: Agent, said: bytes) -> None:
    with serving(agent.home, answers(said)) as peer:
        assert in_process(agent.run())

    after = read_request(agent.noted("request"))
    assert (after.attempt, after.event_id) == (b"2", peer.requests[0].event_id)


@pytest.mark.parametrize("said", [b"V\0\x055.0.1", b"B\0\x08stopping", b"KKB\0\0"])
def test_a_daemon_that_turns_the_event_away_has_not_tried_it(agent: Agent, said: bytes) -> None:
    with serving(agent.home, answers(said)) as peer:
        assert in_process(agent.run())

    after = read_request(agent.noted("request"))
    assert (after.attempt, after.event_id) == (b"1", peer.requests[0].event_id)


def test_a_refusal_is_heard_while_the_payload_is_still_being_sent(agent: Agent) -> None:
    def refuse(peer: Peer, line: Line) -> None:
        line.socket.recv(8)
        line.say(b"A" + b"B\0\4busy")

    with serving(agent.home, refuse):
        assert in_process(agent.run(stdin=bytes(5 * MEGABYTE)))

    assert read_request(agent.noted("request")).attempt == b"1"


def test_a_daemon_that_accepts_nobody_any_more_is_given_up(agent: Agent) -> None:
    directory = run_directory(agent.home)
    directory.mkdir(mode=0o700)
    here = os.open(directory, os.O_RDONLY)
    path = f"/proc/self/fd/{here}/daemon.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(0)
        assert in_process(agent.run())  # it is queued, and never acknowledged
        assert in_process(agent.run())  # the first still holds the only place in the queue
    assert in_process(agent.run())  # nobody holds the socket any more
    os.close(here)


def test_a_process_of_its_own_is_asked_where_the_daemon_is_not_wanted(agent: Agent) -> None:
    with serving(agent.home, answers(answer(b"the daemon"))) as peer:
        assert in_process(agent.run(env={"HOOKLINE_NO_DAEMON": "1"}))

    assert not peer.requests


@pytest.mark.parametrize(("wanted", "last"), [("1", "--once"), ("0", "0"), ("", "0")])
def test_such_a_process_is_told_not_to_stay(agent: Agent, wanted: str, last: str) -> None:
    agent.stands_in("say(b'A'); hear(); answer(sys.orig_argv[-1].encode())")

    assert agent.run(env={"HOOKLINE_NO_DAEMON": wanted}).out == last.encode()


def test_a_home_that_is_no_whole_path_has_no_daemon(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(agent.project)
    agent.home = Path("state")
    with serving(agent.home, answers(answer(b"the daemon of some directory"))) as peer:
        assert in_process(agent.run("hook", "--home", "/", "claude-code", "PreToolUse"))

    assert not peer.requests


@pytest.mark.skipif(not can_unshare(), reason="only root has mounts of its own")
def test_a_daemon_that_sees_other_files_is_not_asked(agent: Agent) -> None:
    with serving(agent.home, answers(answer(b"seen from elsewhere"))) as peer:
        assert in_process(agent.run(through='exec unshare -m -- "$@"'))

    assert not peer.requests


# Who may be the daemon


@pytest.mark.parametrize("home", ["/srv/home", "/srv/h\u00f6me", "/srv/\udcff"])
def test_the_daemon_is_where_the_clients_look_for_it(home: str) -> None:
    assert find_run_dir(home, __version__) == str(run_directory(Path(home)))


def open_to_others(directory: Path) -> None:
    directory.chmod(0o755)


def open_to_the_group(directory: Path) -> None:
    directory.chmod(0o710)


def a_link(directory: Path) -> None:
    elsewhere = directory.with_name("elsewhere")
    directory.rename(elsewhere)
    directory.symlink_to(elsewhere)


def somebody_elses(directory: Path) -> None:
    os.chown(directory, 65534, 65534)


UNSAFE = [open_to_others, open_to_the_group, a_link]
# Only root can give a directory away; everyone else cannot be given one by anybody but root.
UNSAFE += [somebody_elses] if os.getuid() == 0 else []


@pytest.mark.parametrize("spoil", UNSAFE)
def test_a_daemon_that_others_could_have_put_there_is_not_asked(
    agent: Agent, spoil: Callable[[Path], None]
) -> None:
    with serving(agent.home, answers(answer(b"anything goes"))) as peer:
        spoil(run_directory(agent.home))
        assert in_process(agent.run())

    assert not peer.requests


OTHERS_DAEMON = """
import os, socket, sys
listener = socket.socket(socket.AF_UNIX)
os.chdir(sys.argv[1])
listener.bind("daemon.sock")
os.chmod("daemon.sock", 0o777)
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
listener.listen()
print(os.getuid(), flush=True)
listener.settimeout(60)
connection, _ = listener.accept()
connection.sendall(b"A" + b"R" + bytes(9))
connection.recv(1)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_daemon_of_another_user_is_not_believed(agent: Agent) -> None:
    directory = run_directory(agent.home)
    directory.mkdir(mode=0o700)
    argv = [sys.executable, "-c", OTHERS_DAEMON, str(directory)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"65534\n"
            assert in_process(agent.run())
        finally:
            other.kill()

    assert read_request(agent.noted("request")).attempt == b"1"


# The process that is started

FACTS = """
say(b'A'); hear()
held = []
for number in range(1024):
    try:
        os.fstat(number)
        held.append(number)
    except OSError:
        pass
null = os.stat('/dev/null').st_rdev
answer(repr((
    sys.orig_argv[2:],
    dict(os.environ),
    os.getcwd(),
    held,
    [os.fstat(number).st_rdev == null for number in (1, 2)],
    os.getsid(0) == os.getpid(),
    [signal.getsignal(each) == signal.SIG_DFL for each in (signal.SIGHUP, signal.SIGCHLD)],
    signal.pthread_sigmask(signal.SIG_BLOCK, ()) == set(),
)).encode())
"""


def test_nothing_of_the_agents_is_left_in_the_process_that_is_started(agent: Agent) -> None:
    import ast
    import pwd

    agent.stands_in(FACTS)
    read, write = os.pipe()

    def burden() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGUSR1})

    done = agent.run(pass_fds=(read, write), preexec_fn=burden, env={"SECRET": "1"})
    os.close(read)
    os.close(write)

    argv, env, cwd, held, silent, leads, default, unblocked = ast.literal_eval(done.out.decode())
    assert argv == [str(agent.python), "-I", "-m", "hookline", "daemon", "serve", "--fd", "0"]
    assert env.pop("LC_CTYPE", None) in {None, "C.UTF-8"}
    assert env == {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": pwd.getpwuid(os.getuid()).pw_dir,
    }
    assert (cwd, held, silent) == ("/", [0, 1, 2], [True, True])
    assert (leads, default, unblocked) == (True, [True, True], True)


def test_the_agent_does_not_wait_for_the_process_that_stays(agent: Agent) -> None:
    agent.stands_in(
        ANSWERS + "\nwhile not os.path.exists(HERE + '/go'): signal.sigtimedwait((), 0.01)"
    )

    assert in_process(agent.run())  # its pipes came to their end, and the process is still there
    pid = int(agent.noted("pid"))
    assert not is_gone(pid)
    (agent.tools / "go").touch()
    until(lambda: is_gone(pid))


@pytest.mark.parametrize(
    "behaviour",
    [
        "sys.exit(1)",
        "hear(); sys.exit(0)",
        "say(b'A'); hear(); os.kill(os.getpid(), signal.SIGKILL)",
        "say(b'A'); hear(); say(b'R\\0\\0\\0\\0\\5\\0\\0\\0\\0half')",
        "hear(); say(b'V\\0\\0'); hear()",
        "hear(); say(b'nonsense'); socket.recv(1)",
    ],
)
def test_a_process_that_ends_without_an_answer_leaves_the_last_answer(
    configured: Agent, behaviour: str
) -> None:
    configured.stands_in(behaviour)

    assert is_closed(configured.run())
    until(lambda: is_gone(int(configured.noted("pid"))))


def test_a_process_that_hangs_before_it_begins_is_ended_with_us(configured: Agent) -> None:
    configured.stands_in_with(
        f"#!/bin/sh\necho $$ > {configured.tools}/part\n"
        f"mv {configured.tools}/part {configured.tools}/pid\nexec sleep 60\n"
    )

    assert is_closed(configured.run(timeout="3"))
    until(lambda: is_gone(int(configured.noted("pid"))))


def test_a_process_that_has_begun_learns_that_we_are_gone_and_ends_by_itself(
    configured: Agent,
) -> None:
    configured.stands_in("say(b'A'); hear()\nnote('end', socket.recv(1))")

    assert is_closed(configured.run(timeout="3"))
    until((configured.tools / "end").exists)
    assert configured.noted("end") == b""


def test_a_process_that_has_begun_and_looks_no_more_is_ended_with_all_it_leads(
    configured: Agent,
) -> None:
    configured.stands_in(
        f"say(b'A'); hear()\n"
        f"signal.alarm({int(3 * LIMIT)})\n"
        "child = os.fork()\n"
        f"signal.alarm({int(3 * LIMIT)})\n"
        "if child: note('child', b'%d' % child)\n"
        "while True: signal.pause()"
    )

    assert is_closed(configured.run(timeout="4"))
    until(lambda: is_gone(int(configured.noted("pid"))))
    until(lambda: is_gone(int(configured.noted("child"))))


def test_an_interpreter_that_cannot_be_run_leaves_the_last_answer(configured: Agent) -> None:
    configured.python.chmod(0o644)
    assert is_closed(configured.run())
    configured.python.unlink()
    assert is_closed(configured.run())
    configured.python.write_text("#!/nowhere/at/all\n")
    configured.python.chmod(0o755)
    assert is_closed(configured.run())


def test_without_descriptors_left_the_gate_is_closed(configured: Agent) -> None:
    # Python needs one to read itself with.
    limit = 4 if configured.name == "python" else 3

    def starve() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    with serving(configured.home, answers(answer(b"anything goes"))):
        assert is_closed(configured.run(preexec_fn=starve, close_fds=True))


@pytest.mark.parametrize("limit", range(10))
def test_however_few_descriptors_there_are_the_gate_is_closed(
    configured: Agent, limit: int
) -> None:
    if configured.name == "python" and limit < 4:
        pytest.skip("Python needs one to read itself with")

    def starve() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    denial = answer(b"denied", b"", 2)
    with serving(configured.home, answers(denial)):
        done = configured.run(preexec_fn=starve, close_fds=True)

    assert done == Done(2, b"denied", b"") or is_closed(done)


# Deadlines and signals


def test_at_the_deadline_the_last_answer_is_given(configured: Agent) -> None:
    with serving(configured.home, keeps_waiting) as peer:
        done = configured.run(timeout="1")
        assert peer.hung_up.wait(LIMIT)

    assert is_closed(done)
    assert b"time" in done.err
    assert not (configured.tools / "pid").exists()


def floods(peer: Peer, line: Line) -> None:
    """A daemon that says without a pause that it is still there."""
    peer.requests.append(line.hear())
    with suppress(OSError):
        while not peer.over.wait(0.001):
            line.say(b"K" * 4096)
    peer.hung_up.set()


def dribbles(peer: Peer, line: Line) -> None:
    """A daemon whose answer comes a byte at a time, and has no end."""
    peer.requests.append(line.hear())
    line.say(b"R" + bytes(1) + b"\xff" * 4 + bytes(4))
    with suppress(OSError):
        while not peer.over.wait(0.01):
            line.say(b"x")
    peer.hung_up.set()


@pytest.mark.parametrize("behave", [floods, dribbles])
def test_a_daemon_that_only_talks_does_not_put_off_the_deadline(
    configured: Agent, behave: Callable[[Peer, Line], None]
) -> None:
    with serving(configured.home, behave) as peer:
        done = configured.run(timeout="2")
        assert peer.hung_up.wait(LIMIT)

    assert is_closed(done)


ENDLESS = {
    "keep-alives": "while True: say(b'K'); select.select((), (), (), 0.01)",
    "stopped": "os.kill(os.getpid(), signal.SIGSTOP)",
}


@pytest.mark.parametrize("way", ENDLESS)
def test_a_process_that_hangs_and_heeds_no_signal_does_not_put_off_the_deadline(
    configured: Agent, way: str
) -> None:
    configured.stands_in(
        "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):\n"
        "    signal.signal(number, signal.SIG_IGN)\n"
        f"import select\nhear(); say(b'A')\n{ENDLESS[way]}"
    )

    done = configured.run(timeout="3", env={"HOOKLINE_NO_DAEMON": "1"})

    assert is_closed(done)
    until(lambda: is_gone(int(configured.noted("pid"))))


def test_a_payload_that_never_ends_is_cut_off_by_the_deadline(configured: Agent) -> None:
    with configured.running(timeout="1") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        assert process.stdout.read() == DENIAL.stdout
        assert process.wait(LIMIT) == 0


def test_an_answer_that_nobody_reads_in_time_closes_the_gate_by_exit_code(agent: Agent) -> None:
    with (
        serving(agent.home, answers(answer(bytes(MEGABYTE)))),
        # Time enough to hear the answer: it is the reader who is late.
        agent.running(timeout="4") as process,
    ):
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LIMIT) == 2


ENDINGS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT]


@contextmanager
def one_pipe() -> Iterator[tuple[int, int]]:
    """A pipe of a single page, so that either stream takes the room of the other."""
    read, write = os.pipe()
    fcntl.fcntl(write, 1031, 4096)  # F_SETPIPE_SZ
    try:
        yield read, write
    finally:
        os.close(read)
        os.close(write)


@contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """A terminal that nobody looks at: it polls writable, and then takes less than a piece."""
    read, write = os.openpty()
    try:
        yield read, write
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.parametrize("place", [one_pipe, terminal])
@pytest.mark.parametrize("told", [False, True], ids=["at the deadline", "told to end"])
def test_a_write_that_waits_for_ever_is_given_up(
    agent: Agent, place: Callable[[], Any], told: bool
) -> None:
    said = answer(b"o" * 100_000, b"e" * 100_000)
    with serving(agent.home, answers(said)), place() as (read, write):
        both = {"stdout": write, "stderr": write}
        with agent.running(timeout="600" if told else "4", **both) as process:
            assert process.stdin is not None
            process.stdin.close()
            until(lambda: waiting_in(read) > 1000)
            if told:
                process.terminate()
            assert process.wait(LIMIT) == 2


@pytest.mark.parametrize("number", ENDINGS)
def test_told_to_end_it_hangs_up_and_gives_the_last_answer(
    configured: Agent, number: signal.Signals
) -> None:
    with serving(configured.home, keeps_waiting) as peer, configured.running() as process:
        assert process.stdin is not None
        process.stdin.close()
        until(lambda: peer.requests)
        process.send_signal(number)
        assert process.stdout is not None
        assert process.stderr is not None
        done = Done(process.wait(LIMIT), process.stdout.read(), process.stderr.read())
        assert peer.hung_up.wait(LIMIT)

    assert is_closed(done)
    assert not (configured.tools / "pid").exists()


@pytest.mark.parametrize("number", ENDINGS)
def test_told_to_end_while_the_payload_comes_it_gives_the_last_answer(
    configured: Agent, number: signal.Signals
) -> None:
    with configured.running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"{")
        process.stdin.flush()
        until(lambda: waiting_in(process.stdin) == 0)
        process.send_signal(number)
        assert process.stdout.read() == DENIAL.stdout
        assert process.wait(LIMIT) == 0


def test_told_to_end_while_a_process_answers_it_gives_the_last_answer(configured: Agent) -> None:
    configured.stands_in("say(b'A'); hear()\nnote('end', socket.recv(1))")
    with configured.running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        until((configured.tools / "request").exists)
        process.terminate()
        assert process.stdout.read() == DENIAL.stdout
        assert process.wait(LIMIT) == 0
    until((configured.tools / "end").exists)


def test_told_to_end_while_nobody_reads_it_closes_the_gate_by_exit_code(agent: Agent) -> None:
    with serving(agent.home, answers(answer(bytes(MEGABYTE)))), agent.running() as process:
        assert process.stdin is not None
        process.stdin.close()
        until(lambda: waiting_in(process.stdout) > 0)
        process.terminate()
        assert process.wait(LIMIT) == 2


def test_a_signal_that_the_agent_ignores_is_ignored(agent: Agent) -> None:
    asked = threading.Event()

    def behave(peer: Peer, line: Line) -> None:
        peer.requests.append(line.hear())
        assert asked.wait(LIMIT)
        line.say(answer(b"fine"))

    def ignore() -> None:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)

    with serving(agent.home, behave) as peer, agent.running(preexec_fn=ignore) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        until(lambda: peer.requests)
        process.send_signal(signal.SIGHUP)
        asked.set()
        assert process.stdout.read() == b"fine"
        assert process.wait(LIMIT) == 0


def test_what_arrived_while_we_were_stopped_counts(agent: Agent) -> None:
    said = threading.Event()

    def behave(peer: Peer, line: Line) -> None:
        peer.requests.append(line.hear())
        assert said.wait(LIMIT)
        line.say(answer(b"fine"))

    with serving(agent.home, behave) as peer, agent.running() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        until(lambda: peer.requests)
        process.send_signal(signal.SIGSTOP)
        said.set()
        peer.over.wait(2.2)  # longer than a silence that we put up with
        process.send_signal(signal.SIGCONT)
        assert process.stdout.read() == b"fine"

    assert not (agent.tools / "pid").exists()


# Last answers


@pytest.mark.parametrize("name", registry.dialect_names())
def test_the_last_answer_is_what_the_encoder_says(configured: Agent, name: str) -> None:
    configured.python.unlink()
    dialect = registry.dialect(name)
    for event in [*dialect.support.events, None, "NeverHeardOf"]:
        done = configured.run("hook", name, *([event] if event else []))
        refusal = dialect.refuse(event, last_answers.REASON)
        line = b"hookline-client: its Python cannot be run\n"
        err = refusal.stderr + (b"" if refusal.stderr.endswith(b"\n") else b"\n") + line
        assert done == Done(refusal.exit_code, refusal.stdout, err), event


@pytest.mark.parametrize("words", [("hook", "auto", "PreToolUse"), ("hook", "nobody"), ("hook",)])
def test_for_an_unknown_caller_the_exit_code_closes_the_gate(
    configured: Agent, words: tuple[str, ...]
) -> None:
    configured.python.unlink()
    done = configured.run(*words)

    assert (done.code, done.out) == (2, b"")
    assert last_answers.REASON.encode() in done.err


@pytest.mark.parametrize("name", registry.dialect_names())
def test_with_nothing_configured_the_last_answer_is_a_pass(agent: Agent, name: str) -> None:
    agent.python.unlink()
    rows = {row.event: row for row in last_answers.rows() if row.dialect == name}
    gate = next(event for event, row in rows.items() if event and row.closes)
    done = agent.run("hook", name, gate)

    assert (done.code, done.out) == (0, rows[gate].passing)
    assert b"nothing is configured" in done.err


def in_the_project(agent: Agent) -> None:
    (agent.project / "hookline.yaml").touch()


def in_a_folder_of_the_project(agent: Agent) -> None:
    (agent.project / ".hookline").mkdir()
    (agent.project / ".hookline/hookline.yaml").touch()


def above_the_project(agent: Agent) -> None:
    (agent.project.parent / "hookline.yaml").touch()


def of_the_user(agent: Agent) -> None:
    (agent.config / "hookline").mkdir()
    (agent.config / "hookline/hookline.yaml").touch()


def trusted_somewhere(agent: Agent) -> None:
    (agent.home / "trust").mkdir()
    (agent.home / "trust/entry").touch()


def a_trust_store_that_cannot_be_listed(agent: Agent) -> None:
    (agent.home / "trust").symlink_to("trust")


def a_link_to_nowhere(agent: Agent) -> None:
    (agent.project / "hookline.yaml").symlink_to("nowhere")


def a_place_that_cannot_be_looked_at(agent: Agent) -> None:
    (agent.project / ".hookline").symlink_to(".hookline")


@pytest.mark.parametrize(
    "configure",
    [
        in_the_project,
        in_a_folder_of_the_project,
        above_the_project,
        of_the_user,
        trusted_somewhere,
        a_trust_store_that_cannot_be_listed,
        a_link_to_nowhere,
        a_place_that_cannot_be_looked_at,
    ],
)
def test_whatever_is_or_may_be_configured_closes_the_gate(
    agent: Agent, configure: Callable[[Agent], None]
) -> None:
    agent.python.unlink()
    assert not is_closed(agent.run())
    configure(agent)

    assert is_closed(agent.run())


@pytest.mark.parametrize("words", [("--config", "x.yaml"), ("--trust-env",)])
def test_a_config_that_is_named_or_may_be_named_closes_the_gate(
    agent: Agent, words: tuple[str, ...]
) -> None:
    agent.python.unlink()

    assert is_closed(agent.run(*GATE, *words))


@pytest.mark.parametrize("home", ["state", "./", ""])
def test_a_home_that_is_no_whole_path_may_have_been_configured(agent: Agent, home: str) -> None:
    agent.python.unlink()
    argv = [*agent.argv(), "--home", home]
    done = subprocess.run(
        argv, input=b"{}", capture_output=True, cwd=agent.project, timeout=LIMIT, check=False
    )

    assert is_closed(Done(done.returncode, done.stdout, done.stderr))


def test_a_directory_that_is_gone_may_have_been_configured(agent: Agent) -> None:
    agent.python.unlink()
    gone = agent.project / "gone"
    gone.mkdir()

    assert is_closed(agent.run(cwd=gone, through='rmdir "$PWD"; exec "$@"'))


# How it is called


@pytest.mark.parametrize("words", [("fire", "x"), ("daemon", "serve"), ("--help",)])
def test_anything_but_hook_is_not_for_the_client(agent: Agent, words: tuple[str, ...]) -> None:
    with serving(agent.home, answers(answer())) as peer:
        done = agent.run(*words)

    assert (done.code, done.out) == (64, b"")
    assert done.err.startswith(b"usage: ")
    assert not peer.requests


@pytest.mark.parametrize("timeout", ["abc", "0", "-5", "nan", "inf", ""])
def test_a_timeout_that_is_none_is_for_the_answer_to_judge(agent: Agent, timeout: str) -> None:
    with serving(agent.home, answers(answer(b"judged"))) as peer:
        assert agent.run(timeout=timeout) == Done(0, b"judged", b"")

    assert peer.requests[0].argv[-1] == timeout.encode()


def test_options_may_stand_anywhere_and_the_last_of_two_counts(agent: Agent) -> None:
    with serving(agent.home, answers(answer(b"found"))):
        done = agent.run(
            "hook", "--home", "/nowhere", "claude-code", "--timeout", "5", "PreToolUse"
        )

    assert done == Done(0, b"found", b"")


# When even the client in Python cannot run


class Damaged:
    """A copy of the client in Python, to be broken."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "hookline/client"
        shutil.copytree(Path(client.SCRIPT).parent, self.folder)
        shutil.rmtree(self.folder / "__pycache__", ignore_errors=True)
        shutil.copy(Path(client.SCRIPT).parent.parent / "_version.py", self.folder.parent)
        self.agent = Agent(base, self._words, "python")
        (self.agent.config / "hookline").mkdir()
        (self.agent.config / "hookline/hookline.yaml").write_text("hooks: {}\n")
        self.agent.python.unlink()

    def _words(self, python: str) -> list[str]:
        return [sys.executable, "-I", "-S", "-E", str(self.folder / "thin.py"), python]

    def cut(self, name: str, size: int) -> None:
        """A file of which only the beginning is left."""
        (path,) = self.folder.glob(name)
        path.write_bytes(path.read_bytes()[:size])


@pytest.fixture
def damaged(tmp_path: Path) -> Damaged:
    return Damaged(tmp_path)


@pytest.mark.parametrize(
    ("event", "code"),
    [("PreToolUse", 2), ("Unheard", 2), ("Stop", 1), ("SessionStart", 1), ("PostToolUse", 1)],
)
@pytest.mark.parametrize("name", ["thin_ask.py", "thin_io.py", "__pycache__/thin_io.*.pyc"])
def test_a_client_that_lacks_a_part_closes_the_gate_by_exit_code(
    damaged: Damaged, name: str, event: str, code: int
) -> None:
    assert damaged.agent.run("hook", "claude-code", event).code == 0
    damaged.cut(name, 200)
    if name.endswith(".py"):
        shutil.rmtree(damaged.folder / "__pycache__")
    done = damaged.agent.run("hook", "claude-code", event)

    assert (done.code, done.out) == (code, b"")
    assert done.err.startswith(b"hookline could not judge this: its client cannot run here: ")
    assert done.err.endswith(b" `hookline doctor` says what to fix.\n")


@pytest.mark.parametrize("size", [0, 5, 3000, 12000])
def test_a_table_of_last_answers_that_is_cut_off_closes_the_gate(
    damaged: Damaged, size: int
) -> None:
    damaged.cut("last_answers.txt", size)
    done = damaged.agent.run()

    assert is_closed(done) or (done.code == 2 and last_answers.REASON.encode() in done.err)


def test_the_table_of_last_answers_fits_into_the_one_piece_that_is_read() -> None:
    assert (Path(client.SCRIPT).parent / "last_answers.txt").stat().st_size < 1 << 16


def test_the_last_word_closes_every_gate_and_nothing_else() -> None:
    names = {row.event for row in last_answers.rows()} - {None}
    gates = {row.event for row in last_answers.rows() if row.closes}

    assert set(module("src/hookline/client/thin.py").OPEN.split()) == names - gates


@pytest.mark.parametrize("megabytes", [16, 24, 40, 64])
def test_a_payload_for_which_there_is_no_memory_closes_the_gate(
    configured: Agent, megabytes: int
) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    with serving(configured.home, stays_silent):
        done = configured.run(stdin=bytes(60 * MEGABYTE), preexec_fn=limit)

    assert is_closed(done) or (done.code == 2 and done.err)
