"""Session memories outlive the process that wrote them, and a damaged one closes."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.model.errors import HooklineError
from hookline.model.memory import SessionMemory
from hookline.store.sessions import BriefMemories, SessionMemories


def latch(memories: SessionMemories | BriefMemories, session: str, reason: str) -> None:
    before = memories.read(session)
    memories.write(session, before, replace(before, latch=reason))


def latch_of(memories: SessionMemories | BriefMemories, session: str) -> str:
    return memories.read(session).latch


def test_a_memory_is_there_for_the_next_process(tmp_path: Path) -> None:
    latch(SessionMemories(str(tmp_path)), "s", "enough")
    assert latch_of(SessionMemories(str(tmp_path)), "s") == "enough"
    assert latch_of(SessionMemories(str(tmp_path)), "other") == ""


def test_a_session_that_remembers_nothing_leaves_no_file(tmp_path: Path) -> None:
    assert latch_of(SessionMemories(str(tmp_path)), "s") == ""
    assert list(tmp_path.iterdir()) == []


def test_memories_are_nobody_elses_to_read(tmp_path: Path) -> None:
    latch(SessionMemories(str(tmp_path)), "s", "enough")
    (file,) = [f for f in (tmp_path / "memory").iterdir() if not f.name.startswith(".")]
    assert file.stat().st_mode & 0o077 == 0
    assert (tmp_path / "memory").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"", b"{", b'{"latch": 3}'])
def test_a_damaged_memory_is_an_error_and_not_an_open_latch(tmp_path: Path, content: bytes) -> None:
    memories = SessionMemories(str(tmp_path))
    latch(memories, "s", "enough")
    (file,) = [f for f in (tmp_path / "memory").iterdir() if not f.name.startswith(".")]
    file.write_bytes(content)
    with pytest.raises(HooklineError, match="damaged"):
        latch_of(memories, "s")


def test_a_memory_that_cannot_be_kept_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("in the way", encoding="utf-8")
    with pytest.raises(HooklineError, match="cannot keep"):
        latch(SessionMemories(str(tmp_path)), "s", "enough")


def test_what_cannot_be_looked_at_is_an_error_and_not_an_open_latch(tmp_path: Path) -> None:
    memories = SessionMemories(str(tmp_path))
    latch(memories, "s", "enough")
    (file,) = [f for f in (tmp_path / "memory").iterdir() if not f.name.startswith(".")]
    file.unlink()
    file.symlink_to(file)
    with pytest.raises(HooklineError, match="cannot keep"):
        latch_of(memories, "s")


def test_a_latch_of_another_process_is_seen_however_often_there_was_none(tmp_path: Path) -> None:
    memories = SessionMemories(str(tmp_path))
    assert [latch_of(memories, "s") for _ in range(3)] == ["", "", ""]
    latch(SessionMemories(str(tmp_path)), "s", "enough")
    assert latch_of(memories, "s") == "enough"


def test_many_sessions_are_told_apart(tmp_path: Path) -> None:
    memories = SessionMemories(str(tmp_path))
    latch(memories, "s", "enough")
    assert not any(latch_of(memories, f"other {number}") for number in range(2_000))
    assert latch_of(memories, "s") == "enough"


def test_events_of_one_session_may_overlap(tmp_path: Path) -> None:
    memories = SessionMemories(str(tmp_path))
    before = memories.read("s")
    latch(memories, "s", "enough")
    memories.write("s", before, replace(before, follow_ups={"root": 1}))
    assert memories.read("s") == SessionMemory(latch="enough", follow_ups={"root": 1})


@pytest.mark.parametrize("kind", ["disk", "process"])
def test_events_without_a_session_share_nothing(tmp_path: Path, kind: str) -> None:
    memories = SessionMemories(str(tmp_path)) if kind == "disk" else BriefMemories()
    latch(memories, "", "enough")
    assert latch_of(memories, "") == ""
    assert not os.path.exists(tmp_path / "memory")


def test_a_brief_memory_lasts_as_long_as_its_process() -> None:
    memories = BriefMemories()
    latch(memories, "s", "enough")
    assert latch_of(memories, "s") == "enough"


def test_what_cannot_be_looked_at_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "memory").write_text("in the way", encoding="utf-8")
    with pytest.raises(HooklineError, match="cannot keep"):
        latch_of(SessionMemories(str(tmp_path)), "s")
