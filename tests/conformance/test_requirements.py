"""Every rule and every statement names tests that exist; every test of a platform shows a rule."""

import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from hookline import registry

# The tools are scripts of their own, so a test needs a road to them.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import requirements

ROOT = requirements.ROOT
PLATFORMS = [name for name in registry.dialect_names() if name != "canonical"]
FOLDERS = ("tests/conformance/hosts", "tests/conformance/rules", "tests/unit/dialects")


@cache
def manifest(platform: str) -> requirements.Manifest:
    """The manifest of a platform, read strictly."""
    return requirements.read(requirements.FOLDER / f"{platform}.toml")


def owner(path: Path) -> str | None:
    """The platform that a test file is about: the longest name that its own begins with."""
    stem = path.stem.removeprefix("test_") + "_"
    found = [name for name in PLATFORMS if stem.startswith(name.replace("-", "_") + "_")]
    return max(found, key=len, default=None)


@cache
def ids_in(path: Path) -> frozenset[str]:
    """The ids of the tests in a file."""
    name = path.relative_to(ROOT).as_posix()
    found = _ids(ast.parse(path.read_text(encoding="utf-8")))
    return frozenset(f"{name}::{test}" for test in found)


def _ids(body: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in body.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("test"):
                yield node.name
        elif isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            yield from (f"{node.name}::{name}" for name in _ids(node))


def named(platform: str) -> set[str]:
    """Every test that a manifest names."""
    known = manifest(platform)
    return {*known.beside, *(test for rule in known.requirement for test in rule.tests)}


def test_every_platform_has_a_manifest_and_every_manifest_a_platform() -> None:
    assert sorted(path.stem for path in requirements.FOLDER.iterdir()) == sorted(PLATFORMS)


def test_an_id_is_given_once_and_every_platform_has_its_own_prefix() -> None:
    ids = {name: [rule.id for rule in manifest(name).requirement] for name in PLATFORMS}
    every = Counter(rule for found in ids.values() for rule in found)
    assert [rule for rule, times in every.items() if times > 1] == []
    prefixes = {name: {rule.partition("-")[0] for rule in found} for name, found in ids.items()}
    assert [name for name, found in prefixes.items() if len(found) != 1] == []
    assert len(set().union(*prefixes.values())) == len(PLATFORMS)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_rule_is_a_sentence_with_a_source_and_either_tests_or_a_gap(platform: str) -> None:
    for rule in manifest(platform).requirement:
        assert re.fullmatch(r"[A-Z]{2,4}-\d{3}", rule.id), rule
        assert rule.source.strip(), rule
        assert re.fullmatch(r"\S.+\.", rule.sentence), f"{rule.id}: one line that ends in a stop"
        assert bool(rule.tests) != bool(rule.gap), f"{rule.id}: tests or a gap, not both"
        assert not rule.gap or len(rule.gap.strip()) >= 15, f"{rule.id}: say what is missing"
        assert len(set(rule.tests)) == len(rule.tests), f"{rule.id} names a test twice"


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_test_that_a_rule_names_exists(platform: str) -> None:
    missing = []
    for test in sorted(named(platform)):
        path = ROOT / test.partition("::")[0]
        if not path.is_file() or test not in ids_in(path):
            missing.append(test)
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_every_test_of_a_platform_shows_a_rule_or_is_listed_as_our_own(platform: str) -> None:
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).glob("test_*.py"))]
    own = set().union(*(ids_in(path) for path in files if owner(path) == platform))
    unnamed = sorted(own - named(platform))
    assert not unnamed, "\n".join(unnamed)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_is_listed_as_our_own_shows_no_rule(platform: str) -> None:
    known = manifest(platform)
    shown = {test for rule in known.requirement for test in rule.tests}
    assert sorted(shown & set(known.beside)) == []


