"""The cases that guards are measured on: many, of many kinds, each of them once."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def report() -> dict[str, dict[str, dict[str, float]]]:
    """What the measurement of the starter config prints."""
    done = subprocess.run(
        [sys.executable, "-m", "accuracy", "--json"],
        cwd=ROOT,
        capture_output=True,
        timeout=110,
        check=True,
    )
    found: dict[str, dict[str, dict[str, float]]] = json.loads(done.stdout)
    return found


def test_there_are_enough_cases_of_enough_families(
    report: dict[str, dict[str, dict[str, float]]],
) -> None:
    counted = report["halves"]["all"]
    assert counted["dangerous"] + counted["harmless"] >= 600
    assert min(counted["dangerous"], counted["harmless"]) >= 300
    assert len(report["families"]) >= 50


def test_about_a_third_is_held_back(report: dict[str, dict[str, dict[str, float]]]) -> None:
    held, everything = report["halves"]["held back"], report["halves"]["all"]
    for kind in ("dangerous", "harmless"):
        assert 0.25 < held[kind] / everything[kind] < 0.42


def test_no_case_is_there_twice() -> None:
    lines = [
        line[2:]
        for file in sorted((ROOT / "accuracy" / "shell").glob("*.txt"))
        for line in file.read_text(encoding="utf-8").splitlines()
        if line[:2] in {"D ", "S "}
    ]
    assert sorted(lines) == sorted(set(lines))


def test_the_starter_config_lets_harmless_commands_pass(
    report: dict[str, dict[str, dict[str, float]]],
) -> None:
    assert report["halves"]["in sight"]["passed"] >= 0.97
    assert report["halves"]["held back"]["passed"] >= 0.97
