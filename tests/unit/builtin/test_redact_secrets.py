"""Secrets taken out of tool input, outputs, prompts and messages; all else stays as it was."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import ValidationError, convert

from hookline import registry, testing
from hookline.builtin import redact_secrets
from hookline.builtin.redact_secrets import Options
from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.events import (
    BeforeLlmCall,
    Event,
    PostToolUse,
    PreToolUse,
    SessionStart,
    ToolResponseTransform,
    UserPromptSubmit,
)
from hookline.model.ports import NOBODY
from hookline.model.tools import Tool

TOKEN = "ghp" + "_" + "A1b2C3" * 6
OTHER = "glpat" + "-" + "x9Y8z7" * 3 + "Q1"
SHOWN, OTHER_SHOWN = "[redacted:github]", "[redacted:gitlab]"
PASSWORD = "q7" + "Zt!w9Lk2"


def answered(event: Event, **options: Any) -> Answer:
    """What is said of an event."""
    return redact_secrets.make(convert(options, Options))(event, NOBODY)


def changed_input(given: Mapping[str, Any], **options: Any) -> dict[str, Any] | None:
    """What is changed of a tool's input."""
    return answered(PreToolUse(tool=Tool(name="t", input=dict(given))), **options).rewrite.input


def shown_output(output: str, **options: Any) -> str | None:
    """What is shown in place of an output; None when it stays."""
    return answered(PostToolUse(tool=Tool(output=output)), **options).rewrite.output


def sent(*messages: dict[str, Any], **options: Any) -> list[dict[str, Any]] | None:
    """What is sent in place of messages; None when they stay."""
    return answered(BeforeLlmCall(messages=messages), **options).rewrite.messages


def test_only_the_members_of_an_input_that_change_are_rewritten() -> None:
    given = {"command": f"echo {TOKEN}", "cwd": "/x", "n": 1, "env": {"A": ["b", OTHER]}}
    assert changed_input(given) == {
        "command": f"echo {SHOWN}",
        "env": {"A": ["b", OTHER_SHOWN]},
    }


def test_the_person_is_told_which_tool_and_which_families() -> None:
    answer = answered(PreToolUse(tool=Tool(name="Bash", input={"command": TOKEN})))
    assert answer.verdict is Verdict.PASS
    assert "`Bash`" in answer.notice[0]
    assert "github" in answer.notice[0]
    assert TOKEN not in str(answer)
    assert answer.metadata == {"redacted": ["github"]}


def test_numbers_beside_a_secret_stay_to_the_digit() -> None:
    given = {"a": {"big": 2**80, "half": 0.1, "none": None, "yes": True, "text": TOKEN}}
    assert changed_input(given) == {"a": given["a"] | {"text": SHOWN}}


def test_a_name_that_is_a_secret_is_replaced_with_its_value_kept() -> None:
    assert changed_input({TOKEN: 1, "a": {OTHER: 2}}) == {
        TOKEN: None,
        SHOWN: 1,
        "a": {OTHER_SHOWN: 2},
    }


def test_two_names_that_are_secrets_become_one() -> None:
    other = TOKEN[:-1] + "9"
    assert changed_input({"a": {TOKEN: 1, other: 2}}) == {"a": {SHOWN: 2}}


def test_half_characters_hide_no_secret() -> None:
    assert changed_input({"a": ["\ud800", TOKEN], "b": {"\udc00": 1}}) == {"a": ["\ud800", SHOWN]}


@pytest.mark.parametrize("event", [PostToolUse, ToolResponseTransform])
def test_outputs_lose_their_secrets(event: type[PostToolUse]) -> None:
    answer = answered(event(tool=Tool(output=f"a\n{TOKEN}\nb {OTHER}")))
    assert answer.rewrite.output == f"a\n{SHOWN}\nb {OTHER_SHOWN}"
    assert answer.metadata == {"redacted": ["github", "gitlab"]}


def test_an_output_that_is_json_stays_json() -> None:
    shown = shown_output(json.dumps({"a": f"x\n{TOKEN}", "n": 1}))
    assert shown is not None
    assert json.loads(shown) == {"a": f"x\n{SHOWN}", "n": 1}


def test_prompts_lose_their_secrets() -> None:
    answer = answered(UserPromptSubmit(prompt=f"use {TOKEN} please"))
    assert answer.rewrite.prompt == f"use {SHOWN} please"


