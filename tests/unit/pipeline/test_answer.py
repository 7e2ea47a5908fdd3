"""The parts answers many events, each as if its own process had: nothing leaks from one to another."""

import asyncio
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.model.answers import Answer, Verdict, deny
from hookline.model.events import PreToolUse
from hookline.model.journal import Recorded
from hookline.model.outcome import Outcome, Reply, Translated
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import LastingJournals, Parts, journal_file
from hookline.store.duplicate_calls import DuplicateCalls, MemoryShelf
from hookline.store.journal.reader import JournalReader

claude_code = registry.dialect("claude-code")
DENY = (
    "version: 1\nhooks:\n  - {name: no, on: pre_tool_use, match: {command: rm*}, deny: Not this.}\n"
)
PASS = (
    "version: 1\nhooks:\n  - {name: no, on: pre_tool_use, match: {command: xx*}, deny: Not this.}\n"
)
assert len(DENY) == len(PASS)


class Place:
    """A person's files, and parts that stay while events come."""

    def __init__(self, base: Path) -> None:
        self.state, self.config = base / "state", base / "config"
        self.file = self.config / "hookline/hookline.yaml"
        self.file.parent.mkdir(parents=True)
        self.project = base / "project"
        self.project.mkdir()
        self.runner = asyncio.Runner()
        self.parts = Parts(LastingJournals(), DuplicateCalls(MemoryShelf()))

    def write(self, text: str) -> None:
        self.file.write_text(text, encoding="utf-8")

    def ask(
        self,
        command: str = "rm x",
        event: str = "pre_tool_use",
        env: dict[str, str] | None = None,
        *words: str,
        **fields: Any,
    ) -> Any:
        return json.loads(self.reply(command, event, env, *words, **fields).stdout)

    def reply(
        self,
        command: str = "rm x",
        event: str = "pre_tool_use",
        env: dict[str, str] | None = None,
        *words: str,
        **fields: Any,
    ) -> Reply:
        own: dict[str, Any] = {"tool": {"name": "shell", "command": command}}
        if event == "stop":
            own = {"stop_hook_active": True}
        payload = {"event": event, "session_id": "s", "cwd": str(self.project), **own}
        options = ["--home", str(self.state), "--user-config", str(self.config)]
        call = Call(
            argv=["canonical", event, *options, *words],
            payload=json.dumps(payload).encode(),
            env={"PATH": "/usr/bin:/bin", **(env or {})},
            cwd=str(self.project),
            **fields,
        )
        return self.runner.run(answer(call, self.parts))

    def arrived(self, home: Path) -> Call:
        payload = {"event": "pre_tool_use", "tool": {"name": "shell", "command": "rm x"}}
        return Call(
            argv=["canonical", "--home", str(home), "--user-config", str(self.config)],
            payload=json.dumps({**payload, "cwd": str(self.project)}).encode(),
            env={"PATH": "/usr/bin:/bin"},
            cwd=str(self.project),
        )

    def recorded(self) -> list[Recorded]:
        return list(JournalReader(journal_file(str(self.state))).query())

    def close(self) -> None:
        self.runner.run(self.parts.aclose())
        self.runner.close()


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    found = Place(tmp_path)
    yield found
    found.close()


def test_an_edit_counts_at_the_very_next_event(place: Place) -> None:
    place.write(DENY)
    assert place.ask()["verdict"] == "deny"
    place.write(PASS)
    assert place.ask()["verdict"] == "pass"


def test_an_edit_that_hides_behind_an_old_time_counts_too(place: Place) -> None:
    place.write(PASS)
    long_ago = time.time() - 1000
    os.utime(place.file, (long_ago, long_ago))
    for _ in range(3):
        assert place.ask()["verdict"] == "pass"
    place.write(DENY)
    os.utime(place.file, (long_ago, long_ago))
    assert place.ask()["verdict"] == "deny"


def test_a_config_that_breaks_closes_gates_and_one_that_is_mended_opens_them(place: Place) -> None:
    place.write(PASS)
    assert place.ask()["verdict"] == "pass"
    place.write("version: 1\nhooks: nonsense\n")
    assert place.ask()["verdict"] == "deny"
    place.write(PASS)
    assert place.ask()["verdict"] == "pass"


def test_hooks_run_with_the_environment_and_umask_of_their_own_caller(place: Place) -> None:
    place.write(
        "version: 1\nhooks:\n  - {name: say, on: pre_tool_use, env: [MINE], "
        "run: 'echo \"$MINE $(umask) $HOOKLINE_ATTEMPT\"'}\n"
    )
    one = place.ask(env={"MINE": "one"}, umask=0o027)
    other = place.ask(env={"MINE": "other"}, umask=0o002, attempt=2)
    assert one["context"] == ["one 0027 1"]
    assert other["context"] == ["other 0002 2"]


