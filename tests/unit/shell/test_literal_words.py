"""Literal words and where they stand, so that a caller can replace them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.shell import MAX_BYTES, Word, literal_words


def test_a_word_comes_without_its_quotes_and_with_its_place() -> None:
    text = './scripts/check.sh --flag "a b"'
    assert literal_words(text) == (
        Word("./scripts/check.sh", 0, 18),
        Word("--flag", 19, 25),
        Word("a b", 26, 31),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("a $x b", ["a", "b"]),
        ('a "$x" b$y *.py {c,d} `e` f', ["a", "f"]),
        ("a$IFS b", ["b"]),
        ("X=a; b $X", ["X=a", "b"]),
        ("a '' \"\"", ["a", "", ""]),
        ("a\\ b $'c\\n'", ["a b", "c\n"]),
        ("a; b | c && (d)", ["a", "b", "c", "d"]),
        ("a > b < c", ["a", "b", "c"]),
        ("a $(b 'c' $(d)) e", ["a", "b", "c", "d", "e"]),
        ("a # b\nc", ["a", "c"]),
        ("a <<'E'\nb\nE\nc", ["a", "E", "c"]),
        ("a {} ~/x", ["a", "{}", "~/x"]),
        ("a 'b", ["a"]),
        ("a <(b)", ["a", "b"]),
    ],
)
def test_every_word_that_stands_for_itself_is_listed(text: str, words: list[str]) -> None:
    assert [word.text for word in literal_words(text)] == words


def test_places_are_counted_in_characters() -> None:
    text = "é 'ü😀' ./b.sh"
    assert [text[word.start : word.end] for word in literal_words(text)] == ["é", "'ü😀'", "./b.sh"]


def test_a_text_over_the_limit_has_no_words() -> None:
    assert literal_words("a" * (MAX_BYTES + 1)) == ()
    assert literal_words("é" * MAX_BYTES) == ()
    assert len(literal_words("a" * MAX_BYTES)) == 1


@given(st.text(st.sampled_from("ab é😀'\"\\$(){};|&<>#`\n*\ud800"), max_size=40))
def test_places_are_in_order_and_inside_the_text(text: str) -> None:
    places = [at for word in literal_words(text) for at in (word.start, word.end)]
    assert all(0 <= at <= len(text) for at in places)
    assert places == sorted(places)