def test_every_place_of_a_message_that_holds_words_is_looked_at_and_no_other() -> None:
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{TOKEN}"}}
    before: list[dict[str, Any]] = [
        {"role": "system", "content": "no secret"},
        {
            "role": "assistant",
            "content": f"a {TOKEN}",
            "reasoning_content": f"b {TOKEN}",
            "function_call": {"name": "f", "arguments": json.dumps({"x": TOKEN})},
            "tool_calls": [
                {"id": TOKEN, "function": {"name": "g", "arguments": json.dumps({"y": OTHER})}}
            ],
        },
        {"role": "user", "content": [{"type": "text", "text": f"c {TOKEN}"}, image]},
        {"role": "user", "multi_content": [{"type": "text", "text": OTHER}]},
        {"role": "assistant", "content": [{"type": "tool_use", "input": {"deep": [TOKEN]}}]},
    ]
    text = json.dumps(before)
    expected = json.loads(text.replace(TOKEN, SHOWN).replace(OTHER, OTHER_SHOWN))
    expected[1]["tool_calls"][0]["id"] = TOKEN
    expected[2]["content"][1] = image
    assert sent(*before) == expected
    assert json.dumps(before) == text


@pytest.mark.parametrize(
    "event",
    [
        PreToolUse(tool=Tool(input={"command": "ls", "n": 1})),
        PostToolUse(tool=Tool(output="nothing here")),
        PostToolUse(tool=Tool()),
        UserPromptSubmit(prompt="hello"),
        BeforeLlmCall(messages=({"role": "user", "content": "hello"},)),
        SessionStart(),
    ],
)
def test_what_holds_no_secret_passes(event: Event) -> None:
    assert answered(event) is PASS


def test_what_its_name_announces_is_taken_from_outputs_and_left_to_tools_and_in_prompts() -> None:
    text = f"DB_PASSWORD={PASSWORD}"
    assert shown_output(text) == "DB_PASSWORD=[redacted:secret]"
    assert changed_input({"command": text}) is None
    assert answered(UserPromptSubmit(prompt=text)) is PASS
    assert changed_input({"command": text}, scope="likely") == {
        "command": "DB_PASSWORD=[redacted:secret]"
    }


def test_a_scope_says_how_sure_one_has_to_be() -> None:
    likely, doubtful = f"password: {PASSWORD}", 'password: "changeme"'
    assert shown_output(likely, scope="tokens") is None
    assert shown_output(doubtful) is None
    assert shown_output(doubtful, scope="all") == 'password: "[redacted:secret]"'


@pytest.mark.parametrize("options", [{"args": []}, {"marker": "plain"}, {"marker": "docker-agent"}])
def test_docker_agents_marker_is_written_to_the_letter(options: dict[str, Any]) -> None:
    assert changed_input({"a": TOKEN, "b": "c"}, **options) == {"a": "[REDACTED]"}
    event = ToolResponseTransform(tool=Tool(output=f"{TOKEN} {OTHER}"))
    assert answered(event, **options).rewrite.output == "[REDACTED] [REDACTED]"


def test_in_a_docker_agent_file_it_does_nothing_on_other_events() -> None:
    assert answered(UserPromptSubmit(prompt=TOKEN), args=[]) is PASS
    assert answered(PostToolUse(tool=Tool(output=TOKEN)), args=[]) is PASS
    assert changed_input({"a": TOKEN}, args=[], marker="family") == {"a": SHOWN}


def test_docker_agent_is_not_stopped_for_an_output_that_was_transformed_before() -> None:
    event = PostToolUse(tool=Tool(output=TOKEN), dialect="docker-agent")
    assert answered(event) is PASS


def test_a_large_output_of_many_candidates_is_looked_through_to_its_end() -> None:
    lines = "token: str = None  # a line of code that holds none\n" * 5_000
    shown = shown_output(lines + TOKEN)
    assert shown == lines + SHOWN


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"marker": "stars"}, "'stars'"),
        ({"scope": "some"}, "'some'"),
        ({"families": ["github"]}, "families"),
    ],
)
def test_an_option_that_does_not_fit_is_named(options: dict[str, Any], expected: str) -> None:
    with pytest.raises(ValidationError, match=expected):
        convert(options, Options)


