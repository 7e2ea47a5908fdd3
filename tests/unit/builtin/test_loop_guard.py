"""loop-guard: what is a loop, what is none, what is said, and what is kept of it."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec import ValidationError, convert

from hookline.app import App
from hookline.builtin import loop_guard
from hookline.builtin.loop_guard.signatures import normalise_output, seems_failed
from hookline.builtin.loop_guard.traits import read_traits
from hookline.model.answers import PASS, Announcement, Answer, Verdict
from hookline.model.coverage import cover_hook
from hookline.model.events import (
    Budget,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    SessionEnd,
    UserPromptSubmit,
)
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.outcome import Outcome
from hookline.model.ports import NOBODY
from hookline.model.tools import tool
from hookline.pipeline.judge import judge
from hookline.registry import dialect
from hookline.store.state import StateDatabase
from hookline.store.tool_calls import Trait
from support.loops import START, LoopingAgent, Step, edit, shell

FAIL = shell("make", "make: *** [all] Error 1", failed=True)
LIST = shell("ls", "a.py")
DIALECT = "canonical"


@pytest.fixture
def state(tmp_path: Path) -> Iterator[StateDatabase]:
    made = StateDatabase(str(tmp_path))
    yield made
    made.close()


@pytest.fixture
def agent(state: StateDatabase) -> LoopingAgent:
    return LoopingAgent(state)


class TestFailures:
    def test_the_third_is_warned_of_the_next_denied_and_then_the_run_ends(
        self, agent: LoopingAgent
    ) -> None:
        assert agent.do_all([FAIL] * 7) == ["", "", "warn", "deny", "deny", "halt", "halt"]

    def test_the_reason_says_how_often_in_how_many_minutes_and_what_to_do(
        self, agent: LoopingAgent
    ) -> None:
        agent.do_all([FAIL._replace(seconds=100)] * 4)
        text = "Loop detected: identical failing command executed 3 times in 4 minutes. "
        text += "Change strategy, or ask the user."
        warning, denial = agent.said
        assert (warning.context, warning.notice) == ((text,), (text,))
        assert denial.reason == text
        assert len(text) <= 200

    def test_two_are_none_and_three_in_more_than_six_minutes_are_none(
        self, agent: LoopingAgent
    ) -> None:
        assert agent.do_all([FAIL, FAIL]) == ["", ""]
        agent.prompt()
        assert agent.do_all([FAIL._replace(seconds=181)] * 5) == [""] * 5

    def test_an_error_that_changes_is_progress(self, agent: LoopingAgent) -> None:
        errors = [f"{left} failed in {left}.5s" for left in (5, 4, 3, 2, 1)]
        assert agent.do_all([shell("pytest", each, failed=True) for each in errors]) == [""] * 5

    def test_the_same_error_at_another_time_and_line_is_the_same(self, agent: LoopingAgent) -> None:
        errors = [f"12:0{at}:00 a.py:{at}: bad, after 0.{at} s, pid 9{at}" for at in range(3)]
        said = agent.do_all([shell("make", each, failed=True) for each in errors])
        assert said == ["", "", "warn"]

    def test_after_an_edit_it_may_be_tried_once_more_and_is_warned_of_again(
        self, agent: LoopingAgent
    ) -> None:
        agent.do_all([FAIL] * 3)
        assert agent.do_all([edit("a.py", "1"), FAIL, FAIL]) == ["", "warn", "deny"]
        assert agent.do_all([edit("a.py", "1"), FAIL]) == ["", "deny"]  # the same edit is no news
        assert agent.do_all([edit("a.py", "2"), FAIL]) == ["", "warn"]

    def test_after_another_command_that_may_have_changed_something_it_may_be_tried_too(
        self, agent: LoopingAgent
    ) -> None:
        agent.do_all([FAIL] * 3)
        assert agent.do_all([shell("cat a.py", "x"), FAIL]) == ["", "deny"]
        assert agent.do_all([shell("python fix.py", "done"), FAIL, FAIL]) == ["", "warn", "deny"]

    def test_a_success_ends_it(self, agent: LoopingAgent) -> None:
        agent.do_all([FAIL] * 3)
        done = [edit("a.py", "1"), shell("make", "done"), FAIL, FAIL]
        assert agent.do_all(done) == ["", "", "", ""]

    def test_other_calls_between_them_do_not_hide_it(self, agent: LoopingAgent) -> None:
        steps = [FAIL, LIST, FAIL, shell("cat a.py", "x"), FAIL, LIST, FAIL]
        assert agent.do_all(steps) == ["", "", "", "", "warn", "", "deny"]

    def test_the_same_command_spelled_otherwise_is_the_same(self, agent: LoopingAgent) -> None:
        spelled = ["make | tail -5", "cd /srv/app && make", "make  2>&1 | head -n 20", "make;"]
        steps = [shell(each, "bad", failed=True) for each in spelled]
        assert agent.do_all(steps) == ["", "", "warn", "deny"]

    def test_a_change_by_a_sub_agent_is_one_for_all_agents(self, state: StateDatabase) -> None:
        agent, helper = LoopingAgent(state), LoopingAgent(state, agent="helper")
        agent.do_all([FAIL] * 3)
        helper.do(edit("a.py", "1"))
        assert agent.do_all([FAIL, FAIL]) == ["warn", "deny"]
        assert agent.do_all([Step(tool("Task", prompt="fix it"), "fixed"), FAIL]) == ["", "warn"]

    def test_a_denial_that_is_asked_for_again_counts_once(self, agent: LoopingAgent) -> None:
        agent.do_all([FAIL] * 3)
        for _ in range(4):
            assert agent.fire(PreToolUse, id="e1", tool=FAIL.tool).verdict is Verdict.DENY

    def test_any_tool_can_fail(self, agent: LoopingAgent) -> None:
        gone = Step(tool("read", path="/gone"), "no such file", failed=True)
        assert agent.do_all([gone] * 4) == ["", "", "warn", "deny"]
        assert "identical failing call executed 3 times" in agent.said[0].context[0]

    def test_where_nothing_tells_that_a_command_failed_its_words_do(
        self, agent: LoopingAgent
    ) -> None:
        made = tool("shell", command="cat gone")
        output = "cat: gone: No such file or directory"
        said = [
            agent.fire(PostToolUse, tool=convert({**_fields(made), "output": output}, type(made)))
            for _ in range(3)
        ]
        assert [bool(each.context) for each in said] == [False, False, True]

    def test_what_a_person_interrupted_does_not_count(self, agent: LoopingAgent) -> None:
        for _ in range(5):
            agent.fire(PostToolUseFailure, tool=FAIL.tool, error="stopped", interrupted=True)
        assert agent.said == []


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


class TestRepetitions:
    def test_the_sixth_is_warned_of_and_the_next_denied(self, agent: LoopingAgent) -> None:
        assert agent.do_all([LIST] * 7) == [""] * 5 + ["warn", "deny"]
        assert "identical command with the same result 6 times in 1 minute" in agent.said[1].reason

    def test_after_an_edit_counting_starts_anew(self, agent: LoopingAgent) -> None:
        said = agent.do_all([step for at in range(9) for step in (LIST, edit("a", str(at)))])
        assert said == [""] * 18

    def test_a_call_that_writes_itself_is_found_too(self, agent: LoopingAgent) -> None:
        assert agent.do_all([shell("echo 1 > a")] * 6)[-1] == "warn"
        agent.prompt()
        assert agent.do_all([edit("a", "1")] * 6)[-1] == "warn"

    def test_a_result_that_changes_is_none(self, agent: LoopingAgent) -> None:
        assert agent.do_all([shell("npm run x", f"{at} left") for at in range(20)]) == [""] * 20

    def test_results_that_nobody_tells_take_twice_as_many(self, agent: LoopingAgent) -> None:
        steps = [shell("npm run x", None)] * 13
        assert agent.do_all(steps) == [""] * 11 + ["warn", "deny"]


class TestAlternation:
    @pytest.mark.parametrize("names", ["ab", "abc"])
    def test_three_rounds_with_the_same_results_are_a_loop(
        self, agent: LoopingAgent, names: str
    ) -> None:
        said = agent.do_all([shell(f"cat {name}", name) for name in names * 3])
        assert said == [""] * (len(names) * 3 - 1) + ["warn"]
        assert agent.do(shell(f"cat {names[0]}", names[0])) == "deny"
        assert "in turn, 3 times" in agent.said[0].context[0]

    def test_rounds_with_other_results_are_none(self, agent: LoopingAgent) -> None:
        steps = [shell(f"cat {name}", f"{at}") for at in range(8) for name in "ab"]
        assert agent.do_all(steps) == [""] * 16

    def test_an_edit_back_and_forth_is_one(self, agent: LoopingAgent) -> None:
        said = agent.do_all([edit("a", "1"), edit("a", "2")] * 3)
        assert said[-1] == "warn"

    def test_a_look_at_a_state_among_them_is_never_denied(self, agent: LoopingAgent) -> None:
        steps = [shell("docker compose ps", "starting"), shell("cat a", "x")]
        said = agent.do_all(steps * 6)
        assert "warn" in said
        assert set(said[::2]) == {""}


class TestCompaction:
    def test_a_platform_that_tells_of_it_before_each_call_of_its_model_is_not_judged(
        self, state: StateDatabase
    ) -> None:
        agent = LoopingAgent(state, dialect="gemini")
        assert [agent.compact(9_000) for _ in range(6)] == [""] * 6

    def test_two_that_did_not_make_room_are_warned_of_and_four_end_the_run(
        self, agent: LoopingAgent
    ) -> None:
        assert [agent.compact(9_000) for _ in range(4)] == ["", "warn", "warn", "halt"]
        assert "compacted 2 times in 1 minute without relief" in agent.said[0].context[0]

    def test_the_share_of_the_window_counts_where_it_is_told(self, agent: LoopingAgent) -> None:
        budget = Budget(used_tokens=900, effective_limit=1000)
        assert [agent.compact(budget=budget) for _ in range(2)] == ["", "warn"]
        assert agent.compact(budget=Budget(used_tokens=500, effective_limit=1000)) == ""

    def test_without_tokens_work_between_them_is_relief(self, agent: LoopingAgent) -> None:
        assert [agent.compact(), agent.compact()] == ["", "warn"]
        agent.do(LIST)
        assert agent.compact() == ""

    def test_after_one_the_model_may_read_again_what_it_has_forgotten(
        self, agent: LoopingAgent
    ) -> None:
        for _ in range(3):
            assert agent.do_all([LIST] * 5) == [""] * 5
            agent.compact()
        agent.do_all([LIST] * 6)
        agent.compact()
        assert agent.do(LIST) == ""

    def test_a_person_may_compact_at_will(self, agent: LoopingAgent) -> None:
        for _ in range(5):
            agent.fire(PreCompact, trigger="manual")
        assert agent.said == []


class TestWhatIsNoLoop:
    @pytest.mark.parametrize(
        "command",
        [
            "sleep 30", "sleep 5 && cat out.log", "kubectl get pods | grep app", "gh run view 1",
            "curl -fsS localhost:1/health", "curl -X GET a.example", "curl -X get a.example -s", "docker compose ps", "git status --short", "wait $!",
            "tail -f x.log", "while ! nc -z db 5432; do sleep 1; done", "./wait-for-it.sh db:5432",
            "python scripts/check_status.py 7", "aws ecs describe-tasks --tasks a", "make status",
            "cat build.log", "grep -c done server.log", "ps aux | grep node | wc -l", "systemctl is-active app", "npx wait-on http://a.example",
        ],
    )  # fmt: skip
    def test_polling_and_waiting(self, agent: LoopingAgent, command: str) -> None:
        steps = [shell(command, "not yet", failed=at % 2 == 0) for at in range(15)]
        assert agent.do_all(steps) == [""] * 15
        agent.prompt()
        assert agent.do_all([shell(command, "not yet", failed=True)] * 9) == [""] * 9

    @pytest.mark.parametrize(
        "command",
        [
            "make", "cat a.py", "curl -X POST localhost:1/jobs", "curl -d a=1 localhost:1",
            "curl -XPUT a.example", "curl --request DELETE a.example", "curl -sd@f a.example",
            "wget --post-data=x a.example", "curl --json {} a.example", "git diff",
            "docker build .", "npm test", "kubectl apply -f a.yaml", "echo status",
            "git commit -m 'wait for status'", "ls && make", "git status && make",
        ],
    )  # fmt: skip
    def test_what_only_looks_like_it_is_still_a_loop(
        self, agent: LoopingAgent, command: str
    ) -> None:
        assert agent.do_all([shell(command, "bad", failed=True)] * 3) == ["", "", "warn"]

    @pytest.mark.parametrize(
        "call",
        [
            tool("BashOutput", bash_id="1"),
            tool("read_bash", sessionId="1"),
            tool("write_stdin", session_id=1, chars=""),
            tool("mcp__ci__get_job_status", id="1"),
            tool("read", path="/run/tasks/b1.output"),
            tool("TaskList"),
        ],
    )
    def test_reading_what_runs_in_the_background(self, agent: LoopingAgent, call: Any) -> None:
        assert agent.do_all([Step(call, "running")] * 9) == [""] * 9

    def test_typing_into_a_program_is_not_reading_it(self) -> None:
        assert not read_traits(tool("write_stdin", session_id=1, chars="q\n")) & Trait.LOOKS

    def test_waiting_between_calls(self, agent: LoopingAgent) -> None:
        assert agent.do_all([LIST, shell("sleep 1")] * 12) == [""] * 24

    def test_a_call_after_a_wait_is_warned_of_and_never_denied(self, agent: LoopingAgent) -> None:
        said = agent.do_all([FAIL, shell("sleep 1")] * 12)
        assert set(said) == {"", "warn"}
        assert said.count("warn") == 10


class TestWhoAndWhen:
    def test_a_prompt_of_the_person_starts_anew(self, agent: LoopingAgent) -> None:
        agent.do_all([FAIL] * 4)
        agent.prompt()
        assert agent.do_all([FAIL] * 3) == ["", "", "warn"]

    def test_what_the_client_says_by_itself_is_no_prompt(self, agent: LoopingAgent) -> None:
        agent.do_all([FAIL] * 3)
        agent.fire(UserPromptSubmit, prompt="a task has ended", automatic=True)
        assert agent.do(FAIL) == "deny"

    def test_a_denial_that_the_client_tells_of_as_a_failure_ends_nothing(
        self, agent: LoopingAgent
    ) -> None:
        agent.do_all([FAIL] * 4)
        agent.fire(PostToolUseFailure, tool=FAIL.tool, error=agent.said[-1].reason)
        assert agent.do(FAIL) == "deny"

    def test_sessions_agents_and_platforms_are_counted_apart(self, state: StateDatabase) -> None:
        agents = [
            LoopingAgent(state),
            LoopingAgent(state, session="s2"),
            LoopingAgent(state, agent="helper"),
            LoopingAgent(state, dialect="codex"),
        ]
        for _ in range(2):
            assert [each.do(FAIL) for each in agents] == [""] * 4
        assert agents[0].do(FAIL) == "warn"
        assert [each.do(LIST) for each in agents] == [""] * 4

    def test_after_the_minutes_are_over_a_denied_call_may_be_made(
        self, agent: LoopingAgent
    ) -> None:
        agent.do_all([FAIL] * 3)
        assert agent.do(FAIL._replace(seconds=361)) == ""

    def test_a_clock_that_is_put_back_neither_hides_nor_makes_a_loop(
        self, agent: LoopingAgent
    ) -> None:
        agent.do_all([FAIL, FAIL])
        agent.now -= timedelta(hours=5)
        assert agent.do_all([FAIL] * 3) == ["", "", "warn"]

    def test_without_a_session_or_a_place_for_it_nothing_is_said(self) -> None:
        answer = loop_guard.make(loop_guard.Options())
        assert answer(PostToolUse(session_id="s"), NOBODY) is PASS
        assert answer(PostToolUse(), NOBODY) is PASS

    def test_an_event_that_comes_again_counts_once(self, state: StateDatabase) -> None:
        agent = LoopingAgent(state)
        for _ in range(5):
            agent.fire(PostToolUseFailure, id="e1", tool=FAIL.tool, error="bad")
        assert agent.said == []
        agent.fire(PostToolUseFailure, id="e2", tool=FAIL.tool, error="bad")
        for _ in range(2):  # its answer was lost, and is given again
            agent.fire(PostToolUseFailure, id="e3", tool=FAIL.tool, error="bad")
        assert [each.context[0].split(" in ")[0][-7:] for each in agent.said] == ["3 times"] * 2


class TestOptions:
    def test_failures_repeats_and_minutes(self, state: StateDatabase) -> None:
        agent = LoopingAgent(state, failures=2, repeats=3, minutes=1)
        assert agent.do_all([FAIL, FAIL]) == ["", "warn"]
        assert agent.do_all([LIST] * 3) == ["", "", "warn"]
        assert agent.do_all([shell("cat a", "x", after=59)] * 6) == [""] * 6

    def test_without_halt_it_goes_on_denying(self, state: StateDatabase) -> None:
        agent = LoopingAgent(state, halt=False)
        assert agent.do_all([FAIL] * 9) == ["", "", "warn"] + ["deny"] * 6
        assert [agent.compact(9) for _ in range(5)][-1] == "warn"

    @pytest.mark.parametrize(
        "options",
        [{"failures": 1}, {"repeats": 2}, {"minutes": 0}, {"minutes": -1}, {"halt": "no"},
         {"failure": 3}, {"failures": 31}, {"minutes": 9999}],
    )  # fmt: skip
    def test_senseless_ones_are_refused(self, options: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            convert(options, loop_guard.Options)


class TestOutcomes:
    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("3 failed in 0.12s", "3 failed in 10.5s"),
            ("at 2026-01-02T10:11:12.5Z x", "at 2026-03-02T10:11:13Z x"),
            ("<obj at 0x7f00aa>", "<obj at 0x7f11bb>"),
            ("/tmp/tmpab12cd34/x", "/tmp/tmpzz99yy11/x"),
            ("/tmp/ccAb12xY.o bad", "/tmp/ccZZ12xY.o bad"),
            ("/tmp/foo-Ab12Xz/x", "/tmp/foo-Cd34Qw/x"),
            ("a.py:12: err", "a.py:130:4: err"),
            ("a.ts(12,5): error", "a.ts(13,7): error"),
            ("pid 1234 died", "pid 99 died"),
            ('File "a.py", line 12, in f', 'File "a.py", line 14, in f'),
            ("took 1m 2s", "took 12m 10.5s"),
            ("127.0.0.1:53211 refused", "127.0.0.1:41233 refused"),
            ("\x1b[31mred\x1b[0m", "red"),
            ("at 1700000000", "at 1700000999"),
            ("12.5 MB/s", "9 kB/s"),
            ("a \r\n  b\n", "a b"),
        ],
    )
    def test_noise_does_not_make_a_difference(self, one: str, other: str) -> None:
        assert normalise_output(one) == normalise_output(other)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("3 failed", "2 failed"),
            ("3 failed, 2 passed in 1s", "2 failed, 3 passed in 1s"),
            ("45%", "46%"),
            ("failed:3", "failed:2"),
            ("port 8080", "port 8081"),
            ("a.py b.py", "a.py c.py"),
            ("/tmp/my-project", "/tmp/my-library"),
            ("x" * 90_000, "x" * 90_001),
            ("x" * 40_000 + "a" + "x" * 40_000, "x" * 40_000 + "b" + "x" * 40_000),
        ],
    )
    def test_what_may_be_progress_does(self, one: str, other: str) -> None:
        assert normalise_output(one) != normalise_output(other)

    @pytest.mark.parametrize("text", ["ok", "0 failed", "0 errors", "Exit code: 0", "no error: x"])
    def test_a_success_does_not_read_as_a_failure(self, text: str) -> None:
        assert not seems_failed(tool("shell", command="x"), text)

    @pytest.mark.parametrize("unit", ["\0\x01\xff", "\ud800", "error: ", "/tmp/a-", "9", "\n", "é"])
    def test_huge_and_binary_output_is_read_and_never_kept(
        self, tmp_path: Path, agent: LoopingAgent, unit: str
    ) -> None:
        output = "MK_KEPT" + unit * (2_000_000 // len(unit))
        steps = [shell(f"cat {unit!r}; MK_GIVEN=1 ./x", output, failed=True)] * 3
        assert agent.do_all(steps) == ["", "", "warn"]
        stored = b"".join(file.read_bytes() for file in tmp_path.glob("state.db*"))
        assert b"MK_KEPT" not in stored
        assert b"MK_GIVEN" not in stored
        assert len(stored) < 200_000


class TestStore:
    def test_nothing_stays_of_a_session_that_is_over(
        self, state: StateDatabase, agent: LoopingAgent
    ) -> None:
        other = LoopingAgent(state, session="s2")
        for each in (agent, other):
            each.do_all([FAIL] * 3)
        agent.fire(SessionEnd)
        with state.read() as connection:
            assert _count(connection, "tool_calls") == 3

    def test_an_agent_has_a_bounded_number_of_rows_and_old_ones_go(
        self, state: StateDatabase, agent: LoopingAgent
    ) -> None:
        LoopingAgent(state, session="old").do_all([LIST, LIST])
        for at in range(300):
            agent.do(shell(f"cat {at}", str(at), after=600))
        with state.read() as connection:
            assert _count(connection, "tool_calls") <= 100

    def test_two_connections_and_many_sessions_lose_and_double_nothing(
        self, tmp_path: Path
    ) -> None:
        from concurrent.futures import ThreadPoolExecutor

        def live(number: int) -> list[str]:
            mine = StateDatabase(str(tmp_path))
            said = LoopingAgent(mine, session=f"s{number}").do_all([FAIL, LIST, FAIL, FAIL, FAIL])
            mine.close()
            return said

        with ThreadPoolExecutor(8) as pool:
            told = list(pool.map(live, range(50)))
        assert told == [["", "", "", "warn", "deny"]] * 50
        with StateDatabase(str(tmp_path)).read() as connection:
            assert _count(connection, "tool_calls") == 250


def _count(connection: sqlite3.Connection, table: str) -> int:
    found = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(found[0])


class Session:
    """A session of one client, through config, engine and memory."""

    def __init__(self, directory: Path, hooks: str) -> None:
        self.directory = directory
        (directory / "hookline.yaml").write_text(f"version: 1\nhooks:\n{hooks}", "utf-8")
        self.now = START

    def fire(self, cls: Any, step: Step = FAIL, **fields: Any) -> Outcome:
        app = App(
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.directory)},
            cwd=str(self.directory),
            home=str(self.directory / "state"),
            config="hookline.yaml",
            remember=True,
            managed=str(self.directory / "none"),
        )
        self.now += timedelta(seconds=2)
        shared = {"session_id": "s1", "cwd": str(self.directory), "time": self.now}
        return asyncio.run(judge(cls(**shared, tool=step.tool, **fields), app))

    def fail(self) -> Outcome:
        before = self.fire(PreToolUse)
        if before.verdict >= Verdict.DENY:
            return before
        return self.fire(PostToolUseFailure, error="make: *** [all] Error 1")


GUARD = "  - use: loop-guard\n"
HOOK = "  - {name: told, on: loop_detected, run: 'cat >> told.jsonl; echo >> told.jsonl'}\n"


class TestHooks:
    def test_hooks_on_loop_detected_run_each_time_with_what_was_found(self, tmp_path: Path) -> None:
        session = Session(tmp_path, GUARD + HOOK)
        verdicts = [session.fail().verdict.value for _ in range(6)]
        assert verdicts == ["pass", "pass", "pass", "deny", "deny", "halt"]
        lines = (tmp_path / "told.jsonl").read_text("utf-8").splitlines()
        told = [json.loads(line) for line in lines if line]
        assert [each["derived_from"] for each in told] == [
            "post_tool_use_failure", *["pre_tool_use"] * 3,
        ]  # fmt: skip
        assert {each["event"] for each in told} == {"loop_detected"}
        assert {(each["kind"], each["count"], each["minutes"]) for each in told} == {
            ("failure", 3, 1)
        }
        assert told[0]["message"].startswith("Loop detected: identical failing command")

    def test_what_an_exception_names_may_be_repeated(self, tmp_path: Path) -> None:
        session = Session(tmp_path, GUARD + "    except: [{command: 'make*'}]\n" + HOOK)
        assert {session.fail().verdict for _ in range(6)} == {Verdict.PASS}
        assert not (tmp_path / "told.jsonl").exists()

    def test_in_observe_it_says_nothing_and_fires_nothing(self, tmp_path: Path) -> None:
        session = Session(tmp_path, "  - {use: loop-guard, mode: observe}\n" + HOOK)
        outcomes = [session.fail() for _ in range(6)]
        assert {each.verdict for each in outcomes} == {Verdict.PASS}
        assert not any(each.answer.context or each.answer.notice for each in outcomes)
        observed = [run.answer.verdict for each in outcomes for run in each.runs]
        assert Verdict.PASS in observed
        assert not (tmp_path / "told.jsonl").exists()

    def test_no_workarounds_does_not_hold_a_loop_against_other_ways(self, tmp_path: Path) -> None:
        session = Session(tmp_path, "  - use: no-workarounds\n" + GUARD)
        assert [session.fail().verdict.value for _ in range(4)][-1] == "deny"
        other = session.fire(PreToolUse, shell("make -j4"))
        assert other.verdict is Verdict.PASS

    def test_the_agent_goes_on_where_the_state_cannot_be_used(self, tmp_path: Path) -> None:
        session = Session(tmp_path, GUARD)
        session.fail()
        connection = sqlite3.connect(tmp_path / "state/state.db")
        connection.execute("PRAGMA user_version = 999")
        connection.close()
        outcome = session.fire(PostToolUseFailure, error="bad")
        assert outcome.verdict is Verdict.PASS
        assert "newer hookline" in outcome.answer.notice[0]
        assert session.fire(PreToolUse).verdict is Verdict.PASS

    @pytest.mark.parametrize(("active", "how"), [({"loop-guard"}, "derived"), (set(), "none")])
    def test_coverage_says_whether_its_moment_fires(self, active: set[str], how: str) -> None:
        hook = Hook(name="h", events=("loop_detected",), handler=HandlerSpec("command", {}))
        covered = cover_hook(hook, dialect("codex").support, active=active)
        assert covered.fires == how
        words = (
            "when loop-guard finds it" if active else "`use: loop-guard`, which finds it, is not"
        )
        assert words in covered.events["loop_detected"].why


def test_what_it_answers_is_an_announcement_only_when_there_is_something_to_announce(
    agent: LoopingAgent,
) -> None:
    handled: Callable[..., Answer | Announcement] = loop_guard.make(loop_guard.Options())
    assert handled(PreToolUse(session_id="s"), NOBODY) is PASS
    assert loop_guard.FIRES == ("loop_detected",)
