"""From a session's start to its end: what happens round the tools of Copilot CLI reaches hooks."""

from collections.abc import Iterator

import pytest

from hookline.lab.clients._copilot_talk import Talk
from hookline.lab.clients.copilot import CLIENT, Copilot
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, texts, witness
from interop.copilot.telling import told_at
from interop.copilot.wording import commands, saying

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

HOOKS = config(
    witness("session_start", "session_end", "error", "pre_compact"),
    rule("start", "session_start", context="MK_START"),
    rule("resumed", "session_start", match={"source": "resume"}, context="MK_RESUMED"),
    rule("env", "session_start", run=saying(rewrite={"env": {"MK_ENV": "value"}})),
    rule("keep", "pre_compact", run="echo MK_KEEP >&2; exit 2"),
    rule("mine", "pre_compact", run=saying(rewrite={"summary": "MK_MINE"})),
)


@pytest.fixture(scope="module")
def place(copilot: Program) -> Iterator[Arena]:
    with arena(CLIENT, copilot, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    return place.play(commands('touch "env-$MK_ENV"'))


@pytest.mark.proves("copilot", "sessionStart.fires", "sessionStart.context")
def test_context_at_the_start_reaches_the_model_with_the_first_request(
    place: Arena, played: Session
) -> None:
    assert "MK_START" in told_at(played, 0)
    assert "MK_RESUMED" not in played.sent
    assert "sessionStart" in place.natives()


@pytest.mark.proves("copilot", "sessionStart.env=none")
def test_variables_at_the_start_are_not_given_to_commands(place: Arena, played: Session) -> None:
    assert set(played.changed) == {"env-"}


@pytest.mark.proves("copilot", "sessionEnd.fires")
def test_the_end_is_seen_and_why(place: Arena, played: Session) -> None:
    ends = [each for each in place.witnessed() if each["native_event"] == "sessionEnd"]
    assert "complete" in [each["reason"] for each in ends]


@pytest.mark.proves("copilot", "resume.fires")
def test_a_session_that_goes_on_is_known_as_one(place: Arena) -> None:
    first = place.play(Script(prompt="MK_FIRST"))
    assert "MK_RESUMED" not in first.sent
    again = place.play(
        Script(prompt="MK_SECOND", turns=(Turn("MK_AGAIN"),)), wish=Wish(resume=True)
    )
    assert "MK_FIRST" in told_at(again, 0), "the client does go on with the first session"
    assert "MK_RESUMED" in told_at(again, 0)


@pytest.mark.proves("copilot", "errorOccurred.fires")
def test_a_run_that_fails_is_seen(place: Arena, played: Session) -> None:
    assert played.exit_code == 0
    assert "errorOccurred" not in place.natives()
    failed = place.play(Script(prompt="MK_FAILS", turns=(Turn(fail=400),)))
    assert failed.exit_code == 1
    assert "errorOccurred" in place.natives()


# ── compaction ──


@pytest.fixture(scope="module")
def compacted(copilot: Program) -> Iterator[tuple[Arena, Session]]:
    """A conversation that the person has summed up between two prompts."""

    def talk(talk: Talk, script: Script) -> None:
        talk.begin()
        talk.say(script.prompt)
        talk.say("/compact")
        talk.say("MK_AFTERWARDS")

    with arena(Copilot(talk=talk), copilot, config=HOOKS) as made:
        turns = (Turn("MK_LONG_TALK"), Turn("MK_YES"))
        yield made, made.play(Script(prompt="MK_PROMPT", turns=turns))


def summaries(session: Session) -> list[str]:
    """The requests for a summary."""
    return [texts(each.body) for each in session.asked if each.side and "messages" in each.body]


@pytest.mark.proves("copilot", "preCompact.fires", "preCompact.deny=none", "compaction.fires")
def test_a_compaction_is_seen_and_no_deny_keeps_it_from_happening(
    compacted: tuple[Arena, Session],
) -> None:
    place, session = compacted
    (seen,) = [each for each in place.witnessed() if each["native_event"] == "preCompact"]
    assert seen["trigger"] == "manual"
    assert len(summaries(session)) == 1
    assert "MK_LONG_TALK" not in told_at(session, -1), "it was compacted"
    assert "MK_KEEP" not in session.sent


@pytest.mark.proves("copilot", "preCompact.summary=none")
def test_the_summary_is_the_clients_own(compacted: tuple[Arena, Session]) -> None:
    _, session = compacted
    assert len(summaries(session)) == 1
    assert "MK_AFTERWARDS" in told_at(session, -1)
    assert "MK_MINE" not in session.sent


@pytest.mark.proves("copilot", "compaction.guards-stay")
def test_guards_hold_after_the_context_was_compacted(copilot: Program) -> None:
    hooks = config(
        witness("pre_compact"),
        rule(
            "no", "pre_tool_use", match={"tool": "shell", "command": "touch denied*"}, deny="MK_NO"
        ),
    )
    talkative = Turn(do=(Shell("seq -s' ' 1 6000"),))
    last = (Turn(do=(Shell("touch denied-2"),)), Turn(do=(Shell("touch plain"),)))
    turns = (Turn(do=(Shell("touch denied-1"),)), *(talkative,) * 8, *last)
    # Just above what its own words and tools take up: a few results of tools fill the rest.
    small = Wish(env={"COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "16000"})
    with arena(CLIENT, copilot, config=hooks) as place:
        session = place.play(Script(prompt="MK_PROMPT", turns=turns), wish=small)
        assert {each["trigger"] for each in place.witnessed()} == {"auto"}
    assert set(session.changed) == {"plain"}
    assert "MK_NO" in told_at(session, 1)
    assert "MK_NO" in told_at(session, -1)
    assert len(conversation(session)) > len(turns)
