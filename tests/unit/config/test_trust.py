"""The store keeps one set of bytes for each place, and says so when it cannot vouch for them."""

import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from hookline.config.reading import Reader, Reading, read_file
from hookline.config.trust import TrustedSet, TrustStore
from hookline.model.errors import TrustError


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path.resolve()


@pytest.fixture
def project(base: Path) -> Path:
    path = base / "project"
    path.mkdir()
    (path / "hookline.yaml").write_text("version: 1\n")
    (path / "guard.sh").write_text("#!/bin/sh\nexit 0\n")
    (path / "guard.sh").chmod(0o755)
    return path


@pytest.fixture
def home(base: Path) -> Path:
    return base / "home"


@pytest.fixture
def store(home: Path) -> TrustStore:
    return TrustStore(str(home))


def readings(*paths: Path) -> tuple[Reading, ...]:
    read = Reader()
    for path in paths:
        read.pin(str(path))
    return read.readings


def trust(store: TrustStore, project: Path) -> TrustedSet:
    config = project / "hookline.yaml"
    return store.trust(str(config), readings(config, project / "guard.sh"))


def index_file(home: Path) -> Path:
    (found,) = (home / "trust").glob("*.json")
    return found


class TestKeeping:
    def test_what_was_trusted_is_found_with_its_bytes(
        self, store: TrustStore, project: Path
    ) -> None:
        trust(store, project)
        found = store.find(str(project / "hookline.yaml"))
        assert found is not None
        assert found.read(str(project / "hookline.yaml")) == b"version: 1\n"
        assert found.read(str(project / "guard.sh")) == b"#!/bin/sh\nexit 0\n"
        assert found.project_dir == str(project)
        guard = found.find(str(project / "guard.sh"))
        assert guard is not None
        assert guard.executable
        assert guard.sha256 == sha256(b"#!/bin/sh\nexit 0\n").hexdigest()

    def test_it_survives_the_process(self, store: TrustStore, project: Path, home: Path) -> None:
        trusted = trust(store, project)
        assert TrustStore(str(home)).find(str(project / "hookline.yaml")) == trusted

    def test_nothing_is_found_where_nothing_was_trusted(
        self, store: TrustStore, project: Path
    ) -> None:
        assert store.find(str(project / "hookline.yaml")) is None
        assert store.sets() == ([], [])
        trust(store, project)
        assert store.find(str(project / ".hookline/hookline.yaml")) is None

    def test_a_path_that_was_not_trusted_cannot_be_read(
        self, store: TrustStore, project: Path
    ) -> None:
        trusted = trust(store, project)
        with pytest.raises(FileNotFoundError, match="was not there when"):
            trusted.read(str(project / "other.sh"))

    def test_what_is_stored_is_what_was_read_and_not_what_is_on_the_disk_by_then(
        self, store: TrustStore, project: Path
    ) -> None:
        config = project / "hookline.yaml"
        seen = readings(config)
        config.write_text("version: 1\nhooks: []\n# swapped\n")
        assert store.trust(str(config), seen).read(str(config)) == b"version: 1\n"

    def test_nobody_else_can_look_into_it(
        self, store: TrustStore, project: Path, home: Path
    ) -> None:
        trust(store, project)
        for path in (home, home / "trust", home / "trust/blobs"):
            assert path.stat().st_mode & 0o777 == 0o700
        for path in (index_file(home), *(home / "trust/blobs").iterdir()):
            assert path.stat().st_mode & 0o777 == 0o600

    def test_there_is_one_current_set_and_older_bytes_are_gone(
        self, store: TrustStore, project: Path, home: Path
    ) -> None:
        trust(store, project)
        (project / "guard.sh").write_text("#!/bin/sh\nexit 2\n")
        newer = trust(store, project)
        assert store.sets() == ([newer], [])
        old = sha256(b"#!/bin/sh\nexit 0\n").hexdigest()
        assert not (home / "trust/blobs" / old).exists()

    def test_bytes_that_two_projects_share_stay_while_one_needs_them(
        self, store: TrustStore, project: Path, base: Path
    ) -> None:
        other = base / "other"
        shutil.copytree(project, other)
        trusted = trust(store, project)
        trust(store, other)
        assert store.revoke(str(other / "hookline.yaml"))
        assert trusted.read(str(project / "guard.sh")) == b"#!/bin/sh\nexit 0\n"

    def test_listing_is_by_place(self, store: TrustStore, project: Path, base: Path) -> None:
        other = base / "another"
        shutil.copytree(project, other)
        trust(store, project)
        trust(store, other)
        sets, damaged = store.sets()
        assert [each.config for each in sets] == [
            str(other / "hookline.yaml"),
            str(project / "hookline.yaml"),
        ]
        assert damaged == []

    def test_a_path_that_is_not_text_cannot_be_trusted(self, store: TrustStore, base: Path) -> None:
        odd = Path(os.fsdecode(os.fsencode(base) + b"/caf\xe9"))
        odd.mkdir()
        (odd / "hookline.yaml").write_text("version: 1\n")
        with pytest.raises(TrustError, match="not UTF-8"):
            store.trust(str(odd / "hookline.yaml"), readings(odd / "hookline.yaml"))


