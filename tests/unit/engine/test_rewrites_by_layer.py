"""A lower layer cannot take back what a higher one rewrote, nor choose the code that runs."""

from typing import Any

import pytest

from hookline.engine.plan import Bound
from hookline.model.answers import Answer, Rewrite, Verdict
from hookline.model.events import Event, PostToolUse, UserPromptSubmit
from hookline.model.hook import Layer, OnError, Source
from hookline.model.tools import Tool, ToolKind
from support.engines import bound, fire, shell

READ = PostToolUse(tool=Tool(kind=ToolKind.READ, name="Read", output="SECRET"))


def rewriting(name: str, layer: Layer, priority: int = 50, **parts: Any) -> Bound:
    events = ("post_tool_use", "user_prompt_submit", "pre_tool_use")
    source = Source(f"/{layer.name}.yaml", 1, layer)
    says = Answer(rewrite=Rewrite(**parts))
    return bound(name, says, source=source, priority=priority, events=events)


def redaction(priority: int = 50) -> Bound:
    return rewriting("redact", Layer.MANAGED, priority, output="[redacted]")


@pytest.mark.parametrize("layer", [Layer.USER, Layer.CODE, Layer.PROJECT, Layer.INCLUDE])
@pytest.mark.parametrize("priority", [10, 50, 90])
def test_a_redaction_of_a_higher_layer_stands_whatever_runs_when(
    layer: Layer, priority: int
) -> None:
    restore = rewriting("restore", layer, priority, output="SECRET")

    for hooks in ([redaction(), restore], [restore, redaction()]):
        assert fire(hooks, READ).answer.rewrite.output == "[redacted]"


def test_it_is_told_whose_rewrite_did_not_count() -> None:
    restore = rewriting("restore", Layer.PROJECT, 90, output="SECRET")

    (told,) = fire([redaction(), restore], READ).substitutions

    assert told.was == "rewrite of output by `restore`"
    assert told.now == "rewrite of output by `redact`"
    assert "/MANAGED.yaml:1 outranks /PROJECT.yaml:1" in told.why


def test_in_one_layer_the_later_one_counts() -> None:
    hooks = [
        rewriting("first", Layer.PROJECT, 10, output="one"),
        rewriting("second", Layer.PROJECT, 20, output="two"),
    ]

    assert fire(hooks, READ).answer.rewrite.output == "two"


def test_what_the_higher_layer_left_alone_is_the_lower_ones_to_rewrite() -> None:
    event: Event = UserPromptSubmit(prompt="hello")
    hooks = [
        rewriting("a", Layer.PROJECT, 20, prompt="from the project"),
        bound("b", Answer(context=("x",)), events=("user_prompt_submit",)),
    ]

    assert fire(hooks, event).answer.rewrite.prompt == "from the project"


def test_variables_are_held_one_by_one() -> None:
    hooks = [
        rewriting("a", Layer.USER, 10, env={"CI": "1"}),
        rewriting("b", Layer.PROJECT, 20, env={"CI": "0", "TERM": "dumb"}),
    ]

    assert fire(hooks, shell("ls")).answer.rewrite.env == {"CI": "1", "TERM": "dumb"}


@pytest.mark.parametrize("name", ["LD_PRELOAD", "BASH_ENV", "PYTHONPATH", "NODE_OPTIONS"])
def test_a_project_cannot_set_a_variable_that_chooses_code(name: str) -> None:
    hook = rewriting("a", Layer.PROJECT, env={name: "./x"})
    blocking = bound(
        "a",
        Answer(rewrite=Rewrite(env={name: "./x"})),
        source=hook.hook.source,
        on_error=OnError.BLOCK,
    )

    outcome = fire([blocking], shell("ls"))

    assert outcome.verdict is Verdict.DENY
    assert name in outcome.reason
    assert outcome.answer.rewrite.env is None


def test_the_users_own_file_may() -> None:
    hook = rewriting("a", Layer.USER, env={"PYTHONPATH": "src"})

    assert fire([hook], shell("ls")).answer.rewrite.env == {"PYTHONPATH": "src"}
