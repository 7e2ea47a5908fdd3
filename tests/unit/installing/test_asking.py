"""A program that speaks JSON lines is asked, and ended whatever it does."""

import sys
from time import monotonic

import pytest

from hookline.installing.asking import converse

HELLO: list[dict[str, object]] = [
    {"id": 0, "method": "hello"},
    {"method": "note"},
    {"id": 1, "method": "more"},
]

ECHO = """
import json, sys
for line in sys.stdin:
    said = json.loads(line)
    print(json.dumps({"method": "noise", "id": said.get("id")}), flush=True)
    if "id" in said:
        print(json.dumps({"id": said["id"], "result": said["method"]}), flush=True)
"""


def ask(script: str, patience: float = 20.0) -> object:
    argv = (sys.executable, "-c", script)
    return converse(argv, HELLO, env={}, cwd="/", patience=patience)


def test_each_question_gets_its_answer() -> None:
    assert ask(ECHO) == {0: "hello", 1: "more"}


@pytest.mark.parametrize(
    "script",
    [
        "",
        "print('no json')",
        "print('[]')",
        "import sys; sys.stdin.close()",
        """print('{"id": 0, "error": {"code": 1}}')""",
    ],
)
def test_what_is_no_answer_is_none(script: str) -> None:
    assert ask(script) is None


def test_a_program_that_cannot_be_started_is_none() -> None:
    assert converse(("/nowhere/codex",), HELLO, env={}, cwd="/") is None


def test_a_silent_program_is_not_waited_for() -> None:
    start = monotonic()
    assert ask("import time; time.sleep(600)", patience=0.5) is None
    assert monotonic() - start < 60
