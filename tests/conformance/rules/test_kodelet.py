"""Rules of Kodelet's that no other test shows: who is asked, in which order, and for how long."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookline.dialects.kodelet import DIALECT
from hookline.dialects.kodelet.files import FILES, KodeletFiles
from hookline.dialects.kodelet.install import INSTALLER
from hookline.model.answers import Verdict
from hookline.model.events import Event, PostToolUse, PreToolUse, Stop, TurnEnd
from hookline.model.installing import Call, Scope
from hookline.model.native import Where
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from support.hosts import host
from support.installing import CALL, machine_at

SHELL = PreToolUse(tool=tool("shell", command="ls"))
BLOCK = """echo '{"blocked": true, "reason": "no"}'"""


class Hasty(KodeletFiles):
    default_timeout = 0.5


def add(base: Path, name: str, kind: str, run: str, query: str = "exit 0") -> Path:
    file = base / ".kodelet/hooks" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'#!/bin/sh\n[ "$1" = hook ] && {{ echo "{kind}"; {query}; }}\n{run}\n')
    file.chmod(0o755)
    return file


def fire(event: Event, project: Path, *more: Path, files: KodeletFiles = FILES) -> Outcome:
    own = sorted((project / ".kodelet/hooks").iterdir())
    return host(files, [*own, *more], event, project=project)


def test_what_is_not_there_is_not_looked_into(tmp_path: Path) -> None:
    where = Where(project=str(tmp_path / "none"), home=str(tmp_path / "nobody"))
    assert [place.scope for place in FILES.places(where)] == ["project", "user"]


def test_hooks_run_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        add(tmp_path, name, "agent_stop", f"echo {name} >> order")
    fire(Stop(), tmp_path)
    assert (tmp_path / "order").read_text().split() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("kind", "query"), [("some_day", "exit 0"), ("before_tool_call", "exit 1")]
)
def test_a_file_that_is_for_nothing_is_passed_over_and_keeps_its_name(
    tmp_path: Path, kind: str, query: str
) -> None:
    add(tmp_path, "same", kind, BLOCK, query)
    other = add(tmp_path / "home", "same", "before_tool_call", BLOCK)
    outcome = fire(SHELL, tmp_path, other)
    assert (outcome.verdict, outcome.answer.notice) == (Verdict.PASS, ())


def test_a_hook_that_takes_too_long_blocks_nothing_and_is_told_of(tmp_path: Path) -> None:
    add(tmp_path, "slow", "before_tool_call", "sleep 60")
    outcome = fire(SHELL, tmp_path, files=Hasty())
    assert outcome.verdict is Verdict.PASS
    assert "no answer within" in outcome.answer.notice[0]


def test_a_later_word_takes_back_an_earlier_input(tmp_path: Path) -> None:
    add(tmp_path, "1", "before_tool_call", """echo '{"input": {"command": "pwd"}}'""")
    add(tmp_path, "2", "before_tool_call", """echo '{"blocked": false}'""")
    assert fire(SHELL, tmp_path).final is None
    add(tmp_path, "2", "before_tool_call", "true")
    assert fire(SHELL, tmp_path).final is not None


def test_after_a_tool_the_last_that_succeeds_counts_even_by_saying_nothing(tmp_path: Path) -> None:
    result = {"output": {"metadataType": "bash", "metadata": {"output": "clean"}}}
    add(tmp_path, "1", "after_tool_call", f"echo '{json.dumps(result)}'")
    done = PostToolUse(tool=SHELL.tool)
    assert fire(done, tmp_path).answer.rewrite.output == "clean"
    add(tmp_path, "2", "after_tool_call", "true")
    assert fire(done, tmp_path).answer.rewrite.output is None


def test_nothing_is_read_at_the_end_of_a_turn(tmp_path: Path) -> None:
    add(tmp_path, "1", "turn_end", f"touch ran; {BLOCK}")
    outcome = fire(TurnEnd(), tmp_path)
    assert (outcome.verdict, (tmp_path / "ran").exists()) == (Verdict.PASS, True)


def test_a_recipes_name_changes_nothing() -> None:
    sent: dict[str, Any] = {"event": "agent_stop", "conv_id": "c1", "recipe_name": "review"}
    event = DIALECT.decode(json.dumps(sent).encode(), None)
    assert isinstance(event, Stop)
    assert b"review" in bytes(event.raw)


# ── installing ──────────────────────────────────────────────────────────────────────────────


def test_our_executables_name_their_type_and_come_last(tmp_path: Path) -> None:
    targets = INSTALLER.targets(machine_at(tmp_path), Scope.USER, shared=False)
    assert {event for target in targets for event in target.events} == set(DIALECT.support.events)
    for target in targets:
        assert "/home/.kodelet/hooks/zz-" in target.file
        assert target.executable
        script = INSTALLER.add(target, None, CALL).decode()
        said = subprocess.run(
            ["sh", "-c", script, "sh", "hook"],
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        assert said.stdout.strip() == target.events[0]


def test_with_hookline_gone_our_executables_block_by_words(tmp_path: Path) -> None:
    gone = Call(program=("/nowhere/hookline",))
    for target in INSTALLER.targets(machine_at(tmp_path), Scope.USER, shared=False):
        script = INSTALLER.add(target, None, gone).decode()
        done = subprocess.run(
            ["sh", "-c", script, "sh", "run"], capture_output=True, timeout=30, check=False
        )
        is_gate = target.events[0] in {"before_tool_call", "user_message_send"}
        assert (b'"blocked":true' in done.stdout) is is_gate
        assert done.returncode == 0 or not is_gate
