"""Two versions on one machine, over one state directory: each has its own daemon."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import hookline
from hookline import __version__, client
from support.faults import World, an_interpreter, world
from support.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")

ROOT = Path(__file__).resolve().parents[2]
OTHER = "99.0.0"


def builder() -> ModuleType:
    """What compiles the client for a wheel."""
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture
def other(place: World, tmp_path: Path) -> Iterator[World]:
    """The same person, with another version installed beside the first."""
    copy = tmp_path / "other/hookline"
    ours = Path(hookline.__file__).parent
    shutil.copytree(ours, copy, ignore=shutil.ignore_patterns("__pycache__", "_bin"))
    named = copy / "_version.py"
    named.write_text(named.read_text().replace(__version__, OTHER))
    with world(tmp_path, version=OTHER, python=tmp_path / "other-python") as found:
        shutil.rmtree(tmp_path / "other-python")
        python = an_interpreter(tmp_path / "other-python", copy.parent)
        program = copy / "_bin/hookline-client"
        why = builder().compiled(copy / "client", program, OTHER)
        script = str(copy / "client" / os.path.basename(client.SCRIPT))
        thin = (str(python), "-I", "-S", "-E", script, str(python))
        found.words = thin if why else (str(program), str(python))
        yield found


def test_each_version_is_answered_by_a_daemon_of_its_own(place: World, other: World) -> None:
    assert place.state == other.state
    for _ in range(2):
        for each in (place, other):
            assert "Nothing is removed here." in each.ask().effect.reason
            assert not each.ask("ls").blocks
    mine, theirs = place.daemon(), other.daemon()
    assert (mine.version, theirs.version) == (__version__, OTHER)
    assert mine.pid != theirs.pid
    # Whoever was started for one event, while there was no daemon yet, goes when it is answered.
    eventually(lambda: place.serving() == [mine.pid])
    eventually(lambda: other.serving() == [theirs.pid])
    # One journal, in which both write.
    assert mine.answered + theirs.answered >= 6
    assert len(place.rows()) >= 8
    assert place.is_sound()


def test_what_a_session_is_held_to_counts_for_both_versions(place: World, other: World) -> None:
    place.user_file.write_text(
        "version: 1\nhooks:\n  - {name: goes on, on: stop, run: 'echo More. >&2; exit 2'}\n"
        "max_follow_ups: 3\n"
    )
    session = place.session()
    kept: list[bool] = []
    for each in (place, other, place, other, place):
        said = each.ask("", event="Stop", session=session, stop_hook_active=bool(kept))
        kept.append(bool(said.effect.follow_up))
    assert kept == [True, True, True, False, False]


def test_a_client_at_the_socket_of_another_version_is_sent_away_and_judged(
    place: World, other: World
) -> None:
    other.daemon()
    place.daemon()
    # As if a key of the directory were shared: the address of the one leads to the other.
    (place.dir / "daemon.sock").unlink()
    os.link(other.dir / "daemon.sock", place.dir / "daemon.sock")
    said = place.ask("rm -rf build")
    assert "Nothing is removed here." in said.effect.reason
    assert not place.ask("ls").blocks


def test_an_upgrade_in_place_retires_the_old_daemon_and_weakens_nothing(
    place: World, other: World
) -> None:
    old = other.daemon()
    named = Path(other.words[0]).parents[1] / "_version.py"
    named.write_text(named.read_text() + "\n# upgraded\n")
    assert other.ask("rm -rf build").blocks

    def is_another() -> bool:
        assert other.ask("rm -rf build").blocks
        found = other.status()
        return found is not None and found.pid != old.pid

    eventually(is_another)
    eventually(lambda: old.pid not in other.serving())