def test_the_table_counts_every_rule_in_either_form() -> None:
    def printed(*options: str) -> str:
        argv = [sys.executable, "tools/requirements.py", *options]
        return subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    told = json.loads(printed("--json"))
    assert sorted(told) == sorted(PLATFORMS)
    shown = printed()
    for name, numbers in told.items():
        assert numbers["covered"] + numbers["gap"] == len(manifest(name).requirement)
        assert f"| {name} | {numbers['covered']} | {numbers['gap']} |" in shown
    for rule in (rule for name in PLATFORMS for rule in manifest(name).gaps):
        assert f"| {rule.id} |" in shown


# ── what the source documents say ───────────────────────────────────────────────────────────

DOCUMENTS = {
    "adr-021": "ADR 021: Agent Lifecycle Hooks",
    "agent-lifecycle-hooks": "Agent Lifecycle Hooks Specification",
    "docker-agent-hooks": "docker-agent: Hooks",
    "hook-events": "Hook Events and the Agent Lifecycle",
    "vscode-agent-hooks": "VS Code Agent Hooks",
}


@cache
def rules() -> dict[str, requirements.Requirement]:
    """Every rule of every platform by its id."""
    return {rule.id: rule for name in PLATFORMS for rule in manifest(name).requirement}


def statements() -> Iterator[requirements.Statement]:
    """All statements of all documents."""
    for document in requirements.documents().values():
        yield from document.statements


def shown_by(statement: requirements.Statement) -> set[str]:
    """The tests that show a statement, or what is done instead."""
    return {*statement.tests, *(test for rule in statement.rules for test in rules()[rule].tests)}


def test_each_source_document_has_its_statements_and_each_statement_an_id_of_its_own() -> None:
    known = requirements.documents()
    assert {name: document.title for name, document in known.items()} == DOCUMENTS
    ids = Counter(statement.id for statement in statements())
    assert [each for each, times in ids.items() if times > 1] == []
    for document in known.values():
        prefixes = {statement.id.partition("-")[0] for statement in document.statements}
        assert len(prefixes) == 1, document.title
        for section in document.section:
            said = Counter(statement.says for statement in section.statements)
            assert [each for each, times in said.items() if times > 1] == [], section.name


def test_every_statement_is_shown_by_tests_or_says_what_it_waits_for() -> None:
    wrong = []
    for each in statements():
        assert re.fullmatch(r"\S.+\.", each.says), f"{each.id}: one line that ends in a stop"
        unknown = [rule for rule in each.rules if rule not in rules()]
        assert not unknown, f"{each.id} names no rule by {unknown}"
        if not each.later and not shown_by(each):
            wrong.append(f"{each.id}: neither a test nor what it waits for")
        if each.later and each.choice:
            wrong.append(f"{each.id}: it waits, or it is done otherwise on purpose")
        if each.choice and len(each.choice) < 25:
            wrong.append(f"{each.id}: say what is done instead")
    assert not wrong, "\n".join(wrong)


def test_a_statement_waits_or_differs_exactly_where_its_rules_have_a_gap() -> None:
    wrong = []
    for each in statements():
        gaps = [rule for rule in each.rules if rules()[rule].gap]
        if gaps and not each.later and not each.choice:
            wrong.append(f"{each.id}: {', '.join(gaps)} is a gap: say `later` or `choice`")
        if each.later and each.rules and not gaps:
            wrong.append(f"{each.id}: its rules are kept by now: take `later` away")
    assert not wrong, "\n".join(wrong)


def test_every_test_that_a_statement_names_exists() -> None:
    missing = sorted(
        f"{each.id}: {test}"
        for each in statements()
        for test in each.tests
        if not (ROOT / test.partition("::")[0]).is_file()
        or test not in ids_in(ROOT / test.partition("::")[0])
    )
    assert not missing, "\n".join(missing)


def test_the_page_counts_every_statement_and_lists_what_waits() -> None:
    page = requirements.sources_as_markdown(requirements.documents())
    for document in requirements.documents().values():
        assert f"| {document.title} | {len(document.statements)} |" in page
    for each in statements():
        assert (f"| {each.id} |" in page) == bool(each.later or each.choice)
