"""A payload that two ask about is read once, and nobody is given what another may change."""

import msgspec
import pytest

from hookline.model.ports import peek_payload, take_payload


def test_what_was_peeked_at_is_handed_on_without_reading_it_again() -> None:
    payload = b'{"a": [1]}'

    seen = peek_payload(payload)

    assert take_payload(payload) is seen


def test_it_is_handed_on_once() -> None:
    payload = b'{"a": [1]}'
    first = take_payload(payload) if peek_payload(payload) else None

    second = take_payload(payload)

    assert second == first
    assert second is not first


def test_another_payload_is_read_for_itself() -> None:
    peek_payload(b'{"a": 1}')

    assert take_payload(b'{"b": 2}') == {"b": 2}


def test_equal_bytes_are_not_the_same_payload() -> None:
    one, other = bytes(bytearray(b'{"a": 1}')), bytes(bytearray(b'{"a": 1}'))
    seen = peek_payload(one)

    assert take_payload(other) == seen
    assert take_payload(one) is not seen


@pytest.mark.parametrize("payload", [b"", b"{", b"\xff"])
def test_what_cannot_be_read_raises_for_both(payload: bytes) -> None:
    peek_payload(b'{"a": 1}')

    with pytest.raises((msgspec.MsgspecError, UnicodeError)):
        peek_payload(payload)
    with pytest.raises((msgspec.MsgspecError, UnicodeError)):
        take_payload(payload)
