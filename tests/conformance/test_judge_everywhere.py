"""One judge on every platform, through ``hookline hook DIALECT``: a no is a no for each client."""

import asyncio
import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.model.events import PreToolUse
from hookline.model.outcome import Reply
from hookline.model.tools import tool
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import LastingJournals, Parts
from support.clients.effects import Does, Effect
from support.endpoints import Endpoint
from support.endpoints import Reply as ModelReply

NATIVE = [name for name in registry.dialect_names() if name != "canonical"]
EVENT = PreToolUse(tool=tool("shell", command="make deploy"), session_id="s1", cwd="/srv/app")


def obeyed(name: str, reply: ModelReply, directory: Path) -> Effect:
    """What a platform's client does when its tool call is judged by a model with this answer."""
    dialect: Any = registry.dialect(name)
    native = dialect.native_for("pre_tool_use")
    payload = dialect.stdin(EVENT)
    with Endpoint(reply) as endpoint:
        judge = {
            "model": "openai/scripted",
            "endpoint": endpoint.url,
            "prompt": "{{ tool.command }}?",
        }
        hook = {"on": "pre_tool_use", "match": {"tool": "shell"}, "judge": judge}
        config = directory / "hookline.yaml"
        config.write_text(json.dumps({"version": 1, "hooks": [hook]}), encoding="utf-8")
        own = ["--home", str(directory / "state"), "--user-config", str(directory / "none")]
        call = Call(
            argv=[name, native, *own, "--config", str(config)],
            payload=payload,
            env={"PATH": "/usr/bin:/bin", "HOME": str(directory)},
            cwd=str(directory),
        )
        answer = asyncio.run(_respond(call))
        assert "make deploy" in endpoint.asked[0].said("user")
    client = import_module(f"support.clients.{name.replace('-', '_')}")
    effect: Effect = client.obey(native, answer, json.loads(payload))
    assert not effect.failed, effect.failed
    return effect


async def _respond(call: Call) -> Reply:
    parts = Parts(LastingJournals())
    try:
        return await answer(call, parts)
    finally:
        await parts.aclose()


@pytest.mark.parametrize("name", NATIVE)
def test_a_models_no_stops_the_call_and_the_reason_is_read(name: str, tmp_path: Path) -> None:
    effect = obeyed(name, '{"verdict": "deny", "reason": "MK_DENY production"}', tmp_path)
    assert effect.does >= Does.BLOCKS
    assert "MK_DENY" in effect.reason


@pytest.mark.parametrize("name", NATIVE)
def test_a_model_that_lets_things_pass_leaves_them_to_the_client(name: str, tmp_path: Path) -> None:
    effect = obeyed(name, '{"verdict": "pass", "reason": "fine"}', tmp_path)
    assert effect.does == Does.GOES_ON


@pytest.mark.parametrize("name", NATIVE)
def test_a_model_that_makes_no_sense_stops_the_call(name: str, tmp_path: Path) -> None:
    effect = obeyed(name, "Sounds good to me!", tmp_path)
    assert effect.does >= Does.BLOCKS
    assert "no verdict can be read" in effect.reason
