"""From a session's start to its end: what happens round the tools of Gemini CLI reaches hooks."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.gemini import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Script, Turn
from interop.arena import Arena, arena, config, conversation, rule, texts, witness
from interop.gemini.hooks import commands, halt, notice, saying
from interop.gemini.telling import shown, told_at

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]


def wanted(mark: str, then: str) -> str:
    """A program that does something while a test has left this mark."""
    return f"test -e {{root}}/{mark} && {{ {then}; }} || true"


START, END, COMPACT = "session_start", "session_end", "pre_compact"
HOOKS = config(
    witness(START, END, COMPACT, "user_prompt_submit", "stop"),
    rule("start", START, run=wanted("start", saying(context=["MK_START"]))),
    rule("variable", START, run=wanted("start", saying(rewrite={"env": {"MK_NAME": "MK_VALUE"}}))),
    rule("resumed", START, match={"source": "resume"}, context="MK_RESUMED"),
    rule("welcome", START, run=notice("MK_WELCOME")),
    rule("last words", END, run=saying(context=["MK_LAST_WORDS"])),
    rule("bye", END, run=notice("MK_BYE")),
    rule("keep", COMPACT, run=wanted("keep", "echo MK_KEEP >&2; exit 2")),
    rule("mine", COMPACT, run=wanted("mine", saying(rewrite={"summary": "MK_MINE"}))),
    rule("halt", COMPACT, run=wanted("halt", halt("MK_HALT"))),
    rule("summary", COMPACT, context="MK_SUMMARISE"),
    rule("short", COMPACT, run=notice("MK_SHORT")),
)


@pytest.fixture(scope="module")
def place(gemini: Program) -> Iterator[Arena]:
    with arena(CLIENT, gemini, config=HOOKS) as made:
        yield made


def play(place: Arena, script: Script, *marks: str, resume: bool = False) -> Session:
    """A session with marks that hooks look for."""
    for mark in marks:
        Path(place.room.root, mark).touch()
    try:
        return place.play(script, wish=Wish(resume=resume))
    finally:
        for mark in marks:
            Path(place.room.root, mark).unlink()


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return play(place, commands("echo [$MK_NAME] > plain"), "start")


@pytest.fixture(scope="module")
def seen(place: Arena, played: Session) -> list[str]:
    """The first session's events, as hooks were shown them."""
    return place.natives()


@pytest.mark.proves("gemini", "SessionStart.fires", "SessionStart.context")
def test_context_at_the_start_reaches_the_model_with_the_first_request(
    played: Session, seen: list[str]
) -> None:
    assert "MK_START" in told_at(played, 0)
    assert "MK_RESUMED" not in played.sent
    assert seen[0] == "SessionStart"


@pytest.mark.proves("gemini", "SessionStart.notice")
def test_a_notice_at_the_start_is_shown_to_the_person(played: Session) -> None:
    assert "MK_WELCOME" in shown(played)
    assert "MK_WELCOME" not in played.sent


@pytest.mark.proves("gemini", "SessionStart.env=none")
def test_variables_for_a_whole_session_cannot_be_set_and_the_person_is_told_so(
    place: Arena, played: Session
) -> None:
    assert place.file("plain") == "[]\n"
    assert "env should have been rewritten" in shown(played)


@pytest.mark.proves("gemini", "SessionEnd.fires", "SessionEnd.notice", "SessionEnd.context=notice")
def test_what_is_said_at_the_end_is_shown_to_the_person(played: Session, seen: list[str]) -> None:
    assert seen[-1] == "SessionEnd"
    for text in ("MK_BYE", "MK_LAST_WORDS"):
        assert text in shown(played)
        assert text not in played.sent


@pytest.fixture(scope="module")
def forgotten(place: Arena, played: Session, seen: list[str]) -> Session:
    return play(place, Script(prompt="MK_AFTER_CONTEXT"), resume=True)


