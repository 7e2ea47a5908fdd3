"""The border to answer codecs."""

import pytest

from hookline.dialects.canonical.codec import Canonical
from hookline.handlers._exchange import question, tail, understood
from hookline.model.answers import Answer, deny
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerUnavailable,
    UnsupportedError,
)
from hookline.model.events import Event, PreToolUse

EVENT = PreToolUse()


class Speechless:
    """A codec of a platform that has no such event, and that trips over answers."""

    tells_workspace = False

    def stdin(self, event: Event) -> bytes:
        raise UnsupportedError("no such event there")

    def read_answer(self, event: Event, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
        raise IndexError("list index out of range")


def test_a_question_is_the_event_in_the_hooks_dialect() -> None:
    assert question(Canonical(), EVENT) == Canonical().stdin(EVENT)


def test_an_event_the_dialect_lacks_means_the_hook_is_unavailable() -> None:
    with pytest.raises(HandlerUnavailable, match="no such event there"):
        question(Speechless(), EVENT)


def test_an_answer_is_what_the_codec_reads() -> None:
    assert understood(Canonical(), EVENT, stdout=b"", stderr=b"no", exit_code=2) == deny("no")


def test_a_codecs_own_failure_passes_unchanged() -> None:
    with pytest.raises(HandlerCrashed, match="exit code 7"):
        understood(Canonical(), EVENT, stdout=b"", exit_code=7)


def test_anything_else_a_codec_raises_is_a_failed_answer() -> None:
    with pytest.raises(HandlerAnswerError, match="IndexError"):
        understood(Speechless(), EVENT, stdout=b"")


def test_the_tail_of_stderr_is_short_and_cannot_act_on_a_terminal() -> None:
    assert tail(b"") == ""
    assert tail(b" \n") == ""
    assert tail(b"boom\x1b[2J\n") == "; stderr: boom\u241b[2J"
    assert tail("é".encode() * 5000) == "; stderr: " + "é" * 500
