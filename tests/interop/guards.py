"""What every real client has to show with all guards in its config, act by act.

One table of acts is played by each; what is asserted are effects: files, branches of a remote, and
what the model was sent.
"""

from collections.abc import Callable
from pathlib import Path

from hookline.lab.ports import Session
from interop.arena import Arena, conversation
from interop.guard_acts import FILES, HOOKS, NAMES, SHOWN, git, token

__all__ = ["GuardsAsk", "GuardsHold"]


def _log(place: Arena, branch: str) -> list[str]:
    """The subjects of a branch's commits, the latest first."""
    return git(place, "log", "--format=%s", branch).splitlines()


class GuardsHold:
    """What every client has to show; ``place``, ``session``, ``prompted`` and ``told`` are its own.

    ``told`` gives what the model heard after its call with a word in the input.
    """

    # ── shell-guard ──

    def test_what_would_be_gone_for_good_is_still_there_by_whichever_route(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        for name, word in (("kept", "~/kept"), ("wrapped", "~/wrapped"), ("coded", "rmtree")):
            assert Path(place.room.home, name, "note.txt").exists()
            assert "is someone's own files" in told(word)

    def test_a_build_directory_may_be_deleted(self, place: Arena, session: Session) -> None:
        assert not place.ran("build")

    # ── protect-paths ──

    def test_a_protected_file_is_not_made_and_its_twin_is(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert not place.ran("locked/new.txt")
        assert "protected by `locked/`" in told("locked/new.txt")
        assert place.file("open/new.txt") == "MK_NEW\n"

    def test_an_environment_file_is_not_changed_and_its_twin_is(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert place.file(".env") == FILES[".env"]
        assert "is an environment file" in told("MK_MORE=1 >> .env")
        assert place.file("plain.txt") == "before\nMK_MORE=1\n"

    def test_what_guards_the_agent_is_not_the_agents_to_change(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert "hookline.yaml" in told("> ~/.config/hookline")
        assert place.user_config.read_text(encoding="utf-8") == HOOKS

    # ── protect-branches ──

    def test_only_the_branch_that_is_not_protected_is_pushed(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert "which is protected" in told("HEAD:main")
        remote = {
            line.split()[1]: line.split()[0]
            for line in git(place, "ls-remote", "origin", "refs/heads/*").splitlines()
        }
        assert remote["refs/heads/main"] == git(place, "rev-parse", "main")
        assert "refs/heads/feature" in remote

    def test_nothing_is_committed_to_the_protected_branch_by_going_there_first(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert "which is protected" in told("on-main")
        assert _log(place, "main") == ["Begin"]
        assert git(place, "branch", "--show-current") == "feature"

    # ── no-secrets-in ──

    def test_a_commit_with_a_secret_in_its_message_is_not_made_and_its_twin_is(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert "holds a secret" in told(token("commit"))
        assert _log(place, "feature") == ["plain", "Work", "Begin"]

    def test_a_secret_does_not_reach_an_mcp_server(self, told: Callable[[str], str]) -> None:
        answer = told("MK_SENT")
        assert "holds a secret" in answer
        assert "MK_SENT" not in answer

    def test_a_prompt_with_a_secret_never_reaches_the_model_and_its_twin_does(
        self, session: Session, prompted: Session
    ) -> None:
        assert "MK_PROMPT" in session.sent
        assert not conversation(prompted)

    # ── mcp-guard ──

    def test_only_the_mcp_tool_that_is_listed_is_called(self, told: Callable[[str], str]) -> None:
        assert "MK_MCP_GOOD" in told("MK_MCP_GOOD")
        answer = told("MK_MCP_BAD")
        assert "on the deny list" in answer
        assert "MK_MCP_BAD" not in answer

    # ── redact-secrets ──

    def test_a_command_is_given_a_marker_in_place_of_a_secret(
        self, place: Arena, session: Session
    ) -> None:
        assert place.file("given.txt") == SHOWN

    def test_a_secret_in_an_output_is_in_no_request_and_what_stood_beside_it_is(
        self, session: Session, told: Callable[[str], str]
    ) -> None:
        for name, word in (("shell", "cat token.txt"), ("read", "token-read.txt")):
            assert f"MK_BESIDE {SHOWN}" in told(word)
            assert token(name) not in session.sent
        assert "MK_OPEN" in told("cat open.txt")

    def test_a_file_with_a_secret_in_it_is_shown_as_a_file_and_can_be_edited(
        self, place: Arena, session: Session, told: Callable[[str], str]
    ) -> None:
        assert place.file("mixed.py") == f"KEY = '{token('mixed')}'\nOTHER = 2\n"
        assert token("mixed") not in session.sent
        answer = told("mixed.py")
        assert f"KEY = '{SHOWN}'" in answer
        assert "\\n" not in answer

    # ── outputs that are too long ──

    def test_of_a_long_output_the_model_sees_the_end_and_where_all_of_it_is(
        self, told: Callable[[str], str]
    ) -> None:
        for word, gone, last in (("seq 1 3000", "999", "3000"), ("seq 4001", "4999", "7000")):
            lines = told(word).splitlines()
            assert "more than the limit" in told(word)
            assert last in lines
            assert gone not in lines
        assert "9002" in told("seq 9001").splitlines()

    def test_lines_that_repeat_are_counted_instead(self, told: Callable[[str], str]) -> None:
        # The first may stand behind a word of the client's own.
        assert told("yes MK_SAME").count("MK_SAME") <= 2
        assert "times more" in told("yes MK_SAME")

    # ── judge ──

    def test_what_a_model_should_have_judged_and_could_not_does_not_run(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert not place.ran("judged")
        assert "unheard judge" in told("touch judged")
        assert place.ran("unjudged")

    # ── no-workarounds ──

    def test_what_was_denied_is_not_done_by_another_route_and_its_twin_is(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert "MK_HELD" in told("rm held.txt")
        assert "denied before" in told("os.remove('held.txt')")
        assert place.ran("held.txt")
        assert not place.ran("free.txt")

    # ── the session as a whole ──

    def test_only_what_was_let_through_is_there(self, session: Session) -> None:
        assert dict(session.changed) == {
            "build/out.txt": "removed",
            "fine.py": "added",
            "free.txt": "removed",
            "given.txt": "added",
            "mixed.py": "changed",
            "open/new.txt": "added",
            "plain.txt": "changed",
            "unjudged": "added",
        }

    def test_no_secret_is_left_in_what_hookline_keeps(
        self, place: Arena, session: Session, prompted: Session
    ) -> None:
        assert place.journal()
        kept = Path(place.room.env["XDG_STATE_HOME"], "hookline")
        files = [path.read_bytes() for path in kept.rglob("*") if path.is_file()]
        assert files
        secrets = [token(name).encode() for name in NAMES]
        assert not [each for each in secrets for content in files if each in content]


class GuardsAsk(GuardsHold):
    """The same, and what a person has to be asked about; for clients that go on after that."""

    def test_what_docker_agents_table_asks_about_does_not_run_where_nobody_is(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert place.ran("dist/safer/note.txt")
        assert "is destructive" in told("rm -r dist/safer")
        assert "MK_SAFE" in told("cat safer.txt")

    def test_an_environment_file_is_not_shown(
        self, session: Session, told: Callable[[str], str]
    ) -> None:
        assert "usually holds secrets" in told("cat .env")
        assert "MK_HIDDEN" not in session.sent

    def test_a_secret_is_not_written_into_the_work_tree_and_its_twin_is(
        self, place: Arena, told: Callable[[str], str]
    ) -> None:
        assert not place.ran("leak.py")
        assert "holds a secret" in told("leak.py")
        assert place.file("fine.py") == "KEY = None\n"
