"""Other platforms' hooks that ask a model, run here: what is asked, and what a yes or no does."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.claude_code.files import FILES as CLAUDE
from hookline.dialects.docker_agent.files import FILES as DOCKER
from hookline.model.answers import Verdict
from hookline.model.events import (
    Event,
    PermissionRequest,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    SessionStart,
    Stop,
    SubagentStop,
    TaskCreated,
    TeammateIdle,
    UserPromptSubmit,
)
from hookline.model.hook import Layer, OnError
from hookline.model.models import ModelEntry
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.endpoints import Calls, Endpoint, Raw, Reply, completion
from support.hosts import host

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
SHELL = tool("shell", command="make deploy")
YES, NO = '{"ok": true, "reason": "fine"}', '{"ok": false, "reason": "tests fail"}'


def claude(
    reply: Reply | tuple[Reply, ...],
    event: Event,
    native: str,
    project: Path,
    /,
    kind: str = "prompt",
    under: str = "",
    **keys: Any,
) -> tuple[Outcome, Endpoint]:
    """The outcome of one hook in a settings file, and the server that its model was asked at."""
    handler = {"type": kind, "prompt": "May this be? $ARGUMENTS", **keys}
    settings = {"hooks": {native: [{"hooks": [handler]}]}}
    file = project / ".claude/settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(settings), encoding="utf-8")
    replies = reply if type(reply) is tuple else (reply,)
    with Endpoint(*replies) as endpoint:
        models = {under or str(keys.get("model", "default")): here(endpoint)}
        outcome = host(CLAUDE, [file], event, project=project, models=models)
    return outcome, endpoint


def here(endpoint: Endpoint) -> ModelEntry:
    return ModelEntry(model="openai/scripted", endpoint=endpoint.url)


# ── Claude Code ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("event", "native", "keys", "verdict"),
    [
        (PreToolUse(tool=SHELL), "PreToolUse", {}, Verdict.HALT),
        (PreToolUse(tool=SHELL), "PreToolUse", {"continueOnBlock": True}, Verdict.DENY),
        (PostToolUse(tool=SHELL), "PostToolUse", {}, Verdict.HALT),
        (PostToolUse(tool=SHELL), "PostToolUse", {"continueOnBlock": True}, Verdict.DENY),
        (PostToolUseFailure(tool=SHELL), "PostToolUseFailure", {}, Verdict.DENY),
        (UserPromptSubmit(prompt="x"), "UserPromptSubmit", {"continueOnBlock": True}, Verdict.HALT),
        (TaskCreated(), "TaskCreated", {}, Verdict.DENY),
        (PermissionRequest(tool=SHELL), "PermissionRequest", {}, Verdict.PASS),
        (TeammateIdle(), "TeammateIdle", {}, Verdict.PASS),
    ],
)
def test_a_no_does_what_the_event_makes_of_it(
    tmp_path: Path, event: Event, native: str, keys: Mapping[str, Any], verdict: Verdict
) -> None:
    outcome, _ = claude(NO, event, native, tmp_path, **keys)
    assert outcome.verdict is verdict
    told = outcome.reason if verdict > Verdict.PASS else "\n".join(outcome.answer.notice)
    assert "tests fail" in told
    assert claude(YES, event, native, tmp_path, **keys)[0].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("event", "native", "keys"),
    [
        (Stop(), "Stop", {}),
        (SubagentStop(), "SubagentStop", {}),
        (TeammateIdle(), "TeammateIdle", {"continueOnBlock": True}),
    ],
)
def test_a_no_at_the_end_keeps_the_agent_going(
    tmp_path: Path, event: Event, native: str, keys: Mapping[str, Any]
) -> None:
    outcome, _ = claude(NO, event, native, tmp_path, **keys)
    assert outcome.answer.follow_up == ("tests fail",)
    assert claude(YES, event, native, tmp_path, **keys)[0].answer.follow_up == ()


def test_what_cannot_be_done_lets_the_agent_stop(tmp_path: Path) -> None:
    reply = '{"ok": false, "reason": "no network", "impossible": true}'
    outcome, endpoint = claude(reply, Stop(), "Stop", tmp_path)
    assert outcome.answer.follow_up == ()
    assert "no network" in outcome.answer.notice[0]
    assert "impossible" in json.dumps(endpoint.asked[0].body["response_format"])
    # Elsewhere the word has no meaning, and an agent's verdict has none either.
    outcome, _ = claude(reply, PreToolUse(tool=SHELL), "PreToolUse", tmp_path)
    assert outcome.verdict is Verdict.HALT


def test_the_payload_stands_where_the_prompt_says_arguments(tmp_path: Path) -> None:
    event = PreToolUse(tool=SHELL, session_id="s1")
    _, endpoint = claude(YES, event, "PreToolUse", tmp_path, prompt="A $ARGUMENTS B \\$ARGUMENTS")
    text = endpoint.asked[0].said("user")
    payload = json.loads(text.partition(">")[2].partition("</data-")[0])
    assert payload["tool_input"]["command"] == "make deploy"
    assert payload["hook_event_name"] == "PreToolUse"
    assert text.startswith("A <data-")
    assert text.endswith("> B $ARGUMENTS")
    _, endpoint = claude(YES, event, "PreToolUse", tmp_path, prompt="Is it safe?")
    assert "make deploy" in endpoint.asked[0].said("user")


def test_secrets_in_the_payload_are_not_sent(tmp_path: Path) -> None:
    event = PreToolUse(tool=tool("shell", command=f"curl -H 'X-Token: {TOKEN}' x"))
    _, endpoint = claude(YES, event, "PreToolUse", tmp_path)
    assert TOKEN.encode() not in endpoint.asked[0].raw


@pytest.mark.parametrize("reply", ["I think so", "", Raw(500), '{"ok": "no"}'])
def test_a_prompt_hook_that_fails_lets_things_pass_as_on_its_platform(
    tmp_path: Path, reply: Reply
) -> None:
    outcome, _ = claude(reply, PreToolUse(tool=SHELL), "PreToolUse", tmp_path)
    assert outcome.verdict is Verdict.PASS
    assert outcome.runs[0].failed


@pytest.mark.parametrize(
    ("said", "model"),
    [
        (None, "anthropic/claude-haiku-4-5"),
        ("haiku", "anthropic/claude-haiku-4-5"),
        ("Opus", "anthropic/claude-opus-4-5"),
        ("sonnet[1m]", "anthropic/claude-sonnet-4-5"),
        ("claude-haiku-5-5", "anthropic/claude-haiku-5-5"),
        ("openai/gpt-4o", "openai/gpt-4o"),
    ],
)
def test_the_clients_names_of_models_are_understood(said: str | None, model: str) -> None:
    handler = {"type": "prompt", "prompt": "?"} | ({"model": said} if said else {})
    text = json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}).encode()
    file = CLAUDE.read("/p/.claude/settings.json", text)
    (hook,) = CLAUDE.hooks([file], layer=Layer.USER, project_dir="/p")
    assert hook.handler.values["native"]["model"] == model
    assert (hook.timeout, hook.on_error) == (30.0, OnError.WARN)


@pytest.mark.parametrize("said", ["HAIKU", "haiku[1m]", " Haiku [1m]", "haiku"])
def test_the_users_meaning_of_a_clients_name_counts_however_it_is_written(
    tmp_path: Path, said: str
) -> None:
    event = PreToolUse(tool=SHELL)
    outcome, endpoint = claude(NO, event, "PreToolUse", tmp_path, under="haiku", model=said)
    assert (outcome.verdict, len(endpoint.asked)) == (Verdict.HALT, 1)


@pytest.mark.parametrize("kind", ["prompt", "agent"])
@pytest.mark.parametrize(
    "command", ["ls #" + "x" * 200_000, 'API_TOKEN="$(terraform destroy -auto-approve)9fK2" make']
)
def test_what_an_agent_keeps_from_the_model_is_blocked(
    tmp_path: Path, kind: str, command: str
) -> None:
    event = PreToolUse(tool=tool("shell", command=command), cwd=str(tmp_path))
    outcome, endpoint = claude(YES, event, "PreToolUse", tmp_path, kind=kind)
    assert (outcome.verdict, endpoint.asked) == (Verdict.DENY, [])
    assert "cannot judge this" in outcome.reason


def test_without_a_key_it_is_said_which_one_is_missing(tmp_path: Path) -> None:
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    handler = {"type": "prompt", "prompt": "?"}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}))
    outcome = host(CLAUDE, [file], PreToolUse(tool=SHELL), project=tmp_path)
    assert "`ANTHROPIC_API_KEY`" in (outcome.runs[0].failed or "")


# ── an agent that looks before it answers ───────────────────────────────────────────────────


def calls(*each: tuple[str, Mapping[str, Any]]) -> Calls:
    return Calls(each)


def _twice() -> Raw:
    """A verdict that is handed over with the same key twice."""
    body = json.loads(completion(calls(("StructuredOutput", {}))))
    (call,) = body["choices"][0]["message"]["tool_calls"]
    call["function"]["arguments"] = '{"ok": false, "reason": "no", "ok": true}'
    return Raw(200, json.dumps(body).encode())


def test_of_several_verdicts_that_an_agent_hands_over_a_no_counts(tmp_path: Path) -> None:
    each = [("StructuredOutput", {"ok": ok, "reason": "drops prod"}) for ok in (True, False)]
    event = PreToolUse(tool=SHELL, cwd=str(tmp_path))
    outcome, _ = claude(calls(*each), event, "PreToolUse", tmp_path, kind="agent")
    assert outcome.verdict is Verdict.DENY


def test_an_agent_looks_at_the_project_and_hands_over_its_verdict(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text(f"deploy:\n\tcurl -H 'X-Token: {TOKEN}' prod\n")
    replies = (
        calls(("Grep", {"pattern": "deploy"}), ("Read", {"file_path": "/etc/hostname"})),
        calls(("StructuredOutput", {"ok": False, "reason": "it goes to production"})),
    )
    event = PreToolUse(tool=SHELL, cwd=str(tmp_path))
    outcome, endpoint = claude(replies, event, "PreToolUse", tmp_path, kind="agent")
    assert (outcome.verdict, outcome.reason.splitlines()[0]) == (
        Verdict.DENY,
        "it goes to production",
    )
    offered = [each["function"]["name"] for each in endpoint.asked[0].body["tools"]]
    assert offered == ["Read", "Grep", "Glob", "StructuredOutput"]
    found = endpoint.asked[1].said("tool")
    assert "Makefile:1:deploy:" in found
    assert "outside of the project" in found
    assert TOKEN not in found
    bill = outcome.runs[0].answer.metadata["judge"]
    assert (bill["input_tokens"], bill["output_tokens"]) == (240, 30)


def test_an_agent_without_a_project_looks_at_nothing(tmp_path: Path) -> None:
    file = tmp_path / ".claude/settings.json"
    file.parent.mkdir()
    handler = {"type": "agent", "prompt": "?"}
    file.write_text(json.dumps({"hooks": {"PreToolUse": [{"hooks": [handler]}]}}))
    with Endpoint(YES) as endpoint:
        event = PreToolUse(tool=SHELL, cwd="/")
        models = {"default": here(endpoint)}
        outcome = host(CLAUDE, [file], event, project=Path("/"), models=models)
        assert endpoint.asked == []
    assert "no project is known" in (outcome.runs[0].failed or "")


@pytest.mark.parametrize(
    ("event", "native", "follow_up"),
    [(Stop(), "Stop", ("tests fail",)), (PostToolUse(tool=SHELL), "PostToolUse", ())],
)
def test_an_agents_no_lets_the_run_go_on(
    tmp_path: Path, event: Event, native: str, follow_up: tuple[str, ...]
) -> None:
    outcome, _ = claude(NO, event, native, tmp_path, kind="agent")
    assert outcome.answer.follow_up == follow_up
    assert outcome.verdict is not Verdict.HALT


@pytest.mark.parametrize(
    "reply",
    [
        calls(("Glob", {"pattern": "*"})),
        calls(*[("Glob", {"pattern": "*"})] * 21),
        calls(("StructuredOutput", {"reason": "hm"})),
        "I am not sure.",
        YES,
        calls(*[("StructuredOutput", {"ok": True, "reason": "fine"})] * 2),
        _twice(),
    ],
)
def test_an_agent_that_comes_to_no_verdict_has_failed(tmp_path: Path, reply: Reply) -> None:
    event = PreToolUse(tool=SHELL, cwd=str(tmp_path))
    outcome, endpoint = claude(reply, event, "PreToolUse", tmp_path, kind="agent")
    assert outcome.runs[0].failed
    assert len(endpoint.asked) <= 50


# ── docker-agent ────────────────────────────────────────────────────────────────────────────

JUDGE = """\
hooks:
  {event}:
    - {matcher}{{type: model, model: openai/gpt-4o-mini, timeout: 15, {keys}
       prompt: {prompt}}}
