"""Nothing is called proven but what a test, on the version of the client that is pinned, is marked
with."""

import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.cli import matrix
from hookline.cli.matrix import TOPICS
from hookline.model.errors import HooklineError

# The tools are scripts of their own, so a test needs a road to them.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import evidence
import marks
from evidence import Fact, Ran, Result

ROOT = evidence.ROOT
TABLES = evidence.supports()
PINS = {"claude-code": "2.1.325", "codex": "0.166.0"}
CODEX = Ran("codex", "codex", "0.166.0", "0.166.0")
FILE = "tests/interop/test_made_up.py"


def fact(claim: str, test: str = "test_it", version: str = "2.1.325") -> Fact:
    return Fact("claude-code", claim, "claude-code", version, f"{FILE}::{test}")


def marked(root: Path, text: str) -> marks.Marks:
    """The marks of a made-up test file."""
    path = root / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return marks.under(path.parent, root)


def problems(root: Path, text: str, *facts: Fact) -> list[str]:
    return evidence.problems(facts, marked(root, text), TABLES, PINS)


DENIES = """
@pytest.mark.proves("claude-code", "PreToolUse.deny", "failure.daemon-killed")
def test_it(): ...
"""


# ── what is committed ──


def test_whatever_is_called_proven_has_a_test_that_is_marked_with_it_at_the_pinned_version() -> (
    None
):
    known = marks.under(ROOT / evidence.TESTS, ROOT)
    found = evidence.problems(
        evidence.committed(ROOT), known, evidence.supports(), evidence.pinned()
    )
    assert not found, "\n".join(found)


@pytest.mark.parametrize("dialect", sorted(TABLES))
def test_a_file_of_evidence_is_as_it_is_written_by_a_run(dialect: str) -> None:
    path = evidence.place(ROOT, dialect)
    own = {each for each in evidence.committed(ROOT) if each.dialect == dialect}
    written = evidence.rendered(own, TABLES[dialect]) if path.exists() else ""
    assert (path.read_text(encoding="utf-8") if path.exists() else "") == written


def test_what_the_matrix_calls_proven_is_what_is_committed() -> None:
    shown = {
        (each.support.id, native, name)
        for each in matrix.platforms()
        for native, name, cell in each.cells()
        if cell.evidence is not None and cell.evidence.state == "proven"
    }
    facts = list(evidence.committed(ROOT))
    cells = [each.claim.partition("=")[0].split(".") for each in facts]
    assert shown == {
        (each.dialect, native, name)
        for each, (native, name) in zip(facts, cells, strict=True)
        if evidence.is_cell(each.claim, TABLES[each.dialect])
    }


def test_no_topic_is_called_like_an_event() -> None:
    events = {native for support in TABLES.values() for native in support.events}
    assert not events & set(TOPICS)


# ── what is refused ──


def test_a_proof_that_is_in_order_is_no_problem(tmp_path: Path) -> None:
    facts = (fact("PreToolUse.deny"), fact("failure.daemon-killed"))
    assert problems(tmp_path, DENIES, *facts) == []


