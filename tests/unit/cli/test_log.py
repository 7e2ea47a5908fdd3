"""``hookline log``: what was written down of events, and which of it one wants to see."""

import json
import re
import selectors
import signal
import sqlite3
import subprocess
import time
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import IO

import pytest

from hookline.cli.log import _Follower
from hookline.model.journal import Recorded
from hookline.pipeline.parts import journal_file
from hookline.store.journal.reader import Filter, JournalReader
from support.cli import Machine

RULES = """\
version: 1
hooks:
  - {name: no-push, on: pre_tool_use, match: {command: "git push*"}, deny: Not this.}
  - {name: sure, on: pre_tool_use, match: {command: "rm *"}, ask: Sure?}
  - {name: tell, on: session_start, context: Be kind.}
  - {name: better, on: pre_tool_use, match: {command: old}, rewrite: {input: {command: new}}}
  - {name: fmt, on: post_tool_use, run: "exit 7"}
  - {name: lint, on: post_tool_use, match: {command: both}, run: "exit 8"}
"""
LINE = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d  (?P<verdict>\w+) +(?P<event>\w+) +(?P<dialect>[\w-]+) +"
    r"[\d.]+ ms  (?P<id>\w+)  (?P<rest>.*)"
)


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path, capfdbinary)
    machine.trust(RULES)
    return machine


def shell(command: str, **fields: object) -> dict[str, object]:
    return {"event": "pre_tool_use", "tool": {"name": "shell", "command": command}, **fields}


def subjects(machine: Machine, *words: str) -> list[str]:
    done = machine.call("log", "--json", *words)
    assert done.code == 0, done.err
    return [each["subject"] for each in done.lines]


def test_one_line_per_event_the_newest_last(machine: Machine) -> None:
    machine.hook(shell("git push"))
    machine.hook({"event": "session_start", "source": "startup"})
    machine.hook(shell("ls"))
    lines = [LINE.fullmatch(line) for line in machine.call("log").out.splitlines()]
    told = [
        (each["verdict"], each["event"], each["dialect"], each["rest"]) for each in lines if each
    ]
    assert told == [
        ("deny", "pre_tool_use", "canonical", "shell git push  no-push"),
        ("pass", "session_start", "canonical", "startup"),
        ("pass", "pre_tool_use", "canonical", "shell ls"),
    ]


def test_each_event_that_nobody_could_read_has_a_line_of_its_own(machine: Machine) -> None:
    for number in range(3):
        machine.hook(f"no JSON {number}", "pre_tool_use")
    told = machine.call("log", "--json").lines
    assert [each["verdict"] for each in told] == ["failed"] * 3
    assert len({each["id"] for each in told}) == 3


def test_json_has_all_of_an_event_on_one_line(machine: Machine) -> None:
    machine.hook(shell("git push", session_id="s1"))
    (line,) = machine.call("log", "--json").lines
    assert line["verdict"] == "deny"
    assert line["decided_by"] == ["no-push"]
    assert line["session_id"] == "s1"
    assert line["project_dir"] == str(machine.project)
    assert line["payload"]["tool"] == {"name": "shell", "command": "git push"}
    assert json.loads(line["stdout"])["verdict"] == "deny"
    assert line["runs"][0]["source"] == f"{machine.config}:3"
    assert line["approximate"] is False
    assert line["ms"] > 0


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("--session", "one"), ["git push", "rm x"]),
        (("--event", "session_start"), ["startup"]),
        (("--verdict", "deny"), ["git push"]),
        (("--verdict", "ask", "--verdict", "ask"), ["rm x"]),
        (("--tool", "shell"), ["git push", "rm x", "ls"]),
        (("--tool", "Shell"), ["git push", "rm x", "ls"]),
        (("--hook", "tell"), ["startup"]),
        (("--dialect", "codex"), []),
        (("--text", "sure?"), ["rm x"]),
        (("--since", "1h"), ["git push", "rm x", "ls", "startup"]),
        (("--since", "2999-01-01"), []),
        (("--until", "2h"), []),
        (("-n", "1"), ["startup"]),
        (("-n", "2", "--tool", "shell"), ["rm x", "ls"]),
    ],
)
def test_filters_leave_what_is_wanted(
    machine: Machine, words: tuple[str, ...], found: list[str]
) -> None:
    machine.hook(shell("git push", session_id="one-a"))
    machine.hook(shell("rm x", session_id="one-b"))
    machine.hook(shell("ls", session_id="two"))
    machine.hook({"event": "session_start", "source": "startup"})
    assert subjects(machine, *words) == found