class TestPlaces:
    """The set is found whatever became of the file: its place is what counts."""

    def delete(self, config: Path) -> None:
        config.unlink()

    def delete_directory(self, config: Path) -> None:
        shutil.rmtree(config.parent)

    def put_directory(self, config: Path) -> None:
        config.unlink()
        config.mkdir()

    def put_link(self, config: Path) -> None:
        config.unlink()
        config.symlink_to("/etc/passwd")

    def put_dangling_link(self, config: Path) -> None:
        config.unlink()
        config.symlink_to("nowhere")

    def put_link_to_directory(self, config: Path) -> None:
        config.parent.rename(config.parent.with_name("moved"))
        elsewhere = config.parent.with_name("elsewhere")
        elsewhere.mkdir()
        config.parent.symlink_to(elsewhere)

    @pytest.mark.parametrize(
        "change",
        [
            delete,
            delete_directory,
            put_directory,
            put_link,
            put_dangling_link,
            put_link_to_directory,
        ],
    )
    def test_it_is_found_after(
        self, store: TrustStore, project: Path, change: Callable[["TestPlaces", Path], None]
    ) -> None:
        trusted = trust(store, project)
        change(self, project / "hookline.yaml")
        assert store.find(str(project / "hookline.yaml")) == trusted

    def test_it_is_found_through_a_link_to_its_directory(
        self, store: TrustStore, project: Path, base: Path
    ) -> None:
        trusted = trust(store, project)
        (base / "alias").symlink_to(project)
        assert store.find(str(base / "alias/hookline.yaml")) == trusted

    def test_a_link_elsewhere_to_a_trusted_config_is_not_trusted(
        self, store: TrustStore, project: Path, base: Path
    ) -> None:
        trust(store, project)
        hostile = base / "hostile"
        hostile.mkdir()
        (hostile / "hookline.yaml").symlink_to(project / "hookline.yaml")
        assert store.find(str(hostile / "hookline.yaml")) is None

    def test_a_config_that_is_a_link_is_trusted_with_what_it_leads_to(
        self, store: TrustStore, project: Path, base: Path
    ) -> None:
        config = project / "hookline.yaml"
        config.rename(base / "dotfile.yaml")
        config.symlink_to(base / "dotfile.yaml")
        trusted = store.trust(str(config), readings(config))
        assert trusted.read(str(config)) == b"version: 1\n"
        assert trusted.changed() == ()
        (base / "dotfile.yaml").write_text("version: 1\n# edited\n")
        assert trusted.changed() == (str(base / "dotfile.yaml"), str(config))