@pytest.mark.parametrize(
    ("claimed", "why"),
    [
        (fact("PreToolUse.deny", "test_other"), f"there is no test {FILE}::test_other"),
        (fact("PreToolUse.ask"), f"{FILE}::test_it is not marked with it"),
        (fact("PreToolUse.deny", version="2.1.300"), "with 2.1.300, and 2.1.325 is pinned now"),
        (fact("PreToolUse.output"), "claude-code claims no `output` for PreToolUse"),
        (fact("PreToolUse.halt=latch"), "says `yes` at PreToolUse.halt: write `PreToolUse.halt`"),
        (fact("failure.other"), f"{FILE}::test_it is not marked with it"),
        (
            Fact("claude-code", "PreToolUse.deny", "other", "1", f"{FILE}::test_it"),
            "the lab has no client `other`",
        ),
        (
            Fact("codex", "PreToolUse.deny", "codex", "0.166.0", f"{FILE}::test_it"),
            f"{FILE}::test_it is not marked with it",
        ),
    ],
    ids=[
        *("no-test", "no-mark", "old-version", "no-cell", "other-value", "no-topic-mark"),
        *("no-client", "other-platform"),
    ],
)
def test_a_proof_that_nothing_stands_behind_is_named(
    tmp_path: Path, claimed: Fact, why: str
) -> None:
    (told,) = problems(tmp_path, DENIES, claimed)
    assert why in told
    assert evidence.REWRITE in told


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ('"claude-cod", "Stop.fires"', "no platform is called `claude-cod`; did you mean `claude-"),
        ('"claude-code", "PreTolUse.deny"', "no event `PreTolUse`; did you mean `PreToolUse`?"),
        ('"claude-code", "pretooluse.deny"', "no event `pretooluse`; did you mean `PreToolUse`?"),
        ('"claude-code", "PreToolUse.denny"', "no `denny` for PreToolUse; did you mean `deny`?"),
        ('"claude-code", "PreToolUse"', "claude-code claims no `` for PreToolUse; known: fires, "),
        ('"codex", "PreToolUse.halt"', "says `latch` at PreToolUse.halt: write `PreToolUse.halt="),
        ('"codex", "failur.x"', "codex has no event `failur`; did you mean `failure`?"),
        ('"codex", "failure."', "`failure.`: behind the topic come small letters and `-`"),
    ],
)
def test_a_mark_that_no_test_can_prove_is_a_mistake(tmp_path: Path, words: str, why: str) -> None:
    (told,) = problems(tmp_path, f"@pytest.mark.proves({words})\ndef test_it(): ...\n")
    assert told.startswith(f"{FILE}::test_it: ")
    assert why in told


@pytest.mark.parametrize(
    "words", ['"codex"', '"codex", CLAIM', '"codex", *CLAIMS', 'dialect="codex"']
)
def test_a_mark_that_is_not_written_out_is_a_mistake(tmp_path: Path, words: str) -> None:
    (told,) = problems(tmp_path, f"@pytest.mark.proves({words})\ndef test_it(): ...\n")
    assert told.startswith(f"{FILE}:1: write out what is proved")


# ── marks are read from wherever pytest takes them ──


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("@M\ndef test_it(): ...", "test_it"),
        ("@M\nasync def test_it(): ...", "test_it"),
        ("pytestmark = M\ndef test_it(): ...", "test_it"),
        ("pytestmark = [pytest.mark.interop, M]\ndef test_it(): ...", "test_it"),
        ("@M\nclass TestAll:\n    def test_it(self): ...", "TestAll::test_it"),
        ("class TestAll:\n    pytestmark = M\n    def test_it(self): ...", "TestAll::test_it"),
        ("DENY = M\n@DENY\ndef test_it(): ...", "test_it"),
        ('@P("tool", ["a", "b"])\n@M\ndef test_it(tool): ...', "test_it[a]"),
        ('@P("tool", [pytest.param("a", marks=M)])\ndef test_it(tool): ...', "test_it[a]"),
        ('ALL = [pytest.param("a", marks=M)]\n@P("tool", ALL)\ndef test_it(t): ...', "test_it[a]"),
    ],
)
def test_a_mark_is_found_wherever_it_stands(tmp_path: Path, text: str, test: str) -> None:
    text = text.replace("P(", "pytest.mark.parametrize(")
    text = text.replace("M", 'pytest.mark.proves("claude-code", "PreToolUse.deny")')
    assert problems(tmp_path, text, fact("PreToolUse.deny", test)) == []


def test_the_mark_of_one_test_is_not_its_neighbours(tmp_path: Path) -> None:
    text = DENIES + "\ndef test_other(): ...\n"
    (told,) = problems(tmp_path, text, fact("PreToolUse.deny", "test_other"))
    assert f"{FILE}::test_other is not marked with it" in told


# ── files ──


def test_what_is_written_is_read_again_sorted_and_cells_before_the_rest(tmp_path: Path) -> None:
    facts = {
        fact("untrusted.silent"),
        fact("PreToolUse.deny", 'test_it[a"b\\c]'),
        fact("PreToolUse.deny", "test_it[a]"),
        fact("Stop.follow_up"),
    }
    path = evidence.place(tmp_path, "claude-code")
    path.parent.mkdir(parents=True)
    path.write_text(evidence.rendered(facts, TABLES["claude-code"]), encoding="utf-8")
    assert evidence.committed(tmp_path) == facts
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith(("[[", "claim"))] == [
        "[[proven]]",
        'claim = "PreToolUse.deny"',
        "[[proven]]",
        'claim = "Stop.follow_up"',
        "[[also]]",
        'claim = "untrusted.silent"',
    ]


