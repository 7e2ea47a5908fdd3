"""Whatever a record holds, it is explained and never an error: it may be old, cut or damaged."""

import string
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline import registry
from hookline.app import App
from hookline.explaining.explain import explain
from hookline.model.events import EVENTS
from hookline.model.journal import Recorded, RecordedRun
from hookline.model.outcome import Substitution

CONFIG = """\
version: 1
hooks:
  - {name: a, on: pre_tool_use, match: {tool: shell, command: "git *"}, deny: No., priority: 10}
  - {name: b, on: pre_tool_use, match: {path: "*.py"}, ask: Sure?}
  - {name: c, on: [stop, post_tool_use], run: "true"}
  - {name: d, on: session_start, context: Mind., except: {source: resume}}
disable: [b]
"""

words = st.text(string.ascii_letters + " /\n\x1b", max_size=12)
verdicts = st.sampled_from(["allow", "pass", "ask", "deny", "halt", "failed", "other"])
effects = st.dictionaries(
    st.sampled_from(["context", "notice", "rewrite", "follow_up", "metadata", "later"]),
    st.none() | words | st.lists(words, max_size=2) | st.dictionaries(words, words, max_size=2),
    max_size=3,
)
runs = st.builds(
    RecordedRun,
    hook=st.sampled_from(["a", "b", "c", "gone"]),
    source=st.sampled_from(["", "/p", "/p/hookline.yaml:3"]),
    handler=st.sampled_from(["rule", "command", "builtin", ""]),
    verdict=verdicts,
    reason=words,
    failed=st.none() | words,
    mode=st.sampled_from(["enforce", "observe"]),
    rejudged=st.booleans(),
    superseded=st.booleans(),
    effects=effects,
)
payloads = st.binary(max_size=30) | st.sampled_from(
    [
        b'{"event":"pre_tool_use","tool":{"name":"shell","command":"git push"}}',
        b'{"event":"pre_tool_use","tool":{"name":"read","path":"a.py"}}',
        b'{"event":"stop"}',
        b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}',
        b"{}",
    ]
)
records = st.builds(
    Recorded,
    seq=st.just(1),
    id=st.just("e1"),
    attempt=st.integers(1, 3),
    at=st.just(datetime(2026, 1, 1, tzinfo=UTC)),
    ns=st.integers(0, 10**9),
    dialect=st.sampled_from(["", "gone", *registry.dialect_names()]),
    native_event=st.sampled_from(["", "PreToolUse", "Stop", "nonsense"]),
    event=st.sampled_from(["", "gone", *EVENTS]),
    cwd=st.sampled_from(["", "relative", "/nowhere"]),
    project_dir=st.sampled_from(["", "/nowhere"]),
    verdict=verdicts,
    reason=words,
    failure=st.just("") | words,
    answer=effects,
    runs=st.lists(runs, max_size=4),
    substitutions=st.lists(st.builds(Substitution, words, words, words), max_size=2),
    payload=payloads,
    redactions=st.integers(0, 2),
    cut=st.booleans(),
    stdout=st.binary(max_size=20),
    stderr=st.binary(max_size=20),
    exit_code=st.integers(0, 3),
)


@pytest.fixture
def app(tmp_path: Path) -> App:
    (tmp_path / "c.yaml").write_text(CONFIG, encoding="utf-8")
    return App(
        env={"HOME": str(tmp_path)},
        cwd=str(tmp_path),
        home=str(tmp_path / "state"),
        config="c.yaml",
        managed=str(tmp_path / "none"),
    )


# The app only reads, so all examples may share it.
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recorded=records)
def test_any_record_is_explained(app: App, recorded: Recorded) -> None:
    told = explain(recorded, app)
    assert len(told.ran) == len(recorded.runs)
    assert told.merge
    assert all(each.cause and each.why for each in told.not_run)