def test_what_one_caller_believes_is_not_believed_for_another(place: Place, tmp_path: Path) -> None:
    """With --trust-env the environment chooses the config, for that event alone."""
    place.write(DENY)
    empty = tmp_path / "empty.yaml"
    empty.write_text("version: 1\n", encoding="utf-8")
    believed = {"HOOKLINE_CONFIG": str(empty), "XDG_CONFIG_HOME": str(tmp_path / "nowhere")}
    payload = json.dumps({"event": "pre_tool_use", "tool": {"name": "shell", "command": "rm x"}})

    def trusting(env: dict[str, str]) -> Any:
        call = Call(
            argv=["canonical", "--trust-env"],
            payload=payload.encode(),
            env={"HOOKLINE_HOME": str(place.state), **env},
            cwd=str(place.project),
        )
        return json.loads(place.runner.run(answer(call, place.parts)).stdout)

    assert trusting(believed)["verdict"] == "pass"
    assert place.ask()["verdict"] == "deny"
    assert trusting({"XDG_CONFIG_HOME": str(place.config)})["verdict"] == "deny"
    assert place.ask(env=believed)["verdict"] == "deny"


def test_when_the_reply_is_there_the_journal_has_the_event(place: Place) -> None:
    place.write(DENY)
    said = place.ask(id="ab" * 16, attempt=2)
    assert said["notice"][-1].endswith("hookline explain abababababababab")
    assert "explain" not in said["reason"]
    [found] = place.recorded()
    assert (found.id, found.attempt, found.verdict) == ("ab" * 16, 2, "deny")
    assert [run.hook for run in found.runs] == ["no"]


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        (b"no json", ("canonical", "pre_tool_use")),
        (b'{"event": "pre_tool_use"}', ("canonical", "pre_tool_use", "--config", "/gone.yaml")),
    ],
)
def test_what_could_not_be_judged_is_in_the_journal_too(
    place: Place, payload: bytes, words: tuple[str, ...]
) -> None:
    home = ["--home", str(place.state), "--user-config", str(place.config)]
    call = Call(argv=[*words, *home], payload=payload, env={}, cwd="/", id="cd" * 16)
    reply = place.runner.run(answer(call, place.parts))
    assert b"deny" in reply.stdout
    [found] = place.recorded()
    assert found.failure


def give_up(place: Place, *, meanwhile: Callable[[], object] = lambda: None) -> None:
    """An event whose client leaves while a hook is at work."""
    begun = place.project / "begun"
    place.write(
        "version: 1\nhooks:\n"
        f"  - {{name: slow, on: pre_tool_use, run: 'touch {begun}; sleep 60'}}\n"
    )
    payload = json.dumps(
        {"event": "pre_tool_use", "session_id": "s", "tool": {"name": "shell", "command": "ls"}}
    )
    home = ["--home", str(place.state), "--user-config", str(place.config)]
    call = Call(
        argv=["canonical", *home],
        payload=payload.encode(),
        env={"PATH": "/usr/bin:/bin"},
        cwd=str(place.project),
        id="ef" * 16,
    )

    async def given_up() -> None:
        task = asyncio.create_task(answer(call, place.parts))
        await until(begun.exists)
        meanwhile()
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()

    place.runner.run(given_up())


def test_an_event_that_nobody_waits_for_any_more_is_recorded_as_that(place: Place) -> None:
    give_up(place)
    [found] = place.recorded()
    assert "before it had an answer" in found.failure


def test_a_warning_that_nobody_was_there_to_hear_is_said_to_the_next(place: Place) -> None:
    place.write(DENY)
    place.ask()
    give_up(place, meanwhile=lambda: shutil.rmtree(place.state / "journal"))
    place.write(DENY)
    assert "journal" in place.ask()["notice"][0]
    (signature,) = place.ask()["notice"]
    assert signature.startswith("— no, ")


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():  # noqa: ASYNC110 - a file tells, and it has no event
            await asyncio.sleep(0.005)


class TestJournalTrouble:
    @pytest.fixture
    def broken(self, place: Place) -> Place:
        place.state.mkdir(mode=0o700)
        (place.state / "journal").write_text("a file where a directory should be")
        return place

    def test_costs_no_verdict_and_is_told_once_a_session(self, broken: Place) -> None:
        broken.write(DENY)
        first, second = broken.ask(), broken.ask()
        assert first["verdict"] == second["verdict"] == "deny"
        assert "journal" in first["notice"][0]
        assert [each[:3] for each in second["notice"]] == ["— n"]

    def test_bothers_nobody_where_nothing_is_configured(self, broken: Place) -> None:
        assert broken.ask() == {"verdict": "pass"}

    def test_no_journal_is_written_where_none_is_wanted(self, place: Place) -> None:
        place.write(DENY + "journal: {enabled: false}\n")
        said = place.ask()
        assert said["verdict"] == "deny"
        assert "explain" not in str(said)
        assert not (place.state / "journal").exists()


