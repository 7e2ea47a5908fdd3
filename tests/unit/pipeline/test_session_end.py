"""Sessions that no event ends: their hooks run once, when the session is over."""

import asyncio
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from select import select
from typing import Any

import pytest

from hookline import __version__
from hookline.client import fastest
from hookline.daemon.instance import find_holder
from hookline.model.outcome import Reply
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import BriefJournals, Parts
from hookline.pipeline.session_end import conclude_sessions
from hookline.processes.ancestry import find_agent, is_running, read_stat
from hookline.store.journal.reader import JournalReader
from hookline.store.sessions import OpenSession, OpenSessions
from support.serving import eventually

HALF_AN_HOUR = OpenSessions.SILENT
AGENT = "import subprocess, sys; subprocess.run(['sh', '-c', sys.argv[1]], check=True)"
ENDED = "  - {name: bye, on: session_end, run: 'cat > $(mktemp ended.XXXXXX)'}\n"
AGAIN = "  - {name: again, on: session_resume, run: 'cat > $(mktemp again.XXXXXX)'}\n"


class Machine:
    """One person's machine, on which an agent calls the installed line."""

    def __init__(self, directory: Path, hooks: str) -> None:
        self.directory = directory
        self.home = str(directory / "state")
        (directory / "hookline.yaml").write_text(f"version: 1\nhooks:\n{hooks}", "utf-8")

    def fire(self, native: str, *, session: str = "s1", pid: int = 0, **payload: Any) -> Reply:
        config = ["--home", self.home, "--config", str(self.directory / "hookline.yaml")]
        call = Call(
            argv=["vscode", native, *config],
            payload=json.dumps(self._payload(native, session, **payload)).encode(),
            env={"PATH": os.defpath, "HOME": str(self.directory)},
            cwd=str(self.directory),
            client_pid=pid,
        )
        return asyncio.run(self._with_parts(lambda parts: answer(call, parts)))

    def _payload(self, native: str, session: str, **more: Any) -> dict[str, Any]:
        return {
            "timestamp": "2026-02-09T10:30:00.000Z",
            "session_id": session,
            "transcript_path": "/home/dev/.config/Code/User/workspaceStorage/transcript.json",
            "hook_event_name": native,
            "cwd": str(self.directory),
            **more,
        }

    def fire_below_an_agent(self, *start: str, session: str) -> None:
        """The same by a process of its own, below an agent that ends with it."""
        options = ["--home", self.home, "--config", str(self.directory / "hookline.yaml")]
        words = [*start, "hook", "vscode", "UserPromptSubmit", *options]
        subprocess.run(
            [sys.executable, "-c", AGENT, shlex.join(words)],
            input=json.dumps(self._payload("UserPromptSubmit", session, prompt="go")),
            text=True,
            env={"PATH": os.defpath, "HOME": str(self.directory)},
            check=True,
        )

    def look(self, after: float = 0.0) -> None:
        """What the daemon does each minute, so many seconds from now."""
        now = time.time() + after
        asyncio.run(
            self._with_parts(lambda parts: conclude_sessions(parts, self.home, clock=lambda: now))
        )

    async def _with_parts(self, work: Any) -> Any:
        parts = Parts(BriefJournals())
        try:
            return await work(parts)
        finally:
            await parts.aclose()

    def told(self, what: str = "ended") -> list[dict[str, Any]]:
        return [json.loads(file.read_text()) for file in self.directory.glob(f"{what}.*")]


