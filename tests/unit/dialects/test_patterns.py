"""Regexes out of other platforms' files: what they match, and that none of them can hang us."""

import pytest

from hookline.dialects._patterns import found, is_pattern, whole
from hookline.model.errors import HandlerError


@pytest.mark.parametrize("source", ["*", "[", "(", "a{2,1}", "\ud800"])
def test_what_is_no_regex_matches_nothing(source: str) -> None:
    assert not is_pattern(source)
    assert not found(source, source)
    assert not whole(source, source)


@pytest.mark.parametrize(
    ("source", "text", "is_found", "is_whole"),
    [
        ("bash", "bash", True, True),
        ("ba", "bash", True, False),
        ("bash|zsh", "zsh", True, True),
        ("a|b$", "b\n", False, False),
        ("(?!x)bash", "bash", True, True),
        (r"(b)a\1", "bab", True, True),
        ("^(?=b)ba$", "bash", False, False),
        ("", "bash", True, False),
    ],
)
def test_a_regex_is_found_anywhere_or_matches_the_whole(
    source: str, text: str, is_found: bool, is_whole: bool
) -> None:
    assert found(source, text) is is_found
    assert whole(source, text) is is_whole


def test_half_a_character_hides_nothing_around_it() -> None:
    assert found("bash", "\ud800bash")


def test_a_regex_that_needs_too_long_is_stopped() -> None:
    with pytest.raises(HandlerError, match="ran for more than"):
        found(r"(?=(a|aa)+$)(?!b)(a|aa)+$", "a" * 60 + "b")
