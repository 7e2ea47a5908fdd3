"""What works where is told from the support tables, in three forms that agree."""

import json

import pytest
from click.testing import CliRunner

from hookline import matrix, registry
from hookline.cli.matrix import command
from hookline.model.support import SUBSTITUTES


def run(*words: str) -> str:
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_people_see_every_platform_with_its_version() -> None:
    shown = run()
    for support in matrix.platforms():
        assert f"{support.client} {support.version}" in shown
    assert "deny a tool" in shown


def test_the_native_names_of_events_can_be_seen() -> None:
    assert "PreToolUse" in run("--events")


def test_markdown_has_a_column_for_every_platform() -> None:
    shown = run("--markdown")
    head = shown.splitlines()[0]
    assert [cell.strip() for cell in head.strip("|").split("|")][1:] == [
        support.id for support in matrix.platforms()
    ]
    assert shown == matrix.as_markdown()


def test_json_holds_the_source_of_every_event() -> None:
    told = json.loads(run("--json"))
    assert {each["id"] for each in told["platforms"]} | {"canonical"} == set(
        registry.dialect_names()
    )
    for platform, events in told["cells"].items():
        for native, row in events.items():
            assert row["source"], f"{platform}.{native} does not say where it is known from"


def test_every_cell_is_yes_or_a_known_substitute() -> None:
    for support in matrix.platforms():
        for row in support.events.values():
            for cell, value in row.cells.items():
                assert value == "yes" or value in SUBSTITUTES[cell]


def test_what_a_platform_lacks_is_said_and_not_left_out() -> None:
    for what, cells in matrix.capability_rows(matrix.platforms()):
        assert all(cells), what


@pytest.mark.parametrize(
    "words", [("--json", "--markdown"), ("--events", "--json"), ("--events", "--markdown")]
)
def test_an_option_that_would_be_ignored_is_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(command, words)
    assert result.exit_code == 2
    assert "do not go together" in result.output
