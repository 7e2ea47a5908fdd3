"""From a session's start to its end: what happens round the tools of Claude Code reaches hooks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.lab.clients.claude_code import CLIENT
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, texts, witness
from interop.claude_code.speaking import Spoken, Talk
from interop.claude_code.telling import ended, lines, shown, told_at
from support.serving import eventually

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

FILES = {"CLAUDE.md": "Be brief. MK_INSTRUCTIONS\n"}


def when(word: str, then: str) -> str:
    return f"grep -q {word} && {{ {then}; }} || true"


def saying(answer: str) -> str:
    return f"echo '{answer}'"


HOOKS = config(
    witness(
        *("session_start", "session_end", "setup", "instructions_loaded", "cwd_changed"),
        *("message_display", "stop_failure", "pre_compact", "post_compact", "user_prompt_submit"),
        *("subagent_stop", "pre_model_switch", "post_model_switch", "pre_tool_use"),
    ),
    rule("start", "session_start", context="MK_START"),
    rule("resumed", "session_start", match={"source": "resume"}, context="MK_RESUMED"),
    rule("words", "message_display", run=when("MK_RUDE", saying('{"rewrite": {"display": "MK_POLITE"}}'))),
    rule("summary", "pre_compact", context="MK_SUMMARISE"),
    rule("keep", "pre_compact", run="test -e {root}/keep && { echo MK_KEEP >&2; exit 2; } || true"),
    rule("halt", "pre_compact", run="test -e {root}/halt && " + saying('{"verdict": "halt", "reason": "MK_HALT"}') + " || true"),
    rule("mine", "pre_compact", run="test -e {root}/mine && " + saying('{"rewrite": {"summary": "MK_MINE"}}') + " || true"),
    rule("compacted", "post_compact", context="MK_COMPACTED"),
    rule("not that", "pre_model_switch", run=when("claude-haiku", "echo MK_NOT_THAT >&2; exit 2")),
    rule("ask", "pre_model_switch", run=when("claude-opus-4-1", saying('{"verdict": "ask", "reason": "MK_ASK"}'))),
    rule("end", "pre_model_switch", run=when("claude-opus-4-5", saying('{"verdict": "halt", "reason": "MK_END"}'))),
    rule("going", "pre_model_switch", run=saying('{"notice": ["MK_GOING"]}')),
    rule("switched", "post_model_switch", context="MK_SWITCHED"),
    rule("gone", "post_model_switch", run=saying('{"notice": ["MK_GONE"]}')),
)  # fmt: skip


@pytest.fixture(scope="module")
def place(claude: Program) -> Iterator[Arena]:
    with arena(CLIENT, claude, config=HOOKS, files=FILES) as made:
        yield made


def natives(place: Arena, count: int = 0) -> list[str]:
    """The events that hooks were shown after so many."""
    return place.natives()[count:]


@pytest.fixture(scope="module")
def played(place: Arena) -> Session:
    turns = (
        Turn(do=(Shell("mkdir -p inner && cd inner"),)),
        Turn("MK_RUDE words", (Shell("touch afterwards"),)),
        Turn("MK_LAST words"),
    )
    return place.play(Script(prompt="MK_PROMPT", turns=turns), wish=Wish(extra=("--init",)))


@pytest.mark.proves("claude-code", "SessionStart.fires", "SessionStart.context")
def test_context_at_the_start_reaches_the_model_with_the_first_request(
    place: Arena, played: Session
) -> None:
    assert "MK_START" in told_at(played, 0)
    assert "MK_RESUMED" not in played.sent
    assert natives(place).count("SessionStart") >= 1


@pytest.mark.proves(
    "claude-code", "Setup.fires", "InstructionsLoaded.fires", "CwdChanged.fires", "SessionEnd.fires"
)
def test_setup_instructions_directories_and_the_end_are_seen(place: Arena, played: Session) -> None:
    seen = {each["native_event"]: each for each in place.witnessed()}
    assert seen["Setup"]["trigger"] == "init"
    assert seen["InstructionsLoaded"]["path"].endswith("/CLAUDE.md")
    assert "MK_INSTRUCTIONS" in told_at(played, 0)
    assert seen["CwdChanged"]["new_cwd"] == str(Path(place.room.project, "inner"))
    assert Path(place.room.project, "inner", "afterwards").exists()
    assert seen["SessionEnd"]["reason"] == "other"


@pytest.mark.proves("claude-code", "MessageDisplay.fires", "MessageDisplay.display")
def test_the_person_is_shown_other_words_than_the_model_said(place: Arena, played: Session) -> None:
    said = texts([each for each in lines(played) if each["type"] == "assistant"])
    assert "MK_LAST" in said
    assert "MK_POLITE" in said
    assert b"MK_RUDE" not in played.stdout
    assert "MessageDisplay" in natives(place)


@pytest.mark.proves("claude-code", "resume.fires")
def test_a_session_that_goes_on_is_known_as_one(place: Arena, played: Session) -> None:
    # One of its own to go on with: other tests play sessions here too, in any order.
    place.play(Script(prompt="MK_EARLIER", turns=(Turn("MK_SAID"),)))
    script = Script(prompt="MK_SECOND", turns=(Turn("MK_AGAIN"),))
    again = place.play(script, wish=Wish(resume=True))
    assert "MK_EARLIER" in told_at(again, 0), "the client does go on with the first session"
    assert "MK_RESUMED" in told_at(again, 0)


@pytest.mark.proves("claude-code", "StopFailure.fires")
def test_a_run_that_fails_is_seen(place: Arena, played: Session) -> None:
    def is_seen() -> bool:
        failed = place.play(Script(prompt="MK_FAILS", turns=(Turn(fail=500),)))
        assert failed.exit_code == 1
        return "StopFailure" in natives(place)

    # The client does not wait for this hook, and may take it along when it ends: it is run again.
    eventually(is_seen, seconds=120)


# ── compaction ──


def compact(place: Arena, *marks: str) -> Session:
    """Another compaction of the same session, with files that hooks look for."""
    for mark in marks:
        Path(place.room.root, mark).touch()
    try:
        return place.play(Script(prompt="/compact"), wish=Wish(resume=True))
    finally:
        for mark in marks:
            Path(place.room.root, mark).unlink()


def summaries(session: Session) -> list[str]:
    """The requests for a summary."""
    return [texts(each.body) for each in session.asked if each.side and "messages" in each.body]


@pytest.fixture(scope="module")
def stopped(place: Arena, played: Session) -> dict[str, Session]:
    """Compactions of one session that hooks were against."""
    place.play(Script(prompt="MK_TALK", turns=(Turn("MK_LONG_TALK"),)))
    return {mark: compact(place, mark) for mark in ("keep", "mine")}


@pytest.fixture(scope="module")
def compacted(place: Arena, stopped: dict[str, Session]) -> Session:
    return compact(place)


@pytest.fixture(scope="module")
def afterwards(place: Arena, compacted: Session) -> Session:
    script = Script(prompt="MK_AFTERWARDS", turns=(Turn("MK_YES"),))
    return place.play(script, wish=Wish(resume=True))


@pytest.mark.proves("claude-code", "PreCompact.deny", "compaction.deny")
def test_a_denied_compaction_asks_for_no_summary_and_the_next_one_does(
    stopped: dict[str, Session], compacted: Session
) -> None:
    assert summaries(stopped["keep"]) == []
    assert summaries(compacted) != []
    said = ended(stopped["keep"])["result"]
    assert "MK_KEEP" in said
    assert "validation failed" not in said


@pytest.mark.proves("claude-code", "PreCompact.summary=deny")
def test_a_compaction_whose_summary_cannot_be_given_does_not_happen(
    stopped: dict[str, Session], compacted: Session
) -> None:
    assert summaries(stopped["mine"]) == []
    assert summaries(compacted) != []
    assert "MK_MINE" in ended(stopped["mine"])["result"]


@pytest.mark.proves("claude-code", "PreCompact.halt=deny")
def test_a_halt_at_a_compaction_keeps_it_from_happening(place: Arena, afterwards: Session) -> None:
    halted = compact(place, "halt")
    assert summaries(halted) == []
    assert "MK_HALT" in ended(halted)["result"]


@pytest.mark.proves("claude-code", "PreCompact.fires", "PreCompact.context", "compaction.context")
def test_context_before_a_compaction_reaches_who_sums_up(place: Arena, compacted: Session) -> None:
    (summary,) = summaries(compacted)
    assert "MK_LONG_TALK" in summary
    assert "MK_SUMMARISE" in summary
    assert "PreCompact" in natives(place)


@pytest.mark.proves("claude-code", "PostCompact.fires", "PostCompact.context")
def test_context_after_a_compaction_reaches_the_model_with_the_next_prompt(
    place: Arena, afterwards: Session
) -> None:
    assert "MK_LONG_TALK" not in told_at(afterwards, 0), "it was compacted"
    assert "MK_COMPACTED" in told_at(afterwards, 0)
    assert "PostCompact" in natives(place)


# ── models ──


@pytest.fixture(scope="module")
def switched(claude: Program) -> Iterator[tuple[Arena, Session, dict[str, dict[str, object]]]]:
    answers: dict[str, dict[str, object]] = {}

    def speak(talk: Talk) -> None:
        talk.request(subtype="initialize")
        talk.say("MK_ONE")
        for model in ("claude-opus-4-6", "claude-haiku-4-5", "claude-opus-4-1", "claude-opus-4-5"):
            answers[model] = talk.request(subtype="set_model", model=model)
        talk.say("MK_TWO")

    with arena(Spoken(speak=speak), claude, config=HOOKS) as made:
        turns = (Turn("MK_FIRST"), Turn("MK_SECOND"))
        yield made, made.play(Script(prompt="MK_ONE", turns=turns)), answers


Switched = tuple[Arena, Session, dict[str, dict[str, object]]]


@pytest.mark.proves("claude-code", "PreModelSwitch.fires", "PreModelSwitch.deny")
def test_a_denied_model_is_not_switched_to_and_its_twin_is(switched: Switched) -> None:
    place, played, answers = switched
    assert answers["claude-opus-4-6"]["subtype"] == "success"
    assert answers["claude-haiku-4-5"]["subtype"] == "error"
    assert "MK_NOT_THAT" in str(answers["claude-haiku-4-5"]["error"])
    assert [each.body["model"] for each in conversation(played)] == [
        "claude-sonnet-4-5",
        "claude-opus-4-6",
    ]
    assert "PreModelSwitch" in natives(place)


@pytest.mark.proves("claude-code", "PreModelSwitch.ask")
def test_a_model_that_a_person_has_to_be_asked_about_is_not_switched_to_where_nobody_is(
    switched: Switched,
) -> None:
    _, played, answers = switched
    assert answers["claude-opus-4-1"]["subtype"] == "error"
    assert conversation(played)[-1].body["model"] == "claude-opus-4-6"


@pytest.mark.proves("claude-code", "PreModelSwitch.halt=deny")
def test_a_halt_at_a_switch_keeps_the_model(switched: Switched) -> None:
    _, played, answers = switched
    assert answers["claude-opus-4-5"]["subtype"] == "error"
    assert "MK_END" in str(answers["claude-opus-4-5"]["error"])
    assert conversation(played)[-1].body["model"] == "claude-opus-4-6"


@pytest.mark.proves("claude-code", "PreModelSwitch.notice", "PostModelSwitch.notice")
def test_notices_at_a_switch_are_shown_to_the_person(switched: Switched) -> None:
    _, played, _ = switched
    assert "MK_GOING" in shown(played)
    assert "MK_GONE" in shown(played)
    assert "MK_GOING" not in played.sent
    assert "MK_GONE" not in played.sent


@pytest.mark.proves("claude-code", "PostModelSwitch.fires", "PostModelSwitch.context")
def test_context_after_a_switch_reaches_the_new_model(switched: Switched) -> None:
    place, played, _ = switched
    assert "MK_SWITCHED" not in told_at(played, 0)
    assert "MK_SWITCHED" in told_at(played, -1)
    assert "PostModelSwitch" in natives(place)
