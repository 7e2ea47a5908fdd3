"""How much is looked at is counted and bounded, and what was not looked through is withheld."""

import json

import pytest

from hookline.secrets import EFFORT, redact, redact_bytes

FAKE = "ghp" + "_" + "Ab1" * 12
WITHHELD = "[redacted:unread]"
# Each begins much and ends little, or is one candidate after the other.
HOSTILE = [
    "token: a",
    'password=\\" ',
    "TOKEN=a1 ",
    "'cookie: a",
    "-----BEGIN PRIVATE KEY----- a-b",
    FAKE + " ",
    FAKE + ".",
    "ghp_",
    "eyJ" + "a" * 9 + ".",
    " sk-" + "a" * 12,
    "xoxb-",
    "heroku=",
    "://a:b@",
    "curl -u a:",
    "mysql -p",
    "mysql -pa ",
    'mysql " ',
    "docker login ",
    "docker login -p a ",
    "configure aws_session_token ",
    "bearer " + "a" * 20 + " ",
    "--token ",
    "-token",
    "token_",
    "auth:",
    "\\u0070",
    '\\\\\\"token\\\\\\": ',
    '"token": "',
    "TOKEN=" + "$(:::" * 30 + "( ",
    "TOKEN=${" + "a" * 150 + " ",
    "password='a b\n",
    "datadog_api_key=",
    "datadog_",
    "_secret_aaaaaaaaaaaa ",
    "eyJrIjoi",
    "1/111111111111 ",
]


def hostile(unit: str, size: int, *, in_json: bool) -> bytes:
    text = unit * (size // len(unit)) + "token: b1 "
    return json.dumps({"command": text}).encode() if in_json else text.encode()


@pytest.mark.parametrize("in_json", [False, True])
@pytest.mark.parametrize("unit", HOSTILE)
def test_a_text_made_to_be_slow_takes_no_more_than_the_effort(unit: str, in_json: bool) -> None:
    raw = hostile(unit, 100_000, in_json=in_json)
    done = redact_bytes(raw)
    assert done.looks <= EFFORT
    again = redact_bytes(done.raw)
    assert FAKE.encode() not in done.raw
    assert again.looks <= EFFORT


@pytest.mark.parametrize("in_json", [False, True])
@pytest.mark.parametrize("unit", HOSTILE)
def test_twice_the_text_takes_twice_the_looks_at_most(unit: str, in_json: bool) -> None:
    half, whole = (
        redact_bytes(hostile(unit, size, in_json=in_json), 10**9).looks for size in (4_000, 8_000)
    )
    assert whole <= 2 * half + 50
    assert whole <= 2 * 8_000


def test_what_was_looked_through_stays_and_the_rest_of_a_text_is_withheld() -> None:
    done = redact("one A_TOKEN=abc two " + "B_TOKEN=def " * 20 + FAKE, effort=8)
    assert done.text.startswith("one A_TOKEN=[redacted:secret] two B_TOKEN=")
    assert done.text.endswith(WITHHELD)
    assert done.families == ("secret", "unread")
    assert done.count == done.text.count("[redacted:")
    assert done.looks <= 8


def test_a_text_that_is_not_looked_at_is_withheld_from_its_first_candidate() -> None:
    assert redact("some words, then token: a1 and more", effort=0).text == (
        f"some words, then {WITHHELD}"
    )


def test_a_text_without_a_candidate_needs_no_effort() -> None:
    text = "nothing to see here"
    assert redact(text, effort=0).text is text


def test_strings_that_were_not_looked_through_are_withheld_and_their_keys_stay() -> None:
    payload = {
        "name": "write",
        "content": "token: a " * 50,
        "n": [1, 2.5, None, True, ""],
        "more": {"path": "/a/b", "env": ["x", FAKE]},
    }
    done = redact_bytes(json.dumps(payload).encode(), effort=20)
    assert json.loads(done.raw) == {
        "name": "write",
        "content": WITHHELD,
        "n": [1, 2.5, None, True, ""],
        "more": {"path": WITHHELD, "env": [WITHHELD, WITHHELD]},
    }
    assert (done.count, done.families) == (4, ("unread",))


def test_a_long_string_keeps_its_beginning_where_no_candidate_is() -> None:
    words = 'a word and "another"\n' * 100
    done = redact_bytes(json.dumps({"content": words + "token: a " * 50}).encode(), effort=20)
    content = json.loads(done.raw)["content"]
    assert content.endswith(WITHHELD)
    assert words.startswith(content.removesuffix(WITHHELD))
    assert len(content) > 1_000


def test_keys_are_withheld_when_one_of_them_may_be_a_secret() -> None:
    raw = json.dumps({"a": "token: a " * 50, "b": {FAKE: 1, "c": 2}}).encode()
    done = redact_bytes(raw, effort=10)
    assert json.loads(done.raw) == {"a": WITHHELD, WITHHELD: {WITHHELD: 2}}


def test_withholding_twice_changes_nothing() -> None:
    raw = json.dumps({"a": "token: a " * 50, "b": ["x", "y"]}).encode()
    once = redact_bytes(raw, effort=10)
    assert redact_bytes(once.raw, effort=10).raw == once.raw


def test_a_payload_of_ordinary_size_is_looked_through_by_far() -> None:
    line = "def login(self, token: str, password: str = None) -> Session:  # 'quoted' \"twice\"\n"
    raw = json.dumps(
        {"content": line * 20 + "# a line without a name of that kind\n" * 5_000}
    ).encode()
    done = redact_bytes(raw)
    assert done.raw is raw
    assert 0 < done.looks < EFFORT / 10


@pytest.mark.parametrize("effort", range(0, 40, 2))
def test_no_beginning_of_a_secret_is_left_where_looking_ends_inside_it(effort: int) -> None:
    # Its first half alone is no token, and looking may end where a name begins in it.
    token = "github_" + "pat_" + "A" * 15 + "_token"
    done = redact(f"a token: b, a token: c, {token}: c1", effort)
    assert "AAAA" not in done.text
