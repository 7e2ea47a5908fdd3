"""What a YAML text becomes, on which lines, and how everything we refuse is reported."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.document import MAX_BYTES, MAX_DEPTH, Document, brief, read_document
from hookline.model.errors import ConfigError, Problem


def read(text: str | bytes) -> Document:
    return read_document(text if isinstance(text, bytes) else text.encode(), "hooks.yaml")


def problems(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        read(text)
    return caught.value.problems


def only(text: str | bytes) -> Problem:
    found = problems(text)
    assert len(found) == 1, found
    assert found[0].file == "hooks.yaml"
    return found[0]


HOOKS = """\
# the guard
version: 1

hooks:
  - name: no production
    on: pre_tool_use
    match: {tool: shell,
            command: "*--context prod*"}
  -
    name: second
    paths:
      - src
      - |
        a
        b
      - [x, y]
"""


class TestData:
    def test_a_file_becomes_plain_data(self) -> None:
        assert read(HOOKS).data == {
            "version": 1,
            "hooks": [
                {
                    "name": "no production",
                    "on": "pre_tool_use",
                    "match": {"tool": "shell", "command": "*--context prod*"},
                },
                {"name": "second", "paths": ["src", "a\nb\n", ["x", "y"]]},
            ],
        }

    @pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n", "\ufeff", "~"])
    def test_an_empty_file_is_an_empty_mapping(self, text: str) -> None:
        assert read(text).data == {}

    @pytest.mark.parametrize(
        ("word", "value"),
        [
            ("", None),
            ("~", None),
            ("null", None),
            ("Null", None),
            ("NULL", None),
            ("nULL", "nULL"),
            ("true", True),
            ("True", True),
            ("TRUE", True),
            ("false", False),
            ("False", False),
            ("FALSE", False),
            ("tRUE", "tRUE"),
            ("on", "on"),
            ("off", "off"),
            ("yes", "yes"),
            ("No", "No"),
            ("y", "y"),
            ("0", 0),
            ("12", 12),
            ("-12", -12),
            ("+12", 12),
            ("0755", 755),
            ("0o755", 493),
            ("-0o7", "-0o7"),
            ("0o8", "0o8"),
            ("0x1F", 31),
            ("0xfg", "0xfg"),
            ("0b11", "0b11"),
            ("1_000", "1_000"),
            ("1:30", "1:30"),
            ("2020-01-01", "2020-01-01"),
            ("9223372036854775807", 2**63 - 1),
            ("-9223372036854775808", -(2**63)),
            ("1.5", 1.5),
            ("1.", 1.0),
            (".5", 0.5),
            ("-1.5e-3", -0.0015),
            ("1e3", 1000.0),
            ("1.2.3", "1.2.3"),
            (".", "."),
            ("-", [None]),
            ("-x", "-x"),
            ("٣", "٣"),
            ("1٣", "1٣"),
            ("'12'", "12"),
            ('"true"', "true"),
            ("'~'", "~"),
            ('""', ""),
            ("|\n  12", "12"),
            (">\n  null\n", "null\n"),
        ],
    )
    def test_words_mean_what_yaml_1_2_says(self, word: str, value: Any) -> None:
        text = f"key:\n  {word}" if word == "-" else f"key: {word}"
        found = read(text).data["key"]
        assert found == value
        assert type(found) is type(value)

    def test_a_byte_order_mark_is_tolerated(self) -> None:
        document = read("\ufeffa: 1\nb: 2\n")
        assert document.data == {"a": 1, "b": 2}
        assert document.line("b") == 2

    def test_a_yaml_directive_and_an_end_marker_are_allowed(self) -> None:
        assert read("%YAML 1.2\n---\na: 1\n...\n").data == {"a": 1}

    def test_escapes_can_spell_characters_that_the_file_itself_may_not_hold(self) -> None:
        assert read(r'a: "\e[0m\u2028"').data == {"a": "\x1b[0m\u2028"}

    def test_a_key_in_quotes_may_be_any_word(self) -> None:
        assert read("\"true\": 1\n'12': 2\n'': 3\n'<<': 4\n").data == {
            "true": 1,
            "12": 2,
            "": 3,
            "<<": 4,
        }

    @given(
        st.dictionaries(
            st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
            st.recursive(
                st.none()
                | st.booleans()
                | st.integers(-(2**63), 2**63 - 1)
                | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
                lambda inner: st.lists(inner, max_size=3),
                max_leaves=8,
            ),
            max_size=4,
        )
    )
    def test_any_data_written_in_flow_style_reads_as_itself(self, data: dict[str, Any]) -> None:
        assert read(_yaml_flow(data)).data == data


def _yaml_flow(value: Any) -> str:
    match value:
        case dict():
            return (
                "{" + ", ".join(f"{_yaml_flow(k)}: {_yaml_flow(v)}" for k, v in value.items()) + "}"
            )
        case list():
            return "[" + ", ".join(map(_yaml_flow, value)) + "]"
        case str():
            return '"' + "".join(f"\\U{ord(char):08x}" for char in value) + '"'
        case None:
            return "null"
        case _:
            return str(value).lower()


class TestLines:
    @pytest.mark.parametrize(
        ("path", "line"),
        [
            ((), 1),
            (("version",), 2),
            (("hooks",), 4),
            (("hooks", 0), 5),
            (("hooks", 0, "on"), 6),
            (("hooks", 0, "match"), 7),
            (("hooks", 0, "match", "tool"), 7),
            (("hooks", 0, "match", "command"), 8),
            (("hooks", 1), 10),
            (("hooks", 1, "paths", 0), 12),
            (("hooks", 1, "paths", 1), 13),
            (("hooks", 1, "paths", 2), 16),
            (("hooks", 1, "paths", 2, 1), 16),
        ],
    )
    def test_every_key_and_item_has_its_line(self, path: tuple[str | int, ...], line: int) -> None:
        assert read(HOOKS).line(*path) == line

    @pytest.mark.parametrize(
        ("path", "line"),
        [
            (("nothing",), 1),
            (("hooks", 7), 4),
            (("hooks", 7, "name"), 4),
            (("hooks", "name"), 4),
            (("hooks", 0, "deny"), 5),
            (("hooks", 0, "on", "deeper", 3), 6),
            ((0,), 1),
        ],
    )
    def test_a_path_that_does_not_exist_has_the_line_of_its_nearest_ancestor(
        self, path: tuple[str | int, ...], line: int
    ) -> None:
        assert read(HOOKS).line(*path) == line

    def test_the_line_of_a_key_is_not_the_line_of_its_value(self) -> None:
        assert read("a:\n\n  - 1\nb:\n  c\n").line("a") == 1
        assert read("a:\n\n  - 1\nb:\n  c\n").line("b") == 4

    def test_windows_and_old_mac_line_ends_count_as_one_line_each(self) -> None:
        assert read("a: 1\r\nb: 2\rc: 3\n").line("c") == 3

    def test_a_document_made_by_hand_has_no_lines_but_the_first(self) -> None:
        assert Document("made", {"a": {"b": 1}}).line("a", "b") == 1


class TestKeys:
    def test_a_duplicate_key_names_the_line_of_the_first_one(self) -> None:
        problem = only("a: 1\nb:\n  on: x\n  deny: y\n  on: z\n")
        assert problem.line == 5
        assert problem.message == "the key `on` is already on line 3"
        assert problem.hint

    def test_a_third_equal_key_still_names_the_first_one(self) -> None:
        assert [problem.message for problem in problems("a: {}\na: 2\na: 3\n")] == [
            "the key `a` is already on line 1",
            "the key `a` is already on line 1",
        ]

    @pytest.mark.parametrize("key", ["true", "False", "12", "0x1F", "1.5", "null", "~", ".inf"])
    def test_a_key_that_is_not_text_must_be_quoted(self, key: str) -> None:
        problem = only(f"a: 1\n{key}: 2\n")
        assert problem.line == 2
        assert problem.message == f"the key `{key}` is not text"
        assert problem.hint == f'write it in quotes: "{key}"'

    def test_an_empty_key_is_refused(self) -> None:
        assert only("a: 1\n? \n: 2\n").message == "a key is empty"

    @pytest.mark.parametrize("key", ["[a, b]", "{a: b}", "? [a]\n", "? - a\n"])
    def test_a_list_or_mapping_as_a_key_is_refused(self, key: str) -> None:
        problem = only(f"z: 1\n{key}: 2\nb: 3\n")
        assert problem.line == 2
        assert problem.message == "a key must be text, not a list or a mapping"

    def test_merge_keys_are_refused(self) -> None:
        problem = only("a:\n  b: 1\n  <<: {c: 2}\n")
        assert problem.line == 3
        assert "merge keys" in problem.message


class TestRefusedYaml:
    @pytest.mark.parametrize(
        ("value", "tag"),
        [
            ("!!python/object/apply:os.system [id]", "!!python/object/apply:os.system"),
            ("!!str 12", "!!str"),
            ("!foo bar", "!foo"),
            ("! 12", "!"),
            ("! '12'", "!"),
            ("!", "!"),
            ("!!set {a, b}", "!!set"),
            ("!<tag:example.org,2000:x> [a]", "tag:example.org,2000:x"),
        ],
    )
    def test_tags_are_refused(self, value: str, tag: str) -> None:
        problem = only(f"a: 1\nb: {value}\n")
        assert problem.line == 2
        assert problem.message == f"tags (`{tag}`) are not supported"
        assert problem.hint

    def test_a_tag_on_a_key_is_refused(self) -> None:
        assert only("!!str a: 1\n").message == "tags (`!!str`) are not supported"

    def test_tag_directives_are_refused_before_they_are_read(self) -> None:
        many = "".join(f"%TAG !t{n}! x\n" for n in range(50_000))
        assert len(problems(f"{many}---\na: 1\n")) == 50_000
        problem = only("%TAG ! tag:example.org,2000:\n---\na: 1\n")
        assert problem.line == 1
        assert problem.message == "tags (`%TAG`) are not supported"

    def test_the_word_of_a_tag_directive_is_fine_inside_text(self) -> None:
        assert read("a: |\n  %TAG\n").data == {"a": "%TAG\n"}

    def test_a_tag_that_spells_broken_utf_8_is_refused(self) -> None:
        assert "tag" in only("a: 1\nb: !%ED%A0%80 x\n").message

    @pytest.mark.parametrize("value", ["&x 1", "&x [1]", "&x {c: 1}", "&x"])
    def test_anchors_are_refused(self, value: str) -> None:
        problem = only(f"a: 1\nb: {value}\n")
        assert problem.line == 2
        assert problem.message == "anchors (`&x`) are not supported"

    def test_aliases_are_refused_even_without_an_anchor(self) -> None:
        problem = only("a: 1\nb: [*x]\n")
        assert problem.line == 2
        assert problem.message == "aliases (`*x`) are not supported"
        assert "quotes" in problem.hint

    def test_an_alias_as_a_key_is_refused(self) -> None:
        assert only("a: 1\n*x : 2\n").message == "aliases (`*x`) are not supported"

    @pytest.mark.parametrize("word", [".inf", "-.INF", ".nan", ".NaN"])
    def test_numbers_that_are_not_finite_are_refused(self, word: str) -> None:
        problem = only(f"a: 1\nb: {word}\n")
        assert problem.line == 2
        assert problem.message == f"`{word}` is not a number that can be used here"

    @pytest.mark.parametrize(
        "word", ["9223372036854775808", "-9223372036854775809", "0x8000000000000000", "9" * 9_000]
    )
    def test_whole_numbers_beyond_64_bits_are_refused(self, word: str) -> None:
        assert "does not fit in 64 bits" in only(f"a: {word}").message

    def test_a_number_that_overflows_is_refused(self) -> None:
        assert only("a: 1e999").message == "the number `1e999` is too large"

    def test_a_second_document_is_refused(self) -> None:
        problem = only("a: 1\n---\nb: 2\n---\nc: 3\n")
        assert problem.line == 2
        assert problem.message == "a second document starts here"

    def test_an_empty_first_document_is_still_a_document(self) -> None:
        assert only("---\n---\na: 1\n").line == 2

    @pytest.mark.parametrize(
        ("text", "kind"), [("\n- a\n- b\n", "a list"), ("\nhello\n", "a single value")]
    )
    def test_the_top_level_must_be_a_mapping(self, text: str, kind: str) -> None:
        problem = only(text)
        assert problem.line == 2
        assert problem.message == f"the top level must be keys and values, and this is {kind}"

    def test_nesting_is_allowed_down_to_the_limit_and_not_below(self) -> None:
        def nested(levels: int) -> str:
            return "a:\n  " + "[" * (levels - 1) + "]" * (levels - 1)

        assert read(nested(MAX_DEPTH)).data["a"]
        problem = only(nested(MAX_DEPTH + 1))
        assert problem.line == 2
        assert problem.message == "nested more than 50 levels deep"

    @pytest.mark.parametrize("text", ["[" * 500_000, "{a: " * 200_000, "- " * 400_000])
    def test_hostile_nesting_is_refused_without_reading_on(self, text: str) -> None:
        assert any("levels deep" in problem.message for problem in problems(text))


class TestRefusedBytes:
    def test_a_file_that_is_too_large_is_refused(self) -> None:
        assert read(b"#" * MAX_BYTES).data == {}
        problem = only(b"#" * (MAX_BYTES + 1))
        assert problem.line == 1
        assert problem.message == "the file has 1,000,001 bytes, and at most 1,000,000 are read"

    def test_a_byte_that_is_not_utf_8_is_named_with_its_offset(self) -> None:
        problem = only(b"a: 1\nb: \xff\n")
        assert problem.line == 2
        assert problem.message == "byte 8 (0xff) is not UTF-8"

    def test_utf_16_is_refused(self) -> None:
        assert only("a: 1".encode("utf-16")).hint == "save the file as UTF-8"

    @pytest.mark.parametrize(
        "char",
        ["\0", "\x07", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u2029", "\ufeff", "\ufffe"],
    )
    def test_characters_nobody_can_see_are_refused(self, char: str) -> None:
        problem = only(f"a: 1\n# b{char}c\n")
        assert problem.line == 2
        assert problem.message == f"control character U+{ord(char):04X}"

    def test_each_line_with_control_characters_is_reported_once(self) -> None:
        found = problems("a: \0\0\nb: 1\nc: \0\n")
        assert [problem.line for problem in found] == [1, 3]

    def test_ordinary_characters_of_every_plane_are_fine(self) -> None:
        assert read("é: 日本 😀\xa0\n").data == {"é": "日本 😀\xa0"}

    def test_an_escape_cannot_smuggle_a_nul_into_text(self) -> None:
        problem = only('a: 1\nb: "x\\0y"\n')
        assert problem.line == 2
        assert problem.message == "text cannot hold a NUL character"


class TestSyntaxErrors:
    @pytest.mark.parametrize(
        ("text", "line", "part", "hint"),
        [
            ("a:\n\tb: 1\n", 2, "cannot start any token at column 1", "indent with spaces"),
            ("a:\n  b: 1\n\tc: 2\n", 3, "tab character", "indent with spaces"),
            ("a: |\n\tfoo\n", 2, "tab character", "indent with spaces"),
            ("a: *.py\n", 1, "expected alphabetic or numeric character at column 5", "`*`"),
            ("a: @x\n", 1, "at column 4", "in quotes"),
            ("a: b: c\n", 1, "mapping values are not allowed in this context", "in quotes"),
            ('a: "\\d+"\n', 1, "unknown escape character", "single quotes"),
            ("a: 'x\n\n", 3, "that starts on line 1", "a quote is not closed"),
            ("a: [1, 2\n", 2, "a flow sequence that starts on line 1", "`[` is not closed"),
            ("a: {b\n", 2, "a flow mapping that starts on line 1", "`{` is not closed"),
            ("a: 1\n b\nc: 1\n  d: 1\n", 4, "mapping values", "indent"),
            ("a:\n  - x\n  b: 1\n", 3, "did not find expected '-' indicator", "indent"),
            ("%YAML 2.0\n---\na: 1\n", 1, "found incompatible YAML document", ""),
        ],
    )
    def test_a_syntax_error_has_its_line_its_column_and_a_hint(
        self, text: str, line: int, part: str, hint: str
    ) -> None:
        problem = problems(text)[-1]
        assert problem.line == line
        assert problem.message.startswith("not valid YAML: ")
        assert part in problem.message
        assert hint in problem.hint


class TestSeveralProblems:
    def test_everything_wrong_in_a_file_is_reported_at_once_in_the_order_of_lines(self) -> None:
        text = """\
