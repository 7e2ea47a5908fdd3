"""Regexes that are searched for together: as each by itself, however often they are asked."""

import pytest
import re2

from hookline.config.regexes import LinearRegex, LinearRegexes

SOURCES = [r"^rm\s", "(?i)DROP table", "a|b|cat$", r"\Qa*b\E+", r"x{2,}(y)", r"\bgit\b(?-i:P)?"]
TEXTS = ["", "rm x", " rm x", "drop TABLE", "DROP", "cat", "cats", "a*b", "aab", "xxy", "xy", "git"]
OFTEN = 20


@pytest.mark.parametrize("left_out", [None, 3])
@pytest.mark.parametrize("text", TEXTS)
def test_together_they_find_what_each_would_find(text: str, left_out: int | None) -> None:
    # The fourth has a quotation, and such a one is never joined to others.
    sources = [each for place, each in enumerate(SOURCES) if place != left_out]
    alone = [LinearRegex(each) for each in sources]
    together = LinearRegexes([LinearRegex(each) for each in sources])
    expected = any(regex(text) for regex in alone)
    assert [together(text) for _ in range(OFTEN)] == [expected] * OFTEN


def test_what_is_too_much_together_is_still_found_one_by_one() -> None:
    sources = [rf"{number}\pL{{200}}" for number in range(10, 20)]
    alone = [LinearRegex(each) for each in sources]
    with pytest.raises(re2.error):
        LinearRegex("|".join(sources)).compiled()
    together = LinearRegexes(alone)
    found = [(together("19" + "é" * 200), together("19" + "é" * 199)) for _ in range(OFTEN)]
    assert found == [(True, False)] * OFTEN
