"""A prompt that a client sends by itself is told from a person's, on every platform."""

import json
from typing import Any

import pytest

from hookline import registry
from hookline.model.events import UserPromptSubmit

# What Claude Code and Copilot CLI were seen to send when a command in the background had ended.
TASK = "<task-notification>\n<status>completed</status>\n</task-notification>"
SYSTEM = '<system_notification>\nShell command "x" has completed.\n</system_notification>'
# What Gemini CLI was seen to send after a turn without a word.
URGED = "[System: You successfully executed a tool but returned an empty response.]"

PROMPTED = [
    pytest.param(name, row.native, id=f"{name} {row.native}")
    for name in registry.dialect_names()
    if name != "canonical"
    for row in registry.dialect(name).support.events.values()
    if row.event == "user_prompt_submit"
]


def read(name: str, native: str, prompt: str, **more: Any) -> UserPromptSubmit:
    dialect: Any = registry.dialect(name)
    asked = json.loads(dialect.stdin(UserPromptSubmit(prompt=prompt, session_id="s", cwd="/")))
    event = dialect.decode(json.dumps({**asked, **more}).encode(), native)
    assert isinstance(event, UserPromptSubmit)
    return event


@pytest.mark.parametrize("prompt", [TASK, SYSTEM, f"\n{TASK}\n{TASK}\n"])
@pytest.mark.parametrize(("name", "native"), PROMPTED)
def test_the_end_of_a_task_in_the_background_is_no_persons_word(
    name: str, native: str, prompt: str
) -> None:
    assert read(name, native, prompt).automatic


@pytest.mark.parametrize("prompt", ["go on", f"what is this? {TASK}", f"{SYSTEM} why?", ""])
@pytest.mark.parametrize(("name", "native"), PROMPTED)
def test_a_person_may_speak_of_it(name: str, native: str, prompt: str) -> None:
    assert not read(name, native, prompt).automatic


def test_gemini_urging_the_model_on_is_no_persons_word() -> None:
    assert read("gemini", "BeforeAgent", URGED).automatic
    assert not read("gemini", "BeforeAgent", f"{URGED} go on").automatic


@pytest.mark.parametrize(
    ("source", "automatic"),
    [("user", False), ("sdk", False), ("system", True), ("schedule_wakeup", True), ("new", True)],
)
def test_where_claude_code_says_who_sent_a_prompt_it_is_believed(
    source: str, automatic: bool
) -> None:
    assert read("claude-code", "UserPromptSubmit", "go on", source=source).automatic == automatic
