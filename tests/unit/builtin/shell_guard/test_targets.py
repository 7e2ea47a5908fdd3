"""Targets are resolved, not guessed: directories, variables, links, patterns, dots."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.model.answers import Answer, Verdict

Guard = Callable[..., Answer]


@pytest.mark.parametrize(
    "command",
    [
        "cd / && rm -rf etc",
        "cd .. && rm -rf *",
        "cd ~ && rm -rf .",
        "(cd /; rm -rf usr)",
        "pushd / && rm -rf var",
        "X=/etc; rm -rf $X",
        'X=$HOME; rm -rf "$X"',
        "rm -rf ${HOME}",
        'rm -rf "${HOME:?}"/*',
        "for d in / /home; do rm -rf $d; done",
        "rm -rf build/../..",
        "rm -rf ./src/../../../dev",
        "rm -rf /tmp/../etc",
        "rm -rf //",
        "rm -rf ~+/..",
        "rm -rf ~/D*",
        "cd $(git rev-parse --show-toplevel) && rm -rf *",
        "bash -c 'cd / && rm -rf home'",
    ],
)
def test_a_long_way_to_a_home_or_system_is_still_one(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.DENY


@pytest.mark.parametrize(
    "command",
    [
        "cd /tmp && rm -rf scratch",
        "cd build && rm -rf *",
        "(cd /; ls); rm -rf build",
        "cd $(mktemp -d) && rm -rf *",
        "BUILD=build; rm -rf $BUILD",
        'rm -rf "${TMPDIR:-/tmp}/x"',
        "rm -rf /tmp/x-$$",
        'rm -rf "$ANY"/node_modules',
        "rm -rf build/$X",
    ],
)
def test_a_long_way_to_what_is_made_again_passes(guard: Guard, command: str) -> None:
    assert guard(command).verdict is Verdict.PASS


def test_a_link_is_what_it_points_to(guard: Guard, home: Path) -> None:
    (home / "project" / "build" / "link").symlink_to(home)
    assert guard("rm -rf build/link/").verdict is Verdict.DENY
    assert guard("rm -rf build/link/*").verdict is Verdict.DENY
    assert guard("rm build/link").verdict is Verdict.PASS


def test_the_same_word_is_another_path_elsewhere(guard: Guard, home: Path) -> None:
    assert guard("rm -rf build").verdict is Verdict.PASS
    assert guard("rm -rf project", cwd=home).verdict is Verdict.DENY
    assert guard("rm -rf *", cwd=home / "project" / "build").verdict is Verdict.PASS


def test_a_directory_that_cannot_be_told_leaves_doubt(guard: Guard) -> None:
    assert guard('cd "$WHERE" && rm -rf *').verdict is Verdict.ASK
    assert guard('cd "$WHERE" && rm -rf node_modules').verdict is Verdict.PASS
