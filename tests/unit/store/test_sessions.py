"""A session's project is settled by its first event, in whichever process that is."""

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.model.errors import HooklineError
from hookline.store.sessions import MemoryRoots, SessionRoots

DAY = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


def never() -> str:
    raise AssertionError("asked although the root was known")


@pytest.fixture(params=["disk", "memory"])
def roots(request: pytest.FixtureRequest, tmp_path: Path) -> SessionRoots | MemoryRoots:
    return SessionRoots(str(tmp_path)) if request.param == "disk" else MemoryRoots()


def test_the_first_event_settles_it_and_later_ones_are_not_asked(
    roots: SessionRoots | MemoryRoots,
) -> None:
    assert roots.root_for("s1", lambda: "/first") == ("/first", True)
    assert roots.root_for("s1", never) == ("/first", False)


def test_sessions_do_not_share_a_root(roots: SessionRoots | MemoryRoots) -> None:
    roots.root_for("claude-code:s1", lambda: "/first")
    assert roots.root_for("codex:s1", lambda: "/second") == ("/second", True)


def test_an_event_without_a_session_is_not_remembered(roots: SessionRoots | MemoryRoots) -> None:
    assert roots.root_for("", lambda: "/first") == ("/first", True)
    assert roots.root_for("", lambda: "/second") == ("/second", True)


@pytest.mark.parametrize("name", ["../../etc", "a/b", "\0", "\ud800", "x" * 5000])
def test_any_text_can_be_a_session_id(roots: SessionRoots | MemoryRoots, name: str) -> None:
    roots.root_for(name, lambda: "/first")
    assert roots.root_for(name, never) == ("/first", False)


def test_a_path_that_is_not_utf_8_is_kept_as_it_is(tmp_path: Path) -> None:
    root = os.fsdecode(b"/caf\xe9")
    SessionRoots(str(tmp_path)).root_for("s1", lambda: root)
    assert SessionRoots(str(tmp_path)).root_for("s1", never) == (root, False)


