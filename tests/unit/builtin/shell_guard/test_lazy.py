"""Regexes that are compiled when they are first asked, and are like others from then on."""

import re
import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

from hookline.builtin import shell_guard
from hookline.builtin.shell_guard.lazy import _Lazy, lazy

MODULES = [each.name for each in walk_packages(shell_guard.__path__, f"{shell_guard.__name__}.")]


def test_it_is_compiled_with_the_first_question_and_answers_as_the_pattern_does() -> None:
    pattern = lazy(r"(a)(b+)", re.IGNORECASE)
    assert "search" not in vars(pattern)
    found = pattern.search("xABB")
    assert found is not None
    assert found.groups() == ("A", "BB")
    assert "search" in vars(pattern)
    assert pattern.sub("-", "abab") == "--"
    assert pattern.findall("abb AB") == [("a", "bb"), ("A", "B")]
    assert pattern.pattern == r"(a)(b+)"


def test_what_is_no_regex_says_so_when_it_is_asked() -> None:
    with pytest.raises(re.error, match="unterminated"):
        lazy("(").match("x")


@pytest.mark.parametrize("name", MODULES)
def test_every_one_of_the_guard_is_a_regex(name: str) -> None:
    values: list[object] = [*vars(import_module(name)).values()]
    values += [inner for each in values if isinstance(each, dict) for inner in each.values()]
    for each in values:
        if isinstance(each, _Lazy):
            assert each.search("") is None or each.pattern


def test_to_load_the_families_compiles_none_of_the_large_ones() -> None:
    script = (
        "from hookline.builtin.shell_guard import judging\n"
        "from hookline.builtin.shell_guard.families import code, databases, sql, unseen\n"
        "found = [each for module in (code, databases, sql, unseen) for each in vars(module).values()\n"
        "         if type(each).__name__ == '_Lazy']\n"
        "print(len(found) > 10, any('search' in vars(each) for each in found))\n"
    )
    shown = subprocess.check_output([sys.executable, "-c", script], text=True, timeout=60)
    assert shown.split() == ["True", "False"]
