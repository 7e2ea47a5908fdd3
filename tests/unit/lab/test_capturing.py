"""The spy keeps what it is given and says nothing; recordings are read as they were written."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.capturing import Recorder, spy_words
from hookline.lab.clients.claude_code import CLIENT, ClaudeCode
from hookline.lab.ports import Program, Room
from hookline.lab.recordings import Recording, RecordingError, read_recordings, write_recordings
from hookline.lab.scenarios import SCENARIOS, Scenario, Step, scenarios_for
from hookline.lab.script import Script, Shell, Turn
from hookline.model.errors import HooklineError
from support.tiny_agent import put_agent


def spy(
    folder: Path, payload: bytes, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the spy as a client would."""
    words = (*spy_words(str(folder)), "hook", "claude-code", "PreToolUse", "--timeout", "30")
    return subprocess.run(
        words, input=payload, env=env or {}, capture_output=True, timeout=60, check=False
    )


def test_the_spy_keeps_the_payload_and_says_nothing(tmp_path: Path) -> None:
    done = spy(tmp_path, b'{"a": "\xc3\xa4"}\n')

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (path,) = tmp_path.iterdir()
    kept = json.loads(path.read_bytes())
    assert kept["event"] == "PreToolUse"
    assert json.loads(kept["payload"]) == {"a": "ä"}


def test_the_spy_keeps_the_names_of_variables_and_no_value(tmp_path: Path) -> None:
    spy(tmp_path, b"{}", {"LAB_TOKEN": "very-secret-value", "PATH": "/usr/bin"})

    (path,) = tmp_path.iterdir()
    assert {"LAB_TOKEN", "PATH"} <= set(json.loads(path.read_bytes())["env_names"])
    assert b"very-secret-value" not in path.read_bytes()


def test_a_client_is_not_told_when_the_spy_cannot_keep_anything(tmp_path: Path) -> None:
    done = spy(tmp_path / "gone", b"{}")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_each_call_is_kept_in_a_file_of_its_own(tmp_path: Path) -> None:
    for number in range(3):
        spy(tmp_path, f'{{"n": {number}}}'.encode())

    kept = [json.loads(path.read_bytes())["payload"] for path in sorted(tmp_path.glob("*.json"))]
    assert kept == ['{"n": 0}', '{"n": 1}', '{"n": 2}']


def recording(event: str = "PreToolUse", scenario: str = "basic", **payload: Any) -> Recording:
    """One recording as a capture makes it."""
    return Recording(
        client="claude-code",
        version="1",
        event=event,
        scenario=scenario,
        scenarios=(scenario,),
        env_names=("PATH",),
        recorded="2026-11-16",
        payload=payload,
    )


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (recording(tool_name="Bash"), "PreToolUse-Bash"),
        (recording(toolName="bash", scenario="asking"), "PreToolUse-bash-asking"),
        (recording("SessionStart", source="startup"), "SessionStart-startup"),
        (recording("SessionStart", "resume", source="resume"), "SessionStart-resume"),
        (recording("PreCompact", "compact", trigger="manual"), "PreCompact-manual-compact"),
        (recording("Stop", reason="two words"), "Stop"),
        (recording(tool_name="a/b"), "PreToolUse-a_b"),
    ],
)
def test_a_recording_is_called_after_what_is_in_it(made: Recording, name: str) -> None:
    assert made.name == name


def test_what_is_written_is_read_again_in_the_order_of_names(tmp_path: Path) -> None:
    made = [recording("Stop", a=1), recording("Before", tool_name="x"), recording("Stop", b=2)]

    names = write_recordings(str(tmp_path), made)

    assert list(names) == ["Stop", "Before-x", "Stop-2"]
    assert read_recordings(str(tmp_path)) == [made[1], made[2], made[0]]


def test_a_file_says_where_it_is_from_before_what_it_says(tmp_path: Path) -> None:
    write_recordings(str(tmp_path), [recording(tool_name="Bash")])
    keys = list(json.loads((tmp_path / "PreToolUse-Bash.json").read_bytes()))
    assert keys[:4] == ["client", "version", "recorded", "event"]
    assert keys[-1] == "payload"


