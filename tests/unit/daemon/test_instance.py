"""One holder of the lock, a directory closed to others, and nothing left at the end."""

import fcntl
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.client.thin_io import find_run_dir
from hookline.daemon.instance import (
    Claim,
    InstanceError,
    claim,
    connect,
    find_holder,
    is_held_by,
)

VERSION = "0.1.0"
OWN = "/run/user"

# Holds the lock of a home until its stdin ends.
HOLDER = (
    "import sys; from hookline.daemon.instance import claim\n"
    "held = claim(sys.argv[1], '0.1.0')\n"
    "listener = held.bind() if held else None\n"
    "print('held' if held else 'free', flush=True)\n"
    "sys.stdin.read()\n"
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[str]:
    yield str(tmp_path / "home")
    path = Path(find_run_dir(str(tmp_path / "home"), VERSION))
    for name in ("lock", "daemon.sock"):
        (path / name).unlink(missing_ok=True)


def taken(home: str) -> Claim:
    found = claim(home, VERSION)
    assert found is not None
    return found


def test_the_directory_is_named_after_home_and_version(tmp_path: Path) -> None:
    """Clients in C compute the same 64 bits, so they are fixed here."""
    nobody = str(tmp_path)
    assert (
        find_run_dir("/h", "0.1.0", users=nobody, mounts="4026531841") == "/h/run-8e34748c872ae189"
    )
    assert find_run_dir("/h", "0.1.0", users=nobody, mounts="") == "/h/run-6feca7cd0c25e99b"
    assert find_run_dir("", "", users=nobody, mounts="") == "/run-08328807b4eb6fed"
    assert find_run_dir("/h", "0.1.1", users=nobody) != find_run_dir("/h", "0.1.0", users=nobody)
    assert find_run_dir("/caf\udce9", "1", users=nobody).startswith("/caf\udce9/run-")


def test_another_set_of_mounts_has_another_directory(tmp_path: Path) -> None:
    here = Path("/proc/self/ns/mnt")
    mounts = str(here.stat().st_ino) if here.exists() else ""
    nobody = str(tmp_path)
    assert find_run_dir("/h", VERSION, users=nobody) == find_run_dir(
        "/h", VERSION, users=nobody, mounts=mounts
    )
    assert find_run_dir("/h", VERSION, users=nobody) != find_run_dir(
        "/h", VERSION, users=nobody, mounts="1"
    )


def test_a_users_own_runtime_directory_is_taken_when_it_is_private(tmp_path: Path) -> None:
    own = tmp_path / str(os.getuid())
    fallback = find_run_dir("/h", VERSION, users=str(tmp_path / "none"))
    key = fallback.rpartition("-")[2]
    own.mkdir(mode=0o700)
    assert find_run_dir("/h", VERSION, users=str(tmp_path)) == f"{own}/hookline-{key}"
    own.chmod(0o750)
    assert find_run_dir("/h", VERSION, users=str(tmp_path)) == fallback
    own.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    own.symlink_to(tmp_path / "elsewhere")
    assert find_run_dir("/h", VERSION, users=str(tmp_path)) == fallback


def test_the_place_is_taken_once(home: str) -> None:
    first = taken(home)
    listener = first.bind()
    directory = Path(first.path)
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert stat.S_IMODE((directory / "daemon.sock").stat().st_mode) == 0o600
    assert stat.S_IMODE((directory / "lock").stat().st_mode) == 0o600
    assert sorted(os.listdir(directory)) == ["daemon.sock", "lock"]
    assert claim(home, VERSION) is None
    assert claim(home, "0.2.0") is not None
    said = find_holder(home, VERSION)
    assert said is not None
    assert (said.pid, said.version) == (os.getpid(), VERSION)
    with connect(home, VERSION, 1), listener:
        listener.accept()[0].close()
    first.release()
    assert not directory.exists()
    assert find_holder(home, VERSION) is None
    taken(home).release()


def test_a_lock_ends_with_its_process_and_its_socket_is_replaced(home: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, home], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert claim(home, VERSION) is None
        process.kill()
    with pytest.raises(ConnectionRefusedError):
        connect(home, VERSION, 1)
    with taken(home).bind():
        connect(home, VERSION, 1).close()


def test_a_home_of_any_length_will_do(tmp_path: Path) -> None:
    home = str(tmp_path / ("long" * 40) / ("name" * 40))
    held = taken(home)
    with held.bind():
        connect(home, VERSION, 1).close()
    held.release()


def test_what_has_happened_to_the_socket_is_seen_and_mended(home: str) -> None:
    held = taken(home)
    listener = held.bind()
    path = Path(held.socket)
    assert held.is_current()
    assert held.is_reachable()
    path.unlink()
    assert not held.is_reachable()
    path.touch()
    assert not held.is_reachable()
    with listener, held.repair():
        assert held.is_reachable()
        connect(home, VERSION, 1).close()
        os.chmod(held.path, 0o755)
        assert not held.is_reachable()
        with pytest.raises(PermissionError):
            connect(home, VERSION, 1)
        with held.repair():
            assert held.is_reachable()
    held.release()


def test_a_removed_or_replaced_directory_is_not_ours_any_more(home: str) -> None:
    held = taken(home)
    held.bind().close()
    os.rename(held.path, f"{held.path}.moved")
    assert not held.is_current()
    other = taken(home)
    with other.bind():
        assert other.is_current()
        held.release()
        assert other.is_reachable()
        connect(home, VERSION, 1).close()
    other.release()


def test_a_removed_lock_is_not_ours_any_more(home: str) -> None:
    held = taken(home)
    with held.bind():
        os.unlink(f"{held.path}/lock")
        assert not held.is_current()
        other = taken(home)
        with other.bind():
            held.release()
            assert other.is_current()
            assert other.is_reachable()
        other.release()


def test_a_link_in_the_directorys_place_is_not_followed(home: str, tmp_path: Path) -> None:
    path = Path(find_run_dir(home, VERSION))
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "trap").mkdir(mode=0o700)
    path.symlink_to(tmp_path / "trap")
    with pytest.raises(InstanceError, match="cannot be used"):
        claim(home, VERSION)
    with pytest.raises(OSError, match=str(path)):
        connect(home, VERSION, 1)
    assert os.listdir(tmp_path / "trap") == []
    path.unlink()


