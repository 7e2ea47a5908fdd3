"""The shipped examples, as they lie there: copied as a whole, run by `hookline fire`."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.cli import Machine
from support.receiving import Receiver

EXAMPLES = Path(__file__).parents[3] / "examples"
pytestmark = pytest.mark.skipif(shutil.which("jq") is None, reason="the examples call jq")


class Example:
    """A project that is a copy of one folder of examples."""

    def __init__(self, machine: Machine, name: str, host: str = "") -> None:
        shutil.copytree(EXAMPLES / name, machine.project, dirs_exist_ok=True)
        shutil.rmtree(machine.project / ".git")
        subprocess.run(["git", "init", "-q", "-b", "trunk", machine.project], check=True)
        self.project = machine.project
        self._machine = machine
        self._way = ("--host", host) if host else ("--edited",)

    def fire(self, event: str, *options: str, **env: str) -> Any:
        """The outcome of one event."""
        done = self._machine.call("fire", event, *options, *self._way, "--json", **env)
        outcome = done.json
        assert [run["failed"] for run in outcome["runs"] if run["failed"]] == [], done.err
        return outcome

    def shell(self, command: str, event: str = "pre_tool_use", **env: str) -> Any:
        return self.fire(event, "--tool", "shell", "--command", command, **env)

    def text(self, name: str) -> str:
        return (self.project / name).read_text(encoding="utf-8")


@pytest.fixture(name="machine")
def _machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def test_every_folder_of_examples_has_a_page_that_the_first_page_names() -> None:
    folders = [path.name for path in EXAMPLES.iterdir() if path.is_dir()]
    first = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [name for name in folders if not (EXAMPLES / name / "README.md").is_file()] == []
    assert [name for name in folders if f"]({name}/README.md)" not in first] == []


def test_every_file_of_an_example_is_named_on_its_page() -> None:
    unnamed = []
    for page in EXAMPLES.glob("*/README.md"):
        text = page.read_text(encoding="utf-8")
        files = (path for path in page.parent.rglob("*") if path.is_file() and path != page)
        unnamed += [str(each) for each in files if f"`{each.name}`" not in text]
    assert unnamed == []


# ── VS Code ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="vscode")
def _vscode(machine: Machine) -> Example:
    return Example(machine, "vscode", "vscode")


def test_vscode_tells_a_session_its_branch_and_denies_a_deletion(vscode: Example) -> None:
    assert vscode.fire("session_start")["context"] == ["Branch: trunk | Tests: make test"]
    assert vscode.shell("ls")["verdict"] == "pass"
    denied = vscode.shell("rm -rf build")
    assert denied["verdict"] == "deny"
    assert "This workspace does not allow rm -rf." in denied["reason"]
    assert "Delete single files by name instead." in denied["context"]


def test_vscode_counts_prompts_and_warns_the_person_of_a_password(vscode: Example) -> None:
    assert vscode.fire("user_prompt_submit", "--prompt", "hello")["notice"] == []
    warned = vscode.fire("user_prompt_submit", "--prompt", "password: x")
    assert warned["notice"] == ["That prompt looks as if it held a password."]
    lines = vscode.text("prompts.log").splitlines()
    assert [line.split(" ", 2)[1:] for line in lines] == [
        ["fire", "5 characters"],
        ["fire", "11 characters"],
    ]


def test_vscode_sends_a_broken_file_back_to_the_model(vscode: Example) -> None:
    def edit(text: str) -> Any:
        file = vscode.project / "a.json"
        file.write_text(text)
        return vscode.fire("post_tool_use", "--tool", "write", "--path", str(file))

    assert edit("{}")["verdict"] == "pass"
    broken = edit("{")
    assert broken["reason"].startswith("The file is no valid JSON.")
    assert "parse error" in broken["context"][0]


def test_vscode_keeps_state_before_compaction_and_names_sub_agents(vscode: Example) -> None:
    (vscode.project / "new.txt").touch()
    vscode.fire("pre_compact")
    assert "?? new.txt" in vscode.text("compaction-state.txt")
    agent = ("--set", "agent.name=Plan", "--set", "agent.depth=1", "--set", "agent.id=a1")
    vscode.fire("subagent_start", *agent)
    vscode.fire("subagent_stop", *agent)
    assert vscode.text("subagents.log") == "SubagentStart Plan a1\nSubagentStop Plan a1\n"


def test_vscode_sends_the_agent_on_once(vscode: Example) -> None:
    assert vscode.fire("stop")["follow_up"] == ["Run make test before you finish."]
    assert vscode.fire("stop", "--set", "stop_hook_active=true")["follow_up"] == []


def test_vscode_runs_the_front_matter_of_the_agent_that_it_stands_in(vscode: Example) -> None:
    agent = ("--set", "agent.name=Code Review Agent", "--set", "agent.depth=1")
    said = vscode.fire("subagent_stop", *agent)
    assert said["follow_up"] == ["Check each finding against the file before you report it."]
    again = vscode.fire("subagent_stop", *agent, "--set", "stop_hook_active=true")
    assert again["follow_up"] == []
    other = vscode.fire("subagent_stop", "--set", "agent.name=Plan", "--set", "agent.depth=1")
    assert other["follow_up"] == []


# ── Copilot ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("host", ["copilot", "copilot-cloud"])
def test_copilot_denies_asks_and_wants_a_handoff(machine: Machine, host: str) -> None:
    copilot = Example(machine, "copilot", host)
    assert "rm -rf" in copilot.shell("rm -rf build")["reason"]
    assert copilot.shell("git push")["verdict"] == ("ask" if host == "copilot" else "deny")
    assert copilot.shell("ls")["verdict"] == "pass"
    wanted = copilot.fire("stop")["follow_up"]
    assert wanted == ["Write HANDOFF.md for the next session first."]
    (copilot.project / "HANDOFF.md").touch()
    assert copilot.fire("stop")["follow_up"] == []


def test_copilot_reports_tools_to_application_insights_if_asked_to(machine: Machine) -> None:
    copilot = Example(machine, "copilot", "copilot")
    with Receiver() as insights:
        address = f"InstrumentationKey=k1;IngestionEndpoint={insights.url}"
        copilot.shell("ls SECRET", "post_tool_use")
        copilot.shell("ls SECRET", "post_tool_use", APPINSIGHTS_CONNECTION_STRING=address)
    ((path, item),) = insights.seen
    assert (path, item["iKey"]) == ("/v2/track", "k1")
    assert item["data"]["baseData"]["properties"] == {"tool": "bash", "result": "success"}


# ── Claude Code ─────────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="claude")
def _claude(machine: Machine) -> Example:
    return Example(machine, "claude-code", "claude-code")


def test_claude_code_logs_each_call_and_denies_two_kinds(claude: Example) -> None:
    assert claude.shell("ls")["verdict"] == "pass"
    assert "without network access" in claude.shell("curl x")["reason"]
    assert "Move files to .trash" in claude.shell("rm a")["reason"]
    assert claude.text("tool-calls.log") == "fire Bash\n" * 3


def test_claude_code_adds_conventions_once_and_the_branch_each_time(claude: Example) -> None:
    told = claude.fire("session_start", "--set", "source=startup")["context"]
    assert told == ["Tests run with `make test`. Commit titles are imperative."]
    assert claude.fire("session_start", "--set", "source=clear")["context"] == []
    told = claude.fire("user_prompt_submit", "--prompt", "hi")["context"]
    assert told == ["Current branch: trunk"]


def test_claude_code_lints_what_was_edited_and_keeps_where_it_stopped(claude: Example) -> None:
    file = claude.project / "a.py"
    for text, reason in (("x = 1\n", ""), ("x = (\n", "SyntaxError: '(' was never closed")):
        file.write_text(text)
        assert claude.fire("post_tool_use", "--tool", "write", "--path", str(file))[
            "reason"
        ].startswith(reason)
    claude.fire("stop")
    claude.fire("session_end", "--set", "reason=other")
    kept = [json.loads(line) for line in claude.text("sessions.jsonl").splitlines()]
    assert [each["event"] for each in kept] == ["Stop", "SessionEnd"]


# ── Codex ───────────────────────────────────────────────────────────────────────────────────


def test_codex_guards_tells_and_keeps(machine: Machine) -> None:
    codex = Example(machine, "codex", "codex")
    denied = codex.shell("rm -rf build")
    assert denied["reason"].startswith("This project does not allow rm -rf.")
    assert denied["notice"] == ["A deletion was stopped."]
    assert codex.shell("ls")["verdict"] == "pass"
    told = codex.fire("session_start", "--set", "source=startup")["context"]
    assert told == ["Tests run with `make test`. Commit titles are imperative."]
    told = codex.fire("user_prompt_submit", "--prompt", "hi")["context"]
    assert told == ["Current branch: trunk"]
    new = json.dumps({"path": "a.py", "content": "x"})
    codex.fire("post_tool_use", "--tool", "write", "--input", new)
    assert codex.text("edits.log") == "*** Add File: a.py\n"
    codex.fire("stop", "--set", "last_message=done")
    assert json.loads(codex.text("answers.jsonl"))["last_assistant_message"] == "done"


# ── Kodelet ─────────────────────────────────────────────────────────────────────────────────


def test_kodelets_executables_block_log_and_send_on(machine: Machine) -> None:
    kodelet = Example(machine, "kodelet", "kodelet")
    assert kodelet.shell("sudo make")["reason"].startswith("This project does not allow 'sudo'.")
    kodelet.shell("ls", "post_tool_use")
    assert '"event":"after_tool_call"' in (machine.person / ".kodelet/audit.log").read_text()
    (kodelet.project / "foo.txt").touch()
    assert kodelet.fire("stop")["follow_up"] == ["foo.txt is still there. Remove it, please."]


@pytest.mark.skipif(shutil.which("go") is None, reason="the notifier is written in Go")
@pytest.mark.timeout(600)  # the first build on a machine compiles Go's own library, too
def test_kodelets_notifier_in_go_posts_to_slack(machine: Machine) -> None:
    kodelet = Example(machine, "kodelet", "kodelet")
    subprocess.run(
        ["go", "build", "-o", ".kodelet/hooks/slack_notify", "./slack_notify/main.go"],
        cwd=kodelet.project,
        env={**os.environ, "CGO_ENABLED": "0"},
        check=True,
    )
    assert kodelet.fire("stop")["runs"]  # without an address it does nothing
    with Receiver() as slack:
        spoken = ("--set", 'messages=[{"role": "user", "content": "hi"}]')
        kodelet.fire("stop", *spoken, SLACK_WEBHOOK_URL=f"{slack.url}/hook")
    assert slack.seen == [("/hook", {"text": "Conversation fire is finished (1 messages)."})]


# ── BaseCoat, docker-agent ──────────────────────────────────────────────────────────────────


def test_basecoats_file_guards_by_the_config_that_includes_it(machine: Machine) -> None:
    basecoat = Example(machine, "basecoat")
    assert basecoat.shell("rm -rf build")["reason"].startswith("This repository does not allow")
    assert basecoat.shell("make package")["context"] == [
        "Known fix: delete dist before you package."
    ]


def test_docker_agents_file_guards_by_the_config_that_includes_it(machine: Machine) -> None:
    docker = Example(machine, "docker-agent")
    assert "neither sudo nor rm -rf" in docker.shell("sudo reboot")["reason"]
    docker.shell("ls", "post_tool_use")
    assert docker.text("audit.log").endswith(" | fire | shell\n")


# ── workflows ───────────────────────────────────────────────────────────────────────────────


@pytest.fixture(name="workflows")
def _workflows(machine: Machine) -> Example:
    return Example(machine, "workflows")


def test_a_session_begins_with_conventions_the_sprint_and_a_persona(workflows: Example) -> None:
    conventions, sprint, persona = workflows.fire("session_start")["context"]
    assert "vMAJOR.MINOR.PATCH" in conventions
    assert sprint.startswith("Sprint 12")
    assert persona.startswith("You are the release engineer")


def test_a_prompt_that_says_deploy_arms_a_watchdog_until_the_health_check(
    workflows: Example,
) -> None:
    assert workflows.fire("user_prompt_submit", "--prompt", "Fix the tests")["context"] == []
    workflows.shell("kubectl apply -f x", "post_tool_use")
    assert workflows.fire("stop")["follow_up"] == []
    (armed,) = workflows.fire("user_prompt_submit", "--prompt", "Deploy version 2")["context"]
    assert armed.startswith("A watchdog is armed")
    assert workflows.fire("stop")["follow_up"] == []
    workflows.shell("kubectl apply -f x", "post_tool_use")
    (wanted,) = workflows.fire("stop")["follow_up"]
    assert wanted.startswith("Deployed and not checked: kubectl apply -f x.")
    (failed,) = workflows.shell("helm upgrade x", "post_tool_use_failure")["context"]
    assert failed.startswith("The deployment failed.")
    workflows.shell("./scripts/health-check.sh", "post_tool_use")
    assert workflows.fire("stop")["follow_up"] == []


def test_the_watchdog_is_of_one_session_and_ends_with_it(workflows: Example) -> None:
    def fire(event: str, *options: str, session: str) -> Any:
        return workflows.fire(event, *options, "--session", session)

    deploy = ("--tool", "shell", "--command", "kubectl apply -f x")
    fire("user_prompt_submit", "--prompt", "deploy", session="a/../b")
    fire("post_tool_use", *deploy, session="a/../b")
    assert fire("stop", session="c")["follow_up"] == []
    assert fire("stop", session="a/../b")["follow_up"]
    fire("session_end", session="a/../b")
    assert list((workflows.project / ".watchdog").iterdir()) == []