a: &anchor 1
a: *anchor
true: !!int 3
hooks:
  - <<: {x: .inf}
    name: "\\0"
    name: one
  - broken: [1
"""
        found = problems(text)
        assert [problem.line for problem in found] == sorted(problem.line for problem in found)
        assert [(problem.line, problem.message.split("`")[0].strip()) for problem in found] == [
            (1, "anchors ("),
            (2, "the key"),
            (2, "aliases ("),
            (3, "the key"),
            (3, "tags ("),
            (5, "merge keys ("),
            (5, ""),
            (6, "text cannot hold a NUL character"),
            (7, "the key"),
            (9, "not valid YAML: did not find expected ',' or ']' at column 1, while parsing a flow sequence that starts on line 8"),
        ]  # fmt: skip

    def test_what_was_found_before_a_fatal_problem_is_kept(self) -> None:
        assert [problem.line for problem in problems("a: !x 1\n---\nb: 1\n")] == [1, 2]

    def test_the_exception_lists_every_problem_with_its_place(self) -> None:
        with pytest.raises(ConfigError, match=r"hooks\.yaml:2: .*\nhooks\.yaml:3: "):
            read("a: 1\na: 2\na: 3\n")


YAML_MARKS = (
    *"abx01.-+~ \n\t:#,[]{}!&*|>'\"%@?\\",
    *("- ", ": ", "? ", "\n  ", "---\n", "...\n", "<<: ", "!!str ", "!%ED%A0%80 ", "&a ", "*a "),
    *("\\0", "\\ud800", "%TAG ! x\n", ".inf", "0x", "true", "\r\n", "\u2028", "\ufeff", "é"),
    "[" * 60,
)


class TestAnyBytes:
    @given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode()))
    def test_any_bytes_give_a_document_or_a_config_error(self, raw: bytes) -> None:
        _read_anything(raw)

    @given(st.lists(st.sampled_from(YAML_MARKS), max_size=40).map("".join))
    def test_any_mix_of_yaml_marks_gives_a_document_or_a_config_error(self, text: str) -> None:
        _read_anything(text.encode())


def _read_anything(raw: bytes) -> None:
    found: tuple[Problem, ...] = ()
    document = Document("any", {})
    try:
        document = read_document(raw, "any")
    except ConfigError as error:
        found = error.problems or (Problem("any", 0, "an error without a problem"),)
    assert all(problem.line >= 1 and problem.message for problem in found)
    assert all(document.line(key) >= 1 for key in document.data)


class TestBrief:
    def test_text_in_messages_is_short_and_cannot_act_on_a_terminal(self) -> None:
        assert brief("plain") == "plain"
        assert brief("x" * 50) == "x" * 39 + "…"
        assert brief("\x1b[2J") == "\\x1b[2J"

    def test_a_hostile_key_is_shown_escaped(self) -> None:
        text = '"\\e[2J": 1\n"\\e[2J": 2\n'
        assert only(text).message == "the key `\\x1b[2J` is already on line 1"
