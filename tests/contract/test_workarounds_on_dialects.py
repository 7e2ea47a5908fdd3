"""What was denied in a session is known again by another route, on every platform."""

from collections.abc import Iterator
from typing import Any

import pytest

from hookline.lab.script import Shell, Write
from support.clients.effects import Does, Effect
from support.guard_cases import STOPPED
from support.guarded import Place, guarded, lanes

REMOVE = "import os; os.remove('{}')"
HOOKS: list[dict[str, Any]] = [
    {"use": "no-workarounds"},
    {"name": "kept", "on": "pre_tool_use", "match": {"command": "rm *"}, "deny": "MK_KEPT"},
    {
        "name": "as it is",
        "on": "pre_tool_use",
        "match": {"tool": ["write", "edit"], "path": "**/new.txt"},
        "deny": "MK_AS_IT_IS",
    },
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with guarded(tmp_path_factory.mktemp("workarounds")) as made:
        yield made


def code(text: str) -> Shell:
    return Shell(f'python3 -c "{text}"')


@pytest.mark.parametrize("lane", lanes(Shell("")))
def test_a_deletion_that_was_denied_is_denied_in_code_too(place: Place, lane: str) -> None:
    home = f"deleting, {lane}"
    before = place.does(code(REMOVE.format("README.md")), lane, *HOOKS, home=home)[1]
    assert before == Effect()
    denied = place.does(Shell("rm README.md"), lane, *HOOKS, home=home)[1]
    assert (denied.does, "MK_KEPT" in denied.reason) == (Does.BLOCKS, True)
    again = place.does(code(REMOVE.format("README.md")), lane, *HOOKS, home=home)[1]
    assert again.does == Does.BLOCKS
    assert "denied before" in again.reason
    other = place.does(code(REMOVE.format("src/app.py")), lane, *HOOKS, home=home)[1]
    assert other == Effect()


@pytest.mark.parametrize("lane", lanes(Write("", "")))
def test_a_file_that_may_not_be_written_may_not_be_written_by_the_shell(
    place: Place, lane: str
) -> None:
    home = f"writing, {lane}"
    assert place.does(Write("new.txt", "x\n"), lane, *HOOKS, home=home)[1].does == Does.BLOCKS
    again = place.does(Shell("cat > new.txt <<'EOF'\nx\nEOF"), lane, *HOOKS, home=home)[1]
    assert again.does == Does.BLOCKS
    assert "denied before" in again.reason
    other = place.does(Shell("cat > other.txt <<'EOF'\nx\nEOF"), lane, *HOOKS, home=home)[1]
    assert other == Effect()


@pytest.mark.parametrize("name", STOPPED)
def test_after_a_denial_the_harmless_twin_is_no_workaround(place: Place, name: str) -> None:
    """It is what an agent does next that was told why."""
    case = STOPPED[name]
    hooks: list[dict[str, Any]] = [
        {"use": case.guard, "with": dict(case.options)},
        {"use": "no-workarounds"},
    ]
    for lane in lanes(case.act):
        home = f"{name}, {lane}"
        assert place.does(case.act, lane, *hooks, home=home)[1].does >= Does.ASKS
        assert place.does(case.twin, lane, *hooks, home=home)[1] == Effect(), lane
