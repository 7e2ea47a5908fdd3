"""A rewrite is applied, or a person is asked and shown what to run; it is never dropped."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookline.app import App
from hookline.model.answers import Verdict
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from hookline.testing import shell
from support.shell_contexts import CONTEXTS

CONFIG = """\
version: 1
hooks:
  - name: gentle
    on: pre_tool_use
    match: {tool: shell, command: "npm test*"}
    rewrite: {input: {command: "npm run check -- --once"}}
  - name: dry
    on: pre_tool_use
    match: {tool: shell, command: "deploy *"}
    rewrite: {input: {command: "{{ tool.command }} --dry-run"}}
    guard: false
  - name: patient
    on: pre_tool_use
    match: {tool: shell, command: "slow*"}
    rewrite: {input: {timeout: 600}}
  - name: both
    on: pre_tool_use
    match: {tool: shell, command: "drop *"}
    deny: Nothing is dropped here.
    rewrite: {input: {command: "list"}}
"""

Fire = Callable[[str], Outcome]


@pytest.fixture(scope="module")
def fire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fire]:
    """What comes of a command under the config."""
    base = Path(tmp_path_factory.mktemp("rewrites"))
    (base / "rules.yaml").write_text(CONFIG, encoding="utf-8")
    app = App(
        env={"HOME": str(base), "PATH": "/usr/bin:/bin"},
        cwd=str(base),
        home=str(base / "state"),
        config=str(base / "rules.yaml"),
        managed=str(base / "none.yaml"),
    )
    with asyncio.Runner() as runner:
        yield lambda command: runner.run(judge(shell(command), app))


def test_a_rule_that_matches_all_of_a_command_rewrites_it(fire: Fire) -> None:
    for command, new in (
        ("npm test", "npm run check -- --once"),
        ("deploy x", "deploy x --dry-run"),
    ):
        outcome = fire(command)
        assert outcome.verdict is Verdict.PASS
        assert outcome.answer.rewrite.input == {"command": new}


@pytest.mark.parametrize("name", CONTEXTS)
def test_a_rule_that_matches_a_part_asks_and_shows_what_to_run(name: str, fire: Fire) -> None:
    for command, new in (
        ("npm test", "npm run check -- --once"),
        ("deploy x", "deploy x --dry-run"),
    ):
        text = CONTEXTS[name](command)
        outcome = fire(text)
        changed = (outcome.answer.rewrite.input or {}).get("command")
        if changed is None:
            assert outcome.verdict is Verdict.ASK
            assert f"`{new}`" in outcome.reason
        else:
            # Nothing else is run in it: all of the text is what the rule is about.
            assert changed in {new, f"{text} --dry-run"}


@pytest.mark.parametrize(
    "form", ["cd d && {}", "{} > log", "{} | cat", "bash -c '{}'", "sudo {}", "A=1 {}; ls"]
)
def test_the_ways_in_which_agents_write_commands(form: str, fire: Fire) -> None:
    asked = fire(form.format("npm test --all"))
    assert asked.verdict is Verdict.ASK
    assert asked.reason.startswith("Run `npm run check -- --once` in place of `npm test --all`.")
    alone = fire(form.format("slow job"))
    assert alone.verdict is Verdict.ASK
    assert "Run `slow job` as a call of its own" in alone.reason
    denied = fire(form.format("drop it"))
    assert denied.verdict is Verdict.DENY
    assert "Nothing is dropped here." in denied.reason
    assert "Run `list` in place of `drop it`." in denied.reason


@pytest.mark.parametrize("form", ["cd d && {}", "{} > log", "{} | cat", "bash -c '{}'", "sudo {}"])
def test_what_was_shown_passes_when_it_is_run(form: str, fire: Fire) -> None:
    assert fire(form.format("npm run check -- --once")).verdict is Verdict.PASS
    dry = fire(form.format("deploy x --dry-run"))
    assert "--dry-run --dry-run" in dry.reason  # a rule that never settles says so


def test_what_no_rule_is_about_passes(fire: Fire) -> None:
    for command in ("cd d && npm run build", "echo npm test", "ls > log"):
        assert fire(command).verdict is Verdict.PASS
