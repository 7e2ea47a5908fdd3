"""Moments as people write them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from hookline.explaining.times import moment
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
        ("2026-11-01", datetime(2026, 11, 1, tzinfo=NOW.tzinfo)),
        ("2026-11-01T18:30", datetime(2026, 11, 1, 18, 30, tzinfo=NOW.tzinfo)),
        ("2026-11-01 18:30:05Z", datetime(2026, 11, 1, 18, 30, 5, tzinfo=UTC)),
    ],
)
def test_a_while_ago_a_day_and_a_time_are_understood(text: str, meant: datetime) -> None:
    assert moment(text, NOW) == meant


@pytest.mark.parametrize("text", ["", "yesterday", "2x", "2026-13-01", "-2h", "999999w"])
def test_anything_else_says_what_can_be_written(text: str) -> None:
    with pytest.raises(HooklineError, match=r"is no time: write 30m, 2h or 3d"):
        moment(text, NOW)
