"""Hooks work on today's data for ever; what they execute runs only in the bytes that were trusted.

Each test trusts a project with one hook on every shell command, changes files, and fires events.
"""

import asyncio
import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.app import App
from hookline.model.answers import Verdict
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from hookline.testing import shell

# Denies with what it is given: the names of its arguments are what they hold.
GUARD = '#!/bin/sh\nif [ $# -gt 0 ]; then cat "$@"; else cat; fi >&2\necho trusted >&2\nexit 2\n'
WEAK = "#!/bin/sh\nexit 0\n"


class Project:
    """A project with one hook, and the person who trusts it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "project"
        (self.root / ".git").mkdir(parents=True)
        self.write("guard.sh", GUARD)
        self.write("data.txt", "old data\n")

    def write(self, name: str, content: str) -> Path:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)
        return path

    def app(self) -> App:
        return App(
            env={"PATH": os.defpath, "HOME": str(self.base)},
            cwd=str(self.root),
            home=str(self.base / "home"),
            managed=str(self.base / "no/managed.yaml"),
        )

    def trust(self, run: str | list[str], **more: object) -> None:
        hook = {"name": "h", "on": "pre_tool_use", "run": run, **more}
        config = self.write("hookline.yaml", json.dumps({"version": 1, "hooks": [hook]}))
        self.app().loader.trust(str(config))

    def fire(self) -> Outcome:
        return asyncio.run(judge(replace(shell("ls"), cwd=str(self.root)), self.app()))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path.resolve())


def test_a_file_that_a_hook_writes_is_written_every_time(project: Project) -> None:
    project.trust("date >> audit.log; echo x > last.txt")
    for _ in range(3):
        assert project.fire().verdict is Verdict.PASS
    assert len((project.root / "audit.log").read_text().splitlines()) == 3


DATA = [
    "cat data.txt >&2; exit 2",
    "cat < data.txt >&2; exit 2",
    "./guard.sh data.txt",
    "sh guard.sh ./data.txt",
    "sh -c './guard.sh data.txt'",
    "./guard.sh < data.txt",
    ["./guard.sh", "data.txt"],
    ["sh", "-c", "sh guard.sh data.txt"],
    "grep -h '' ./data.txt | ./guard.sh",
]


@pytest.mark.parametrize("run", DATA, ids=str)
def test_data_is_todays_even_when_the_script_runs_from_its_copy(
    project: Project, run: str | list[str]
) -> None:
    project.trust(run)
    assert "old data" in project.fire().reason
    project.write("data.txt", "new data\n")
    assert "new data" in project.fire().reason
    project.write("guard.sh", WEAK)
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "new data" in outcome.reason


@pytest.mark.parametrize("run", DATA, ids=str)
def test_data_may_appear_and_vanish(project: Project, run: str | list[str]) -> None:
    (project.root / "data.txt").unlink()
    project.trust(run)
    assert "data.txt" in project.fire().reason  # what the shell or `cat` says of it
    project.write("data.txt", "new data\n")
    assert "new data" in project.fire().reason


@pytest.mark.parametrize(
    "run",
    [
        "./guard.sh data.txt",
        "sh -c './guard.sh data.txt'",
        "sh -c 'exec \"$HOOKLINE_PROJECT_DIR/guard.sh\" data.txt'",
        "trap './guard.sh data.txt || exit 2' EXIT",
        "set -- data.txt; . ./guard.sh",
        "echo data.txt | xargs ./guard.sh || exit 2",
        ["env", "sh", "guard.sh", "data.txt"],
        ["sh", "-c", "sh -c './guard.sh data.txt'"],
    ],
    ids=str,
)
def test_what_is_executed_runs_as_it_was_trusted(project: Project, run: str | list[str]) -> None:
    project.trust(run)
    assert "trusted" in project.fire().reason
    project.write("guard.sh", WEAK)
    assert "trusted" in project.fire().reason
    (project.root / "guard.sh").unlink()
    assert "trusted" in project.fire().reason


@pytest.mark.parametrize(
    "run",
    [
        "sh <<E\n./guard.sh data.txt\nE",
        "echo ./guard.sh data.txt | sh",
        "eval ./guard.sh data.txt",
        "`echo exec` ./guard.sh data.txt; G=./guard.sh; $G data.txt",
        "x=`./guard.sh data.txt 2>&1`; echo $x >&2; exit 2",
        ["env", "-S", "./guard.sh data.txt"],
    ],
    ids=str,
)
def test_where_no_copy_can_be_named_a_changed_script_closes_the_gate(
    project: Project, run: str | list[str]
) -> None:
    project.trust(run)
    assert "trusted" in project.fire().reason
    project.write("guard.sh", WEAK)
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "`./guard.sh` is not as it was trusted" in outcome.reason


@pytest.mark.parametrize(
    "run", ["sh guard", "./guard", "sh -c ./guard", ". ./guard", "sh <<E\n./guard\nE"]
)
def test_a_script_that_appears_after_trust_does_not_run(project: Project, run: str) -> None:
    project.trust(f"if [ -e guard ]; then {run}\nfi")
    assert project.fire().verdict is Verdict.PASS
    project.write("guard", "#!/bin/sh\ntouch ran\n")
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "was not there when the config was trusted" in outcome.reason
    assert not (project.root / "ran").exists()


def test_patterns_pin_data_that_a_hook_is_given(project: Project) -> None:
    project.trust("cat ./data.txt >&2; exit 2", pins=["*.txt"])
    project.write("data.txt", "new data\n")
    assert "old data" in project.fire().reason


def test_a_pinned_file_that_no_word_names_closes_the_gate(project: Project) -> None:
    project.trust("cat dat*.txt >&2; exit 2", pins=["data.txt"])
    assert "old data" in project.fire().reason
    project.write("data.txt", "new data\n")
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "data.txt` is not as it was trusted" in outcome.reason


def test_another_hooks_script_is_data_to_a_checker(project: Project) -> None:
    (project.root / "data.txt").rename(project.root / "other.sh")
    hooks = [
        {"name": "a", "on": "stop", "run": "./other.sh"},
        {"name": "b", "on": "pre_tool_use", "run": "cat ./other.sh >&2; exit 2"},
    ]
    config = project.write("hookline.yaml", json.dumps({"version": 1, "hooks": hooks}))
    project.app().loader.trust(str(config))
    project.write("other.sh", "new data\n")
    assert "new data" in project.fire().reason
