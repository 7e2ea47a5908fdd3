"""kill -9 of anything at any instant: no verdict is lost or weaker, and nothing is left behind."""

import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from support.clients.effects import Does
from support.faults import LIMIT, Asking, Said, World, world
from support.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")

ROUNDS = int(os.environ.get("HOOKLINE_FAULT_ROUNDS", "120"))
SEED = int(os.environ.get("HOOKLINE_FAULT_SEED", "4"))

CONFIG = """\
version: 1
hooks:
  - name: nothing is removed
    on: pre_tool_use
    match: {command: "rm *"}
    deny: Nothing is removed here.
  - name: a program says no
    on: pre_tool_use
    match: {command: "deploy *"}
    run: "sleep 0.05 & wait; echo Nothing is deployed here. >&2; exit 2"
  - name: a program lets it go on
    on: pre_tool_use
    match: {command: "test *"}
    run: "sleep 0.05"
  - name: it goes on
    on: stop
    run: "sleep 0.02; echo Run the tests first. >&2; exit 2"
"""

REMOVES, DEPLOYS, TESTS, LISTS = "rm -rf build", "deploy now", "test all", "ls"
STOPS = ""


class Round:
    """A few clients at once, and one kill while they wait."""

    def __init__(self, place: World, rng: random.Random) -> None:
        self._place = place
        self._rng = rng
        self.killed = rng.choice(["daemon", "daemon", "client", "hook", "all hooks"])

    def play(self) -> list[tuple[str, Asking, Said]]:
        commands = self._commands()
        cold = not self._place.serving()
        with ExitStack() as stack:
            asked = [stack.enter_context(self._begin(each)) for each in commands]
            self._wait(asked, cold)
            self._kill([each.process.pid for each in asked])
            return [
                (command, each, each.said()) for command, each in zip(commands, asked, strict=True)
            ]

    def _commands(self) -> list[str]:
        any_of = [REMOVES, REMOVES, DEPLOYS, TESTS, LISTS, STOPS]
        first = self._rng.choice([DEPLOYS, TESTS, STOPS] if "hook" in self.killed else any_of)
        others = self._rng.choices([REMOVES, DEPLOYS, LISTS], k=self._rng.choice([0, 0, 1, 2]))
        return [first, *others]

    def _begin(self, command: str) -> Asking:
        event = "PreToolUse" if command else "Stop"
        return self._place.begin(command, event=event)

    def _wait(self, asked: Sequence[Asking], cold: bool) -> None:
        clients = [each.process.pid for each in asked]
        if "hook" in self.killed:
            eventually(lambda: self._hooks(clients) or asked[0].process.poll() is not None, LIMIT)
            longest = 0.05
        else:
            longest = 0.8 if cold else self._rng.choice([0.004, 0.02, 0.08])
        # Not to wait for anything: the instant of the kill is what is tried.
        time.sleep(self._rng.random() * longest)

    def _hooks(self, clients: Sequence[int]) -> list[int]:
        return [pid for pid in self._place.marked() if pid not in clients]

    def _kill(self, clients: Sequence[int]) -> None:
        if self.killed == "daemon":
            found = self._place.serving()
        elif self.killed == "client":
            found = list(clients[:1])
        else:
            found = self._hooks(clients)
        if self.killed != "all hooks" and found:
            found = [self._rng.choice(found)]
        self.killed = self.killed if found else "nothing"
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def judge(command: str, said: Said, killed: str) -> None:
    """Never weaker than it would have been; and as it would have been, where we could answer."""
    if command in {REMOVES, DEPLOYS}:
        assert said.blocks, said
    if killed == "nothing":
        assert not said.is_last, said
    # A child of the daemon is like the daemon until it becomes its program, and may be hit instead.
    hit = b"killed by SIGKILL" in said.reply.stdout + said.reply.stderr
    if said.is_last or killed in {"hook", "all hooks"} or hit:
        return  # a guard whose program was killed closes the gate; a failed hook keeps nobody going
    if command == STOPS:
        assert "Run the tests first." in said.effect.follow_up, said
    elif command in {LISTS, TESTS}:
        assert said.effect.does == Does.GOES_ON, said


@pytest.mark.slow
@pytest.mark.timeout(max(120, ROUNDS * 3))
def test_kills_at_random_instants_lose_no_verdict_and_leave_nothing(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    counts: Counter[str] = Counter()
    answered: list[Said] = []
    with world(tmp_path, config=CONFIG) as place:
        place.daemon()
        for _ in range(ROUNDS):
            round_ = Round(place, rng)
            for command, asking, said in round_.play():
                counts[f"killed: {round_.killed}"] += 1
                if asking.was_killed:
                    counts["no client left to ask"] += 1
                    continue
                judge(command, said, round_.killed)
                counts["last answers"] += said.is_last
                if not said.is_last:
                    answered.append(said)
            if counts["rounds"] % 20 == 0:
                assert place.is_sound()
            counts["rounds"] += 1
        print(dict(counts))
        assert counts["killed: daemon"]
        assert counts["killed: client"]
        assert counts["killed: hook"]
        assert answered
        # Whoever comes next is answered by a daemon, and nothing else of ours is there.
        assert place.ask().blocks
        daemon = place.daemon()
        eventually(lambda: place.serving() == [daemon.pid])
        eventually(lambda: not place.marked())
        assert sorted(os.listdir(place.dir)) == ["daemon.sock", "lock"]
        assert_written(place, answered)


def assert_written(place: World, answered: Sequence[Said]) -> None:
    """Every event of which an agent has an answer is in the journal, as it was answered."""
    assert place.is_sound()
    rows = place.rows("session_id, id, verdict")
    by_session = {session: (id, verdict) for session, id, verdict in rows}
    missing = [said for said in answered if said.session not in by_session]
    assert not missing, (len(missing), missing[0])
    for said in answered:
        told = said.reply.stdout.decode()
        if "hookline explain " in told:
            named = told.rpartition("hookline explain ")[2][:16]
            written = [(id, verdict) for session, id, verdict in rows if session == said.session]
            assert any(id.startswith(named) and verdict == "deny" for id, verdict in written)
