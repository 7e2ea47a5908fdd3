"""With hyperscan or without it, near its hints alone or all of it: a text is redacted alike."""

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from accuracy.filling import filled
from accuracy.secrets_run import written
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.secrets.samples import SAMPLES

from hookline.secrets import RULES, Scope, accelerate, hints, redact, redact_bytes
from hookline.secrets.accelerating import Hints

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
        "pass",
        "auth",
        ":= ",
        "=> ",
        "=== ",
    ),
    *("=", ": ", ":", "://", "@", '"', "'", "`", "\\", "\\n", "\\u0070", "\\/", "\n", " ", "\t"),
    *(",", "-", "--", "_", ".", "abc1", "x" * 20, "A1b2" * 10, "0123456789abcdef", "curl ", "-u "),
    *("é", "\x00", "\x02", "\v", "\f", "\ud800", " " * 70, "y" * 210),
]
soups = st.lists(st.sampled_from(WORDS), max_size=30).map("".join) | st.text(max_size=80)

Looker = Callable[[bytes], Hints | None]
Result = tuple[bytes, int, tuple[str, ...]]


@pytest.fixture(scope="module")
def quick() -> Iterator[Looker]:
    """Hyperscan's look. Other tests are to find what re2 alone finds."""
    assert accelerate()
    yield hints._quicker[0]
    hints._quicker.clear()


