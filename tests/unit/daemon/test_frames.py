"""Requests arrive in any pieces and any shape; answers leave byte for byte."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.daemon.frames import (
    ACKNOWLEDGED,
    KEEP_ALIVE,
    LARGEST,
    CallCache,
    Decoder,
    FrameError,
    TooLarge,
    encode_answer,
    encode_busy,
    encode_other_version,
    encode_request,
)
from hookline.model.outcome import Reply

EVENT = "0123456789abcdef" * 2
ENV = {"PATH": "/bin", "EMPTY": "", "EQUALS": "a=b=c", "LATIN": "caf\udce9"}
REQUEST = encode_request(
    ("hook", "claude-code", "", "--home", "/h\udcff"),
    version="1.2.3",
    event=EVENT,
    attempt=2,
    spent=1500,
    cwd="/a b\udcfe",
    umask=0o022,
    env=ENV,
    stdin=b'{"a": "\xff\x00"}',
)


def field(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def frame(*fields: bytes, magic: bytes = b"HKL1") -> bytes:
    body = b"".join(map(field, fields))
    return magic + len(body).to_bytes(4, "big") + body


def decoded(data: bytes, calls: CallCache | None = None) -> Any:
    decoder = Decoder(calls)
    decoder.feed(data)
    assert decoder.complete
    return decoder.take(7.0)


def test_a_request_arrives_as_it_was_sent() -> None:
    request = decoded(REQUEST)

    assert (request.version, request.id, request.attempt) == ("1.2.3", EVENT, 2)
    assert request.cwd == "/a b\udcfe"
    assert request.umask == 0o022
    assert request.argv == ("hook", "claude-code", "", "--home", "/h\udcff")
    assert request.env == ENV
    assert request.stdin == b'{"a": "\xff\x00"}'
    assert request.arrived == 5.5  # of 7, the client had spent 1.5


def test_the_layout_on_the_wire_is_the_protocols() -> None:
    sent = encode_request(("hook",), version="1", event=EVENT, cwd="/", env={"A": "b"}, stdin=b"in")

    assert sent == frame(
        b"1", EVENT.encode(), b"1", b"0", b"/", b"63", b"1", b"hook", b"1", b"A=b", b"in"
    )


@given(st.sets(st.integers(1, len(REQUEST) - 1), max_size=12))
def test_pieces_make_no_difference(cuts: set[int]) -> None:
    decoder, whole = Decoder(), decoded(REQUEST)
    edges = [0, *sorted(cuts), len(REQUEST)]
    for start, stop in pairwise(edges):
        assert not decoder.complete
        decoder.feed(REQUEST[start:stop])

    assert decoder.complete
    assert decoder.take(7.0) == whole


@given(st.binary(max_size=200), st.integers(0, len(REQUEST)), st.integers(0, len(REQUEST)))
def test_whatever_arrives_is_a_request_or_refused(noise: bytes, start: int, stop: int) -> None:
    damaged = REQUEST[: min(start, stop)] + noise + REQUEST[max(start, stop) :]
    decoder = Decoder()
    try:
        decoder.feed(damaged)
        if decoder.complete:
            request = decoder.take(0.0)
            assert len(request.id) == 32
            assert all(request.env)
    except FrameError:
        pass


def test_what_follows_a_request_is_the_next_one() -> None:
    decoder = Decoder()
    decoder.feed(REQUEST + REQUEST[:20])
    decoder.take(0.0)
    decoder.read_header()
    assert not decoder.complete
    decoder.feed(REQUEST[20:])

    assert decoder.take(7.0) == decoded(REQUEST)
    assert decoder.empty


@pytest.mark.parametrize("data", [b"G", b"GET / HTTP/1.1", b"HKL2\0\0\0\0", b"HK\0"])
def test_other_words_are_refused_at_their_first_byte(data: bytes) -> None:
    with pytest.raises(FrameError, match="not the words"):
        Decoder().feed(data)


def test_more_than_the_largest_is_refused_before_it_comes() -> None:
    with pytest.raises(TooLarge, match="256 MB"):
        Decoder().feed(b"HKL1" + (LARGEST + 1).to_bytes(4, "big"))
    decoder = Decoder()
    decoder.feed(b"HKL1" + LARGEST.to_bytes(4, "big"))
    assert decoder.length == LARGEST


GOOD = (b"1", EVENT.encode(), b"1", b"40", b"/", b"18", b"1", b"hook", b"1", b"A=b", b"in")


def changed(index: int, value: bytes) -> bytes:
    return frame(*GOOD[:index], value, *GOOD[index + 1 :])


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(frame(), id="empty"),
        pytest.param(frame(*GOOD[:-1]), id="no payload"),
        pytest.param(frame(*GOOD, b"more"), id="more than the payload"),
        pytest.param(changed(0, b"1" * 65), id="long version"),
        pytest.param(changed(0, b"\xff"), id="version that is no text"),
        pytest.param(changed(1, b"../../etc/passwd"), id="id that is a path"),
        pytest.param(changed(1, EVENT.upper().encode()), id="id in capitals"),
        pytest.param(changed(1, b""), id="no id"),
        pytest.param(changed(2, b"-1"), id="negative attempt"),
        pytest.param(changed(2, b""), id="no attempt"),
        pytest.param(changed(3, b"-1"), id="time that is yet to come"),
        pytest.param(changed(3, b""), id="no time"),
        pytest.param(changed(5, b"0o22"), id="umask that is no number"),
        pytest.param(changed(6, b"999999999"), id="words that are not there"),
        pytest.param(changed(6, b"1e3"), id="count that is no number"),
        pytest.param(changed(6, "\N{SUPERSCRIPT TWO}".encode()), id="count in other digits"),
        pytest.param(changed(8, b"2"), id="one variable too few"),
        pytest.param(changed(8, b"0"), id="one variable too many"),
        pytest.param(b"HKL1\0\0\0\x06\0\0\0\xffxx", id="field longer than all"),
        pytest.param(b"HKL1\0\0\0\x02xx", id="field without its length"),
    ],
)
def test_a_request_that_does_not_add_up_is_refused(data: bytes) -> None:
    with pytest.raises(FrameError):
        decoded(data)


def test_variables_without_a_name_are_left_out() -> None:
    data = frame(*GOOD[:8], b"4", b"A=b", b"nothing", b"=value", b"", b"in")

    assert decoded(data).env == {"A": "b"}


def test_what_was_read_before_is_the_same_when_it_comes_again() -> None:
    calls = CallCache()
    other = encode_request(("hook", "x"), version="1", event=EVENT, env={**ENV, "NEW": "1"})
    first = [decoded(REQUEST, calls), decoded(other, calls)]
    again = [decoded(REQUEST, calls), decoded(other, calls)]

    assert first == again
    again[0].env["PATH"] = "changed by a careless reader"
    assert decoded(REQUEST, calls) == first[0]
    calls.clear()
    assert decoded(REQUEST, calls) == first[0]


def test_a_known_call_is_never_read_into_the_payload() -> None:
    """The bytes of one call may begin another request's longer one."""
    calls = CallCache()
    short = frame(*GOOD)
    decoded(short, calls)
    longer = frame(*GOOD[:8], b"2", b"A=b", b"C=d", b"in")
    assert decoded(longer, calls).env == {"A": "b", "C": "d"}
    cut = frame(*GOOD[:8])
    with pytest.raises(FrameError):
        decoded(cut, calls)


