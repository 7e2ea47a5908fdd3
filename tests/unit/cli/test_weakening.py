"""Only a person weakens hookline: which commands do, who is refused, and who is told of it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hookline import registry
from hookline.cli import _terminal, pause
from hookline.cli._agents import MARKERS, PROGRAMS, Process, find_agent, parse_ps, read_lineage
from hookline.cli._terminal import Host
from hookline.model.errors import TrustError
from support.cli import Machine
from support.person import alone, command_line, lineage

VOUCHED = {"HOOKLINE_TRUST": "all"}
WEAKENING = (
    ("pause", "10m"),
    ("trust",),
    ("trust", "--revoke"),
    ("uninstall", "claude-code"),
    ("install", "claude-code", "--trust-env"),
    ("daemon", "stop"),
    ("mcp", "pin"),
    ("mcp", "pin", "--accept"),
    ("mcp", "forget", "x"),
    ("undo",),
)
HARMLESS = (
    ("pause", "--status"),
    ("pause", "--off"),
    ("trust", "--list"),
    ("uninstall", "claude-code", "--dry-run"),
    ("daemon", "start", "--help"),
    ("mcp", "list"),
    ("install", "claude-code"),
    ("check",),
)


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


def files(machine: Machine) -> dict[str, bytes]:
    found = (path for path in machine.base.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path): path.read_bytes() for path in found}


# ── who is an agent ──


def test_every_agent_that_hookline_is_installed_in_is_known_by_its_program() -> None:
    editors = {"code", "code-insiders", "codium", "cursor"}  # whose terminals are a person's, too
    installers = map(registry.installer, registry.installer_names())
    clients = {name for each in installers for name in each.clients if "/" not in name}
    assert clients - editors <= PROGRAMS
    others = "windsurf cline aider amp goose crush droid qwen opencode pi kodelet docker-agent"
    assert {*others.split(), "kiro-cli", "junie", "auggie", "grok", "kilo", "openhands"} <= PROGRAMS


def test_every_agent_that_tells_its_children_is_known_by_that() -> None:
    told = "AGENT AI_AGENT CLINE_ACTIVE CRUSH GOOSE_TERMINAL GROK_AGENT OPENCODE_CLIENT ROO_ACTIVE"
    more = "QWEN_CODE TRAE_AI_SHELL_ID WINDSURF_CASCADE_TERMINAL VSCODE_COPILOT_TERMINAL"
    assert {*told.split(), *more.split()} <= MARKERS


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_an_agents_program_is_known_by_name_link_file_and_script(name: str) -> None:
    for process in (
        Process(name=name),
        Process(exe=f"/opt/x/{name}"),
        Process(exe=f"/opt/x/{name} (deleted)"),
        Process(exe="/bin/bash", argv=(name, "-c", "x")),
        Process(exe="/usr/bin/node", argv=("node", f"/usr/local/bin/{name}", "--x")),
        Process(exe="/usr/bin/node", argv=("node", "--require", "./x.js", f"/bin/{name}")),
        Process(exe="/usr/bin/python3.12", argv=("python3", "-I", f"/home/u/.local/bin/{name}")),
        Process(exe="/usr/bin/python3.12", argv=("python3", "-Im", f"{name}.main")),
        Process(exe="/usr/bin/bun", argv=("bun", "run", f"./{name}")),
    ):
        assert find_agent([Process(), process]) == f"`{name}`", process


@pytest.mark.parametrize(
    "path",
    [
        "/usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
        "/usr/lib/node_modules/@openai/codex/bin/codex.js",
        "/usr/lib/node_modules/@google/gemini-cli/dist/index.js",
        "/usr/lib/node_modules/@github/copilot-linux-x64/index.js",
        "/home/u/.npm/_npx/1/node_modules/@qwen-code/qwen-code/cli.js",
        "/p/node_modules/@anthropic-ai/claude-agent-sdk/cli.js",
        "/usr/lib/node_modules/@ampcode/cli/dist/main.js",
        "/usr/lib/node_modules/@charmland/crush/run.js",
        "/usr/lib/node_modules/cline/dist/cli.mjs",
        "/p/node_modules/@zed-industries/claude-code-acp/dist/index.js",
    ],
)
def test_an_agent_that_npm_installed_is_known_by_its_package(path: str) -> None:
    assert find_agent([Process(exe="/usr/bin/node", argv=("node", path))])


@pytest.mark.parametrize(
    "exe",
    [
        "/home/u/.local/share/claude/versions/2.1.325",
        "/home/u/.local/share/cursor-agent/versions/2026.1/node",
        "/Applications/Windsurf.app/Contents/MacOS/Electron",
    ],
)
def test_an_agent_that_updates_itself_is_known_by_its_place(exe: str) -> None:
    assert find_agent([Process(exe=exe)])


@pytest.mark.parametrize(
    "name",
    ["codex-x86_64-unknown-linux-musl", "codex-x86_64-un", "node-copilot", "gemini-cli",
     "copilot-linux-x64", "opencode-darwin-arm64", "claude.exe", "goose_linux", "Windsurf",
     "Claude", "kiro-cli-chat", "crush_linux_x86_64", "cline.exe"],
)  # fmt: skip
def test_an_agents_program_is_known_as_it_is_packed(name: str) -> None:
    assert find_agent([Process(name=name)]) == f"`{name}`"


@pytest.mark.parametrize(
    "process",
    [
        Process(exe="/home/u/claude/run", argv=("/home/u/claude/run",)),
        Process(exe="/usr/bin/node", argv=("node", "/home/u/claude/server.js", "claude")),
        Process(exe="/usr/bin/python3", argv=("python3", "serve.py", "/usr/bin/codex")),
        Process(exe="/usr/bin/vim", argv=("vim", "claude")),
        Process(exe="/usr/bin/claude-monitor", name="claude-monitor"),
        Process(exe="/usr/share/cursor/cursor", name="cursor"),
        Process(exe="/usr/share/code/code", name="code"),
        Process(exe="/usr/bin/node", argv=("node", "/p/node_modules/cline-theme.js")),
        Process(exe="/usr/bin/node", argv=("node", "/p/node_modules/@openai/codex-tools.js")),
        Process(variables=frozenset({"CODEX_HOME", "CLAUDE_CODE_USE_BEDROCK", "COPILOT_MODEL"})),
    ],
)
def test_what_only_sounds_like_an_agent_is_none(process: Process) -> None:
    assert not find_agent([process])


@pytest.mark.parametrize("marker", sorted(MARKERS))
def test_a_marker_counts_in_every_live_ancestor(marker: str) -> None:
    assert find_agent([Process(), Process(), Process(variables=frozenset({marker}))])


def test_an_empty_marker_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "")
    assert not find_agent(lineage())


@pytest.mark.parametrize(("role", "is_agent"), [("agent-exec", True), ("user", False)])
def test_a_variable_that_editors_set_as_well_counts_with_the_value_of_agents(
    monkeypatch: pytest.MonkeyPatch, role: str, is_agent: bool
) -> None:
    monkeypatch.setenv("CURSOR_EXTENSION_HOST_ROLE", role)
    own = next(iter(read_lineage()))
    listed = next(parse_ps(f"9 1 sh CURSOR_EXTENSION_HOST_ROLE={role} A=b\n", 9))
    assert [bool(find_agent([each])) for each in (own, listed)] == [is_agent, is_agent]


def test_the_lineage_is_that_of_this_process() -> None:
    own, read, *above = read_lineage()
    assert own.variables >= {"HOME"}
    assert read.parent == os.getppid()
    assert os.path.realpath(sys.executable) == read.exe
    assert above[-1].parent == 0


def test_where_there_is_no_proc_the_lineage_is_in_a_listing() -> None:
    text = "  1 0 /sbin/launchd\n 7 1 /opt/bin/claude -p CLAUDECODE=\n 9 7 sh -c x AI_AGENT=1\n"
    found = list(parse_ps(text, 9))
    assert [each.parent for each in found] == [7, 1, 0]
    assert find_agent(found) == "an agent"
    assert find_agent(found[1:]) == "`claude`"
    assert not find_agent(found[2:])
    assert not list(parse_ps(text, 8))


# ── who is refused ──


@pytest.mark.parametrize("words", WEAKENING, ids=" ".join)
@pytest.mark.parametrize("flags", [(), ("--yes",)], ids=["", "yes"])
def test_an_agent_is_refused_whatever_it_says(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    flags: tuple[str, ...],
) -> None:
    machine.write("hookline.yaml", "version: 1\nhooks: []\n")
    before = files(machine)
    monkeypatch.setattr(
        _terminal, "host", Host(lambda: [*lineage(), Process(name="claude")], lambda _: "yes")
    )
    done = machine.call(*words, *flags, **VOUCHED)
    assert done.code == 1
    assert done.out == ""
    assert "in a terminal of your own" in done.err
    assert not any(word in done.err for word in ("--", "HOOKLINE", "CLAUDECODE", "env", "="))
    assert files(machine) == before


@pytest.mark.parametrize("words", HARMLESS, ids=" ".join)
def test_what_weakens_nothing_is_for_everybody(machine: Machine, words: tuple[str, ...]) -> None:
    done = machine.call(*words, CLAUDECODE="1")
    assert "a person" not in done.err
    assert done.code == 0, done.err


def test_the_function_of_a_command_refuses_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert pause.command.callback is not None
    with pytest.raises(TrustError, match="in a terminal of your own"):
        pause.command.callback(duration="10m", off=False, status=False, yes=True, as_json=False)


def test_check_does_not_offer_an_agent_to_trust(machine: Machine) -> None:
    machine.write("hookline.yaml", "version: 1\nhooks: []\n")
    assert "[y/N]" not in machine.call("check", says="yes", CLAUDECODE="1").out
    assert not (machine.state / "trust").exists()


@pytest.fixture
def claude(tmp_path: Path) -> str:
    """A shell that is called `claude`, as an agent's own process is."""
    path = tmp_path / "bin/claude"
    path.parent.mkdir()
    shutil.copy("/bin/bash", path)
    return str(path)


