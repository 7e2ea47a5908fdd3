"""Large tool results: the model sees a part, a file has all, and nobody else can read it."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert

from hookline.builtin import limit_large_tool_results, limit_output
from hookline.model.answers import PASS, Answer
from hookline.model.events import Event, PostToolUse, SessionEnd, ToolResponseTransform
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind

Answering = Callable[[Event, Caller], Answer]
MODULES: list[Any] = [limit_large_tool_results, limit_output]


@pytest.fixture
def caller(tmp_path: Path) -> Caller:
    return Caller(env={"TMPDIR": str(tmp_path)})


def limiting(module: Any, **options: Any) -> Answering:
    answering: Answering = module.make(convert(options, module.Options))
    return answering


def result(output: str, *, kind: ToolKind = ToolKind.SHELL, session: str = "s1") -> Event:
    tool = Tool(kind=kind, name="shell", output=output)
    return ToolResponseTransform(tool=tool, session_id=session)


def kept(folder: Path) -> list[Path]:
    return sorted(folder.rglob("tool-result-*.txt"))


def shown(answer: Answer) -> str:
    assert answer.rewrite.output is not None
    return answer.rewrite.output


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("output", ["", "x" * 51_200, "line\n" * 2_000, "\n" * 2_000])
def test_what_is_just_within_the_limits_stays(
    module: Any, output: str, caller: Caller, tmp_path: Path
) -> None:
    assert limiting(module)(result(output), caller) is PASS
    assert not kept(tmp_path)


@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("output", ["x" * 51_201, "line\n" * 2_000 + "x"])
def test_what_is_beyond_either_limit_is_kept_whole_in_a_file(
    module: Any, output: str, caller: Caller, tmp_path: Path
) -> None:
    text = shown(limiting(module)(result(output), caller))
    (file,) = kept(tmp_path)
    assert file.read_text() == output
    assert str(file) in text
    assert str(len(output)) in text
    assert "51200" in text


def test_the_last_lines_are_shown(caller: Caller) -> None:
    output = "".join(f"line {number}\n" for number in range(3_000))
    text = shown(limiting(limit_output)(result(output), caller))
    assert text.endswith("line 2999")
    assert "\nline 1000\n" in text
    assert "\nline 999\n" not in text


def test_the_first_lines_are_shown_where_that_is_asked_for(caller: Caller) -> None:
    output = "".join(f"line {number}\n" for number in range(30))
    text = shown(limiting(limit_output, max_lines=10, keep="head")(result(output), caller))
    assert text.endswith("line 9")
    assert "\nline 0\n" in text


@pytest.mark.parametrize("keep", ["head", "tail"])
def test_no_character_is_cut_in_two(keep: str, caller: Caller) -> None:
    for size in range(10, 16):
        text = shown(limiting(limit_output, max_bytes=size, keep=keep)(result("äö€𝄞" * 9), caller))
        part = text.partition("lines:\n")[2]
        assert part
        assert set(part) <= set("äö€𝄞")
        assert len(part.encode()) <= size


def test_files_are_for_their_owner_alone(caller: Caller, tmp_path: Path) -> None:
    limiting(limit_output)(result("x" * 60_000), caller)
    (file,) = kept(tmp_path)
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0
    assert file.parent.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("session", ["..", "a/b", "../../etc", "", ".", "x" * 100, "ü /é"])
def test_whatever_a_session_is_called_its_files_stay_in_their_place(
    session: str, caller: Caller, tmp_path: Path
) -> None:
    limiting(limit_output)(result("x" * 60_000, session=session), caller)
    (file,) = kept(tmp_path)
    assert file.parent.parent == tmp_path / "docker-agent-tool-results"


@pytest.mark.parametrize("module", MODULES)
def test_at_the_end_of_a_session_its_files_go_and_no_others(
    module: Any, caller: Caller, tmp_path: Path
) -> None:
    answering = limiting(module)
    for session in ("one", "two"):
        answering(result("x" * 60_000, session=session), caller)
    assert answering(SessionEnd(session_id="one"), caller) is PASS
    assert [file.parent.name for file in kept(tmp_path)] == ["two"]
    assert answering(SessionEnd(session_id="never seen"), caller) is PASS


def test_where_nothing_can_be_written_nothing_is_cut(tmp_path: Path) -> None:
    missing = Caller(env={"TMPDIR": str(tmp_path / "missing")})
    assert limiting(limit_output)(result("x" * 60_000), missing) is PASS
    relative = Caller(env={"TMPDIR": "here"})
    assert limiting(limit_output)(result("x" * 60_000), relative) is PASS


def test_a_folder_that_others_can_look_into_is_not_used(caller: Caller, tmp_path: Path) -> None:
    folder = tmp_path / "docker-agent-tool-results"
    folder.mkdir()
    folder.chmod(0o777)
    assert limiting(limit_output)(result("x" * 60_000), caller) is PASS
    assert not kept(tmp_path)


def test_a_link_in_place_of_the_folder_is_not_followed(caller: Caller, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    os.symlink(tmp_path / "elsewhere", tmp_path / "docker-agent-tool-results")
    assert limiting(limit_output)(result("x" * 60_000), caller) is PASS
    assert not kept(tmp_path)


def test_docker_agents_own_leaves_other_categories_alone(caller: Caller) -> None:
    event = result("x" * 60_000, kind=ToolKind.FETCH)
    assert limiting(limit_large_tool_results)(event, caller) is PASS
    assert limiting(limit_output)(event, caller) is not PASS


def test_it_works_where_a_platform_has_only_the_event_after_the_tool(caller: Caller) -> None:
    tool = Tool(kind=ToolKind.SHELL, name="Bash", output="x" * 60_000)
    assert limiting(limit_output)(PostToolUse(tool=tool, session_id="s"), caller) is not PASS


def test_half_characters_are_kept_as_they_are(caller: Caller, tmp_path: Path) -> None:
    limiting(limit_output, max_bytes=10)(result("x" * 20 + "\udc80"), caller)
    (file,) = kept(tmp_path)
    assert file.read_bytes().startswith(b"x" * 20)


@pytest.mark.parametrize("options", [{"max_bytes": 0}, {"max_lines": -1}, {"keep": "middle"}])
def test_senseless_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        convert(options, limit_output.Options)


def test_the_sizes_are_said_in_words(caller: Caller) -> None:
    text = shown(limiting(limit_output, max_lines=3)(result("a\nb\nc\nd\n"), caller))
    assert re.search(r"8 bytes in 4 lines, more than the limit", text)
