"""Rooms: fresh, closed to others, without anything of the person's, and gone at the end."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from hookline.lab.rooms import MARK, furnished_room
from hookline.model.errors import HooklineError


def test_a_room_has_a_home_and_a_project_in_one_directory_that_nobody_else_may_enter() -> None:
    with furnished_room({"src/a.txt": "one\n"}) as room:
        assert stat.S_IMODE(os.stat(room.root).st_mode) == 0o700
        for place in (room.home, room.project, room.tmp):
            assert os.path.dirname(place) == room.root
            assert os.path.isdir(place)
        assert Path(room.project, "src/a.txt").read_text(encoding="utf-8") == "one\n"


def test_the_project_is_a_repository_with_one_commit_that_holds_its_files() -> None:
    with furnished_room({"a.txt": "one\n"}) as room:

        def git(*words: str) -> str:
            return subprocess.check_output(
                ["git", *words], cwd=room.project, env=dict(room.env), text=True
            ).strip()

        assert git("rev-list", "--count", "HEAD") == "1"
        assert git("ls-files") == "a.txt"
        assert not git("status", "--porcelain")
        assert not os.path.exists(os.path.join(room.home, ".gitconfig"))


def test_nothing_of_the_persons_environment_is_in_the_room_but_the_path_and_the_language() -> None:
    person = {"PATH": os.environ["PATH"], "LANG": "de_DE.UTF-8", "GH_TOKEN": "secret-1", "X": "2"}
    with furnished_room(env=person) as room:
        assert room.env["PATH"] == person["PATH"]
        assert room.env["LANG"] == "de_DE.UTF-8"
        assert not {"GH_TOKEN", "X"} & room.env.keys()
        assert "secret-1" not in room.env.values()
        for name in ("HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"):
            assert room.env[name].startswith(room.root + "/")


def test_proxies_lead_nowhere_and_spare_loopback() -> None:
    with furnished_room() as room:
        assert room.env["HTTPS_PROXY"] == room.env["https_proxy"] == "http://127.0.0.1:9"
        assert "127.0.0.1" in room.env["NO_PROXY"]


def test_a_room_is_removed_with_what_may_not_be_written_in_it() -> None:
    with furnished_room() as room:
        folder = Path(room.home, "locked/inner")
        folder.mkdir(parents=True)
        (folder / "file").write_text("x", encoding="utf-8")
        (folder / "link").symlink_to("/etc")
        for path in (folder / "file", folder, folder.parent):
            path.chmod(0o400 if path.is_file() else 0o500)
    assert not os.path.lexists(room.root)
    assert os.path.isdir("/etc")


def test_a_room_is_removed_when_what_happens_in_it_fails() -> None:
    with pytest.raises(KeyboardInterrupt), furnished_room() as room:
        raise KeyboardInterrupt
    assert not os.path.lexists(room.root)


def test_a_room_that_is_kept_stays_until_its_owner_removes_it() -> None:
    with furnished_room(keep=True) as room:
        pass
    try:
        assert os.path.isdir(room.project)
    finally:
        subprocess.run(["rm", "-rf", room.root], check=True)


def test_what_was_started_in_a_room_is_ended_with_it_wherever_it_went() -> None:
    with furnished_room() as room:
        stray = subprocess.Popen(
            ["sleep", "600"], env=dict(room.env), cwd="/", start_new_session=True
        )
        assert stray.poll() is None
    assert stray.wait(30) == -signal.SIGTERM


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_being_ended_leaves_no_room_behind(tmp_path: Path, number: signal.Signals) -> None:
    script = (
        "import signal\n"
        "from hookline.lab.rooms import furnished_room\n"
        "with furnished_room() as room:\n"
        "    print(room.root, flush=True)\n"
        "    signal.pause()\n"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert program.stdout is not None
    with program:
        root = program.stdout.readline().strip()
        assert os.path.isdir(root)
        program.send_signal(number)
        assert program.wait(60) == 128 + number
    assert not os.path.lexists(root)


def test_a_temporary_directory_that_cannot_be_written_is_named_with_the_way_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # /proc takes no new directory, not even from root.
    monkeypatch.setattr(tempfile, "tempdir", "/proc")
    with pytest.raises(HooklineError, match="set TMPDIR to a directory"), furnished_room():
        pass


def test_a_long_temporary_directory_does_not_make_a_rooms_path_too_long_for_sockets(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    long = tmp_path / ("d" * 80)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    with furnished_room() as room:
        assert len(room.root) < 60


def test_a_file_outside_the_project_is_refused_and_the_room_removed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(prefix="t-") as temporary:  # pytest's own is too long
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        with (
            pytest.raises(HooklineError, match=r"`\.\./x` is not inside"),
            furnished_room({"../x": ""}),
        ):
            pass
        assert os.listdir(temporary) == []


def test_without_git_a_room_says_what_is_missing(tmp_path: Path) -> None:
    with (
        pytest.raises(HooklineError, match="git is not on the PATH"),
        furnished_room(env={"PATH": str(tmp_path)}),
    ):
        pass


def test_two_rooms_have_different_marks() -> None:
    with furnished_room() as one, furnished_room() as other:
        assert one.env[MARK] != other.env[MARK]
        assert one.root != other.root


def test_what_a_room_lies_in_is_left_as_it_was_even_when_the_room_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Of a short name, since a room keeps out of directories with a long one.
    with tempfile.TemporaryDirectory(prefix="r-") as around:
        os.chmod(around, 0o1777)
        monkeypatch.setattr(tempfile, "tempdir", around)
        with furnished_room() as room:
            assert os.path.dirname(room.root) == around
            shutil.rmtree(room.root)
        assert stat.S_IMODE(os.stat(around).st_mode) == 0o1777
