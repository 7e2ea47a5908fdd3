"""A platform's hook files run where that platform looks for them, when a person asks for it."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.app import App
from hookline.config.hosting import Hosted
from hookline.model.answers import Verdict
from hookline.model.errors import ConfigError
from hookline.model.events.base import Agent
from hookline.model.hook import Layer
from hookline.model.native import Where
from hookline.pipeline.judge import judge
from hookline.testing import shell


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    (directory / ".git").mkdir(parents=True)
    return directory


def app_at(project: Path, *hosts: str) -> App:
    base = project.parent
    app = App(
        env={"PATH": os.environ["PATH"], "HOME": str(base / "person")},
        cwd=str(project),
        home=str(base / "state"),
        managed=str(base / "none/managed.yaml"),
    )
    app.host(*hosts)
    return app


def claude(path: Path, *commands: str, matcher: str = "Bash") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handlers = [{"type": "command", "command": command} for command in commands]
    hooks = {"PreToolUse": [{"matcher": matcher, "hooks": handlers}]}
    path.write_text(json.dumps({"hooks": hooks}))


def fire(app: App, **fields: Any) -> Any:
    return asyncio.run(judge(replace(shell("ls"), cwd=app.cwd, **fields), app))


def allow() -> str:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
    return f"echo '{json.dumps({'hookSpecificOutput': own})}'"


def test_the_persons_and_the_projects_files_both_count(project: Path) -> None:
    claude(project / ".claude/settings.json", "echo project >&2; exit 2")
    claude(project.parent / "person/.claude/settings.json", "echo person >&2; exit 2")

    outcome = fire(app_at(project, "claude-code"))

    assert "project" in outcome.reason
    assert "person" in outcome.reason
    assert {run.hook.source.layer for run in outcome.runs} == {Layer.USER, Layer.PROJECT}


def test_a_hosted_file_needs_no_trust_and_no_config(project: Path) -> None:
    claude(project / ".claude/settings.json", '"$CLAUDE_PROJECT_DIR"/no.sh')
    script = project / "no.sh"
    script.write_text("#!/bin/sh\necho no >&2\nexit 2\n")
    script.chmod(0o755)

    assert fire(app_at(project, "claude-code")).verdict is Verdict.DENY


def test_an_allow_counts_from_the_persons_file_and_not_from_the_projects(project: Path) -> None:
    claude(project / ".claude/settings.json", allow())
    assert fire(app_at(project, "claude-code")).verdict is Verdict.PASS

    claude(project.parent / "person/.claude/settings.json", f"{allow()}; true")
    assert fire(app_at(project, "claude-code")).verdict is Verdict.ALLOW


def test_a_file_that_changes_counts_at_the_next_event(project: Path) -> None:
    app = app_at(project, "claude-code")
    assert fire(app).verdict is Verdict.PASS

    claude(project / ".claude/settings.json", "echo no >&2; exit 2")

    assert fire(app).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("host", "runs"), [("claude-code", False), ("cursor", False), ("vscode", True)]
)
def test_a_file_that_several_clients_read_is_run_by_the_rules_of_the_one_that_is_hosted(
    project: Path, host: str, runs: bool
) -> None:
    """VS Code ignores matchers, so there a hook for writing files runs for a command as well."""
    claude(project / ".claude/settings.json", "echo no >&2; exit 2", matcher="Write")

    assert bool(fire(app_at(project, host)).runs) is runs


def test_hooks_of_another_platform_keep_the_order_of_that_platform(project: Path) -> None:
    """VS Code's workspace comes first, although a person's own file outranks it elsewhere."""
    claude(project / ".claude/settings.json", "echo first >> order")
    claude(project.parent / "person/.claude/settings.json", "echo second >> order")

    fire(app_at(project, "vscode"))

    assert (project / "order").read_text() == "first\nsecond\n"


def test_a_file_that_cannot_be_read_is_an_error_and_not_nothing(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text("{")

    with pytest.raises(ConfigError, match=r"settings\.json"):
        fire(app_at(project, "claude-code"))


def test_an_unknown_platform_is_said(project: Path) -> None:
    with pytest.raises(ConfigError, match="claud-code"):
        app_at(project, "claud-code")


@pytest.mark.parametrize("host", ["copilot", "copilot-cloud", "vscode"])
def test_hooks_for_another_system_are_told_of_once_and_never_again(
    project: Path, host: str
) -> None:
    items = [{"type": "command", "powershell": f"./{name}.ps1"} for name in "abc"]
    path = project / ".github/hooks/windows.json"
    path.parent.mkdir(parents=True)
    hooks = {"preToolUse": items, "postToolUse": items}
    path.write_text(json.dumps({"version": 1, "hooks": hooks}, indent=1))
    app = app_at(project, host)

    first, second = (fire(app, session_id="s1") for _ in range(2))

    (told,) = first.answer.notice
    assert "`powershell`" in told
    assert "windows.json:5, 9, 13, 19, 23, 27:" in told
    assert second.answer.notice == ()
    assert [run.failed is None for run in second.runs] == [False] * 3


# ── VS Code's settings ──────────────────────────────────────────────────────────────────────


def person(project: Path) -> Path:
    return project.parent / "person"


def vscode(path: Path, word: str, event: str = "PreToolUse") -> None:
    """A file with a hook that denies with a word."""
    path.parent.mkdir(parents=True, exist_ok=True)
    entry = {"type": "command", "command": f"echo {word} >&2; exit 2"}
    path.write_text(json.dumps({"hooks": {event: [entry]}}))


def set_in(project: Path, text: str, *, own: bool = False) -> None:
    """Settings as people write them, comments and all; with ``own`` the person's."""
    place = person(project) / ".config/Code/User" if own else project / ".vscode"
    place.mkdir(parents=True, exist_ok=True)
    (place / "settings.json").write_text(f"{{\n  // what hooks there are\n  {text},\n}}\n")


