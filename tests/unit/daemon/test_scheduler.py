"""A few run at once, no session crowds out another, and large requests wait for room in order."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hookline.daemon.scheduler import SMALL, MemoryBudget, Scheduler

MB = 1 << 20


class Line:
    """Events of some sessions, and the order in which they were started."""

    def __init__(self, turns: Scheduler) -> None:
        self.turns = turns
        self.started: list[str] = []

    def come(self, name: str, depth: int = 0) -> Callable[[], None] | None:
        """An event of the session that its first letter names."""

        def start() -> None:
            self.started.append(name)

        if self.turns.enter(name[0], depth):
            start()
        elif not self.turns.wait(name[0], depth, start):
            self.started.append(f"{name} refused")
        return start

    def go(self, name: str, depth: int = 0) -> None:
        self.turns.leave(name[0], depth)


def test_so_many_at_once_and_then_in_their_order() -> None:
    line = Line(Scheduler(at_once=2, waiting=10))
    for name in ("a1", "b1", "c1", "d1"):
        line.come(name)
    assert line.started == ["a1", "b1"]
    line.go("a1")
    assert line.started == ["a1", "b1", "c1"]
    line.go("c1")
    line.go("b1")
    assert line.started == ["a1", "b1", "c1", "d1"]
    line.go("d1")
    assert (line.turns.running, line.turns.waiting) == (0, 0)


def test_sessions_take_turns_however_many_events_one_has() -> None:
    line = Line(Scheduler(at_once=2, waiting=100))
    for name in ("x1", "y1", *(f"a{number}" for number in range(5)), "b0", "c0"):
        line.come(name)
    line.go("x1")
    line.go("a0")
    line.go("b0")
    line.go("c0")
    assert line.started[2:6] == ["a0", "b0", "c0", "a1"]


def test_one_session_never_has_every_turn() -> None:
    line = Line(Scheduler(at_once=4, waiting=100))
    for number in range(10):
        line.come(f"a{number}")
    assert line.started == ["a0", "a1"]
    line.come("b0")
    assert line.started == ["a0", "a1", "b0"]
    line.go("b0")
    assert line.turns.running == 2
    line.go("a0")
    assert line.started[-1] == "a2"


def test_more_than_may_wait_are_sent_away() -> None:
    line = Line(Scheduler(at_once=1, waiting=2))
    for name in ("a1", "b1", "c1", "d1"):
        line.come(name)
    assert line.started == ["a1", "d1 refused"]


def test_one_session_never_has_all_the_room_for_waiting() -> None:
    line = Line(Scheduler(at_once=1, waiting=4))
    for name in ("a0", "a1", "a2", "a3", "b0", "c0", "d0"):
        line.come(name)
    assert line.started == ["a0", "a3 refused", "d0 refused"]
    assert line.turns.waiting == 4


def test_whoever_gives_up_is_passed_over() -> None:
    line = Line(Scheduler(at_once=1, waiting=4))
    line.come("a1")
    second, third = line.come("b1"), line.come("b2")
    assert second
    assert third
    line.turns.give_up("b", 0, second)
    line.come("c1")
    line.go("a1")
    line.go("b2")
    assert line.started == ["a1", "b2", "c1"]
    assert line.turns.waiting == 0


def test_an_event_inside_another_never_waits_for_it() -> None:
    line = Line(Scheduler(at_once=1, waiting=10))
    for depth in range(4):
        line.come(f"a{depth}", depth)
    assert line.started == ["a0", "a1", "a2", "a3"]
    line.come("b0", 0)
    line.go("a3", 3)
    assert "b0" not in line.started
    line.go("a0", 0)
    assert line.started[-1] == "b0"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=80), st.integers(1, 5))
def test_the_counts_hold_in_any_order_of_coming_and_going(
    steps: list[tuple[str, bool]], at_once: int
) -> None:
    turns = Scheduler(at_once=at_once, waiting=1000)
    running: list[str] = []
    came = 0
    for session, comes in steps:
        if comes:
            came += 1
            if turns.enter(session, 0):
                running.append(session)
            else:
                # Each start is its own, or equal ones would be taken for one.
                turns.wait(session, 0, lambda session=session: running.append(session))  # type: ignore[misc]
        elif session in running:
            running.remove(session)
            came -= 1
            turns.leave(session, 0)
        assert turns.running == len(running) <= at_once
        assert turns.waiting + len(running) == came
        assert all(running.count(each) <= max(at_once // 2, 1) for each in "abc")
    while running:
        session = running.pop()
        turns.leave(session, 0)
    assert (turns.running, turns.waiting) == (0, 0)


# Room for bytes


def test_large_ones_wait_until_there_is_room() -> None:
    budget, resumed = MemoryBudget(10 * MB), list[str]()
    assert budget.take(8 * MB, lambda: resumed.append("a"))
    assert not budget.take(4 * MB, lambda: resumed.append("b"))
    assert not budget.take(1 * MB, lambda: resumed.append("c"))  # it came later, and would fit
    assert budget.take(SMALL, lambda: resumed.append("d"))
    assert resumed == []
    budget.give_back(8 * MB)
    assert resumed == ["b", "c"]
    assert budget.held == 5 * MB + SMALL


def test_one_larger_than_all_room_is_taken_alone() -> None:
    budget, resumed = MemoryBudget(MB), list[str]()
    assert budget.take(5 * MB, lambda: resumed.append("a"))
    assert not budget.take(5 * MB, lambda: resumed.append("b"))
    budget.give_back(5 * MB)
    assert resumed == ["b"]


def test_whoever_gives_up_lets_the_next_in() -> None:
    budget, resumed = MemoryBudget(10 * MB), list[str]()

    def second() -> None:
        resumed.append("b")

    budget.take(8 * MB, lambda: None)
    budget.take(9 * MB, second)
    budget.take(2 * MB, lambda: resumed.append("c"))
    assert budget.give_up(second)
    assert resumed == ["c"]
    assert not budget.give_up(second)


def test_it_says_once_that_something_large_has_gone() -> None:
    budget = MemoryBudget(100 * MB)
    budget.take(1000, lambda: None)
    budget.give_back(1000)
    assert not budget.has_let_go()
    budget.take(20 * MB, lambda: None)
    assert not budget.has_let_go()
    budget.give_back(20 * MB)
    assert budget.has_let_go()
    assert not budget.has_let_go()
