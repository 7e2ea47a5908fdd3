"""A payload that two ask about is read once, and nobody is given what another may change."""

import msgspec
import pytest

from hookline.model.payloads import peeked, taken


def test_what_was_peeked_at_is_handed_on_without_reading_it_again() -> None:
    payload = b'{"a": [1]}'

    seen = peeked(payload)

    assert taken(payload) is seen


def test_it_is_handed_on_once() -> None:
    payload = b'{"a": [1]}'
    first = taken(payload) if peeked(payload) else None

    second = taken(payload)

    assert second == first
    assert second is not first


def test_another_payload_is_read_for_itself() -> None:
    peeked(b'{"a": 1}')

    assert taken(b'{"b": 2}') == {"b": 2}


def test_equal_bytes_are_not_the_same_payload() -> None:
    one, other = bytes(bytearray(b'{"a": 1}')), bytes(bytearray(b'{"a": 1}'))
    seen = peeked(one)

    assert taken(other) == seen
    assert taken(one) is not seen


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff"])
def test_what_cannot_be_read_raises_for_both(payload: bytes) -> None:
    peeked(b'{"a": 1}')

    with pytest.raises((msgspec.MsgspecError, UnicodeError)):
        peeked(payload)
    with pytest.raises((msgspec.MsgspecError, UnicodeError)):
        taken(payload)