def words_of(project: Path, **fields: Any) -> set[str]:
    """What hooks in VS Code's places say of a command."""
    outcome = fire(app_at(project, "vscode"), **fields)
    return {run.answer.reason for run in outcome.runs if run.answer}


@pytest.mark.parametrize("own", [False, True])
def test_vscode_looks_where_its_settings_say(project: Path, own: bool) -> None:
    vscode(project / "ci/agent hooks/a.json", "folder")
    vscode(project / "ci/agent hooks/b.json", "second")
    vscode(project / "one.json", "file")
    vscode(person(project) / "shared/c.json", "person")
    vscode(project / ".github/hooks/d.json", "usual")
    places = {"ci/agent hooks/": True, "./one.json": True, "~/shared": True, "absent": True}
    assert words_of(project) == {"usual"}

    set_in(project, f'"chat.hookFilesLocations": {json.dumps(places)}', own=own)

    assert words_of(project) == {"folder", "second", "file", "person", "usual"}


def test_vscode_looks_nowhere_where_its_settings_say_no(project: Path) -> None:
    vscode(project / ".github/hooks/a.json", "workspace")
    claude(project / ".claude/settings.json", "echo claude >&2; exit 2")
    vscode(person(project) / ".copilot/hooks/b.json", "person")
    set_in(project, '"chat.hookFilesLocations": {"./.github/hooks/": false}')
    assert words_of(project) == {"claude", "person"}

    own = {".claude/settings.json": False, "~/.copilot/hooks": False, ".github/hooks": True}
    set_in(project, f'"chat.hookFilesLocations": {json.dumps(own)}', own=True)
    # The workspace said something of the first of them, and it counts there.
    assert words_of(project) == set()


def test_places_are_switched_by_booleans_and_by_nothing_else(project: Path) -> None:
    vscode(project / ".github/hooks/a.json", "usual")
    vscode(project / "ci/b.json", "ci")
    for value, found in (("null", {"usual"}), ("1", {"usual"}), ('"true"', {"usual", "ci"})):
        set_in(project, f'"chat.hookFilesLocations": {{".github/hooks": {value}, "ci": {value}}}')
        assert words_of(project) == found


@pytest.mark.parametrize("text", ["", " \n", "// nothing\n", "/* { */ // }", "\ufeff// x"])
def test_settings_without_a_word_say_nothing(project: Path, text: str) -> None:
    vscode(project / ".github/hooks/a.json", "usual")
    set_in(project, '"a": 1')
    (project / ".vscode/settings.json").write_text(text, encoding="utf-8")
    assert words_of(project) == {"usual"}


