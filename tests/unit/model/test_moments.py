"""A look at the disk is shared within one moment, and never beyond it."""

import pytest

from hookline.model.moments import SharedLooks, begin_moment, end_moment, is_shared


class Disk:
    """What is where, and how often somebody looked."""

    def __init__(self) -> None:
        self.content = {"a": 1, "b": 2}
        self.looks = 0

    def look(self, path: str) -> int:
        self.looks += 1
        return self.content[path]


def test_events_by_themselves_share_nothing() -> None:
    disk = Disk()
    shared = SharedLooks(disk.look)
    assert not is_shared()
    assert [shared.at("a"), shared.at("a")] == [1, 1]
    assert disk.looks == 2


def test_in_one_moment_each_path_is_looked_at_once() -> None:
    disk = Disk()
    shared = SharedLooks(disk.look)
    begin_moment()
    try:
        assert is_shared()
        assert [shared.at("a"), shared.at("b"), shared.at("a")] == [1, 2, 1]
        assert disk.looks == 2
    finally:
        end_moment()


def test_nothing_is_carried_into_the_next_moment_or_behind_the_last() -> None:
    disk = Disk()
    shared = SharedLooks(disk.look)
    for seen in (1, 10):
        begin_moment()
        disk.content["a"] = seen
        assert shared.at("a") == seen
    end_moment()
    disk.content["a"] = 100
    assert shared.at("a") == 100


def test_who_changes_something_has_it_looked_at_again() -> None:
    disk = Disk()
    shared = SharedLooks(disk.look)
    begin_moment()
    try:
        assert shared.at("a") == 1
        disk.content["a"] = 2
        shared.forget()
        assert shared.at("a") == 2
    finally:
        end_moment()


def test_a_look_that_fails_is_made_again() -> None:
    disk = Disk()
    shared = SharedLooks(disk.look)
    begin_moment()
    try:
        with pytest.raises(KeyError):
            shared.at("c")
        disk.content["c"] = 3
        assert shared.at("c") == 3
    finally:
        end_moment()
