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


@pytest.mark.parametrize("half", ["in sight", "held back"])
def test_the_starter_config_flags_danger_and_lets_harmless_commands_pass(
    report: dict[str, dict[str, dict[str, float]]], half: str
) -> None:
    assert report["halves"][half]["flagged"] >= 0.98
    assert report["halves"][half]["passed"] >= 0.98
