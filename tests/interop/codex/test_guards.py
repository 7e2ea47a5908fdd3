"""The builtin guards hold in Codex: one session, in which each act has a harmless twin."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from hookline.lab.ports import Program, Session
from hookline.lab.script import Edit, Native, Shell
from interop.arena import Arena
from interop.codex.ground import guarded
from interop.codex.telling import heard
from interop.guard_acts import ASKED, FILES, HOOKS, PROMPT, SHOWN, furnish, played, token
from interop.guards import GuardsAsk

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

DELETION = "*** Begin Patch\n*** Delete File: .env\n*** End Patch\n"
# As models did it before there was a tool for it.
HEREDOC = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: .env\n@@\n-MK_ENV=1\n+MK_ENV=3\n*** End Patch\nEOF"


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    with guarded(codex, config=HOOKS, files=FILES) as made:
        furnish(made)
        yield made


@pytest.fixture(scope="module")
def session(place: Arena) -> Session:
    return place.play(
        played(
            *ASKED,
            Edit(".env", "MK_ENV=1", "MK_ENV=2"),
            Native("apply_patch", {"input": DELETION}),
            Shell(HEREDOC),
            Shell("echo '[features]' >> ~/.codex/config.toml"),
            Shell("cat token-failed.txt; exit 3"),
        )
    )


@pytest.fixture(scope="module")
def prompted(place: Arena) -> Session:
    return place.play(PROMPT)


@pytest.fixture(scope="module")
def told(session: Session) -> Callable[[str], str]:
    return partial(heard, session)


class TestInCodex(GuardsAsk):
    def test_a_patch_does_not_get_round_what_protects_a_file(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        """Be it an edit, a deletion, or one in a here document."""
        assert place.file(".env") == FILES[".env"]
        for word in ("+MK_ENV=2", "Delete File: .env", "+MK_ENV=3"):
            assert "is an environment file" in told(word)

    def test_the_settings_that_hold_the_hooks_are_not_the_agents_to_change(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert "agents may not change" in told(".codex/config.toml")
        settings = Path(place.room.home, ".codex", "config.toml")
        assert "[features]\n" not in settings.read_text(encoding="utf-8")

    def test_what_a_failed_command_printed_is_redacted_too(
        self, session: Session, told: Callable[[str], str]
    ) -> None:
        """The client fires the same event for it."""
        assert f"MK_BESIDE {SHOWN}" in told("cat token-failed.txt")
        assert token("failed") not in session.sent
