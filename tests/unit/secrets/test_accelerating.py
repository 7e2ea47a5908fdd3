"""With hyperscan or without it, the same texts are found to hold nothing."""

import json
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
from accuracy.secrets_run import written
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.secrets import RULES, accelerate, finding

INSTALLED = find_spec("hyperscan") is not None
needs_hyperscan = pytest.mark.skipif(not INSTALLED, reason="hyperscan is not installed")
WORDS = [
    *(word for rule in RULES for word in rule.keywords),
    *(
        "password",
        "TOKEN",
        "datadog",
        "HEROKU",
        "Authorization",
        "Cookie",
        "Bearer ",
        "=",
        ": ",
        ":",
    ),
    *(
        "://",
        "@",
        '"',
        "'",
        "`",
        "\\",
        "\\n",
        "\\u0070",
        "\\/",
        "\n",
        " ",
        "\t",
        ",",
        "-",
        "_",
        ".",
    ),
    *("abc1", "x" * 20, "A1b2" * 10, "0123456789abcdef", "curl ", "-u ", "é", "\x00", "\x02"),
]


@pytest.fixture(scope="module", autouse=True)
def accelerated() -> Iterator[bool]:
    """For these tests only: others are to find what re2 alone finds."""
    yield accelerate()
    finding._quicker.clear()


def test_it_is_used_where_it_is_installed_and_nowhere_else(accelerated: bool) -> None:
    assert accelerated is INSTALLED
    assert accelerate() is INSTALLED
    assert len(finding._quicker) == INSTALLED


def hints(raw: bytes) -> tuple[bool, bool]:
    """Whether there is a hint, by re2 and by hyperscan."""
    return finding._first_look()(raw) is not None, not finding._quicker[0](raw)


@needs_hyperscan
def test_every_text_of_the_corpus_is_seen_alike() -> None:
    for case in written():
        text = "".join(case.parts())
        for raw in (text.encode(), json.dumps({"a": text}).replace("/", "\\/").encode()):
            alone, quicker = hints(raw)
            assert alone == quicker, text


@needs_hyperscan
@settings(max_examples=500)
@given(st.lists(st.sampled_from(WORDS), max_size=30).map("".join) | st.text(max_size=80))
def test_every_other_text_is_seen_alike(text: str) -> None:
    # A vertical tab is a space to one of them; then re2 has the last word.
    alone, quicker = hints(text.replace("\v", " ").encode("utf-8", "surrogatepass"))
    assert alone == quicker
