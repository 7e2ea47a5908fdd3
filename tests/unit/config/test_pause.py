"""A pause begins when a person says so, ends by itself, and cannot be made long."""

import os
from pathlib import Path

import pytest

from hookline.config.pause import (
    end_pause,
    parse_duration,
    pause_file,
    read_pause,
    start_pause,
)
from hookline.model.errors import HooklineError

NOW = 1_800_000_000.0
DAY = 86_400.0


@pytest.fixture
def home(tmp_path: Path) -> str:
    return str(tmp_path / "home")


def is_paused(home: str, now: float) -> bool:
    pause = read_pause(home)
    return pause is not None and pause.holds(now)


def test_it_holds_from_its_start_until_just_before_its_end(home: str) -> None:
    start_pause(home, 60, now=NOW)
    assert is_paused(home, NOW)
    assert is_paused(home, NOW + 59.9)
    assert not is_paused(home, NOW + 60)


def test_a_clock_put_back_before_the_start_ends_it(home: str) -> None:
    start_pause(home, 60, now=NOW)
    assert not is_paused(home, NOW - 1)


def test_without_a_file_there_is_no_pause(home: str) -> None:
    assert not is_paused(home, NOW)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"garbage",
        b"\xff",
        b"[]",
        b'{"from": 1800000000}',
        b'{"from": "now", "until": "later"}',
        b'{"from": 1800000000, "until": 1800000060, "more": 1}',
        b'{"from": 1800000000, "until": 1800000060}' + b" " * 2000,
    ],
)
def test_what_is_no_pause_is_no_pause(home: str, content: bytes) -> None:
    os.makedirs(home)
    Path(pause_file(home)).write_bytes(content)
    assert not is_paused(home, NOW)


def test_a_file_that_claims_more_than_a_day_is_no_pause(home: str) -> None:
    os.makedirs(home)
    Path(pause_file(home)).write_text(f'{{"from": 0, "until": {NOW + 1}}}')
    assert not is_paused(home, NOW)


def test_a_directory_in_place_of_the_file_is_no_pause(home: str) -> None:
    os.makedirs(pause_file(home))
    assert not is_paused(home, NOW)


def test_a_home_that_cannot_be_written_is_said(home: str) -> None:
    Path(home).write_text("in the way")
    with pytest.raises(HooklineError, match="cannot be written"):
        start_pause(home, 60, now=NOW)


def test_a_new_one_replaces_the_one_that_is_on(home: str) -> None:
    start_pause(home, DAY, now=NOW)
    start_pause(home, 10, now=NOW)
    assert not is_paused(home, NOW + 11)


def test_it_can_be_ended_early(home: str) -> None:
    start_pause(home, 60, now=NOW)
    assert end_pause(home)
    assert not is_paused(home, NOW)
    assert not end_pause(home)


def test_only_its_owner_can_read_or_write_it(home: str) -> None:
    start_pause(home, 60, now=NOW)
    assert os.stat(pause_file(home)).st_mode & 0o777 == 0o600
    assert os.stat(home).st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("10m", 600), ("2h", 7200), (" 1 h ", 3600), ("24h", DAY)]
)
def test_durations_people_write(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "10", "ten", "-1m", "1.5h", "0s", "25h", "1d", "9" * 50 + "s"]
)
def test_durations_that_are_none_or_too_long_are_refused(text: str) -> None:
    with pytest.raises(HooklineError):
        parse_duration(text)