def by(looker: Looker | None, raw: bytes, scope: Scope) -> Result:
    """What is left of a text, as that look at its hints has it."""
    hints._quicker[:] = [] if looker is None else [looker]
    done = redact_bytes(raw, max(2_000, len(raw) // 8), scope=scope)
    return done.raw, done.count, done.families


def whole(text: bytes) -> None:
    """A look that tells nothing of where hints are: all of the text has to be looked at."""


def around(text: str, size: int, seed: int) -> bytes:
    """The text in the middle of a long one without any hint, by lines."""
    rng = random.Random(seed)
    words = [
        "the",
        "file",
        "was",
        "read",
        "and",
        "then",
        "moved",
        "by",
        "14",
        "of",
        "them",
        "(see",
        "line",
        "3),",
        "or",
        "so;",
        '"it"',
        "isn't",
    ]
    lines = [" ".join(rng.choices(words, k=rng.randrange(4, 14))) for _ in range(size // 50)]
    lines.insert(len(lines) // 2, text)
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def shapes(text: str, seed: int) -> Iterator[bytes]:
    """The ways in which a text may come: alone, in a long one, as JSON, in JSON in JSON."""
    yield text.encode("utf-8", "surrogatepass")
    plain = around(text, 6_000, seed)
    yield plain
    shown = plain.decode("utf-8", "replace")
    yield json.dumps({"output": shown, "n": 1}).replace("/", "\\/").encode()
    yield b"2 lines\n" + json.dumps({"output": json.dumps({"inner": shown})}).encode()


def tokens() -> list[str]:
    """One token of every family that has samples, as code and settings write it."""
    return [
        f"API_TOKEN={filled(form)} # {name}" for name, forms in SAMPLES.items() for form in forms
    ]


def test_it_is_used_where_it_is_installed_and_nowhere_else() -> None:
    script = (
        "import sys; from hookline.secrets import accelerate, hints\n"
        "print(accelerate(), accelerate(), len(hints._quicker), 'hyperscan' in sys.modules)"
    )
    shown = subprocess.check_output([sys.executable, "-c", script], text=True, timeout=60)
    assert shown.split() == [*[str(INSTALLED)] * 2, str(int(INSTALLED)), str(INSTALLED)]


def test_nothing_is_loaded_or_compiled_for_it_until_somebody_asks() -> None:
    script = (
        "import sys, threading; from hookline.secrets import redact\n"
        "for n in range(50): redact('token: abc%d ' % n * 500)\n"
        "print('hyperscan' in sys.modules, threading.active_count())"
    )
    shown = subprocess.check_output([sys.executable, "-c", script], text=True, timeout=60)
    assert shown.split() == ["False", "1"]


def test_to_ask_for_it_soon_holds_nobody_up_and_is_done_once() -> None:
    script = (
        "import sys, threading; from hookline.secrets import accelerate_soon, hints, redact\n"
        "accelerate_soon(); accelerate_soon()\n"
        "workers = [each for each in threading.enumerate() if each.name == 'hookline-secrets']\n"
        "print(len(workers), redact('token: abc123x').count)\n"
        "[each.join() for each in workers]\n"
        "print(len(hints._quicker), redact('token: abc123x').count)"
    )
    shown = subprocess.check_output([sys.executable, "-c", script], text=True, timeout=60)
    assert shown.split() == ["1", "1", str(int(INSTALLED)), "1"]


def found_by(look: Callable[..., Any], raw: bytes) -> list[tuple[int, int]]:
    """Where that search finds hints, one after the other."""
    found, at = [], 0
    while (hit := look(raw, at)) is not None:
        found.append(hit.span())
        at = hit.start() + 1
    return found


@settings(max_examples=500, deadline=None)
@given(soups)
def test_what_the_words_of_a_text_allow_are_all_of_its_hints(text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    narrow = hints._narrow_look(hints._allowed(raw))
    assert found_by(narrow, raw) == found_by(hints._first_look(), raw)


def test_the_words_of_a_token_of_every_family_allow_its_hints() -> None:
    for number, text in enumerate(tokens()):
        for raw in shapes(text, number):
            narrow = hints._narrow_look(hints._allowed(raw))
            assert found_by(narrow, raw) == found_by(hints._first_look(), raw), text


def test_who_sees_more_than_a_few_texts_searches_for_everything_at_once() -> None:
    script = (
        "from hookline.secrets import hints, redact\n"
        "for n in range(50): assert redact('nothing %d' % n).count == 0\n"
        "assert redact('token: abc123x').count == 1\n"
        "print(len(hints._seen), hints._first_look.cache_info().currsize)"
    )
    shown = subprocess.check_output([sys.executable, "-c", script], text=True, timeout=60)
    assert shown.split() == ["4", "1"]


@needs_hyperscan
@settings(max_examples=500)
@given(soups)
def test_every_text_has_hints_for_both_or_for_neither(quick: Looker, text: str) -> None:
    raw = text.encode("utf-8", "surrogatepass")
    found = quick(raw)
    assert (hints._first_look()(raw) is None) == (
        found is not None and not found.tokens and not found.places
    )


@needs_hyperscan
@pytest.mark.slow
def test_every_text_of_the_corpus_is_redacted_alike(quick: Looker) -> None:
    scopes = list(Scope)
    for number, case in enumerate(written()):
        scope = scopes[number % len(scopes)]
        for raw in shapes("".join(case.parts()), number):
            expected = by(whole, raw, scope)
            assert by(None, raw, scope) == expected
            assert by(quick, raw, scope) == expected


@needs_hyperscan
def test_a_token_of_every_family_is_redacted_alike(quick: Looker) -> None:
    for number, text in enumerate(tokens()):
        for raw in shapes(text, number):
            expected = by(whole, raw, Scope.LIKELY)
            assert expected[1], text
            assert by(None, raw, Scope.LIKELY) == expected
            assert by(quick, raw, Scope.LIKELY) == expected


@needs_hyperscan
@settings(max_examples=300, deadline=None)
@given(st.lists(soups, min_size=1, max_size=4), st.sampled_from(Scope), st.integers(0, 3))
def test_any_other_text_is_redacted_alike(
    quick: Looker, texts: list[str], scope: Scope, seed: int
) -> None:
    long = "\n".join(around(text, 2_000, seed).decode("utf-8", "surrogatepass") for text in texts)
    for raw in shapes(long, seed):
        expected = by(whole, raw, scope)
        assert by(None, raw, scope) == expected
        assert by(quick, raw, scope) == expected


@needs_hyperscan
@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), soups, st.sampled_from(Scope))
def test_bytes_that_are_no_text_are_redacted_alike(
    quick: Looker, noise: bytes, text: str, scope: Scope
) -> None:
    raw = noise + b"\n" + around(text, 2_000, 1) + noise + b"\xff\xfe\x80"
    expected = by(whole, raw, scope)
    assert by(None, raw, scope) == expected
    assert by(quick, raw, scope) == expected


@needs_hyperscan
def test_half_characters_stay_as_they_are(quick: Looker) -> None:
    token = "ghp" + "_" + "Ab1" * 12
    hints._quicker[:] = [quick]
    done = redact(f"\ud800 {token} \udfff" + " word" * 2_000)
    assert done.text.startswith("\ud800 [redacted:github] \udfff word")


@needs_hyperscan
def test_a_text_of_millions_of_bytes_is_redacted_alike(quick: Looker) -> None:
    rng = random.Random(3)
    pieces = [around(text, 20_000, rng.randrange(9)) for text in rng.sample(tokens(), 40)]
    raw = b"\n".join(pieces * 4)
    expected = by(whole, raw, Scope.LIKELY)
    assert expected[1] >= 160
    assert by(quick, raw, Scope.LIKELY) == expected


@needs_hyperscan
def test_more_hints_than_anyone_looks_at_one_by_one_are_looked_at_as_a_whole(quick: Looker) -> None:
    raw = b"token: a1b2c3d4e5\n" * 5_000
    assert quick(raw) is None
    expected = by(whole, raw, Scope.LIKELY)
    assert by(quick, raw, Scope.LIKELY) == expected
