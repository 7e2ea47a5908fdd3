"""What Python functions may return, and how their failures read."""

import traceback
from types import MappingProxyType

import pytest

from hookline.handlers._functions import as_answer, crash
from hookline.model.answers import PASS, Answer, Verdict, context, deny, notice
from hookline.model.errors import HandlerAnswerError
from hookline.model.events import PermissionRequest, PreToolUse

EVENT = PreToolUse()


@pytest.mark.parametrize("nothing", [None, "", "  \n", {}, Answer()])
def test_nothing_said_is_pass(nothing: object) -> None:
    assert as_answer(nothing, EVENT) is PASS


def test_an_answer_is_itself() -> None:
    answer = deny("no")
    assert as_answer(answer, EVENT) is answer


def test_text_is_context_where_there_is_a_place_for_it_else_a_notice() -> None:
    assert as_answer("mind", EVENT) == context("mind")
    assert as_answer("mind", PermissionRequest()) == notice("mind")


def test_a_mapping_is_read_by_the_answer_schema() -> None:
    said = MappingProxyType({"verdict": "ask", "reason": "sure?", "context": ["a"]})
    assert as_answer(said, EVENT) == Answer(verdict=Verdict.ASK, reason="sure?", context=("a",))


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"verdict": "deny"}, "needs a reason"),
        ({"verdct": "deny"}, "verdct"),
        ({"verdict": "no"}, "Invalid enum value 'no'"),
        ({1: 2}, "Expected `str`"),
        (42, "returned int"),
        (False, "returned bool"),
        (["deny"], "returned list"),
    ],
)
def test_anything_else_is_a_failed_answer(said: object, why: str) -> None:
    with pytest.raises(HandlerAnswerError, match=why):
        as_answer(said, EVENT)


def raised(action: str) -> BaseException:
    try:
        exec(compile(action, "/p/guard.py", "exec"), {})
    except BaseException as error:
        return error
    raise AssertionError


def test_a_crash_names_type_message_and_the_users_line() -> None:
    error = raised("import json\ndef f():\n    json.loads('{')\nf()")
    assert traceback.extract_tb(error.__traceback__)[-1].filename != "/p/guard.py"
    text = crash(error, "/p/guard.py", "guard.py")
    assert text.startswith("JSONDecodeError: Expecting property name")
    assert text.endswith("(guard.py:3)")


def test_a_crash_outside_the_users_file_names_no_line() -> None:
    assert crash(raised("1/0"), "/p/other.py") == "ZeroDivisionError: division by zero"


def test_a_syntax_error_names_its_line() -> None:
    assert crash(raised("a = 1\nb = (\n"), "/p/guard.py").endswith("(/p/guard.py:2)")


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("import sys\nsys.exit()", "called sys.exit() (/p/guard.py:2)"),
        ("import sys\nsys.exit(2)", "called sys.exit(2) (/p/guard.py:2)"),
        ("raise KeyError", "KeyError (/p/guard.py:1)"),
        ("raise ValueError('\\x1b[31m')", "ValueError: \u241b[31m (/p/guard.py:1)"),
    ],
)
def test_the_words_of_a_crash_are_fit_for_people(action: str, text: str) -> None:
    assert crash(raised(action), "/p/guard.py") == text


def test_an_exception_that_cannot_be_printed_is_still_named() -> None:
    action = "class Mute(Exception):\n    def __str__(self):\n        return 1/0\nraise Mute"
    assert crash(raised(action), "/p/guard.py") == "Mute (/p/guard.py:4)"


def test_an_endless_message_is_cut() -> None:
    assert len(crash(raised("raise ValueError('x' * 10**6)"), "/p/guard.py")) < 2100
