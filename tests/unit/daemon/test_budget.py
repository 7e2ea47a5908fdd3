"""Large requests wait for room, in their order; small ones never do."""

from hookline.daemon.budget import SMALL, Budget

MB = 1 << 20


def test_large_ones_wait_until_there_is_room() -> None:
    budget, resumed = Budget(10 * MB), list[str]()
    assert budget.take(8 * MB, lambda: resumed.append("a"))
    assert not budget.take(4 * MB, lambda: resumed.append("b"))
    assert not budget.take(1 * MB, lambda: resumed.append("c"))  # it came later, and would fit
    assert budget.take(SMALL, lambda: resumed.append("d"))
    assert resumed == []
    budget.give_back(8 * MB)
    assert resumed == ["b", "c"]
    assert budget.held == 5 * MB + SMALL


def test_one_larger_than_all_room_is_taken_alone() -> None:
    budget, resumed = Budget(MB), list[str]()
    assert budget.take(5 * MB, lambda: resumed.append("a"))
    assert not budget.take(5 * MB, lambda: resumed.append("b"))
    budget.give_back(5 * MB)
    assert resumed == ["b"]


def test_whoever_gives_up_lets_the_next_in() -> None:
    budget, resumed = Budget(10 * MB), list[str]()

    def second() -> None:
        resumed.append("b")

    budget.take(8 * MB, lambda: None)
    budget.take(9 * MB, second)
    budget.take(2 * MB, lambda: resumed.append("c"))
    assert budget.give_up(second)
    assert resumed == ["c"]
    assert not budget.give_up(second)


def test_it_says_once_that_something_large_has_gone() -> None:
    budget = Budget(100 * MB)
    budget.take(1000, lambda: None)
    budget.give_back(1000)
    assert not budget.has_let_go()
    budget.take(20 * MB, lambda: None)
    assert not budget.has_let_go()
    budget.give_back(20 * MB)
    assert budget.has_let_go()
    assert not budget.has_let_go()