class TestRevoking:
    def test_it_forgets_the_set_and_its_bytes(
        self, store: TrustStore, project: Path, home: Path
    ) -> None:
        trust(store, project)
        assert store.revoke(str(project / "hookline.yaml"))
        assert store.find(str(project / "hookline.yaml")) is None
        assert list((home / "trust/blobs").iterdir()) == []
        assert not store.revoke(str(project / "hookline.yaml"))

    def test_it_works_on_a_damaged_set_too(
        self, store: TrustStore, project: Path, home: Path
    ) -> None:
        trust(store, project)
        index_file(home).write_text("{")
        assert store.revoke(str(project / "hookline.yaml"))
        assert store.find(str(project / "hookline.yaml")) is None

    def test_a_place_whose_directory_became_a_link_can_be_revoked(
        self, store: TrustStore, project: Path, base: Path
    ) -> None:
        trust(store, project)
        project.rename(base / "moved")
        project.symlink_to(base / "moved")
        assert store.revoke(str(project / "hookline.yaml"))
        assert store.sets() == ([], [])


class TestDamage:
    """A set that cannot be used is an error, never as if nobody had trusted anything."""

    @pytest.mark.parametrize(
        "content",
        [b"", b"{", b"\xff", b"[]", b'{"config": "/x"}', b"null"],
    )
    def test_an_index_that_is_no_index(
        self, store: TrustStore, project: Path, home: Path, content: bytes
    ) -> None:
        trust(store, project)
        index_file(home).write_bytes(content)
        with pytest.raises(TrustError, match="damaged"):
            store.find(str(project / "hookline.yaml"))
        sets, damaged = store.sets()
        assert sets == []
        assert len(damaged) == 1

    def test_an_index_that_was_altered(self, store: TrustStore, project: Path, home: Path) -> None:
        trust(store, project)
        path = index_file(home)
        path.write_bytes(path.read_bytes().replace(b'"executable":true', b'"executable":false'))
        with pytest.raises(TrustError, match="was altered"):
            store.find(str(project / "hookline.yaml"))

    def test_an_index_put_in_place_of_another(
        self, store: TrustStore, project: Path, home: Path, base: Path
    ) -> None:
        trust(store, project)
        first = index_file(home)
        other = base / "other"
        shutil.copytree(project, other)
        trust(store, other)
        (second,) = set((home / "trust").glob("*.json")) - {first}
        shutil.copy(first, second)
        with pytest.raises(TrustError, match="was altered"):
            store.find(str(other / "hookline.yaml"))

    def test_an_index_that_cannot_be_read(
        self, store: TrustStore, project: Path, home: Path
    ) -> None:
        trust(store, project)
        path = index_file(home)
        path.unlink()
        path.mkdir()
        with pytest.raises(TrustError, match="damaged"):
            store.find(str(project / "hookline.yaml"))

    def test_bytes_that_were_altered(self, store: TrustStore, project: Path, home: Path) -> None:
        trusted = trust(store, project)
        guard = trusted.find(str(project / "guard.sh"))
        assert guard is not None
        (home / "trust/blobs" / guard.sha256).write_text("exit 0 # weaker")
        with pytest.raises(TrustError, match="was altered"):
            trusted.read(str(project / "guard.sh"))

    def test_bytes_that_are_gone(self, store: TrustStore, project: Path, home: Path) -> None:
        trusted = trust(store, project)
        shutil.rmtree(home / "trust/blobs")
        with pytest.raises(TrustError, match="damaged"):
            trusted.read(str(project / "guard.sh"))

    def test_trusting_again_mends_it(self, store: TrustStore, project: Path, home: Path) -> None:
        trust(store, project)
        index_file(home).write_text("{")
        for blob in (home / "trust/blobs").iterdir():
            blob.write_text("altered")
        trusted = trust(store, project)
        assert trusted.read(str(project / "guard.sh")) == b"#!/bin/sh\nexit 0\n"

    def test_while_one_set_is_damaged_no_bytes_are_thrown_away(
        self, store: TrustStore, project: Path, home: Path, base: Path
    ) -> None:
        trust(store, project)
        before = set((home / "trust/blobs").iterdir())
        index_file(home).write_text("{")
        other = base / "other"
        other.mkdir()
        (other / "hookline.yaml").write_text("version: 1\n# other\n")
        store.trust(str(other / "hookline.yaml"), readings(other / "hookline.yaml"))
        assert before < set((home / "trust/blobs").iterdir())

    @pytest.mark.parametrize("mode", [0o770, 0o707])
    def test_a_store_that_others_can_write_to_is_worth_nothing(
        self, store: TrustStore, project: Path, home: Path, mode: int
    ) -> None:
        trust(store, project)
        (home / "trust").chmod(mode)
        with pytest.raises(TrustError, match="others can write"):
            store.find(str(project / "hookline.yaml"))
        with pytest.raises(TrustError, match="others can write"):
            trust(store, project)