@pytest.fixture
def agent() -> Any:
    """A process that stands for the agent, and the number of a client that it started."""
    with subprocess.Popen(
        ["python3", "-c", "import subprocess; subprocess.run(['sh', '-c', 'echo $$; read x'])"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        client = int(process.stdout.readline())
        yield process, client
        process.kill()


def test_a_session_is_over_when_its_agents_process_is_gone(tmp_path: Path, agent: Any) -> None:
    process, client = agent
    machine = Machine(tmp_path, ENDED)
    machine.fire("UserPromptSubmit", pid=client, prompt="go")
    machine.look()
    assert machine.told() == []
    process.kill()
    process.wait()
    machine.look()
    machine.look()
    (event,) = machine.told()
    assert (event["event"], event["session_id"]) == ("session_end", "s1")
    assert event["derived_from"] == "silence"
    assert event["reason"] == "the agent's process is gone"


def test_a_session_is_over_after_half_an_hour_without_an_event_and_not_before(
    tmp_path: Path,
) -> None:
    machine = Machine(tmp_path, ENDED)
    machine.fire("UserPromptSubmit", prompt="go")
    machine.look(HALF_AN_HOUR - 60)
    assert machine.told() == []
    machine.look(HALF_AN_HOUR + 60)
    (event,) = machine.told()
    assert event["reason"] == "no event for 30 minutes"


def test_another_session_ends_none(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ENDED)
    machine.fire("UserPromptSubmit", prompt="go")
    machine.fire("SessionStart", session="s2", source="new")
    machine.look()
    assert machine.told() == []


def test_a_session_that_speaks_again_is_resumed_and_ends_again(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ENDED + AGAIN)
    machine.fire("UserPromptSubmit", prompt="go")
    machine.look(2 * HALF_AN_HOUR)
    machine.fire("UserPromptSubmit", prompt="go on")
    machine.fire("PreToolUse", tool_name="runInTerminal", tool_input={}, tool_use_id="t")
    (event,) = machine.told("again")
    assert event["event"] == "session_resume"
    machine.look(2 * HALF_AN_HOUR)
    assert len(machine.told()) == 2


def test_nobody_waits_for_an_end_that_no_hook_is_for(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "  - {on: stop, context: x}\n")
    machine.fire("UserPromptSubmit", prompt="go")
    assert not (tmp_path / "state/open-sessions").exists()


def test_the_end_is_in_the_journal_with_what_its_hooks_did(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "  - {name: bye, on: session_end, run: exit 3}\n")
    machine.fire("UserPromptSubmit", prompt="go")
    machine.look(2 * HALF_AN_HOUR)
    with JournalReader(str(tmp_path / "state/journal/journal.db")) as reader:
        (event,) = [row for row in reader.query() if row.event == "session_end"]
    assert [run.failed is not None for run in event.runs] == [True]


def test_whoever_is_at_work_on_a_session_has_it_to_himself(tmp_path: Path) -> None:
    store = OpenSessions(str(tmp_path))
    store.keep_open(
        "a",
        lambda: OpenSession(session_id="a", dialect="vscode", argv=(), cwd="/"),
        anew=True,
    )
    late = time.time() + 2 * HALF_AN_HOUR
    first = store.take_over(late, is_running)
    assert [session.session_id for session, _ in [next(first)]] == ["a"]
    assert list(store.take_over(late, is_running)) == []
    first.close()  # as a process that dies over it
    assert len(list(store.take_over(late, is_running))) == 1
    assert list(store.take_over(late, is_running)) == []


def test_a_session_that_speaks_while_its_hooks_for_the_end_run_stays_open(tmp_path: Path) -> None:
    store = OpenSessions(str(tmp_path))
    session = OpenSession(session_id="a", dialect="vscode", argv=(), cwd="/")
    store.keep_open("a", lambda: session, anew=True)
    late = time.time() + 2 * HALF_AN_HOUR
    for _ in store.take_over(late, is_running):
        store.keep_open("a", lambda: session, anew=False)
    assert len(list(store.take_over(late, is_running))) == 1


def test_an_agent_is_the_nearest_ancestor_that_is_no_shell(agent: Any) -> None:
    process, client = agent
    found = read_stat(process.pid)
    assert found is not None
    assert find_agent(client) == (process.pid, found.started)
    assert is_running(process.pid, found.started)
    assert not is_running(process.pid, found.started + 1)


def test_a_session_that_another_process_takes_up_ends_before_it_is_resumed(
    tmp_path: Path, agent: Any
) -> None:
    process, client = agent
    machine = Machine(tmp_path, ENDED + AGAIN)
    machine.fire("UserPromptSubmit", pid=client, prompt="go")
    process.kill()
    process.wait()
    machine.fire("UserPromptSubmit", pid=os.getpid(), prompt="go on")
    (ended,), (again,) = tmp_path.glob("ended.*"), tmp_path.glob("again.*")
    assert ended.stat().st_mtime_ns < again.stat().st_mtime_ns
    machine.look()
    machine.fire("UserPromptSubmit", pid=os.getpid(), prompt="go on")
    assert (len(machine.told()), len(machine.told("again"))) == (1, 1)


def test_a_session_that_speaks_after_half_an_hour_was_over_whoever_looked(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ENDED + AGAIN)
    machine.fire("UserPromptSubmit", prompt="go")
    (kept,) = (tmp_path / "state/open-sessions").glob("[!.]*")
    long_ago = time.time() - HALF_AN_HOUR - 60
    os.utime(kept, (long_ago, long_ago))
    machine.fire("PreToolUse", tool_name="runInTerminal", tool_input={}, tool_use_id="t")
    assert (len(machine.told()), len(machine.told("again"))) == (1, 1)


def test_a_script_that_an_agent_starts_for_a_hook_is_a_shell_by_whatever_name(
    tmp_path: Path,
) -> None:
    script = tmp_path / "zz-hookline-user_message_send"
    script.write_text("#!/bin/sh\nsh -c 'echo $$; read x'\n:\n", "utf-8")
    script.chmod(0o755)
    words = ["python3", "-c", f"import subprocess; subprocess.run([{str(script)!r}])"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdout is not None
        client = int(agent.stdout.readline())
        assert find_agent(client)[0] == agent.pid
        agent.kill()


def test_a_process_that_nobody_has_asked_after_since_it_ended_is_gone() -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        found = read_stat(process.pid)
        assert found is not None
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert not is_running(process.pid, found.started)


def test_without_a_daemon_the_next_process_ends_what_is_over(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ENDED)
    for session in ("s1", "s2"):
        machine.fire_below_an_agent(sys.executable, "-I", "-m", "hookline", session=session)
    assert [event["session_id"] for event in machine.told()] == ["s1"]


def test_a_daemon_ends_what_is_over_before_it_goes(tmp_path: Path) -> None:
    machine = Machine(tmp_path, ENDED)
    machine.fire_below_an_agent(*fastest(sys.executable), session="s1")
    holder = eventually(lambda: find_holder(machine.home, __version__))
    watch = os.pidfd_open(holder.pid)
    try:
        signal.pidfd_send_signal(watch, signal.SIGTERM)
        assert select([watch], [], [], 30)[0]
    finally:
        os.close(watch)
    assert [event["session_id"] for event in machine.told()] == ["s1"]
