"""install, uninstall and status, as a person uses them; and what an agent's client then runs."""

import json
import os
import shutil
import stat
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import registry
from hookline.cli import install as install_module
from hookline.client import PROGRAM
from hookline.model.installing import Scope
from hookline.model.outcome import Reply
from support.cli import Done, Machine
from support.clients.effects import Does, Effect
from support.fake_codex import put_codex

DENY = """\
version: 1
hooks:
  - name: nothing leaves
    on: pre_tool_use
    deny: Not on this machine.
"""


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


@pytest.fixture
def claude(machine: Machine) -> Path:
    """Where Claude Code's settings of this person are, who has one hook for all projects."""
    machine.put_client("claude")
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(DENY)
    return machine.person / ".claude/settings.json"


def uninstall(machine: Machine, *words: str) -> Done:
    return machine.call("uninstall", *words, says="yes")


# ── install ──


def test_install_is_for_the_user_and_says_what_it_covers(machine: Machine, claude: Path) -> None:
    done = machine.call("install", "claude-code")
    assert done.code == 0, done.err
    assert f"Claude Code: hookline is in {claude} now" in done.out
    assert "covers 32 events; --json names them" in done.out
    assert "not active" not in done.out
    assert done.out.endswith("Claude Code: 1 hook is active here\n  the hook fires\n")
    entries = json.loads(claude.read_text())["hooks"]["PreToolUse"][0]["hooks"]
    assert f"--home {machine.state} --user-config {machine.user_dir}" in entries[0]["command"]
    assert f"{PROGRAM} {sys.executable} hook claude-code" in entries[0]["command"]


