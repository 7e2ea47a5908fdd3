"""The canonical events: which there are, what they carry, and that nothing of them is lost."""

import pickle
import subprocess
import sys
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.dialects.canonical import DIALECT
from hookline.model import events
from hookline.model.events import EVENTS, Event, PreToolUse, Stop
from hookline.model.events.base import snake_case
from support.lifecycle import (
    ALL,
    ASKING,
    CONTINUING,
    GATES,
    GRANTING,
    HIDING,
    REWRITABLE,
    class_name,
)
from support.strategies import bare_event, events_of

# Own keys and family keys, from the design.
KEYS = {
    "session_start": "source",
    "session_end": "reason",
    "session_resume": "source",
    "setup": "trigger",
    "instructions_loaded": "path reason",
    "config_change": "path source",
    "cwd_changed": "old_cwd new_cwd",
    "file_changed": "path change",
    "directory_added": "path",
    "worktree_create": "name path branch source_dir",
    "worktree_remove": "path",
    "pre_model_switch": "from_model to_model",
    "post_model_switch": "from_model to_model",
    "user_prompt_submit": "prompt",
    "prompt_expansion": "prompt command args",
    "prompt_transformed": "prompt transformed",
    "steering_submit": "prompt prompts",
    "follow_up_submit": "prompt",
    "agent_start": "model iteration messages usage cost_usd",
    "turn_start": "model iteration messages usage cost_usd",
    "turn_end": "model iteration messages usage cost_usd reason",
    "before_llm_call": "model iteration messages usage cost_usd",
    "after_llm_call": "model iteration messages usage cost_usd",
    "tool_selection": "model iteration messages usage cost_usd tools",
    "pre_tool_use": "tool",
    "permission_request": "tool suggestions",
    "permission_decided": "tool decision by",
    "tool_response_transform": "tool",
    "post_tool_use": "tool",
    "post_tool_use_failure": "tool error",
    "post_tool_batch": "tool calls",
    "agent_switch": "from_agent to_agent kind",
    "task_created": "task",
    "task_completed": "task",
    "pre_compact": "trigger input_tokens output_tokens context_limit summary",
    "before_compaction": "trigger input_tokens output_tokens context_limit summary",
    "post_compact": "trigger input_tokens output_tokens context_limit summary",
    "stop": "last_message stop_hook_active",
    "stop_failure": "error last_message",
    "notification": "kind message",
    "user_input": "why",
    "elicitation": "server message schema",
    "elicitation_result": "action content",
    "message_display": "text final",
    "error": "message where",
}
COMMON = {
    "hookline",
    "event",
    "id",
    "session_id",
    "cwd",
    "time",
    "agent",
    "dialect",
    "native_event",
    "budget",
    "raw",
}


def as_json(event: Event) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.json.decode(DIALECT.stdin(event))
    return shown


def test_there_are_exactly_the_52_events_of_the_design_in_its_order() -> None:
    assert tuple(EVENTS) == ALL
    assert len(EVENTS) == 52


@pytest.mark.parametrize("event", ALL)
def test_an_event_has_one_name_in_files_and_one_in_code(event: str) -> None:
    cls = EVENTS[event]

    assert cls.event_id() == event == snake_case(cls.__name__)
    assert cls is getattr(events, class_name(event))


@pytest.mark.parametrize("event", ALL)
def test_every_event_says_when_it_fires(event: str) -> None:
    assert (EVENTS[event].__doc__ or "").startswith("Fires ")


@pytest.mark.parametrize("event", ALL)
def test_what_an_event_can_take_is_what_the_design_says(event: str) -> None:
    cls = EVENTS[event]

    assert cls.gate == (event in GATES)
    assert cls.allows == (event in GRANTING)
    assert cls.asks == (event in ASKING)
    assert cls.hides == (event in HIDING)
    assert cls.continues == (event in CONTINUING)
    assert cls.rewrites == REWRITABLE.get(event, set())


@pytest.mark.parametrize("event", ALL)
def test_every_event_carries_the_keys_of_its_family_and_its_own(event: str) -> None:
    shown = as_json(bare_event(event))

    assert COMMON | set(KEYS.get(event, "").split()) <= set(shown)
    assert (shown["hookline"], shown["event"]) == (1, event)


@given(st.sampled_from(ALL).flatmap(events_of))
def test_an_event_written_as_json_and_read_back_is_the_same_event(event: Event) -> None:
    decoded = DIALECT.decode(DIALECT.stdin(event))

    if bytes(event.raw) == b"null":
        decoded = replace(decoded, raw=event.raw)
    assert decoded == event


@given(st.sampled_from(ALL).flatmap(events_of))
def test_an_event_survives_the_road_to_another_process(event: Event) -> None:
    assert pickle.loads(pickle.dumps(event)) == event


def test_the_native_payload_is_kept_byte_for_byte() -> None:
    native = b'{ "z":1,\t"a" : [1.50, 1e2 , "\\u00fc\\/" ],"a":2 }'

    event = DIALECT.decode(b'{"event":"stop","raw": ' + native + b"  }")

    assert bytes(event.raw) == native
    assert native in DIALECT.stdin(event)


def test_each_event_has_an_id_and_a_time_of_its_own() -> None:
    one, other = Stop(), Stop()

    assert one.id.startswith("e")
    assert one.id != other.id
    assert one.time.tzinfo is not None


def test_a_process_that_was_forked_has_ids_of_its_own() -> None:
    code = (
        "import os; from hookline.model.events import Stop; Stop(); child = os.fork()\n"
        "ids = ' '.join(Stop().id for _ in range(40)) + ' '\n"
        "os.write(1, ids.encode()); child and os.waitpid(child, 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    ids = ran.stdout.split()
    assert (len(ids), len(set(ids))) == (80, 80)
    assert {len(each) for each in ids} == {17}


def test_events_do_not_change() -> None:
    event = bare_event("stop")

    with pytest.raises(AttributeError):
        event.cwd = "/elsewhere"  # type: ignore[misc]  # the point of the test


def test_a_match_key_finds_the_events_own_value_or_nothing() -> None:
    event = events.SessionStart(source="resume")

    assert event.matchable("source") == "resume"
    assert PreToolUse().matchable("source") is None