class TestChanges:
    def test_unchanged_files_are_not_reported(self, store: TrustStore, project: Path) -> None:
        assert trust(store, project).changed() == ()

    def test_content_counts_and_time_stamps_do_not(self, store: TrustStore, project: Path) -> None:
        trusted = trust(store, project)
        os.utime(project / "guard.sh", (0, 0))
        assert trusted.changed() == ()
        stamps = (project / "hookline.yaml").stat()
        (project / "hookline.yaml").write_text("version: 2\n")
        os.utime(project / "hookline.yaml", ns=(stamps.st_atime_ns, stamps.st_mtime_ns))
        assert trusted.changed() == (str(project / "hookline.yaml"),)

    def test_a_script_that_lost_its_executable_bit_changed(
        self, store: TrustStore, project: Path
    ) -> None:
        trusted = trust(store, project)
        (project / "guard.sh").chmod(0o644)
        assert trusted.changed() == (str(project / "guard.sh"),)

    def test_a_longer_file_is_not_read_to_its_end(self, store: TrustStore, project: Path) -> None:
        trusted = trust(store, project)
        with (project / "guard.sh").open("ab") as file:
            file.truncate(10**12)
        assert trusted.changed() == (str(project / "guard.sh"),)

    def test_a_pipe_in_place_of_a_file_does_not_hold_us_up(
        self, store: TrustStore, project: Path
    ) -> None:
        trusted = trust(store, project)
        (project / "guard.sh").unlink()
        os.mkfifo(project / "guard.sh")
        assert trusted.changed() == (str(project / "guard.sh"),)

    def test_trusting_the_same_again_is_no_news(self, store: TrustStore, project: Path) -> None:
        trusted = trust(store, project)
        assert trusted.is_made_of(readings(project / "guard.sh", project / "hookline.yaml"))
        assert not trusted.is_made_of(readings(project / "hookline.yaml"))


def test_a_write_that_fails_leaves_what_was_there(
    store: TrustStore, project: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trusted = trust(store, project)

    def fail(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    (project / "hookline.yaml").write_text("version: 1\n# newer\n")
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fail)
        with pytest.raises(TrustError, match="cannot be written: No space left"):
            trust(store, project)
    assert store.find(str(project / "hookline.yaml")) == trusted
    assert trusted.read(str(project / "hookline.yaml")) == b"version: 1\n"
    assert [path for path in (home / "trust/blobs").iterdir() if path.name[0] == "."] == []


def test_a_file_that_changes_while_it_is_read_is_not_taken(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_fstat = os.fstat

    def growing(handle: int) -> os.stat_result:
        found = real_fstat(handle)
        with (project / "guard.sh").open("a") as file:
            file.write("more\n")
        return found

    monkeypatch.setattr(os, "fstat", growing)
    with pytest.raises(OSError, match="changed while it was read"):
        read_file(str(project / "guard.sh"), limit=1000)


def test_a_file_is_opened_once_however_often_it_is_named(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "alias.sh").symlink_to("guard.sh")
    opened: list[str] = []
    real_open = os.open

    def counting(path: str, *args: int, **kwargs: int) -> int:
        opened.append(path)
        return real_open(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", counting)
    read = Reader()
    for name in ("guard.sh", "alias.sh", "./guard.sh", "alias.sh"):
        assert read(os.path.join(project, name)) == b"#!/bin/sh\nexit 0\n"
    assert opened == [str(project / "guard.sh")]