def test_an_empty_directory_says_how_recordings_are_made(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="hookline lab capture"):
        read_recordings(str(tmp_path))


def test_a_file_that_is_no_recording_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"client": "c"}', encoding="utf-8")
    with pytest.raises(RecordingError, match=r"x\.json.*version"):
        read_recordings(str(tmp_path))


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(RecordingError, match="file/inside"):
        write_recordings(str(tmp_path / "file/inside"), [recording()])


def test_every_scenario_has_a_name_of_its_own() -> None:
    names = [each.name for each in SCENARIOS]
    assert len(set(names)) == len(names)


def test_a_client_plays_what_is_for_all_and_what_is_its_own() -> None:
    mine, others = scenarios_for("claude-code"), scenarios_for("codex")
    assert mine[0].name == others[0].name == "basic"
    assert "plan" in {each.name for each in mine} - {each.name for each in others}
    assert "interrupt" in {each.name for each in others} - {each.name for each in mine}


class Homeless(ClaudeCode):
    """A driver that cannot furnish any room."""

    def furnish(self, room: Room, url: str) -> None:
        raise HooklineError("there is no room for this client")


def scenario(name: str, *commands: str, driver: ClaudeCode | None = None) -> Scenario:
    """One session with a turn for each command."""
    turns = tuple(Turn(do=(Shell(command),)) for command in commands)
    step = Step(script=Script(prompt="Go.", turns=turns))
    return Scenario(name=name, steps=(step,), driver=driver)


def install(room: Room, words: tuple[str, ...]) -> None:
    """The spy on one event, and on another what is no JSON."""
    line = " ".join((*words, "hook", "claude-code", "PreToolUse"))
    garbled = " ".join(("echo garbled |", *words, "hook", "claude-code", "PostToolUse"))
    hooks = {
        "PreToolUse": [{"hooks": [{"type": "command", "command": line}]}],
        "PostToolUse": [{"hooks": [{"type": "command", "command": garbled}]}],
    }
    settings = Path(room.home, ".claude/settings.json")
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"hooks": hooks}), encoding="utf-8")


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    program = Program(argv=(put_agent(tmp_path),), version="9.9.9")
    return Recorder(CLIENT, program, day="2026-11-16", install=install)


def test_each_shape_is_kept_once_with_every_scenario_that_showed_it(recorder: Recorder) -> None:
    recorder.play(scenario("first", "true", "echo"))
    recorder.play(scenario("second", "false"))

    captured = recorder.captured()
    assert [each.events for each in captured.played] == [
        {"PreToolUse": 2, "PostToolUse": 2},
        {"PreToolUse": 1, "PostToolUse": 1},
    ]
    before = next(each for each in captured.recordings if each.event == "PreToolUse")
    assert len(captured.recordings) == 2
    assert before.payload["tool_input"]["command"] == "true"
    assert before.scenarios == ("first", "second")
    assert (before.version, before.recorded) == ("9.9.9", "2026-11-16")


def test_what_is_no_json_is_kept_as_it_came(recorder: Recorder) -> None:
    recorder.play(scenario("first", "true"))
    (after,) = (each for each in recorder.captured().recordings if each.event == "PostToolUse")
    assert after.payload == {"unparsed": "garbled\n"}


def test_a_scenario_that_cannot_be_played_does_not_cost_the_others(recorder: Recorder) -> None:
    recorder.play(scenario("first", "true"))
    failed = recorder.play(scenario("second", "true", driver=Homeless()))
    assert not failed.went_well
    assert failed.said == "there is no room for this client"
    assert recorder.play(scenario("third", "true")).went_well


def test_when_not_even_the_first_can_be_played_that_is_an_error(recorder: Recorder) -> None:
    with pytest.raises(HooklineError, match="no room for this client"):
        recorder.play(scenario("first", "true", driver=Homeless()))
