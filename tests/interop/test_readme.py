"""A new user's steps, taken from the README alone: install, protect, and see the proof."""

import os
import re
import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.lab.naming import client
from hookline.lab.ports import Client, Program

pytestmark = [pytest.mark.interop, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def find_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.S | re.M)


def find_install_lines() -> list[str]:
    return [line for line in find_blocks("sh")[0].splitlines() if " install ." in line]


def find_removal(tool: str) -> str:
    """The command that the page gives for removing what a tool installed."""
    (found,) = re.findall(rf"`({tool} (?:tool )?uninstall\s+hookline)`", README)
    return " ".join(found.split())


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The sources as a clone has them, without what was built in ours."""
    copy = tmp_path / "checkout"
    copy.mkdir()
    shutil.copytree(
        ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__", "_bin")
    )
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


def run(command: str, cwd: Path, env: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, shell=True, cwd=cwd, env=env, capture_output=True, text=True, timeout=600
    )


def new_user(tmp_path: Path, *tools: str) -> dict[str, str]:
    """A fresh HOME and a Python of their own, with the installers that a person may have."""
    home = tmp_path / "home"
    home.mkdir()
    venv.create(tmp_path / "tools", with_pip=True)
    bin = tmp_path / "tools" / "bin"
    if tools:
        subprocess.run([bin / "pip", "install", "--quiet", *tools], check=True, timeout=300)
    # How this machine reaches package registries.
    words = ("PIP", "UV", "CERT", "SSL", "PROXY", "INDEX")
    kept = {k: v for k, v in os.environ.items() if any(word in k.upper() for word in words)}
    local = home / ".local" / "bin"
    path = f"{bin}{os.pathsep}{local}{os.pathsep}/usr/local/bin:/usr/bin:/bin"
    return {**kept, "HOME": str(home), "PATH": path}


@pytest.mark.parametrize("line", find_install_lines())
def test_each_way_to_install_gives_a_program_that_runs_until_it_is_removed(
    tmp_path: Path, checkout: Path, line: str
) -> None:
    tool = line.split(maxsplit=1)[0]
    env = new_user(tmp_path, *({tool} - {"pip"}))
    done = run(f"{line} && cd / && hookline --version", checkout, env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hookline" in done.stdout
    done = run(f"echo y | {find_removal(tool)}", checkout, env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert shutil.which("hookline", path=env["PATH"]) is None


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
def test_the_three_commands_end_protected_and_proven(
    tmp_path: Path, checkout: Path, agent: str, program: Callable[[Client], Program]
) -> None:
    env = new_user(tmp_path)
    assert run("pip install --quiet .", checkout, env).returncode == 0
    started = program(client(agent)).argv
    assert len(started) == 1, started
    name = {"claude-code": "claude"}.get(agent, agent)
    (tmp_path / "tools" / "bin" / name).symlink_to(started[0])
    project = tmp_path / "project"
    project.mkdir()
    shown = [
        line[2:].replace("claude-code", agent)
        for block in find_blocks("console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    if agent == "codex":
        told = "hookline install codex --trust"
        assert f"`{told}`" in README
        shown = [told if line == "hookline install codex" else line for line in shown]
    assert [line.split()[1] for line in shown[:3]] == ["init", "install", "verify"]
    for command in (*shown, f"hookline status {agent}"):
        done = run(command, project, env)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert f"hookline uninstall {agent} --dry-run" in shown
    run("hookline daemon stop --yes", project, {**env, "HOOKLINE_TRUST": "all"})