def test_install_twice_changes_nothing(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    before = claude.read_bytes(), claude.stat().st_mtime_ns
    done = machine.call("install", "claude-code")
    assert "nothing to change" in done.out
    assert (claude.read_bytes(), claude.stat().st_mtime_ns) == before


def test_a_dry_run_shows_the_change_and_makes_none(machine: Machine, claude: Path) -> None:
    claude.parent.mkdir()
    claude.write_text('{\n  "model": "x"\n}\n')
    done = machine.call("install", "claude-code", "--dry-run")
    assert '+  "model": "x",' in done.out
    assert claude.read_text() == '{\n  "model": "x"\n}\n'
    assert not machine.state.exists()


def test_an_existing_file_is_merged_into_and_restored(machine: Machine, claude: Path) -> None:
    claude.parent.mkdir()
    before = (
        '{\n\t// mine\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}\n}'
    )
    claude.write_text(before)
    claude.chmod(0o640)
    machine.call("install", "claude-code")
    assert "// mine" in claude.read_text()
    assert stat.S_IMODE(claude.stat().st_mode) == 0o640
    done = uninstall(machine, "claude-code")
    assert "byte for byte" in done.out
    assert claude.read_text() == before


def test_the_limit_can_be_chosen(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code", "--timeout", "25")
    assert '"timeout": 25' in claude.read_text()
    assert machine.call("install", "claude-code", "--timeout", "1").code == 2


def test_install_as_data(machine: Machine, claude: Path) -> None:
    (data,) = machine.call("install", "claude-code", "--json").json
    assert data["dialect"] == "claude-code"
    assert data["active"] is True
    (file,) = data["files"]
    assert (file["file"], file["scope"], file["written"]) == (str(claude), "user", True)
    assert "pre_tool_use" not in data["undeliverable"]
    assert "WorktreeCreate" in data["left_out"]


def test_several_platforms_at_once(machine: Machine) -> None:
    machine.put_client("claude", "codex", "gemini")
    done = machine.call("install", "claude-code", "codex", "gemini")
    assert done.code == 0
    for path in (".claude/settings.json", ".codex/hooks.json", ".gemini/settings.json"):
        assert "hookline" in (machine.person / path).read_text()
    assert "next: start gemini in" in done.out
    assert "next: inside Codex, /hooks shows them" in done.out


def test_all_of_them_at_once_come_and_go(machine: Machine) -> None:
    names = [
        name for name in registry.installer_names() if not registry.installer(name).takes_files
    ]
    everywhere = [name for name in names if Scope.USER in registry.installer(name).scopes]
    before = sorted(machine.person.rglob("*"))
    done = machine.call("install", *everywhere, "--scope", "user")
    assert done.code == 0, done.err
    for order in (everywhere, everywhere[::-1]):
        machine.call("install", *everywhere, "--scope", "user")
        assert uninstall(machine, *order).code == 0
        assert sorted(machine.person.rglob("*")) == before
    shared = machine.call("install", *names, "--shared")
    if all(Scope.PROJECT in registry.installer(name).scopes for name in names):
        assert shared.code == 0, shared.err
        assert uninstall(machine, *names).code == 0
        assert sorted(path.name for path in machine.project.iterdir()) == [".git"]


def test_a_platform_that_is_not_known_is_named(machine: Machine) -> None:
    done = machine.call("install", "claude-cod")
    assert done.code == 1
    assert "did you mean `claude-code`?" in done.err


def test_a_file_that_is_broken_is_left(machine: Machine, claude: Path) -> None:
    claude.parent.mkdir()
    claude.write_text('{"hooks": 3}')
    done = machine.call("install", "claude-code")
    assert done.code == 1
    assert f"{claude}" in done.err
    assert "hooks must be an object" in done.err
    assert claude.read_text() == '{"hooks": 3}'
    assert "installed in no agent" in machine.call("status").out


def test_one_broken_platform_changes_no_other(machine: Machine, claude: Path) -> None:
    gemini = machine.person / ".gemini/settings.json"
    gemini.parent.mkdir()
    gemini.write_text("{")
    assert machine.call("install", "claude-code", "gemini").code == 1
    assert not claude.exists()


def test_the_environment_is_only_believed_when_asked_for(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    assert "--trust-env" not in claude.read_text()
    done = machine.call("install", "claude-code", "--trust-env", says="yes")
    assert done.code == 0, done.err
    text = claude.read_text()
    assert "--trust-env" in text
    assert "--home" not in text
    assert "--user-config" not in text


def test_entries_in_force_are_not_replaced_behind_a_persons_back(
    machine: Machine, claude: Path, tmp_path: Path
) -> None:
    machine.call("install", "claude-code")
    before = claude.read_bytes()
    other = str(tmp_path / "elsewhere")
    done = machine.call("install", "claude-code", HOOKLINE_HOME=other, CLAUDECODE="1")
    assert done.code == 1
    assert "only a person can do this" in done.err
    assert claude.read_bytes() == before


def test_what_would_be_replaced_is_shown_even_where_data_is_asked_for(
    machine: Machine, claude: Path
) -> None:
    machine.call("install", "claude-code")
    done = machine.call("install", "claude-code", "--timeout", "30", "--json", says="yes")
    assert done.json[0]["files"][0]["written"] is True
    assert f"in {claude} is now: " in done.err


def test_a_scope_that_a_platform_does_not_have_is_named(machine: Machine) -> None:
    one_scope = [
        name for name in registry.installer_names() if len(registry.installer(name).scopes) == 1
    ]
    for name in one_scope:
        (there,) = registry.installer(name).scopes
        other = next(scope for scope in Scope if scope is not there)
        done = machine.call("install", name, "--scope", other.value)
        assert done.code == 1
        assert f"has no settings of scope {other.value}: only {there.value}" in done.err


def test_several_at_the_same_time_do_not_get_in_each_others_way(
    machine: Machine, claude: Path
) -> None:
    running = [machine.start("install", name) for name in ("claude-code", "codex", "claude-code")]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, (out, err)
    json.loads(claude.read_text())
    uninstall(machine, "claude-code", "codex")
    assert not claude.exists()


def test_a_pipe_in_a_projects_settings_is_not_waited_for(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    (machine.project / ".claude").mkdir()
    os.mkfifo(machine.project / ".claude/settings.json")
    assert machine.call("status").code == 0


def test_a_file_cannot_be_named_where_the_platform_has_its_own_places(machine: Machine) -> None:
    for word in ("install", "uninstall"):
        done = machine.call(word, "claude-code", "--file", "x.json")
        assert done.code == 2
        assert "places of its own" in done.err


def test_windows_is_told_that_it_has_no_sh(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert "Windows" in machine.call("install", "claude-code").err


# ── projects ──


def git(machine: Machine, *words: str) -> None:
    subprocess.run(["git", "-C", str(machine.project), *words], check=True, capture_output=True)


def test_a_project_gets_the_file_that_does_not_travel(machine: Machine) -> None:
    done = machine.call("install", "claude-code", "--scope", "project")
    assert done.code == 0, done.err
    assert (machine.project / ".claude/settings.local.json").exists()
    assert not (machine.project / ".claude/settings.json").exists()


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_a_file_that_travels_is_refused_until_it_is_ignored(machine: Machine) -> None:
    git(machine, "init", "-q")
    done = machine.call("install", "gemini", "--scope", "project")
    assert done.code == 1
    assert "is not ignored by git" in done.err
    assert "hookline install gemini --shared" in done.err
    (machine.project / ".git/info").mkdir(exist_ok=True)
    (machine.project / ".git/info/exclude").write_text(".gemini/\n")
    assert machine.call("install", "gemini", "--scope", "project").code == 0


@pytest.mark.skipif(not shutil.which("git"), reason="needs git")
def test_a_tracked_file_is_refused_even_if_it_is_personal(machine: Machine) -> None:
    git(machine, "init", "-q")
    file = machine.write(".claude/settings.local.json", "{}")
    git(machine, "add", "-f", str(file))
    done = machine.call("install", "claude-code", "--scope", "project")
    assert "is tracked by git" in done.err
    assert file.read_text() == "{}"


def test_a_shared_file_names_no_path_of_this_machine(machine: Machine) -> None:
    done = machine.call("install", "claude-code", "gemini", "--shared")
    assert done.code == 0, done.err
    for path in (".claude/settings.json", ".gemini/settings.json"):
        text = (machine.project / path).read_text()
        assert str(machine.base) not in text
        assert sys.prefix not in text
        assert "hookline hook " in text


def test_shared_is_about_projects(machine: Machine) -> None:
    assert machine.call("install", "gemini", "--shared", "--scope", "user").code == 2


# ── uninstall ──


def test_uninstall_asks_and_nobody_can_answer_here(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    before = claude.read_bytes()
    done = machine.run("uninstall", "claude-code", "--yes", CLAUDECODE="1")
    assert done.code == 1
    assert "only a person can do this" in done.err
    assert claude.read_bytes() == before


def test_a_file_that_hookline_made_goes_with_it(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    assert "is gone, as it was before hookline" in uninstall(machine, "claude-code").out
    assert not claude.parent.exists()


def test_after_an_edit_only_our_entries_go(machine: Machine) -> None:
    hooks = machine.person / ".codex/hooks.json"
    machine.call("install", "codex")
    hooks.write_text(hooks.read_text().replace("{", '{"description": "mine",', 1))
    done = uninstall(machine, "codex")
    assert "edited since, and kept" in done.out
    assert "trust those behind them again" in done.out
    assert json.loads(hooks.read_text()) == {"description": "mine"}


def test_uninstall_where_nothing_is_does_nothing(machine: Machine) -> None:
    assert "nothing to do" in machine.call("uninstall", "claude-code").out
    assert machine.call("uninstall", "claude-code", "--json").json == []


def test_uninstall_can_be_looked_at_first(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    before = claude.read_bytes()
    done = machine.call("uninstall", "claude-code", "--dry-run")
    assert "would write" in done.out
    (data,) = machine.call("uninstall", "claude-code", "--dry-run", "--json").json
    assert (data["removed"], data["exact"], data["written"]) == (True, True, False)
    assert claude.read_bytes() == before


def test_only_one_scope_can_be_taken_out(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    machine.call("install", "claude-code", "--scope", "project")
    uninstall(machine, "claude-code", "--scope", "project")
    assert claude.exists()
    assert not (machine.project / ".claude").exists()


# ── status ──


def test_status_on_a_new_machine(machine: Machine) -> None:
    done = machine.call("status")
    assert done.code == 1
    assert done.out.startswith("0 hooks are active here: nothing is protected\n")
    assert "installed in no agent" in done.out
    named = machine.call("status", "claude-code")
    assert named.code == 1
    assert "not installed" in named.out


def test_status_of_what_is_in_force(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    done = machine.call("status")
    assert done.code == 0
    assert "Claude Code: 1 hook is active here" in done.out
    assert f"user    {claude}" in done.out
    assert "covers 32 events\n" in done.out
    assert "covers 32 events: SessionStart" in machine.call("status", "--verbose").out
    (data,) = machine.call("status", "claude-code", "--json").json
    assert (data["active"], data["hooks"]) == (True, 1)
    assert "PreToolUse" in data["covered"]
    call = data["installed"][0]["entries"][0]["call"]
    assert call[:4] == [str(PROGRAM), sys.executable, "hook", "claude-code"]


def test_status_tells_of_other_projects(machine: Machine, tmp_path: Path) -> None:
    machine.call("install", "claude-code", "--scope", "project")
    (tmp_path / "other").mkdir()
    done = machine.call("status", "claude-code", cwd=tmp_path / "other")
    assert done.code == 1
    assert f"elsewhere {machine.project / '.claude/settings.local.json'}" in done.out


def test_entries_that_are_gone_are_missed_until_they_are_uninstalled(
    machine: Machine, claude: Path
) -> None:
    machine.call("install", "claude-code")
    claude.write_text("{}")
    assert "is not there any more" in machine.call("status").out
    assert "has no hookline in it any more" in uninstall(machine, "claude-code").out
    assert "is not there any more" not in machine.call("status").out


def test_status_of_what_is_switched_off(machine: Machine, claude: Path) -> None:
    machine.call("install", "claude-code")
    text = claude.read_text().replace("{", '{"disableAllHooks": true,', 1)
    claude.write_text(text.replace('"Stop": [\n      {', '"Stop": [\n      {"matcher": "x",'))
    done = machine.call("status")
    assert done.code == 1
    assert "Claude Code: 0 hooks are active here: nothing is protected" in done.out
    assert 'next: take "disableAllHooks" out of' in done.out
    assert "does not cover 1 events\n" in done.out
    assert "does not cover 1 events: Stop" in machine.call("status", "--verbose").out


# ── Codex's trust ──


def test_codex_is_asked_for_its_hashes_and_then_runs_our_hooks(
    machine: Machine, claude: Path, tmp_path: Path
) -> None:
    config = machine.person / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text('# mine\nmodel = "x"\n')
    put_codex(tmp_path / "clients")
    path = f"{tmp_path / 'clients'}:{machine.env['PATH']}"
    assert machine.call("install", "codex", PATH=path).code == 0
    assert machine.call("status", "codex", PATH=path).code == 1
    done = machine.call("install", "codex", "--trust", PATH=path)
    assert done.code == 0, done.err
    assert "not active" not in done.out
    assert config.read_text().startswith('# mine\nmodel = "x"\n\n[hooks.state.')
    assert machine.call("status", "codex", PATH=path).code == 0
    again = config.read_bytes()
    assert machine.call("install", "codex", "--trust", PATH=path).code == 0
    assert config.read_bytes() == again


def test_what_codex_was_told_to_trust_goes_with_our_entries(
    machine: Machine, tmp_path: Path
) -> None:
    config = machine.person / ".codex/config.toml"
    put_codex(tmp_path / "clients")
    path = {"PATH": f"{tmp_path / 'clients'}:{machine.env['PATH']}"}

    machine.call("install", "codex", "--trust", **path)
    assert uninstall(machine, "codex").code == 0
    assert not config.exists()

    config.parent.mkdir(exist_ok=True)
    config.write_text('model = "x"')
    machine.call("install", "codex", "--trust", **path)
    machine.call("install", "codex", "--trust", "--timeout", "9", says="yes", **path)
    uninstall(machine, "codex")
    assert config.read_text() == 'model = "x"'

    config.write_text('model = "x"\n')
    machine.call("install", "codex", "--trust", **path)
    config.write_text(config.read_text().replace('"x"', '"y"'))
    uninstall(machine, "codex")
    assert config.read_text() == 'model = "y"\n'
    assert "installed in no agent" in machine.call("status").out


def test_what_codex_trusts_of_others_is_not_touched(machine: Machine) -> None:
    config = machine.person / ".codex/config.toml"
    config.parent.mkdir()
    config.write_text('model = "x"\n')
    machine.call("install", "codex")
    uninstall(machine, "codex")
    assert config.read_text() == 'model = "x"\n'


def test_without_codex_trust_fails_and_the_entries_are_in_place(machine: Machine) -> None:
    done = machine.call("install", "codex", "--trust")
    assert done.code == 1
    assert "no `codex` is on your PATH" in done.err
    assert "hookline is in" in done.out
    assert (machine.person / ".codex/hooks.json").exists()


def test_a_dry_run_asks_no_client(machine: Machine) -> None:
    assert machine.call("install", "codex", "--trust", "--dry-run").code == 2


def test_trust_is_refused_where_there_is_none_to_give(machine: Machine, claude: Path) -> None:
    done = machine.call("install", "claude-code", "--trust")
    assert done.code == 2
    assert not claude.exists()


# ── what the client then runs ──

SETTINGS = {
    "claude-code": (".claude/settings.json", "PreToolUse", "sh"),
    "codex": (".codex/hooks.json", "PreToolUse", "bash"),
    "gemini": (".gemini/settings.json", "BeforeTool", "bash"),
}


def recorded(name: str, event: str) -> dict[str, Any]:
    """A tool call as this client sent it."""
    folder = Path(hookline.__file__).parent / "dialects" / name.replace("-", "_") / "captures"
    for path in sorted(folder.glob("*.json")):
        capture = json.loads(path.read_text(encoding="utf-8"))
        if capture["event"] == event:
            found: dict[str, Any] = capture["payload"]
            return found
    raise AssertionError(f"no recorded {event} of {name}")


def client_runs(machine: Machine, name: str) -> Effect:
    """The command out of the settings file, run by the client's shell, and what it then does."""
    file, event, shell = SETTINGS[name]
    hooks = json.loads((machine.person / file).read_text())["hooks"]
    command = hooks[event][0]["hooks"][0]["command"]
    payload = {**recorded(name, event), "cwd": str(machine.project)}
    done = subprocess.run(
        [shell, "-c", command],
        input=json.dumps(payload).encode(),
        capture_output=True,
        cwd=machine.project,
        # A repository may have put these there.
        env={"PATH": "/usr/bin:/bin", "HOOKLINE_HOME": "/nowhere", "XDG_CONFIG_HOME": "/nowhere"},
        timeout=60,
        check=False,
    )
    client = import_module(f"support.clients.{name.replace('-', '_')}")
    reply = Reply(stdout=done.stdout, stderr=done.stderr, exit_code=done.returncode)
    effect: Effect = client.obey(event, reply, payload)
    return effect


@pytest.mark.parametrize("name", SETTINGS)
def test_from_the_settings_file_to_a_denied_command(machine: Machine, name: str) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(DENY)
    assert machine.call("install", name).code == 0
    effect = client_runs(machine, name)
    assert effect.does >= Does.BLOCKS
    assert "Not on this machine." in effect.reason
    machine.user_file.write_text("version: 1\n")
    assert client_runs(machine, name) == Effect()


@pytest.mark.parametrize("name", SETTINGS)
def test_when_the_program_is_removed_the_client_blocks(
    machine: Machine, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program = tmp_path / "bin/hookline"
    program.parent.mkdir()
    program.symlink_to(Path(sys.executable).parent / "hookline")
    machine.put_client("claude", "codex", "gemini")
    monkeypatch.setattr(install_module, "own_client", lambda: (str(program),))
    machine.call("install", name)
    assert client_runs(machine, name) == Effect()
    os.unlink(program)
    effect = client_runs(machine, name)
    assert effect.does >= Does.BLOCKS
    assert "hookline" in effect.reason
    done = machine.call("status", name)
    assert done.code == 1
    assert "is not there" in done.out


def test_install_says_what_no_hook_reaches_and_that_a_version_runs_none(machine: Machine) -> None:
    machine.put_client("kodelet")
    program = machine.base / "clients/kodelet"
    program.write_text("#!/bin/sh\necho kodelet version 0.5.36-beta\n")
    done = machine.call("install", "kodelet")
    assert "out of any hook's reach: Sub-agents of version 0.4 run no hooks" in done.out
    assert "is 0.5.36: since 0.5.0 Kodelet runs no hooks" in done.out
    assert "hooks are active here" not in done.out.replace("0 hooks are active here", "")
