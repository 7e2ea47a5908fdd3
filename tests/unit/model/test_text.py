"""Text for people: nothing in it may act on a terminal or hide from a reader."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.model.text import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("", ""),
        ("grün 日本 🙂", "grün 日本 🙂"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[2Jgone", "␛[2Jgone"),
        ("over\rwritten", "over␍written"),
        ("\x00", "␀"),
        ("\x7f\x85", "\\x7f\\x85"),
        ("rm \u202egpj.exe", "rm \\u{202e}gpj.exe"),
        ("pay\u200bpal\u2060\ufeff", "pay\\u{200b}pal\\u{2060}\\u{feff}"),
        ("soft\u00adhyphen", "soft\\xadhyphen"),
        ("a\u2028b\u2029c", "a\\u{2028}b\\u{2029}c"),
        ("tag \U000e0041", "tag \\u{e0041}"),
        ("caf\udce9", "caf\\u{dce9}"),
    ],
)
def test_what_would_act_or_hide_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(st.text(st.characters(exclude_categories=[])))
def test_nothing_that_acts_or_hides_is_left_in_any_text(text: str) -> None:
    shown = visible(text)

    left = {unicodedata.category(char) for char in shown if char not in "\n\t"}
    assert not left & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    assert shown.encode().decode() == shown
    assert visible(shown) == shown
