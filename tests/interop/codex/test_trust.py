"""Codex skips hooks that nobody trusted, without a word: what that means, and who says it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hookline.dialects.codex import DIALECT
from hookline.lab.clients._codex_talk import Talk
from hookline.lab.clients.codex import CLIENT
from hookline.lab.playing import Stage
from hookline.lab.ports import Program, Wish
from interop.arena import Arena, arena, config, conversation, rule, witness
from interop.codex.ground import (
    WARY,
    command,
    commands,
    guarded,
    hookline,
    install_trusted,
    path_of,
    speak,
)
from interop.codex.telling import heard, shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config(
    witness("session_start", "pre_tool_use"),
    rule("denied", "pre_tool_use", match=command("touch denied*"), deny="MK_NO"),
)


@pytest.fixture
def place(codex: Program) -> Iterator[Arena]:
    with arena(WARY, codex, config=HOOKS, install=False) as made:
        yield made


def in_codex(place: Arena, name: str) -> Path:
    return Path(place.room.home, ".codex", name)


# ── the client's own trust ──


@pytest.mark.proves("codex", "install.without-trust", "install.trust")
def test_hooks_that_nobody_trusted_are_skipped_and_trusted_by_the_client_itself_they_run(
    place: Arena,
) -> None:
    place.install()
    without = place.play(commands("touch denied-1"))
    assert set(without.changed) == {"denied-1"}, "the client lets it run"
    assert place.witnessed() == [], "and no hook of hookline was started"
    assert b"hook" not in without.stdout + without.stderr, "and the client says nothing of it"

    told = hookline(place, "status", "codex")
    assert told.exit_code == 1
    assert b"not trusted" in told.stdout
    found = hookline(place, "doctor", "codex")
    assert found.exit_code == 1
    assert b"nobody has trusted these hooks" in found.stdout

    install_trusted(place)
    after = place.play(commands("touch denied-2", "touch plain"))
    assert set(after.changed) == {"plain"}
    assert "MK_NO" in heard(after, "touch denied-2")
    assert hookline(place, "status", "codex").exit_code == 0
    assert hookline(place, "doctor", "codex").exit_code == 0


@pytest.mark.proves("codex", "install.trust-as-the-client-sees-it")
def test_the_client_itself_lists_every_hook_of_ours_as_trusted(codex: Program) -> None:
    listed: list[tuple[str, str]] = []

    def talk(it: Talk) -> Sequence[str]:
        listed.extend((each["eventName"], each["trustStatus"]) for each in it.hooks())
        return [it.say("MK_PROMPT")]

    with guarded(codex) as place:
        speak(place, commands("touch plain"), talk)
    assert {status for _, status in listed} == {"trusted"}
    assert len({event for event, _ in listed}) == len(DIALECT.support.events)


@pytest.mark.proves("codex", "install.changed-after-trust")
def test_a_hook_that_changed_since_it_was_trusted_is_skipped_and_both_reports_say_so(
    place: Arena,
) -> None:
    install_trusted(place)
    hooks = in_codex(place, "hooks.json")
    hooks.write_text(hooks.read_text().replace('"timeout": 6', '"timeout": 7'))
    skipped = place.play(commands("touch denied"))
    assert set(skipped.changed) == {"denied"}
    assert hookline(place, "status", "codex").exit_code == 1
    assert b"changed since they were trusted" in hookline(place, "doctor", "codex").stdout


@pytest.mark.proves("codex", "failure.hookline-gone")
def test_where_hookline_is_gone_nothing_gets_to_the_model_or_runs(place: Arena) -> None:
    install_trusted(place)
    hooks = in_codex(place, "hooks.json")
    installed = hooks.read_text()
    hooks.write_text(installed.replace("hookline-client", "gone"))
    # Another command is one that nobody trusted, so the client's trust is left out here.
    trusting = Stage(CLIENT, place.room, place.stage.program, place.stage.place)
    without = trusting.play(commands("touch without"))
    assert without.changed == {}
    assert conversation(without) == []
    hooks.write_text(installed)
    assert set(trusting.play(commands("touch with")).changed) == {"with"}


# ── the client's other switches ──


@pytest.mark.proves("codex", "install.switched-off")
def test_where_the_clients_own_switch_is_off_nothing_is_guarded_and_status_says_so(
    place: Arena,
) -> None:
    install_trusted(place)
    assert hookline(place, "status", "codex").exit_code == 0
    settings = in_codex(place, "config.toml")
    settings.write_text(settings.read_text() + "\n[features]\nhooks = false\n")
    assert set(place.play(commands("touch denied")).changed) == {"denied"}
    told = hookline(place, "status", "codex")
    assert told.exit_code == 1
    assert b"features.hooks" in told.stdout


@pytest.mark.proves("codex", "install.project", "untrusted.project-of-the-client")
def test_installed_for_a_project_it_guards_it_while_the_client_trusts_that_project(
    place: Arena,
) -> None:
    # Entries that others get by git find the home of the person, unless told otherwise.
    install_trusted(place, "--scope", "project", "--shared", "--trust-env")
    assert not in_codex(place, "hooks.json").exists()
    # A file that others get by git names hookline by its name alone.
    person = Wish(env={"PATH": path_of(place)})
    within = place.play(commands("touch denied-1", "touch plain"), wish=person)
    assert set(within.changed) == {"plain"}
    assert hookline(place, "status", "codex").exit_code == 0

    settings = in_codex(place, "config.toml")
    strange = settings.read_text().replace('trust_level = "trusted"', 'trust_level = "untrusted"')
    settings.write_text(strange)
    assert set(place.play(commands("touch denied-2"), wish=person).changed) == {"denied-2"}
    told = hookline(place, "status", "codex")
    assert told.exit_code == 1
    assert b"no trusted project" in told.stdout


# ── and out again ──

OWN = """{"hooks": {"PreToolUse": [
\t{"hooks": [{"command": "echo own >> %s/own", "type": "command"}]}]}, "description": "mine"}"""


def trusting_all(it: Talk) -> Sequence[str]:
    """As a person does it in the client itself, who then asks for nothing."""
    it.trust_hooks()
    return []


@pytest.mark.proves("codex", "install.beside-own-hooks", "uninstall.no-trace")
def test_it_works_beside_the_persons_own_hooks_and_leaves_no_trace(place: Arena) -> None:
    in_codex(place, "hooks.json").write_text(OWN % place.room.root)
    speak(place, commands(prompt="MK_TRUST"), trusting_all)
    before = {name: in_codex(place, name).read_bytes() for name in ("hooks.json", "config.toml")}
    assert b"trusted_hash" in before["config.toml"]

    install_trusted(place)
    within = place.play(commands("touch denied-1", "touch plain-1"))
    assert set(within.changed) == {"plain-1"}
    assert "MK_NO" in heard(within, "touch denied-1")
    assert place.beside("own").split() == ["own"] * 2

    place.uninstall()
    assert {name: in_codex(place, name).read_bytes() for name in before} == before
    seen = len(place.witnessed())
    unguarded = place.play(commands("touch denied-2", "touch plain-2"))
    assert set(unguarded.changed) == {"denied-2", "plain-2"}
    assert place.beside("own").split() == ["own"] * 4
    assert len(place.witnessed()) == seen, "no hook of hookline ran"
    assert b"hookline" not in unguarded.stdout


@pytest.mark.proves("codex", "install.fresh", "install.twice", "uninstall.no-file")
def test_installed_twice_it_judges_once_and_its_file_is_gone_with_it(place: Arena) -> None:
    settings = in_codex(place, "config.toml").read_bytes()
    install_trusted(place)
    once = in_codex(place, "hooks.json").read_bytes()
    install_trusted(place)
    assert in_codex(place, "hooks.json").read_bytes() == once
    within = place.play(commands("touch plain", "touch denied-1"))
    assert set(within.changed) == {"plain"}
    assert place.natives() == ["SessionStart", "PreToolUse", "PreToolUse"]

    place.uninstall()
    assert not in_codex(place, "hooks.json").exists()
    assert in_codex(place, "config.toml").read_bytes() == settings
    assert set(place.play(commands("touch denied-2")).changed) == {"denied-2"}


# ── what a project brings ──

PROJECT = config(
    rule("denied", "pre_tool_use", match=command("touch denied*"), deny="MK_NO"),
    rule("runs", "session_start", run="touch {root}/project-hook-ran"),
)
MINE = config(rule("mine", "pre_tool_use", match=command("touch mine"), deny="MK_MINE"))


@pytest.mark.proves("codex", "untrusted.does-not-run", "untrusted.notice", "trusted.runs")
def test_a_projects_hooks_run_once_they_are_trusted_and_not_before(codex: Program) -> None:
    with guarded(codex, config=MINE) as place:
        place.write_project_config(PROJECT.replace("{root}", place.room.root))
        before = speak(place, commands("touch denied-1", "touch mine"))
        assert set(before.session.changed) == {"denied-1"}
        assert not Path(place.room.root, "project-hook-ran").exists()
        assert "MK_MINE" in heard(before.session, "touch mine"), "the person's own are in force"
        assert "not trusted" in shown(before.talk)

        assert hookline(place, "trust").exit_code == 0
        after = speak(place, commands("touch denied-2", "touch plain"))
        assert set(after.session.changed) == {"plain"}
        assert "MK_NO" in heard(after.session, "touch denied-2")
        assert Path(place.room.root, "project-hook-ran").exists()
        assert "not trusted" not in shown(after.talk)


@pytest.mark.proves("codex", "trusted.edited-by-the-agent")
def test_an_agent_that_edits_or_removes_its_guard_stays_guarded(codex: Program) -> None:
    edit = "echo 'version: 1' > hookline.yaml"
    with guarded(codex, project=PROJECT) as place:
        words = (edit, "touch denied-1", "rm hookline.yaml", "touch denied-2", "touch plain")
        played = place.play(commands(*words))
    assert played.changed == {"hookline.yaml": "removed", "plain": "added"}
    assert "MK_NO" in heard(played, "touch denied-1")
    assert "MK_NO" in heard(played, "touch denied-2")