@pytest.mark.parametrize("kind", ["symlink", "hard link", "directory", "fifo"])
def test_a_lock_that_is_something_else_is_not_touched(home: str, tmp_path: Path, kind: str) -> None:
    path = Path(find_run_dir(home, VERSION))
    path.mkdir(parents=True, mode=0o700)
    precious = tmp_path / "precious"
    precious.write_text("keys")
    lock = path / "lock"
    if kind == "symlink":
        lock.symlink_to(precious)
    elif kind == "hard link":
        lock.hardlink_to(precious)
    elif kind == "directory":
        lock.mkdir()
    else:
        os.mkfifo(lock)
    with pytest.raises(InstanceError):
        claim(home, VERSION)
    assert precious.read_text() == "keys"
    lock.rmdir() if kind == "directory" else lock.unlink()


def test_a_directory_that_was_opened_to_others_is_closed_again(home: str) -> None:
    path = Path(find_run_dir(home, VERSION))
    path.mkdir(parents=True)
    path.chmod(0o2777)
    held = taken(home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    held.release()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a directory away")
def test_another_users_directory_is_not_used(home: str) -> None:
    path = Path(find_run_dir(home, VERSION))
    path.mkdir(parents=True, mode=0o700)
    os.chown(path, 65534, 65534)
    with pytest.raises(InstanceError, match="belongs to user 65534"):
        claim(home, VERSION)
    with pytest.raises(PermissionError, match="not a directory of ours alone"):
        connect(home, VERSION, 1)
    assert os.listdir(path) == []


def test_a_home_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    if not os.path.isdir(f"{OWN}/{os.getuid()}"):
        with pytest.raises(InstanceError, match="cannot be used"):
            claim(str(tmp_path / "file/home"), VERSION)


def test_a_lock_that_was_removed_while_it_was_taken_is_taken_again(
    home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last holder removes it and goes between our opening and our locking it."""
    lock, flock, steps = Path(find_run_dir(home, VERSION), "lock"), fcntl.flock, list[int]()

    def late(number: int, operation: int) -> None:
        steps.append(operation)
        if len(steps) == 1:
            lock.unlink()
        flock(number, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    held = taken(home)
    assert held.is_current()
    assert claim(home, VERSION) is None
    held.release()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a lock")
def test_the_system_knows_who_has_the_lock_whatever_is_written_in_it(home: str) -> None:
    assert not is_held_by(home, VERSION, os.getpid())
    held = taken(home)
    (Path(held.path) / "lock").write_text('{"pid": 1, "version": "0.1.0", "started": 0}')
    assert is_held_by(home, VERSION, os.getpid())
    assert not is_held_by(home, VERSION, 1)
    held.release()
    assert not is_held_by(home, VERSION, os.getpid())


def test_who_only_looks_never_takes_the_place(home: str) -> None:
    held = taken(home)
    held.bind().close()
    for _ in range(100):
        assert find_holder(home, VERSION) is not None
    held.release()
    assert find_holder(home, VERSION) is None
    taken(home).release()


def test_a_socket_of_somebody_elses_stays(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = taken(home)
    # As long as we listen, the system gives the number of our socket to no other.
    with held.bind(), socket.socket(socket.AF_UNIX) as stranger:
        os.unlink(held.socket)
        monkeypatch.chdir(held.path)
        stranger.bind("daemon.sock")
        held.release()
        assert os.path.exists(held.socket)
    os.unlink(held.socket)
