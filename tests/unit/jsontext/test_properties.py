"""Laws that hold for every text: what was there stays, and what was added can be taken out."""

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from hookline.jsontext import (
    JsonTextError,
    Node,
    Step,
    append,
    parse,
    prune_empty,
    remove,
    set_key,
)
from hookline.jsontext.reading import Span, read

# A text is drawn together with the same document in plain JSON.
Twin = tuple[str, str]

_keys = st.sampled_from(("hooks", "a", "b", "ü", "\u2028", "", "//", "/*", 'q"', "back\\slash"))
_numbers = st.sampled_from(("0", "-0", "1.50", "1E+2", "12345678901234567890"))
_words = st.sampled_from(("true", "false", "null"))
_strings = st.sampled_from(
    ('"\\u00fc"', '"\\/"', '"// no"', '"/* no */"', '"[,]"', '"\\ud83d"', '"😀"', '""')
)

# Trivia come from pools, one draw each: an example is then cheap enough to have many of them.
_SPACES = ("", " ", "\t", "\n", "\r\n", "\n  ", "\n    ", "\r\n\t", "\r")
_COMMENTS = ("// c\n", '// "x": [1,\r\n', "/* c */", "/**/", "/* a\n b */", "/*,]}*/", "//\r")
_spaces = st.sampled_from(_SPACES)
_trivia = st.sampled_from(_SPACES * 8) | st.sampled_from(
    [
        first + comment + second + other
        for first, comment in itertools.product(_SPACES, _COMMENTS)
        for second, other in itertools.product((" ", "\n  "), ("", *_COMMENTS))
    ]
)


def _container(
    values: st.SearchStrategy[Twin], trivia: st.SearchStrategy[str], *, keyed: bool
) -> st.SearchStrategy[Twin]:
    """Values between brackets, with anything that may stand around them."""
    opening, closing = "{}" if keyed else "[]"
    keys = st.tuples(_keys.map(json.dumps), trivia, trivia) if keyed else st.just(("", "", ""))
    written = st.tuples(trivia, keys, values, trivia)
    commas = st.just("") if trivia is _spaces else st.sampled_from(("", ","))

    def twin(parts: tuple[list[Any], str, str]) -> Twin:
        elements, comma, end = parts
        colon = ":" if keyed else ""
        texts = [f"{a}{key}{b}{colon}{c}{text}{d}" for a, (key, b, c), (text, _), d in elements]
        plains = [f"{key}{colon}{plain}" for _, (key, _, _), (_, plain), _ in elements]
        inside = ",".join(texts) + (comma if texts else "") + end
        return opening + inside + closing, opening + ",".join(plains) + closing

    return st.tuples(st.lists(written, max_size=3), commas, trivia).map(twin)


def _values(trivia: st.SearchStrategy[str]) -> st.SearchStrategy[Twin]:
    return st.recursive(
        (_numbers | _words | _strings).map(lambda text: (text, text)),
        lambda inner: (
            _container(inner, trivia, keyed=True) | _container(inner, trivia, keyed=False)
        ),
        max_leaves=6,
    )


def _documents(trivia: st.SearchStrategy[str]) -> st.SearchStrategy[Twin]:
    """Documents whose root is an object, written in any way at all."""
    root = _container(_values(trivia), trivia, keyed=True)
    return st.tuples(trivia, root, trivia).map(lambda d: (d[0] + d[1][0] + d[2], d[1][1]))


strict_documents = _documents(_spaces)
documents = st.tuples(
    st.sampled_from(("", "\ufeff")), _documents(_trivia), st.sampled_from(("", "// end"))
).map(lambda d: (d[0] + d[1][0] + d[2], d[1][1]))


def _with_list(parts: tuple[str, str, str, Twin, str, str]) -> Twin:
    before, a, b, (text, plain), c, after = parts
    return f'{before}{a}"list"{b}:{text}{c}{after}', f'{{"x": [0], "list": {plain}}}'


