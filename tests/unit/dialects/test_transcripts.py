"""What Claude Code 2.1.327 and Codex 0.169.0 wrote of scripted sessions, and damaged copies of it."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline import registry
from hookline.model.events import PreToolUse, Stop, SubagentStop
from hookline.model.ports import Transcript
from hookline.model.usage import Said, Todo, Tokens, TranscriptUsage, read_tokens

RECORDED = Path(__file__).parents[2] / "support" / "transcripts"
CLIENTS = ("claude-code", "codex")


def reader(dialect: str) -> Transcript:
    found = registry.transcript(dialect)
    assert found is not None
    return found


def read_all(dialect: str, path: Path) -> TranscriptUsage:
    return reader(dialect).read_usage(str(path), None)


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Path]:
    return lambda name: Path(shutil.copy(RECORDED / f"{name}.jsonl", tmp_path))


def test_a_message_that_has_a_line_for_each_block_is_one_call() -> None:
    found = read_all("claude-code", RECORDED / "claude-code.jsonl")
    assert [call.tokens for call in found.calls] == [
        Tokens(input=9517, output=22),
        Tokens(input=9545, output=31),
        Tokens(input=9738, output=2),
    ]
    assert {call.model for call in found.calls} == {"claude-sonnet-4-5"}
    assert (found.context, found.window, found.complete) == (9740, None, True)


def test_the_last_line_of_a_message_has_its_output(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    usage = {"input_tokens": 10, "cache_read_input_tokens": 500, "cache_creation_input_tokens": 40}
    for output in (1, 90):
        message = {"id": "m1", "model": "m", "usage": {**usage, "output_tokens": output}}
        with path.open("a") as file:
            file.write(
                json.dumps({"type": "assistant", "requestId": "r", "message": message}) + "\n"
            )
    (call,) = read_all("claude-code", path).calls
    assert call.tokens == Tokens(input=10, cached=500, written=40, output=90)


def test_codex_counts_cached_tokens_as_input_and_tells_its_window() -> None:
    found = read_all("codex", RECORDED / "codex.jsonl")
    assert sum(call.tokens.total for call in found.calls) == 27_186  # its own total
    assert (found.context, found.window) == (6855, 258_400)
    told = {"input_tokens": 100, "cached_input_tokens": 60, "output_tokens": 5, "total_tokens": 105}
    assert read_tokens(told) == Tokens(input=40, cached=60, output=5)


def test_a_rollout_without_records_is_counted_by_its_totals(copy: Callable[[str], Path]) -> None:
    path = copy("codex")
    lines = [each for each in path.read_text().splitlines() if "token_usage_record" not in each]
    again = [each for each in lines if "token_count" in each]
    path.write_text("\n".join([*lines, *again]) + "\n")
    calls = read_all("codex", path).calls
    assert (len(calls), sum(call.tokens.total for call in calls)) == (4, 27_186)


@pytest.mark.parametrize("name", ["claude-code-agent", "codex-agent"])
def test_calls_of_sub_agents_are_marked_and_are_no_part_of_the_conversation(name: str) -> None:
    found = read_all(name.removesuffix("-agent"), RECORDED / f"{name}.jsonl")
    assert len(found.calls) == 2
    assert all(call.is_sub for call in found.calls)
    assert found.context is None


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_added_is_read_from_the_mark_on(
    client: str, copy: Callable[[str], Path], tmp_path: Path
) -> None:
    whole = copy(client).read_bytes()
    path, mark, seen = tmp_path / "grows.jsonl", None, []
    path.touch()
    for end in range(0, len(whole) + 700, 700):
        with path.open("ab") as file:
            file.write(whole[end : end + 700])
        found = reader(client).read_usage(str(path), mark)
        mark = found.mark
        seen += [call.id for call in found.calls]
    # Only the lines of one message may come apart.
    assert list(dict.fromkeys(seen)) == [call.id for call in read_all(client, path).calls]
    assert reader(client).read_usage(str(path), mark).calls == ()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("change", ["shorter", "replaced", "other bytes"])
def test_a_file_that_is_another_one_now_is_read_from_its_beginning(
    client: str, change: str, copy: Callable[[str], Path], tmp_path: Path
) -> None:
    path = copy(client)
    whole, mark = path.read_bytes(), read_all(client, path).mark
    if change == "shorter":
        path.write_bytes(whole[: whole.rfind(b"\n", 0, -1) + 1])
    elif change == "replaced":
        other = tmp_path / "other"
        other.write_bytes(whole)
        os.replace(other, path)
    else:
        path.write_bytes(b'{"type": "other"}\n' + whole)
    assert reader(client).read_usage(str(path), mark).calls == read_all(client, path).calls != ()


@pytest.mark.parametrize("client", CLIENTS)
def test_what_is_no_transcript_has_no_calls(client: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    for content in (
        b"",
        b"\0\xff" * 1000,
        b'{"usage": [' * 5000 + b"\n",
        b'"usage" "token_count"\n',
    ):
        path.write_bytes(content)
        assert read_all(client, path).calls == ()


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("number", [-1, 10**12, 1.5, "9", True, 10**40])
def test_numbers_that_make_no_sense_are_unknown(client: str, number: object) -> None:
    assert read_tokens({"input_tokens": number, "output_tokens": 3}) is None
    assert (
        read_tokens({"input_tokens": 3, "output_tokens": 3, "cached_input_tokens": number}) is None
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_a_huge_transcript_is_read_in_parts_and_a_huge_line_is_skipped(
    client: str, copy: Callable[[str], Path], tmp_path: Path
) -> None:
    known = copy(client).read_bytes()
    path = tmp_path / "huge.jsonl"
    path.write_bytes(b"x" * (9 << 20) + b"\n" + known)
    first = reader(client).read_usage(str(path), None)
    assert (first.calls, first.complete) == ((), False)
    mark, calls, parts = first.mark, list(first.calls), 1
    while not first.complete:
        first = reader(client).read_usage(str(path), mark)
        mark, calls, parts = first.mark, [*calls, *first.calls], parts + 1
    assert [call.tokens for call in calls] == [
        call.tokens for call in read_all(client, RECORDED / f"{client}.jsonl").calls
    ]
    assert parts <= 4


@pytest.mark.parametrize("client", CLIENTS)
def test_only_regular_files_are_read(client: str, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, tmp_path, tmp_path / "gone", Path("/dev/zero"), Path("/dev/stdin")):
        with pytest.raises((OSError, ValueError)):
            read_all(client, path)


def test_sub_agents_of_claude_code_have_files_beside_the_session_s(tmp_path: Path) -> None:
    session = tmp_path / "s1.jsonl"
    folder = tmp_path / "s1" / "subagents"
    folder.mkdir(parents=True)
    (folder / "agent-a1.jsonl").touch()
    list_files = reader("claude-code").list_files
    main, sub = str(session), str(folder / "agent-a1.jsonl")
    assert list_files(PreToolUse(transcript_path=main)) == [main]
    assert list_files(Stop(transcript_path=main)) == [main, sub]
    ended = SubagentStop(transcript_path=main, agent_transcript_path=sub)
    assert list_files(ended) == [main, sub]
    assert list_files(PreToolUse()) == []


def test_the_end_of_a_transcript_has_the_latest_texts_and_the_things_to_do() -> None:
    end = reader("claude-code").read_end(str(RECORDED / "claude-code-tasks.jsonl"))
    assert end.messages == (Said("user", "MK_PROMPT"), Said("assistant", "MK_DONE"))
    assert end.todos == (Todo("Fix it", "in_progress"),)
    end = reader("codex").read_end(str(RECORDED / "codex-plan.jsonl"))
    assert end.messages == (Said("user", "MK_PROMPT"), Said("assistant", "MK_DONE"))
    assert end.todos == (Todo("Fix it", "in_progress"), Todo("Test", "pending"))
