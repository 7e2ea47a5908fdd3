"""``hookline cost``: what agents have used, and what of it is not known."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline import pricing
from hookline.store.state import StateDatabase
from hookline.store.usage import keep_zone
from support.cli import Machine

RECORDED = Path(__file__).parents[2] / "support" / "transcripts"
RULES = """\
version: 1
hooks:
  - use: budget
    with: {limit: 10000000}
"""


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    machine = Machine(tmp_path, capfdbinary)
    machine.trust(RULES)
    machine.write(".git/config", '[remote "origin"]\n\turl = https://git.example/owner/name.git\n')
    return machine


def play(machine: Machine, dialect: str, event: str, payload: Mapping[str, Any]) -> None:
    """An event as the agent's own line brings it."""
    given = {"session_id": dialect, "cwd": str(machine.project), "hook_event_name": event}
    done = machine.call(
        *("hook", dialect, event, *machine.own), stdin=json.dumps({**given, **payload})
    )
    assert (done.code, done.err) == (0, "")


def play_all(machine: Machine) -> None:
    recorded = {"transcript_path": str(RECORDED / "claude-code.jsonl")}
    play(machine, "claude-code", "UserPromptSubmit", {"prompt": "go", **recorded})
    play(machine, "copilot", "UserPromptSubmit", {"prompt": "go"})
    used = {"input_tokens": 1_000, "cached_input_tokens": 9_000, "output_tokens": 100}
    told = {"agent_name": "root", "model_id": "our-model", "usage": used, "cost": 0.11}
    play(machine, "docker-agent", "after_llm_call", told)


def test_each_part_has_a_line_and_what_is_not_told_is_unknown(machine: Machine) -> None:
    play_all(machine)
    done = machine.call("cost", "--by", "agent")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:5] == [
        "agent           calls    input   cached   output  dollars",
        "claude-code         3   28,800        0       55    $0.09",
        "copilot       unknown  unknown  unknown  unknown  unknown",
        "docker-agent        1    1,000    9,000      100    $0.11",
        "total              ≥4  ≥29,800   ≥9,000     ≥155   ≥$0.20",
    ]
    assert "Days end at midnight in " in done.out
    assert "Sessions that told of no usage: 1." in done.out


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("model", {"claude-sonnet-4-5", "our-model", None}),
        ("repository", {"owner/name"}),
        ("agent", {"claude-code", "copilot", "docker-agent"}),
    ],
)
def test_programs_get_numbers_and_null_for_what_is_unknown(
    machine: Machine, by: str, names: set[str | None]
) -> None:
    play_all(machine)
    found = machine.call("cost", "--by", by, "--json").json
    assert {row[by] for row in found["rows"]} == names
    assert (found["by"], found["total"]["calls"]) == (by, 4)
    assert found["total"]["dollars"] is None
    assert found["total"]["known_dollars"] == pytest.approx(0.19721)
    assert found["total"]["sessions_without_usage"] == 1
    for row in found["rows"]:
        assert row["calls"] or row["output_tokens"] is row["dollars"] is None


def test_days_end_at_midnight_of_the_stored_time_zone(machine: Machine, tmp_path: Path) -> None:
    state = StateDatabase(str(machine.state))
    with state.write() as connection:
        keep_zone(connection, "Europe/Berlin")
    state.close()
    path = tmp_path / "t.jsonl"
    # In the night to the 25th a summer time ends.
    for number, time in enumerate(("24T21:30", "24T22:30", "25T22:30", "25T23:30")):
        message = {"id": f"m{number}", "model": "m", "usage": {"input_tokens": 1}}
        line = {"type": "assistant", "timestamp": f"2026-10-{time}:00.000Z", "message": message}
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
    play(machine, "claude-code", "UserPromptSubmit", {"prompt": "", "transcript_path": str(path)})
    found = machine.call("cost", "--json").json
    assert found["time_zone"] == "Europe/Berlin"
    days = {row["day"]: row["calls"] for row in found["rows"]}
    assert days == {"2026-10-24": 1, "2026-10-25": 2, "2026-10-26": 1}
    later = machine.call("cost", "--json", "--since", "2026-10-25").json
    assert later["total"]["calls"] == 3
    assert "Days end at midnight in Europe/Berlin." in machine.call("cost").out


