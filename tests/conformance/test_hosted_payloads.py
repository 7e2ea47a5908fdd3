"""Nothing that a caller said is lost to a hook of another platform.

Every pair: a payload recorded from one platform, and a hook of another on the same moment. What
that other platform's own payloads have, and the caller sent under whatever name, the hook reads.
Which keys a platform has is taken from its recorded payloads; which of them mean the same, from
its tables, and from their names where no table has them.
"""

import json
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

import hookline
from hookline import registry
from hookline.dialects._files import Files
from hookline.dialects._native import JsonDialect
from hookline.model.events import EVENTS, Event

DIALECTS = Path(hookline.__file__).parent / "dialects"
PLATFORMS = [name for name in registry.dialect_names() if name != "canonical"]

# Keys that mean the same although they are called otherwise, beyond what the tables say.
SYNONYMS = (
    {"turn_id", "prompt_id", "generation_id"},
    {"session_id", "conversation_id", "conv_id"},
    {"usage", "token_usage"},
    {"is_interrupt", "interrupted"},
    {"tool.duration_ms", "duration_ms", "duration"},
    {"agent.name", "agent_type", "agent_name", "subagent_type"},
    {"agent.parent", "parent_agent_id", "parent_session_id", "parent_conversation_id"},
    {"stop_hook_active", "loop_count"},
)
# Keys of one name that mean something else elsewhere, by platform.
OWN = {
    "claude-code": {
        "turn_id": "of a message that is shown; turns are told apart by prompt_id",
        "mode": "how an MCP server asks: form or url",
    },
    "docker-agent": {"parent_session_id": "of a session that no other platform gives an own id"},
    "cursor": {
        "status": "how the turn ended, which nobody else tells",
        "parent_conversation_id": "its sub-agents have the session of the agent above",
    },
    "codex": {
        "status": "of a model request",
        "agent_type": "there in sub-agents only, and tells them from the main agent",
    },
    "copilot": {
        "agent_type": "there in sub-agents only, and tells them from the main agent",
        "agentType": "the same",
    },
}
# The moment of the payload is that of the event's arrival; names of tools and their inputs are
# compared in test_hosts_across; where hooks ran is their host's to say.
ELSEWHERE = {
    "timestamp",
    "event",
    "hook_event_name",
    "hook",
    "hook_name",
    "tool",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_output",
    "tool_result",
    "llm_request",
    "llm_response",
    "mcp_context",
    "metadata",
}
# Platforms that have their own word lists for these.
WORDS = {"source", "reason", "trigger", "kind", "change", "permission_mode", "where", "stop_reason"}