def test_another_process_knows_the_root(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        from hookline.store.sessions import SessionRoots
        SessionRoots({str(tmp_path)!r}).root_for("s1", lambda: "/theirs")
        """
    )
    subprocess.run([sys.executable, "-c", script], check=True)
    assert SessionRoots(str(tmp_path)).root_for("s1", never) == ("/theirs", False)


def test_of_many_processes_at_once_the_first_one_wins(tmp_path: Path) -> None:
    script = textwrap.dedent(
        f"""
        import sys
        from hookline.store.sessions import SessionRoots
        sys.stdin.readline()
        print(*SessionRoots({str(tmp_path)!r}).root_for("s1", lambda: "/" + sys.argv[1]))
        """
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(8)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate(timeout=60)[0].split() for racer in racers]
    assert len({root for root, _ in said}) == 1
    assert [first for _, first in said].count("True") == 1


def test_whoever_guesses_while_another_settles_it_gets_the_others_root(tmp_path: Path) -> None:
    def slow_guess() -> str:
        SessionRoots(str(tmp_path)).root_for("s1", lambda: "/faster")
        return "/slower"

    assert SessionRoots(str(tmp_path)).root_for("s1", slow_guess) == ("/faster", False)


def session_file(home: Path) -> Path:
    (found,) = [path for path in (home / "sessions").iterdir() if not path.name.startswith(".")]
    return found


def cut(content: bytes) -> bytes:
    return content[:-2]


def flip(content: bytes) -> bytes:
    return content.replace(b"/first", b"/other")


@pytest.mark.parametrize("damage", [lambda _: b"", lambda _: b"\xff\0", cut, flip])
def test_a_damaged_file_counts_as_none_and_is_written_again(
    tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    roots = SessionRoots(str(tmp_path))
    roots.root_for("s1", lambda: "/first")
    path = session_file(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    others = SessionRoots(str(tmp_path))
    assert others.root_for("s1", lambda: "/again") == ("/again", True)
    assert SessionRoots(str(tmp_path)).root_for("s1", never) == ("/again", False)


def test_a_process_that_knows_a_root_keeps_to_it_whatever_becomes_of_the_file(
    tmp_path: Path,
) -> None:
    roots = SessionRoots(str(tmp_path))
    roots.root_for("s1", lambda: "/first")
    session_file(tmp_path).unlink()
    assert roots.root_for("s1", never) == ("/first", False)


def test_it_reads_the_file_again_after_a_day_so_that_nobody_prunes_it(tmp_path: Path) -> None:
    now = [1_000_000.0]
    roots = SessionRoots(str(tmp_path), clock=lambda: now[0])
    roots.root_for("s1", lambda: "/first")
    os.utime(session_file(tmp_path), (now[0], now[0]))
    now[0] += 2 * 86_400
    assert roots.root_for("s1", never) == ("/first", False)
    assert session_file(tmp_path).stat().st_mtime == now[0]


def test_many_sessions_are_not_all_kept_in_mind(tmp_path: Path) -> None:
    roots = SessionRoots(str(tmp_path))
    for number in range(1100):
        roots.root_for(str(number), lambda: "/first")
    assert len(roots._known) == 1000
    assert roots.root_for("0", never) == ("/first", False)


def test_nobody_else_can_look_into_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    SessionRoots(str(home)).root_for("s1", lambda: "/first")
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "sessions").stat().st_mode & 0o777 == 0o700
    assert session_file(home).stat().st_mode & 0o777 == 0o600


def test_when_nothing_can_be_remembered_the_event_fails_instead_of_forgetting(
    tmp_path: Path,
) -> None:
    (tmp_path / "sessions").write_text("in the way")
    with pytest.raises(HooklineError, match="cannot keep what it has to remember in"):
        SessionRoots(str(tmp_path)).root_for("s1", lambda: "/first")


def test_sessions_nobody_has_heard_of_for_a_month_are_forgotten(tmp_path: Path) -> None:
    clock = Clock()
    roots = SessionRoots(str(tmp_path), clock=clock)
    roots.root_for("old", lambda: "/old")
    os.utime(session_file(tmp_path), (clock.now, clock.now))
    clock.now += 31 * DAY
    roots.root_for("new", lambda: "/new")
    clock.now += 3 * DAY
    roots.root_for("newer", lambda: "/newer")
    assert roots.root_for("old", lambda: "/anew") == ("/anew", True)
    assert (tmp_path / "sessions/.lock").exists()


def test_one_that_only_looks_old_stays_if_it_is_heard_of(tmp_path: Path) -> None:
    """A clock that is put forward makes every session look as if nobody had heard of it."""
    clock = Clock()
    SessionRoots(str(tmp_path), clock=clock).root_for("s1", lambda: "/first")
    for number in range(4):
        clock.now += 400 * DAY
        SessionRoots(str(tmp_path), clock=clock).root_for(f"other {number}", lambda: "/other")
        found = SessionRoots(str(tmp_path), clock=clock).root_for("s1", never)
        assert found == ("/first", False)


def test_a_session_in_use_is_remembered_however_long_it_lasts(tmp_path: Path) -> None:
    clock = Clock()
    roots = SessionRoots(str(tmp_path), clock=clock)
    roots.root_for("long", lambda: "/long")
    os.utime(session_file(tmp_path), (clock.now, clock.now))
    for number in range(5):
        clock.now += 20 * DAY
        roots.root_for("long", never)
        roots.root_for(f"other {number}", lambda: "/other")
    assert roots.root_for("long", never) == ("/long", False)


def test_pruning_is_not_repeated_within_a_day(tmp_path: Path) -> None:
    clock = Clock()
    roots = SessionRoots(str(tmp_path), clock=clock)
    roots.root_for("first", lambda: "/first")
    os.utime(session_file(tmp_path), (clock.now - 40 * DAY,) * 2)
    roots.root_for("second", lambda: "/second")
    assert roots.root_for("first", never) == ("/first", False)
