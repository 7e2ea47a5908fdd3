"""Hooks that fork without end, run away or turn on us, under a real daemon: bounded, and buried."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from support.clients.effects import Does
from support.faults import is_alive, world
from support.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")

CONFIG = """\
version: 1
hooks:
  - name: nothing is removed
    on: pre_tool_use
    match: {command: "rm *"}
    deny: Nothing is removed here.
  - name: misbehaves
    on: pre_tool_use
    match: {command: "deploy *"}
    timeout: 1
    run: [PYTHON, SCRIPT]
  - name: lasts
    on: pre_tool_use
    match: {command: "wait *"}
    run: [PYTHON, SCRIPT]
"""

# Each of them ends by itself after a minute, whatever becomes of us, and none grows for ever.
BOMB = """
import os, signal, time
signal.alarm(60)
began = time.monotonic()
for _ in range(100):
    if os.fork() == 0:
        signal.alarm(60)
        if os.getpid() % 2:
            os.setsid()
        if os.getpid() % 3 == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            signal.alarm(60)
        while True:
            time.sleep(1)
while True:
    time.sleep(1)
"""
RUNS_AWAY = """
import os, signal, sys, time
while time.monotonic() < {until}:
    if os.fork():
        os._exit(0)
    signal.alarm(60)
    os.setsid()
    time.sleep(0.001)
"""
KILLS = """
import os, signal
signal.alarm(60)
os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
"""
KILLS_ITS_OWN_GROUP = """
import os, signal
signal.alarm(60)
os.killpg(0, signal.SIGKILL)
"""
LASTS = """
import os, signal, time
signal.alarm(60)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for way in (lambda: None, os.setsid):
    if os.fork() == 0:
        signal.alarm(60)
        way()
        while True:
            time.sleep(1)
open(os.environ["HOOKLINE_PROJECT_DIR"] + "/begun", "a").write("begun\\n")
while True:
    time.sleep(1)
"""


def prepared(base: Path, script: str) -> str:
    path = base / "hook.py"
    path.write_text(script)
    return CONFIG.replace("PYTHON", sys.executable).replace("SCRIPT", str(path))


def test_a_fork_bomb_is_bounded_by_its_deadline_and_buried(tmp_path: Path) -> None:
    with world(tmp_path, config=prepared(tmp_path, BOMB)) as place:
        daemon = place.daemon()
        with place.begin("deploy now") as asking:
            eventually(lambda: len(place.marked()) > 100)
            # While it lasts, the others are answered.
            assert place.ask("rm -rf build").blocks
            said = asking.said()
        assert said.blocks
        assert "no answer within 1 s" in said.effect.reason
        eventually(lambda: not place.marked())
        assert place.daemon().pid == daemon.pid


def test_one_that_forks_itself_away_for_ever_is_caught_when_its_run_ends(tmp_path: Path) -> None:
    script = RUNS_AWAY.replace("{until}", str(time.monotonic() + 60))
    with world(tmp_path, config=prepared(tmp_path, script)) as place:
        place.daemon()
        said = place.ask("deploy now")
        # The program that was started has ended, and said nothing.
        assert said.effect.does == Does.GOES_ON
        # One that moves while we look is missed by chance, but not five times.
        eventually(lambda: not any(place.marked() for _ in range(5)))
        assert place.ask("rm -rf build").blocks


def test_one_that_kills_its_own_group_is_a_guard_that_failed(tmp_path: Path) -> None:
    with world(tmp_path, config=prepared(tmp_path, KILLS_ITS_OWN_GROUP)) as place:
        daemon = place.daemon()
        said = place.ask("deploy now")
        assert said.blocks
        assert "SIGKILL" in said.effect.reason
        assert place.daemon().pid == daemon.pid


def test_one_that_kills_the_daemon_and_all_its_group_opens_no_gate(tmp_path: Path) -> None:
    with world(tmp_path, config=prepared(tmp_path, KILLS)) as place:
        daemon = place.daemon()
        said = place.ask("deploy now")
        assert said.blocks
        assert not is_alive(daemon.pid)
        assert place.ask("rm -rf build").blocks
        assert place.ask("rm -rf build").effect.reason.startswith("Nothing is removed here.")
        assert place.daemon().pid != daemon.pid


def test_a_client_that_is_killed_takes_its_hooks_with_it(tmp_path: Path) -> None:
    with world(tmp_path, config=prepared(tmp_path, LASTS)) as place:
        daemon = place.daemon()
        with place.begin("wait for it") as asking:
            eventually((place.project / "begun").exists)
            assert len(place.marked()) == 4
            asking.process.kill()
            eventually(lambda: not place.marked())
        assert place.daemon().pid == daemon.pid
        assert place.daemon().running == 0
        verdicts = dict(place.rows("session_id, verdict"))
        assert verdicts[asking.payload["session_id"]] == "failed"


def test_a_client_without_a_daemon_that_is_killed_takes_its_hooks_with_it(tmp_path: Path) -> None:
    config = prepared(tmp_path, LASTS)
    with world(tmp_path, config=config) as place, place.begin("wait for it") as asking:
        eventually((place.project / "begun").exists)
        asking.process.kill()
        eventually(lambda: not place.marked())


def test_a_daemon_that_is_killed_leaves_no_hooks_behind(tmp_path: Path) -> None:
    with world(tmp_path, config=prepared(tmp_path, LASTS)) as place:
        daemon = place.daemon()
        with place.begin("wait for it", timeout=8) as asking:
            eventually((place.project / "begun").exists)
            first = set(place.marked()) - {asking.process.pid}
            os.kill(daemon.pid, signal.SIGKILL)
            eventually(lambda: not any(map(is_alive, first)), 5)
            said = asking.said()
        assert said.blocks
        eventually(lambda: not place.marked())


def test_a_daemon_that_is_killed_with_its_client_leaves_no_hooks_behind(tmp_path: Path) -> None:
    with world(tmp_path, config=prepared(tmp_path, LASTS)) as place:
        daemon = place.daemon()
        with place.begin("wait for it") as asking:
            eventually((place.project / "begun").exists)
            os.kill(daemon.pid, signal.SIGKILL)
            asking.process.kill()
            asking.process.wait()
        assert place.ask("rm -rf build").blocks
        eventually(lambda: not place.marked(), 5)
