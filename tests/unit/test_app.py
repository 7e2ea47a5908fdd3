"""The wiring: which config an event meets, how engines are kept, what happens without a home."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.app import App, open_app, open_loader
from hookline.model.errors import HooklineError
from hookline.model.events import Event, SessionStart
from hookline.model.outcome import Outcome
from hookline.pipeline.call import Call
from hookline.pipeline.judge import judge, judge_once
from hookline.testing import read, shell

DENY = "version: 1\nhooks:\n  - {name: no, on: pre_tool_use, deny: no}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    (directory / ".git").mkdir(parents=True)
    return directory


def app_at(project: Path, **options: Any) -> App:
    base = project.parent
    settings: dict[str, Any] = {
        "env": {"PATH": os.defpath, "HOME": str(base / "person")},
        "cwd": str(project),
        "home": str(base / "state"),
        "managed": str(base / "none/managed.yaml"),
        **options,
    }
    return App(**settings)


def fire(app: App, event: Event, **options: Any) -> Outcome:
    return asyncio.run(judge(event, app, **options))


def called(*words: str) -> Call:
    return Call(argv=words, payload=b"", env={}, cwd="/")


def trusted(project: Path, text: str = DENY, name: str = "hookline.yaml") -> Path:
    config = project / name
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(text, encoding="utf-8")
    app_at(project).loader.trust(str(config))
    return config


class TestWhichConfig:
    def test_an_event_without_a_directory_happens_where_the_app_is(self, project: Path) -> None:
        trusted(project)
        outcome = fire(app_at(project), shell("ls"))
        assert outcome.verdict == "deny"
        assert outcome.event.cwd == str(project)

    @pytest.mark.parametrize("cwd", [".", "sub", "sub/..", "./sub"])
    def test_a_relative_directory_is_the_apps(self, project: Path, cwd: str) -> None:
        trusted(project)
        assert fire(app_at(project), shell("ls", cwd=cwd)).verdict == "deny"

    def test_the_root_is_that_of_the_sessions_first_event(self, project: Path) -> None:
        trusted(project)
        app = app_at(project)
        assert fire(app, shell("ls", session_id="s")).verdict == "deny"
        assert fire(app, shell("ls", session_id="s", cwd="/")).verdict == "deny"
        assert fire(app, shell("ls", session_id="t", cwd="/")).verdict == "pass"

    def test_sessions_of_two_dialects_are_not_mixed_up(self, project: Path) -> None:
        trusted(project)
        app = app_at(project)
        event = shell("ls", session_id="s", cwd="/")
        assert fire(app, event).verdict == "pass"
        assert fire(app, replace(event, dialect="claude-code", cwd=str(project))).verdict == "deny"

    def test_a_config_below_the_root_counts_for_its_paths(self, project: Path) -> None:
        trusted(project, DENY, "sub/hookline.yaml")
        app = app_at(project)
        assert fire(app, read("a.txt")).verdict == "pass"
        assert fire(app, read("sub/a.txt")).verdict == "deny"

    def test_config_is_relative_to_the_apps_directory(self, project: Path) -> None:
        (project / "other.yaml").write_text(DENY, encoding="utf-8")
        assert fire(app_at(project, config="other.yaml"), shell("ls")).verdict == "deny"

    def test_the_person_says_where_the_users_own_file_is(self, project: Path) -> None:
        base = project.parent
        user = base / "uc/hookline/hookline.yaml"
        user.parent.mkdir(parents=True)
        user.write_text(DENY, encoding="utf-8")
        told = {"XDG_CONFIG_HOME": str(base / "uc")}
        assert fire(app_at(project, person=told), shell("ls")).verdict == "deny"
        assert fire(app_at(project, env=told, person={"HOME": "/"}), shell("ls")).verdict == "pass"


class TestNotes:
    def test_they_come_with_a_sessions_first_event_and_with_its_start(self, project: Path) -> None:
        (project / "hookline.yaml").write_text(DENY, encoding="utf-8")
        app = app_at(project)
        said = [
            bool(fire(app, event).answer.notice)
            for event in (
                shell("ls", session_id="s"),
                shell("ls", session_id="s"),
                SessionStart(session_id="s"),
                shell("ls", session_id="t"),
                shell("ls"),
            )
        ]
        assert said == [True, False, True, True, True]


class TestEngines:
    def test_one_is_kept_while_its_config_stays(self, project: Path) -> None:
        config = trusted(project)
        app = app_at(project)
        first = app.engine_for(app.config_for(shell("ls", cwd=str(project)), str(project)))
        again = app.engine_for(app.config_for(shell("ls", cwd=str(project)), str(project)))
        assert again is first
        config.write_text(DENY.replace("no}", "never}"), encoding="utf-8")
        app.loader.trust(str(config))
        changed = app.engine_for(app.config_for(shell("ls", cwd=str(project)), str(project)))
        assert changed is not first

    def test_there_are_never_too_many(self, project: Path) -> None:
        app = app_at(project)
        for number in range(40):
            other = project / str(number)
            other.mkdir()
            fire(app, shell("ls", cwd=str(other), session_id=str(number)))
            trusted(project, DENY, f"{number}/hookline.yaml")
            assert fire(app, shell("ls", cwd=str(other))).verdict == "deny"
        assert len(app._engines) <= 32


class TestOneCallThroughTwoEntries:
    @pytest.fixture
    def allowing(self, project: Path) -> App:
        own = project.parent / "person/.config/hookline/hookline.yaml"
        own.parent.mkdir(parents=True)
        own.write_text(DENY.replace("deny: no", "allow: fine"))
        return app_at(project)

    def answer(self, app: App, native: str) -> Outcome:
        event = replace(
            shell("ls"), session_id="s1", dialect="docker-agent", native_event=native, cwd=app.cwd
        )
        call = called("docker-agent", native)
        return asyncio.run(judge_once(event, app, call, registry.dialect("docker-agent")))

    def test_an_allow_that_one_of_them_cannot_say_is_said_by_the_other(self, allowing: App) -> None:
        assert self.answer(allowing, "pre_tool_use+preempt").verdict == "allow"
        assert self.answer(allowing, "pre_tool_use").verdict == "allow"

    def test_an_allow_that_was_said_is_not_said_twice(self, allowing: App) -> None:
        assert self.answer(allowing, "pre_tool_use").verdict == "allow"
        assert self.answer(allowing, "pre_tool_use+preempt").verdict == "pass"


class TestTheSameCallByAnotherPolicy:
    def test_what_one_config_let_through_is_judged_by_the_other(self, project: Path) -> None:
        (project / "lax.yaml").write_text("version: 1\n")
        (project / "strict.yaml").write_text(DENY)
        event = replace(shell("ls"), session_id="s1", cwd=str(project))

        said = {
            name: asyncio.run(
                judge_once(
                    event,
                    app_at(project, config=name),
                    called("canonical", "pre_tool_use", "--config", name),
                    registry.dialect("canonical"),
                )
            ).verdict
            for name in ("lax.yaml", "strict.yaml")
        }

        assert said == {"lax.yaml": "pass", "strict.yaml": "deny"}


class TestLimits:
    @pytest.mark.parametrize("depth", ["4", "-1", "x", "", "9" * 5_000, "٤"])
    def test_too_deep_a_nesting_is_refused(self, project: Path, depth: str) -> None:
        app = app_at(project, env={"HOOKLINE_DEPTH": depth, "HOME": "/"})
        with pytest.raises(HooklineError, match="more than 3 levels are refused"):
            fire(app, shell("ls"))

    def test_a_hooks_time_is_cut_to_what_is_left_of_the_events(self, project: Path) -> None:
        trusted(project, "version: 1\nhooks:\n  - {on: pre_tool_use, run: sleep 60}\n")
        outcome = fire(app_at(project), shell("ls"), timeout=0.2)
        assert outcome.verdict == "deny"
        assert "no answer within 0." in outcome.reason


class TestWithoutAHome:
    @pytest.fixture
    def homeless(self, project: Path) -> App:
        home = project.parent / "file"
        home.write_text("no directory", encoding="utf-8")
        return app_at(project, home=str(home), remember=True)

    def test_nothing_configured_passes(self, homeless: App) -> None:
        assert fire(homeless, shell("ls", session_id="s")).verdict == "pass"

    def test_something_configured_is_refused(self, homeless: App, project: Path) -> None:
        user = Path(homeless.loader.user_file)
        user.parent.mkdir(parents=True)
        user.write_text(DENY, encoding="utf-8")
        with pytest.raises(HooklineError, match="cannot keep what it has to remember in"):
            fire(homeless, shell("ls", session_id="s"))

    def test_without_a_session_there_is_nothing_to_remember(
        self, homeless: App, project: Path
    ) -> None:
        user = Path(homeless.loader.user_file)
        user.parent.mkdir(parents=True)
        user.write_text(DENY, encoding="utf-8")
        assert fire(homeless, shell("ls")).verdict == "deny"


class TestPeoplesCommands:
    def test_the_environment_is_honoured(self, project: Path, tmp_path: Path) -> None:
        (project / "other.yaml").write_text(DENY, encoding="utf-8")
        env = {
            "HOOKLINE_HOME": str(tmp_path / "mine"),
            "HOOKLINE_CONFIG": str(project / "other.yaml"),
            "HOME": str(tmp_path),
        }
        app = open_app(env, str(project))
        assert app.home == str(tmp_path / "mine")
        assert fire(app, shell("ls")).verdict == "deny"
        assert open_loader(env, str(project)).home == app.home

    def test_an_option_beats_the_environment(self, project: Path) -> None:
        (project / "other.yaml").write_text(DENY, encoding="utf-8")
        env = {"HOOKLINE_CONFIG": "nowhere.yaml", "HOME": "/"}
        app = open_app(env, str(project), config="other.yaml")
        assert fire(app, shell("ls")).verdict == "deny"

    def test_a_relative_directory_is_made_absolute(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(project)
        assert open_app(cwd="sub").cwd == str(project / "sub")
        assert open_app().cwd == str(project)

    def test_a_directory_that_is_gone_is_an_error(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = project / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        with pytest.raises(HooklineError, match="the current directory cannot be used"):
            open_app()


def test_closing_ends_the_workers(project: Path) -> None:
    (project / "pid.py").write_text("import os\ndef pid(e): return str(os.getpid())\n", "utf-8")
    trusted(project, "version: 1\nhooks:\n  - {on: session_start, python: 'pid.py:pid'}\n")
    app = app_at(project)

    async def session() -> int:
        outcome = await judge(SessionStart(), app)
        await app.aclose()
        return int(outcome.answer.context[0])

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(session()), 0)
