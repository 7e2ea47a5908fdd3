"""What was written is found again: by id, by filter, in order, and while it is being written."""

import asyncio
import shutil
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.model.answers import Answer, Rewrite, ask, deny
from hookline.model.errors import HooklineError
from hookline.model.events import PreToolUse, Stop, UserPromptSubmit
from hookline.model.tools import tool
from hookline.store.journal.reader import Filter, JournalReader
from hookline.store.journal.writer import write_once
from support.journals import a_journal, a_run, an_entry, new_id, shell, write_all

T0 = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def minute(number: int) -> datetime:
    return T0 + timedelta(minutes=number)


ENTRIES = {
    "git": an_entry(shell("git status", session_id="alpha-1"), runs=[a_run("look")], at=minute(0)),
    "push": an_entry(
        shell("git push", session_id="alpha-2"),
        deny('not "today"'),
        runs=[a_run("look"), a_run("no pushing", deny('not "today"'))],
        at=minute(1),
    ),
    "read": an_entry(
        PreToolUse(tool=tool("read", path="/etc/hosts"), session_id="beta", dialect="codex"),
        ask("sure?"),
        at=minute(2),
        payload='{"note": "Grüße 100% _ok_"}'.encode(),
    ),
    "prompt": an_entry(
        UserPromptSubmit(prompt="tidy up", session_id="beta"),
        Answer(context=("line one\nline two",)),
        at=minute(3),
    ),
    "stop": an_entry(Stop(session_id="beta"), outcome=None, failure="no config", at=minute(4)),
}
NAMES = {entry.id: name for name, entry in ENTRIES.items()}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journal") / "journal.db"
    assert write_all(path, list(ENTRIES.values())) == [""] * len(ENTRIES)
    return path


@pytest.fixture
def path(written: Path, tmp_path: Path) -> str:
    return str(shutil.copy(written, tmp_path / "journal.db"))


def found(path: str, **wanted: Any) -> list[str]:
    with JournalReader(path) as reader:
        return [NAMES[each.id] for each in reader.query(Filter(**wanted))]


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({}, ["stop", "prompt", "read", "push", "git"]),
        ({"limit": 2}, ["stop", "prompt"]),
        ({"after_seq": 2}, ["read", "prompt", "stop"]),
        ({"after_seq": 2, "limit": 1}, ["read"]),
        ({"after_seq": 5}, []),
        ({"session": "beta"}, ["stop", "prompt", "read"]),
        ({"session": "alpha"}, ["push", "git"]),
        ({"session": "alpha-1"}, ["git"]),
        ({"session": "alpha-1x"}, []),
        ({"event": "pre_tool_use"}, ["read", "push", "git"]),
        ({"verdict": "deny"}, ["push"]),
        ({"verdict": "failed"}, ["stop"]),
        ({"tool": "shell"}, ["push", "git"]),
        ({"tool": "read"}, ["read"]),
        ({"tool": "SHELL"}, ["push", "git"]),
        ({"tool": "Rea"}, []),
        ({"project": "/home/dev/app"}, ["stop", "prompt", "read", "push", "git"]),
        ({"project": "/home/dev"}, []),
        ({"telling": True}, ["stop", "read", "push"]),
        ({"telling": True, "session": "alpha"}, ["push"]),
        ({"hook": "look"}, ["push", "git"]),
        ({"hook": "no pushing"}, ["push"]),
        ({"hook": "no push"}, []),
        ({"hook": "LOOK"}, []),
        ({"hook": "l%k"}, []),
        ({"hook": "loo_"}, []),
        ({"dialect": "codex"}, ["read"]),
        ({"since": minute(3)}, ["stop", "prompt"]),
        ({"until": minute(1)}, ["push", "git"]),
        ({"since": minute(1), "until": minute(2)}, ["read", "push"]),
        ({"text": "GIT PUSH"}, ["push"]),
        ({"text": 'not "today"'}, ["push"]),
        ({"text": "one\nline"}, ["prompt"]),
        ({"text": "Grüße"}, ["read"]),
        ({"text": "100% _ok"}, ["read"]),
        ({"text": "100x"}, []),
        ({"text": "alpha-2"}, ["push"]),
        ({"session": "beta", "event": "stop", "verdict": "failed"}, ["stop"]),
        ({"session": "beta", "verdict": "deny"}, []),
    ],
)
def test_a_filter_finds_what_it_says(path: str, wanted: dict[str, Any], names: list[str]) -> None:
    assert found(path, **wanted) == names