def test_it_is_found_under_both_spellings() -> None:
    assert registry.builtin("redact_secrets") is registry.builtin("redact-secrets")


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from([TOKEN, OTHER, f"password={PASSWORD}", "[REDACTED]", SHOWN]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "token", "args", TOKEN]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from(["command", "password", "n"]), values, max_size=3),
    st.sampled_from(["family", "plain"]),
    st.sampled_from(["tokens", "likely", "all"]),
)
def test_nothing_is_left_and_a_second_time_changes_nothing(
    given_: dict[str, Any], marker: str, scope: str
) -> None:
    changed = changed_input(given_, marker=marker, scope=scope)
    after = given_ | (changed or {})
    assert TOKEN not in repr(after)
    assert OTHER not in repr(after)
    assert changed_input(after, marker=marker, scope=scope) is None


CONFIG = "version: 1\nhooks:\n  - use: redact-secrets\n"
AGENT = "agents:\n  root:\n    model: openai/gpt-5\n    redact_secrets: true\n"


def test_one_line_of_config_redacts_input_output_and_prompt() -> None:
    given = testing.fire(CONFIG, testing.shell(f"echo {TOKEN}"))
    assert given.answer.rewrite.input == {"command": f"echo {SHOWN}"}
    assert given.verdict is Verdict.PASS
    shown = testing.fire(CONFIG, testing.tool_result("shell", f"x {TOKEN}", command="cat x"))
    assert shown.answer.rewrite.output == f"x {SHOWN}"
    asked = testing.fire(CONFIG, testing.prompt(f"use {TOKEN}"))
    assert asked.answer.rewrite.prompt == f"use {SHOWN}"


def test_a_docker_agent_file_that_asks_for_it_gets_it_with_its_own_marker(tmp_path: Path) -> None:
    tmp_path.joinpath("agent.yaml").write_text(AGENT, encoding="utf-8")
    config = tmp_path / "hookline.yaml"
    config.write_text("version: 1\ninclude: [agent.yaml]\n", encoding="utf-8")
    given = testing.fire(config, testing.shell(f"echo {TOKEN}"))
    assert given.answer.rewrite.input == {"command": "echo [REDACTED]"}
    event = ToolResponseTransform(tool=Tool(name="shell", output=f"x {TOKEN}"))
    assert testing.fire(config, event).answer.rewrite.output == "x [REDACTED]"


DOCS = Path(__file__).parents[3] / "docs" / "redaction.md"
WORDS = {
    "input": {"yes": "redacted", "deny": "refused"},
    "output": {
        "yes": "redacted",
        "deny": "replaced by a note",
        "feedback": "told",
        "none": "not",
    },
    "prompt": {"yes": "redacted", "deny": "refused", "none": "not"},
    "messages": {"yes": "redacted", "none": "not"},
}


def holds(dialect: str, cell: str, *events: str) -> str:
    """What becomes of a text on a platform."""
    rows = [row for row in registry.dialect(dialect).support.events.values() if row.event in events]
    said = dict.fromkeys(WORDS[cell]["yes" if row.can(cell) else row.instead(cell)] for row in rows)
    return " / ".join(sorted(said, key=lambda word: word != "redacted")) or "—"


def test_the_documentation_says_for_every_platform_where_redaction_holds() -> None:
    lines = []
    for name in registry.dialect_names():
        if name == "canonical":
            continue
        # Where outputs are transformed first, nothing is left to do after.
        output = "tool_response_transform" if name == "docker-agent" else "post_tool_use"
        cells = [
            holds(name, "input", "pre_tool_use"),
            holds(name, "output", output),
            holds(name, "prompt", "user_prompt_submit"),
            holds(name, "messages", "before_llm_call"),
        ]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    assert "\n".join(lines) in DOCS.read_text(encoding="utf-8"), "\n".join(lines)


@pytest.mark.parametrize(
    ("events", "size", "asked"), [(1, 9_000_000, 0), (40, 10, 0), (40, 9_000, 1)]
)
def test_only_a_process_that_has_much_to_look_through_is_made_faster(
    events: int, size: int, asked: int
) -> None:
    script = (
        "import threading\n"
        "from hookline.builtin import redact_secrets\n"
        "from hookline.model.ports import NOBODY\n"
        "from hookline.testing import shell\n"
        "answer = redact_secrets.make(redact_secrets.Options())\n"
        f"for n in range({events}): answer(shell('a word ' * ({size} // 7), cwd='/'), NOBODY)\n"
        "names = [each.name for each in threading.enumerate()]\n"
        "print(names.count('hookline-secrets'))\n"
    )
    shown = subprocess.check_output([sys.executable, "-c", script], text=True, timeout=60)
    assert int(shown) == asked