def test_an_allow_from_a_place_that_the_workspace_names_does_not_count(project: Path) -> None:
    path = person(project) / "shared/allow.json"
    path.parent.mkdir(parents=True)
    hooks = {"PreToolUse": [{"type": "command", "command": allow()}]}
    path.write_text(json.dumps({"hooks": hooks}))
    places = '"chat.hookFilesLocations": {"~/shared": true}'

    set_in(project, places)
    assert fire(app_at(project, "vscode")).verdict is Verdict.PASS
    (project / ".vscode/settings.json").unlink()
    set_in(project, places, own=True)
    assert fire(app_at(project, "vscode")).verdict is Verdict.ALLOW


def test_settings_that_change_count_at_the_next_event(project: Path) -> None:
    vscode(project / "ci/a.json", "ci")
    app = app_at(project, "vscode")
    assert fire(app).verdict is Verdict.PASS

    set_in(project, '"chat.hookFilesLocations": {"ci": true}')
    assert fire(app).verdict is Verdict.DENY
    set_in(project, '"chat.useHooks": false')
    assert not fire(app).runs


@pytest.mark.parametrize(("value", "runs"), [("true", True), ("false", False)])
def test_hooks_of_agents_follow_their_own_switch(project: Path, value: str, runs: bool) -> None:
    agent = project / ".github/agents/review.agent.md"
    agent.parent.mkdir(parents=True)
    hook = "  PreToolUse:\n    - {type: command, command: 'echo agent >&2; exit 2'}\n"
    agent.write_text(f"---\nname: review\nhooks:\n{hook}---\n")
    set_in(project, f'"chat.useCustomAgentHooks": {value}')

    found = words_of(project, agent=Agent(id="1", name="review"))

    assert found == ({"agent"} if runs else set())


def test_a_folder_of_a_repository_sees_the_repositorys_hooks_if_its_settings_say_so(
    project: Path,
) -> None:
    inner = project / "packages/web"
    vscode(project / ".github/hooks/a.json", "root")
    vscode(project / "packages/.github/hooks/b.json", "between")
    vscode(project.parent / ".github/hooks/c.json", "outside")
    vscode(inner / ".github/hooks/d.json", "here")
    app = app_at(inner, "vscode")

    def found() -> set[str]:
        where = Where(project=str(inner), home=str(person(project)))
        hosted = Hosted(app.kit, ["vscode"], where)
        files = hosted.joined(app.loader.load("/", "/"), str(inner)).hooks
        return {hook.handler.values["run"].split()[1] for hook in files}

    assert found() == {"here"}
    set_in(inner, '"chat.useCustomizationsInParentRepositories": true')
    assert found() == {"here", "between", "root"}


def test_settings_that_cannot_be_read_are_an_error_and_not_nothing(project: Path) -> None:
    set_in(project, '"chat.hookFilesLocations": {')
    with pytest.raises(ConfigError, match=r"\.vscode/settings\.json"):
        fire(app_at(project, "vscode"))


@pytest.mark.parametrize(
    ("manifest", "hooks"),
    [
        (".claude-plugin/plugin.json", "hooks/hooks.json"),
        (".plugin/plugin.json", "hooks/hooks.json"),
        ("plugin.json", "com.github.copilot/hooks/hooks.json"),
        ("plugin.json", "hooks.json"),
    ],
)
@pytest.mark.parametrize("root", ["a tool/it's", "tool"])
@pytest.mark.parametrize("token", ["${CLAUDE_PLUGIN_ROOT}", "${PLUGIN_ROOT}"])
def test_vscode_runs_the_hooks_of_plugins_of_each_format(
    project: Path, manifest: str, hooks: str, root: str, token: str
) -> None:
    plugin = person(project) / "plugins" / root
    for name in (manifest, hooks):
        (plugin / name).parent.mkdir(parents=True, exist_ok=True)
    (plugin / manifest).write_text("{}")
    guard = plugin / "guard.sh"
    guard.write_text('#!/bin/sh\necho "$PLUGIN_ROOT" >&2\nexit 2\n')
    guard.chmod(0o755)
    entry = {"type": "command", "command": f'"{token}/guard.sh"'}
    (plugin / hooks).write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    assert words_of(project) == set()

    set_in(project, f'"chat.pluginLocations": {{"~/plugins/{root}": true}}', own=True)
    assert words_of(project) == {str(plugin)}
    set_in(project, '"chat.plugins.enabled": false')
    assert words_of(project) == set()


