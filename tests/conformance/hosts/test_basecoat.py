"""The BaseCoat examples as host configs; and functions registered by its contract."""

import asyncio
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.dialects.basecoat.files import FILES
from hookline.dialects.basecoat.registering import Registry
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.handlers.python import make_inline
from hookline.model.answers import Verdict
from hookline.model.errors import IllegalValueError
from hookline.model.events import (
    Error,
    Event,
    PostToolUse,
    PostToolUseFailure,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    UserPromptSubmit,
    Workspace,
)
from hookline.model.hook import Hook, Layer
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller
from hookline.model.tools import tool
from support.cli import Machine
from support.hostile_git import git
from support.hosts import bind, host
from support.receiving import Receiver

EXAMPLES = Path(__file__).parents[3] / "examples/basecoat"
CALLER = Caller(env={"PATH": os.environ["PATH"]})


@pytest.fixture(name="project")
def _project(tmp_path: Path) -> Path:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.mark.parametrize(
    ("event", "runs"),
    [
        (Stop(dialect="vscode", native_event="Stop"), 1),
        (Stop(dialect="kodelet", native_event="agent_stop"), 1),
        (SessionEnd(dialect="vscode", derived_from="silence"), 0),
        (SessionEnd(dialect="kodelet", derived_from="silence"), 0),
        (Stop(dialect="claude-code", native_event="Stop"), 0),
        (SessionEnd(dialect="claude-code", native_event="SessionEnd"), 1),
    ],
)
def test_a_session_ends_with_the_stop_where_a_platform_tells_no_end(
    event: Event, runs: int, project: Path
) -> None:
    hooks = {"SessionEnd": [{"type": "command", "bash": "cat > told"}]}
    outcome = written(hooks, replace(event, session_id="s1"), project)
    assert len(outcome.runs) == runs
    assert outcome.answer.verdict is Verdict.PASS
    if runs:
        assert json.loads((project / "told").read_text())["hook"] == "SessionEnd"


def shell(command: str) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=command), session_id="s1")


def example(name: str, event: Event, project: Path, **keys: Any) -> Outcome:
    return host(FILES, [project / name], event, project=project, **keys)


def written(hooks: dict[str, list[dict[str, Any]]], event: Event, project: Path) -> Outcome:
    file = project / "hooks.json"
    file.write_text(json.dumps({"version": 1, "hooks": hooks}))
    return host(FILES, [file], event, project=project)


