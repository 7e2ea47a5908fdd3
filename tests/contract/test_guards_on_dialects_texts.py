"""Builtins that change texts, on every platform: outputs, inputs, prompts and messages.

What a client lets a hook change is changed; what it does not is told or refused as the support
table says, and nowhere is the secret repeated.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from hookline import registry
from hookline.lab.script import Mcp, Read, Shell, Write
from hookline.model.outcome import Reply
from hookline.model.support import EventSupport
from support.clients.effects import Does, Effect
from support.guard_cases import SHOWN, TOKEN
from support.guarded import Place, guarded, lanes
from support.native_acts import Act, Messages, Printed, Prompt

REDACT = {"use": "redact-secrets"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with guarded(tmp_path_factory.mktemp("texts")) as made:
        yield made


def row(lane: str) -> EventSupport:
    dialect, native = lane.split()
    return registry.dialect(dialect).support.events[native]


def spoken(reply: Reply) -> str:
    return (reply.stdout + reply.stderr).decode()


# ── what tools answer ──


class Output(Struct, frozen=True):
    """An output that a builtin changes, and one that it leaves."""

    hook: Mapping[str, Any]
    output: str
    twin: str
    holds: str
    """What the changed one has in it."""
    gone: str
    """What it has no longer."""


NUMBERS = "\n".join(f"line {number}" for number in range(1, 3001))
# docker-agent's own runs where docker-agent has outputs changed; elsewhere one has to say so.
LARGE = {"use": "limit_large_tool_results", "on": ["post_tool_use", "tool_response_transform"]}
OUTPUTS = {
    "redact-secrets": Output(REDACT, f"beside {TOKEN}", "beside", f"beside {SHOWN}", TOKEN),
    "limit-output": Output({"use": "limit-output"}, NUMBERS, "line 1\nline 2", "more than the limit", "line 999\n"),
    "limit_large_tool_results": Output(LARGE, NUMBERS, "line 1\nline 2", "more than the limit", "line 999\n"),
    "compress-output": Output({"use": "compress-output"}, "same\n" * 50, "same\nother", "times more", "same\n" * 3),
}  # fmt: skip
CALLS = (Shell("cat x"), Mcp("echo_text", {"text": "hi"}), Read("README.md"))


def outputs() -> list[Any]:
    return [
        pytest.param(each, call, lane, id=f"{name}, {type(call).__name__.lower()}, {lane}")
        for name, each in OUTPUTS.items()
        for call in CALLS
        for lane in lanes(Printed(call, ""))
    ]


def instead(lane: str, call: object) -> str:
    """What becomes of an output that is rewritten: ``yes``, or what is said in its place."""
    if lane == "cursor postToolUse" and isinstance(call, Mcp):
        return "yes"  # of MCP tools it takes one
    return "yes" if row(lane).can("output") else row(lane).instead("output")


@pytest.mark.parametrize(("case", "call", "lane"), outputs())
def test_an_output_is_changed_as_far_as_the_platform_lets_a_hook(
    place: Place, case: Output, call: Any, lane: str
) -> None:
    reply, effect = place.does(Printed(call, case.output), lane, case.hook)
    match instead(lane, call):
        case "yes" | "deny":
            seen = texts(effect.output)
            assert case.holds in seen
            assert case.gone not in seen
        case "feedback":
            # The model has the original as well: that is all the platform can do.
            assert effect.output is None
            assert case.holds in effect.context
        case word:
            assert word == "none"
            assert effect == Effect()
    assert TOKEN not in spoken(reply)


@pytest.mark.parametrize(("case", "call", "lane"), outputs())
def test_an_output_with_nothing_to_change_stays_to_the_byte(
    place: Place, case: Output, call: Any, lane: str
) -> None:
    reply, effect = place.does(Printed(call, case.twin), lane, case.hook)
    assert effect == Effect(), reply


def texts(value: Any) -> str:
    """Every text inside a value, unescaped."""
    match value:
        case str():
            return value
        case dict():
            return "\n".join(map(texts, value.values()))
        case list():
            return "\n".join(map(texts, value))
        case _:
            return ""


# ── what tools are given ──

GIVEN = (
    Shell(f"echo {TOKEN}"),
    Write("src/new.py", f"K = '{TOKEN}'\n"),
    Mcp("echo_text", {"text": TOKEN, "n": 3}),
)


def inputs() -> list[Any]:
    return [
        pytest.param(act, lane, id=f"{type(act).__name__.lower()}, {lane}")
        for act in GIVEN
        for lane in lanes(act)
        # What its MCP tools take is not known here, and it throws away what they do not.
        if not (isinstance(act, Mcp) and lane.startswith("vscode"))
    ]


@pytest.mark.parametrize(("act", "lane"), inputs())
def test_a_tool_is_given_a_marker_in_place_of_a_secret_or_not_run(
    place: Place, act: Act, lane: str
) -> None:
    reply, effect = place.does(act, lane, REDACT)
    if row(lane).can("input"):
        assert effect.does == Does.GOES_ON
        assert SHOWN in texts(effect.input)
    else:
        assert effect.does == Does.BLOCKS
        assert SHOWN in effect.reason
    assert TOKEN not in spoken(reply)


@pytest.mark.parametrize("lane", [lane for lane in lanes(Shell("")) if row(lane).can("input")])
def test_all_else_that_a_tool_is_given_stays(place: Place, lane: str) -> None:
    told = place.arrival(Shell(f"echo {TOKEN}"), lane).payload
    _, effect = place.does(Shell(f"echo {TOKEN}"), lane, REDACT)
    assert effect.input is not None
    keys = ("tool_input", "toolArgs")
    given = next((told[key] for key in keys if key in told), None) or told["tool"].get("input", {})
    same = {key: value for key, value in given.items() if TOKEN not in str(value)}
    changed = {key: value for key, value in effect.input.items() if SHOWN in str(value)}
    assert len(changed) == 1
    # The canonical contract has what changes, and nothing else.
    assert effect.input == (changed if lane.startswith("canonical") else same | changed)


# ── prompts and messages ──


# Its payload could be VS Code's as well, which takes no other prompt, so the stricter is said.
SHARED = "copilot UserPromptSubmit"


@pytest.mark.parametrize("lane", lanes(Prompt("")))
def test_a_prompt_is_redacted_or_refused_where_the_platform_can(place: Place, lane: str) -> None:
    reply, effect = place.does(Prompt(f"use {TOKEN}"), lane, REDACT)
    if row(lane).can("prompt") and lane != SHARED:
        assert effect.does == Does.GOES_ON
        assert f"use {SHOWN}" in texts(json.loads(reply.stdout))
    elif row(lane).instead("prompt") == "deny" or lane == SHARED:
        assert effect.does >= Does.BLOCKS
        assert SHOWN in effect.reason
    else:
        assert effect == Effect()
    assert TOKEN not in spoken(reply)


@pytest.mark.parametrize("lane", lanes(Messages("")))
def test_messages_to_the_model_are_redacted_with_their_order_and_roles(
    place: Place, lane: str
) -> None:
    reply, effect = place.does(Messages(f"use {TOKEN}"), lane, REDACT)
    assert effect.does == Does.GOES_ON
    assert f"use {SHOWN}" in texts(json.loads(reply.stdout))
    assert TOKEN not in spoken(reply)


@pytest.mark.parametrize("make", [Prompt, Messages])
def test_words_without_a_secret_go_on_as_they_are(place: Place, make: Callable[[str], Act]) -> None:
    for lane in lanes(make("")):
        _, effect = place.does(make("use $TOKEN"), lane, REDACT)
        assert effect == Effect()


# ── what the documentation says of it ──

PAGE = Path(__file__).parents[2] / "docs" / "redaction.md"


def test_the_documentation_names_the_platforms_on_which_a_failed_tool_is_another_event() -> None:
    said = PAGE.read_text(encoding="utf-8").partition("- Failed tools: on ")[2]
    names = set(re.findall("`([a-z-]+)`", said.partition(" what a tool says")[0]))
    assert names == {
        name
        for name in registry.dialect_names()
        if name != "canonical"
        for row in registry.dialect(name).support.events.values()
        if row.event == "post_tool_use_failure"
    }
