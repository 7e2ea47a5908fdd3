"""Every command and snippet in the documentation was run as shown."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from hookline import registry
from hookline.cli._main import _names
from hookline.model.events import EVENTS
from hookline.testing import assert_denied, assert_passed, fire, run_script, shell, write

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*/README.md"))
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "examples/README.md",
    *EXAMPLES,
]


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language on a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.S | re.M)


def commands(block: str) -> list[tuple[str, list[str]]]:
    """Each command of a console block with the lines shown after it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def as_pattern(lines: list[str]) -> str:
    """Shown output as a regular expression, in which … stands for anything."""
    parts = [".*" if line == "…" else re.escape(line).replace("…", "[^\n]*") for line in lines]
    return r"\n?".join(parts) + r"\s*"


@pytest.fixture
def shell_env(tmp_path: Path) -> dict[str, str]:
    """A fresh user's environment, who has Claude Code."""
    claude = tmp_path / "bin/claude"
    claude.parent.mkdir()
    claude.touch(0o755)
    keep = {key: os.environ[key] for key in ("LANG", "LC_ALL") if key in os.environ}
    path = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
    path += f"{os.pathsep}{claude.parent}"
    return {**keep, "HOME": str(tmp_path / "home"), "PATH": path, "COLUMNS": "200"}


def test_the_commands_of_the_first_page_print_what_it_shows(
    tmp_path: Path, shell_env: dict[str, str]
) -> None:
    page = ROOT / "docs/start.md"
    project = tmp_path / "project"
    project.mkdir()
    (project / "production.yaml").write_text(blocks(page, "yaml")[0], encoding="utf-8")
    shown = [pair for block in blocks(page, "console") for pair in commands(block)]
    assert len(shown) >= 6
    for command, lines in shown:
        done = subprocess.run(
            command, shell=True, cwd=project, env=shell_env, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        assert re.fullmatch(as_pattern(lines), done.stdout, re.S), f"{command}\n{done.stdout}"


def test_the_commands_of_the_platforms_page_run(tmp_path: Path, shell_env: dict[str, str]) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    (project / ".claude/settings.json").write_text(
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
        encoding="utf-8",
    )
    for block in blocks(ROOT / "docs/platforms.md", "console"):
        for command, lines in commands(block):
            done = subprocess.run(
                command, shell=True, cwd=project, env=shell_env, capture_output=True, text=True
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            assert re.fullmatch(as_pattern(lines), done.stdout, re.S), f"{command}\n{done.stdout}"


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: page.parent.name)
def test_the_commands_of_an_example_print_what_its_page_shows(
    page: Path, tmp_path: Path, shell_env: dict[str, str]
) -> None:
    project = tmp_path / "project"
    shutil.copytree(page.parent, project)
    subprocess.run(["git", "init", "-q", project], check=True)
    shown = [pair for block in blocks(page, "console") for pair in commands(block)]
    assert shown
    for command, lines in shown:
        done = subprocess.run(
            command, shell=True, cwd=project, env=shell_env, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        assert re.fullmatch(as_pattern(lines), done.stdout, re.S), f"{command}\n{done.stdout}"


def test_the_first_python_of_the_library_page_runs(
    tmp_path: Path, shell_env: dict[str, str]
) -> None:
    script = tmp_path / "example.py"
    script.write_text(blocks(ROOT / "docs/library.md", "python")[0], encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], env=shell_env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "deny\n"


def test_the_page_for_authors_speaks_of_kinds_forms_payloads_security_and_debugging() -> None:
    text = (ROOT / "docs/hooks.md").read_text(encoding="utf-8")
    heads = ["Which kind", "In which form", "What it reads, what it answers", "Security"]
    for head in (*heads, "Find out why"):
        assert f"\n## {head}\n" in text
    named = set(re.findall(r"`([a-z]+_[a-z_]+)`", text.split("## In which form")[0]))
    assert len(named & set(EVENTS)) >= 8
    assert [name for name in re.findall(r"`hookline ([a-z]+)", text) if name not in _names()] == []


@pytest.mark.parametrize("language", ["bash", "python"])
def test_the_programs_on_the_page_for_authors_block_what_they_say(
    language: str, tmp_path: Path
) -> None:
    (text,) = blocks(ROOT / "docs/hooks.md", language)
    program = tmp_path / "program"
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    env = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin"}
    said = run_script(program, shell("git push --force"), env=env)
    assert (said.verdict, said.reason.strip()) == ("deny", "use --force-with-lease")
    assert run_script(program, shell("git push"), env=env).verdict == "pass"


@pytest.mark.parametrize(
    ("page", "block"),
    [
        pytest.param(page, block, id=f"{page.parent.name}-{page.stem}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(page, "yaml"))
    ],
)
def test_every_config_in_the_docs_is_valid(
    page: Path, block: str, tmp_path: Path, shell_env: dict[str, str]
) -> None:
    config = tmp_path / "hookline.yaml"
    for entry in yaml.safe_load(block).get("include", []):
        include(tmp_path, entry if isinstance(entry, str) else entry["file"])
    config.write_text(block, encoding="utf-8")
    argv = [sys.executable, "-m", "hookline", "check", str(config)]
    done = subprocess.run(argv, env=shell_env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def include(base: Path, name: str) -> None:
    """Something that can be included under this name."""
    path = base / name
    if not path.suffix:
        path /= "settings.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    agents = "agents: {root: {}}\n" if "agents" in name else "version: 1\n"
    path.write_text(agents if path.suffix == ".yaml" else "{}", encoding="utf-8")


def test_every_link_between_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_page_of_commands_names_every_command() -> None:
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    assert [name for name in _names() if f"`hookline {name}`" not in text] == []


def test_the_examples_do_what_they_say(tmp_path: Path) -> None:
    examples = ROOT / "examples/hookline/hookline.yaml"
    assert_denied(fire(examples, shell("sudo kubectl delete ns x --context prod")), "pipeline")
    assert_denied(fire(examples, shell("git push -f")), "lease")
    assert_passed(fire(examples, shell("git push --force-with-lease")))
    assert fire(examples, write(str(ROOT / "examples/hookline/migrations/1.sql"))).verdict == "ask"


def test_every_builtin_in_the_docs_exists() -> None:
    for page in PAGES:
        for name in re.findall(r"use: ([a-z-]+)", page.read_text(encoding="utf-8")):
            assert name in registry.builtin_names(), name
