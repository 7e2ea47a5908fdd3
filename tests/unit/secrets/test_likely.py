"""Where a mistake would do harm, examples, hashes and names stay, and what looks random goes."""

import pytest
from accuracy.filling import filled

from hookline.secrets import Scope, redact
from hookline.secrets.checks import bech32, crc, jwt, mixed, pem, random

LIKELY = Scope.LIKELY


def left(text: str, scope: Scope = LIKELY) -> bool:
    """Whether a text stays as it is."""
    return redact(text, scope=scope).text is text


@pytest.mark.parametrize(
    "text",
    [
        "AK" + "IAIOSFODNN7EXAMPLE",
        "gh" + "p_" + "x" * 36,
        "gh" + "p_your_token_here_please_now",
        "sk-" + "0" * 48,
        "sk-ant-" + "your-key-goes-here-and-on",
        "sk-learn-contrib-imbalanced-datasets-v2",
        "npm" + "_" + "x" * 36,
        "password: changeme",
        "password: password123",
        'auth: "OAuth2PasswordBearer"',
        "https://user:pass@example.com",
        "postgres://postgres:postgres@db/x",
        'token = f"{prefix}-{number}"',
        "Set-Cookie: a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT",
        "ey" + "J2ZXJzaW9uIjozfQ.abcdefghij.klmnopqrst",
        'START = b"-----BEGIN OPENSSH PRIVATE KEY-----"',
        "def ask(prompt='Password: ', stream=None):",
        "auth = 'Digest %s' % value",
    ],
)
def test_what_is_no_secret_stays_and_the_journal_takes_it_for_one_or_not(text: str) -> None:
    assert left(text)
    assert left(text, Scope.TOKENS)


@pytest.mark.parametrize(
    "text",
    [
        "PASSWORD={any:12}",
        "password: Sommer2024!",
        "PASSWORD=hunter2",
        'client_secret: "{uuid}"',
        "Cookie: sid={hex:32}",
        "Authorization: Basic {alnum:30}",
        "the header Bearer {url:40} was sent",
    ],
)
def test_what_a_name_or_header_announces_is_taken_when_it_looks_so_and_by_form_alone_not(
    text: str,
) -> None:
    assert not left(filled(text))
    assert left(filled(text), Scope.TOKENS)


@pytest.mark.parametrize(
    "text",
    [
        "session_token: {uuid}",
        "token_hash: {hex:64}",
        "public_token: {url:40}",
        "integrity sha512-{b64:86}==",
        "commit {hex:40}",
    ],
)
def test_hashes_and_numbers_of_things_stay(text: str) -> None:
    assert left(filled(text))


def test_a_right_checksum_makes_a_token_of_what_else_would_be_an_example() -> None:
    masked = b"gh" + b"p_" + b"x" * 30
    assert not crc(masked + b"xxxxxx")
    # The checksum of thirty times `x`, in base 62.
    assert crc(masked + b"13M0X2")
    assert crc(filled("ghp_{checked:36}").encode())
    assert crc(filled("ghp_{alnum:36}").encode())


def test_a_key_of_age_is_known_by_its_checksum() -> None:
    # From the description of the format: the key that holds only zeros would be an example.
    key = b"AGE-SECRET-" + b"KEY-1" + b"GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"
    assert bech32(key)
    assert not bech32(b"AGE-SECRET-" + b"KEY-1" + b"X" * 58)


def test_a_jwt_is_one_when_its_header_names_an_algorithm() -> None:
    assert jwt(filled("{jwt}").encode())
    assert not jwt(b"eyJhbGciOiJub25lIn0.eyJhIjoxfQ.")  # none
    assert not jwt(b"eyJhIjoxfQ.eyJhIjoxfQ.abc")
    assert not jwt(b"eyJ!.a.b")


def test_words_joined_by_signs_are_no_token() -> None:
    assert mixed(filled("sk-proj-{url:60}").encode())
    assert not mixed(b"sk-learn-contrib-packages-for-2024")
    assert random(filled("{hex:32}").encode())
    assert not random(b"aaaaaaaaaaaaaaaabbbbbbbb")


def test_the_line_that_begins_a_private_key_is_none_and_a_cut_one_is() -> None:
    begins = b"-----BEGIN RSA PRIVATE " + b"KEY-----\n"
    assert not pem(begins)
    assert not pem(begins + b"MIIE\n-----END RSA PRIVATE " + b"KEY-----")
    assert pem(begins + filled("{pem}").encode()[:60])


def test_code_in_json_that_was_cut_off_is_no_value_that_goes_on_in_the_next_line() -> None:
    code = "        lasttoken = token\\n    return vars\\nERRORTOKEN = 60\\nCOMMENT = 61\\n"
    text = '{"content": "' + code
    assert redact(text, scope=Scope.LIKELY).text == text
    found = redact(f"{text}DB_PASSWORD = q7Zt!w9Lk2\\nNEXT = 1", scope=Scope.LIKELY)
    assert "q7Zt" not in found.text
