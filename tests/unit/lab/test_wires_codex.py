"""What only Codex does on the Responses wire: tools in the history, agents that write to agents."""

from typing import Any

import pytest

from hookline.lab.clients.codex import Codex
from hookline.lab.ports import ToolCall
from hookline.lab.script import Act, Agent, Native, Script, Shell, Turn
from hookline.lab.server import ModelServer
from support.model_clients import CLIENTS, ModelClient, Responses

PROMPT = "Clean up MK_PROMPT."


class LatestModel(Responses):
    """A client that tells its tools in the history, as Codex does to the latest models."""

    def body(self) -> dict[str, Any]:
        inner = {"type": "custom", "name": "exec", "format": {"type": "grammar"}}
        namespace = {"type": "namespace", "name": "functions", "tools": [inner]}
        tools = {"type": "additional_tools", "role": "developer", "tools": [namespace]}
        body = super().body()
        return {**body, "tools": [], "input": [tools, *body["input"]]}


@pytest.mark.parametrize("stream", [True, False])
def test_a_tool_that_is_told_in_the_history_is_called_with_its_namespace(stream: bool) -> None:
    client = Codex(code_mode=True)
    script = Script(prompt=PROMPT, turns=(Turn("", (Shell("ls"),)),))
    with ModelServer(script, client.call) as server:
        peer = LatestModel(server.url, stream=stream)
        peer.history.append(peer.user(PROMPT))
        response = peer.post(peer.path(), peer.body())
        assert '"namespace":"functions"' in response.text
        [(_, name, code)] = peer.heard(response).calls
    assert name == "exec"
    assert "tools.exec_command" in code


def test_a_task_that_one_agent_writes_to_another_opens_its_lane() -> None:
    agent = Agent("MK_TASK look", (Turn("MK_REPORT"),))
    script = Script(prompt=PROMPT, turns=(Turn("", (agent,)),))
    with ModelServer(script, Codex(code_mode=True).call) as server:
        child = LatestModel(server.url)
        told = {"type": "input_text", "text": "Message Type: NEW_TASK"}
        task = {"type": "encrypted_content", "encrypted_content": agent.prompt}
        child.history.append({"type": "agent_message", "author": "/root", "content": [told, task]})
        assert child.ask().text == "MK_REPORT"
        assert [(each.lane, each.side) for each in server.asked] == [(agent.prompt, False)]


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize(("result", "names"), [("go", ["tool", "tool"]), ("stop", ["tool"])])
def test_a_call_can_follow_from_the_result_of_another_within_one_turn(
    kind: type[ModelClient], result: str, names: list[str]
) -> None:
    def say(act: Act) -> ToolCall:
        assert isinstance(act, Native)
        follow = ToolCall(act.name, {"then": True})
        return ToolCall(act.name, {}, lambda said: follow if "go" in said else None)

    script = Script(prompt=PROMPT, turns=(Turn("", (Native("tool"),)), Turn("MK_NEXT")))
    with ModelServer(script, say) as server:
        answers = kind(server.url).ask_and_do(PROMPT, result)
    assert [name for answer in answers for _, name, _ in answer.calls] == names
    assert answers[-1].text == "MK_NEXT"
