"""The quick way out: nothing leaves by it of which a closer look would say something."""

import pytest
from accuracy.cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.builtin.shell_guard.judging import found_in
from hookline.builtin.shell_guard.quick import is_plainly_harmless
from hookline.builtin.shell_guard.world import World

HOME, PROJECT = "/home/dev", "/home/dev/project"
COMMANDS = [case.command(home=HOME, project=PROJECT) for case in cases()]
WORDS = sorted({word for command in COMMANDS for word in command.split(" ") if word})
QUOTES = ("{}", "'{}'", '"{}"', "{0:.1}''{1}", '{0:.2}""{2}')


def found(text: str) -> list[str]:
    """What a closer look says."""
    world = World(home=HOME, cwd=PROJECT, project=PROJECT, steps=[])
    return [each.why for each in found_in(text, world)]


def test_no_case_leaves_by_it_that_a_closer_look_would_flag() -> None:
    quick = [text for text in COMMANDS if is_plainly_harmless(text)]
    assert len(quick) > 100
    assert [text for text in quick if found(text)] == []


joined = st.lists(st.sampled_from(COMMANDS), min_size=2, max_size=3).flatmap(
    lambda parts: st.sampled_from((" && ", " | ", "; ", " || ")).map(lambda each: each.join(parts))
)


@st.composite
def changed(draw: st.DrawFn) -> str:
    """A case with another word in it, some of them in quotes or with quotes inside."""
    words = draw(st.sampled_from(COMMANDS)).split(" ")
    at = draw(st.integers(0, len(words)))
    words[at : at + draw(st.integers(0, 1))] = [draw(st.sampled_from(WORDS))]
    at = draw(st.integers(0, len(words) - 1))
    word = words[at]
    if word and not set(word) & set("'\"\\$`"):
        words[at] = draw(st.sampled_from(QUOTES)).format(word, word[1:], word[2:])
    return " ".join(words)


@settings(max_examples=600, deadline=None)
@given(joined | changed())
def test_nor_does_what_is_made_of_cases(text: str) -> None:
    if is_plainly_harmless(text):
        assert found(text) == []


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -n 20",
        "git add -A && git commit -m 'Read the payload once'",
        "cd src && grep -rn 'class Widget' --include='*.py' . | head -20",
        "python -m pytest -q tests/test_app.py -x --maxfail=3 2>&1 | tail -40",
        "npm run build -- --mode=test && node dist/main.js --version",
        "docker compose ps --format json | jq -r '.[0].Name'",
    ],
)
def test_what_agents_do_all_day_needs_no_closer_look(command: str) -> None:
    assert is_plainly_harmless(command)


@pytest.mark.parametrize(
    "command",
    [
        "git p''ush --force",
        "cp evil .git/hooks/pre-commit",
        "cp a hookline.yaml",
        "history | tail | gsutil cp - gs://bucket/x",
        "echo 'import os' | python3",
        "cd ~/.aws && cat x",
        ". ./x",
        "find . HOOKLINE_TRUST=all",
    ],
)
def test_what_hides_does_not_leave_by_it(command: str) -> None:
    assert not is_plainly_harmless(command)
