"""Moments as people write them."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest

from hookline.cli._journal import moment
from hookline.model.errors import HooklineError

NOW = datetime(2026, 11, 16, 12, 0, tzinfo=timezone(timedelta(hours=2)))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90s", NOW - timedelta(seconds=90)),
        ("30m", NOW - timedelta(minutes=30)),
        (" 2h ", NOW - timedelta(hours=2)),
        ("3 d", NOW - timedelta(days=3)),
        ("1w", NOW - timedelta(weeks=1)),
        ("2026-11-01", datetime(2026, 11, 1).astimezone()),
        ("2026-11-01T18:30", datetime(2026, 11, 1, 18, 30).astimezone()),
        ("2026-11-01 18:30:05Z", datetime(2026, 11, 1, 18, 30, 5, tzinfo=UTC)),
    ],
)
def test_a_while_ago_a_day_and_a_time_are_understood(text: str, meant: datetime) -> None:
    assert moment(text, NOW) == meant


@pytest.mark.parametrize("text", ["", "yesterday", "2x", "2026-13-01", "-2h", "999999w"])
def test_anything_else_says_what_can_be_written(text: str) -> None:
    with pytest.raises(HooklineError, match=r"is no time: write 30m, 2h or 3d"):
        moment(text, NOW)


@pytest.mark.parametrize(
    "text", ["2026-W47", "2026W47", "2026-W47-3", "2026-W47-3T18:00", "20261118", "2026-11"]
)
@pytest.mark.parametrize("end", [False, True])
def test_a_week_is_no_day(text: str, end: bool) -> None:
    with pytest.raises(HooklineError, match=r"is no time: write 30m, 2h or 3d"):
        moment(text, NOW, end=end)


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clocks as in Berlin, an hour ahead in summer; written out, so that no table is needed."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-07-01T12:00", datetime(2026, 7, 1, 10, tzinfo=UTC)),
        ("2026-12-01T12:00", datetime(2026, 12, 1, 11, tzinfo=UTC)),
        ("2026-07-01", datetime(2026, 6, 30, 22, tzinfo=UTC)),
        ("2026-07-01T12:00+00:00", datetime(2026, 7, 1, 12, tzinfo=UTC)),
    ],
)
def test_a_time_is_by_the_clocks_of_its_own_season(text: str, meant: datetime) -> None:
    for month in (1, 7):
        assert moment(text, datetime(2026, month, 1).astimezone()) == meant


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("2026-11-18", datetime(2026, 11, 18, 23, tzinfo=UTC)),
        (" 2026-10-25 ", datetime(2026, 10, 25, 23, tzinfo=UTC)),
        ("2026-03-29", datetime(2026, 3, 29, 22, tzinfo=UTC)),
    ],
)
def test_the_end_of_a_day_is_its_last_moment(text: str, beyond: datetime) -> None:
    assert moment(text, NOW, end=True) == beyond - timedelta(microseconds=1)


def test_the_end_of_a_time_is_that_time() -> None:
    for text in ("2h", "2026-11-18T00:00", "2026-11-18T00:00Z"):
        assert moment(text, NOW, end=True) == moment(text, NOW)


@pytest.fixture(params=["UTC", "CET-1", "EST5"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize(
    "text", ["0001-01-01", "0001-01-01T00:00", "9999-12-31", "9999-12-31T23:59:59"]
)
def test_both_ends_of_the_calendar_are_times(text: str, end: bool) -> None:
    found = moment(text, NOW, end=end)
    assert f"{found:%d}" == text[8:10]
    assert (found < NOW) == text.startswith("0001")
    if end and text == "9999-12-31":
        assert found == datetime.max.replace(tzinfo=UTC)
