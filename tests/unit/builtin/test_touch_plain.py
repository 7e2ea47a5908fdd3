"""Plain commands are read by a shorter way, which says the same as the reader of whole texts."""

import pytest
from accuracy.cases import cases
from hypothesis import given
from hypothesis import strategies as st

from hookline.builtin import _touch_shell
from hookline.builtin._paths import Places
from hookline.shell import split

PROJECT, HOME = "/home/dev/app", "/home/dev"
PLACES = Places((PROJECT,))
CORPUS = [case.command(home=HOME, project=PROJECT) for case in cases()]
WORDS = sorted({word for text in CORPUS for word in text.split(" ") if word and len(word) < 40})


def agrees(text: str) -> bool:
    """Whether the shorter way was taken; both ways must say the same then."""
    parsed = split(text)
    plain = _touch_shell._plain_touches(parsed, PLACES.bases)
    if plain is None:
        return False
    read = _touch_shell._Reader(text, parsed, PLACES, PROJECT, {}).touches()
    assert list(plain) == list(read)
    return True


def test_the_corpus_is_read_alike_and_much_of_it_by_the_shorter_way() -> None:
    assert sum(map(agrees, CORPUS)) > len(CORPUS) // 4


@given(
    st.lists(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from([" && ", " | ", "; ", " || "]),
)
def test_any_words_of_it_are_read_alike(commands: list[str], operator: str) -> None:
    agrees(operator.join(commands))


@pytest.mark.parametrize(
    "text",
    [
        "cd src && cat .env",
        "sudo cat .env",
        "bash -c 'cat .env'",
        "cat *.env",
        "cat a > .env",
        "git -C /etc log",
        "echo 'cat .env' | sh",
        "xargs cat",
        "cat $X",
    ],
)
def test_what_is_more_than_words_is_left_to_the_reader(text: str) -> None:
    assert _touch_shell._plain_touches(split(text), PLACES.bases) is None


def test_everyday_commands_take_the_shorter_way() -> None:
    for text in ("git log --oneline -n 5", "cat README.md | head -20", "pytest -q tests 2>&1"):
        assert agrees(text)