def test_until_a_day_is_until_its_end(machine: Machine) -> None:
    machine.hook(shell("ls"))
    at = datetime.fromisoformat(machine.call("log", "--json").lines[0]["at"]).astimezone()
    assert subjects(machine, "--until", f"{at:%Y-%m-%d}") == ["ls"]
    assert subjects(machine, "--until", f"{at - timedelta(days=1):%Y-%m-%d}") == []


def test_a_line_ends_with_what_the_verdict_does_not_tell(machine: Machine) -> None:
    def after(command: str) -> dict[str, object]:
        return {"event": "post_tool_use", "tool": {"name": "shell", "command": command}}

    machine.hook(shell("old"))
    machine.hook(after("one"))
    machine.hook(after("both"))
    lines = [LINE.fullmatch(line) for line in machine.call("log").out.splitlines()]
    assert [(each["verdict"], each["rest"]) for each in lines if each] == [
        ("pass", "shell old  rewritten"),
        ("pass", "shell one  1 hook failed"),
        ("pass", "shell both  2 hooks failed"),
    ]


def test_a_rewrite_that_came_to_nothing_is_not_told(machine: Machine) -> None:
    machine.trust(
        RULES.replace("{command: new}}}", "{command: git push}}, priority: 10}")
        + "  - {name: env, on: pre_tool_use, match: {command: colour}, rewrite: {env: {C: '1'}}}\n"
    )
    machine.hook(shell("old"))
    payload = {
        "session_id": "s1",
        "cwd": str(machine.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "colour"},
        "turn_id": "1",
        "model": "m",
    }
    machine.call("hook", "codex", "PreToolUse", *machine.own, stdin=json.dumps(payload).encode())
    told = machine.call("log").out
    assert len(told.splitlines()) == 2
    assert "rewritten" not in told


def test_nothing_found_is_said_on_stderr(machine: Machine) -> None:
    machine.hook(shell("ls"))
    done = machine.call("log", "--verdict", "halt")
    assert (done.code, done.out) == (0, "")
    assert done.err == "No such event has been written down.\n"
    assert machine.call("log", "--verdict", "halt", "--json") == (0, "", "")


def test_what_could_not_be_judged_is_there_as_failed(machine: Machine) -> None:
    machine.hook(b"{half", "pre_tool_use")
    (line,) = machine.call("log", "--verdict", "failed").out.splitlines()
    assert "(unreadable)" in line
    assert "JSON" in line


def test_without_a_journal_it_says_how_one_begins(machine: Machine) -> None:
    done = machine.call("log")
    assert (done.code, done.out) == (1, "")
    assert "there is no journal at" in done.err


@pytest.mark.parametrize(("command", "code"), [("log", 1), ("explain", 1), ("replay", 2)])
def test_a_journal_that_is_switched_off_says_where(
    machine: Machine, command: str, code: int
) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text("version: 1\njournal: {enabled: false}\n", encoding="utf-8")
    machine.hook(shell("ls"))
    done = machine.call(command)
    assert (done.code, done.out) == (code, "")
    assert f"`journal.enabled` is false in {machine.user_file}" in done.err
    assert "yet" not in done.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--event", "pre_tool_us"), "did you mean `pre_tool_use`?"),
        (("--since", "yesterday"), "is no time: write 30m"),
        (("--verdict", "no"), "'failed'"),
        (("--dialect", "nope"), "no platform is called `nope`; known: basecoat, canonical, claude"),
    ],
)
def test_a_wrong_filter_says_what_can_be_written(
    machine: Machine, words: tuple[str, ...], hint: str
) -> None:
    done = machine.call("log", *words)
    assert done.code == 2
    assert hint in done.err