# Documents with an array that has a name, so that no example is drawn in vain.
listed = st.tuples(
    st.sampled_from(('{"x":[0],', '{ "x": [0], ', '{\n  "x": [0],\n  ', '{\r\n\t"x": [0],\r\n\t')),
    _trivia,
    _trivia,
    _container(_values(_trivia), _trivia, keyed=False),
    _trivia,
    st.sampled_from(("}", ",}", "\n}\n", ",\r\n}")),
).map(_with_list)

items = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("\ud83d"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)


def places(node: Node, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Node]]:
    """Every node that a path leads to without passing a duplicate key."""
    yield path, node
    for index, item in enumerate(node.items):
        yield from places(item, (*path, index))
    keys = [member.key for member in node.members]
    for member in node.members:
        if keys.count(member.key) == 1:
            yield from places(member.value, (*path, member.key))


def is_subsequence(part: bytes, whole: bytes) -> bool:
    rest = iter(whole)
    return all(byte in rest for byte in part)


def objects(text: str) -> list[tuple[str, ...]]:
    """The objects that keys alone lead to."""
    found: list[tuple[str, ...]] = []
    for path, node in places(parse(text.encode())):
        names = tuple(step for step in path if isinstance(step, str))
        if node.kind == "object" and names == path:
            found.append(names)
    return found


