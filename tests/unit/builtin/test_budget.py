"""Limits of tokens and dollars: what is counted, what is said at which step, what is held back."""

import json
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert
from msgspec.structs import replace

from hookline import pricing, registry
from hookline.builtin import budget
from hookline.model.answers import PASS, Announcement, Answer, Verdict
from hookline.model.events import (
    AfterLlmCall,
    Agent,
    Budget,
    Event,
    PostCompact,
    PostToolUse,
    PreCompact,
    PreToolUse,
    SessionStart,
    Stop,
    SubagentStart,
    UserPromptSubmit,
)
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind, tool
from hookline.model.usage import Tokens
from hookline.store import usage
from hookline.store.state import StateDatabase
from hookline.store.usage import digest, read_session, sum_used

RECORDED = Path(__file__).parents[2] / "support" / "transcripts"
ROOT = Agent()
SUB = Agent(name="helper", depth=1, id="a1")


class Place:
    """One machine, a project in it, and what its budget says."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "project"
        self.home.mkdir()
        self.project.mkdir()
        self.state = StateDatabase(str(self.home))

    def fire(self, event: Event, **options: Any) -> tuple[Answer, dict[str, Any]]:
        """What is said of an event, and the `budget_exceeded` that is announced with it."""
        caller = Caller(
            project_dir=str(self.project),
            home=str(self.home),
            state=lambda: self.state,
            transcript=registry.transcript,
        )
        said = budget.make(convert(options, budget.Options))(self.at(event), caller)
        if isinstance(said, Announcement):
            return said.answer, dict(said.moments["budget_exceeded"])
        return said, {}

    def at(self, event: Event) -> Event:
        """In this project, and of a session, unless the event says it."""
        return replace(event, cwd=str(self.project), session_id=event.session_id or "s1")

    def use(self, tokens: int, model: str = "m", of: str = "", **options: Any) -> None:
        """A call of a model, of which the platform tells."""
        usage = {"input_tokens": tokens - 10, "output_tokens": 10}
        event = AfterLlmCall(
            session_id=of, dialect="docker-agent", model=model, usage=usage, agent=Agent()
        )
        self.fire(event, **options)

    def tokens(self) -> list[int]:
        """By model, what was used altogether."""
        with self.state.read() as connection:
            return [each.tokens.total for each in sum_used(connection)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def asks(name: str = "shell", of: str = "", agent: Agent = ROOT, **input: Any) -> PreToolUse:
    return PreToolUse(session_id=of, dialect="docker-agent", tool=tool(name, **input), agent=agent)


def done() -> PostToolUse:
    return PostToolUse(dialect="docker-agent", tool=tool("shell"))


def large(place: Place, name: str = "big.log", size: int = 40_000) -> Path:
    path = place.project / name
    path.write_bytes((b"x" * 99 + b"\n") * (size // 100))
    return path


# ── steps ────────────────────────────────────────────────────────────────────────────────────


def test_at_seventy_per_cent_the_model_and_the_person_are_told_once(place: Place) -> None:
    place.use(6_900, limit=10_000)
    assert place.fire(done(), limit=10_000) == (PASS, {})
    place.use(7_000, limit=10_000)
    assert place.fire(asks(), limit=10_000) == (PASS, {})
    answer, moment = place.fire(done(), limit=10_000)
    assert "70% of the context is used (7,000 of 10,000 tokens)" in answer.context[0]
    assert "7,000 of 10,000" in answer.notice[0]
    assert (answer.verdict, moment) == (Verdict.PASS, {})
    place.use(7_400, limit=10_000)
    assert place.fire(done(), limit=10_000) == (PASS, {})


def test_at_eighty_per_cent_the_event_fires_once_and_large_loads_are_denied(place: Place) -> None:
    large(place)
    place.use(8_200, limit=10_000)
    answer, moment = place.fire(asks("Read", path="big.log"), limit=10_000)
    assert answer.verdict is Verdict.DENY
    assert "82%" in answer.reason
    assert "big.log is 40 KB" in answer.reason
    assert len(answer.reason) <= 200
    assert answer.notice
    assert moment == {
        "message": "82% of the context is used (8,200 of 10,000 tokens).",
        "scope": "context",
        "unit": "tokens",
        "used": 8_200,
        "limit": 10_000,
        "percent": 82.0,
        "budget": Budget(used_tokens=8_200, effective_limit=10_000),
    }
    answer, moment = place.fire(asks("Read", path="big.log"), limit=10_000)
    assert (answer.verdict, answer.notice, moment) == (Verdict.DENY, (), {})


@pytest.mark.parametrize(
    ("input", "denied"),
    [
        ({"path": "big.log"}, True),
        ({"path": "big.log", "limit": 10}, False),
        ({"path": "big.log", "offset": 350}, False),
        ({"path": "big.log", "offset": 0}, True),
        ({"path": "big.log", "view_range": [350, -1]}, False),
        ({"path": "big.log", "start_line": 380, "end_line": 390}, False),
        ({"path": "small.log"}, False),
        ({"path": "gone.log"}, False),
        ({"path": "."}, False),
        ({"path": "fifo"}, False),
        ({"path": "shot.png"}, False),
        ({}, False),
    ],
)
def test_a_read_of_a_whole_large_file_is_denied(
    place: Place, input: dict[str, Any], denied: bool
) -> None:
    large(place)
    large(place, "small.log", 20_000)
    large(place, "shot.png")
    os.mkfifo(place.project / "fifo")
    place.use(8_200, limit=10_000)
    answer, _ = place.fire(asks("Read", **input), limit=10_000)
    assert (answer.verdict is Verdict.DENY) is denied


@pytest.mark.parametrize(
    ("command", "denied"),
    [
        ("cat big.log", True),
        ("cat -- 'big.log'", True),
        ("cat small.log small.log other.log", True),
        ("cat small.log", False),
        ("cat big.log | head", False),
        ("cat big.log > copy", False),
        ("head -3 big.log", False),
        ("make test", False),
        ("cd sub && cat big.log", False),
    ],
)
def test_a_shell_that_shows_a_large_file_is_a_read(
    place: Place, command: str, denied: bool
) -> None:
    large(place)
    large(place, "small.log", 20_000)
    large(place, "other.log", 20_000)
    place.use(8_200, limit=10_000)
    answer, _ = place.fire(asks(command=command), limit=10_000)
    assert (answer.verdict is Verdict.DENY) is denied


@pytest.mark.parametrize(
    ("name", "denied"), [("Agent", True), ("spawn_agent", True), ("TodoWrite", False)]
)
def test_no_sub_agent_begins_above_eighty_per_cent(place: Place, name: str, denied: bool) -> None:
    place.use(8_200, limit=10_000)
    answer, _ = place.fire(asks(name, prompt="look"), limit=10_000)
    assert (answer.verdict is Verdict.DENY) is denied
    answer, _ = place.fire(SubagentStart(agent=SUB, dialect="docker-agent"), limit=10_000)
    assert answer.verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("kind", "size", "agent", "denied"),
    [
        (ToolKind.FETCH, 40_000, ROOT, True),
        (ToolKind.SEARCH, 40_000, ROOT, True),
        (ToolKind.MCP, 40_000, ROOT, True),
        (ToolKind.FETCH, 400, ROOT, False),
        (ToolKind.READ, 40_000, ROOT, True),
        (ToolKind.EDIT, 40_000, ROOT, False),
        (ToolKind.FETCH, 40_000, SUB, False),
    ],
)
def test_a_large_answer_is_left_out_whose_size_nobody_knew_before(
    place: Place, kind: ToolKind, size: int, agent: Agent, denied: bool
) -> None:
    called = Tool(kind=kind, name="a_tool", input={"of": "x"}, output="x" * size)
    event = PostToolUse(dialect="docker-agent", tool=called, agent=agent)
    assert place.fire(event, limit=10_000) == (PASS, {})
    place.use(8_200, limit=10_000)
    answer, _ = place.fire(event, limit=10_000)
    assert (answer.verdict is Verdict.DENY) is denied
    assert ("its answer of 39 KB left out" in answer.reason) is denied


def test_after_a_compaction_there_is_room_and_the_next_time_is_told_again(place: Place) -> None:
    large(place)
    place.use(8_200, limit=10_000)
    assert place.fire(asks("Read", path="big.log"), limit=10_000)[1]
    place.fire(PostCompact(dialect="docker-agent"), limit=10_000)
    assert place.fire(asks("Read", path="big.log"), limit=10_000) == (PASS, {})
    place.use(2_000, limit=10_000)
    assert place.fire(asks("Read", path="big.log"), limit=10_000) == (PASS, {})
    place.use(8_100, limit=10_000)
    assert place.fire(asks("Read", path="big.log"), limit=10_000)[1]["percent"] == 81.0


def test_another_session_has_a_conversation_of_its_own(place: Place) -> None:
    large(place)
    place.use(9_000, limit=10_000)
    answer, _ = place.fire(asks("Read", of="s2", path="big.log"), limit=10_000)
    assert answer == PASS


def test_a_sub_agent_may_read_what_the_main_agent_may_not(place: Place) -> None:
    large(place)
    place.use(9_000, limit=10_000)
    answer, moment = place.fire(asks("Read", path="big.log", agent=SUB), limit=10_000)
    assert (answer, moment) == (PASS, {})


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"session": {}},
        {"session": {"tokens": -1}},
        {"day": {"dollars": 0}},
        {"day": {"dollars": float("nan")}},
        {"day": {"dollars": float("inf")}},
        {"day": {"dollars": "5"}},
        {"day": {"euros": 5}},
        {"repository": 5},
        {"limits": 1},
    ],
)
def test_senseless_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        convert(options, budget.Options)


# ── limits of the person ─────────────────────────────────────────────────────────────────────


def test_at_the_end_of_a_limit_no_tool_runs(place: Place) -> None:
    options = {"session": {"tokens": 10_000}}
    place.use(7_500, **options)
    assert "75% of this session's tokens are used" in place.fire(done(), **options)[0].context[0]
    place.use(2_500, **options)
    answer, moment = place.fire(asks(command="ls"), **options)
    assert answer.verdict is Verdict.DENY
    assert "100% of this session's tokens are used (10,000 of 10,000 tokens)" in answer.reason
    assert "until the user raises this limit" in answer.reason
    assert "until the user raises this limit" in answer.notice[0]
    assert (moment["scope"], moment["percent"]) == ("session", 100.0)
    assert place.fire(asks(command="ls", agent=SUB), **options)[0].verdict is Verdict.DENY
    assert place.fire(asks(command="ls"), session={"tokens": 20_000})[0].verdict is Verdict.PASS


def test_days_and_repositories_are_counted_over_sessions(place: Place) -> None:
    place.use(6_000, of="s1")
    place.use(6_000, of="s2")
    for scope in ("day", "repository"):
        answer, moment = place.fire(asks(of="s3"), **{scope: {"tokens": 10_000}})
        assert answer.verdict is Verdict.DENY
        assert moment["scope"] == scope
    other = place.project.parent / "other"
    other.mkdir()
    place.project = other
    assert place.fire(asks(of="s4"), repository={"tokens": 10_000})[0] == PASS
    assert place.fire(asks(of="s4"), day={"tokens": 10_000})[0].verdict is Verdict.DENY


def test_what_the_platform_says_a_call_cost_counts_before_any_price(place: Place) -> None:
    usage = {"input_tokens": 10, "output_tokens": 1}
    place.fire(AfterLlmCall(dialect="docker-agent", model="m", usage=usage, cost_usd=0.9))
    answer, _ = place.fire(asks(), session={"dollars": 1}, limit=10**6)
    assert "$0.90 of $1.00" in answer.context[0]


def test_an_unknown_price_is_unknown_and_not_nothing(place: Place) -> None:
    options = {"session": {"dollars": 1}, "limit": 10**9}
    place.use(10**6, model="a-model-of-nobody", **options)
    answer, moment = place.fire(done(), **options)
    assert "What `a-model-of-nobody` costs is unknown" in answer.notice[0]
    assert (answer.context, moment) == ((), {})
    assert place.fire(done(), **options) == (PASS, {})


def test_a_public_price_is_known_with_the_extra(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"session": {"dollars": 3}, "limit": 10**9}
    place.use(10**6, model="anthropic/claude-sonnet-4-5", **options)
    assert "of $3.00" in place.fire(asks(), **options)[0].reason
    monkeypatch.setattr(pricing, "_module", lambda: None)
    assert "unknown" in place.fire(done(), **options)[0].notice[0]


# ── what is known ────────────────────────────────────────────────────────────────────────────


def test_the_limit_is_what_the_event_says_then_what_the_model_takes(place: Place) -> None:
    event = UserPromptSubmit(
        dialect="basecoat",
        budget=Budget(used_tokens=78_124, effective_limit=100_000),
    )
    answer, _ = place.fire(event)
    assert "78% of the context is used (78,124 of 100,000 tokens)" in answer.context[0]
    place.use(170_000, model="claude-sonnet-4-5", of="s2")
    answer, moment = place.fire(asks(of="s2"))
    assert (moment["limit"], moment["used"]) == (200_000, 170_000)


def test_without_a_limit_nothing_fires(place: Place) -> None:
    place.use(10**6, model="a-model-of-nobody")
    assert place.fire(asks()) == (PASS, {})
    # More than the model is known to take shows that it is another one.
    place.use(800_000, model="claude-sonnet-4-5", of="s2")
    assert place.fire(asks(of="s2")) == (PASS, {})


@pytest.mark.parametrize("number", [-5, 10**15, 2.5, "7", None, True])
def test_numbers_that_make_no_sense_are_not_counted(place: Place, number: Any) -> None:
    event = AfterLlmCall(
        dialect="docker-agent", model="m", usage={"input_tokens": number, "output_tokens": number}
    )
    assert place.fire(event, limit=100) == (PASS, {})
    assert place.fire(asks(), limit=100) == (PASS, {})
    assert place.tokens() == []
    told = PreCompact(dialect="docker-agent", input_tokens=-5, context_limit=-1)
    assert place.fire(told, limit=100) == (PASS, {})


@pytest.mark.parametrize(
    ("dialect", "used"), [("claude-code", 9_740), ("codex", 6_855)], ids=lambda value: str(value)
)
def test_transcripts_tell_what_events_do_not(place: Place, dialect: str, used: int) -> None:
    event = UserPromptSubmit(
        dialect=dialect, transcript_path=str(RECORDED / f"{dialect}.jsonl"), prompt="go"
    )
    _, moment = place.fire(event, limit=used * 10 // 9)
    assert moment["used"] == used
    once = place.tokens()
    for _ in range(3):
        place.fire(event, limit=10**6)
    assert place.tokens() == once


def test_a_session_of_codex_is_counted_by_its_events_or_its_rollout_and_never_by_both(
    place: Place,
) -> None:
    path = str(RECORDED / "codex.jsonl")
    usage = {"input_tokens": 6714, "cached_input_tokens": 0, "output_tokens": 25}
    told = AfterLlmCall(
        dialect="codex", model="gpt-5.5", usage=usage | {"total_tokens": 6739}, id="e1"
    )
    place.fire(told)
    place.fire(UserPromptSubmit(dialect="codex", transcript_path=path))
    place.fire(told)  # the same event, tried once more
    assert place.tokens() == [6739]
    place.fire(UserPromptSubmit(dialect="codex", transcript_path=path, session_id="s2"))
    place.fire(UserPromptSubmit(dialect="codex", transcript_path=path + "x", session_id="s2"))


def test_sub_agents_are_counted_once(place: Place, tmp_path: Path) -> None:
    session = tmp_path / "s.jsonl"
    folder = tmp_path / "s" / "subagents"
    folder.mkdir(parents=True)
    session.write_bytes((RECORDED / "claude-code.jsonl").read_bytes())
    (folder / "agent-a1.jsonl").write_bytes((RECORDED / "claude-code-agent.jsonl").read_bytes())
    for event in (
        PreToolUse(dialect="claude-code", transcript_path=str(session), agent=SUB),
        Stop(dialect="claude-code", transcript_path=str(session)),
        Stop(dialect="claude-code", transcript_path=str(session)),
    ):
        place.fire(event, limit=10**6)
    assert place.tokens() == [9539 + 9576 + 9740 + 2964 + 3447]
    with place.state.read() as connection:
        key = digest("claude-code", "s1")
        found = read_session(connection, key)
    assert found is not None
    assert found.context == 9740


def test_nothing_of_what_was_said_is_kept(place: Place) -> None:
    event = UserPromptSubmit(
        dialect="claude-code",
        session_id="15187e00-37b3",
        transcript_path=str(RECORDED / "claude-code.jsonl"),
        prompt="MK_PROMPT",
    )
    place.fire(event)
    place.fire(PostToolUse(tool=tool("Grep", query="MK_PLANTED")))
    kept = b"".join(path.read_bytes() for path in place.home.iterdir())
    assert b"claude-sonnet-4-5" in kept
    for planted in (b"MK_", b"15187e00", b"transcripts", b"toolu_"):
        assert planted not in kept


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────


def test_a_locked_store_is_told_at_a_prompt_and_the_agent_goes_on(place: Place) -> None:
    place.use(9_000, limit=10_000)
    with sqlite3.connect(place.state.path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        answer, _ = place.fire(
            AfterLlmCall(dialect="docker-agent", usage={"input_tokens": 1, "output_tokens": 1})
        )
        assert answer == PASS
        answer, _ = place.fire(UserPromptSubmit(dialect="docker-agent"), limit=10_000)
        assert "cannot be used" in answer.notice[0]
        other.execute("ROLLBACK")
    other.close()


def test_a_damaged_store_is_set_aside_and_a_newer_one_is_left_alone(place: Place) -> None:
    place.use(9_000, limit=10_000)
    place.state.close()
    path = Path(place.state.path)
    for each in place.home.iterdir():
        each.unlink()
    path.write_bytes(b"no database" * 1000)
    answer, _ = place.fire(UserPromptSubmit(dialect="docker-agent"), limit=10_000)
    assert "was damaged" in answer.notice[0]
    place.use(9_000, limit=10_000)
    assert place.fire(asks(), limit=10_000)[1]
    place.state.close()
    with sqlite3.connect(path) as other:
        other.execute("PRAGMA user_version = 999")
    other.close()
    answer, _ = place.fire(UserPromptSubmit(dialect="docker-agent"), limit=10_000)
    assert "newer hookline" in answer.notice[0]
    assert place.fire(asks("Agent"), limit=10_000) == (PASS, {})


@pytest.mark.parametrize("times", [("1970-01-01T00:00:00Z",), ("2999-01-01T00:00:00Z",), (None,)])
def test_a_call_from_another_age_happened_now(
    place: Place, tmp_path: Path, times: tuple[Any]
) -> None:
    message = {"id": "m", "model": "m", "usage": {"input_tokens": 9_000, "output_tokens": 1}}
    path = tmp_path / "t.jsonl"
    line = {"type": "assistant", "timestamp": times[0], "message": message}
    path.write_text(json.dumps(line) + "\n")
    event = UserPromptSubmit(dialect="claude-code", transcript_path=str(path))
    _, moment = place.fire(event, day={"tokens": 10_000})
    assert moment["used"] == 9_001


def test_fifty_sessions_at_once_lose_and_double_nothing(place: Place, tmp_path: Path) -> None:
    def play(number: int) -> None:
        other = Place.__new__(Place)
        other.home, other.project = place.home, place.project
        other.state = StateDatabase(str(place.home))
        path = tmp_path / f"{number}.jsonl"
        for call in range(4):
            usage = {"input_tokens": 100, "output_tokens": 1}
            message = {"id": f"m{number}-{call}", "model": "m", "usage": usage}
            with path.open("a") as file:
                file.write(json.dumps({"type": "assistant", "message": message}) + "\n")
            event = asks(of=f"s{number}")
            for _ in range(2):
                said = other.fire(
                    replace(event, dialect="claude-code", transcript_path=str(path)),
                    limit=10**6,
                    repository={"tokens": 10**6},
                )
                assert said == (PASS, {})
        other.state.close()

    with ThreadPoolExecutor(50) as pool:
        list(pool.map(play, range(50)))
    assert place.tokens() == [50 * 4 * 101]


def test_of_old_calls_the_sums_of_their_days_are_left_and_no_clock_decides_which_are_old(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(6):
        place.use(1_000)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 400 * 86_400)
    start = SessionStart(dialect="docker-agent", session_id="s2")

    def count_rows() -> int:
        with place.state.read() as connection:
            return int(connection.execute("SELECT count(*) FROM usage_calls").fetchone()[0])

    place.fire(start)
    assert count_rows() == 6
    monkeypatch.setattr(usage, "_CALLS", 2)
    place.fire(start)
    assert count_rows() == 2
    with place.state.read() as connection:
        (used,) = sum_used(connection)
    assert (used.calls, used.tokens) == (6, Tokens(5940, 0, 0, 60))


def test_what_a_sub_agent_is_not_told_the_main_agent_is(place: Place) -> None:
    options = {"limit": 10_000, "session": {"tokens": 10_000}}
    place.use(7_500, **options)
    assert place.fire(replace(done(), agent=SUB), **options) == (PASS, {})
    assert len(place.fire(done(), **options)[0].context) == 2
    assert place.fire(replace(done(), agent=SUB), **options) == (PASS, {})
    assert place.fire(done(), **options) == (PASS, {})


def test_another_model_has_another_window(place: Place) -> None:
    place.use(100_000, model="claude-sonnet-4-5")
    place.use(170_000, model="gemini-2.5-pro")
    assert place.fire(asks()) == (PASS, {})


def test_a_platform_that_says_a_call_cost_nothing_does_not_know(place: Place) -> None:
    usage = {"input_tokens": 10, "output_tokens": 1}
    place.fire(AfterLlmCall(dialect="docker-agent", model="nobody's", usage=usage, cost_usd=0.0))
    answer, _ = place.fire(done(), session={"dollars": 1}, limit=10**6)
    assert "What `nobody's` costs is unknown" in answer.notice[0]


@pytest.mark.parametrize("has_records", [True, False])
def test_a_thread_of_codex_made_from_another_one_counts_only_what_is_new(
    place: Place, tmp_path: Path, has_records: bool
) -> None:
    lines = (RECORDED / "codex.jsonl").read_text().splitlines()
    if not has_records:
        lines = [each for each in lines if "token_usage_record" not in each]
    path, fork = tmp_path / "rollout.jsonl", tmp_path / "fork.jsonl"
    path.write_text("\n".join(lines) + "\n")
    own = {"type": "session_meta", "payload": {"id": "another", "source": "cli"}}
    fork.write_text("\n".join([json.dumps(own), *lines]) + "\n")
    usage = {"input_tokens": 6714, "output_tokens": 25, "total_tokens": 6739}
    told = AfterLlmCall(dialect="codex", usage=usage, id="e1", transcript_path=str(path))
    place.fire(told)
    for name in (path, fork):
        place.fire(
            UserPromptSubmit(dialect="codex", session_id=name.stem, transcript_path=str(name))
        )
    assert place.tokens() == [27_186]


@pytest.mark.parametrize(
    ("link", "zone"),
    [
        ("/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"),
        ("/usr/share/zoneinfo/posix/Europe/Berlin", "Europe/Berlin"),
        ("/usr/share/zoneinfo/Mars/Olympus", "UTC"),
        ("/etc/localtime", "UTC"),
    ],
)
def test_days_end_in_the_zone_that_the_machine_had_first(
    place: Place, monkeypatch: pytest.MonkeyPatch, link: str, zone: str
) -> None:
    real = os.path.realpath
    for found in (link, "/usr/share/zoneinfo/Asia/Tokyo"):
        monkeypatch.setattr(
            os.path,
            "realpath",
            lambda path, found=found, **how: (
                found if path == "/etc/localtime" else real(path, **how)
            ),
        )
        place.use(10)
    with place.state.read() as connection:
        assert usage.read_zone(connection) == zone


def test_what_a_runtime_says_of_the_conversation_counts_also_when_it_is_nothing(
    place: Place,
) -> None:
    def tell(used: int, agent: Agent = ROOT) -> UserPromptSubmit:
        budget = Budget(used_tokens=used, effective_limit=1_000)
        return UserPromptSubmit(dialect="basecoat", budget=budget, agent=agent)

    assert place.fire(tell(900))[1]["percent"] == 90.0
    assert place.fire(tell(0)) == (PASS, {})
    assert place.fire(tell(950, SUB)) == (PASS, {})
    assert place.fire(UserPromptSubmit(dialect="basecoat")) == (PASS, {})
    assert place.fire(tell(850))[1]["percent"] == 85.0


def test_while_a_long_transcript_is_read_nothing_begins_anew(place: Place, tmp_path: Path) -> None:
    message = {"id": "m", "model": "m", "usage": {"input_tokens": 9_000, "output_tokens": 1}}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"type": "assistant", "message": message}) + "\n")
    event = UserPromptSubmit(dialect="claude-code", transcript_path=str(path))
    assert place.fire(event, limit=10_000)[1]["percent"] == 90.0
    with path.open("a") as file:
        file.write("x" * (5 << 20) + "\n")
    for _ in range(3):
        assert place.fire(event, limit=10_000) == (PASS, {})
