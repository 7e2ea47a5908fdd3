"""What data becomes of a type, and how every mistake in it is told with its line."""

from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType

from hookline.config.compile import convert
from hookline.config.document import Document, read_document
from hookline.model.errors import ConfigError, Problem


class Event(StrEnum):
    BEFORE = "pre_tool_use"
    AFTER = "post_tool_use"
    STOP = "stop"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Lenient(Enum):
    ON = "on"

    @classmethod
    def _missing_(cls, value: object) -> "Lenient | None":
        return cls.ON if str(value).lower() == "on" else None


class Match(Struct, frozen=True, forbid_unknown_fields=True):
    tool: str | list[str] | None = None
    command: str | None = None


class Command(Struct, tag="command", tag_field="run", forbid_unknown_fields=True):
    argv: list[str]


class Http(Struct, tag="http", tag_field="run"):
    url: str


class Hook(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="kebab"):
    name: str
    on_event: Event
    match: Match | None = None
    mode: Literal["deny", "ask"] = "deny"
    priority: Annotated[int, Meta(ge=0, le=100)] = 50
    ratio: float = 1.0
    enabled: bool | UnsetType = UNSET
    handler: Command | Http | None = None
    settings: dict[str, Any] = {}
    limits: dict[Event, int] = {}
    levels: list[Level] = []
    steps: tuple[int, ...] = ()
    auto: bool | Literal["auto"] = "auto"

    def __post_init__(self) -> None:
        if self.name == "forbidden":
            raise ValueError("this name is taken")