@pytest.mark.parametrize("command", ["log", "replay"])
@pytest.mark.parametrize(
    ("since", "until"),
    [("1h", "2h"), ("2026-11-17", "2026-11-16"), ("2026-11-17", "2026-11-16T18")],
)
def test_a_time_that_ends_before_it_begins_is_refused(
    machine: Machine, command: str, since: str, until: str
) -> None:
    machine.hook(shell("ls"))
    done = machine.call(command, "--since", since, "--until", until)
    assert (done.code, done.out) == (2, "")
    assert "--since is later than --until" in done.err


def test_from_a_day_until_the_same_day_is_that_day(machine: Machine) -> None:
    machine.hook(shell("ls"))
    assert subjects(machine, "--since", "2020-01-01", "--until", "2020-01-01") == []


def test_following_takes_no_end(machine: Machine) -> None:
    machine.hook(shell("ls"))
    done = machine.run("log", "-f", "--until", "2h")
    assert (done.code, done.out) == (2, "")
    assert "-f shows what is still to come, and --until ends before it" in done.err


def test_nothing_in_an_event_can_paint_the_terminal(machine: Machine) -> None:
    machine.hook(shell("echo \x1b[2J \u202e"))
    out = machine.call("log").out
    assert "\x1b" not in out
    assert "\u202e" not in out