@cache
def payloads(platform: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Every recorded payload, with its event."""
    folder = DIALECTS / platform.replace("-", "_") / "captures"
    found = [
        json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.json"))
    ]
    return tuple((each["event"], each["payload"]) for each in found)


def codec(platform: str) -> JsonDialect:
    """Its dialect."""
    found = registry.dialect(platform)
    assert isinstance(found, JsonDialect)
    return found


@cache
def documented(platform: str) -> dict[str, set[str]]:
    """For each of its events the keys that its payloads were seen to have."""
    found: dict[str, set[str]] = defaultdict(set)
    for event, payload in payloads(platform):
        found[event] |= set(flat(payload))
    return dict(found)


def flat(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload with the keys of BaseCoat's inner objects beside the others."""
    inner = {
        f"{outer}.{key}": value
        for outer in ("budget", "subagent", "error", "compaction")
        if isinstance(payload.get(outer), dict)
        for key, value in payload[outer].items()
    }
    return {key: value for key, value in payload.items() if key not in {"budget"}} | inner


def snake(key: str) -> str:
    """``sessionId`` → ``session_id``."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", key).lower()


def meaning(platform: str, event: str, key: str) -> str:
    """What a key is about, in one word for all platforms."""
    dialect, name = codec(platform), snake(key)
    if key in OWN.get(platform, {}):
        return f"{platform}'s {key}"
    keys = dialect.keys
    tables = {
        **{snake(native): field for field, native in dialect.facts.items()},
        snake(keys.session): "session_id",
        snake(keys.agent_type): "agent.name",
        snake(keys.duration): "tool.duration_ms",
        **{snake(native): field for field, native in dialect.fields.get(event, {}).items()},
    }
    word = tables.get(name, name)
    return next((min(group) for group in SYNONYMS if {word, name} & group), word)


def hosted(platform: str, event: Event) -> list[str]:
    """The events on which a hook of this platform runs at that moment."""
    files = registry.native_files().get(platform)
    if not isinstance(files, Files):
        return [codec(platform).native_of(event)]
    support = codec(platform).support.events
    return [name for name in support if event.event_id() in files.canonical(name)]


def lost(caller: str, host: str, name: str, sent: dict[str, Any]) -> list[str]:
    """What the caller sent, and a hook of this host would look for in vain."""
    event = codec(caller).decode(json.dumps(sent).encode(), name)
    if type(event) is EVENTS["other"]:
        return []
    missing = []
    said = {meaning(caller, event.native_event, key): value for key, value in flat(sent).items()}
    said["conv_id"] = event.session_id  # a sub-agent's own session counts as its parent's
    if said.get("agent.name") == "root":
        del said["agent.name"]  # as one platform calls the agent that is no sub-agent
    for native in hosted(host, event):
        has = documented(host).get(native, set())
        asked = replace(event, dialect=host, native_event=native, raw=Raw(b"null"))
        told = flat(json.loads(codec(host).stdin(asked)))
        for key in has:
            about = meaning(host, native, key)
            value = said.get(about)
            if value in (None, "", [], {}) or key in ELSEWHERE or snake(key) in ELSEWHERE:
                continue
            if key not in told or (about not in WORDS and not agrees(value, told[key])):
                missing.append(f"{native}.{key} is {told.get(key)!r}, and {about} was {value!r}")
    return missing


def agrees(sent: Any, told: Any) -> bool:
    """Whether it is the same thing, in either's form."""
    if isinstance(sent, list) and isinstance(told, list):
        return len(sent) == len(told)
    if isinstance(sent, dict):
        sent = sent.get("message")
    if isinstance(told, dict):
        told = told.get("message")
    return sent == told or (isinstance(sent, int) and bool(sent) == bool(told))


PAIRS = [(caller, host) for caller in PLATFORMS for host in PLATFORMS if caller != host]


@pytest.mark.parametrize(("caller", "host"), PAIRS)
def test_a_hosted_hook_is_told_what_the_caller_said(caller: str, host: str) -> None:
    missing = {
        f"{name}: {each}"
        for name, sent in payloads(caller)
        for each in lost(caller, host, name, sent)
    }
    assert not missing, "\n".join(sorted(missing))


TOLD = [
    ("claude-code", "PreToolUse", "codex", "permission_mode", "plan"),
    ("claude-code", "PreToolUse", "codex", "transcript_path", "/t/a.jsonl"),
    ("claude-code", "PreToolUse", "codex", "turn_id", "p1"),
    ("claude-code", "PreToolUse", "vscode", "transcript_path", "/t/a.jsonl"),
    ("claude-code", "PreToolUse", "gemini", "transcript_path", "/t/a.jsonl"),
    ("claude-code", "PreToolUse", "cursor", "generation_id", "p1"),
    ("claude-code", "Stop", "copilot", "transcriptPath", "/t/a.jsonl"),
    ("codex", "PreToolUse", "cursor", "model", "gpt-9"),
    ("codex", "PreToolUse", "claude-code", "prompt_id", "t1"),
    ("codex", "SessionStart", "claude-code", "model", "gpt-9"),
    ("docker-agent", "stop", "gemini", "prompt", "fix it"),
    ("kodelet", "agent_stop", "gemini", "prompt", "fix it"),
    ("kodelet", "agent_stop", "docker-agent", "last_user_message", "fix it"),
    ("gemini", "AfterAgent", "docker-agent", "last_user_message", "fix it"),
    ("copilot", "preCompact", "claude-code", "custom_instructions", "keep the plan"),
]
SENT: dict[tuple[str, str], dict[str, Any]] = {
    ("claude-code", "PreToolUse"): {
        "transcript_path": "/t/a.jsonl",
        "permission_mode": "plan",
        "prompt_id": "p1",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    },
    ("claude-code", "Stop"): {"transcript_path": "/t/a.jsonl"},
    ("codex", "PreToolUse"): {
        "model": "gpt-9",
        "turn_id": "t1",
        "tool_name": "Bash",
        "tool_input": {"command": "ls"},
    },
    ("codex", "SessionStart"): {"model": "gpt-9"},
    ("docker-agent", "stop"): {"last_user_message": "fix it"},
    ("kodelet", "agent_stop"): {
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "user", "content": "fix it"},
            {"role": "assistant", "content": "done"},
        ]
    },
    ("gemini", "AfterAgent"): {"prompt": "fix it"},
    ("copilot", "preCompact"): {"trigger": "manual", "customInstructions": "keep the plan"},
}


