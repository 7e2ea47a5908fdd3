"""Removing one element, and pruning what it leaves empty: nobody else's text goes with it."""

import pytest

from hookline.jsontext import JsonTextError, Step, prune_empty, remove


def removed(text: str, *path: Step) -> str:
    return remove(text.encode(), path).decode()


def pruned(text: str, *path: Step) -> str:
    return prune_empty(text.encode(), path).decode()


SETTINGS = """\
{
  // the model
  "model": "opus", // the good one
  // what to run
  "hooks": {"Stop": [1, 2, 3]}, /* ours */
  // the end
  "x": 1.50 // last
  // really
}
"""


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("model", SETTINGS.replace('\n  "model": "opus", // the good one', "")),
        ("hooks", SETTINGS.replace('\n  "hooks": {"Stop": [1, 2, 3]}, /* ours */', "")),
        ("x", SETTINGS.replace("}, /*", "} /*").replace('\n  "x": 1.50 // last', "")),
    ],
)
def test_an_element_on_a_line_of_its_own_goes_with_that_line(key: str, expected: str) -> None:
    assert removed(SETTINGS, key) == expected


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[ 1,2 ]", 0, "[ 2 ]"),
        ("[ 1,2 ]", 1, "[ 1 ]"),
        ("[1, 2,]", 1, "[1,]"),
        ("[1]", 0, "[]"),
        ("[ 1, ]", 0, "[]"),
        ("[\n  1\n]", 0, "[]"),
        ("[\n  // c\n  1\n]", 0, "[\n  // c\n]"),
        ("[\n  1,\n  2\n]", 0, "[\n  2\n]"),
        ("[\n  1,\n  2,\n]", 1, "[\n  1,\n]"),
        ("[\n  1, 2,\n  3\n]", 0, "[\n  2,\n  3\n]"),
        ("[\n  1, 2,\n  3\n]", 1, "[\n  1,\n  3\n]"),
        ("[1,\n  2]", 1, "[1]"),
        ("[1, // one\n  2]", 1, "[1 // one\n  ]"),
        ("[1, // one\n  2\n]", 1, "[1 // one\n]"),
        ("[\n  1,\n\n  // two\n  2\n]", 1, "[\n  1\n\n  // two\n]"),
    ],
)
def test_an_element_takes_its_comma_and_leaves_no_gap(text: str, index: int, expected: str) -> None:
    assert removed(f'{{"a": {text}}}', "a", index) == f'{{"a": {expected}}}'


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        ("[1, /* two */ 2, 3]", 1, "[1, 3]"),
        ("[1, 2 /* two */, 3]", 1, "[1, 3]"),
        ("[1 /* one */, 2 /* two */]", 1, "[1 /* one */]"),
        ("[1, 2 /* two\n */]", 1, "[1 /* two\n */]"),
        ("[1, /* a\n b */ 2]", 1, "[1 /* a\n b */]"),
        ("[1, 2, // all\n  3]", 1, "[1, // all\n  3]"),
        ("[1, 2 // all\n]", 1, "[1 // all\n]"),
        ("[1, /* three */ 3]", 0, "[/* three */ 3]"),
    ],
)
def test_on_a_shared_line_only_the_comments_right_beside_it_go_along(
    text: str, index: int, expected: str
) -> None:
    assert removed(f'{{"a": {text}}}', "a", index) == f'{{"a": {expected}}}'


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (0, "[\n   2\n  , 3\n]"),
        (1, "[\n    1\n  , 3\n]"),
        (2, "[\n    1\n  , 2\n]"),
    ],
)
def test_commas_may_come_first(index: int, expected: str) -> None:
    text = "[\n    1\n  , 2\n  , 3\n]"
    assert removed(f'{{"a": {text}}}', "a", index) == f'{{"a": {expected}}}'


def test_mixed_line_endings_stay_mixed() -> None:
    assert (
        removed('{\r\n\t"a": 1,\n\t"b": 2,\r\n\t"c": 3\r}', "b") == '{\r\n\t"a": 1,\r\n\t"c": 3\r}'
    )


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("", ("a",), "line 1, column 1: there is no a in here"),
        ('{\n "a": []}', ("a", 0), "line 2, column 7: there is no a[0] in here"),
        ('{\n "a": [{}]}', ("a", 0, "b"), "line 2, column 8: there is no a[0].b in here"),
        (
            '{"a": {}}',
            ("a", 0),
            "line 1, column 7: a must be an array, and this is an object; move it elsewhere and write [] here",
        ),
        (
            '{"a": 1, "a": 1}',
            ("a",),
            "line 1, column 10: a is here a second time, after line 1, and programs differ in which one they read; keep one of them",
        ),
        (
            "[1]",
            (0,),
            "line 1, column 1: the file must be an object, and this is an array; move it elsewhere and write {} here",
        ),
    ],
)
def test_what_cannot_be_removed_is_explained(
    text: str, path: tuple[Step, ...], message: str
) -> None:
    with pytest.raises(JsonTextError) as caught:
        remove(text.encode(), path)
    assert str(caught.value) == message


def test_the_root_is_never_removed() -> None:
    with pytest.raises(ValueError, match="never the root"):
        remove(b"{}", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"x": 1, "hooks": {"Stop": []}}', '{"x": 1}'),
        ('{"hooks": {"Stop": [ ], "Start": []}}', '{"hooks": {"Start": []}}'),
        ('{"hooks": {}}', "{}"),
        ('{"hooks": {"Stop": [0]}}', '{"hooks": {"Stop": [0]}}'),
        ('{"hooks": {"Stop": null}}', '{"hooks": {"Stop": null}}'),
        ('{"hooks": {"Stop": [/* mine */]}}', '{"hooks": {"Stop": [/* mine */]}}'),
        ('{"x": {}}', '{"x": {}}'),
        ("{}", "{}"),
        ("// nothing\n", "// nothing\n"),
    ],
)
def test_only_containers_that_hold_nothing_are_pruned(text: str, expected: str) -> None:
    assert pruned(text, "hooks", "Stop") == expected


def test_an_empty_item_is_pruned_out_of_its_array() -> None:
    assert pruned('{"a": [{"b": []}, 1]}', "a", 0, "b") == '{"a": [1]}'


def test_a_path_through_something_else_is_not_pruned() -> None:
    with pytest.raises(JsonTextError, match="hooks must be an object, and this is true"):
        pruned('{"hooks": true}', "hooks", "Stop")
