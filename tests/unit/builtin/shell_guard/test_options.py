"""Modes, lists and words for people."""

from collections.abc import Callable
from pathlib import Path

import pytest

from hookline import registry
from hookline.builtin import shell_guard
from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.events import SessionStart
from hookline.model.ports import NOBODY
from hookline.testing import read, shell

Guard = Callable[..., Answer]


def test_it_is_found_by_its_name_and_is_a_guard() -> None:
    module = registry.builtin("shell-guard")
    assert module.GUARD
    assert module.EVENTS == ("pre_tool_use",)
    assert module.PRIORITY == 20


def test_it_has_nothing_to_say_about_other_tools_and_events() -> None:
    answer = shell_guard.make(shell_guard.Options())
    assert answer(read("/etc/passwd"), NOBODY) is PASS
    assert answer(SessionStart(), NOBODY) is PASS
    assert answer(shell(""), NOBODY) is PASS


def test_strict_denies_what_is_risky(guard: Guard) -> None:
    assert guard("git reset --hard").verdict is Verdict.ASK
    assert guard("git reset --hard", mode="strict").verdict is Verdict.DENY
    assert guard("chmod +x /usr/bin/x", mode="strict").verdict is Verdict.ASK


def test_autonomous_asks_nobody(guard: Guard) -> None:
    assert guard("git reset --hard", mode="autonomous").verdict is Verdict.PASS
    assert guard("git push --force", mode="autonomous").verdict is Verdict.DENY
    assert guard("rm -rf ~", mode="autonomous").verdict is Verdict.DENY


def test_what_is_allowed_passes_and_nothing_beside_it(guard: Guard) -> None:
    allow = ("git push --force origin feature/*",)
    assert guard("git push --force origin feature/x", allow=allow).verdict is Verdict.PASS
    assert guard("git push --force origin main", allow=allow).verdict is Verdict.ASK
    together = "git push --force origin feature/x; rm -rf ~"
    assert guard(together, allow=allow).verdict is Verdict.DENY
    assert guard("git push --force origin feature/$(rm -rf ~)", allow=allow).verdict is Verdict.DENY


def test_what_is_denied_is_denied_through_wrappers(guard: Guard) -> None:
    deny = ("kubectl * --context prod*",)
    assert guard("kubectl get pods --context prod", deny=deny).verdict is Verdict.DENY
    assert guard("sudo kubectl get pods --context prod", deny=deny).verdict is Verdict.DENY
    assert guard("kubectl get pods --context dev", deny=deny).verdict is Verdict.PASS


def test_protected_paths_are_not_written_or_removed(guard: Guard) -> None:
    protect = ("docs", "~/Documents")
    assert guard("rm docs/index.md", protect=protect).verdict is Verdict.DENY
    assert guard("echo x >> ~/Documents/x", protect=protect).verdict is Verdict.DENY
    assert guard("cat docs/index.md", protect=protect).verdict is Verdict.PASS


def test_categories_can_be_ignored(guard: Guard) -> None:
    assert guard("npm publish", ignore=("publishes",)).verdict is Verdict.PASS
    assert guard("npm publish; rm -rf ~", ignore=("publishes",)).verdict is Verdict.DENY


def test_the_reason_names_the_words_and_a_way_out(guard: Guard, home: Path) -> None:
    for command in ("git clean -fdx", "ls; git clean -fdx; pwd"):
        answer = guard(command)
        assert "git clean -fdx" in answer.reason
        assert answer.metadata["words"] == "git clean -fdx"
    alone = guard("git clean -fdx")
    assert alone.metadata["safer"] == "git clean -ndx"
    assert alone.reason.endswith(" Rather: `git clean -ndx`")


def test_the_worst_of_several_is_what_is_said(guard: Guard) -> None:
    assert guard("git reset --hard; rm -rf ~; npm publish").metadata["category"] == "deletes"


@pytest.mark.parametrize("mode", ["strict", "balanced", "autonomous"])
def test_without_a_home_it_asks_the_system_for_one(mode: str) -> None:
    answer = shell_guard.make(shell_guard.Options(mode=mode))  # type: ignore[arg-type]
    event = shell("rm -rf ~", cwd="/nonexistent/project")
    assert answer(event, NOBODY).verdict is Verdict.DENY