def test_many_calls_do_not_pile_up() -> None:
    calls = CallCache()
    for number in range(200):
        decoded(encode_request((str(number),), version="1", event=EVENT), calls)
    large = encode_request(("x" * 100_000,), version="1", event=EVENT)
    decoded(large, calls)

    assert len(calls._kept) == 16
    assert max(len(raw) for raw, _ in calls._kept) < 1000


def test_fifty_megabytes_are_put_together() -> None:
    payload = bytes(range(256)) * 200_000
    data = encode_request(("hook",), version="1", event=EVENT, stdin=payload)
    decoder = Decoder()
    for start in range(0, len(data), 200_000):
        decoder.feed(data[start : start + 200_000])

    request = decoder.take(0.0)
    assert request.stdin == payload
    assert type(request.stdin) is bytes


def test_messages_are_the_protocols() -> None:
    assert (ACKNOWLEDGED, KEEP_ALIVE) == (b"A", b"K")
    assert encode_other_version("0.2.0") == b"V\0\x050.2.0"
    assert encode_busy("é") == b"B\0\x02\xc3\xa9"
    assert len(encode_busy("x" * 100_000)) == 3 + 0xFFFF
    reply = Reply(stdout=b"out\xff", stderr=b"e", exit_code=2)
    assert encode_answer(reply) == b"R\x02\0\0\0\x04\0\0\0\x01out\xffe"
    assert encode_answer(Reply()) == b"R" + bytes(9)


@given(st.binary(max_size=3), st.integers(0, 200), st.integers(0, 3))
def test_a_known_call_changes_nothing_in_what_is_read(noise: bytes, at: int, cut: int) -> None:
    calls = CallCache()
    decoded(REQUEST, calls)
    damaged = REQUEST[:at] + noise + REQUEST[at + cut :]

    def read(calls: CallCache | None) -> Any:
        decoder = Decoder(calls)
        try:
            decoder.feed(damaged)
            return decoder.take(7.0) if decoder.complete else None
        except FrameError as error:
            return str(error)

    assert read(calls) == read(None)