@pytest.mark.proves("gemini", "limits.resume-after-context-at-the-start")
def test_a_prompt_that_context_was_put_before_is_forgotten_when_the_session_goes_on(
    played: Session, forgotten: Session
) -> None:
    """The client keeps both as one message, which it takes for context alone later."""
    assert "MK_PROMPT" in told_at(played, 0)
    assert "echo [$MK_NAME]" in told_at(forgotten, 0), (
        "the client does go on with the first session"
    )
    assert "MK_PROMPT" not in told_at(forgotten, 0)


@pytest.mark.proves("gemini", "resume.fires")
def test_a_session_that_goes_on_is_known_as_one(place: Arena, forgotten: Session) -> None:
    play(place, Script(prompt="MK_FIRST", turns=(Turn("MK_ANSWER"),)))
    again = play(place, Script(prompt="MK_SECOND", turns=(Turn("MK_AGAIN"),)), resume=True)
    assert "MK_FIRST" in told_at(again, 0), "the client does go on with the first session"
    assert "MK_RESUMED" in told_at(again, 0)


# ── compaction ──

LONG = "MK_LONG_TALK" + " word" * 2000


@pytest.fixture(scope="module")
def crowded(gemini: Program) -> Iterator[Arena]:
    """Where the client sums up what was said as soon as it is more than a few words."""
    with arena(CLIENT, gemini, config=HOOKS) as made:
        settings = Path(made.room.project, ".gemini", "settings.json")
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"model": {"compressionThreshold": 0.00001}}))
        yield made


def compact(place: Arena, *marks: str) -> Session:
    """A session that is compacted when it goes on."""
    play(place, Script(prompt=LONG, turns=(Turn("MK_ANSWER"),)))
    again = play(place, commands("touch went-on", prompt="MK_GO_ON"), *marks, resume=True)
    Path(place.room.project, "went-on").unlink(missing_ok=True)
    return again


def summaries(session: Session) -> list[str]:
    """The requests for a summary."""
    return [texts(each.body) for each in session.asked if each.side and "contents" in each.body]


@pytest.fixture(scope="module")
def compacted(crowded: Arena) -> Session:
    return compact(crowded)


@pytest.mark.proves("gemini", "PreCompress.fires", "PreCompress.notice")
def test_a_compaction_is_seen_and_a_notice_shown_to_the_person(
    crowded: Arena, compacted: Session
) -> None:
    assert any("MK_LONG_TALK" in each for each in summaries(compacted))
    assert "MK_LONG_TALK" not in told_at(compacted, -1), "it was compacted"
    assert "PreCompress" in crowded.natives()
    assert "MK_SHORT" in shown(compacted)
    assert "MK_SHORT" not in compacted.sent


@pytest.mark.proves("gemini", "PreCompress.context=notice", "compaction.context")
def test_context_before_a_compaction_is_shown_to_the_person(compacted: Session) -> None:
    assert "MK_SUMMARISE" in shown(compacted)
    assert "MK_SUMMARISE" not in "".join(summaries(compacted))
    assert "MK_SUMMARISE" not in compacted.sent


@pytest.mark.proves("gemini", "PreCompress.deny=none", "compaction.deny")
def test_a_compaction_cannot_be_denied_and_the_person_is_told_why_it_should_have(
    crowded: Arena,
) -> None:
    denied = compact(crowded, "keep")
    assert any("MK_LONG_TALK" in each for each in summaries(denied))
    assert set(denied.changed) == {"went-on"}
    assert "MK_KEEP" in shown(denied)


@pytest.mark.proves("gemini", "PreCompress.summary=none")
def test_a_summary_cannot_be_given_and_the_person_is_told_so(crowded: Arena) -> None:
    given = compact(crowded, "mine")
    assert any("MK_LONG_TALK" in each for each in summaries(given))
    assert "MK_MINE" not in given.sent
    assert "summary should have been rewritten" in shown(given)


@pytest.mark.proves("gemini", "PreCompress.halt=latch")
def test_a_halt_at_a_compaction_denies_all_that_follows(crowded: Arena, compacted: Session) -> None:
    assert set(compacted.changed) == {"went-on"}
    halted = compact(crowded, "halt")
    assert halted.changed == {}
    assert conversation(halted) == [], "the model is not asked again"
    assert "MK_HALT" in shown(halted)
