"""``log``, ``explain`` and ``replay`` read the journal of many machines as they read their own."""

import asyncio
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookline.model.journal import JournalSettings
from hookline.pipeline.parts import journal_file
from hookline.store.journal.group_commit import SqliteJournal
from hookline.store.journal.postgres import Spool, watermark
from support.cli import Machine
from support.journals import an_entry, until

if TYPE_CHECKING:
    from tests.postgres.conftest import Server

RULES = """\
version: 1
hooks:
  - {name: no-push, on: pre_tool_use, match: {command: "git push*"}, deny: Not this.}
"""


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path, capfdbinary)
    machine.trust(RULES)
    return machine


def shell(command: str) -> dict[str, object]:
    return {"event": "pre_tool_use", "tool": {"name": "shell", "command": command}}


def ship(machine: Machine, dsn: str) -> None:
    """What a daemon does beside its work."""
    path = journal_file(str(machine.state))

    async def main() -> None:
        journal = SqliteJournal(path, JournalSettings(dsn=dsn))
        spool = Spool(path, watermark(dsn))
        try:
            assert await journal.write(an_entry()) == ""
            await until(lambda: spool.next() is None)
        finally:
            spool.close()
            await journal.aclose()

    asyncio.run(main())


def test_commands_read_the_database(server: "Server", machine: Machine) -> None:
    dsn = server.dsn("journal")
    machine.hook(shell("git push"))
    machine.hook(shell("ls"))
    ship(machine, dsn)
    for file in Path(journal_file(str(machine.state))).parent.iterdir():
        file.unlink()
    name = os.uname().nodename
    out = machine.call("log", "--dsn", dsn, "--verdict", "deny").out
    assert "shell git push  no-push" in out
    assert name in out
    told = machine.call("explain", "--dsn", dsn, "--json").json
    assert (told["subject"], told["verdict"], told["machine"]) == ("git push", "deny", name)
    assert machine.call("replay", "--dsn", dsn).code == 0
    machine.write("new.yaml", "version: 1\n")
    assert machine.call("replay", "--dsn", dsn, "--config", "new.yaml").code == 1


def test_a_database_that_is_not_there_says_so(machine: Machine, tmp_path: Path) -> None:
    done = machine.call("log", "--dsn", f"postgresql://hookline@/none?host={tmp_path}")
    assert (done.code, done.out) == (1, "")
    assert "cannot be read" in done.err


def test_the_database_can_be_followed(server: "Server", machine: Machine) -> None:
    dsn = server.dsn("journal")
    machine.hook(shell("first"))
    ship(machine, dsn)
    process = machine.start("log", "-f", "--dsn", dsn, "--dialect", "canonical", bufsize=0)
    try:
        assert process.stdout is not None
        assert b"shell first" in process.stdout.readline()
        machine.hook(shell("second"))
        ship(machine, dsn)
        assert b"shell second" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (130, b"", b"")
    finally:
        process.kill()
        process.communicate(timeout=20)
