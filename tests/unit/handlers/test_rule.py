"""Inline rules: what they say, and what is refused before they can say it."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import Raw

from hookline.handlers import rule
from hookline.model.answers import Answer, Rewrite, Verdict
from hookline.model.errors import HandlerAnswerError, HandlerCrashed
from hookline.model.events import BeforeLlmCall, Event, PostToolUse, PreToolUse, Stop
from hookline.model.ports import NOBODY
from hookline.model.tools import CANONICAL_TOOLS

SHELL = PreToolUse(
    tool=CANONICAL_TOOLS.read("Bash", {"command": 'echo "<b>" & true'}),
    session_id="s1",
    raw=Raw(b'{"permission_mode": "plan"}'),
)


@pytest.fixture
def said(kit: Any) -> Any:
    def answer(values: Mapping[str, Any], event: Event = SHELL) -> Answer:
        hook = kit.hook(values, event.event_id())
        handler = rule.make(hook, kit.services())
        assert handler.instant
        return handler.answer(event, NOBODY)

    return answer


@pytest.fixture
def problems(kit: Any) -> Any:
    def found(values: Mapping[str, Any], *events: str) -> list[tuple[str, str, str]]:
        hook = kit.hook(values, *events)
        checked = rule.check(values, hook, kit.services())
        return [(problem.key, problem.message, problem.hint) for problem in checked]

    return found


@pytest.mark.parametrize(
    ("values", "answer"),
    [
        ({"deny": "no"}, Answer(verdict=Verdict.DENY, reason="no")),
        ({"ask": "sure?"}, Answer(verdict=Verdict.ASK, reason="sure?")),
        ({"allow": True}, Answer(verdict=Verdict.ALLOW)),
        ({"allow": "safe"}, Answer(verdict=Verdict.ALLOW, reason="safe")),
        ({"context": "mind"}, Answer(context=("mind",))),
        ({"context": ["a", "b"]}, Answer(context=("a", "b"))),
        (
            {"rewrite": {"input": {"command": "ls", "n": 1}, "env": {"CI": "1"}}},
            Answer(rewrite=Rewrite(input={"command": "ls", "n": 1}, env={"CI": "1"})),
        ),
        (
            {"ask": "sure?", "context": "mind", "rewrite": {"input": {"timeout": None}}},
            Answer(
                verdict=Verdict.ASK,
                reason="sure?",
                context=("mind",),
                rewrite=Rewrite(input={"timeout": None}),
            ),
        ),
    ],
)
def test_a_rule_says_what_the_config_says(
    said: Any, problems: Any, values: dict[str, Any], answer: Answer
) -> None:
    assert problems(values) == []
    assert said(values) == answer


def test_a_rule_without_templates_is_worked_out_once(said: Any, kit: Any) -> None:
    handler = rule.make(kit.hook({"deny": "no"}), kit.services())
    assert handler.instant
    assert handler.answer(SHELL, NOBODY) is handler.answer(SHELL, NOBODY)


def test_templates_are_filled_in_from_the_event_without_escaping(said: Any) -> None:
    answer = said({"deny": "not `{{ tool.command }}` in {{ session_id }}\n"})
    assert answer.reason == 'not `echo "<b>" & true` in s1\n'


def test_templates_work_deep_inside_a_rewrite_and_leave_other_values_alone(said: Any) -> None:
    values = {
        "context": ["{% if tool.kind == 'shell' %}a shell{% endif %}", "plain"],
        "rewrite": {
            "input": {"command": "nice {{ tool.command }}", "list": ["{{ event }}", 3, {}]}
        },
    }
    answer = said(values)
    assert answer.context == ("a shell", "plain")
    assert answer.rewrite.input == {
        "command": 'nice echo "<b>" & true',
        "list": ["pre_tool_use", 3, {}],
    }


def test_the_native_payload_is_there_for_templates_that_name_it(said: Any) -> None:
    assert said({"deny": "in {{ raw.permission_mode }} mode"}).reason == "in plan mode"


def test_a_payload_that_is_no_json_fails_only_templates_that_name_it(said: Any) -> None:
    broken = PreToolUse(raw=Raw(b"{"))
    assert said({"deny": "{{ event }}"}, broken).reason == "pre_tool_use"
    with pytest.raises(HandlerCrashed, match="native payload"):
        said({"deny": "{{ raw.x }}"}, broken)


def test_a_value_the_event_does_not_have_is_a_failure_that_names_it(said: Any) -> None:
    with pytest.raises(HandlerCrashed, match=r"`tool\.path` is undefined \(line 2\)"):
        said({"deny": "no\n{{ tool.path }}"})


def test_text_of_the_event_is_never_taken_for_a_template(said: Any) -> None:
    tool = CANONICAL_TOOLS.read("Bash", {"command": "{{ 7 * 7 }}"})
    assert said({"deny": "{{ tool.command }}"}, PreToolUse(tool=tool)).reason == "{{ 7 * 7 }}"


def test_a_template_that_never_ends_is_stopped(said: Any) -> None:
    endless = "{% for a in range(9999) %}{% for b in range(9999) %}x{% endfor %}{% endfor %}"
    with pytest.raises(HandlerCrashed, match="fuel"):
        said({"deny": endless})


def test_a_reason_that_comes_out_empty_is_a_failure(said: Any) -> None:
    with pytest.raises(HandlerAnswerError, match="needs a reason"):
        said({"deny": "{{ tool.nothing|default('') }}"})


@pytest.mark.parametrize(
    "values",
    [
        {"allow": True},
        {"rewrite": {"input": {"command": "ls"}}},
        {"rewrite": {"input": {"command": "ls"}, "output": "hidden"}},
        {"allow": True, "rewrite": {"output": "hidden"}},
    ],
)
def test_rules_that_grant_or_change_want_every_command_to_match(values: Any) -> None:
    assert rule.every_command(values)


def test_rules_that_deny_ask_tell_or_hide_output_want_one_command_to_match() -> None:
    assert not rule.every_command({"rewrite": {"output": "hidden"}})
    assert not rule.every_command({"deny": "no", "ask": "sure?", "context": "mind"})


def test_two_verdicts_in_one_rule_are_refused(problems: Any) -> None:
    found = problems({"deny": "a", "ask": "b", "allow": True})
    assert [key for key, _, _ in found] == ["ask", "allow"]
    assert "`deny` or `ask`, not both" in found[0][1]


@pytest.mark.parametrize(
    ("values", "key", "hint"),
    [
        ({"deny": "  "}, "deny", "say why"),
        ({"ask": ""}, "ask", "say why"),
        ({"allow": ""}, "allow", "allow: true"),
        ({"allow": False}, "allow", "`deny:`"),
        ({"context": ""}, "context", ""),
        ({"context": []}, "context", ""),
        ({"context": ["a", " "]}, "context", ""),
        ({"rewrite": {}}, "rewrite", "input, output"),
    ],
)
def test_a_key_that_says_nothing_is_refused(
    problems: Any, values: dict[str, Any], key: str, hint: str
) -> None:
    [(found, _, advice)] = problems(values)
    assert found == key
    assert hint in advice


@pytest.mark.parametrize(
    ("values", "event", "works_on"),
    [
        ({"deny": "no"}, "session_start", "pre_tool_use"),
        ({"deny": "no"}, "notification", "after_llm_call"),
        ({"ask": "?"}, "post_tool_use", "pre_tool_use, permission_request"),
        ({"ask": "?"}, "stop", "pre_model_switch"),
        ({"allow": True}, "user_prompt_submit", "elicitation"),
        ({"context": "mind"}, "stop", "session_start"),
        ({"context": "mind"}, "permission_request", "pre_tool_use"),
        ({"rewrite": {"output": "x"}}, "pre_tool_use", "tool_response_transform, post_tool_use"),
        ({"rewrite": {"input": {}}}, "post_tool_use", "pre_tool_use"),
        ({"rewrite": {"prompt": "x"}}, "session_start", "user_prompt_submit"),
    ],
)
def test_what_an_event_cannot_take_is_refused_with_the_events_that_can(
    problems: Any, values: dict[str, Any], event: str, works_on: str
) -> None:
    [(key, message, hint)] = problems(values, event)
    assert key in values
    assert f"`{event}`" in message
    assert works_on in hint


def test_each_event_of_a_hook_is_judged_by_itself(problems: Any) -> None:
    found = problems({"deny": "no"}, "pre_tool_use", "session_start", "setup")
    assert [message for _, message, _ in found] == [
        "`deny` can do nothing on `session_start`",
        "`deny` can do nothing on `setup`",
    ]


@pytest.mark.parametrize("event", [Stop(), PostToolUse(), BeforeLlmCall()])
def test_deny_is_legal_where_it_blocks_hides_or_continues(
    problems: Any, said: Any, event: Event
) -> None:
    assert problems({"deny": "no"}, event.event_id()) == []
    assert said({"deny": "no"}, event).verdict is Verdict.DENY


def test_an_event_nobody_knows_is_not_the_rules_problem(problems: Any) -> None:
    assert problems({"deny": "no", "rewrite": {"input": {"a": 1}}}, "no_such_event") == []


def test_tool_input_at_the_top_of_a_rewrite_is_shown_its_place(problems: Any) -> None:
    [(key, message, hint)] = problems({"rewrite": {"command": "ls"}})
    assert key == "rewrite"
    assert "`command`" in message
    assert hint == "write `input: {command: …}`"


@pytest.mark.parametrize(
    ("part", "event", "hint"),
    [
        ("imput", "pre_tool_use", "did you mean `input`?"),
        ("zzz", "session_start", "it takes input, output"),
    ],
)
def test_an_unknown_part_of_a_rewrite_gets_the_nearest_right_word(
    problems: Any, part: str, event: str, hint: str
) -> None:
    [(_, _, advice)] = problems({"rewrite": {part: "x"}}, event)
    assert hint in advice


def test_a_rewrite_of_the_wrong_shape_is_refused(problems: Any) -> None:
    [(_, message, _)] = problems({"rewrite": {"env": {"CI": 1}}})
    assert "Expected `str`, got `int`" in message


@pytest.mark.parametrize(
    ("template", "mistake"),
    [
        ("{{ tool.comand }}", "the event has no `tool.comand` for the template"),
        ("{{ sesion_id }}", "the event has no `sesion_id` for the template"),
        ("{{ tool.mcp.servr }}", "the event has no `tool.mcp.servr` for the template"),
        ("{{ last_message }}", "the event has no `last_message` for the template"),
    ],
)
def test_a_name_that_the_event_does_not_have_is_a_mistake_in_the_config(
    problems: Any, template: str, mistake: str
) -> None:
    [(_, message, _)] = problems({"deny": f"no {template}"}, "pre_tool_use")
    assert message == mistake


@pytest.mark.parametrize(
    "template",
    [
        "{{ tool.command }}",
        "{{ tool.input.any.thing }}",
        "{{ raw.any.thing }}",
        "{{ agent.name }}",
        "{% for part in tool.paths %}{{ part }}{% endfor %}",
        "{% set own = 1 %}{{ own }}",
    ],
)
def test_a_name_that_the_event_has_or_may_have_is_none(problems: Any, template: str) -> None:
    assert not problems({"deny": f"no {template}"}, "pre_tool_use")


def test_a_name_that_one_of_the_events_has_is_no_mistake(problems: Any) -> None:
    both = ("pre_tool_use", "user_prompt_submit")
    assert not problems({"deny": "{{ prompt }}{{ tool.command }}"}, *both)


@pytest.mark.parametrize(
    ("template", "mistake"),
    [
        ("{{ tool.command", "unexpected end of input"),
        ("ok\n{% if %}", "(line 2)"),
        ("{{ tool.command|shellquote }}", "filter shellquote is unknown"),
        ("{{ now() }}", "now is unknown"),
    ],
)
def test_a_broken_template_is_a_mistake_in_the_config(
    problems: Any, template: str, mistake: str
) -> None:
    values = {"rewrite": {"input": {"deep": [template]}}}
    [(key, message, _)] = problems(values)
    assert key == "rewrite"
    assert mistake in message


def test_a_template_for_values_that_only_some_events_have_is_no_mistake(problems: Any) -> None:
    assert problems({"deny": "{{ tool.command }} in {{ cwd }}"}) == []
    assert problems({"deny": "{{ tool.paths[0].x.y }} {{ 1 / tool.input.n }}"}) == []
