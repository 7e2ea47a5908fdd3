"""Settings of Claude Code that change while a session runs, under the eyes of hooks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, rule, witness
from interop.claude_code.telling import heard

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

ALLOW = """echo '{"verdict": "allow"}'"""
HALT = """echo '{"verdict": "halt", "reason": "MK_HALT"}'"""

FILES = {
    # The client looks at its settings in its own time; so the model waits until a hook saw that.
    "wait.sh": """n=0
until grep -q ConfigChange ../witness/* || test $n = 300; do n=$((n + 1)); sleep 0.1; done
""",
    ".claude/settings.local.json": "{}",
    "granting.json": '{"permissions": {"allow": ["Bash(touch granted)"]}}',
    "hooks-off.json": '{"disableAllHooks": true}',
}
CHANGED = "{root}/project/.claude/settings.local.json"


def command(text: str) -> dict[str, str]:
    return {"tool": "shell", "command": text}


@contextmanager
def changing(
    claude: Program, file: str, *judges: Mapping[str, Any]
) -> Iterator[tuple[Arena, Session]]:
    """A session in the middle of which somebody else puts other settings there."""
    hooks = config(
        witness("config_change"),
        rule("wait", "pre_tool_use", match=command("sh wait.sh"), run=ALLOW),
        rule(
            "change",
            "pre_tool_use",
            match=command("touch change"),
            run=f"cp {{root}}/project/{file} {CHANGED}; {ALLOW}",
        ),
        rule("denied", "pre_tool_use", match=command("touch denied"), deny="MK_DENIED"),
        *judges,
    )
    words = ("touch granted", "touch change", "sh wait.sh", "echo first", "touch granted")
    # Twice: it may apply what it read a moment after the hooks were asked.
    words += ("echo second", "touch granted", "touch denied")
    turns = tuple(Turn(do=(Shell(each),)) for each in words)
    with arena(CLIENT, claude, config=hooks, files=FILES) as place:
        extra = ("--allowedTools", "Bash(echo:*),Bash(touch denied)")
        wish = Wish(permission="ask", extra=extra)
        yield place, place.play(Script(prompt="MK_PROMPT", turns=turns), wish=wish)


@pytest.mark.proves("claude-code", "ConfigChange.fires")
def test_settings_that_no_hook_minds_are_in_force_at_once(claude: Program) -> None:
    with changing(claude, "granting.json") as (place, played):
        assert place.ran("change")
        assert place.ran("granted")
        assert "needs approval" in heard(played, "touch granted"), "not before they changed"
        assert place.natives() == ["ConfigChange"]


@pytest.mark.proves("claude-code", "ConfigChange.deny")
def test_settings_that_a_hook_denies_are_never_in_force(claude: Program) -> None:
    no = rule("no", "config_change", deny="MK_NO")
    with changing(claude, "granting.json", no) as (place, _):
        assert place.ran("change")
        assert not place.ran("granted")
        assert place.natives() == ["ConfigChange"]


@pytest.mark.proves("claude-code", "ConfigChange.halt=deny")
def test_a_halt_at_new_settings_denies_them_and_all_that_follows(claude: Program) -> None:
    halt = rule("halt", "config_change", run=HALT)
    with changing(claude, "granting.json", halt) as (place, played):
        assert place.ran("change")
        assert not place.ran("granted")
        assert "MK_HALT" in heard(played, "echo second")


@pytest.mark.proves("claude-code", "limits.hooks-switched-off")
def test_settings_that_switch_hooks_off_do_so_in_the_same_session(claude: Program) -> None:
    with changing(claude, "hooks-off.json") as (place, played):
        assert place.ran("denied"), "the client asks no hook any more"
        assert "MK_DENIED" not in played.sent


@pytest.mark.proves("claude-code", "ConfigChange.deny")
def test_a_hook_on_settings_keeps_hooks_from_being_switched_off(claude: Program) -> None:
    no = rule("no", "config_change", deny="MK_NO")
    with changing(claude, "hooks-off.json", no) as (place, played):
        assert not place.ran("denied")
        assert "MK_DENIED" in heard(played, "touch denied")