def test_an_event_is_found_by_its_id_or_the_beginning_of_it(path: str) -> None:
    entry = ENTRIES["push"]
    with JournalReader(path) as reader:
        assert reader.find(entry.id).id == entry.id
        assert reader.find(entry.id[:12]).id == entry.id


def test_the_last_attempt_of_an_event_is_the_one_that_is_found(tmp_path: Path) -> None:
    path, name = str(tmp_path / "journal.db"), new_id()
    write_once(path, an_entry(id=name, attempt=2))
    write_once(path, an_entry(id=name, attempt=1))
    with JournalReader(path) as reader:
        assert reader.find(name).attempt == 2


def test_an_id_that_nothing_or_too_much_begins_with_is_an_error(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.db")
    write_once(path, an_entry(id="abc1"))
    write_once(path, an_entry(id="abc2"))
    write_once(path, an_entry(id="abc"))
    with JournalReader(path) as reader:
        with pytest.raises(HooklineError, match="begins the ids of several events: abc, abc2"):
            reader.find("ab")
        with pytest.raises(HooklineError, match="no event in the journal"):
            reader.find("xyz")
        assert reader.find("abc").id == "abc", "an id is an id though others begin with it"


def test_an_id_is_found_however_many_newer_ones_begin_with_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_all(path, [an_entry(id=name) for name in ("e1", *(f"e1{at}" for at in range(10, 35)))])
    with JournalReader(str(path)) as reader:
        assert reader.find("e1").id == "e1"


TOLD: dict[str, dict[str, Any]] = {
    "a verdict": {"answer": ask("sure?")},
    "a failure": {"outcome": None, "failure": "no config"},
    "a hook that failed": {"runs": [a_run(failed="exit code 7")]},
    "a rewritten input": {"answer": Answer(rewrite=Rewrite(input={"command": "ls"}))},
    "an input of a hook": {"runs": [a_run(answer=Answer(rewrite=Rewrite(input={"path": "x"})))]},
    "a prompt": {"runs": [a_run(answer=Answer(rewrite=Rewrite(prompt="Be brief.")))]},
    "variables": {"runs": [a_run(answer=Answer(rewrite=Rewrite(env={"COLOUR": "1"})))]},
    "an input beside an output": {
        "runs": [a_run(answer=Answer(rewrite=Rewrite(input={"path": "x"}, output="less")))]
    },
    "a follow-up": {"runs": [a_run(answer=Answer(follow_up=("Go on.",)))]},
    "a verdict that did not count": {"runs": [a_run(answer=deny("no"))]},
    "an input that was cut": {
        "runs": [a_run(answer=Answer(rewrite=Rewrite(input={"text": "long " * 20_000})))]
    },
}
UNTOLD: dict[str, dict[str, Any]] = {
    "no hook": {},
    "a hook that passed": {"runs": [a_run()]},
    "context": {"runs": [a_run(answer=Answer(context=("Mind.",)))]},
    "a notice": {"runs": [a_run(answer=Answer(notice=("Look.",)))]},
    "a notice of hookline's own": {"answer": Answer(notice=("The journal is full.",))},
    "a rewritten output": {"runs": [a_run(answer=Answer(rewrite=Rewrite(output="less")))]},
    "all that is only said": {
        "answer": Answer(context=("a",), notice=("b",), rewrite=Rewrite(output="c", display="d"))
    },
    "a hook that kept something to itself": {"runs": [a_run(answer=Answer(metadata={"took": 1}))]},
    "a text that reads like a verdict": {
        "runs": [a_run('a "failed":"x" hook', Answer(reason='"verdict":"deny" "rewrite":{}'))]
    },
    "a text that reads like a rewrite": {
        "runs": [
            a_run(answer=Answer(rewrite=Rewrite(output='"rewrite":{"input":{}},"follow_up":["x"]')))
        ]
    },
}


@pytest.mark.parametrize("kind", [*TOLD, *UNTOLD])
def test_an_event_is_telling_when_a_hook_did_what_may_have_to_be_explained(
    tmp_path: Path, kind: str
) -> None:
    path = str(tmp_path / "journal.db")
    write_once(path, an_entry(**{**TOLD, **UNTOLD}[kind]))
    with JournalReader(path) as reader:
        assert bool(reader.query(Filter(telling=True))) == (kind in TOLD)


@pytest.mark.parametrize("project", ['/a "b" \\ c', "/tabs\t and\nlines", "/gr\udcfc\udcdfe", "/ü"])
def test_a_project_is_found_whatever_it_is_called(tmp_path: Path, project: str) -> None:
    path = str(tmp_path / "journal.db")
    write_once(path, an_entry(project_dir=project))
    write_once(path, an_entry(shell(f'"project_dir":"{project}"'), project_dir="/other"))
    with JournalReader(path) as reader:
        (found,) = reader.query(Filter(project=project))
    assert found.seq == 1


def test_what_is_being_written_can_be_followed(tmp_path: Path) -> None:
    path = str(tmp_path / "journal.db")
    first, second = an_entry(), an_entry()

    async def main() -> None:
        async with a_journal(path) as journal:
            await journal.write(first)
            with JournalReader(path) as reader:
                seen = reader.query(Filter(after_seq=0))
                version = reader.version()
                assert [each.id for each in seen] == [first.id]
                assert reader.version() == version
                await journal.write(second)
                assert reader.version() != version
                later = reader.query(Filter(after_seq=seen[-1].seq))
                assert [each.id for each in later] == [second.id]

    asyncio.run(main())


def test_a_clock_that_jumps_back_does_not_change_the_order(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    entries = [an_entry(at=minute(at)) for at in (10, 5, 20, 0)]
    write_all(path, entries)
    with JournalReader(str(path)) as reader:
        rows = reader.query(Filter(after_seq=0))
        assert [each.id for each in rows] == [each.id for each in entries]
        assert [each.seq for each in rows] == [1, 2, 3, 4]
        late = reader.query(Filter(since=minute(10)))
        assert [each.id for each in late] == [entries[2].id, entries[0].id]


def test_a_missing_journal_is_an_error_that_says_when_it_will_be_there(tmp_path: Path) -> None:
    with pytest.raises(HooklineError, match="there is no journal at"):
        JournalReader(str(tmp_path / "journal.db"))


@pytest.mark.parametrize("content", [b"", b"not a database " * 100])
def test_what_is_no_journal_is_an_error_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    with pytest.raises(HooklineError, match="cannot be read"):
        JournalReader(str(path))


def test_a_damaged_page_is_an_error_in_words(path: str) -> None:
    with open(path, "r+b") as file:
        size = file.seek(0, 2)
        for page in range(1, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 4096)
    with pytest.raises(HooklineError, match="cannot be read"), JournalReader(path) as reader:
        reader.query()


def test_a_damaged_row_is_an_error_that_names_it(path: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute("UPDATE events SET said = '{half'")
    connection.commit()
    connection.close()
    with (
        JournalReader(path) as reader,
        pytest.raises(HooklineError, match="is damaged in the journal"),
    ):
        reader.query()


def test_reading_changes_nothing(path: str) -> None:
    before = Path(path).read_bytes()
    with JournalReader(path) as reader:
        reader.query()
        with pytest.raises(HooklineError, match="readonly"):
            reader._fetch("DELETE FROM events")
    assert Path(path).read_bytes() == before