def test_without_the_extra_prices_are_unknown_and_it_says_what_brings_them(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pricing, "_module", lambda: None)
    play_all(machine)
    done = machine.call("cost", "--by", "model")
    assert "claude-sonnet-4-5        3   28,800        0       55  unknown" in done.out
    assert "our-model                1    1,000    9,000      100    $0.11" in done.out
    assert "No price is known for: claude-sonnet-4-5." in done.out
    assert "hookline[judge]" in done.out


def test_before_anything_was_counted_it_says_what_counts(machine: Machine) -> None:
    done = machine.call("cost")
    assert done.code == 1
    assert "`use: budget`" in done.err
    play(machine, "copilot", "UserPromptSubmit", {"prompt": "go"})
    done = machine.call("cost", "--since", "2h", "--by", "repository")
    assert "unknown" in done.out
    assert machine.call("cost", "--since", "yesterday").code == 2


def test_hostile_names_are_made_visible(machine: Machine) -> None:
    used = {"input_tokens": 1, "output_tokens": 1}
    told = {"agent_name": "root", "model_id": "m\x1b[31m\u202e", "usage": used}
    play(machine, "docker-agent", "after_llm_call", told)
    out = machine.call("cost", "--by", "model").out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize(
    ("dialect", "event", "payload", "tokens"),
    [
        (
            "codex",
            "PostModelRequest",
            {
                "turn_id": "t1",
                "transcript_path": None,
                "model": "gpt-5.5",
                "permission_mode": "default",
                "status": "completed",
                "error": None,
                "token_usage": {
                    "input_tokens": 6719,
                    "cached_input_tokens": 719,
                    "cache_write_input_tokens": 0,
                    "output_tokens": 22,
                    "reasoning_output_tokens": 0,
                    "total_tokens": 6741,
                },
            },
            (6000, 719, 22),
        ),
        (
            "gemini",
            "AfterModel",
            {
                "timestamp": "2026-01-01T00:00:00.000Z",
                "llm_request": {"model": "gemini-2.5-pro", "messages": []},
                "llm_response": {
                    "candidates": [{"finishReason": "STOP", "content": {"parts": []}}],
                    "usageMetadata": {
                        "promptTokenCount": 6445,
                        "cachedContentTokenCount": 445,
                        "candidatesTokenCount": 20,
                        "thoughtsTokenCount": 5,
                        "totalTokenCount": 6470,
                    },
                },
            },
            (6000, 445, 25),
        ),
        (
            "docker-agent",
            "after_llm_call",
            {
                "agent_name": "root",
                "model_id": "openai/gpt-4o",
                "usage": {
                    "input_tokens": 600,
                    "cached_input_tokens": 400,
                    "cached_write_tokens": 0,
                    "output_tokens": 9,
                },
                "cost": 0,
            },
            (600, 400, 9),
        ),
    ],
)
def test_usage_is_counted_as_each_platform_tells_it(
    machine: Machine,
    dialect: str,
    event: str,
    payload: dict[str, Any],
    tokens: tuple[int, int, int],
) -> None:
    play(machine, dialect, event, payload)
    total = machine.call("cost", "--json").json["total"]
    assert (total["input_tokens"], total["cached_tokens"], total["output_tokens"]) == tokens


def test_of_an_answer_in_pieces_the_last_one_counts(machine: Machine) -> None:
    for end in ({}, {}, {"finishReason": "STOP"}):
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 7, "totalTokenCount": 107}
        response = {"candidates": [{"content": {"parts": []}, **end}], "usageMetadata": usage}
        request = {"model": "gemini-2.5-pro", "messages": []}
        given = {"llm_request": request, "llm_response": response}
        play(machine, "gemini", "AfterModel", {"timestamp": "2026-01-01T00:00:00.000Z", **given})
    assert machine.call("cost", "--json").json["total"]["calls"] == 1