@pytest.mark.parametrize(("caller", "name", "host", "key", "value"), TOLD)
def test_a_fact_is_told_under_the_hosts_own_name(
    caller: str, name: str, host: str, key: str, value: str
) -> None:
    event = codec(caller).decode(json.dumps(SENT[caller, name]).encode(), name)
    told = [
        json.loads(
            codec(host).stdin(replace(event, dialect=host, native_event=native, raw=Raw(b"null")))
        )
        for native in hosted(host, event)
    ]
    assert value in [each.get(key) for each in told]


SPOKEN = [
    ("vscode", "SessionStart", {"source": "new"}, "startup"),
    ("copilot", "sessionStart", {"source": "new"}, "startup"),
    ("cursor", "sessionStart", {}, "startup"),
    ("claude-code", "SessionStart", {"source": "fork"}, "startup"),
    ("docker-agent", "pre_compact", {"source": "tool_overflow"}, "auto"),
    ("copilot", "sessionEnd", {"reason": "user_exit"}, "other"),
    ("docker-agent", "session_end", {"reason": "stream_ended"}, "other"),
]


@pytest.mark.parametrize(("caller", "name", "sent", "word"), SPOKEN)
@pytest.mark.parametrize("host", ["gemini", "docker-agent"])
def test_a_hosted_hook_reads_words_of_its_own_platform_alone(
    caller: str, name: str, sent: dict[str, Any], word: str, host: str
) -> None:
    if host == caller:
        return  # what it sends itself is not touched
    event = codec(caller).decode(json.dumps({**sent, "cwd": "/p"}).encode(), name)
    (native,) = (each for each in hosted(host, event) if each in codec(host).words)
    asked = replace(event, dialect=host, native_event=native, raw=Raw(b"null"))
    field = codec(host).words[native].field
    told = json.loads(codec(host).stdin(asked))[codec(host).fields[native][field]]
    assert told == word


@pytest.mark.parametrize("caller", PLATFORMS)
@pytest.mark.parametrize("host", PLATFORMS)
def test_no_caller_brings_a_hosted_hook_words_that_its_platform_lacks(
    caller: str, host: str
) -> None:
    words = getattr(codec(host), "words", {})
    for name, sent in payloads(caller):
        event = codec(caller).decode(json.dumps(sent).encode(), name)
        for native in hosted(host, event) if caller != host else ():
            row = words.get(native)
            if row is None or not row.known:
                continue
            asked = replace(event, dialect=host, native_event=native, raw=Raw(b"null"))
            told = json.loads(codec(host).stdin(asked))
            assert told[codec(host).fields[native][row.field]] in row.known


def test_the_whole_conversation_and_the_caps_come_back_as_they_were_sent() -> None:
    sent = SENT["kodelet", "agent_stop"]
    event = replace(
        codec("kodelet").decode(json.dumps(sent).encode(), "agent_stop"), raw=Raw(b"null")
    )
    assert json.loads(codec("kodelet").stdin(event))["messages"] == sent["messages"]

    caps = {"previous_max_iterations": 10, "new_max_iterations": 20}
    resumed = codec("docker-agent").decode(json.dumps(caps).encode(), "on_session_resume")
    told = json.loads(codec("docker-agent").stdin(replace(resumed, raw=Raw(b"null"))))
    assert caps.items() <= told.items()


def test_a_vs_code_hook_reads_either_style_of_name() -> None:
    event = EVENTS["stop"](session_id="s1")
    told = json.loads(codec("vscode").stdin(event))
    assert told["session_id"] == told["sessionId"] == "s1"
    assert told["hook_event_name"] == told["hookEventName"] == "Stop"


ODD = [
    7,
    True,
    [],
    {},
    ["plan"],
    {"mode": "plan"},
    None,
    "x" * 100_000,
    "plan\x1b[2J",
    "a\u0000b",
    "\u202eplan",
    1e308,
]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("odd", ODD, ids=lambda odd: repr(odd)[:20])
def test_an_odd_value_is_left_in_raw_and_the_gate_is_judged_as_ever(
    platform: str, odd: object
) -> None:
    dialect = codec(platform)
    new = {"previous_max_iterations", "new_max_iterations", "is_interrupt", "messages"}
    extra = {"last_user_message", "custom_instructions", "agent_transcript_path", "title"}
    for name, sent in payloads(platform):
        facts = {*dialect.facts.values(), *new, *extra} - {"permission_mode", "messages"}
        changed = json.dumps({**sent, "permission_mode": odd, **dict.fromkeys(facts, odd)})
        before = dialect.decode(json.dumps(sent).encode(), name)
        event = dialect.decode(changed.encode(), name)
        assert type(event) is type(before)
        assert event.session_id == before.session_id
        assert getattr(event, "tool", None) == getattr(before, "tool", None)
        for field in dialect.facts:
            assert getattr(event, field) == ""
        assert bytes(event.raw) == changed.encode()