def test_vscode_runs_the_hooks_of_plugins_that_copilot_cli_installed(project: Path) -> None:
    app = app_at(project, "vscode")
    assert not fire(app).runs
    plugin = person(project) / ".copilot/installed-plugins/market/tool"
    vscode(plugin / "hooks.json", "plugin")

    assert fire(app).reason.endswith("plugin")
    set_in(project, f'"chat.pluginLocations": {{"{plugin}": false}}')
    assert not fire(app).runs


# ── Claude Code's plugins ───────────────────────────────────────────────────────────────────


class Plugin:
    """A plugin as the client installs one: a copy in its cache, and a row in its registry."""

    def __init__(self, project: Path, **row: Any) -> None:
        self.project = project
        self.home = person(project) / ".claude"
        self.root = self.home / "plugins/cache/market/tool/1.0.0"
        (self.root / "hooks").mkdir(parents=True)
        guard = self.root / "guard.sh"
        guard.write_text('#!/bin/sh\necho "$CLAUDE_PLUGIN_ROOT" >&2\nexit 2\n')
        guard.chmod(0o755)
        claude(self.root / "hooks/hooks.json", "${CLAUDE_PLUGIN_ROOT}/guard.sh")
        rows = {"tool@market": [{"scope": "user", "installPath": str(self.root), **row}]}
        registry = {"version": 2, "plugins": rows}
        (self.home / "plugins/installed_plugins.json").write_text(json.dumps(registry))

    def enable(self, value: bool, *, own: bool = True) -> None:
        place = self.home if own else self.project / ".claude"
        place.mkdir(parents=True, exist_ok=True)
        (place / "settings.json").write_text(json.dumps({"enabledPlugins": {"tool@market": value}}))

    def layers(self) -> set[Layer]:
        outcome = fire(app_at(self.project, "claude-code"))
        assert all(
            str(self.root) in (run.answer.reason if run.answer else "") for run in outcome.runs
        )
        return {run.hook.source.layer for run in outcome.runs}


def test_hooks_of_an_enabled_plugin_run_with_its_directory(project: Path) -> None:
    plugin = Plugin(project)
    assert plugin.layers() == set()
    plugin.enable(True)
    assert plugin.layers() == {Layer.USER}
    plugin.enable(False)
    assert plugin.layers() == set()


def test_a_project_enables_a_plugin_for_itself_and_switches_one_off(project: Path) -> None:
    plugin = Plugin(project)
    plugin.enable(True, own=False)
    assert plugin.layers() == {Layer.PROJECT}
    plugin.enable(True)
    plugin.enable(False, own=False)
    assert plugin.layers() == set()


@pytest.mark.parametrize(("place", "runs"), [("project", True), ("elsewhere", False)])
def test_a_plugin_that_was_installed_for_one_project_runs_in_no_other(
    project: Path, place: str, runs: bool
) -> None:
    plugin = Plugin(project, scope="project", projectPath=str(project.parent / place))
    plugin.enable(True, own=False)
    assert plugin.layers() == ({Layer.PROJECT} if runs else set())


def test_a_plugins_hooks_in_its_manifest_run_too(project: Path) -> None:
    plugin = Plugin(project)
    plugin.enable(True)
    (plugin.root / "hooks/hooks.json").rename(plugin.root / "kept.json")
    claude(plugin.root / ".claude-plugin/plugin.json", "${CLAUDE_PLUGIN_ROOT}/guard.sh")
    assert plugin.layers() == {Layer.USER}


@pytest.mark.parametrize("hooks", ["./config/more.json", ["./config/more.json", "../away.json"]])
def test_files_that_a_plugins_manifest_names_are_read_inside_the_plugin(
    project: Path, hooks: object
) -> None:
    plugin = Plugin(project)
    plugin.enable(True)
    (plugin.root / "hooks/hooks.json").unlink()
    claude(plugin.root / "config/more.json", "${CLAUDE_PLUGIN_ROOT}/guard.sh")
    claude(plugin.root.parent / "away.json", "echo elsewhere >&2; exit 2")
    manifest = plugin.root / ".claude-plugin/plugin.json"
    manifest.parent.mkdir()
    manifest.write_text(json.dumps({"name": "tool", "hooks": hooks}))
    assert plugin.layers() == {Layer.USER}
