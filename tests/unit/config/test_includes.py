"""Native files under ``include:``: found, read together, listed, trusted and never lost."""

import asyncio
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.app import App
from hookline.config.types import Config
from hookline.model.answers import Verdict
from hookline.model.errors import ConfigError
from hookline.model.events import Stop, UserPromptSubmit
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from hookline.testing import shell

NO = "#!/bin/sh\necho 'The script says no.' >&2\nexit 2\n"
YES = "#!/bin/sh\nexit 0\n"


class Project:
    """A project with a config that includes what a test puts there."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "project"
        (self.root / ".git").mkdir(parents=True)

    def config(self, text: str) -> None:
        self.write("hookline.yaml", f"version: 1\n{text}\n")

    def write(self, name: str, content: str | Mapping[str, Any], mode: int = 0o644) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        path.chmod(mode)
        return path

    def claude(self, command: str, name: str = ".claude/settings.json", **more: Any) -> None:
        hook = {"type": "command", "command": command, **more}
        self.write(name, {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [hook]}]}})

    def app(self, *, edited: bool = True, trust: str | None = None) -> App:
        return App(
            env={"PATH": os.environ["PATH"], "HOME": str(self.base / "person")},
            cwd=str(self.root),
            home=str(self.base / "home"),
            managed=str(self.base / "no/managed.yaml"),
            edited=edited,
            trust=trust,
        )

    def trust(self) -> None:
        self.app(edited=False).loader.trust(str(self.root / "hookline.yaml"))

    def fire(self, *, edited: bool = True, cwd: str = "", **fields: Any) -> Outcome:
        event = replace(shell("ls"), cwd=str(self.root / cwd), **fields)
        return asyncio.run(judge(event, self.app(edited=edited)))

    def load(self, *, edited: bool = True) -> Config:
        return self.app(edited=edited).loader.load(str(self.root), str(self.root))

    def problems(self) -> list[str]:
        with pytest.raises(ConfigError) as caught:
            self.load()
        return [
            f"{each.line}: {each.message} {each.hint}".strip() for each in caught.value.problems
        ]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


class TestFinding:
    def test_a_file_is_known_by_its_name(self, project: Project) -> None:
        project.config("include: [.claude/settings.json]")
        project.claude("echo no >&2; exit 2")

        outcome = project.fire()

        assert outcome.verdict is Verdict.DENY
        assert outcome.reason.startswith("no")
        assert str(outcome.runs[0].hook.source).endswith(".claude/settings.json:1")

    def test_a_directory_holds_the_files_that_its_platform_reads(self, project: Project) -> None:
        project.config("include: [.claude]")
        project.claude("true")
        project.claude("false", name=".claude/settings.local.json")
        project.claude("true # never read", name=".claude/other.json")

        files = [hook.source.file for hook in project.load().hooks]

        assert sorted(map(os.path.basename, files)) == ["settings.json", "settings.local.json"]

    def test_what_no_name_tells_is_said(self, project: Project) -> None:
        project.config("include: [{file: hooks/any.json, speaks: claude-code}]")
        project.claude("echo no >&2; exit 2", name="hooks/any.json")

        assert project.fire().verdict is Verdict.DENY

    def test_a_directory_may_be_called_a_platforms(self, project: Project) -> None:
        project.config("include: [{file: hooks, speaks: codex}]")
        entry = {"type": "command", "command": "echo no >&2; exit 2"}
        project.write("hooks/a.json", {"hooks": {"PreToolUse": [{"hooks": [entry]}]}})
        project.write("hooks/read.me", "not a hook")

        assert project.fire().verdict is Verdict.DENY

    def test_kodelets_hooks_run_under_the_rules_of_the_adr_where_a_config_says_so(
        self, project: Project
    ) -> None:
        asked = '#!/bin/sh\n[ "$1" = hook ] && echo before_tool_call && exit\n'
        project.write(".kodelet/hooks/1", asked + """echo '{"blocked": true, "reason": "no"}'""")
        project.write(".kodelet/hooks/2", f"{asked}exit 0")  # has nothing to say
        for name in "12":
            (project.root / ".kodelet/hooks" / name).chmod(0o755)
        verdicts = {}
        for mode in ("current", "adr"):
            project.config(f"include: [{{file: .kodelet/hooks, mode: {mode}}}]")
            verdicts[mode] = project.fire().verdict
        project.config("include: [.kodelet/hooks]")
        assert (verdicts, project.fire().verdict) == (
            {"current": Verdict.DENY, "adr": Verdict.PASS},
            Verdict.DENY,
        )

    def test_a_config_of_ours_in_a_directory_counts_as_well(self, project: Project) -> None:
        project.config("include: [more]")
        rule = "hooks: [{on: pre_tool_use, deny: no}]"
        project.write("more/a.yaml", f"version: 1\n{rule}\n")

        assert project.fire().verdict is Verdict.DENY

    @pytest.mark.parametrize(
        ("include", "says"),
        [
            ("[nowhere.json]", "No such file or directory"),
            ("[notes.txt]", "it is no hookline file, and no other platform's by its name"),
            ("[empty]", "there are no hooks in this directory"),
            ("[{file: notes.txt, speaks: nobody}]", "no platform with hook files is called"),
            ("[{file: notes.txt}]", "`speaks`"),
            ("[{file: .kodelet/hooks, mode: old}]", "`mode` is current or adr, not `old`"),
            ("[{file: .claude/settings.json, mode: adr}]", "means nothing for files of Claude"),
            ("[{file: more.yaml, mode: adr}]", "`mode` means nothing for a hookline file"),
        ],
    )
    def test_what_cannot_be_included_is_said(
        self, project: Project, include: str, says: str
    ) -> None:
        project.config(f"include: {include}")
        project.write("notes.txt", "notes")
        project.write("more.yaml", "version: 1")
        project.write(".kodelet/hooks/one", "#!/bin/sh")
        project.claude("true")
        (project.root / "empty").mkdir()

        (problem,) = project.problems()

        assert says in problem

    def test_a_native_file_that_cannot_be_read_is_a_mistake_of_the_config(
        self, project: Project
    ) -> None:
        project.config("include: [.claude/settings.json]")
        project.write(".claude/settings.json", "{")

        assert project.problems()

    def test_an_entry_that_nothing_here_can_run_is_listed_and_fails_aloud(
        self, project: Project
    ) -> None:
        project.config("include: [.claude/settings.json]")
        call = {"type": "mcp_tool", "server": "s", "tool": "t"}
        project.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [call]}]}})

        (run,) = project.fire().runs

        assert run.hook.handler.kind == "native"
        assert run.failed
        assert "mcp_tool" in run.failed

    def test_what_is_wrong_inside_an_entry_is_a_note_with_its_line(self, project: Project) -> None:
        project.config("include: [{file: agents/dev.yaml, speaks: docker-agent}]")
        hook = "{type: model, model: openai/x, prompt: '{{ shout .Cwd }}'}"
        project.write("agents/dev.yaml", f"agents:\n  root: {{}}\nhooks:\n  stop:\n    - {hook}\n")

        notes = [note.message for note in project.load().notes if note.kind == "broken"]

        assert len(notes) == 1
        assert "agents/dev.yaml:5: " in notes[0]
        assert "shout" in notes[0]

    def test_a_flaw_is_a_note_and_takes_nothing_else_out_of_force(self, project: Project) -> None:
        project.config("include: [.claude/settings.json]")
        good = {"type": "command", "command": "echo no >&2; exit 2"}
        hooks = {"PreToolUse": [{"hooks": [good]}], "NoSuchEvent": [{"hooks": [good]}]}
        project.write(".claude/settings.json", {"hooks": hooks})

        config = project.load()

        assert any("NoSuchEvent" in note.message for note in config.notes)
        assert project.fire().verdict is Verdict.DENY

    def test_an_allow_of_an_included_file_counts_only_where_a_person_said_so(
        self, project: Project
    ) -> None:
        project.config("include: [.claude/settings.json]")
        said = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
        project.claude(f"echo '{json.dumps({'hookSpecificOutput': said})}'")

        outcome = project.fire()

        assert outcome.verdict is Verdict.PASS
        assert outcome.substitutions[0].was == "allow"


class TestWhoseEvents:
    def test_a_file_is_not_run_for_a_client_that_runs_it_itself(self, project: Project) -> None:
        project.config("include: [.claude/settings.json]")
        project.claude("echo no >&2; exit 2")

        assert not project.fire(dialect="claude-code", native_event="PreToolUse").runs
        assert project.fire(dialect="codex", native_event="PreToolUse").verdict is Verdict.DENY

    def test_an_entry_that_calls_hookline_is_never_run_by_hookline(self, project: Project) -> None:
        project.config("include: [.claude/settings.json]")
        project.claude("/opt/bin/hookline hook claude-code PreToolUse --timeout 60")

        assert project.load().hooks == ()


class TestTrust:
    @pytest.fixture
    def trusted(self, project: Project) -> Project:
        project.config("include: [.claude]")
        project.claude('"$CLAUDE_PROJECT_DIR"/.claude/no.sh')
        project.write(".claude/no.sh", NO, 0o755)
        project.trust()
        return project

    def test_an_included_file_is_trusted_with_its_config(self, trusted: Project) -> None:
        assert trusted.fire(edited=False).reason.startswith("The script says no.")

    def test_an_edited_file_stays_in_force_as_it_was_trusted(self, trusted: Project) -> None:
        trusted.claude("true")

        outcome = trusted.fire(edited=False)

        assert outcome.verdict is Verdict.DENY
        assert any("changed since you trusted it" in text for text in outcome.answer.notice)

    def test_an_edited_script_runs_as_it_was_trusted(self, trusted: Project) -> None:
        trusted.write(".claude/no.sh", YES, 0o755)

        assert trusted.fire(edited=False).verdict is Verdict.DENY

    def test_a_removed_directory_stays_in_force(self, trusted: Project) -> None:
        (trusted.root / ".claude").rename(trusted.root / "gone")

        assert trusted.fire(edited=False).verdict is Verdict.DENY

    def test_a_file_that_came_later_is_not_in_force_and_that_is_said(
        self, trusted: Project
    ) -> None:
        trusted.claude("touch came-later", name=".claude/settings.local.json")

        outcome = trusted.fire(edited=False)

        assert not (trusted.root / "came-later").exists()
        assert any("settings.local.json` was not there" in text for text in outcome.answer.notice)

    def test_a_script_in_the_directory_that_its_entry_names_is_pinned(
        self, project: Project
    ) -> None:
        entry = {"type": "command", "bash": "./no.sh", "cwd": "scripts"}
        project.config("include: [.github/hooks]")
        project.write(".github/hooks/a.json", {"version": 1, "hooks": {"preToolUse": [entry]}})
        project.write("scripts/no.sh", NO, 0o755)
        project.trust()

        project.write("scripts/no.sh", YES, 0o755)

        assert project.fire(edited=False).verdict is Verdict.DENY

    def test_a_name_that_leads_elsewhere_from_another_directory_does_not_run(
        self, project: Project
    ) -> None:
        project.config("include: [.claude]")
        project.claude(".claude/no.sh", onFailure="block")
        project.write(".claude/no.sh", NO, 0o755)
        project.trust()

        project.write("sub/.claude/no.sh", YES, 0o755)
        outcome = project.fire(edited=False, cwd="sub")

        assert outcome.verdict is Verdict.DENY
        assert outcome.runs[0].failed


class TestFreshness:
    def test_a_file_that_appears_in_an_included_directory_counts_at_the_next_event(
        self, project: Project
    ) -> None:
        project.config("include: [.claude]")
        project.claude("true")
        app = project.app()
        event = replace(shell("ls"), cwd=str(project.root))
        assert asyncio.run(judge(event, app)).verdict is Verdict.PASS

        project.claude("echo no >&2; exit 2", name=".claude/settings.local.json")

        assert asyncio.run(judge(event, app)).verdict is Verdict.DENY


def test_a_project_cannot_silence_the_users_hooks_by_a_limit_of_follow_ups(
    project: Project,
) -> None:
    project.config("max_follow_ups: 0")
    own = project.base / "person/.config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("version: 1\nmax_follow_ups: 3\n")

    config = project.load()

    assert config.max_follow_ups == 3
    assert any("`max_follow_ups`" in note.message for note in config.notes)


def test_a_projects_limit_of_follow_ups_holds_for_its_own_hooks(project: Project) -> None:
    more = "hooks: [{on: stop, run: 'echo go on >&2; exit 2'}]"
    project.config(f"max_follow_ups: 1\n{more}")
    assert kept_going(project.app(), 3) == [True, False, False]

    own = project.base / "person/.config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"version: 1\nmax_follow_ups: 2\n{more}\n")
    assert kept_going(project.app(), 3) == [True, True, False]


def kept_going(app: App, times: int) -> list[bool]:
    stops = [Stop(session_id="s1", cwd=app.cwd, stop_hook_active=True) for _ in range(times)]
    return [bool(asyncio.run(judge(stop, app)).answer.follow_up) for stop in stops]


def test_only_the_person_says_how_much_context_an_event_gets(project: Project) -> None:
    project.config("max_context: 200\nhooks: [{on: stop, run: 'true'}]")
    assert project.load().max_context is None
    own = project.base / "person/.config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("version: 1\nmax_context: 300\n")
    project.config("hooks: [{on: user_prompt_submit, run: \"printf '%0900d' 1\"}]")

    event = UserPromptSubmit(prompt="x", cwd=str(project.root))
    outcome = asyncio.run(judge(event, project.app()))

    assert sum(map(len, outcome.answer.context)) < 300
    assert "300 characters (max_context); 660 were cut" in outcome.substitutions[0].why
