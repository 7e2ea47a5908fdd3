"""Appending items and setting keys: new text looks as if the file's owner had written it."""

import json

import pytest

from hookline.jsontext import MAX_DEPTH, JsonTextError, append, parse, set_key

HOOK = {"matcher": "Bash", "hooks": [{"type": "command"}]}


def appended(text: str, *path: str, item: object = HOOK) -> str:
    return append(text.encode(), path, item).decode()


def complaint(text: str, *path: str) -> str:
    with pytest.raises(JsonTextError) as caught:
        append(text.encode(), path, 1)
    return str(caught.value)


NEW = """\
{
  "hooks": {
    "Stop": [
      1
    ]
  }
}
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", NEW),
        ("\n", NEW),
        ("\ufeff", "\ufeff" + NEW),
        ("\ufeff\n", "\ufeff" + NEW),
        ("  ", NEW + "  "),
        ("// mine\n", "// mine\n" + NEW),
        ("// mine", "// mine\n" + NEW),
        ("/* mine */\r\n", "/* mine */\r\n" + NEW.replace("\n", "\r\n")),
        ("{}", NEW.rstrip("\n")),
        ("{\n}\n", NEW),
    ],
)
def test_a_document_without_a_value_gets_one(text: str, expected: str) -> None:
    assert appended(text, "hooks", "Stop", item=1) == expected


def test_an_item_follows_the_indentation_of_the_items_before_it() -> None:
    text = """\
{
    "model": "opus", // the good one
    "hooks": {
        "Stop": [
            {"matcher": ""}
        ]
    }
}
"""
    expected = """\
{
    "model": "opus", // the good one
    "hooks": {
        "Stop": [
            {"matcher": ""},
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command"
                    }
                ]
            }
        ]
    }
}
"""
    assert appended(text, "hooks", "Stop") == expected


def test_tabs_and_carriage_returns_are_kept_and_used() -> None:
    text = '{\r\n\t"hooks": {\r\n\t\t"Stop": []\r\n\t}\r\n}'
    expected = '{\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"a": 1\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}'
    assert appended(text, "hooks", "Stop", item={"a": 1}) == expected


def test_the_line_ending_of_most_lines_is_used() -> None:
    assert appended('{\r\n  "a": [\r\n    1\n  ]\r\n}', "a", item=2) == (
        '{\r\n  "a": [\r\n    1,\r\n    2\n  ]\r\n}'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":[1]}', '{"a":[1,{"b":[2,3]}]}'),
        ('{"a": [1]}', '{"a": [1, {"b": [2, 3]}]}'),
        ('{"a" : [ 1 ]}', '{"a" : [ 1, {"b" : [2, 3]} ]}'),
        ('{"a":    [1]}', '{"a":    [1, {"b": [2, 3]}]}'),
        ('{"a": [1,2]}', '{"a": [1,2,{"b": [2, 3]}]}'),
        ('{"a": [1,/**/2]}', '{"a": [1,/**/2, {"b": [2, 3]}]}'),
        ('{"a": []}', '{"a": [{"b": [2, 3]}]}'),
        ('{"a": [ ]}', '{"a": [ {"b": [2, 3]} ]}'),
        ('{"a": [1,]}', '{"a": [1, {"b": [2, 3]},]}'),
        ('{"a": [1, /* c */]}', '{"a": [1, {"b": [2, 3]}, /* c */]}'),
        ('{"a": [1 /* one */ ]}', '{"a": [1 /* one */, {"b": [2, 3]} ]}'),
        ('{"a": [1 // one\n]}', '{"a": [1, {"b": [2, 3]} // one\n]}'),
        ('{\n"x": 0,\n"a": [1]}', '{\n"x": 0,\n"a": [1, {"b": [2, 3]}]}'),
    ],
)
def test_a_container_on_one_line_stays_on_it(text: str, expected: str) -> None:
    assert appended(text, "a", item={"b": [2, 3]}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n "a": [\n  1 // one\n ]\n}', '{\n "a": [\n  1, // one\n  2\n ]\n}'),
        ('{\n "a": [\n  1 /* one */\n ]\n}', '{\n "a": [\n  1 /* one */,\n  2\n ]\n}'),
        ('{\n "a": [\n  1, // one\n ]\n}', '{\n "a": [\n  1, // one\n  2,\n ]\n}'),
        ('{\n "a": [\n  1, /* one */ ]\n}', '{\n "a": [\n  1, /* one */\n  2, ]\n}'),
        ('{\n "a": [\n  1\n  // more\n ]\n}', '{\n "a": [\n  1,\n  2\n  // more\n ]\n}'),
        ('{\n "a": [\n  1  \n ]\n}', '{\n "a": [\n  1,  \n  2\n ]\n}'),
        ('{\n "a": [\n  /* 1 */ 1]\n}', '{\n "a": [\n  /* 1 */ 1,\n  2]\n}'),
        ('{\n "a": [\n  1,\n  1, 1\n ]\n}', '{\n "a": [\n  1,\n  1, 1, 2\n ]\n}'),
        ('{\n "a": [\n  // none\n ]\n}', '{\n "a": [\n  // none\n  2\n ]\n}'),
        ('{\n "a": [ // none\n ]\n}', '{\n "a": [ // none\n  2\n ]\n}'),
        ('{"a": [/* none */]}', '{"a": [/* none */\n  2\n]}'),
        ('{"a": [\n]}', '{"a": [\n  2\n]}'),
        ('{"a": [\r]}', '{"a": [\n  2\r]}'),
    ],
)
def test_comments_stay_beside_what_they_are_about(text: str, expected: str) -> None:
    assert appended(text, "a", item=2) == expected


def test_brackets_that_share_a_line_keep_sharing_it() -> None:
    text = '{\n  "a": [{\n    "x": 1\n  }]\n}\n'
    expected = '{\n  "a": [{\n    "x": 1\n  }, {\n    "y": 2\n  }]\n}\n'
    assert appended(text, "a", item={"y": 2}) == expected


def test_what_is_missing_on_the_way_is_made_in_the_style_of_its_neighbours() -> None:
    assert appended('{\n  "a": {"b": {}}\n}', "a", "b", "c", item=1) == (
        '{\n  "a": {"b": {"c": [1]}}\n}'
    )
    assert appended('{\n  "a": {\n    "b": 0,\n  },\n}', "a", "c", item=1) == (
        '{\n  "a": {\n    "b": 0,\n    "c": [\n      1\n    ],\n  },\n}'
    )


def test_letters_of_all_languages_are_written_as_they_are() -> None:
    assert appended('{"a":[]}', "a", item="ü \u2028 😀\n") == '{"a":["ü \u2028 😀\\n"]}'


def test_half_a_surrogate_pair_is_escaped() -> None:
    assert appended('{"a":[]}', "a", item="\ud83d") == '{"a":["\\ud83d"]}'


@pytest.mark.parametrize("item", [float("nan"), float("inf"), {"a": object()}])
def test_what_json_cannot_say_is_refused(item: object) -> None:
    with pytest.raises((ValueError, TypeError)):
        append(b"{}", ["a"], item)


def test_the_root_is_never_the_array() -> None:
    with pytest.raises(ValueError, match="never to the root"):
        append(b"", [], 1)


def test_a_result_that_could_not_be_read_again_is_refused() -> None:
    item: object = 1
    for _ in range(MAX_DEPTH):
        item = [item]
    with pytest.raises(JsonTextError, match="nested more than 200 deep"):
        append(b"{}", ["a"], item)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[]",
            "line 1, column 1: the file must be an object, and this is an array; move it elsewhere and write {} here",
        ),
        (
            "\ufeff null",
            "line 1, column 2: the file must be an object, and this is null; move it elsewhere and write {} here",
        ),
        (
            '{"a": "x"}',
            "line 1, column 7: a must be an object, and this is a string; move it elsewhere and write {} here",
        ),
        (
            '{"a":\n {"b": {}}}',
            "line 2, column 8: a.b must be an array, and this is an object; move it elsewhere and write [] here",
        ),
        (
            '{"a": {},\n "a": {}}',
            "line 2, column 2: a is here a second time, after line 1, and programs differ in which one they read; keep one of them",
        ),
        (
            '{"a": {"b": [], "c": 1, "b": []}}',
            "line 1, column 25: a.b is here a second time, after line 1, and programs differ in which one they read; keep one of them",
        ),
        (
            '{"a": {',
            "line 1, column 8: expected a key in double quotes or '}', found the end of the file",
        ),
    ],
)
def test_a_path_that_cannot_be_followed_is_explained(text: str, message: str) -> None:
    assert complaint(text, "a", "b") == message


def test_duplicate_keys_beside_the_path_stay() -> None:
    assert appended('{"x": 1, "x": 2, "a": []}', "a", item=1) == '{"x": 1, "x": 2, "a": [1]}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '{\n  "k": true\n}\n'),
        ("{}", '{\n  "k": true\n}'),
        ('{"a":1}', '{"a":1,"k":true}'),
        ('{\n    "a": 1 // x\n}\n', '{\n    "a": 1, // x\n    "k": true\n}\n'),
    ],
)
def test_a_key_is_added_to_the_root(text: str, expected: str) -> None:
    assert set_key(text.encode(), [], "k", True).decode() == expected


def test_a_key_is_added_to_an_object_that_does_not_exist_yet() -> None:
    edited = set_key(b'{"a": 1}', ["b", "c"], "d", [None])
    assert edited == b'{"a": 1, "b": {"c": {"d": [null]}}}'


def test_a_key_that_has_the_value_already_is_left_as_it_is_written() -> None:
    raw = b'{"a": {"k": {"y":\t1e0, "x": [ "\\u0061" ]}}}'
    assert set_key(raw, ["a"], "k", {"x": ["a"], "y": 1.0}) is raw


@pytest.mark.parametrize("value", [1, "true", None, [True], {"k": True}])
def test_a_key_that_has_another_value_is_an_error(value: object) -> None:
    with pytest.raises(JsonTextError) as caught:
        set_key(b'{\n  "a": {"k": true}}', ["a"], "k", value)
    assert str(caught.value) == (
        "line 2, column 14: a.k has another value already; change it here, or remove it first"
    )


def test_the_same_edit_works_on_strict_json() -> None:
    raw = json.dumps({"hooks": {"Stop": [HOOK]}}, indent=3).encode()
    added = append(raw, ["hooks", "Stop"], HOOK)
    assert added == json.dumps({"hooks": {"Stop": [HOOK, HOOK]}}, indent=3).encode()
    assert parse(added).value() == json.loads(added)
