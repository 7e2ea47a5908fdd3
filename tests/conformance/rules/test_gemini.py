"""Gemini CLI's rules that its other tests do not show: how several hooks and files add up."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.gemini.files import FILES
from hookline.model.answers import Verdict
from hookline.model.events import (
    BeforeLlmCall,
    Event,
    PostToolUse,
    PreToolUse,
    SessionStart,
    Stop,
    ToolSelection,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

BASH = PreToolUse(tool=tool("shell", command="ls"))


def fired(project: Path, event: Event, *commands: str, **options: Any) -> Outcome:
    """The commands as hooks of the event's own native name, run on it."""
    hooks = [{"type": "command", "command": command} for command in commands]
    definition = {"hooks": hooks, **options.pop("definition", {})}
    text = json.dumps({"hooks": {FILES.codec.native_of(event): [definition]}})
    file = FILES.read(f"{project}/.gemini/settings.json", text.encode())
    return host(FILES, [file], event, project=project, **options)


def says(**body: Any) -> str:
    return f"echo '{json.dumps(body)}'"


def own(**fields: Any) -> str:
    return says(hookSpecificOutput=fields)


def test_a_payload_has_no_line_end(tmp_path: Path) -> None:
    fired(tmp_path, BASH, "cat > seen")
    assert (tmp_path / "seen").read_bytes().endswith(b"}")


def test_a_hook_has_the_callers_environment(tmp_path: Path) -> None:
    fired(tmp_path, BASH, 'echo "$GEMINI_API_KEY" > seen', env={"GEMINI_API_KEY": "k"})
    assert (tmp_path / "seen").read_text() == "k\n"


@pytest.mark.parametrize(
    ("words", "verdict"),
    [
        (("allow", "deny"), Verdict.DENY),
        (("block", "ask"), Verdict.DENY),
        (("ask", "allow"), Verdict.ASK),
        (("allow", "approve"), Verdict.PASS),
    ],
)
def test_one_deny_beats_one_ask_beats_all_who_do_not_object(
    tmp_path: Path, words: tuple[str, ...], verdict: Verdict
) -> None:
    lines = [f"{says(decision=word, reason=word)}; true {n}" for n, word in enumerate(words)]
    assert fired(tmp_path, BASH, *lines).verdict is verdict


def test_one_that_stops_beats_a_deny(tmp_path: Path) -> None:
    stop = says(**{"continue": False, "stopReason": "enough"})
    outcome = fired(tmp_path, BASH, says(decision="deny", reason="no"), stop)
    assert (outcome.verdict, outcome.reason.startswith("enough")) == (Verdict.HALT, True)


def test_reasons_messages_and_contexts_of_all_are_kept_in_order(tmp_path: Path) -> None:
    lines = [says(decision="deny", reason=word, systemMessage=word) for word in ("one", "two")]
    outcome = fired(tmp_path, BASH, *lines)
    assert outcome.reason.index("one") < outcome.reason.index("two")
    assert outcome.answer.notice == ("one", "two")
    told = fired(
        tmp_path,
        SessionStart(source="startup"),
        own(additionalContext="one"),
        own(additionalContext="two"),
    )
    assert told.answer.context == ("one", "two")


def test_of_two_files_the_first_ones_twin_is_kept(tmp_path: Path) -> None:
    def file(folder: Path, timeout: int) -> Any:
        hook = {"type": "command", "command": "echo x >> ran", "timeout": timeout}
        text = json.dumps({"hooks": {"BeforeTool": [{"hooks": [hook]}]}})
        return FILES.read(f"{folder}/.gemini/settings.json", text.encode())

    outcome = host(
        FILES, [file(tmp_path, 5000), file(tmp_path / "home", 9000)], BASH, project=tmp_path
    )
    assert (tmp_path / "ran").read_text() == "x\n"
    assert [run.hook.timeout for run in outcome.runs] == [5.0]


def test_hooks_of_all_files_run(tmp_path: Path) -> None:
    def file(folder: Path, word: str) -> Any:
        hook = {"type": "command", "command": f"echo {word} >> ran"}
        text = json.dumps({"hooks": {"BeforeTool": [{"hooks": [hook]}]}})
        return FILES.read(f"{folder}/.gemini/settings.json", text.encode())

    files = [file(tmp_path, "project"), file(tmp_path / "home", "user")]
    host(FILES, files, BASH, project=tmp_path)
    assert sorted((tmp_path / "ran").read_text().split()) == ["project", "user"]


def test_in_a_sequence_a_new_request_is_what_the_next_hook_sees(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "MK_NEW"}]
    event = BeforeLlmCall(model="m", messages=({"role": "user", "content": "old"},))
    fired(
        tmp_path,
        event,
        own(llm_request={"messages": messages}),
        "cat > seen",
        definition={"sequential": True},
    )
    seen = json.loads((tmp_path / "seen").read_text())
    assert seen["llm_request"]["messages"] == messages


def test_a_hook_that_changes_one_key_leaves_the_others(tmp_path: Path) -> None:
    given = FILES.codec.tools.read("run_shell_command", {"command": "ls", "description": "d"})
    outcome = fired(tmp_path, PreToolUse(tool=given), own(tool_input={"command": "id"}))
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.input == {"command": "id", "description": "d"}


def test_a_prompt_is_held_back_by_deny_exit_2_or_stop(tmp_path: Path) -> None:
    prompt = UserPromptSubmit(prompt="x")
    assert fired(tmp_path, prompt, says(decision="deny", reason="no")).verdict is Verdict.DENY
    assert fired(tmp_path, prompt, "echo no >&2; exit 2").verdict is Verdict.DENY
    assert fired(tmp_path, prompt, says(**{"continue": False})).verdict is Verdict.HALT


def test_an_agent_goes_on_by_deny_block_or_exit_2_and_ends_by_stop(tmp_path: Path) -> None:
    for line in (
        says(decision="deny", reason="more"),
        says(decision="block", reason="more"),
        "echo more >&2; exit 2",
    ):
        assert fired(tmp_path, Stop(), line).answer.follow_up == ("more",)
    assert fired(tmp_path, Stop(), says(**{"continue": False})).verdict is Verdict.HALT


def test_a_result_is_hidden_by_exit_2_and_a_run_ends_by_stop(tmp_path: Path) -> None:
    ran = PostToolUse(tool=tool("shell", command="ls"))
    hidden = fired(tmp_path, ran, "echo no >&2; exit 2")
    assert (hidden.verdict, hidden.reason.startswith("no")) == (Verdict.DENY, True)
    assert fired(tmp_path, ran, says(**{"continue": False})).verdict is Verdict.HALT


def test_no_tool_is_asked_for_when_one_hook_says_none(tmp_path: Path) -> None:
    modes = [own(toolConfig={"mode": mode}) for mode in ("ANY", "NONE", "AUTO")]
    assert fired(tmp_path, ToolSelection(), *modes).verdict is Verdict.DENY


def test_a_hook_need_not_read_what_it_is_sent(tmp_path: Path) -> None:
    large = PreToolUse(tool=tool("shell", command="x" * 300_000))
    assert fired(tmp_path, large, "echo no >&2; exit 2").verdict is Verdict.DENY
