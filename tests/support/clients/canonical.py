"""A program that embeds hookline and does what the canonical contract says."""

import json
from collections.abc import Mapping
from typing import Any

from hookline.model.outcome import Reply
from support.clients.effects import Does, Effect

DOES = {
    "allow": Does.SKIPS_ITS_QUESTION,
    "pass": Does.GOES_ON,
    "ask": Does.ASKS,
    "deny": Does.BLOCKS,
    "halt": Does.ENDS_THE_RUN,
}


def obey(native: str, reply: Reply, payload: Mapping[str, Any]) -> Effect:
    """The effect of one reply."""
    if reply.exit_code:
        return Effect(failed=f"exit {reply.exit_code}")
    said = json.loads(reply.stdout)
    rewrite = said.get("rewrite", {})
    return Effect(
        does=DOES[said["verdict"]],
        reason=said.get("reason", ""),
        context="\n".join(said.get("context", ())),
        input=rewrite.get("input"),
        output=rewrite.get("output"),
    )
