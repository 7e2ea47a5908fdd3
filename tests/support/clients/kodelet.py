"""Kodelet 0.4.22, the last with hooks, as ADR 021 and its source say: what it does with a reply."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

CALL = {"tool_name": "bash", "tool_input": {"command": "rm x"}, "tool_user_id": "toolu_1"}
RESULT: dict[str, Any] = {
    "toolName": "bash",
    "success": True,
    "metadataType": "bash",
    "metadata": {"command": "rm x", "exitCode": 0, "output": "secret", "executionTime": 5},
    "timestamp": "2026-05-30T15:01:03Z",
}
OWN: Mapping[str, Mapping[str, Any]] = {
    "before_tool_call": CALL,
    "after_tool_call": {**CALL, "tool_output": RESULT},
    "user_message_send": {"message": "deploy it"},
    "agent_stop": {
        "messages": [
            {"role": "user", "content": "deploy it"},
            {"role": "assistant", "content": "Done."},
        ]
    },
    "turn_end": {"response": "Done.", "turn_number": 1},
}
TYPES = {
    "blocked": bool,
    "reason": str,
    "output": dict,
    "follow_up_messages": list,
}
RESULT_TYPES = {"toolName": str, "success": bool, "error": str, "timestamp": str, "metadata": dict}


def payload(native: str) -> dict[str, Any]:
    """What the client sends."""
    return {
        "event": native,
        "conv_id": "c1",
        "cwd": "/srv/app",
        "invoked_by": "main",
        **OWN[native],
    }


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply; whatever goes wrong has no effect at all."""
    if native == "after_tool_call" and reply.exit_code == 1 and not reply.stdout:
        return Effect()  # passed over, so that what an earlier hook put in its place stays
    if reply.exit_code != 0:
        return Effect(failed=f"exit {reply.exit_code}")
    if not reply.stdout:
        return Effect()
    try:
        body = json.loads(reply.stdout)
    except ValueError as exc:
        return Effect(failed=str(exc))
    wrong = [key for key, kind in TYPES.items() if not isinstance(body.get(key, kind()), kind)]
    if wrong:
        return Effect(failed=f"cannot unmarshal {wrong}")
    return _obeyed(native, body)


def _obeyed(native: str, body: Mapping[str, Any]) -> Effect:
    if native in {"before_tool_call", "user_message_send"} and body.get("blocked"):
        return Effect(does=Does.BLOCKS, reason=body.get("reason", ""))
    if native == "before_tool_call":
        return Effect(input=body.get("input"))
    if native == "agent_stop":
        return Effect(follow_up="\n".join(body.get("follow_up_messages", [])))
    if native == "after_tool_call" and "output" in body:
        output = body["output"]
        wrong = [k for k, t in RESULT_TYPES.items() if not isinstance(output.get(k, t()), t)]
        if wrong or (output.get("metadataType") == "bash" and "output" not in output["metadata"]):
            return Effect(failed=f"cannot unmarshal {wrong}")
    # The model is given the tool's own result, whatever was put in its place for the screen.
    return Effect()
