"""Outputs without what says nothing; what says something stays to the letter."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import ValidationError, convert

from hookline.builtin import compress_output
from hookline.builtin.compress_output import Options, compressed
from hookline.model.answers import PASS
from hookline.model.events import PostToolUse, PreToolUse
from hookline.model.ports import NOBODY
from hookline.model.tools import Tool

ALL = Options()


def told(output: str | None, **options: Any) -> str | None:
    """What the model reads instead; None when the output stays."""
    answer = compress_output.make(convert(options, Options))
    said = answer(PostToolUse(tool=Tool(output=output)), NOBODY)
    return None if said is PASS else said.rewrite.output


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        ("\x1b[31mred\x1b[0m and \x1b[1;38;5;200mloud\x1b[m", "red and loud"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b(Bplain\x1b[K\x1b[2J", "plain"),
        ("10%\r20%\r100%\ndone", "100%\ndone"),
        ("a\r\nb\r\n\x1b[0m", "a\r\nb\r\n"),
    ],
)
def test_colours_and_what_was_written_over_go(output: str, shown: str) -> None:
    assert told(output) == shown


def test_lines_of_progress_are_counted_and_the_first_and_last_stay() -> None:
    lines = [f"Downloading numpy {number}% of 18.2 MB" for number in range(0, 101, 5)]
    assert told("\n".join(["start", *lines, "end"])) == (
        "start\nDownloading numpy 0% of 18.2 MB\n[… 19 lines of progress]\n"
        "Downloading numpy 100% of 18.2 MB\nend"
    )


def test_bars_are_progress_too() -> None:
    bars = [f"[{'#' * n}{' ' * (30 - n)}] {n}/30" for n in range(31)]
    shown = told("\n".join(bars))
    assert shown is not None
    assert shown.splitlines() == [bars[0], "[… 29 lines of progress]", bars[-1]]


def test_equal_lines_are_counted() -> None:
    line = "warning: the same thing once more"
    assert told("\n".join(["a", *[line] * 12, "b"])) == (
        f"a\n{line}\n[… the same line 11 times more]\nb"
    )


@pytest.mark.parametrize(
    "output",
    [
        "",
        "plain text\nwith lines\n",
        "test_1 PASSED\ntest_2 PASSED\ntest_3 PASSED\ntest_4 PASSED\ntest_5 PASSED",
        "a = 1\nb = 2\nc = 3\nd = 4",
        "x\nx\ny",
        "2024-01-01 one\n2024-01-02 two\n2024-01-03 three",
        "-rw-r--r-- 1 dev dev 10 a\n-rw-r--r-- 1 dev dev 20 b\n-rw-r--r-- 1 dev dev 30 c",
        "}\n}\n}\n}",
        "img/1/2.png\nimg/1/3.png\nimg/2/1.png\nimg/2/2.png\nimg/3/1.png",
        "case 1: 50%\ncase 2: 40%\ncase 3: 70%\ncase 4: 10%\ncase 5: 90%",
        "run 7 took 12 s\nrun 8 took 13 s\nrun 9 took 9 s\nrun 10 took 11 s",
        "\n\n\n\n\n\n",
    ],
)
def test_what_says_something_stays_to_the_letter(output: str) -> None:
    assert told(output) is None


def test_each_part_can_be_left_alone() -> None:
    line = "the very same line, and a long one\n"
    assert told("\x1b[31mred", colours=False) is None
    assert told("10%\r20%", progress=False) is None
    assert told(line * 9, repeats=None) is None
    assert told(line * 9, repeats=10) is None


def test_other_events_and_tools_without_output_pass() -> None:
    assert told(None) is None
    answer = compress_output.make(Options())
    assert answer(PreToolUse(tool=Tool()), NOBODY) is PASS


@given(
    st.text(
        alphabet=st.sampled_from("ab1 #=%\r\n\x1b[]0m;…/."),
        max_size=200,
    )
)
def test_it_never_grows_and_a_second_time_changes_nothing(output: str) -> None:
    once = told(output)
    if once is not None:
        assert len(once) < len(output)
        assert "\x1b[0m" not in once
        twice = told(once)
        assert twice is None or len(twice) < len(once)


@given(st.lists(st.text(alphabet="abc xyz", max_size=8), max_size=30))
def test_every_different_line_is_still_there(lines: list[str]) -> None:
    kept = compressed("\n".join(lines), ALL).split("\n")
    assert set(lines) <= {*kept, ""}


def test_much_output_takes_time_that_grows_with_it_alone() -> None:
    assert told("\x1b" * 300_000 + "[" * 300_000) is not None
    shown = told("x" * 20 + "\n" + ("-" * 40 + "\n") * 100_000)
    assert shown is not None
    assert len(shown) < 200


@pytest.mark.parametrize("options", [{"repeats": 1}, {"colors": True}, {"progress": "yes"}])
def test_senseless_options_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        convert(options, Options)
