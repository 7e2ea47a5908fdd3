"""Rules of Copilot CLI's that no other test shows: URLs, sizes and variables."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.copilot import DIALECT
from hookline.dialects.copilot.files import FILES
from hookline.model.answers import Answer, Verdict
from hookline.model.events import Event, PostToolUse, PreToolUse, SessionStart
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.clients import copilot as client
from support.hosts import host

SHELL = tool("shell", command="ls")
# Nobody listens on this port of one's own machine.
REFUSED = {"type": "http", "url": "https://127.0.0.1:1/", "timeoutSec": 20}


def decoded(native: str) -> Event:
    return DIALECT.decode(json.dumps(client.payload(native)).encode(), native)


def hosted(project: Path, hooks: dict[str, Any], event: Event, **env: str) -> Outcome:
    content = json.dumps({"version": 1, "hooks": hooks}).encode()
    file = FILES.read(str(project / ".github/hooks/made.json"), content)
    return host(FILES, [file], event, project=project, env=env)


# ── answers ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("native", ["postToolUse", "sessionStart", "preToolUse"])
def test_context_stays_below_what_copilot_cuts(native: str) -> None:
    outcome = Outcome(event=decoded(native), answer=Answer(context=("x" * 30_000,)))
    told = json.loads(DIALECT.encode(outcome).stdout)["additionalContext"]
    assert len(told) <= 10 * 1024
    assert DIALECT.translate(outcome).substitutions


@pytest.mark.parametrize("native", ["sessionStart", "subagentStart", "notification"])
def test_context_is_read_where_nothing_else_is(native: str) -> None:
    out = b'{"additionalContext": "note", "decision": "block"}'
    answer = DIALECT.read_answer(decoded(native), stdout=out, stderr=b"", exit_code=0)
    assert answer == Answer(context=("note",))


def test_a_url_that_cannot_be_reached_denies_a_tool_and_nothing_else(tmp_path: Path) -> None:
    before = hosted(tmp_path, {"preToolUse": [REFUSED]}, PreToolUse(tool=SHELL))
    assert before.verdict is Verdict.DENY
    after = hosted(tmp_path, {"postToolUse": [REFUSED]}, PostToolUse(tool=SHELL))
    assert after.verdict is Verdict.PASS
    assert len(after.answer.notice) == 1


def test_contexts_of_several_hooks_are_all_told(tmp_path: Path) -> None:
    items = [{"bash": f"echo '{json.dumps({'additionalContext': word})}'"} for word in ("a", "b")]
    outcome = hosted(tmp_path, {"sessionStart": items}, SessionStart(source="startup"))
    assert outcome.answer.context == ("a", "b")


def test_a_hook_has_the_callers_variables(tmp_path: Path) -> None:
    items = [{"bash": 'echo "$MINE" > seen'}]
    hosted(tmp_path, {"sessionStart": items}, SessionStart(source="startup"), MINE="yes")
    assert (tmp_path / "seen").read_text() == "yes\n"
