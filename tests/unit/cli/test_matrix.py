"""What works where is told from the support tables, in three forms that agree."""

import json

import click
import pytest
from click.testing import CliRunner

from hookline import registry
from hookline.cli import matrix
from hookline.cli.matrix import STATES, Proof, Proofs, coloured, command
from hookline.model.support import SUBSTITUTES, EventSupport, Support


def run(*words: str) -> str:
    result = CliRunner().invoke(command, words, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def row(native: str, event: str, source: str) -> EventSupport:
    return EventSupport(native=native, event=event, cells={"deny": "yes"}, source=source)


def test_people_see_every_platform_with_its_version() -> None:
    shown = run()
    for platform in matrix.platforms():
        assert f"{platform.support.client} {platform.support.version}" in shown
    assert "deny a tool" in shown


def test_people_see_what_the_signs_mean_and_how_much_is_proven() -> None:
    shown = run()
    assert "proven ✓: a test showed it on the real client" in shown
    assert "unknown ?: nobody has looked" in shown
    for platform in matrix.platforms():
        counts = platform.counts()
        assert ", ".join(f"{number} {state}" for state, number in counts.items()) in shown


def test_a_terminal_shows_in_colour_how_a_cell_is_known() -> None:
    proofs = Proofs(
        proven=(Proof(claim="Pre.deny", client="made-up", version="1", tests=("a.py::test_a",)),)
    )
    rows = {
        "Pre": row("Pre", "pre_tool_use", "spec 1"),
        "Ask": row("Ask", "permission_request", ""),
        "Post": row("Post", "post_tool_use", "spec 2"),
    }
    support = Support(id="made-up", client="Made Up", version="1", events=rows)
    cells = dict(matrix.capability_rows([matrix.Platform(support, proofs)]))
    assert coloured(cells["deny a tool"][0]) == click.style("yes ✓", fg="green")
    assert coloured(cells["answer a permission request"][0]) == click.style("yes ?", fg="yellow")
    assert coloured(cells["hide a tool's output"][0]) == click.style("yes")
    assert coloured(cells["veto compaction"][0]) == click.style("—", dim=True)


def test_the_native_names_of_events_can_be_seen() -> None:
    assert "PreToolUse" in run("--events")


def test_markdown_has_a_column_for_every_platform() -> None:
    shown = run("--markdown")
    head = shown.splitlines()[0]
    assert [cell.strip() for cell in head.strip("|").split("|")][1:] == [
        platform.support.id for platform in matrix.platforms()
    ]
    assert shown == matrix.as_markdown(matrix.platforms())


def test_json_holds_the_source_of_every_event() -> None:
    told = json.loads(run("--json"))
    assert {each["id"] for each in told["platforms"]} | {"canonical"} == set(
        registry.dialect_names()
    )
    for platform, events in told["cells"].items():
        for native, row in events.items():
            assert row["source"], f"{platform}.{native} does not say where it is known from"


def test_json_holds_the_evidence_of_every_cell() -> None:
    told = json.loads(run("--json"))
    for events in told["cells"].values():
        for row in events.values():
            cells = {name: row[name] for name in row if name not in {"event", "source"}}
            assert "fires" in cells
            assert all(set(cell) == {"value", "evidence"} for cell in cells.values())
            assert {cell["evidence"]["state"] for cell in cells.values()} <= set(STATES)
    for table in (told["capabilities"], told["events"]):
        for platforms in table.values():
            for cell in platforms.values():
                assert (cell["evidence"] is None) == (cell["value"] == "—")


def test_every_cell_is_yes_or_a_known_substitute() -> None:
    for platform in matrix.platforms():
        for row in platform.support.events.values():
            for cell, value in row.cells.items():
                assert value == "yes" or value in SUBSTITUTES[cell]


def test_what_a_platform_lacks_is_said_and_not_left_out() -> None:
    for what, cells in matrix.capability_rows(matrix.platforms()):
        assert all(cell.value for cell in cells), what


@pytest.mark.parametrize(
    "words", [("--json", "--markdown"), ("--events", "--json"), ("--events", "--markdown")]
)
def test_an_option_that_would_be_ignored_is_refused(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(command, words)
    assert result.exit_code == 2
    assert "do not go together" in result.output
