"""Where a hook wants a person to be asked, Gemini CLI asks one, and does nothing unasked."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Client, Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, witness
from interop.gemini.hooks import command, halt, notice, saying, when
from interop.gemini.speaking import NO, YES, Seated, answering
from interop.gemini.telling import shown
from support.serving import eventually

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config(
    witness("notification"),
    rule("ask", "pre_tool_use", match=command("touch asked*"), ask="MK_ASKED"),
    rule("may", "pre_tool_use", match=command("touch allowed"), allow=True),
    rule("tell", "notification", run=notice("MK_NOTIFIED")),
    rule("more", "notification", run=saying(context=["MK_MORE"])),
    rule("halt", "notification", run=when("halting", halt("MK_HALT"))),
)


@contextmanager
def seat(client: Client, gemini: Program) -> Iterator[Arena]:
    with arena(client, gemini, config=HOOKS) as made:
        # With an MCP server at work the client would wait for an answer that nobody can give.
        settings = Path(made.room.home, ".gemini", "settings.json")
        kept = {**json.loads(settings.read_text()), "mcpServers": {}}
        settings.write_text(json.dumps(kept))
        yield made


def touching(*names: str) -> Script:
    turns = (Turn(do=(Shell(f"touch {name}"),)) for name in names)
    return Script(prompt="MK_PROMPT", turns=(*turns, Turn("MK_END")))


def drawn(session: Session) -> str:
    """All that the client drew on the person's terminal."""
    return session.stdout.decode(errors="replace")


# ── where nobody is ──


@pytest.fixture(scope="module")
def headless(gemini: Program) -> Iterator[tuple[Arena, Session]]:
    with seat(CLIENT, gemini) as made:
        yield made, made.play(touching("plain", "asked", "never"))


@pytest.mark.proves("gemini", "BeforeTool.ask")
def test_what_a_person_has_to_be_asked_does_not_run_where_nobody_is(
    headless: tuple[Arena, Session],
) -> None:
    _, played = headless
    assert set(played.changed) == {"plain"}
    assert len(conversation(played)) == 2, "the client ends at the question"
    assert "MK_ASKED" in shown(played)


@pytest.mark.proves(
    "gemini", "Notification.fires", "Notification.notice", "Notification.context=notice"
)
def test_the_question_is_seen_and_what_is_said_about_it_shown(
    headless: tuple[Arena, Session],
) -> None:
    place, played = headless
    assert place.natives() == ["Notification"]
    for text in ("MK_NOTIFIED", "MK_MORE"):
        assert text in shown(played)
        assert text not in played.sent


# ── where somebody is ──


@pytest.mark.proves("gemini", "BeforeTool.ask")
def test_a_person_is_shown_why_they_are_asked_and_their_yes_lets_the_command_run(
    gemini: Program,
) -> None:
    with seat(Seated(answering(YES, b"MK_END", after=b"MK_ASKED")), gemini) as place:
        played = place.play(touching("plain", "asked"))
    assert set(played.changed) == {"plain", "asked"}
    assert "MK_ASKED" in drawn(played)
    assert "MK_ASKED" not in played.sent


@pytest.mark.proves("gemini", "BeforeTool.ask")
def test_a_persons_no_lets_nothing_run(gemini: Program) -> None:
    with seat(Seated(answering(NO, b"cancelled", after=b"MK_ASKED")), gemini) as place:
        played = place.play(touching("plain", "asked", "never"))
    assert set(played.changed) == {"plain"}


@pytest.mark.parametrize(
    ("key", "then", "done"),
    [(YES, b"MK_END", {"allowed"}), (NO, b"cancelled", set())],
    ids=["yes", "no"],
)
@pytest.mark.proves("gemini", "BeforeTool.allow=pass")
def test_what_a_hook_allows_the_client_still_asks_about(
    gemini: Program, key: bytes, then: bytes, done: set[str]
) -> None:
    with seat(Seated(answering(key, then)), gemini) as place:
        played = place.play(touching("allowed"), wish=Wish(permission="ask"))
        assert place.natives() == ["Notification"]
    assert set(played.changed) == done


@pytest.mark.proves("gemini", "Notification.halt=latch")
def test_a_halt_at_the_question_lets_nothing_follow_the_act_that_was_asked_about(
    gemini: Program,
) -> None:
    def urged() -> bool:
        """After a turn without a word the client urges the model on, as if a person had."""
        prompts = [each for each in place.journal() if each["native_event"] == "BeforeAgent"]
        return any(str(each["subject"]).startswith("[System: ") for each in prompts)

    talk = answering(YES, b"blocked", after=b"MK_HALT", leaving=lambda: eventually(urged))
    with seat(Seated(talk), gemini) as place:
        played = place.play(touching("plain", "asked-halting", "never"))
    assert set(played.changed) == {"plain", "asked-halting"}
    assert len(conversation(played)) == 2, "the model is not asked again"