LINK = "ln -s {hookline} ./tool; ./tool pause 10m --yes"
SPELLINGS = (
    "{hookline} pause 10m --yes",
    "env -i {own} {hookline} pause 10m --yes",
    "env -u CLAUDECODE {hookline} pause 10m --yes",
    "setsid {hookline} pause 10m --yes",
    "nohup {hookline} pause 10m --yes",
    "(sleep 0; echo y) | script -qec '{hookline} pause 10m --yes' /dev/null",
    "(sleep 0; echo y) | env -u CLAUDECODE script -qec '{hookline} pause 10m' /dev/null",
    "env -S '{own} {python} -mhookline pause 10m --yes'",
    "{python} -Im hookline pause 10m --yes",
    "{python} -m hookline.__main__ pause 10m --yes",
    '{python} -c \'from hookline.cli.pause import command; command(["10m", "--yes"])\'',
    '{python} -c \'import os; os.execv("{hookline}", ["x", "pause", "10m", "--yes"])\'',
    LINK,
)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_spelling_gets_past_a_live_agent(machine: Machine, claude: str, spelling: str) -> None:
    if "script -" in spelling and not shutil.which("script"):
        pytest.skip("there is no `script` here")
    own = f"HOOKLINE_HOME={machine.state} HOME={machine.person} HOOKLINE_TRUST=all"
    program = str(Path(sys.executable).with_name("hookline"))
    command = spelling.format(hookline=program, python=sys.executable, own=own)
    done = subprocess.run(
        # Behind it stands another command, so that the shell stays.
        [claude, "-c", f"{command}; echo $?"],
        env={**machine.env, **VOUCHED, "CLAUDECODE": "1"},
        cwd=machine.project,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert "in a terminal of your own" in done.stdout + done.stderr, done
    assert not done.stdout.endswith("0\n"), done
    assert not (machine.state / "pause.json").exists()


def test_tests_below_an_agent_are_not_below_one(claude: str, tmp_path: Path) -> None:
    """As the whole suite is when an agent runs it."""
    here = Path(__file__)
    chosen = ["test_a_pause_is_told_in_every_open_session_once", "test_what_a_person_does"]
    done = subprocess.run(
        [
            *(claude, "-c", '"$@"; exit $?', "claude", sys.executable, "-m", "pytest", "-q"),
            *("-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", "-k", " or ".join(chosen)),
            *("--basetemp", str(tmp_path / "below"), str(here)),
        ],
        env={**os.environ, "CLAUDECODE": "1", "AI_AGENT": "claude"},
        cwd=here.parents[3],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


# ── images and CI ──


def test_yes_counts_until_something_is_installed(machine: Machine) -> None:
    machine.write("hookline.yaml", "version: 1\nhooks: []\n")
    assert machine.call("trust", "--yes", **VOUCHED).code == 0
    assert machine.call("install", "claude-code", **VOUCHED).code == 0
    before = files(machine)
    for words in (("pause", "10m"), ("trust", "--revoke"), ("uninstall", "claude-code")):
        done = machine.call(*words, "--yes", **VOUCHED)
        assert (done.code, "there is no terminal here" in done.err) == (1, True), words
    settings = machine.person / ".claude/settings.json"
    elsewhere = {**VOUCHED, "HOOKLINE_HOME": str(machine.base / "other")}
    assert machine.call("uninstall", "claude-code", "--yes", **elsewhere).code == 1
    assert machine.call("install", "claude-code", "--yes", **elsewhere).code == 1
    assert files(machine) == before
    assert machine.call("uninstall", "claude-code", "--yes", says="yes").code == 0
    assert not settings.exists()


def test_a_damaged_install_record_is_one(machine: Machine) -> None:
    machine.call("install", "claude-code")
    for record in (machine.state / "installs").glob("*.json"):
        record.write_text("?")
    assert machine.call("pause", "10m", "--yes", **VOUCHED).code == 1


# ── who is told ──


def prompt(machine: Machine, session: str, event: str = "user_prompt_submit") -> str:
    payload = {"event": event, "session_id": session, "cwd": str(machine.project), "prompt": "x"}
    done = machine.hook(payload)
    assert done.code == 0, done.err
    return " ".join(done.json.get("notice", ()))


def test_a_pause_is_told_in_every_open_session_once(machine: Machine) -> None:
    for session in ("a", "b"):
        assert "paused" not in prompt(machine, session)
    assert machine.call("pause", "10m", says="yes").code == 0
    assert machine.call("pause", "--off").code == 0
    for session in ("a", "b"):
        assert "hookline was paused for 10m, at " in prompt(machine, session)
        assert "paused" not in prompt(machine, session)
    assert "paused" not in prompt(machine, "begun since")


def test_two_weakenings_are_both_told(machine: Machine) -> None:
    machine.trust("version: 1\nhooks:\n  - {name: x, on: pre_tool_use, ask: y}\n")
    prompt(machine, "a")
    machine.call("pause", "10m", says="yes")
    machine.call("trust", "--revoke", says="yes")
    notice = prompt(machine, "a")
    assert "paused for 10m" in notice
    assert f"trust in {machine.config} was revoked" in notice


def test_an_event_that_cannot_show_it_leaves_it_for_the_next(machine: Machine) -> None:
    def ask(event: str) -> str:
        payload = {"session_id": "a", "cwd": str(machine.project), "hook_event_name": event}
        stdin = json.dumps({**payload, "reason": "x", "prompt": "x"})
        return machine.call("hook", "claude-code", event, *machine.own, stdin=stdin).out

    ask("UserPromptSubmit")
    machine.call("pause", "10m", says="yes")
    machine.call("pause", "--off")
    shown = [("paused" in ask(event)) for event in ("SessionEnd", "UserPromptSubmit", "Stop")]
    assert shown.count(True) == 1
    assert not shown[2]


def test_status_begins_with_the_last_weakening(machine: Machine) -> None:
    assert not machine.call("status").out.startswith("last weakened")
    machine.call("pause", "10m", says="yes")
    machine.call("install", "claude-code")
    machine.call("uninstall", "claude-code", says="yes")
    told = machine.call("status").out
    assert told.startswith("last weakened: hookline was uninstalled from claude-code (")
    record = machine.state / "weakenings.log"
    first, second = record.read_text().splitlines()
    assert "hookline was paused for 10m, at " in first
    assert "hookline was uninstalled" in second
    assert record.stat().st_mode & 0o77 == 0
    record.write_text(f"1.0 {second.partition(' ')[2]}\n")
    assert not machine.call("status").out.startswith("last weakened")
    record.write_text("?")
    assert not machine.call("status").out.startswith("last weakened")


def test_a_no_and_what_only_adds_is_no_weakening(machine: Machine) -> None:
    machine.call("pause", "10m", says="no")
    machine.trust("version: 1\nhooks:\n  - {name: x, on: pre_tool_use, ask: y}\n")
    machine.trust(
        "version: 1\nhooks:\n  - {name: x, on: pre_tool_use, ask: y}\n  - use: shell-guard\n"
    )
    machine.call("install", "claude-code")
    assert not (machine.state / "weakenings.log").exists()
    machine.trust("version: 1\nhooks:\n  - use: shell-guard\n")
    assert "drops or changes hooks" in (machine.state / "weakenings.log").read_text()


def test_a_weakening_that_cannot_be_told_does_not_happen(machine: Machine) -> None:
    machine.state.mkdir()
    (machine.state / "weakenings.log").mkdir()
    done = machine.call("pause", "10m", says="yes")
    assert done.code == 1
    assert "cannot be written" in done.err
    assert not (machine.state / "pause.json").exists()


def test_what_a_person_does_in_a_process_of_its_own(machine: Machine) -> None:
    words = command_line("pause", "10m", says="yes")
    done = subprocess.run(words, env=machine.env, cwd=machine.project, check=False)
    assert done.returncode == 0
    assert _terminal.host is alone
