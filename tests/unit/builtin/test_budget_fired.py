"""The budget as people and agents meet it: through `fire`, a config and other hooks."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Machine

RECORDED = Path(__file__).parents[2] / "support" / "transcripts"
# Keeps what it is told, in BaseCoat's envelope.
ROTATE = {
    "name": "rotate",
    "on": "OnBudgetExceeded",
    "run": "cat > told.json",
    "speaks": "basecoat",
}


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path, capfdbinary)
    machine.write("big.txt", "a line\n" * 6_000)
    return machine


def fire(machine: Machine, events: list[dict[str, Any]], *hooks: Any, **options: Any) -> list[Any]:
    """What comes out of these payloads of Claude Code, one session after the other."""
    used = {"use": "budget", "with": options}
    path = machine.write("h.yaml", json.dumps({"version": 1, "hooks": [used, *hooks]}))
    common = {
        "session_id": "s1",
        "cwd": str(machine.project),
        "transcript_path": str(RECORDED / "claude-code.jsonl"),
    }
    lines = "\n".join(json.dumps({**common, **each}) for each in events)
    done = machine.call(
        *("fire", "--jsonl", "--as", "claude-code", "--config", str(path)), stdin=lines
    )
    assert done.code == 0, done.err
    return done.lines


PROMPT = {"hook_event_name": "UserPromptSubmit", "prompt": "go"}
LOAD = {
    "hook_event_name": "PreToolUse",
    "tool_name": "Read",
    "tool_input": {"file_path": "big.txt"},
    "tool_use_id": "t1",
}


def test_hooks_on_the_event_run_where_the_budget_is_exceeded(machine: Machine) -> None:
    prompt, load = fire(machine, [PROMPT, LOAD], ROTATE, limit=12_000)
    assert [run["hook"] for run in prompt["runs"]] == ["budget", "rotate"]
    told = json.loads((machine.project / "told.json").read_bytes())
    assert told["hook"] == "OnBudgetExceeded"
    assert told["budget"] == {"usedTokens": 9740, "effectiveLimit": 12_000}
    assert load["verdict"] == "deny"
    assert load["reason"].startswith("81% of the context is used (9,740 of 12,000 tokens).")
    assert [run["hook"] for run in load["runs"]] == ["budget"]
    said = json.loads(load["reply"]["stdout"])["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"


def test_at_seventy_per_cent_nothing_is_fired_or_held_back(machine: Machine) -> None:
    prompt, load = fire(machine, [PROMPT, LOAD], ROTATE, limit=13_500)
    assert "72% of the context is used" in prompt["context"][0]
    assert (load["verdict"], load["context"]) == ("pass", [])
    assert not (machine.project / "told.json").exists()


def test_a_large_answer_is_left_out_of_a_full_conversation(machine: Machine) -> None:
    fetched = {
        "hook_event_name": "PostToolUse",
        "tool_name": "WebFetch",
        "tool_input": {"url": "https://a.example", "prompt": "all of it"},
        "tool_response": {"result": "MK_LARGE " * 5_000, "code": 200, "url": "https://a.example"},
        "tool_use_id": "t1",
    }
    (full,) = fire(machine, [fetched], limit=12_000)
    assert full["verdict"] == "deny"
    assert "ask for at most 32 KB" in full["reply"]["stdout"]
    assert "MK_LARGE" not in full["reply"]["stdout"]
    (roomy,) = fire(machine, [{**fetched, "session_id": "s2"}], limit=100_000)
    assert roomy["verdict"] == "pass"


def test_after_a_compaction_there_is_room(machine: Machine) -> None:
    compact = {"hook_event_name": "SessionStart", "source": "compact"}
    *_, load = fire(machine, [PROMPT, LOAD, compact, LOAD], limit=12_000)
    assert load["verdict"] == "pass"


def test_an_embedder_s_budget_counts_and_a_spent_limit_holds_every_tool(machine: Machine) -> None:
    path = machine.write(
        "h.yaml",
        json.dumps(
            {"version": 1, "hooks": [{"use": "budget", "with": {"session": {"tokens": 5}}}]}
        ),
    )
    usage = {"input_tokens": 4, "output_tokens": 1}
    events = [
        {"event": "after_llm_call", "model": "m", "usage": usage},
        {"event": "pre_tool_use", "tool": {"name": "shell", "command": "ls"}},
        {
            "event": "user_prompt_submit",
            "session_id": "s2",
            "budget": {"used_tokens": 71, "effective_limit": 100},
        },
    ]
    lines = "\n".join(json.dumps({"session_id": "s1", **each}) for each in events)
    done = machine.call("fire", "--jsonl", "--config", str(path), stdin=lines)
    _, tool, prompt = done.lines
    assert tool["verdict"] == "deny"
    assert "(5 of 5 tokens)" in tool["reason"]
    assert "71% of the context" in prompt["context"][0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"session": {"token": 5}}, "unknown field `token`"),
        ({"limits": 5}, "no option `limits`"),
    ],
)
def test_check_says_what_is_wrong_with_the_options(
    machine: Machine, options: dict[str, Any], said: str
) -> None:
    used = {"use": "budget", "with": options}
    path = machine.write("h.yaml", json.dumps({"version": 1, "hooks": [used]}))
    done = machine.call("check", str(path))
    assert done.code == 1
    assert said in done.out + done.err


def test_list_says_that_it_can_block(machine: Machine) -> None:
    path = machine.write("h.yaml", json.dumps({"version": 1, "hooks": [{"use": "budget"}]}))
    (hook,) = machine.call("list", "--config", str(path), "--json").json["hooks"]
    assert (hook["enforcing"], hook["guard"]) == (True, False)


def test_a_session_that_exceeds_it_is_rotated_and_the_next_one_hears_its_handoff(
    machine: Machine,
) -> None:
    made = {
        "hook_event_name": "PostToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "made.txt", "content": "x"},
        "tool_response": {},
    }
    start = {"hook_event_name": "SessionStart", "session_id": "s2", "source": "clear"}
    told, begun = fire(machine, [made, start], {"use": "handoff"}, limit=12_000)
    assert [run["hook"] for run in told["runs"]] == ["budget", "handoff", "handoff"]
    assert told["metadata"]["handoff"]["written"] == "budget_exceeded"
    assert "whose token budget was used up" in begun["context"][0]
    assert "> - made.txt (changed 1x)" in begun["context"][0]