def test_a_stop_asked_about_twice_is_counted_once(place: Place) -> None:
    place.write(
        "version: 1\nmax_follow_ups: 1\nhooks:\n"
        "  - {name: more, on: stop, run: 'echo go on >&2; exit 2'}\n"
    )
    kept = [place.ask(event="stop", id="12" * 16, attempt=number) for number in (1, 2)]
    assert [said["follow_up"] for said in kept] == [["go on"], ["go on"]]
    assert "follow_up" not in place.ask(event="stop", id="34" * 16)


class TestWhatIsNotKnown:
    """How much may be written down is said by a config; where none can be read, it is the least."""

    def asked(self, place: Place, payload: bytes) -> Reply:
        options = ["--home", str(place.state), "--user-config", str(place.config)]
        argv = ["canonical", "pre_tool_use", *options]
        call = Call(argv=argv, payload=payload, env={}, cwd=str(place.project), id="56" * 16)
        return place.runner.run(answer(call, place.parts))

    def test_a_broken_payload_is_not_written_down_where_no_journal_is_wanted(
        self, place: Place
    ) -> None:
        place.write("version: 1\njournal: {enabled: false}\n")
        assert b"deny" in self.asked(place, b"{broken").stdout
        assert not (place.state / "journal").exists()

    def test_a_broken_config_leaves_the_journal_as_it_was(self, place: Place) -> None:
        place.write("version: 1\njournal: {enabled: false}\n")
        place.ask()
        place.write("version: 1\nhooks: broken\n")
        place.ask()
        assert not (place.state / "journal").exists()

    def test_of_what_a_broken_config_judges_only_the_failure_is_written_down(
        self, place: Place
    ) -> None:
        place.write("version: 1\nhooks: broken\n")
        place.ask("MK_COMMAND")
        [found] = place.recorded()
        assert "hookline.yaml" in found.failure
        assert b"MK_COMMAND" not in found.payload
        assert "MK_COMMAND" not in found.subject

    def test_changing_settings_does_not_pile_up_open_journals(self, place: Place) -> None:
        for number in range(20):
            word = "full" if number % 2 else "normal"
            place.write(f"version: 1\njournal: {{durability: {word}}}\n")
            place.ask()
        place.runner.run(asyncio.sleep(0))
        held = [
            os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if is_open(fd)
        ]
        assert sum(name == journal_file(str(place.state)) for name in held) <= 4


def is_open(name: str) -> bool:
    return os.path.lexists(f"/proc/self/fd/{name}")


def test_a_relative_home_is_meant_from_where_the_caller_is(place: Place, tmp_path: Path) -> None:
    place.write(DENY)
    options = ["--home", "own", "--user-config", str(place.config)]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        payload = {"event": "pre_tool_use", "session_id": "s", "tool": {"name": "shell"}}
        call = Call(
            argv=["canonical", *options],
            payload=json.dumps(payload).encode(),
            env={},
            cwd=str(tmp_path / name),
        )
        place.runner.run(answer(call, place.parts))
        assert (tmp_path / name / "own/journal").is_dir()


def test_after_each_event_that_is_let_go_which_was_kept_for_its_hooks(tmp_path: Path) -> None:
    place, let_go = Place(tmp_path), list[str]()
    place.parts = Parts(LastingJournals(), let_go=lambda: let_go.append("let go"))
    place.write(DENY)
    place.reply()
    assert let_go == ["let go"]
    place.write("version: 0\n")  # which fails, and closes the gate
    place.reply()
    assert let_go == ["let go"] * 2
    place.close()


def test_journals_of_many_homes_do_not_stay_open_and_lose_nothing(place: Place) -> None:
    place.write(DENY)
    journals = LastingJournals()
    place.parts = Parts(journals)

    async def closed() -> None:
        await asyncio.gather(*journals._closing)

    homes = [place.project.parent / f"home-{number}" for number in range(60)]
    place.reply("rm x", "pre_tool_use", None, "--home", str(homes[0]))
    before = len(os.listdir("/proc/self/fd"))
    for home in [*homes[1:], homes[0]]:
        place.reply("rm x", "pre_tool_use", None, "--home", str(home))
    place.runner.run(closed())
    assert len(os.listdir("/proc/self/fd")) - before < 120
    place.runner.run(place.parts.aclose())
    counts = [len(list(JournalReader(journal_file(str(home))).query())) for home in homes]
    assert counts == [2, *[1] * 59]


