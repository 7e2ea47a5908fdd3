"""The file format: every handler brings its keys, and editors get a schema of it all."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Annotated, Any

import jsonschema
import pytest
from msgspec import Meta, convert

from hookline.config.schema import MatchEntry, config_schema, field_of, file_format
from hookline.model.errors import IllegalValueError


def module(keys: Mapping[str, Any], extra: Mapping[str, Any] | None = None) -> Any:
    return SimpleNamespace(KEYS=keys, EXTRA_KEYS=extra or {}, COMBINES=False)


HANDLERS = {
    "rule": module({"deny": str, "allow": str | bool}),
    "command": module({"run": str | list[str]}, {"with": dict[str, Any]}),
    "builtin": module(
        {"use": Annotated[str, Meta(description="The name of a builtin.")]},
        {"with": dict[str, Any]},
    ),
}


def test_a_format_is_built_once_for_a_set_of_handlers() -> None:
    assert file_format(HANDLERS) is file_format(dict(HANDLERS))
    assert file_format(HANDLERS) is not file_format({"rule": HANDLERS["rule"]})


def test_a_format_knows_which_key_belongs_to_whom() -> None:
    form = file_format(HANDLERS)
    assert form.owners == {"deny": "rule", "allow": "rule", "run": "command", "use": "builtin"}
    assert form.partners == {"with": ("run", "use")}
    assert form.keys["command"] == {"run", "with"}
    assert {"except", "with", "deny", "on"} <= form.known


@pytest.mark.parametrize(
    ("handlers", "said"),
    [
        ({"a": module({"name": str})}, "already has a key `name`"),
        ({"a": module({"except": str})}, "already has a key `except`"),
        ({"a": module({"x": str}), "b": module({"x": str})}, "chooses both"),
        ({"a": module({"x": str}, {"z": str}), "b": module({"y": str}, {"z": int})}, "two different types"),
    ],
)  # fmt: skip
def test_handlers_whose_keys_collide_are_refused(handlers: dict[str, Any], said: str) -> None:
    with pytest.raises(IllegalValueError, match=said):
        file_format(handlers)


def test_a_key_may_be_a_word_of_python() -> None:
    entry = convert({"use": "x", "with": {"a": 1}}, file_format(HANDLERS).hook)
    assert getattr(entry, field_of("with")) == {"a": 1}


def test_a_match_lists_the_keys_that_were_given() -> None:
    match = MatchEntry(tool="shell", path=["a", "b"])
    assert list(match.patterns()) == [("tool", ("shell",)), ("path", ("a", "b"))]


class TestJsonSchema:
    """What editors check a file against."""

    SCHEMA = config_schema(HANDLERS, ["PreToolUse"])

    def test_it_is_a_schema_with_a_title(self) -> None:
        jsonschema.Draft202012Validator.check_schema(self.SCHEMA)
        assert self.SCHEMA["title"] == "hookline.yaml"

    def test_it_describes_every_key(self) -> None:
        hook = self.SCHEMA["$defs"]["HookEntry"]["properties"]
        undescribed = [key for key, value in hook.items() if "description" not in value]
        assert undescribed == ["deny", "allow", "run", "with"]
        assert hook["use"]["description"] == "The name of a builtin."

    @pytest.mark.parametrize(
        "hook",
        [
            {"use": "shell-guard", "with": {"x": 1}},
            {"on": "stop", "run": ["a", "b"], "timeout": "10s"},
            {
                "on": ["pre_tool_use"],
                "match": {"tool": ["shell"], "command": "git *"},
                "except": ["a", {"command": "b", "until": "2026-12-01"}],
                "deny": "no",
                "env": ["PATH"],
            },
        ],
    )
    def test_a_valid_file_fits(self, hook: dict[str, Any]) -> None:
        jsonschema.validate({"version": 1, "hooks": [hook]}, self.SCHEMA)

    @pytest.mark.parametrize(
        "hook",
        [
            {"on": "pre_tool_us", "deny": "x"},
            {"denny": "x"},
            {"match": {"tol": "x"}},
            {"on_error": "explode"},
            {"priority": 200},
            {"env": ["A=1"]},
        ],
    )
    def test_an_invalid_one_does_not(self, hook: dict[str, Any]) -> None:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"version": 1, "hooks": [hook]}, self.SCHEMA)
