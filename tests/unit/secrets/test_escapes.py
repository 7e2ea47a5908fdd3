"""Behind its escapes a text is shorter, and every byte knows where it came from."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hookline.secrets.escapes import MARK, Layer


def test_escapes_become_what_they_stand_for() -> None:
    layer = Layer(rb'{"a\/b": "x\n\"y\" \\ \u0041\u00e9\d"}')
    assert layer.text == b'{\x02a/b\x02: \x02x\n"y" \\ A\xff\\d\x02}'


def test_an_escaped_backslash_hides_no_quote_after_it() -> None:
    assert Layer(rb'"a\\"').text == MARK + rb"a" + b"\\" + MARK


@given(st.text(st.sampled_from('ab"\\\n/é\x01'), max_size=30), st.booleans())
def test_every_place_leads_back_to_the_whole_escape_it_came_from(
    text: str, ascii_only: bool
) -> None:
    raw = json.dumps(text, ensure_ascii=ascii_only).encode()
    layer = Layer(raw)
    places = [layer.origin(offset) for offset in range(len(layer.text) + 1)]
    assert places == sorted(set(places))
    assert (places[0], places[-1]) == (0, len(raw))
    units = [raw[start:end] for start, end in pairwise(places)]
    assert b"".join(units) == raw
    assert all(len(unit) == 1 or unit[:1] == b"\\" for unit in units)