def test_an_event_under_way_is_written_to_a_journal_that_was_closed_meanwhile(
    place: Place,
) -> None:
    homes = [place.project.parent / f"home-{number}" for number in range(60)]
    place.write(DENY)

    async def all_at_once() -> None:
        replies = [answer(place.arrived(home), place.parts) for home in homes]
        await asyncio.gather(*replies)

    place.runner.run(all_at_once())
    place.runner.run(place.parts.aclose())
    assert all(len(list(JournalReader(journal_file(str(home))).query())) == 1 for home in homes)


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ((), {"cwd": "/a\0b"}),
        (("--home", "/a\0b"), {}),
        (("--config", "/a\0b"), {}),
        (("--user-config", "\0"), {}),
        (("--trust-env", "\0"), {}),
    ],
)
def test_a_nul_in_a_directory_or_an_option_is_a_deny_that_says_so(
    place: Place, words: tuple[str, ...], fields: dict[str, Any]
) -> None:
    place.write(PASS)
    call = place.arrived(place.state)
    call = msgspec.structs.replace(call, argv=[*call.argv, *words], **fields)
    call = msgspec.structs.replace(call, argv=["canonical", "pre_tool_use", *call.argv[1:]])
    said = json.loads(place.runner.run(answer(call, place.parts)).stdout)
    assert said["verdict"] == "deny"
    assert "NUL character" in said["reason"]
    assert "Error" not in said["reason"]


@pytest.mark.parametrize(
    "config",
    [
        DENY,
        "version: 1\nhooks:\n  - {name: no, on: pre_tool_use, run: 'echo no >&2; exit 2'}\n",
        "version: 1\nhooks:\n  - {name: ask, on: pre_tool_use, ask: Sure?}\n",
    ],
)
def test_an_outcome_is_translated_once(
    place: Place, config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Outcome] = []
    translate = claude_code.translate

    def count(outcome: Outcome) -> Translated:
        made.append(outcome)
        return translate(outcome)

    monkeypatch.setattr(type(claude_code), "translate", staticmethod(count))
    place.write(config)
    payload = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "transcript_path": "/tmp/t.jsonl",
        "permission_mode": "default",
        "cwd": str(place.project),
        "tool_name": "Bash",
        "tool_input": {"command": "rm x", "description": "remove it"},
        "tool_use_id": "toolu_1",
    }
    call = replace(
        place.arrived(place.state),
        argv=["claude-code", "PreToolUse", *place.arrived(place.state).argv[1:]],
        payload=json.dumps(payload).encode(),
    )
    assert place.runner.run(answer(call, place.parts)).stdout
    assert len(made) == 1


def test_what_was_translated_for_another_answer_or_client_is_translated_anew() -> None:
    event = PreToolUse(dialect="claude-code", native_event="PreToolUse")
    allowed = Outcome(event=event, answer=Answer(verdict=Verdict.ALLOW))
    stale = replace(claude_code.translate(allowed), source=allowed.answer, client=claude_code.id)
    denied = Outcome(event=event, answer=deny("no"), translation=stale)
    assert b'"deny"' in claude_code.encode(denied).stdout
    other = replace(stale, source=denied.answer, client="codex")
    assert b'"deny"' in claude_code.encode(replace(denied, translation=other)).stdout


def test_what_hooks_say_is_redacted_before_it_is_sent_or_stored(place: Place) -> None:
    token = "ghp_" + "x7Kq9LmZ2vB4nR8sT1wY6cD3fG5hJ0pA2eU9"
    place.write(
        "version: 1\nhooks:\n  - use: redact-secrets\n"
        f"  - {{name: tells, on: stop, run: 'echo go on with {token} >&2; exit 2'}}\n"
        f"  - {{name: notes, on: pre_tool_use, context: 'use {token} here'}}\n"
        f"  - {{name: denies, on: pre_tool_use, deny: 'not with {token}'}}\n"
    )
    said = [place.ask(), place.ask(event="stop")]
    assert token not in json.dumps(said)
    assert "[redacted:github]" in said[0]["reason"]
    assert "[redacted:github]" in said[0]["context"][0]
    assert "[redacted:github]" in said[1]["follow_up"][0]
    stored = b"".join(path.read_bytes() for path in place.state.rglob("*") if path.is_file())
    assert b"[redacted:github]" in stored
    assert token.encode() not in stored


def test_what_hooks_say_is_left_alone_where_nothing_redacts(place: Place) -> None:
    token = "ghp_" + "x7Kq9LmZ2vB4nR8sT1wY6cD3fG5hJ0pA2eU9"
    place.write(f"version: 1\nhooks:\n  - {{on: pre_tool_use, deny: 'not with {token}'}}\n")
    assert token in place.ask()["reason"]
    stored = b"".join(path.read_bytes() for path in place.state.rglob("*") if path.is_file())
    assert token.encode() not in stored  # the journal redacts whatever the config says