def test_a_file_that_somebody_broke_is_named(tmp_path: Path) -> None:
    path = evidence.place(tmp_path, "codex")
    path.parent.mkdir(parents=True)
    path.write_text('[[proven]]\nclaim = "Stop.fires"\n', encoding="utf-8")
    with pytest.raises(HooklineError, match=r"codex/evidence\.toml: .*`client`.*write-evidence"):
        evidence.committed(tmp_path)


# ── a run against what is committed ──


def result(
    test: str = "test_it",
    *claims: str,
    passed: bool = True,
    version: str = "2.1.325",
) -> Result:
    ran = (Ran("claude-code", "claude-code", version, PINS["claude-code"]),)
    said = tuple(("claude-code", claim) for claim in claims)
    return Result(f"{FILE}::{test}", passed, said, ran)


def test_a_run_that_shows_what_is_committed_contradicts_nothing() -> None:
    shown = result("test_it", "PreToolUse.deny", "PreToolUse.ask")
    assert evidence.contradicted([fact("PreToolUse.deny")], [shown]) == []


@pytest.mark.parametrize(
    ("went", "why"),
    [
        (result("test_it", "PreToolUse.deny", passed=False), "which did not pass"),
        (result("test_it", "PreToolUse.ask"), "which did not show that"),
        (replace(result("test_it", "PreToolUse.deny"), ran=()), "which did not show that"),
        (replace(result("test_it", "PreToolUse.deny"), ran=(CODEX,)), "which did not show that"),
    ],
    ids=["failed", "no-mark", "no-client", "other-client"],
)
def test_a_test_that_does_not_show_what_is_committed_of_it_is_a_contradiction(
    went: Result, why: str
) -> None:
    (told,) = evidence.contradicted([fact("PreToolUse.deny")], [went])
    assert told.startswith("claude-code: PreToolUse.deny is said to be proven with claude-code 2")
    assert told.endswith(f"{FILE}::test_it, {why}")


def test_a_version_that_was_not_run_is_a_contradiction() -> None:
    shown = result("test_it", "PreToolUse.deny")
    assert evidence.contradicted([fact("PreToolUse.deny", version="2.1.300")], [shown])


def test_tests_that_did_not_run_contradict_nothing_and_keep_their_proofs(tmp_path: Path) -> None:
    old = {fact("PreToolUse.deny")}
    assert evidence.contradicted(old, [result("test_other")]) == []
    assert evidence.merged(old, [result("test_other")], marked(tmp_path, DENIES)) == old


def test_a_proof_whose_test_has_lost_its_mark_is_not_kept(tmp_path: Path) -> None:
    known = marked(tmp_path, "def test_it(): ...")
    assert evidence.merged({fact("PreToolUse.deny")}, [], known) == set()


def test_a_test_that_fails_takes_its_proof_back_and_another_one_keeps_its_own(
    tmp_path: Path,
) -> None:
    old = {fact("PreToolUse.deny", "test_it[a]"), fact("PreToolUse.deny", "test_it[b]")}
    failed = result("test_it[a]", "PreToolUse.deny", passed=False)
    kept = evidence.merged(old, [failed], marked(tmp_path, DENIES))
    assert kept == {fact("PreToolUse.deny", "test_it[b]")}


def test_a_client_of_another_version_than_the_pinned_one_proves_and_disproves_nothing(
    tmp_path: Path,
) -> None:
    old = {fact("PreToolUse.deny")}
    known = marked(tmp_path, DENIES)
    for passed in (True, False):
        newer = result("test_it", "PreToolUse.deny", passed=passed, version="2.1.999")
        assert evidence.merged(old, [newer], known) == old
        assert evidence.contradicted(old, [newer]) == []


def test_a_test_with_marks_for_several_platforms_proves_those_it_ran() -> None:
    both = (("claude-code", "PreToolUse.deny"), ("codex", "PreToolUse.deny"))
    went = Result(f"{FILE}::test_it[codex]", True, both, (CODEX,))
    assert [(each.dialect, each.version) for each in went.facts()] == [("codex", "0.166.0")]
