"""Reading JSON and JSONC: what is allowed, where it is, and what people are told otherwise."""

import pickle

import pytest

from hookline.jsontext import MAX_DEPTH, JsonTextError, parse

SETTINGS = b"""\
{
  // what to run
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash"}, /* first */
      {"matcher": "Edit"},
    ],
  },
  "hooks ": 1.50,
}
"""


def complaint(raw: bytes) -> str:
    with pytest.raises(JsonTextError) as caught:
        parse(raw)
    return str(caught.value)


def test_a_path_of_keys_and_indexes_finds_a_node() -> None:
    node = parse(SETTINGS).find("hooks", "PreToolUse", 1, "matcher")
    assert node is not None
    assert node.kind == "string"
    assert node.value() == "Edit"
    assert SETTINGS[node.start : node.end] == b'"Edit"'


@pytest.mark.parametrize(
    "path",
    [
        ("nothing",),
        ("hooks", "nothing", "more"),
        ("hooks", 0),
        ("hooks", "PreToolUse", 2),
        ("hooks", "PreToolUse", -1),
        ("hooks", "PreToolUse", "0"),
        ("hooks ", "x"),
    ],
)
def test_a_path_that_leads_nowhere_finds_nothing(path: tuple[str | int, ...]) -> None:
    assert parse(SETTINGS).find(*path) is None


def test_no_steps_find_the_node_itself() -> None:
    root = parse(SETTINGS)
    assert root.find() is root


def test_of_duplicate_keys_the_last_counts() -> None:
    root = parse(b'{"a": 1, "b": 2, "a": 3}')
    assert [member.key for member in root.members] == ["a", "b", "a"]
    found = root.find("a")
    assert found is not None
    assert found.value() == 3
    assert root.value() == {"a": 3, "b": 2}


@pytest.mark.parametrize(
    ("raw", "kind", "value"),
    [
        (b" true ", "true", True),
        (b"false", "false", False),
        (b"null", "null", None),
        (b"-0.5e1", "number", -5.0),
        (b"7", "number", 7),
        ('"\\u00fc ü"'.encode(), "string", "ü ü"),
        (b"[]", "array", []),
        (b"\xef\xbb\xbf{}", "object", {}),
        (b"// only\n1", "number", 1),
    ],
)
def test_any_value_can_be_a_document(raw: bytes, kind: str, value: object) -> None:
    root = parse(raw)
    assert root.kind == kind
    assert root.value() == value


def test_offsets_count_characters_and_the_byte_order_mark() -> None:
    raw = '\ufeff{"ü": "😀", "a": 1}'.encode()
    member = parse(raw).members[1]
    assert raw.decode()[member.start : member.end] == '"a": 1'


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "line 1, column 1: expected a value, found the end of the file"),
        (b" // c\n", "line 2, column 1: expected a value, found the end of the file"),
        (b"{\n  'a': 1}", "line 2, column 3: expected a key in double quotes or '}', found \"'\""),
        (b"{a: 1}", "line 1, column 2: expected a key in double quotes or '}', found 'a'"),
        (b'{"a" 1}', "line 1, column 6: expected ':' after the key, found '1'"),
        (b'{"a":}', "line 1, column 6: expected a value, found '}'"),
        (b'{\r\n"a": 1\r\n"b": 2}', "line 3, column 1: expected ',' or '}', found '\"'"),
        (b"[1 2]", "line 1, column 4: expected ',' or ']', found '2'"),
        (b"[1,,2]", "line 1, column 4: expected a value, found ','"),
        (b"[,]", "line 1, column 2: expected a value, found ','"),
        (b"{,}", "line 1, column 2: expected a key in double quotes or '}', found ','"),
        (b"[1", "line 1, column 3: expected ',' or ']', found the end of the file"),
        (b"{} x", "line 1, column 4: expected the end of the file, found 'x'"),
        (b"01", "line 1, column 2: expected the end of the file, found '1'"),
        (b"NaN", "line 1, column 1: expected a value, found 'N'"),
        (b"[+1]", "line 1, column 2: expected a value, found '+'"),
        (b"[1.]", "line 1, column 3: expected ',' or ']', found '.'"),
        (b"[\xc2\xa01]", "line 1, column 2: expected a value, found '\\xa0'"),
        (b"[1] /", "line 1, column 5: expected the end of the file, found '/'"),
        (b"[1 /* x", "line 1, column 4: this comment has no closing */"),
        (b"[1 /*/", "line 1, column 4: this comment has no closing */"),
        (b'\r["a\n"]', "line 2, column 2: this string has no closing quote"),
        (b'["a', "line 1, column 2: this string has no closing quote"),
        (b'["a\tb"]', "line 1, column 4: write this control character as \\u0009"),
        (
            b'["\\x"]',
            "line 1, column 3: this escape is not one of JSON's; write a backslash as \\\\",
        ),
        (
            b'["\\u12g4"]',
            "line 1, column 3: this escape is not one of JSON's; write a backslash as \\\\",
        ),
        (b"\xef\xbb\xbfx", "line 1, column 1: expected a value, found 'x'"),
        ("[\n ü\ufeff]".encode(), "line 2, column 2: expected a value, found 'ü'"),
        (b'{"a":\n "\xff"}', "line 2, column 3: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"\xff\xfe{\x00}\x00", "line 1, column 1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (b"9" * 5000, "line 1, column 1: this number has too many digits"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(raw: bytes, message: str) -> None:
    assert complaint(raw) == message


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_is_bounded(opening: bytes, closing: bytes) -> None:
    deepest = opening * (MAX_DEPTH - 1) + b"[]" + closing * (MAX_DEPTH - 1)
    assert parse(deepest).kind in ("array", "object")
    assert "nested more than 200 deep" in complaint(
        opening * MAX_DEPTH + b"[]" + closing * MAX_DEPTH
    )
    assert "nested more than 200 deep" in complaint(opening * 100_000)


def test_an_error_survives_the_way_between_processes() -> None:
    error = JsonTextError("no", 2, 3)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.message, copy.line, copy.column, str(copy)) == ("no", 2, 3, str(error))
