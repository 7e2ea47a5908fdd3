"""Run as a program: starts clients where only loopback is, and ends all that they leave behind.

Standard library only, since it runs isolated from installed packages. It is told what to do by
JSON lines over an inherited socket, and when that ends, so does everything it started: whoever
told it may have been killed. As subreaper it is the parent of every process that lost its own, so
none can leave by forking twice, changing its group or clearing its environment.
"""

import ctypes
import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
from contextlib import suppress
from typing import Any

CLONE_NEWNET = 0x40000000
CLONE_NEWUSER = 0x10000000
PR_SET_CHILD_SUBREAPER = 36
SIOCSIFFLAGS = 0x8914
UP_AND_RUNNING = 0x1 | 0x40

# How long a killed process may take to be gone (a dead network disk) before we give it up.
PATIENCE = 5.0
POLL = 0.05


def main() -> None:
    """Shut ourselves in, hand out the socket that is inside, and serve until told to end."""
    control = socket.socket(fileno=int(sys.argv[1]))
    why = _shut_in() if sys.argv[2] == "isolate" else "it was not asked for"
    wanted = sys.argv[2] == "isolate"
    if wanted and why:
        # Half shut in is no place for a client: the next of us does without.
        control.sendall(_line({"isolated": False, "why": why}))
        return
    _adopt_orphans()
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    socket.send_fds(control, [_line({"isolated": wanted, "why": why})], [listener.fileno()])
    listener.close()
    with suppress(BrokenPipeError, ConnectionResetError):
        Nursery(control).serve()


def _shut_in() -> str:
    """A network with nothing but loopback in it; why not, where the kernel refuses."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        unshare = libc.unshare
    except (OSError, AttributeError):
        return "this system has no network namespaces"
    uid, gid = os.getuid(), os.getgid()
    flags = CLONE_NEWNET if uid == 0 else CLONE_NEWNET | CLONE_NEWUSER
    if unshare(flags) != 0:
        return f"the kernel refuses a network namespace: {os.strerror(ctypes.get_errno())}"
    try:
        if flags & CLONE_NEWUSER:
            _write("/proc/self/setgroups", "deny")
            _write("/proc/self/uid_map", f"{uid} {uid} 1")
            _write("/proc/self/gid_map", f"{gid} {gid} 1")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            wanted = struct.pack("16sh22x", b"lo", UP_AND_RUNNING)
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, wanted)
    except OSError as error:
        return f"loopback cannot be brought up in a network namespace: {error.strerror}"
    return ""


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _adopt_orphans() -> None:
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _take_terminal() -> None:
    """In a new session, its stdin becomes the terminal that signals come from."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


class Nursery:
    """All the processes that we started, and those that they started."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._started: dict[int, subprocess.Popen[bytes]] = {}
        self._unread = b""
        self._descriptors: list[int] = []
        self._child_ended, write_end = os.pipe()
        os.set_blocking(self._child_ended, False)
        os.set_blocking(write_end, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)

    def serve(self) -> None:
        """Until we are told to end, or nobody is there to tell us."""
        try:
            while True:
                control = self._control.fileno()
                ready, _, _ = select.select([control, self._child_ended], [], [])
                if self._child_ended in ready:
                    self._reap()
                if control in ready and not self._obey():
                    return
        finally:
            self._end_all(2.0)

    def _obey(self) -> bool:
        data, descriptors, _, _ = socket.recv_fds(self._control, 65536, 3)
        if not data:
            return False
        self._descriptors += descriptors
        self._unread += data
        while b"\n" in self._unread:
            line, _, self._unread = self._unread.partition(b"\n")
            message = json.loads(line)
            if "start" in message:
                self._control.sendall(_line(self._start(**message["start"])))
            elif "signal" in message:
                self._signal_group(*message["signal"])
        return True

    def _start(
        self, argv: list[str], env: dict[str, str], cwd: str, terminal: bool
    ) -> dict[str, Any]:
        descriptors, self._descriptors = self._descriptors, []
        try:
            process = subprocess.Popen(  # noqa: S603 - running the given program is what we are for
                argv,
                env=env,
                cwd=cwd,
                stdin=descriptors[0],
                stdout=descriptors[1],
                stderr=descriptors[2],
                start_new_session=True,
                preexec_fn=_take_terminal if terminal else None,  # noqa: PLW1509 - no threads here
            )
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            return {"failed": str(error)}
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        self._started[process.pid] = process
        return {"started": process.pid}

    def _reap(self) -> bool:
        """Buries the dead; whether anybody is left."""
        with suppress(BlockingIOError):
            while os.read(self._child_ended, 1024):
                pass
        while True:
            try:
                dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                return False
            if dead is None:
                return True
            # Before it is buried: until then its number, which names the group, is taken.
            self._signal_group(dead.si_pid, signal.SIGKILL)
            pid, status = os.waitpid(dead.si_pid, 0)
            process = self._started.pop(pid, None)
            if process is not None:
                process.returncode = os.waitstatus_to_exitcode(status)
                # Nobody may be there to hear it; then ending the others matters all the more.
                with suppress(OSError):
                    self._control.sendall(_line({"exited": pid, "code": process.returncode}))

    def _signal_group(self, pid: int, number: int) -> None:
        if pid in self._started:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, number)

    def _end_all(self, grace: float) -> None:
        """Asks every process to end, and kills those that do not; complete when it returns."""
        began = time.monotonic()
        asked: set[int] = set()
        while self._reap() and time.monotonic() < began + grace + PATIENCE:
            late = time.monotonic() >= began + grace
            for pid in _below(os.getpid()) or list(self._started):
                if late or pid not in asked:
                    asked.add(pid)
                    _signal(pid, signal.SIGKILL if late else signal.SIGTERM)
            select.select([self._child_ended], [], [], POLL)


def _signal(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
        if number == signal.SIGTERM:
            os.kill(pid, signal.SIGCONT)  # one that is stopped would not hear it


def _below(root: int) -> list[int]:
    """Every process below this one; empty where there is no /proc to see it in."""
    children: dict[int, list[int]] = {}
    for pid in _processes():
        with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as stat:
            # The name, in brackets, may hold anything; the parent is the second word after it.
            state, parent = stat.read().rpartition(b")")[2].split()[:2]
            if state != b"Z":
                children.setdefault(int(parent), []).append(pid)
    family = [root]
    for pid in family:
        family += children.get(pid, [])
    return family[1:]


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


if __name__ == "__main__":
    main()
