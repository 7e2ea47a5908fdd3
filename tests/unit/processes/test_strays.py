"""Processes that left their group are found by mark or by descent; all others are spared."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from hookline.processes.strays import Mark, kill_strays

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the trails")

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts sleepers in groups of their own, unless told which, and ends them with the test."""
    with ExitStack() as stack:

        def start_one(env: dict[str, str], group: int = 0) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(["sleep", "300"], env=env, process_group=group)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start_one


def test_a_mark_is_carried_next_to_the_marks_of_the_runs_around_it() -> None:
    outer, inner = Mark(), Mark()

    once = outer.on({"A": "1"})
    twice = inner.on(once)

    assert once.keys() == twice.keys() == {"A", "HOOKLINE_RUN"}
    assert twice["HOOKLINE_RUN"].startswith(once["HOOKLINE_RUN"] + ".")
    assert twice["A"] == "1"


def test_the_bearers_of_a_mark_are_those_started_with_it_or_below_it(start: Start) -> None:
    outer, inner, other = Mark(), Mark(), Mark()
    marked = start(outer.on({}))
    nested = start(inner.on(outer.on({})))
    start(other.on({}))

    assert set(outer.bearers()) == {marked.pid, nested.pid}
    assert set(inner.bearers()) == {nested.pid}


def test_who_is_patient_sees_a_program_that_is_only_just_being_started() -> None:
    # On one core its starter goes on before it can show its environment.
    everywhere = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(everywhere)})
    try:
        for _ in range(20):
            mark = Mark()
            with subprocess.Popen(["sleep", "600"], env=mark.on(os.environ)) as marked:
                found = list(mark.bearers(patient=True))
                marked.kill()
            assert found == [marked.pid]
    finally:
        os.sched_setaffinity(0, everywhere)


def test_a_marked_process_outside_the_group_is_killed_and_others_are_spared(start: Start) -> None:
    mark = Mark()
    leader = start(mark.on({}))
    member = start(mark.on({}), group=leader.pid)
    stray = start(mark.on({}))
    stranger = start({})

    kill_strays(leader.pid, mark)

    assert stray.wait(30) == -9
    assert [process.poll() for process in (leader, member, stranger)] == [None, None, None]


def test_a_descendant_outside_the_group_is_killed_even_without_a_mark() -> None:
    script = (
        "import os, subprocess\n"
        "stray = subprocess.Popen(['sleep', '300'], env={}, start_new_session=True)\n"
        "print(flush=True)\n"
        "os._exit(stray.wait() == -9)"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", script], stdout=subprocess.PIPE, start_new_session=True
    ) as leader:
        assert leader.stdout is not None
        leader.stdout.readline()

        kill_strays(leader.pid, Mark())

        assert leader.wait(30) == 1


def test_nothing_is_found_where_there_is_no_proc(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = Mark()
    stray = start(mark.on({}))

    def no_proc(path: str) -> list[str]:
        raise FileNotFoundError(path)

    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(os, "listdir", no_proc)
        kill_strays(stray.pid + 1, mark)

    assert stray.poll() is None