class Followed:
    """``hookline log -f``, read line by line."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def line(self) -> str:
        return self._line(self.process.stdout)

    def complaint(self) -> str:
        return self._line(self.process.stderr)

    def _line(self, stream: IO[bytes] | None) -> str:
        assert stream is not None
        until = time.monotonic() + 20
        text = b""
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while not text.endswith(b"\n"):
                assert selector.select(until - time.monotonic()), f"nothing came: {text!r}"
                byte = stream.read(1)
                assert byte, "it ended"
                text += byte
        return text.decode()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=20)


def follow(machine: Machine, *words: str) -> Followed:
    return Followed(machine.start("log", "-f", *words, bufsize=0))


def test_following_goes_on_with_new_events_until_it_is_interrupted(machine: Machine) -> None:
    machine.hook(shell("first"))
    followed = follow(machine)
    try:
        assert "shell first" in followed.line()
        machine.hook(shell("second"))
        assert "shell second" in followed.line()
        machine.hook(shell("third"))
        assert "shell third" in followed.line()
        followed.process.send_signal(signal.SIGINT)
        out, err = followed.process.communicate(timeout=20)
        assert (followed.process.returncode, out, err) == (130, b"", b"")
    finally:
        followed.close()


def test_following_keeps_to_the_filter_and_to_json(machine: Machine) -> None:
    machine.hook(shell("ls"))
    followed = follow(machine, "--verdict", "deny", "--json", "-n", "1")
    try:
        machine.hook(shell("ls again"))
        machine.hook(shell("git push"))
        assert json.loads(followed.line())["subject"] == "git push"
    finally:
        followed.close()


def test_following_waits_for_a_journal_that_is_not_there_yet(machine: Machine) -> None:
    followed = follow(machine)
    try:
        journal = machine.state / "journal/journal.db"
        assert followed.complaint().startswith(f"waiting: there is no journal at {journal} yet")
        machine.hook(shell("first"))
        assert "shell first" in followed.line()
        followed.process.send_signal(signal.SIGINT)
        assert followed.process.communicate(timeout=20) == (b"", b""), "nothing is said twice"
    finally:
        followed.close()


def test_following_goes_on_when_a_new_journal_takes_the_place_of_the_old(machine: Machine) -> None:
    for number in range(3):
        machine.hook(shell(f"old {number}"))
    followed = follow(machine, "-n", "1")
    try:
        assert "shell old 2" in followed.line()
        for file in (machine.state / "journal").iterdir():
            file.rename(machine.base / file.name)
        machine.hook(shell("new"))
        assert "shell new" in followed.line()
    finally:
        followed.close()


def test_following_goes_on_when_a_journal_was_away_for_a_while(machine: Machine) -> None:
    machine.hook(shell("first"))
    followed = follow(machine)
    try:
        assert "shell first" in followed.line()
        journal, aside = machine.state / "journal", machine.base / "aside"
        journal.rename(aside)
        time.sleep(1)
        aside.rename(journal)
        machine.hook(shell("second"))
        assert "shell second" in followed.line(), "the first is not told again"
    finally:
        followed.close()


def test_a_new_journal_is_told_from_the_old_though_the_system_takes_them_for_one_file(
    machine: Machine, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine.hook(shell("old"))
    follower = _Follower(str(machine.state), None, Filter(), False)
    with JournalReader(journal_file(str(machine.state))) as reader:
        follower._print_new(reader, 0)
    machine.remove(machine.state / "journal")
    machine.hook(shell("new"))
    capfdbinary.readouterr()
    with JournalReader(journal_file(str(machine.state))) as reader:
        follower._print_new(reader, 1)
        follower._print_new(reader, 1)
    (line,) = capfdbinary.readouterr().out.splitlines()
    assert b"shell new" in line


def test_what_the_filter_left_out_is_not_looked_at_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    query = JournalReader.query

    def watched(self: JournalReader, wanted: Filter) -> Sequence[Recorded]:
        if wanted.after_seq is not None and wanted.verdict:
            asked.append(wanted.after_seq)
        return query(self, wanted)

    monkeypatch.setattr(JournalReader, "query", watched)
    for number in range(3):
        machine.hook(shell(f"ls {number}"))
    follower = _Follower(str(machine.state), None, Filter(verdict="deny"), False)
    with JournalReader(journal_file(str(machine.state))) as reader:
        follower._print_new(reader, 0)
        assert (asked, follower._after) == ([0], 3)
        machine.hook(shell("ls"))
        machine.hook(shell("git push"))
        machine.hook(shell("ls"))
        follower._print_new(reader, 3)
        assert (asked, follower._after) == ([0, 3, 5], 6)
        follower._print_new(reader, 6)
        assert (asked, follower._after) == ([0, 3, 5, 6], 6)


def test_following_misses_nothing_of_a_new_journal_that_has_more_than_the_old(
    machine: Machine,
) -> None:
    for number in range(3):
        machine.hook(shell(f"old {number}"))
    followed = follow(machine, "-n", "1")
    try:
        assert "shell old 2" in followed.line()
        # All of it is there at once, as after a burst between two looks.
        journal, other = machine.state / "journal", machine.state / "other"
        journal.rename(machine.base / "aside")
        for number in range(5):
            payload = json.dumps(shell(f"new {number}"))
            machine.call("hook", "canonical", "--home", str(other), stdin=payload)
        (other / "journal").rename(journal)
        assert [f"new {at}" in followed.line() for at in range(5)] == [True] * 5
    finally:
        followed.close()


def set_schema(machine: Machine, version: int) -> None:
    with closing(sqlite3.connect(machine.state / "journal/journal.db")) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


def test_following_says_once_what_cannot_be_read_and_goes_on_when_it_can(machine: Machine) -> None:
    machine.hook(shell("first"))
    set_schema(machine, 99)
    followed = follow(machine)
    try:
        assert "has the shape of a newer hookline (schema 99" in followed.complaint()
        set_schema(machine, 1)
        assert "shell first" in followed.line()
        machine.hook(shell("second"))
        assert "shell second" in followed.line()
        followed.process.send_signal(signal.SIGINT)
        assert followed.process.communicate(timeout=20) == (b"", b""), "nothing is said twice"
    finally:
        followed.close()


def test_following_a_journal_that_is_switched_off_says_so(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text("version: 1\njournal: {enabled: false}\n", encoding="utf-8")
    followed = follow(machine)
    try:
        assert f"`journal.enabled` is false in {machine.user_file}" in followed.complaint()
        machine.user_file.unlink()
        machine.hook(shell("first"))
        assert "shell first" in followed.line()
    finally:
        followed.close()
