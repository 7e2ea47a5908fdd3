"""The Kodelet examples as host hooks: executables by the protocol of ADR 021."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.kodelet.files import FILES, KodeletFiles
from hookline.model.answers import Verdict
from hookline.model.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    Stop,
    SubagentStop,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

EXAMPLES = Path(__file__).parents[3] / "examples/kodelet"
ADR = FILES.in_mode("adr")
BOTH = pytest.mark.parametrize("files", [FILES, ADR], ids=["current", "adr"])


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture(name="empty")
def _empty(tmp_path: Path) -> Path:
    (tmp_path / ".kodelet/hooks").mkdir(parents=True)
    return tmp_path


def fire(event: Event, project: Path, files: KodeletFiles = FILES, **keys: Any) -> Outcome:
    folder = project / ".kodelet/hooks"
    names = files.members(str(folder), [each.name for each in folder.iterdir()])
    assert names is not None
    return host(files, [folder / name for name in names], event, project=project, **keys)


def add(project: Path, name: str, kind: str, run: str) -> None:
    file = project / ".kodelet/hooks" / name
    file.write_text(f'#!/bin/sh\n[ "$1" = hook ] && {{ echo " {kind} "; exit 0; }}\n{run}\n')
    file.chmod(0o755)


def shell(command: str) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=command), session_id="c1")


def says(body: dict[str, Any]) -> str:
    return f"echo '{json.dumps(body)}'"


@BOTH
def test_the_security_guardrail_blocks_what_it_lists(files: KodeletFiles, project: Path) -> None:
    for other in ("audit_logger", "foo-txt-remover"):
        (project / ".kodelet/hooks" / other).unlink()
    outcome = fire(shell("rm -rf ~"), project, files)
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("This project does not allow 'rm -rf'.")
    assert fire(shell("ls"), project, files).verdict is Verdict.PASS


def test_the_examples_stand_side_by_side(project: Path) -> None:
    assert fire(shell("sudo make"), project).verdict is Verdict.DENY


@BOTH
def test_the_audit_logger_writes_down_each_call(files: KodeletFiles, project: Path) -> None:
    home = project / "home"
    (home / ".kodelet").mkdir(parents=True)
    done = tool("shell", command="ls")
    for event in (PostToolUse(tool=done), PostToolUseFailure(tool=done, error="no")):
        fire(event, project, files, env={"HOME": str(home)})
    lines = (home / ".kodelet/audit.log").read_text().splitlines()
    payloads = [json.loads(line.partition(" | ")[2]) for line in lines]
    assert [each["event"] for each in payloads] == ["after_tool_call"] * 2
    assert [each["tool_output"]["success"] for each in payloads] == [True, False]


@BOTH
def test_the_follow_up_example_keeps_the_agent_going(files: KodeletFiles, project: Path) -> None:
    assert fire(Stop(), project, files).answer.follow_up == ()
    (project / "foo.txt").touch()
    (project / ".kodelet/hooks/security_guardrail").unlink()  # it is for another event
    said = fire(Stop(), project, files).answer.follow_up
    assert said == ("foo.txt is still there. Remove it, please.",)


def test_the_payload_is_kodelets_own(empty: Path) -> None:
    add(empty, "keep", "before_tool_call", "cat > seen.json")
    fire(shell("ls"), empty)
    assert json.loads((empty / "seen.json").read_text()) == {
        "event": "before_tool_call",
        "conv_id": "c1",
        "cwd": str(empty),
        "invoked_by": "main",
        "tool_name": "bash",
        "tool_input": {"command": "ls"},
        "tool_user_id": "",
    }


@BOTH
def test_a_prompt_is_blocked_and_an_input_replaced_whole(files: KodeletFiles, empty: Path) -> None:
    add(empty, "prompt", "user_message_send", says({"blocked": True, "reason": "no secrets"}))
    outcome = fire(UserPromptSubmit(prompt="key"), empty, files)
    assert (outcome.verdict, outcome.reason.splitlines()[0]) == (Verdict.DENY, "no secrets")
    add(empty, "prompt", "before_tool_call", says({"input": {"command": "ls -l"}}))
    final = fire(shell("ls"), empty, files).final
    assert isinstance(final, PreToolUse)
    assert final.tool.input == {"command": "ls -l"}


@BOTH
@pytest.mark.parametrize("run", ["exit 2", "exit 1", "echo '{'", "kill -9 $$"])
def test_a_hook_that_fails_blocks_nothing_and_is_told_of(
    run: str, files: KodeletFiles, empty: Path
) -> None:
    add(empty, "broken", "before_tool_call", run)
    outcome = fire(shell("ls"), empty, files)
    assert outcome.verdict is Verdict.PASS
    assert "failed" in outcome.answer.notice[0]


def test_a_file_that_cannot_run_or_is_for_nothing_blocks_nothing(empty: Path) -> None:
    add(empty, "unknown", "some_day", "touch ran")
    add(empty, "other", "agent_stop", "touch ran")
    (empty / ".kodelet/hooks/broken").write_text("#!/no/such/program\n")
    (empty / ".kodelet/hooks/README").write_text("Hooks of this project.\n")
    outcome = fire(shell("ls"), empty)
    assert outcome.verdict is Verdict.PASS
    assert not (empty / "ran").exists()


def test_a_block_ends_the_row(empty: Path) -> None:
    add(empty, "1", "before_tool_call", says({"blocked": True, "reason": "first"}))
    add(empty, "2", "before_tool_call", "touch ran")
    outcome = fire(shell("ls"), empty)
    assert outcome.reason.startswith("first")
    assert not (empty / "ran").exists()


def test_by_the_adr_the_last_that_succeeds_counts_even_by_saying_nothing(empty: Path) -> None:
    add(empty, "1", "before_tool_call", says({"blocked": True, "reason": "first"}))
    add(empty, "2", "before_tool_call", "exit 1")
    assert fire(shell("ls"), empty, ADR).verdict is Verdict.DENY
    add(empty, "3", "before_tool_call", "touch ran")
    assert fire(shell("ls"), empty, ADR).verdict is Verdict.PASS
    assert (empty / "ran").exists()


@BOTH
def test_a_hook_for_another_event_takes_nobodys_place(files: KodeletFiles, empty: Path) -> None:
    add(empty, "1", "before_tool_call", says({"blocked": True, "reason": "first"}))
    add(empty, "2", "agent_stop", "true")
    assert fire(shell("ls"), empty, files).verdict is Verdict.DENY


@BOTH
def test_all_see_the_same_input(files: KodeletFiles, empty: Path) -> None:
    add(empty, "1", "before_tool_call", says({"input": {"command": "pwd"}}))
    add(empty, "2", "before_tool_call", "cat > seen.json")
    fire(shell("ls"), empty, files)
    assert json.loads((empty / "seen.json").read_text())["tool_input"] == {"command": "ls"}


def test_follow_ups_of_all_are_said_in_order_and_by_the_adr_the_last_ones(empty: Path) -> None:
    for name in ("1", "2"):
        add(empty, name, "agent_stop", says({"follow_up_messages": [name]}))
    assert fire(Stop(), empty).answer.follow_up == ("1", "2")
    assert fire(Stop(), empty, ADR).answer.follow_up == ("2",)
    assert fire(SubagentStop(), empty).runs == ()
    assert fire(SubagentStop(), empty, ADR).answer.follow_up == ("2",)


def test_a_result_is_replaced(empty: Path) -> None:
    result = {"metadataType": "bash", "metadata": {"output": "redacted"}}
    add(empty, "1", "after_tool_call", says({"output": result}))
    outcome = fire(PostToolUse(tool=tool("shell", command="ls")), empty)
    assert outcome.answer.rewrite.output == "redacted"


def test_the_repositorys_hook_stands_before_the_persons_of_the_same_name(empty: Path) -> None:
    home = empty / "home"
    (home / ".kodelet/hooks").mkdir(parents=True)
    add(empty, "same", "before_tool_call", "exit 0")
    add(home, "same", "before_tool_call", says({"blocked": True, "reason": "global"}))
    add(home, "own", "before_tool_call", "touch ran")
    paths = [empty / ".kodelet/hooks/same", *sorted((home / ".kodelet/hooks").iterdir())]
    assert host(FILES, paths, shell("ls"), project=empty).verdict is Verdict.PASS
    assert (empty / "ran").exists()
    paths[0].chmod(0o644)  # a file that cannot run claims no name
    assert host(FILES, paths, shell("ls"), project=empty).verdict is Verdict.DENY


def test_a_hook_that_calls_hookline_is_never_run_by_it(empty: Path) -> None:
    add(empty, "hookline", "before_tool_call", "touch ran; exec hookline hook kodelet")
    assert fire(shell("ls"), empty).runs == ()
    assert not (empty / "ran").exists()


def test_kodelets_own_events_are_left_to_kodelet(project: Path) -> None:
    payload = json.dumps({"event": "agent_stop", "cwd": str(project)}).encode()
    assert fire(FILES.codec.decode(payload, None), project).runs == ()
