"""A hook as configured, and the errors that speak about hooks and files."""

from typing import Any

import pytest
from msgspec.structs import replace

from hookline.model.answers import PASS
from hookline.model.errors import (
    ConfigError,
    HandlerError,
    HandlerTimeout,
    HooklineError,
    IllegalValueError,
    Problem,
    UnknownNameError,
    nearest,
    sentence,
)
from hookline.model.hook import (
    HandlerSpec,
    Hook,
    Layer,
    Mode,
    OnError,
    Source,
    Start,
    is_enforcing,
)
from support.engines import bound


def test_a_hook_is_on_some_event() -> None:
    with pytest.raises(IllegalValueError, match="hook `h` names no event"):
        bound("h", PASS, events=())


@pytest.mark.parametrize("timeout", [0, -1.0])
def test_a_hook_has_time_to_run(timeout: float) -> None:
    with pytest.raises(IllegalValueError, match="timeout must be more than 0 seconds"):
        bound("h", PASS, timeout=timeout)


def test_block_is_stricter_than_warn_and_warn_than_ignore() -> None:
    assert sorted(OnError, key=lambda each: each.strictness) == ["ignore", "warn", "block"]


def test_layers_are_ranked_from_managed_to_included() -> None:
    assert list(Layer) == sorted(Layer)
    assert Layer.MANAGED < Layer.USER < Layer.CODE < Layer.PROJECT < Layer.INCLUDE


@pytest.mark.parametrize(
    ("source", "shown"),
    [(Source("a.yaml", 3), "a.yaml:3"), (Source("a.yaml"), "a.yaml"), (Source(), "")],
)
def test_a_source_reads_as_file_and_line(source: Source, shown: str) -> None:
    assert str(source) == shown


def test_the_order_of_handler_values_does_not_matter_to_identity() -> None:
    def hook(**values: object) -> Hook:
        return Hook(name="h", events=("stop",), handler=HandlerSpec("run", values))

    assert hook(run="a", cwd="b").identity() == hook(cwd="b", run="a").identity()
    assert hook(run="a").identity() != hook(run="b").identity()


def test_a_config_error_shows_every_problem_with_its_place() -> None:
    error = ConfigError(
        [Problem("a.yaml", 3, "no such key", "did you mean `run`?"), Problem("b.yaml", 0, "empty")]
    )

    assert str(error) == "a.yaml:3: no such key (did you mean `run`?)\nb.yaml: empty"
    assert len(error.problems) == 2


def test_an_unknown_name_comes_with_the_nearest_one_or_with_all() -> None:
    near = UnknownNameError("builtin", "shel-guard", ["shell-guard", "memory"])
    far = UnknownNameError("builtin", "zzz", ["shell-guard", "memory"])

    assert str(near) == "hookline: no builtin is called `shel-guard` (did you mean `shell-guard`?)"
    assert str(far) == "hookline: no builtin is called `zzz` (known: memory, shell-guard)"


def test_nearest_is_silent_when_nothing_is_near() -> None:
    assert nearest("PRE_TOOL", ["pre_tool_use"]) == "did you mean `pre_tool_use`?"
    assert nearest("zzz", ["pre_tool_use"]) == ""


def test_a_hooks_timeout_is_also_pythons() -> None:
    error = HandlerTimeout(1.5)

    assert isinstance(error, TimeoutError)
    assert isinstance(error, HandlerError)
    assert isinstance(error, HooklineError)
    assert str(error) == "no answer within 1.5 s"


def test_a_sentence_ends_with_one_mark() -> None:
    assert sentence("no") == "no."
    for text in ("no.", "did you mean `x`?", "cut …"):
        assert sentence(text) == text


def hook_on(event: str, kind: str = "command", values: Any = None, **keys: Any) -> Hook:
    return Hook(name="h", events=(event,), handler=HandlerSpec(kind, values or {}), **keys)


@pytest.mark.parametrize(
    ("event", "values", "enforcing"),
    [
        ("pre_tool_use", {"deny": "no"}, True),
        ("pre_tool_use", {"ask": "sure?"}, True),
        ("post_tool_use", {"deny": "no"}, True),
        ("pre_tool_use", {"rewrite": {"input": {"command": "ls"}}}, True),
        ("post_tool_use", {"rewrite": {"output": "x"}}, False),
        ("pre_tool_use", {"context": "careful"}, False),
        ("pre_tool_use", {"allow": True}, False),
    ],
)
def test_an_inline_rule_enforces_by_what_it_refuses_or_changes(
    event: str, values: Any, enforcing: bool
) -> None:
    assert is_enforcing(hook_on(event, "rule", values, on_error=OnError.BLOCK)) is enforcing


@pytest.mark.parametrize("kind", ["command", "python", "http", "judge"])
def test_a_program_enforces_on_gates_alone_whatever_its_failure_means(kind: str) -> None:
    for on_error in OnError:
        assert is_enforcing(hook_on("pre_tool_use", kind, on_error=on_error))
        assert not is_enforcing(hook_on("post_tool_use", kind, on_error=on_error))


def test_what_never_refuses_enforces_only_when_its_failure_blocks() -> None:
    for kind, judges in (("builtin", False), ("native", True)):
        hook = hook_on("user_prompt_submit", kind)
        assert not is_enforcing(hook, judges=judges)
        assert is_enforcing(replace(hook, on_error=OnError.BLOCK), judges=judges)


def test_what_is_only_observed_or_not_waited_for_enforces_nothing() -> None:
    assert not is_enforcing(hook_on("pre_tool_use", mode=Mode.OBSERVE))
    assert not is_enforcing(hook_on("pre_tool_use", start=Start(background=True)))
    assert is_enforcing(hook_on("pre_tool_use", start=Start()))
