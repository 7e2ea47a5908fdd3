"""What a hook written for Claude Code said, by that client's rules on where a word counts."""

from collections.abc import Mapping
from typing import Any

import msgspec

from hookline.dialects._native import said
from hookline.dialects._wire import NO_REASON, crashed, object_at, read_object, text_at
from hookline.dialects.claude_code.outputs import read_text
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, context, deny, halt
from hookline.model.errors import HandlerAnswerError
from hookline.model.text import visible

__all__ = ["read"]

_TEXT_IS_CONTEXT = {
    "SessionStart",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PostModelSwitch",
    "PreCompact",  # for the model that sums up
    "PostCompact",
}
# A block there ends the run before the model is called again.
_BLOCK_ENDS_THE_RUN = {"PostToolBatch"}
# Each place for a decision has words of its own; another one there voids the whole answer.
_PERMISSIONS = {
    "allow": Verdict.ALLOW,
    "ask": Verdict.ASK,
    # Deferring ends a headless run; inside another host the nearest is the person's decision.
    "defer": Verdict.ASK,
    "deny": Verdict.DENY,
}
_BEHAVIORS = {"allow": Verdict.ALLOW, "deny": Verdict.DENY}
_DECISIONS = {"approve": Verdict.ALLOW, "block": Verdict.DENY}
_ACTIONS = {"accept": Verdict.ALLOW, "decline": Verdict.DENY, "cancel": Verdict.DENY}
# What the client would do and nothing here can: kept, so that a host may look at it.
_KEPT = {
    "content",
    "updatedPermissions",
    "initialUserMessage",
    "sessionTitle",
    "watchPaths",
    "reloadSkills",
    "retry",
    "classifierContext",
}
_TYPES = {"continue": bool, "stopReason": str, "systemMessage": str, "reason": str}


def read(native: str, *, stdout: bytes, stderr: bytes, exit_code: int) -> Answer:
    """The answer. Raises HandlerError for what the client takes for a failure."""
    if exit_code == 2:
        reason = said(stderr) or said(stdout) or NO_REASON
        return halt(reason) if native in _BLOCK_ENDS_THE_RUN else deny(reason)
    text = said(stdout)
    if text.startswith("{"):
        return _json(text, native)
    if exit_code != 0:
        raise crashed(exit_code, stderr)
    if native == "WorktreeCreate":
        return _worktree(text)
    return context(text) if text and native in _TEXT_IS_CONTEXT else PASS


def _json(text: str, native: str) -> Answer:
    body = read_object(text, "not an answer of Claude Code's")
    own = body.get("hookSpecificOutput", {})
    if not isinstance(own, dict) or (own and own.get("hookEventName") != native):
        raise HandlerAnswerError(f"`hookSpecificOutput.hookEventName` must be `{native}`")
    for key, kind in _TYPES.items():
        if not isinstance(body.get(key), kind | None):
            raise HandlerAnswerError(f"`{key}` must be a {kind.__name__}")
    return _answer(body, own, native)


def _answer(body: Mapping[str, Any], own: Mapping[str, Any], native: str) -> Answer:
    told = (body["systemMessage"],) if body.get("systemMessage") else ()
    if native == "SubagentStop" and body.get("continue") is False:
        # This lets the one agent end; a halt would end everybody's run.
        return Answer(notice=told) if told else PASS
    decision = own.get("decision")
    nested = decision if isinstance(decision, dict) else {}
    said_of = (
        (own.get("permissionDecision"), _PERMISSIONS),
        (nested.get("behavior"), _BEHAVIORS),
        (own.get("action"), _ACTIONS),
        (body.get("decision"), _DECISIONS),
    )
    verdicts = [_verdict(word, words) for word, words in said_of]
    verdict = next((each for each in verdicts if each is not Verdict.PASS), Verdict.PASS)
    if verdict is Verdict.DENY and native in _BLOCK_ENDS_THE_RUN:
        verdict = Verdict.HALT
    reason = str(
        own.get("permissionDecisionReason") or nested.get("message") or body.get("reason") or ""
    )
    if body.get("continue") is False or nested.get("interrupt") is True:
        verdict, reason = Verdict.HALT, str(body.get("stopReason") or reason)
    if verdict >= Verdict.ASK and not reason.strip():
        reason = NO_REASON
    extra = text_at(own, "additionalContext")
    feedback = extra if native in {"Stop", "SubagentStop"} and extra else None
    output = own.get("updatedToolOutput", own.get("updatedMCPToolOutput"))
    change = Rewrite(
        input=object_at(own, "updatedInput") or object_at(nested, "updatedInput"),
        output=None if output is None else _as_text(output),
        display=text_at(own, "displayContent"),
    )
    answer = Answer(
        verdict=verdict,
        reason=reason,
        context=(extra,) if extra and not feedback else (),
        notice=told,
        rewrite=change,
        follow_up=(feedback,) if feedback else (),
        metadata=_metadata({**nested, **own}),
    )
    return PASS if answer == PASS else answer


def _metadata(own: Mapping[str, Any]) -> dict[str, Any]:
    made = {"worktree_path": own["worktreePath"]} if "worktreePath" in own else {}
    return {**made, **{key: own[key] for key in sorted(_KEPT & set(own))}}


def _worktree(text: str) -> Answer:
    """The last line is where the hook made the work tree; without one nothing was made."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise HandlerAnswerError("it printed no path of a work tree")
    return Answer(metadata={"worktree_path": lines[-1]})


def _verdict(word: Any, words: Mapping[str, Verdict]) -> Verdict:
    if word is None:
        return Verdict.PASS
    if not isinstance(word, str) or word not in words:
        raise HandlerAnswerError(f"`{visible(str(word))[:80]}` is no decision here")
    return words[word]


def _as_text(output: Any) -> str:
    if isinstance(output, str):
        return output
    if isinstance(output, dict) and isinstance(output.get("stdout"), str):
        return str(output["stdout"])
    text = read_text(output)
    return msgspec.json.encode(output).decode() if text is None else text
