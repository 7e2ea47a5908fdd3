"""Rules of BaseCoat's that no other test shows: chains and broken handlers."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.dialects.basecoat import DIALECT
from hookline.dialects.basecoat.files import FILES
from hookline.dialects.basecoat.registering import Registry
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.handlers.python import make_inline
from hookline.model.answers import Answer, Verdict
from hookline.model.events import (
    BudgetExceeded,
    Event,
    PostToolUse,
    PreToolUse,
    SessionEnd,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host

SHELL = tool("shell", command="ls")


def fired(project: Path, native: str, event: Event, *bodies: Any) -> Outcome:
    entries = [{"type": "command", "command": f"echo '{json.dumps(body)}'"} for body in bodies]
    content = json.dumps({"version": 1, "hooks": {native: entries}}).encode()
    return host(FILES, [FILES.read(str(project / "hooks.json"), content)], event, project=project)


def test_a_modified_result_reaches_the_next_in_the_chain(tmp_path: Path) -> None:
    change = {"action": "modify", "modifiedOutput": "clean"}
    done = PostToolUse(tool=tool("shell", command="ls"))
    outcome = fired(tmp_path, "PostToolUse", done, change, {"action": "passThrough"})
    assert outcome.answer.rewrite.output == "clean"


def test_a_budget_that_is_spent_can_block(tmp_path: Path) -> None:
    block = {"action": "block", "reason": "rotate"}
    outcome = fired(tmp_path, "OnBudgetExceeded", BudgetExceeded(), block)
    assert outcome.verdict is Verdict.DENY


def test_an_end_cannot_be_blocked(tmp_path: Path) -> None:
    block = {"action": "block", "reason": "not yet"}
    outcome = fired(tmp_path, "SessionEnd", SessionEnd(reason="other"), block)
    assert outcome.verdict is Verdict.PASS
    assert outcome.answer.notice == ("not yet",)


def test_an_unknown_action_passes_with_a_warning(tmp_path: Path) -> None:
    outcome = fired(tmp_path, "PreToolUse", PreToolUse(tool=SHELL), {"action": "shout"})
    assert outcome.verdict is Verdict.PASS
    assert "shout" in outcome.answer.notice[0]


def test_a_broken_handler_ends_no_chain(tmp_path: Path) -> None:
    bodies = ({"action": "shout"}, {"action": "block", "reason": "no"})
    outcome = fired(tmp_path, "PreToolUse", PreToolUse(tool=SHELL), *bodies)
    assert outcome.verdict is Verdict.DENY


def test_a_prompt_is_blocked_before_any_tool(tmp_path: Path) -> None:
    block = {"action": "block", "reason": "policy"}
    prompt = UserPromptSubmit(prompt="x")
    assert fired(tmp_path, "UserPromptSubmit", prompt, block).verdict is Verdict.DENY


def test_a_function_that_takes_too_long_blocks_nothing() -> None:
    async def endless(event: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(60)
        return {"action": "block", "reason": "late"}

    hooks = Registry()
    hooks.register("PreToolUse", endless)
    bound = [
        Bound(each, make_inline(each.handler.values["function"], 0.2)) for each in hooks.hooks()
    ]
    assert {each.hook.timeout for each in bound} == {3.0}
    engine = Engine(bound, tools=registry.tools)
    outcome = asyncio.run(engine.handle(PreToolUse(tool=SHELL)))
    assert outcome.verdict is Verdict.PASS
    assert "failed" in outcome.answer.notice[0]


@pytest.mark.parametrize("native", ["PreToolUse", "PostToolUse", "SessionStart"])
def test_our_answers_name_who_gave_them(native: str) -> None:
    event = DIALECT.decode(json.dumps({"hook": native, "sessionId": "s"}).encode(), native)
    reply = DIALECT.encode(Outcome(event=event, answer=Answer(notice=("n",))))
    body = json.loads(reply.stdout)
    assert body["metadata"] == {"hookId": "hookline"}
    assert (body["action"], body["warnings"]) == ("passThrough", ["n"])
