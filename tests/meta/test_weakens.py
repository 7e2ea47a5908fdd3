"""Every command says whether it weakens hookline, and one that does asks who runs it."""

import inspect
from collections.abc import Iterator

import click
import pytest

from hookline.cli import _main
from hookline.cli._terminal import WEAKENS, Host

CONTEXT = click.Context(_main.main)


def commands(group: click.Group, above: str = "") -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(CONTEXT):
        command = group.get_command(CONTEXT, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, f"{above}{name} ")
        else:
            yield above + name, command


COMMANDS = dict(commands(_main.main))
WEAKENING = [path for path, weakens in WEAKENS.items() if weakens.always or weakens.options]


def test_every_command_declares_when_it_weakens() -> None:
    assert COMMANDS.keys() == WEAKENS.keys()


@pytest.mark.parametrize("path", WEAKENING)
def test_declared_options_exist(path: str) -> None:
    names = {each.name for each in COMMANDS[path].params}
    assert {*WEAKENS[path].options} <= names


class SeenError(Exception):
    """The surroundings were looked at."""


@pytest.mark.parametrize("path", WEAKENING)
def test_it_looks_for_an_agent_before_anything_else(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look() -> list[object]:
        raise SeenError

    monkeypatch.setattr("hookline.cli._terminal.host", Host(look))  # type: ignore[arg-type]
    command, weakens = COMMANDS[path], WEAKENS[path]
    assert command.callback is not None
    triggers = weakens.options if not weakens.always else ("",)
    for trigger in triggers:
        given = {each.name: each.name == trigger for each in command.params if each.name}
        with pytest.raises(SeenError):
            command.callback(**given)


def test_whatever_asks_a_person_is_declared() -> None:
    """A module that asks has a command that weakens; any other has no use for the question."""
    modules = {path: inspect.getmodule(command.callback) for path, command in COMMANDS.items()}
    asking = {module for module in modules.values() if hasattr(module, "confirm")}
    assert asking == {modules[path] for path in WEAKENING}
