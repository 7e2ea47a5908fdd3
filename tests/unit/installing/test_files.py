"""Settings files are replaced whole, with the owner and permissions they had, or not at all."""

import os
import stat
from pathlib import Path

import pytest

from hookline.installing import files
from hookline.installing.files import look, remove, write, write_private
from hookline.model.installing import InstallError


def test_a_file_that_is_not_there_has_no_content(tmp_path: Path) -> None:
    assert look(str(tmp_path / "settings.json")).content is None


def test_a_new_file_comes_with_its_directories_and_goes_with_them(tmp_path: Path) -> None:
    path = tmp_path / "a/b/settings.json"
    made = write(look(str(path)), b"{}")
    assert path.read_bytes() == b"{}"
    assert made == (str(tmp_path / "a"), str(tmp_path / "a/b"))
    remove(look(str(path)), made)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_in_which_something_else_is_stays(tmp_path: Path) -> None:
    path = tmp_path / "a/settings.json"
    made = write(look(str(path)), b"{}")
    (tmp_path / "a/theirs").touch()
    remove(look(str(path)), made)
    assert [each.name for each in (tmp_path / "a").iterdir()] == ["theirs"]


def test_a_new_file_obeys_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write(look(str(tmp_path / "plain")), b"")
        write(look(str(tmp_path / "program")), b"", executable=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "plain").stat().st_mode) == 0o640
    assert stat.S_IMODE((tmp_path / "program").stat().st_mode) == 0o750


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o660])
def test_permissions_and_owner_are_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    if os.getuid() == 0:
        os.chown(path, 1234, 4321)
    before = path.stat()
    write(look(str(path)), b"new")
    after = path.stat()
    assert path.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )


def test_a_link_stays_a_link_and_what_it_leads_to_is_written(tmp_path: Path) -> None:
    real, first, path = (tmp_path / name for name in ("real", "first", "settings.json"))
    real.write_bytes(b"old")
    first.symlink_to("real")
    path.symlink_to(first)
    write(look(str(path)), b"new")
    assert path.is_symlink()
    assert first.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_link_to_nothing_is_an_error_that_says_where_it_leads(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.symlink_to(tmp_path / "gone")
    with pytest.raises(InstallError, match=r"is a link to `.*gone`, which does not exist"):
        look(str(path))


def test_a_circle_of_links_is_an_error(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.symlink_to(other)
    other.symlink_to(one)
    with pytest.raises(InstallError, match="links lead in a circle"):
        look(str(one))


def test_a_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="it is a directory"):
        look(str(tmp_path))


def test_a_pipe_is_an_error_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InstallError, match="not a regular file"):
        look(str(tmp_path / "pipe"))


def test_a_huge_file_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 3)
    (tmp_path / "big").write_bytes(b"four")
    with pytest.raises(InstallError, match="more than 3 bytes"):
        look(str(tmp_path / "big"))


def test_a_file_in_the_place_of_a_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(InstallError, match="cannot be read: Not a directory"):
        look(str(tmp_path / "a/settings.json"))


def test_a_read_only_file_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(InstallError, match="read-only"):
        write(look(str(path)), b"new")
    assert path.read_bytes() == b"old"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


def test_a_file_with_another_name_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    os.link(path, tmp_path / "twin")
    with pytest.raises(InstallError, match="hard link"):
        write(look(str(path)), b"new")
    assert path.read_bytes() == b"old"


def test_what_another_program_wrote_meanwhile_is_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    file = look(str(path))
    path.write_bytes(b"theirs")
    for act in (lambda: write(file, b"new"), lambda: remove(file)):
        with pytest.raises(InstallError, match="changed by another program"):
            act()
    assert path.read_bytes() == b"theirs"


@pytest.mark.parametrize("broken", ["replace", "fsync", "fchmod"])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")
    file = look(str(path))

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, broken, fail)
    with pytest.raises(InstallError, match="No space left"):
        write(file, b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["settings.json"]
    assert path.read_bytes() == b"old"


def test_a_file_that_cannot_be_removed_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(b"old")

    def fail(_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "unlink", fail)
    with pytest.raises(InstallError, match="cannot be removed: Permission denied"):
        remove(look(str(path)))


def test_what_is_ours_is_for_nobody_else_to_read(tmp_path: Path) -> None:
    path = tmp_path / "state/installs/one"
    write_private(str(path), b"secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.parent.parent.stat().st_mode) == 0o700


def test_a_private_write_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space"):
        write_private(str(tmp_path / "state/one"), b"secret")
    assert list((tmp_path / "state").iterdir()) == []


def test_a_directory_that_cannot_be_synced_does_not_fail_the_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def no_directories(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(22, "Invalid argument")
        sync(handle)

    monkeypatch.setattr(os, "fsync", no_directories)
    write(look(str(tmp_path / "settings.json")), b"{}")
    assert (tmp_path / "settings.json").read_bytes() == b"{}"
