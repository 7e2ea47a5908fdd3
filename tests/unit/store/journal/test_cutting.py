"""A JSON text that was cut is ended so that it can be read; other bytes are left alone."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.store.journal.recording import close_json, shorten

TEXTS = [
    {"a": [1, 2.5, {'k"ey': 'v\\al é😀 \n"', "n": None}], "b": {"c": [[], {}], "d": "x" * 20}},
    ["one", {"two": 'three "quoted" \\'}, [4, 5, [6]], True, False, None],
    [0, [[[[[[{"a": [[[[[1, [], {"b": {}}]]]]]}]]]]]], [[[[[[[[2, "[]{"]]]]]]]], {"c": "}]"}],
]


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("value", TEXTS)
def test_wherever_it_is_cut_it_can_be_read(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only).encode()
    first_comma = text.index(b",")
    for end in range(first_comma + 1, len(text)):
        json.loads(close_json(text[:end]))


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)


@given(json_values, st.floats(0, 1))
def test_what_is_left_is_a_part_of_what_was_there(value: object, share: float) -> None:
    text = json.dumps({"first": 1, "value": value, "last": "x"}).encode()
    end = 12 + int((len(text) - 12) * share)
    shown = json.loads(close_json(text[:end]))
    assert shown["first"] == 1


def test_bytes_that_are_no_json_are_left_alone() -> None:
    for raw in (b"", b"plain text, cut", b"\xff\xfe{", b'"a string, cut'):
        assert close_json(raw) == raw
    assert close_json(b"{not json, at all") == b"{not json, at all"


def test_long_texts_and_long_lists_are_shortened_wherever_they_are() -> None:
    value = {"a": ["x" * 50, {"b" * 50: "short"}], "n": 5, "many": list(range(1_000))}
    short = shorten(value, 10)
    assert short["a"][0] == "x" * 9 + "…"
    assert list(short["a"][1]) == ["b" * 9 + "…"]
    assert short["n"] == 5
    assert short["many"] == list(range(10))