class File(Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    hooks: list[Hook] = []
    named: dict[str, Hook] = {}


def document(text: str) -> Document:
    return read_document(text.encode(), "hooks.yaml")


def problems_in(doc: Document, into: type[Any]) -> list[Problem]:
    try:
        convert(doc, into)
    except ConfigError as error:
        return list(error.problems)
    return []


def found(text: str, into: type[Any] = File) -> list[tuple[int, str, str]]:
    return [(p.line, p.message, p.hint) for p in problems_in(document(text), into)]


def hook(lines: str) -> list[tuple[int, str, str]]:
    """Problems of a hook that is right but for these lines, which start at line 5."""
    return found(f"version: 1\nhooks:\n  - name: x\n    on-event: stop\n    {lines}\n")


class TestConvert:
    def test_right_data_becomes_the_type(self) -> None:
        text = """\
version: 1
hooks:
  - name: guard
    on-event: pre_tool_use
    match: {tool: [shell, edit]}
    enabled: true
    handler: {run: command, argv: [ls]}
    settings: {any: [thing, 1]}
    limits: {stop: 3}
"""
        assert convert(document(text), File) == File(
            version=1,
            hooks=[
                Hook(
                    name="guard",
                    on_event=Event.BEFORE,
                    match=Match(tool=["shell", "edit"]),
                    enabled=True,
                    handler=Command(argv=["ls"]),
                    settings={"any": ["thing", 1]},
                    limits={Event.STOP: 3},
                )
            ],
        )
        assert problems_in(document(text), File) == []

    def test_wrong_data_raises_with_the_file_that_it_is_in(self) -> None:
        wrong = document("version: one\nhoks: []\n")
        with pytest.raises(ConfigError) as caught:
            convert(wrong, File)
        assert caught.value.problems[0].file == "hooks.yaml"

    def test_every_mistake_is_reported_at_once_in_the_order_of_lines(self) -> None:
        text = """\
version: "1"
hooks:
  - name: forbidden
    on-event: stop
  - on-event: pre_tol_use
    priority: high
    match:
      tol: shell
      command: 5
  - name: late
    on-event: stop
    priority: 101
  - just text
hoks: []
"""
        assert found(text) == [
            (1, "`version` must be a whole number; found the text `1`", ""),
            (3, "`hooks[0]`: this name is taken", ""),
            (5, "`hooks[1].on-event` cannot be the text `pre_tol_use`", "did you mean `pre_tool_use`?"),
            (5, "the key `name` of `hooks[1]` is missing", "it must be text"),
            (6, "`hooks[1].priority` must be a whole number; found the text `high`", ""),
            (8, "`tol` is not a key of `hooks[1].match`", "did you mean `tool`?"),
            (9, "`hooks[1].match.command` must be text; found the number 5", "text that looks so needs quotes"),
            (12, "`hooks[2].priority`: expected a whole number <= 100", ""),
            (13, "`hooks[3]` must be a mapping; found the text `just text`", ""),
            (14, "`hoks` is not a key", "did you mean `hooks`?"),
        ]  # fmt: skip


class TestKeys:
    def test_an_unknown_key_close_to_none_lists_the_known_ones(self) -> None:
        assert found("version: 1\nzzz: 2\n") == [
            (2, "`zzz` is not a key", "known keys: version, hooks, named")
        ]

    def test_a_missing_key_is_reported_on_the_line_of_its_mapping(self) -> None:
        assert found("named:\n\n  a: {}\nversion: 1") == [
            (3, "the key `name` of `named.a` is missing", "it must be text"),
            (
                3,
                "the key `on-event` of `named.a` is missing",
                "it must be one of pre_tool_use, post_tool_use, stop",
            ),
        ]

    def test_a_missing_key_of_the_file_is_reported_on_line_one(self) -> None:
        assert found("") == [(1, "the key `version` is missing", "it must be a whole number")]

    def test_a_key_is_known_by_the_name_it_has_in_the_file(self) -> None:
        assert hook("on_event: stop") == [
            (5, "`on_event` is not a key of `hooks[0]`", "did you mean `on-event`?")
        ]

    def test_keys_are_free_where_the_type_does_not_forbid_them(self) -> None:
        assert hook("handler: {run: http, url: 5, more: 1}") == [
            (
                5,
                "`hooks[0].handler.url` must be text; found the number 5",
                "text that looks so needs quotes",
            )
        ]

    def test_a_key_of_a_mapping_may_have_to_be_a_word(self) -> None:
        assert hook("limits: {stopp: 1, stop: x}") == [
            (5, "`stopp` is not a key of `hooks[0].limits`", "did you mean `stop`?"),
            (5, "`hooks[0].limits.stop` must be a whole number; found the text `x`", ""),
        ]

    def test_a_key_that_must_be_a_number_is_refused_as_any_other_value(self) -> None:
        class Ports(Struct):
            ports: dict[int, str]

        assert found("ports:\n  '80': web\n", Ports) == [
            (2, "`ports.80` must be a whole number; found the text `80`", "")
        ]

    def test_a_missing_key_whose_type_has_no_plain_words_has_no_hint(self) -> None:
        class Free(Struct):
            anything: Any

        assert found("a: 1", Free) == [(1, "the key `anything` is missing", "")]


class TestValues:
    @pytest.mark.parametrize(
        ("lines", "message"),
        [
            ("priority: 1.5", "`hooks[0].priority` must be a whole number; found the number 1.5"),
            ("priority: true", "`hooks[0].priority` must be a whole number; found `true`"),
            ("priority:", "`hooks[0].priority` must be a whole number; found nothing"),
            ("priority: []", "`hooks[0].priority` must be a whole number; found a list"),
            ("ratio: {}", "`hooks[0].ratio` must be a number; found a mapping"),
            ("enabled: 1", "`hooks[0].enabled` must be true or false; found the number 1"),
            ("match: x", "`hooks[0].match` must be a mapping; found the text `x`"),
            ("settings: []", "`hooks[0].settings` must be a mapping; found a list"),
            ("steps: 3", "`hooks[0].steps` must be a list of whole numbers; found the number 3"),
            ("steps: [1, x]", "`hooks[0].steps[1]` must be a whole number; found the text `x`"),
            ("levels: 1", "`hooks[0].levels` must be a list, each one of 1, 2; found the number 1"),
            ("levels: [x]", "`hooks[0].levels[0]` must be one of 1, 2; found the text `x`"),
            ("levels: [3]", "`hooks[0].levels[0]` cannot be the number 3"),
            ("mode: dney", "`hooks[0].mode` cannot be the text `dney`"),
            ("auto: 1", "`hooks[0].auto` must be true or false or `auto`; found the number 1"),
            ("handler: 1", "`hooks[0].handler` must be a mapping; found the number 1"),
            (
                "match: {tool: {}}",
                "`hooks[0].match.tool` must be text or a list of text; found a mapping",
            ),
            (
                "match: {tool: [a, 1]}",
                "`hooks[0].match.tool[1]` must be text; found the number 1",
            ),
        ],
    )
    def test_a_wrong_value_is_told_in_peoples_words(self, lines: str, message: str) -> None:
        assert [(line, said) for line, said, _ in hook(lines)] == [(5, message)]

    def test_a_word_close_to_none_lists_the_words_there_are(self) -> None:
        assert hook("mode: zzz") == [
            (5, "`hooks[0].mode` cannot be the text `zzz`", "it must be one of ask, deny")
        ]

    def test_a_word_an_enum_takes_without_listing_it_is_right(self) -> None:
        class Switches(Struct):
            a: Lenient
            b: Lenient

        assert found("a: ON\nb: off\n", Switches) == [
            (2, "`b` cannot be the text `off`", "it must be `on`")
        ]

    def test_only_text_that_looks_like_something_else_is_told_to_be_quoted(self) -> None:
        assert hook("match: {command: true}")[0][2] == "text that looks so needs quotes"
        assert hook("match: {command: []}")[0][2] == ""

    def test_the_item_of_a_list_has_its_own_line(self) -> None:
        assert [line for line, *_ in hook("match:\n      tool:\n        - a\n        - 2")] == [8]

    @pytest.mark.parametrize(
        ("into", "expected"),
        [
            (list[Match], "a list of mappings"),
            (list[list[str]], "a list"),
            (list[float], "a list of numbers"),
            (set[str], "a list of text"),
            (frozenset[str], "a list of text"),
            (Literal["a", None], "`a`"),
            (Literal[None], "`null`"),
            (Annotated[str, Meta(title="T", extra={"a": 1})], "text"),
            (Annotated[str | int, Meta(description="d")], "text or a whole number"),
            (list[str] | Annotated[int, Meta(title="T")], "a list of text or a whole number"),
        ],
    )
    def test_what_was_expected_is_told_for_every_kind_of_type(
        self, into: Any, expected: str
    ) -> None:
        holder = msgspec.defstruct("Holder", [("a", into)])
        assert found("a: {x: 1}", holder) == [(1, f"`a` must be {expected}; found a mapping", "")]

    def test_a_value_that_fits_one_member_of_a_union_is_right(self) -> None:
        class Numbers(Struct):
            a: Annotated[int | float | None, Meta(description="d")]
            b: int

        assert found("a: 1\nb: x\n", Numbers) == [
            (2, "`b` must be a whole number; found the text `x`", "")
        ]

    def test_a_long_or_hostile_value_is_shown_short_and_escaped(self) -> None:
        assert "`\\x1b[2J`" in hook('priority: "\\e[2J"')[0][1]
        assert "…`" in hook(f"priority: {'x' * 100}")[0][1]


class TestTaggedUnions:
    def test_the_tag_decides_which_keys_are_right(self) -> None:
        assert hook("handler: {run: command, url: x}") == [
            (
                5,
                "`url` is not a key of `hooks[0].handler`",
                "known keys: argv, run",
            ),
            (5, "the key `argv` of `hooks[0].handler` is missing", "it must be a list of text"),
        ]

    def test_a_missing_tag_is_a_missing_key(self) -> None:
        assert hook("handler: {argv: [ls]}") == [
            (
                5,
                "the key `run` of `hooks[0].handler` is missing",
                "it must be one of command, http",
            )
        ]

    def test_an_unknown_tag_is_a_wrong_word(self) -> None:
        assert hook("handler:\n      argv: [ls]\n      run: comand") == [
            (7, "`hooks[0].handler.run` cannot be the text `comand`", "did you mean `command`?")
        ]


class TestWhatOnlyMsgspecKnows:
    def test_a_check_of_the_type_itself_is_reported_for_every_struct_that_fails_it(self) -> None:
        text = """\
version: 1
hooks:
  - {name: forbidden, on-event: stop}
  - {name: forbidden, on-event: stop}
named:
  a: {name: forbidden, on-event: stop}
"""
        assert found(text) == [
            (3, "`hooks[0]`: this name is taken", ""),
            (4, "`hooks[1]`: this name is taken", ""),
            (6, "`named.a`: this name is taken", ""),
        ]

    def test_a_check_of_the_whole_file_is_reported_on_line_one(self) -> None:
        class Checked(Struct):
            a: int = 0

            def __post_init__(self) -> None:
                raise ValueError("never right")

        assert found("a: 1", Checked) == [(1, "never right", "")]

    def test_a_limit_inside_a_free_mapping_has_the_line_of_the_mapping(self) -> None:
        class Limited(Struct):
            names: dict[str, Annotated[str, Meta(min_length=1)]]

        assert found("a: 1\nnames:\n  x: ''\n", Limited) == [
            (2, "`names`: expected text of length >= 1", "")
        ]

    def test_a_type_without_structs_is_explained_too(self) -> None:
        problems = problems_in(document("a: 1\nb: 2\n"), dict[str, Annotated[int, Meta(ge=2)]])
        assert problems == [Problem("hooks.yaml", 1, "expected a whole number >= 2")]

    def test_types_with_no_plain_shape_are_left_to_msgspec(self) -> None:
        class Pair(Struct, array_like=True):
            a: int
            b: int

        class Odd(Struct):
            pair: Pair
            raw: bytes = b""

        assert found("pair: [1, x]", Odd) == [
            (1, "`pair[1]`: expected a whole number, got text", "")
        ]
        assert found("pair: {}", Odd) == [(1, "`pair`: expected a list, got a mapping", "")]
        assert found("pair: [1, 2]\nraw: '?'\n", Odd) == [
            (2, "`raw`: Invalid base64 encoded string", "")
        ]

    def test_a_generic_struct_is_asked_about_with_its_parameters(self) -> None:
        item = TypeVar("item")

        class Box(Struct, Generic[item]):
            value: item

            def __post_init__(self) -> None:
                raise ValueError(f"no {self.value}")

        class Shelf(Struct):
            box: Box[int]

        assert found("box: {value: 3}", Shelf) == [(1, "`box`: no 3", "")]


class TestAnyData:
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.sampled_from(["x", "stop", "deny"]),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(
                    st.sampled_from(
                        ["version", "hooks", "name", "on-event", "match", "handler", "run"]
                    ),
                    inner,
                    max_size=4,
                )
            ),
            max_leaves=12,
        )
    )
    def test_data_is_converted_or_has_problems_and_never_both(self, value: Any) -> None:
        data = value if isinstance(value, dict) else {"version": 1, "hooks": value}
        made = Document("any", data)
        problems = problems_in(made, File)
        if problems:
            with pytest.raises(ConfigError):
                convert(made, File)
        else:
            assert isinstance(convert(made, File), File)
