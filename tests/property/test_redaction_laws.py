"""Laws of redaction that hold for any text, any bytes and any JSON."""

import json
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hookline.secrets import RULES, Scope, redact, redact_bytes

ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
HEX = "0123456789abcdef"


def run_of(alphabet: str, low: int, high: int | None = None) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(alphabet), min_size=low, max_size=high or low)


def token(prefix: str, body: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return body.map(lambda text: prefix + text)


tokens = st.one_of(
    *(token(f"gh{kind}_", run_of(ALNUM, 36)) for kind in "pousr"),
    token("github_" + "pat_", run_of(ALNUM + "_", 40, 82)),
    token("glpat" + "-", run_of(ALNUM + "_-", 20)),
    token("npm" + "_", run_of(ALNUM, 36)),
    token("sk-" + "ant-api03-", run_of(ALNUM + "_-", 80)),
    token("sk-" + "proj-", run_of(ALNUM + "_-", 40, 120)),
    token("AK" + "IA", run_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)),
    token("AI" + "za", run_of(ALNUM + "_-", 35)),
    token("hf" + "_", run_of(ALNUM, 34)),
    token("dop" + "_v1_", run_of(HEX, 64)),
    token("sk" + "_live_", run_of(ALNUM, 24)),
    token("hv" + "s.", run_of(ALNUM + "_-", 24, 90)),
    token("S" + "K", run_of(HEX, 32)),
)
fragments = st.sampled_from(
    [
        *(word for rule in RULES for word in rule.keywords),
        "password", "PASSWORD", "token", "secret", "auth", "api_key", "Authorization", "Cookie",
        "Bearer ", "=", ": ", ":", "://", "@", '"', "'", "`", "\\", "\\n", "\\u0022", "\\/", "\n", " ",
        ",", ";", "&", "{", "}", "[", "]", "--", "-----BEGIN PRIVATE KEY-----", "-----END",
        "[redacted:secret]", "[redacted:", "abc1", "x", "A1b2" * 10, "curl ", "-u ", "\x02", "\x03",
        "é", "\ud800", "$", "${X}", "str", " = ",
    ]
)  # fmt: skip
soups = st.lists(fragments, max_size=40).map("".join)
texts = soups | st.text(st.characters(codec=None), max_size=60)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
KEYS = ["password", "token", "a", "Authorization", "cookie", "command", "n", "api_key", "x y", '"']
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """A value with its texts forgotten."""
    if isinstance(value, dict):
        return {key: shape(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value]
    return "text" if isinstance(value, str) else value


def split_by_escapes(text: str, which: list[bool]) -> str:
    """The inside of a JSON string for the text, some of its characters as escapes."""
    return "".join(
        f"\\u{ord(char):04x}" if which[index % len(which)] else char
        for index, char in enumerate(text)
    )


@settings(max_examples=200)
@given(texts)
@example('password="a\\"b" token: [redacted:secret]x')
@example("Cookie: [redacted:secret] a=b")
def test_redacting_twice_changes_nothing(text: str) -> None:
    once = redact(text)
    again = redact(once.text)
    assert again.text == once.text
    assert again.count == 0


@settings(max_examples=300)
@given(texts | values.map(json.dumps), st.sampled_from(Scope), st.booleans())
@example("Cookie: [REDACTED] a=b; c=Qx7Zt9w2Lk4", Scope.LIKELY, True)
def test_redacting_twice_changes_nothing_however_sure_one_has_to_be(
    text: str, scope: Scope, plain: bool
) -> None:
    once = redact(text, scope=scope, plain=plain)
    assert redact(once.text, scope=scope, plain=plain).text == once.text


@settings(max_examples=200)
@given(texts)
def test_who_has_to_be_surer_takes_out_no_more(text: str) -> None:
    tokens, likely, everything = (redact(text, scope=scope) for scope in Scope)
    assert tokens.count == 0 or likely.count > 0
    assert likely.count == 0 or everything.count > 0


@settings(max_examples=200)
@given(texts)
def test_a_text_without_a_secret_is_the_same_object(text: str) -> None:
    done = redact(text)
    assert (done.text is text) == (done.count == 0) == (done.families == ())
    raw = text.encode("utf-8", "surrogatepass")
    same = redact_bytes(raw)
    assert (same.raw is raw) == (same.count == 0)
    assert same.raw == done.text.encode("utf-8", "surrogatepass")


@settings(max_examples=200)
@given(st.binary(max_size=200) | soups.map(lambda text: text.encode("utf-16", "surrogatepass")))
def test_any_bytes_are_taken_and_redacted_for_good(raw: bytes) -> None:
    once = redact_bytes(raw)
    assert redact_bytes(once.raw).raw == once.raw


@settings(max_examples=200)
@given(values, st.booleans(), st.sampled_from([None, 2]))
def test_json_stays_json_with_the_same_shape(value: Any, ascii_only: bool, indent: int) -> None:
    raw = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    done = redact_bytes(raw)
    after = json.loads(done.raw.decode("utf-8", "surrogatepass"))
    assert shape(after) == shape(value)
    again = redact_bytes(done.raw)
    assert again.raw == done.raw


@settings(max_examples=200)
@given(tokens, texts, texts, st.lists(st.booleans(), min_size=1, max_size=8), st.integers(0, 2))
def test_no_token_survives_however_it_is_escaped(
    token: str, before: str, after: str, which: list[bool], depth: int
) -> None:
    plain = f"{before} {token} {after}"
    assert token not in redact(plain).text
    inside = split_by_escapes(token, which)
    # Only where it is put: inside a word, as another such character might have it, it is no token.
    before, after = before.replace("\x00", ""), after.replace("\x00", "")
    nested: Any = f"{before} \x00 {after}"
    for _ in range(depth):
        nested = json.dumps({"a": nested})
    raw = json.dumps({"k": [nested]}).replace("\\" * (2**depth - 1) + "\\u0000", inside)
    assert token in json.dumps(json.loads(raw))
    done = redact_bytes(raw.encode("utf-8", "surrogatepass"))
    assert token not in json.dumps(json.loads(done.raw.decode("utf-8", "surrogatepass")))


@settings(max_examples=200)
@given(texts, st.integers(0, 2))
@example("--password\tabc1", 0)
@example("https://u:p@h", 0)
def test_the_first_look_misses_nothing_that_the_closer_one_would_find(
    text: str, depth: int
) -> None:
    for _ in range(depth):
        text = json.dumps({"a": text})
    inner = json.dumps(text).replace("/", "\\/")
    # A letter written as an escape always asks for the closer look, and is no secret.
    quick, close = (redact(f'["{start}", {inner}]') for start in ("A", "\\u0041"))
    assert (quick.count, quick.families) == (close.count, close.families)


@settings(max_examples=200)
@given(tokens, texts, texts, st.integers(0, 40))
@example("ghp_" + "A" * 36, "token: a " * 30, "", 20)
@example("ghp_" + "A" * 36, "ghp_" + "A" * 22, "", 1)
def test_no_token_survives_in_a_text_however_little_is_looked_at(
    token: str, before: str, after: str, effort: int
) -> None:
    done = redact(f"{before} {token} {after}", effort)
    assert token not in done.text
    assert done.looks <= effort


@settings(max_examples=200)
@given(values, tokens, st.sampled_from(KEYS), st.integers(0, 40), st.booleans())
def test_no_token_survives_in_json_however_little_is_looked_at_and_its_shape_stays(
    value: Any, token: str, key: str, effort: int, nested: bool
) -> None:
    inner = json.dumps({"b": f"x\n{token}"}) if nested else f"x\n{token}"
    payload = {"first": value, "all": {key: inner, "last": value}}
    raw = json.dumps(payload).encode()
    done = redact_bytes(raw, effort)
    assert token.encode() not in done.raw
    assert done.looks <= effort
    assert shape(json.loads(done.raw)) == shape(payload)


@settings(max_examples=200)
@given(st.binary(max_size=200) | soups.map(lambda text: text.encode("utf-16", "surrogatepass")))
def test_any_bytes_are_taken_when_nothing_may_be_looked_at(raw: bytes) -> None:
    done = redact_bytes(raw, 0)
    assert done.looks == 0
    assert (done.raw is raw) == (done.count == 0)
    assert set(done.families) <= {"unread"}


@settings(max_examples=200)
@given(texts, st.integers(0, 40))
@example("é token: a1", 0)
def test_what_stays_before_the_first_replacement_is_the_text_as_it_was(
    text: str, effort: int
) -> None:
    kept = redact(text, effort).text
    assert text.startswith(kept.partition("[redacted:")[0])