"""


def docker(
    reply: Reply,
    event: Event,
    project: Path,
    *,
    native: str = "pre_tool_use",
    keys: str = "schema: pre_tool_use_decision,",
    prompt: str = '"{{ .ToolName }}: {{ .ToolInput | toJSON }}"',
    preempt: bool = False,
) -> tuple[Outcome, Endpoint]:
    groups = {"pre_tool_use", "permission_request", "post_tool_use"}
    lane = f"preempt_yolo: {str(preempt).lower()}\n      "
    matcher = f"{lane}hooks:\n       - " if native in groups else ""
    file = project / "agent.yaml"
    text = JUDGE.format(event=native, matcher=matcher, keys=keys, prompt=prompt)
    file.write_text(text, encoding="utf-8")
    with Endpoint(reply) as endpoint:
        models = {"openai/gpt-4o-mini": here(endpoint)}
        outcome = host(DOCKER, [file], event, project=project, models=models)
    return outcome, endpoint


@pytest.mark.parametrize(
    ("decision", "verdict"),
    [("allow", Verdict.ALLOW), ("ask", Verdict.ASK), ("deny", Verdict.DENY)],
)
def test_a_model_hooks_decision_counts_and_is_announced(
    tmp_path: Path, decision: str, verdict: Verdict
) -> None:
    reply = json.dumps({"decision": decision.upper(), "reason": "because"})
    outcome, endpoint = docker(f"```json\n{reply}\n```", PreToolUse(tool=SHELL), tmp_path)
    assert outcome.verdict is verdict
    assert any(decision in text and "because" in text for text in outcome.answer.notice)
    assert endpoint.asked[0].said("user") == 'shell: {"cmd":"make deploy"}'
    schema = endpoint.asked[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["decision"]["enum"] == ["allow", "ask", "deny"]
    assert schema["additionalProperties"] is False


def test_before_all_approval_an_allow_is_only_advice(tmp_path: Path) -> None:
    allow = '{"decision": "allow", "reason": "r"}'
    outcome, _ = docker(allow, PreToolUse(tool=SHELL), tmp_path, preempt=True)
    assert outcome.verdict is Verdict.PASS
    deny = '{"decision": "deny", "reason": "r"}'
    outcome, _ = docker(deny, PreToolUse(tool=SHELL), tmp_path, preempt=True)
    assert outcome.verdict is Verdict.DENY


def test_a_model_without_a_schema_gives_context(tmp_path: Path) -> None:
    outcome, endpoint = docker(
        "  Mind the docs.  ", SessionStart(), tmp_path, native="session_start", keys="", prompt="Hi"
    )
    assert outcome.answer.context == ("Mind the docs.",)
    assert "response_format" not in endpoint.asked[0].body


@pytest.mark.parametrize(
    ("reply", "prompt", "keys"),
    [
        ("perhaps", "x", "schema: pre_tool_use_decision,"),
        ('{"decision": "pass"}', "x", "schema: pre_tool_use_decision,"),
        (Raw(500), "x", "schema: pre_tool_use_decision,"),
        ("{}", "x", "schema: another,"),
        (
            '{"decision": "allow", "reason": "r"}',
            '"{{ .Nothing }}"',
            "schema: pre_tool_use_decision,",
        ),
        ('{"decision": "allow", "reason": "r"}', '"{{ if }}"', "schema: pre_tool_use_decision,"),
    ],
)
def test_a_model_hook_that_fails_before_a_tool_denies(
    tmp_path: Path, reply: Reply, prompt: str, keys: str
) -> None:
    event = PreToolUse(tool=SHELL)
    outcome, _ = docker(reply, event, tmp_path, prompt=prompt, keys=keys)
    assert outcome.verdict is Verdict.DENY
    assert outcome.runs[0].failed


def test_what_is_wrong_with_a_template_is_named(tmp_path: Path) -> None:
    outcome, endpoint = docker("x", PreToolUse(tool=SHELL), tmp_path, prompt='"{{ shout .Cwd }}"')
    assert "shout" in (outcome.runs[0].failed or "")
    assert endpoint.asked == []


def test_secrets_in_a_prompt_of_docker_agents_are_not_sent(tmp_path: Path) -> None:
    event = PreToolUse(tool=tool("shell", command=f"export T={TOKEN}"))
    _, endpoint = docker('{"decision": "deny"}', event, tmp_path)
    assert TOKEN.encode() not in endpoint.asked[0].raw
