"""One hookline.yaml on every platform, through ``hookline hook DIALECT``, judged by client models.

A dangerous command is denied, a command is rewritten, context is added, and an unfinished agent is
kept going; or what the support table says instead is recorded.
"""

import asyncio
import json
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.model.events import Event, PreToolUse, SessionStart, Stop, UserPromptSubmit
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import tool
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import LastingJournals, Parts
from support.clients.effects import Does, Effect

NATIVE = [name for name in registry.dialect_names() if name != "canonical"]
CONFIG = """
version: 1
hooks:
  - name: home stays
    on: pre_tool_use
    match: {tool: shell, command: "rm -rf ~"}
    deny: MK_DENY this would delete your home
  - name: gentle force
    on: pre_tool_use
    match: {tool: shell, command: "git push --force"}
    rewrite: {input: {command: git push --force-with-lease}}
  - name: house style
    on: [user_prompt_submit, session_start]
    context: MK_CONTEXT British spelling
  - name: finish the job
    on: stop
    run: echo "MK_MORE run the tests" >&2; exit 2
"""


async def respond(call: Call) -> Reply:
    parts = Parts(LastingJournals())
    try:
        return await answer(call, parts)
    finally:
        await parts.aclose()


class Platform:
    """One platform's client, with hookline installed in it."""

    def __init__(self, name: str, directory: Path) -> None:
        self.name = name
        self.dialect: Any = registry.dialect(name)
        self.directory = directory
        self.config = directory / "hookline.yaml"
        self.config.write_text(CONFIG, encoding="utf-8")

    def has(self, event: str) -> str:
        """The native name of a canonical event; skips the test where there is none."""
        native = self.dialect.native_for(event)
        if not native:
            pytest.skip(f"{self.name} has no {event}")
        return str(native)

    def fire(self, event: Event) -> tuple[Reply, Effect, Any]:
        """The reply, what the client does with it, and what was substituted."""
        native = self.has(event.event_id())
        payload = self.dialect.stdin(event)
        options = {
            "--home": str(self.directory / "state"),
            "--user-config": str(self.directory / "none"),
            "--config": str(self.config),
        }
        call = Call(
            argv=[self.name, native, *chain(*options.items())],
            payload=payload,
            env={"PATH": "/usr/bin:/bin", "HOME": str(self.directory)},
            cwd=str(self.directory),
        )
        reply = asyncio.run(respond(call))
        client = import_module(f"support.clients.{self.name.replace('-', '_')}")
        effect = client.obey(native, reply, json.loads(payload))
        row = self.dialect.support.events[native]
        assert not effect.failed, effect.failed
        return reply, effect, row


@pytest.fixture(params=NATIVE)
def platform(request: pytest.FixtureRequest, tmp_path: Path) -> Platform:
    return Platform(request.param, tmp_path)


def shell(command: str) -> PreToolUse:
    return PreToolUse(tool=tool("shell", command=command), session_id="s1", cwd="/srv/app")


def test_a_dangerous_command_is_denied_and_the_reason_is_read(platform: Platform) -> None:
    _, effect, _ = platform.fire(shell("rm -rf ~"))
    assert effect.does >= Does.BLOCKS
    assert "MK_DENY" in effect.reason


def test_a_harmless_command_is_left_to_the_client(platform: Platform) -> None:
    _, effect, _ = platform.fire(shell("git status"))
    assert effect.does == Does.GOES_ON
    assert effect.input is None


def test_a_command_is_rewritten_or_the_model_is_told_what_to_run(platform: Platform) -> None:
    _, effect, row = platform.fire(shell("git push --force"))
    if row.can("input"):
        assert "--force-with-lease" in json.dumps(effect.input)
    else:
        assert effect.does >= Does.BLOCKS
        assert "--force-with-lease" in effect.reason


@pytest.mark.parametrize("event", ["user_prompt_submit", "session_start"])
def test_context_reaches_the_model_or_its_loss_is_recorded(platform: Platform, event: str) -> None:
    fired: Event = (
        UserPromptSubmit(prompt="hello", session_id="s1", cwd="/srv/app")
        if event == "user_prompt_submit"
        else SessionStart(source="startup", session_id="s1", cwd="/srv/app")
    )
    _, effect, row = platform.fire(fired)
    assert ("MK_CONTEXT" in effect.context) == row.can("context")


def test_an_unfinished_agent_is_kept_going_but_not_for_ever(platform: Platform) -> None:
    told = []
    for turn in range(11):
        event = Stop(session_id="s1", cwd="/srv/app", stop_hook_active=turn > 0)
        _, effect, row = platform.fire(event)
        told.append("MK_MORE" in effect.follow_up)
    if not row.can("follow_up"):
        assert not any(told)
        return
    cap = min(8, platform.dialect.support.stop_cap or 8)
    assert told == [True] * cap + [False] * (11 - cap)


def test_a_payload_that_cannot_be_read_closes_the_gate(platform: Platform) -> None:
    native = platform.has("pre_tool_use")
    reply = platform.dialect.refuse(native, "MK_DENY the payload is broken")
    client = import_module(f"support.clients.{platform.name.replace('-', '_')}")
    payload = json.loads(platform.dialect.stdin(shell("ls")))
    assert client.obey(native, reply, payload).does >= Does.BLOCKS


def test_nothing_to_say_is_said_in_a_way_that_changes_nothing(platform: Platform) -> None:
    event = platform.dialect.decode(
        platform.dialect.stdin(shell("ls")), platform.has("pre_tool_use")
    )
    client = import_module(f"support.clients.{platform.name.replace('-', '_')}")
    reply = platform.dialect.encode(Outcome(event=event))
    assert client.obey(event.native_event, reply, {}) == Effect()
