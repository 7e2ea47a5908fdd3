"""BaseCoat's hooks.json: which file, and what an entry looks like."""

import json
from dataclasses import replace
from pathlib import Path

from hookline.dialects.basecoat.install import INSTALLER
from hookline.model.installing import Scope, Target
from support.installing import CALL, machine_at

HERE = Target(file="/x/hooks.json", scope=Scope.PROJECT, personal=False)


def test_only_a_project_has_a_place_for_it(tmp_path: Path) -> None:
    machine = machine_at(tmp_path)
    (target,) = INSTALLER.targets(machine, Scope.PROJECT, shared=False)
    assert target.file == f"{machine.project}/hooks.json"
    assert not target.personal
    assert INSTALLER.scopes == (Scope.PROJECT,)
    assert list(INSTALLER.inactive(machine, [])) == []


def test_all_eleven_events_get_an_entry_that_runs_after_every_other() -> None:
    written = json.loads(INSTALLER.add(HERE, None, CALL))
    assert written["version"] == 1
    assert len(written["hooks"]) == 11
    for (entry,) in written["hooks"].values():
        assert set(entry) == {"type", "bash", "timeoutSec", "priority"}
        assert (entry["type"], entry["timeoutSec"], entry["priority"]) == ("command", 30, 100)


def test_gates_are_refused_in_words_and_nothing_else_is() -> None:
    hooks = json.loads(INSTALLER.add(HERE, None, CALL))["hooks"]
    said = {event for event, (entry,) in hooks.items() if '"action":"block"' in entry["bash"]}
    assert said == {"PreToolUse", "UserPromptSubmitted", "OnBudgetExceeded"}


def test_a_longer_limit_can_be_asked_for() -> None:
    hooks = json.loads(INSTALLER.add(HERE, None, replace(CALL, timeout=90)))["hooks"]
    assert {entry["timeoutSec"] for (entry,) in hooks.values()} == {90}
