"""A clock that was put forward or back: nothing that is in force goes out of force for it.

A daemon's own clock cannot be moved from here. So these move the times that it finds, or the clock
of a part that takes one.
"""

import json
import os
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from hookline.store.sessions import SessionRoots
from support.faults import World
from support.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")

DAY = 86_400.0
YEAR = 365 * DAY


def test_events_from_the_future_hide_nothing_and_hold_nothing_up(place: World) -> None:
    daemon = place.daemon()
    place.ask()
    with closing(sqlite3.connect(place.journal, timeout=30)) as connection, connection:
        far = int((time.time() + 10 * 365 * 86_400) * 1e6)
        connection.execute("UPDATE events SET at = ?", (far,))
    said = place.ask()
    assert said.blocks
    rows = place.rows("session_id, at")
    assert rows[-1][0] == said.session
    assert rows[-1][1] < far
    os.kill(daemon.pid, 9)
    eventually(lambda: daemon.pid not in place.serving())
    assert place.ask().blocks
    assert len(place.rows()) == len(rows) + 1


def test_a_config_with_a_time_in_the_future_or_long_past_is_read_again_when_it_changes(
    place: World,
) -> None:
    place.daemon()
    for moment in (time.time() + 400 * 86_400, 0.0, 1e9):
        text = place.user_file.read_text()
        place.user_file.write_text(text.replace("rm *", "mv *"))
        os.utime(place.user_file, (moment, moment))
        assert not place.ask("rm -rf build").blocks
        assert place.ask("mv a b").blocks
        place.user_file.write_text(text)
        os.utime(place.user_file, (moment, moment))
        assert place.ask("rm -rf build").blocks


@pytest.mark.parametrize(
    ("since", "until"), [(YEAR, YEAR + 600), (-YEAR, -YEAR + 600), (-600, YEAR), (60, -60)]
)
def test_a_pause_that_the_clock_has_left_or_not_reached_lifts_nothing(
    place: World, since: float, until: float
) -> None:
    place.daemon()
    now = time.time()
    pause = {"from": now + since, "until": now + until}
    (place.state / "pause.json").write_text(json.dumps(pause))
    assert place.ask("rm -rf build").blocks


def test_a_pause_that_is_on_lifts_what_the_others_do_not(place: World) -> None:
    """So that the test above could fail."""
    place.daemon()
    pause = {"from": time.time() - 60, "until": time.time() + 600}
    (place.state / "pause.json").write_text(json.dumps(pause))
    assert not place.ask("rm -rf build").blocks


@pytest.mark.parametrize("seconds", [-YEAR, -DAY, DAY, YEAR])
def test_a_session_keeps_its_project_when_the_clock_jumps(tmp_path: Path, seconds: float) -> None:
    now = [time.time()]

    def fresh() -> SessionRoots:
        return SessionRoots(str(tmp_path), clock=lambda: now[0])

    assert fresh().root_for("a", lambda: "/project") == ("/project", True)
    now[0] += seconds
    # Another session begins, and with it the day's tidying up.
    fresh().root_for("b", lambda: "/other")
    assert fresh().root_for("a", lambda: "/elsewhere") == ("/project", False)
