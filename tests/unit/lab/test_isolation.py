"""A place where only loopback is, and that takes all that ran in it along."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from threading import Thread
from time import monotonic, sleep

import pytest

from hookline.lab.isolation import Place, place
from hookline.lab.ports import Launch
from hookline.lab.running import Ran, run
from hookline.model.errors import HooklineError

ENV = {"PATH": os.environ["PATH"]}


def in_python(where: Place, script: str, *words: str) -> Ran:
    """What a small program says there."""
    argv = (sys.executable, "-I", "-S", "-c", script, *words)
    return run(where, Launch(argv=argv, env=ENV, timeout=60), "/")


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether it comes true before a test would be given up."""
    deadline = monotonic() + 30
    while not condition():
        if monotonic() > deadline:
            return False
        sleep(0.01)
    return True


def is_gone(pid: int) -> bool:
    """Whether there is no such process, or only what is left of one."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


CONNECT = """
import errno, socket, sys
try:
    socket.create_connection(("192.0.2.1", 80), 20).close()
    print("connected")
except OSError as error:
    print(errno.errorcode.get(error.errno, error))
"""

MODEL = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 20) as line:
    print(line.recv(100).decode())
"""


def test_a_program_there_reaches_the_model_and_nothing_else() -> None:
    with place() as where:
        if not where.isolated:
            pytest.skip(f"the kernel does not let us: {where.why_not}")
        assert where.listener is not None
        assert in_python(where, CONNECT).stdout.strip() == b"ENETUNREACH"

        def answer(listener: socket.socket) -> None:
            line, _ = listener.accept()
            with closing(line):
                line.sendall(b"hello from the model")

        with where.listener.dup() as listener:
            model = Thread(target=answer, args=(listener,))
            model.start()
            said = in_python(where, MODEL, str(where.port)).stdout.strip()
            model.join()
        assert said == b"hello from the model"


def test_the_port_of_an_isolated_place_is_not_a_port_of_this_machine() -> None:
    with place() as where:
        if not where.isolated:
            pytest.skip(f"the kernel does not let us: {where.why_not}")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", where.port), 5)


def test_a_place_that_is_not_isolated_says_so_and_listens_on_this_machine() -> None:
    with place(isolate=False) as where:
        assert not where.isolated
        assert where.why_not
        socket.create_connection(("127.0.0.1", where.port), 5).close()


def test_where_the_kernel_refuses_the_place_is_this_machine_and_the_reason_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: os.PathLike[str]
) -> None:
    # A python that runs the holder with no network namespace to be had, as in most containers.
    refusing = os.path.join(tmp_path, "python")
    body = (
        "import ctypes, runpy, sys\n"
        "real = ctypes.CDLL\n"
        "class Library:\n"
        "    def __init__(self, name, **options): self._library = real(name, **options)\n"
        "    def __getattr__(self, name): return getattr(self._library, name)\n"
        "    def unshare(self, flags): ctypes.set_errno(1); return -1\n"
        "ctypes.CDLL = Library\n"
        "sys.argv = sys.argv[3:]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    script = os.path.join(tmp_path, "refuse.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write(body)
    with open(refusing, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {sys.executable} -I {script} "$@"\n')
    os.chmod(refusing, 0o755)
    monkeypatch.setattr(sys, "executable", refusing)
    with place() as where:
        assert not where.isolated
        assert "refuses a network namespace" in where.why_not
        socket.create_connection(("127.0.0.1", where.port), 5).close()


FORK_AWAY = """
import os
told, tell = os.pipe()
if os.fork():
    os.read(told, 1)  # our group is ended with us, so the other has to be out of it
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
os.write(tell, b"x")
os.execve("/bin/sh", ["sh", "-c", "echo $$; exec sleep 600 >/dev/null 2>&1"], {})
"""


def test_a_daemon_that_left_its_group_and_cleared_its_environment_ends_with_the_place() -> None:
    with place() as where:
        pid = int(in_python(where, FORK_AWAY).stdout)
        assert not is_gone(pid)
    assert is_gone(pid)


def test_one_that_will_not_be_asked_is_killed() -> None:
    words = "trap '' TERM; echo $$; exec >/dev/null 2>&1; while :; do sleep 1; done"
    deaf = FORK_AWAY.replace("echo $$; exec sleep 600 >/dev/null 2>&1", words)
    assert deaf != FORK_AWAY
    with place() as where:
        pid = int(in_python(where, deaf).stdout)
        assert not is_gone(pid)
    assert is_gone(pid)


def test_everything_ends_when_we_are_killed_ourselves() -> None:
    script = (
        "import os, sys\n"
        "from hookline.lab.isolation import place\n"
        "with place() as where:\n"
        "    quiet = os.open(os.devnull, os.O_RDWR)\n"
        "    stdio = (quiet, quiet, quiet)\n"
        "    pid = where.start(['sleep', '600'], env={'PATH': os.environ['PATH']}, cwd='/', stdio=stdio)\n"
        "    print(pid, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert program.stdout is not None
    with program:
        pid = int(program.stdout.readline())
        assert not is_gone(pid)
        program.send_signal(signal.SIGKILL)
        program.wait(30)
    assert eventually(lambda: is_gone(pid))


def test_a_program_that_is_not_there_is_named() -> None:
    with place() as where, pytest.raises(HooklineError, match="cannot start `/no/such/client`"):
        run(where, Launch(argv=("/no/such/client",), env=ENV), "/")


def test_several_programs_run_in_one_place_one_after_another() -> None:
    with place() as where:
        said = [in_python(where, "import sys; print(sys.argv[1])", word) for word in ("a", "b")]
    assert [ran.stdout for ran in said] == [b"a\n", b"b\n"]
