"""How well a cell is known: proven on the real client, specified by a source, or unknown."""

import msgspec
import pytest

from hookline.cli.matrix import (
    Cell,
    Platform,
    Proof,
    Proofs,
    Recording,
    as_markdown,
    capability_rows,
    event_rows,
    list_all,
    platforms,
)
from hookline.model.support import EventSupport, Support

TEST = "tests/interop/test_made_up.py::test_a_denied_tool_does_not_run"


def proof(claim: str, *tests: str) -> Proof:
    return Proof(claim=claim, client="made-up", version="1.2.3", tests=tests or (TEST,))


def row(native: str, *, source: str = "spec 1", **cells: str) -> EventSupport:
    return EventSupport(native=native, event="pre_tool_use", cells=cells, source=source)


def platform(*rows: EventSupport, proven: tuple[str, ...] = (), installed: str = "") -> Platform:
    support = Support(
        id="made-up", client="Made Up", version="1.2.3", events={row.native: row for row in rows}
    )
    proofs = Proofs(proven=tuple(map(proof, proven)))
    return Platform(support, proofs, frozenset(installed.split()))


def capability(known: Platform, what: str) -> Cell:
    return dict(capability_rows([known]))[what][0]


def test_a_proven_cell_says_client_version_and_test() -> None:
    known = platform(row("PreTool", deny="yes"), proven=("PreTool.deny",))
    cell = capability(known, "deny a tool")
    assert str(cell) == "yes ✓"
    assert msgspec.to_builtins(cell) == {
        "value": "yes",
        "evidence": {"state": "proven", "client": "Made Up", "version": "1.2.3", "test": TEST},
    }


def test_a_cell_that_recorded_sessions_show_names_their_versions_and_counts_less_than_a_proof() -> (
    None
):
    known = platform(row("PreTool", deny="yes", ask="yes", halt="latch"))
    recorded = {
        "1.0": Recording(fires=("PreTool",), sessions={"10": ("PreTool.deny", "PreTool.halt")}),
        "2.0": Recording(fires=("PreTool",), sessions={"11": ("PreTool.deny",)}),
    }
    known = Platform(known.support, known.proofs, recorded=recorded)
    cell = capability(known, "deny a tool")
    assert str(cell) == "yes ○"
    assert msgspec.to_builtins(cell.evidence) == {
        "state": "recorded",
        "client": "Made Up",
        "version": "1.0, 2.0",
        "more": ("10", "11"),
    }
    # Nothing was seen of an ask, and a latch is what is said in place of what was seen.
    assert str(capability(known, "ask before a tool")) == "yes"
    assert str(capability(known, "end the run at a tool")) == "latch"
    assert [str(cell) for _, (cell,) in event_rows([known])] == ["PreTool ○"]
    proven = Platform(known.support, Proofs(proven=(proof("PreTool.deny"),)), recorded=recorded)
    assert str(capability(proven, "deny a tool")) == "yes ✓"


def test_further_tests_of_a_cell_are_told_too() -> None:
    proofs = Proofs(proven=(proof("PreTool.deny", "a.py::test_a", "b.py::test_b[x]"),))
    known = Platform(platform(row("PreTool", deny="yes")).support, proofs)
    told = capability(known, "deny a tool").evidence
    assert told is not None
    assert (told.test, told.more) == ("a.py::test_a", ("b.py::test_b[x]",))


def test_a_cell_with_a_source_alone_is_specified() -> None:
    cell = capability(platform(row("PreTool", deny="yes")), "deny a tool")
    assert str(cell) == "yes"
    assert msgspec.to_builtins(cell.evidence) == {"state": "specified", "source": "spec 1"}


@pytest.mark.parametrize("source", ["", "  "])
def test_a_cell_without_a_source_is_unknown(source: str) -> None:
    cell = capability(platform(row("PreTool", deny="yes", source=source)), "deny a tool")
    assert str(cell) == "yes ?"
    assert msgspec.to_builtins(cell.evidence) == {"state": "unknown"}


def test_a_proof_without_a_test_proves_nothing() -> None:
    proofs = Proofs(proven=(Proof(claim="PreTool.deny", client="made-up", version="1", tests=()),))
    known = Platform(platform(row("PreTool", deny="yes")).support, proofs)
    assert str(capability(known, "deny a tool")) == "yes"


def test_a_cell_whose_value_has_changed_since_is_not_proven_any_more() -> None:
    latched = platform(row("PreTool", halt="latch"), proven=("PreTool.halt=latch",))
    assert str(capability(latched, "end the run at a tool")) == "latch ✓"
    ended = platform(row("PreTool", halt="yes"), proven=("PreTool.halt=latch",))
    assert str(capability(ended, "end the run at a tool")) == "yes"


def test_another_cell_of_the_same_event_is_not_proven_along() -> None:
    known = platform(row("PreTool", deny="yes", ask="yes"), proven=("PreTool.deny",))
    assert str(capability(known, "ask before a tool")) == "yes"


def test_what_several_events_do_is_known_as_well_as_the_least_known_of_them() -> None:
    rows = (row("Shell", deny="yes"), row("File", deny="yes"))
    assert str(capability(platform(*rows, proven=("Shell.deny",)), "deny a tool")) == "yes"
    both = platform(*rows, proven=("Shell.deny", "File.deny"))
    assert str(capability(both, "deny a tool")) == "yes ✓"


def test_of_an_event_with_two_names_the_installed_one_counts() -> None:
    rows = (row("preTool", deny="yes"), row("PreTool", deny="yes"))
    installed = platform(*rows, proven=("preTool.deny",), installed="preTool")
    assert str(capability(installed, "deny a tool")) == "yes ✓"
    other = platform(*rows, proven=("PreTool.deny",), installed="preTool")
    assert str(capability(other, "deny a tool")) == "yes"


def test_where_there_is_no_such_event_nothing_is_claimed() -> None:
    cell = capability(platform(row("PreTool", deny="yes")), "veto compaction")
    assert msgspec.to_builtins(cell) == {"value": "—", "evidence": None}


def test_an_event_that_was_seen_to_arrive_is_marked() -> None:
    known = platform(row("PreTool", deny="yes"), proven=("PreTool.fires",))
    assert [(event, str(cell)) for event, (cell,) in event_rows([known])] == [
        ("pre_tool_use", "PreTool ✓")
    ]


def test_cells_are_counted_by_how_they_are_known() -> None:
    known = platform(
        row("A", deny="yes", ask="deny"),
        row("B", deny="yes", source=""),
        proven=("A.deny", "A.ask=deny", "B.fires"),
    )
    assert known.counts() == {"proven": 3, "recorded": 0, "specified": 1, "unknown": 1}
    assert "| made-up | 3 | 0 | 1 | 1 | 0 |" in as_markdown([known])


def test_what_is_no_cell_is_told_as_also_proven() -> None:
    support = platform(row("PreTool", deny="yes")).support
    known = Platform(support, Proofs(also=(proof("failure.daemon-killed"),)))
    told = msgspec.to_builtins(list_all([known]))["platforms"][0]
    assert [each["claim"] for each in told["also_proven"]] == ["failure.daemon-killed"]
    assert "| made-up | 0 | 0 | 2 | 0 | 1 |" in as_markdown([known])


def test_what_is_out_of_any_hooks_reach_is_named() -> None:
    known = platforms()
    (codex,) = [each for each in known if each.support.id == "codex"]
    assert any("while it still runs" in sentence for sentence in codex.support.beyond)
    page = as_markdown(known)
    assert all(sentence in page for each in known for sentence in each.support.beyond)
