"""What a builtin tells the model: one short reason, and a command that is the model's own or none.

Judged over all dangerous commands that the guards are measured on, under the starter config.
"""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from accuracy.__main__ import _world
from accuracy.cases import cases

from hookline.app import App
from hookline.builtin.shell_guard.answering import rehearse
from hookline.cli.init import starter
from hookline.model.answers import BLOCKING, Verdict
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from hookline.shell import split
from hookline.testing import shell

RATHER = re.compile(r" Rather: `([^`]*)`")


class Told(NamedTuple):
    """A command that is held back, and what comes of running what is advised instead."""

    command: str
    outcome: Outcome
    instead: str
    then: Verdict


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Told]]:
    """Every dangerous command that is held back."""
    home, project = _world(Path(tmp_path_factory.mktemp("advice")).resolve(), starter())
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "USER": home.name}
    app = App(env=env, cwd=str(project), home=str(home.parent / "state"))
    found = []
    with asyncio.Runner() as runner:
        # What can be rehearsed, and a third of all others.
        commands = [
            case.command(home=str(home), project=str(project)) for case in cases() if case.dangerous
        ]
        for command in {*commands[::3], *filter(rehearse, commands)}:
            outcome = runner.run(judge(shell(command), app))
            advice = RATHER.findall(outcome.reason)
            instead = advice[0] if advice else ""
            then = runner.run(judge(shell(instead), app)).verdict if instead else Verdict.PASS
            if outcome.verdict in BLOCKING:
                found.append(Told(command, outcome, instead, then))
        yield found


def test_there_is_much_to_tell_and_some_advice(told: list[Told]) -> None:
    assert len(told) > 500
    assert sum(bool(each.instead) for each in told) >= 50


def test_what_is_advised_passes(told: list[Told]) -> None:
    assert [each.instead for each in told if each.then > Verdict.PASS] == []


def test_what_is_advised_is_made_of_the_commands_own_words(told: list[Told]) -> None:
    for each in told:
        own = {word for found in split(each.command).commands for word in found.words}
        new = [word for word in each.instead.split() if word not in own and word[0] != "-"]
        assert new == [], each.instead


def test_the_model_reads_one_short_reason_and_nothing_about_our_files(told: list[Told]) -> None:
    for each in told:
        assert len(each.outcome.reason) <= 200, each.outcome.reason
        assert "\n" not in each.outcome.reason
        assert "hookline explain" not in each.outcome.reason
        if "hookline" not in each.command:
            assert "hookline.yaml" not in each.outcome.reason


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        ("git clean -fdx", "git clean -ndx"),
        ("git -C a clean --force -d", "git -C a clean --dry-run -d"),
        ("git push -f origin main", "git push --dry-run -f origin main"),
        ("git branch -D old", "git branch -d old"),
        ("rsync -a --delete a/ b/", "rsync --dry-run -a --delete a/ b/"),
        ("find . -name x -delete", "find . -name x -print"),
        ("git push --force --no-dry-run", ""),
        ("git push -f -- origin", ""),
        ("cd a && git clean -fdx", ""),
        ("sudo git clean -fdx", ""),
        ("git push -f 'a b'", ""),
        ("curl -LsSf https://astral.sh/uv/install.sh | sh", ""),
        ("mysql -e 'DROP DATABASE app'", ""),
        ("rm -rf ~", ""),
    ],
)
def test_the_same_command_is_rehearsed_or_nothing_is_said(command: str, instead: str) -> None:
    assert rehearse(command) == instead
