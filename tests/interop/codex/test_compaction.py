"""What hooks do round a compaction of Codex, asked for or not, and when a person interrupts it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from hookline.lab.clients._codex_talk import Talk
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, config, conversation, rule, texts, witness
from interop.codex.ground import Spoken, commands, guarded, halting, notice, speak
from interop.codex.telling import shown

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

PRE, POST = "pre_compact", "post_compact"

FULL = Wish(extra=("-c", "model_auto_compact_token_limit=1000"))
"""So few tokens that every answer of the model fills them."""

SUMMARY = "Another language model started to solve this problem"
"""How the client begins what a compaction leaves of a conversation."""


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    with guarded(codex) as made:
        yield made


def compacted(place: Arena, *hooks: Mapping[str, Any]) -> Spoken:
    """A conversation that is compacted on demand between two prompts, with these hooks."""
    place.write_config(config(*hooks).replace("{root}", place.room.root))

    def talk(it: Talk) -> Sequence[str]:
        return [it.say("MK_FIRST"), it.compact(), it.say("MK_SECOND")]

    script = Script(prompt="MK_FIRST", turns=(Turn(do=(Shell("echo MK_HISTORY"),)), Turn("One.")))
    return speak(place, script, talk)


def forgot(session: Session) -> bool:
    """Whether the last request has a summary in the place of what was said."""
    last = texts(conversation(session)[-1].body["input"])
    assert "MK_SECOND" in last
    assert (SUMMARY in last) != ("echo MK_HISTORY" in last)
    return SUMMARY in last


def was_asked_for_a_summary(session: Session) -> bool:
    return any("CONTEXT CHECKPOINT" in texts(each.body) for each in session.asked if each.side)


@pytest.fixture(scope="module")
def noted(place: Arena) -> Spoken:
    return compacted(
        place,
        witness(PRE, POST),
        rule("before", PRE, run=notice("MK_BEFORE")),
        rule("told", PRE, context="MK_TOLD"),
        rule("other", PRE, rewrite={"summary": "MK_SUMMARY"}),
        rule("after", POST, run=notice("MK_AFTER")),
        rule("told after", POST, context="MK_LATER"),
    )


@pytest.fixture(scope="module")
def events(place: Arena, noted: Spoken) -> list[tuple[str, str]]:
    # What a hook has rewritten is judged again, so the witness sees that event twice.
    seen = {each["id"]: (each["native_event"], each["trigger"]) for each in place.witnessed()}
    return list(seen.values())


@pytest.mark.proves("codex", "PreCompact.fires", "PostCompact.fires", "compaction.manual")
def test_a_compaction_that_is_asked_for_fires_before_and_after(
    noted: Spoken, events: list[tuple[str, str]]
) -> None:
    assert forgot(noted.session)
    assert events == [("PreCompact", "manual"), ("PostCompact", "manual")]


@pytest.mark.proves("codex", "PreCompact.notice", "PostCompact.notice")
def test_notices_round_a_compaction_are_shown_to_the_person(noted: Spoken) -> None:
    assert "MK_BEFORE" in shown(noted.talk, "preCompact")
    assert "MK_AFTER" in shown(noted.talk, "postCompact")


@pytest.mark.proves("codex", "PreCompact.context=notice", "PostCompact.context=notice")
def test_context_round_a_compaction_is_shown_to_the_person(noted: Spoken) -> None:
    assert "MK_TOLD" in shown(noted.talk, "preCompact")
    assert "MK_LATER" in shown(noted.talk, "postCompact")
    assert "MK_TOLD" not in noted.session.sent
    assert "MK_LATER" not in noted.session.sent


@pytest.mark.proves("codex", "PreCompact.summary=none")
def test_a_summary_cannot_be_supplied_and_the_client_makes_its_own(noted: Spoken) -> None:
    assert was_asked_for_a_summary(noted.session)
    assert forgot(noted.session)
    assert "MK_SUMMARY" not in noted.session.sent


@pytest.mark.proves("codex", "PreCompact.deny=halt")
def test_a_denied_compaction_is_not_made_and_nothing_is_forgotten(
    place: Arena, noted: Spoken
) -> None:
    assert forgot(noted.session), "without the deny it is made"
    denied = compacted(place, rule("no", PRE, deny="MK_NO"))
    assert not was_asked_for_a_summary(denied.session)
    assert not forgot(denied.session)


@pytest.mark.proves("codex", "PreCompact.halt")
def test_a_halt_before_a_compaction_ends_it_too(place: Arena, noted: Spoken) -> None:
    assert forgot(noted.session), "without the halt it is made"
    halted = compacted(place, rule("halt", PRE, run=halting("MK_HALT")))
    assert not was_asked_for_a_summary(halted.session)
    assert not forgot(halted.session)


# ── by itself, when the context is full ──


def filled(place: Arena, *hooks: Mapping[str, Any]) -> Session:
    """A session whose context is full after its first command, with these hooks."""
    place.write_config(config(*hooks))
    return place.play(commands("touch first"), wish=FULL)


@pytest.fixture(scope="module")
def free(place: Arena, noted: Spoken, events: list[tuple[str, str]]) -> Session:
    return filled(
        place, rule("word", "session_start", match={"source": "compact"}, context="MK_ON")
    )


@pytest.mark.proves("codex", "compaction.auto", "compaction.context")
def test_after_a_compaction_by_itself_context_reaches_the_model_again(free: Session) -> None:
    assert free.exit_code == 0
    assert was_asked_for_a_summary(free)
    assert len(conversation(free)) == 2
    assert "MK_ON" in free.sent
    assert "MK_ON" not in texts(conversation(free)[0].body["input"])


@pytest.mark.proves("codex", "PreCompact.deny=halt", "compaction.deny-ends-the-run")
def test_where_the_context_is_full_a_denied_compaction_ends_the_run(
    place: Arena, free: Session
) -> None:
    denied = filled(place, rule("no", PRE, deny="MK_NO"))
    assert denied.exit_code == 1
    assert not was_asked_for_a_summary(denied)
    assert len(conversation(denied)) == 1 < len(conversation(free))


@pytest.mark.proves("codex", "PostCompact.halt")
def test_a_halt_after_a_compaction_ends_the_run(place: Arena, free: Session) -> None:
    halted = filled(place, rule("halt", POST, run=halting("MK_HALT")))
    assert was_asked_for_a_summary(halted)
    assert halted.exit_code == 1
    assert len(conversation(halted)) == 1 < len(conversation(free))


# ── a person interrupts ──

SLOW = Script(prompt="MK_SLOW", turns=(Turn(do=(Shell("echo MK_HISTORY; exec sleep 300"),)),))
INTERRUPTED = {"native": "Interrupt"}


def interrupted(it: Talk) -> str:
    """A turn that is stopped in the middle of its command; how it ended."""
    turn = it.start("MK_SLOW")
    it.until("item/started", lambda told: told["item"]["type"] == "commandExecution")
    it.interrupt(turn)
    ended = it.finish()
    if not any(run.event == "interrupt" for run in it.hook_runs):
        it.until("hook/completed", lambda told: told["run"]["eventName"] == "interrupt")
    return ended


def then_compacted(place: Arena, program: str) -> Spoken:
    """An interruption with a hook at it, a compaction after it, and another prompt."""
    place.write_config(config(rule("says so", "other", match=INTERRUPTED, run=program)))
    return speak(place, SLOW, lambda it: [interrupted(it), it.compact(), it.say("MK_SECOND")])


@pytest.fixture(scope="module")
def noticed(place: Arena, free: Session) -> Spoken:
    return then_compacted(place, notice("MK_INTERRUPTED"))


@pytest.mark.proves("codex", "Interrupt.fires", "Interrupt.notice")
def test_an_interruption_fires_and_its_notice_is_shown(noticed: Spoken) -> None:
    assert noticed.ends[0] == "interrupted"
    assert "MK_INTERRUPTED" in shown(noticed.talk, "interrupt")
    assert "MK_INTERRUPTED" not in noticed.session.sent


# ── a halt where nothing is left to end: the next gate is that of a compaction ──


@pytest.mark.proves("codex", "Interrupt.halt=latch")
def test_after_a_halt_at_an_interruption_nothing_is_compacted_before_the_next_prompt(
    place: Arena, noticed: Spoken
) -> None:
    assert forgot(noticed.session), "without the halt it is made"
    halted = then_compacted(place, halting("MK_HALT"))
    assert halted.ends[-1] == "completed"
    assert not was_asked_for_a_summary(halted.session)
    assert not forgot(halted.session)


def taken_up_again(place: Arena, *hooks: Mapping[str, Any]) -> Session:
    """A conversation that ends, and is compacted once it is taken up again."""
    place.write_config(config(*hooks))
    threads: list[str] = []

    def first(it: Talk) -> Sequence[str]:
        threads.append(it.begin())
        return [it.say("MK_FIRST")]

    def again(it: Talk) -> Sequence[str]:
        it.begin(resume=threads[0])
        return [it.compact(), it.say("MK_SECOND")]

    speak(place, commands("echo MK_HISTORY", prompt="MK_FIRST"), first)
    return speak(place, Script(prompt="MK_SECOND"), again).session


@pytest.mark.proves("codex", "SessionEnd.halt=latch", "resume.halt")
def test_a_halt_at_the_end_of_a_session_holds_when_it_is_taken_up_again(place: Arena) -> None:
    assert forgot(taken_up_again(place)), "without the halt it is made"
    halted = taken_up_again(place, rule("halt", "session_end", run=halting("MK_HALT")))
    assert not was_asked_for_a_summary(halted)
    assert not forgot(halted)