def says(body: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {"type": "command", "command": f"echo '{json.dumps(body)}'", **keys}


def test_the_declared_handlers_run_and_a_block_is_a_deny(project: Path) -> None:
    outcome = example("hooks.json", shell("rm -rf ~"), project)
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason.startswith("This repository does not allow rm -rf.")
    passed = example("hooks.json", shell("ls"), project)
    assert (passed.verdict, passed.answer.metadata) == (Verdict.PASS, {"hookId": "validate-tool"})
    assert passed.runs[0].hook.timeout == 10


def test_telemetry_gets_the_envelope_of_what_was_done_and_of_the_end(project: Path) -> None:
    call = replace(tool("shell", command="ls SECRET"), ok=True, duration_ms=5)
    done = PostToolUse(tool=call, session_id="s1")
    ended = SessionEnd(session_id="s1", reason="other")
    with Receiver() as insights:
        example("telemetry.json", done, project)  # nobody asked for it
        env = {
            "APPINSIGHTS_CONNECTION_STRING": f"InstrumentationKey=k1;IngestionEndpoint={insights.url}/"
        }
        example("telemetry.json", done, project, env=env)
        example("telemetry.json", ended, project, env=env)
    assert [path for path, _ in insights.seen] == ["/v2/track", "/v2/track"]
    first, last = (item for _, item in insights.seen)
    assert (first["iKey"], first["name"]) == ("k1", "Microsoft.ApplicationInsights.Event")
    assert first["data"]["baseData"]["properties"] == {
        "agent": "root",
        "sessionId": "s1",
        "tool": "shell",
        "success": "true",
    }
    assert first["data"]["baseData"]["measurements"] == {"durationMs": 5}
    assert "SECRET" not in json.dumps(first)
    assert last["data"]["baseData"]["name"] == "SessionEnd"
    example("hooks.json", ended, project)
    handoff = json.loads((project / "handoff.jsonl").read_text())
    assert (handoff["sessionId"], handoff["branch"]) == ("s1", "")
    written({"Stop": [{"type": "command", "command": "cat > seen.json"}]}, ended, project)
    envelope = json.loads((project / "seen.json").read_text())
    assert envelope.pop("timestamp").endswith("Z")
    assert envelope == {
        "hook": "SessionEnd",
        "sessionId": "s1",
        "agent": "root",
        "repository": "",
        "branch": "",
        "cwd": str(project),
        "reason": "other",
    }


def test_policy_runs_before_hints_and_long_output_is_shortened(project: Path) -> None:
    blocked = example("ordering.json", shell("rm -rf package"), project)
    assert (blocked.verdict, len(blocked.runs)) == (Verdict.DENY, 1)
    hinted = example("ordering.json", shell("make package"), project)
    assert hinted.answer.context == ("Known fix: delete dist before you package.",)
    assert [run.hook.priority for run in hinted.runs] == [10, 50]
    long = replace(tool("shell", command="ls"), output="a\n" * 30)
    said = example("ordering.json", PostToolUse(tool=long), project).answer.rewrite.output
    assert said == "a … and 30 more lines"


def test_tools_of_mcp_servers_fail_aloud_in_order_of_priority(project: Path) -> None:
    outcome = example("mcp.json", SessionStart(), project)
    assert outcome.verdict is Verdict.PASS
    assert [run.hook.name for run in outcome.runs] == [
        "memory.load_session_memory",
        "telemetry.begin_trace",
    ]
    assert "`memory.load_session_memory` cannot be called here yet" in outcome.answer.notice[0]
    assert (
        "persist_session_summary" in example("memory.json", SessionEnd(), project).answer.notice[0]
    )


def test_the_chain_runs_by_priority_pipes_changes_and_ends_with_a_block(project: Path) -> None:
    change = {"action": "modify", "modifiedInput": {"command": "ls -l"}}
    keep = {"type": "command", "command": "cat > seen.json"}
    hooks = {
        "preToolUse": [
            says({"action": "block", "reason": "budget"}, priority=90),
            {**keep, "priority": 20},
            says(change, priority=10),
            {"type": "command", "command": "touch late", "priority": 90},
            {"type": "command", "command": "touch later", "priority": 91},
        ]
    }
    outcome = written(hooks, shell("ls"), project)
    assert outcome.verdict is Verdict.DENY
    assert json.loads((project / "seen.json").read_text())["tool"]["input"] == {"command": "ls -l"}
    assert not list(project.glob("late*"))


def test_handlers_of_one_priority_run_in_the_order_they_stand_in(project: Path) -> None:
    def adds(word: str) -> dict[str, Any]:
        body = f'{{"action":"modify","modifiedInput":{{"command":"\'$(cat | jq -r .tool.input.command)\' {word}"}}}}'
        return {"type": "command", "command": f"echo '{body}'"}

    if shutil.which("jq") is None:
        pytest.skip("reads its envelope with jq")
    final = written({"PreToolUse": [adds("a"), adds("b")]}, shell("ls"), project).final
    assert isinstance(final, PreToolUse)
    assert final.tool.command == "ls a b"


def test_context_accumulates_and_warnings_are_notices(project: Path) -> None:
    hooks = {
        "UserPromptSubmitted": [
            says({"action": "injectContext", "additionalContext": ["one"]}),
            says({"action": "injectContext", "additionalContext": "two", "warnings": ["w"]}),
        ]
    }
    outcome = written(hooks, UserPromptSubmit(prompt="hi"), project)
    assert (outcome.answer.context, outcome.answer.notice) == (("one", "two"), ("w",))


@pytest.mark.parametrize(
    "command",
    ["exit 2", "exit 1", "echo text", "sleep 20", """echo '{"permissionDecision": "deny"}'"""],
)
def test_a_handler_that_breaks_blocks_nothing_and_is_told_of(command: str, project: Path) -> None:
    entry = {"type": "command", "command": command, "timeoutSec": 0.5}
    outcome = written({"PreToolUse": [entry]}, shell("ls"), project)
    assert outcome.verdict is Verdict.PASS
    assert "failed" in outcome.answer.notice[0]


def test_handlers_have_their_directory_variables_and_shell(project: Path) -> None:
    (project / "sub").mkdir()
    text = 'echo "{\\"warnings\\": [\\"$(basename $PWD) $A ${BASH_VERSION:+bash}\\"]}"'
    entry = {"type": "command", "bash": text, "cwd": "sub", "env": {"A": "b"}}
    assert written({"SessionStart": [entry]}, SessionStart(), project).answer.notice == (
        "sub b bash",
    )


def test_a_failed_tool_is_told_of_as_done_and_then_as_an_error(project: Path) -> None:
    keep = {"type": "command", "command": "cat >> seen.jsonl; echo >> seen.jsonl"}
    hooks = {"errorOccurred": [keep], "postToolUse": [keep]}
    failed = tool("shell", command="make")
    written(hooks, PostToolUseFailure(tool=failed, error="no rule"), project)
    written(hooks, PostToolUse(tool=failed), project)
    written(hooks, Error(message="lost"), project)
    seen = [json.loads(line) for line in (project / "seen.jsonl").read_text().splitlines()]
    assert [each["hook"] for each in seen] == ["PostToolUse", "OnError", "PostToolUse", "OnError"]
    assert seen[1]["error"] == {"class": "shell", "message": "no rule"}


# ── code registration ───────────────────────────────────────────────────────────────────────


def test_the_envelope_names_repository_branch_and_issue(project: Path) -> None:
    git(project, "init", "-q", "-b", "feat/145-hooks-framework")
    git(project, "remote", "add", "origin", "git@github.com:IBuySpy-Shared/basecoat.git")
    hooks = {"SessionStart": [{"type": "command", "command": "cat >envelope.json"}]}
    written(hooks, SessionStart(session_id="s1"), project)
    envelope = json.loads((project / "envelope.json").read_text())
    assert envelope["repository"] == "IBuySpy-Shared/basecoat"
    assert (envelope["branch"], envelope["issue"]) == ("feat/145-hooks-framework", "145")


def test_what_a_runtime_says_of_the_workspace_is_taken_over() -> None:
    said = {"hook": "SessionStart", "sessionId": "s1", "repository": "acme/app", "branch": "main"}
    event = FILES.codec.decode(json.dumps(said).encode())
    assert event.workspace == Workspace(repository="acme/app", branch="main")
    said |= {"repository": "", "branch": None}
    assert FILES.codec.decode(json.dumps(said).encode()).workspace is None


def bound(hooks: Sequence[Hook]) -> list[Bound]:
    """As the library binds functions."""
    return [Bound(h, make_inline(h.handler.values["function"], h.timeout)) for h in hooks]


def run(hooks: Registry, event: Event) -> Outcome:
    return asyncio.run(Engine(bound(hooks.hooks()), tools=registry.tools).handle(event))


def test_a_registered_function_gets_the_envelope_and_answers_with_one() -> None:
    hooks = Registry()
    seen: list[dict[str, Any]] = []

    @hooks.register("SessionStart")
    async def load_memory(event: dict[str, Any]) -> dict[str, Any]:
        seen.append(event)
        return {"action": "injectContext", "additionalContext": ["repo convention"]}

    outcome = run(hooks, SessionStart(session_id="s1"))
    assert outcome.answer.context == ("repo convention",)
    assert (seen[0]["hook"], seen[0]["sessionId"]) == ("SessionStart", "s1")
    assert outcome.runs[0].hook.source.line > 0


def test_registered_functions_form_one_chain_by_priority() -> None:
    hooks = Registry()
    order: list[str] = []

    def step(name: str, answer: dict[str, Any] | None) -> Any:
        async def handler(event: dict[str, Any]) -> dict[str, Any] | None:
            order.append(f"{name} {event['tool']['input']['command']}")
            return answer

        return handler

    change = {"action": "modify", "modifiedInput": {"command": "pwd"}}
    hooks.register("preToolUse", step("log", None), priority=90)
    hooks.register("PreToolUse", step("guard", {"action": "block", "reason": "no"}), priority=20)
    hooks.register("PreToolUse", step("first", change), priority=10, name="first")
    hooks.register("PreToolUse", step("second", None), priority=10)
    outcome = run(hooks, shell("ls"))
    assert outcome.reason.startswith("no")
    assert order == ["first ls", "second pwd", "guard pwd"]


@pytest.mark.parametrize("said", [{"action": "shout"}, {"action": object()}, ["no"], "text"])
def test_a_function_that_says_no_envelope_has_failed_and_blocks_nothing(said: Any) -> None:
    hooks = Registry()
    hooks.register("PreToolUse", lambda event: said, name="odd")
    outcome = run(hooks, shell("ls"))
    assert outcome.verdict is Verdict.PASS
    assert outcome.answer.notice[0].startswith("hook `odd` failed:")


def test_a_function_that_raises_blocks_nothing_and_an_awaitable_is_awaited() -> None:
    hooks = Registry()

    def broken(event: dict[str, Any]) -> None:
        raise ValueError("oops")

    async def later() -> dict[str, Any]:
        return {"action": "block", "reason": "late"}

    hooks.register("PreToolUse", broken)
    assert "oops" in run(hooks, shell("ls")).answer.notice[0]
    hooks.register("PreToolUse", lambda event: later())
    assert run(hooks, shell("ls")).verdict is Verdict.DENY


def test_an_error_function_sees_only_what_failed() -> None:
    hooks = Registry()
    hooks.register("OnError", lambda event: {"warnings": [event["error"]["message"]]})
    done = tool("shell", command="ls")
    assert run(hooks, PostToolUse(tool=done)).runs == ()
    assert run(hooks, PostToolUseFailure(tool=done, error="no")).answer.notice == ("no",)


def test_an_unknown_event_cannot_be_registered_for() -> None:
    with pytest.raises(IllegalValueError, match=r"no event `PreToolUze`\. did you mean"):
        Registry().register("PreToolUze", lambda event: None)


def test_a_later_hook_overwrites_context_and_not_that_of_a_higher_layer(project: Path) -> None:
    first = says({"action": "injectContext", "additionalContext": ["old"]}, priority=10)
    last = says(
        {"action": "injectContext", "additionalContext": ["new"], "overwriteContext": True},
        priority=20,
    )
    after = says({"action": "injectContext", "additionalContext": ["more"]}, priority=30)
    hooks = {"SessionStart": [first, last, after]}
    assert written(hooks, SessionStart(), project).answer.context == ("new", "more")

    mine = host(FILES, [project / "hooks.json"], SessionStart(), project=project)
    assert mine.answer.context == ("new", "more")
    (project / "hooks.json").write_text(
        json.dumps({"version": 1, "hooks": {"SessionStart": [last]}})
    )
    (project / "own.json").write_text(
        json.dumps({"version": 1, "hooks": {"SessionStart": [first]}})
    )
    both = [
        bind(replace(hook, name=layer.name))
        for layer, file in ((Layer.USER, "own.json"), (Layer.PROJECT, "hooks.json"))
        for hook in FILES.hooks(
            [FILES.read(file, (project / file).read_bytes())],
            layer=layer,
            project_dir=str(project),
        )
    ]
    outcome = asyncio.run(Engine(both).handle(SessionStart(cwd=str(project)), CALLER))
    assert outcome.answer.context == ("old", "new")


def test_long_context_is_cut_and_that_is_said(project: Path) -> None:
    long = {"type": "command", "command": 'printf \'{"additionalContext": ["%09000d"]}\' 1'}
    outcome = written({"SessionStart": [long, {**long, "timeoutSec": 2}]}, SessionStart(), project)
    one, other = outcome.answer.context
    assert len(one) == 9000
    assert len(one + other) < 10_000
    assert other.endswith("characters cut)")
    assert [each.was for each in outcome.substitutions] == ["context"]
    assert "max_context" in outcome.substitutions[0].why


def test_a_rotated_session_hands_its_work_to_the_next_one(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path, capfdbinary)
    config = machine.write("hookline.yaml", "version: 1\nhooks:\n  - use: handoff\n")

    def envelope(hook: str, session: str = "s1", **more: object) -> str:
        used = {"usedTokens": 130_000, "effectiveLimit": 160_000}
        known = {"repository": "example/app", "branch": "feat/145-x", "budget": used}
        return json.dumps({"hook": hook, "sessionId": session, "agent": "dev", **known, **more})

    todos = {"todos": [{"content": "Write the parser", "status": "in_progress"}]}
    command = {"command": "npm test"}
    flow = (
        envelope("SessionStart"),
        envelope("PostToolUse", tool={"name": "TodoWrite", "input": todos, "success": True}),
        envelope("PostToolUse", tool={"name": "bash", "input": command, "success": False, "output": "Error: boom"}),
        envelope("OnBudgetExceeded"),
        envelope("PreCompact"),
        envelope("PostCompact", compaction={"summary": "The parser is for issue 145."}),
        envelope("SessionEnd"),
        envelope("SessionStart", "s2"),
        envelope("PostCompact", "s2", compaction={"summary": "Nothing."}),
        envelope("SessionStart", "s3"),
    )  # fmt: skip
    words = ("fire", "--jsonl", "--as", "basecoat", "--config", str(config))
    said = machine.call(*words, stdin="\n".join(flow)).lines
    assert [line["verdict"] for line in said] == ["pass"] * len(flow)
    replies = [json.loads(line["reply"]["stdout"] or "{}") for line in said]
    written, before, after = (line["metadata"]["handoff"] for line in said[3:6])
    assert 0 < written["tokens"] <= 1500
    assert before["context"] == 130_000
    assert (after["retained"], after["lost"]) == (1, ["Branch"])
    assert after["ratio"] < 1
    assert "> Branch: feat/145-x" in str(replies[5]["additionalContext"])
    rehydrated = str(replies[7]["additionalContext"])
    for line in (
        "> Repository: example/app",
        "> Issue: 145",
        "> Branch: feat/145-x",
        "> - [~] Write the parser",
        "> - `npm test` failed: Error: boom",
    ):
        assert line in rehydrated
    assert "whose token budget was used up" in rehydrated
    assert "> Issue: 145" in str(replies[8]["additionalContext"]), "anchors that were restored"
    assert replies[9].get("additionalContext", []) == [], "it is told once"