def inner(value: Any, path: tuple[Step, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def value_of(raw: bytes) -> Any:
    return parse(raw).value()


@given(documents)
def test_a_text_means_what_it_means_without_comments_and_trailing_commas(twin: Twin) -> None:
    text, plain = twin
    assert value_of(text.encode()) == json.loads(plain)


@given(documents)
def test_every_node_is_where_it_says(twin: Twin) -> None:
    text, _ = twin
    for _, node in places(parse(text.encode())):
        again = parse(text[node.start : node.end].encode())
        assert (again.kind, again.value()) == (node.kind, node.value())
        for member in node.members:
            assert json.loads(text[member.key_node.start : member.key_node.end]) == member.key


def failure(call: Callable[[], object]) -> JsonTextError | None:
    try:
        call()
    except JsonTextError as error:
        return error
    return None


def _no_constants(name: str) -> None:
    raise ValueError(name)


def strictly(text: str) -> tuple[object] | None:
    """The value of a text that is JSON to the letter."""
    try:
        return (json.loads(text, parse_constant=_no_constants),)
    except ValueError:
        return None


@given(strict_documents, st.data())
def test_a_slip_of_the_pen_is_found_exactly_when_the_standard_library_finds_it(
    twin: Twin, data: st.DataObject
) -> None:
    text, _ = twin
    assume("//" not in text and "/*" not in text)
    at = data.draw(st.integers(0, len(text)))
    slip = data.draw(st.sampled_from(("", *"[]{}:\"'\\-+.0e1tN\x00\u00a0\ufeff")))
    broken = text[:at] + slip + text[at + data.draw(st.integers(0, 1)) :]
    # A mark in front is what the standard library refuses and we allow.
    expected = strictly(broken.removeprefix("\ufeff"))
    error = failure(lambda: parse(broken.encode()))
    if expected is not None:
        assert (value_of(broken.encode()),) == expected
    elif error is None:
        assert "," in broken, "only a trailing comma is more than JSON allows"
    else:
        assert 1 <= error.line <= broken.count("\n") + broken.count("\r") + 1


@given(st.binary(max_size=12))
def test_no_bytes_at_all_raise_another_error(raw: bytes) -> None:
    failure(lambda: parse(raw))
    failure(lambda: append(raw, ["a"], 1))
    failure(lambda: remove(raw, ["a"]))
    failure(lambda: prune_empty(raw, ["a"]))


@given(listed, items)
def test_appending_to_an_array_adds_the_item_and_removing_it_gives_every_byte_back(
    twin: Twin, item: object
) -> None:
    text, plain = twin
    expected = json.loads(plain)
    count = len(expected["list"])
    expected["list"].append(item)

    added = append(text.encode(), ["list"], item)

    assert value_of(added) == expected
    assert is_subsequence(text.encode(), added)
    again = remove(added, ["list", count])
    assert value_of(again) == json.loads(plain)
    if count:
        assert again == text.encode()
    # Of an array that was empty, the comments in it come back.
    assert "".join(again.decode().split()) == "".join(text.split())


@given(documents, items, st.data())
def test_a_path_that_is_missing_is_made_and_pruned_away_again(
    twin: Twin, item: object, data: st.DataObject
) -> None:
    text, plain = twin
    above = data.draw(st.sampled_from(objects(text)))
    path = (*above, *data.draw(st.sampled_from((("new",), ("new", "newer")))))
    expected = json.loads(plain)
    into = inner(expected, above)
    full = bool(into)
    for name in path[len(above) : -1]:
        into = into.setdefault(name, {})
    into[path[-1]] = [item]

    added = append(text.encode(), path, item)

    assert value_of(added) == expected
    assert is_subsequence(text.encode(), added)
    if full:
        assert prune_empty(remove(added, (*path, 0)), path) == text.encode()


@given(documents, items, st.data())
def test_setting_a_key_adds_it_once_and_removing_it_gives_every_byte_back(
    twin: Twin, value: object, data: st.DataObject
) -> None:
    text, plain = twin
    path = data.draw(st.sampled_from(objects(text)))
    expected = json.loads(plain)
    into = inner(expected, path)
    full = bool(into)
    into["new"] = value

    added = set_key(text.encode(), path, "new", value)

    assert value_of(added) == expected
    assert is_subsequence(text.encode(), added)
    assert set_key(added, path, "new", value) == added
    if full:
        assert remove(added, (*path, "new")) == text.encode()


@given(documents, st.data())
def test_removing_takes_out_one_element_and_adds_nothing(twin: Twin, data: st.DataObject) -> None:
    text, plain = twin
    paths = [path for path, _ in places(parse(text.encode())) if path]
    assume(paths)
    path = data.draw(st.sampled_from(paths))
    expected = json.loads(plain)
    del inner(expected, path[:-1])[path[-1]]

    removed = remove(text.encode(), path)

    assert value_of(removed) == expected
    assert is_subsequence(removed, text.encode())


def lone_comments(raw: bytes, without: Span) -> list[str]:
    """The comments that have their lines to themselves, except those inside a span."""
    text, start, end = raw.decode(), *without
    return [
        text[first:last]
        for first, last in read(raw).comments
        if not start < first < end
        and text[:first].rstrip(" \t").endswith(("\r", "\n"))
        and text[last:].lstrip(" \t").startswith(("\r", "\n"))
    ]


@given(documents, st.data())
def test_removing_leaves_every_comment_on_a_line_of_its_own(
    twin: Twin, data: st.DataObject
) -> None:
    raw = twin[0].encode()
    held = [(path, node) for path, node in places(parse(raw)) if path]
    assume(held)
    path, node = data.draw(st.sampled_from(held))
    above = parse(raw).find(*path[:-1])
    assert above is not None
    keys = [member.start for member in above.members if member.value.start == node.start]
    lone = lone_comments(raw, ((keys or [node.start])[0], node.end))

    removed = remove(raw, path)

    left = iter([removed.decode()[start:end] for start, end in read(removed).comments])
    assert all(comment in left for comment in lone)


@given(strict_documents, items)
def test_strict_json_stays_strict_json(twin: Twin, item: object) -> None:
    text, _ = twin
    raw = text.encode()
    edited = [set_key(raw, path, "new", item) for path in objects(text)]
    edited += [append(raw, (*path, "new"), item) for path in objects(text)]
    edited += [remove(raw, path) for path, _ in places(parse(raw)) if path]
    for result in edited:
        assert json.loads(result) == value_of(result)


@given(strict_documents, st.data())
def test_pruning_removes_empty_containers_upwards_and_nothing_else(
    twin: Twin, data: st.DataObject
) -> None:
    text, plain = twin
    raw = text.encode()
    path, _ = data.draw(st.sampled_from(list(places(parse(raw)))))
    expected = json.loads(plain)
    depth = len(path)
    while depth and inner(expected, path[:depth]) in ({}, []):
        depth -= 1
        del inner(expected, path[:depth])[path[depth]]

    pruned = prune_empty(raw, path)

    assert value_of(pruned) == expected
    assert is_subsequence(pruned, raw)
