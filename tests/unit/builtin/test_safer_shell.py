"""docker-agent's table of shell commands: asked about by words, as docker-agent does it."""

from typing import Any

import pytest

from hookline import registry
from hookline.builtin import safer_shell
from hookline.builtin._safer_shell_table import DESTRUCTIVE, SAFE
from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.events import PostToolUse, PreToolUse
from hookline.model.ports import NOBODY
from hookline.model.tools import Tool, ToolKind


def answered(command: str | None, *, name: str = "shell", dialect: str = "docker-agent") -> Answer:
    """What is said about a command."""
    tool = Tool(kind=ToolKind.SHELL, name=name, input={"cmd": command}, command=command)
    event = PreToolUse(tool=tool, dialect=dialect)
    return safer_shell.make(safer_shell.Options())(event, NOBODY)


def judged(command: str | None) -> tuple[str, str | None]:
    """The blast radius and the category, or nothing to say."""
    answer = answered(command)
    if answer is PASS:
        return ("safe", None)
    assert answer.verdict is Verdict.ASK
    return answer.metadata["blast_radius"], answer.metadata.get("category")


def filled(written: str) -> str:
    """A command as a line of the table stands for."""
    for name, word in {"<n>": "5", "<flags>": "la", "...": "some words"}.items():
        written = written.replace(name, word)
    while "<" in written:
        before, _, rest = written.partition("<")
        written = before + "thing" + rest.partition(">")[2]
    return written


LEVELS = {"LOW": 1, "LOW-MEDIUM": 2, "MEDIUM": 2, "MEDIUM-HIGH": 4, "HIGH": 4}
RADIUS = {"low": 1, "medium": 2, "unknown": 3, "high": 4}


@pytest.mark.parametrize(
    ("written", "level"), [line for lines in DESTRUCTIVE.values() for line in lines]
)
def test_each_destructive_line_is_asked_about_at_least_at_its_level(
    written: str, level: str
) -> None:
    command = "> thing" if written.startswith(">") else filled(written)
    radius, category = judged(command)
    assert category
    assert RADIUS[radius] >= LEVELS[level]


@pytest.mark.parametrize("written", [line for lines in SAFE.values() for line in lines])
def test_each_safe_line_passes(written: str) -> None:
    assert judged(filled(written)) == ("safe", None)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        # Found by running the reference's own table.
        ("echo x > f", ("safe", None)),
        ("ls; pwd", ("unknown", None)),
        ("ls;rm x", ("low", "fs-delete")),
        ("echo $(rm x)", ("low", "fs-delete")),
        ('git commit -m "rm foo"', ("low", "fs-delete")),
        ("npm rm x", ("low", "fs-delete")),
        ("find /tmp | xargs rm -rf", ("low", "fs-delete")),
        ("docker rm -f abc", ("medium", "fs-delete")),
        ("rm -RF x", ("high", "fs-delete")),
        ("cat a > b", ("unknown", None)),
        ("git push --force", ("unknown", None)),
        # The worst that is in it counts.
        ("rm x && rm -rf y", ("high", "fs-delete")),
        ("docker  system   prune", ("medium", "dk-multi-del")),
        # Joined by what stands alone between blanks, no line is the whole command.
        ("ls && pwd", ("unknown", None)),
        ("ls | sort", ("unknown", None)),
        ("", ("unknown", None)),
        (None, ("unknown", None)),
    ],
)
def test_words_are_taken_as_docker_agent_takes_them(
    command: str | None, expected: tuple[str, Any]
) -> None:
    assert judged(command) == expected


def test_the_reason_names_the_line_of_the_table() -> None:
    answer = answered("sudo rm -rf /srv/data")
    assert "rm -rf <path>" in answer.reason
    assert answer.metadata["reason"] == answer.reason


def test_on_docker_agent_only_the_tool_called_shell_is_looked_at() -> None:
    assert answered("rm -rf x", name="run_background_job") is PASS


def test_elsewhere_any_shell_is_looked_at() -> None:
    assert answered("rm -rf x", name="Bash", dialect="claude-code").verdict is Verdict.ASK


def test_other_tools_and_other_events_pass() -> None:
    answer = safer_shell.make(safer_shell.Options())
    read = Tool(kind=ToolKind.READ, name="Read", path="/rm -rf x")
    assert answer(PreToolUse(tool=read, dialect="claude-code"), NOBODY) is PASS
    assert safer_shell.EVENTS == ("pre_tool_use",)
    assert PostToolUse.event_id() not in safer_shell.EVENTS


def test_a_long_command_is_looked_through_quickly() -> None:
    assert judged("a" * 100_000 + " && rm -rf x") == ("high", "fs-delete")
    assert judged("dd if= " * 20_000) == ("unknown", None)


def test_it_is_found_by_either_spelling() -> None:
    for name in ("safer_shell", "safer-shell"):
        module: Any = registry.builtin(name)
        assert module is safer_shell
