"""Where a session and a prompt begin and end in Codex: what hooks add there, and what they stop."""

from collections.abc import Iterator, Sequence

import pytest

from hookline.lab.clients._codex_talk import Talk
from hookline.lab.ports import Program, Session, Wish
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, config, conversation, rule, witness
from interop.codex.ground import Spoken, commands, guarded, halting, notice, speak
from interop.codex.telling import heard, shown, told

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

START, PROMPT, END = "session_start", "user_prompt_submit", "session_end"
BEFORE, AFTER = "before_llm_call", "after_llm_call"


def when(word: str, answer: str) -> str:
    """A program that gives this answer to events with the word in them."""
    return f"if grep -q {word}; then {answer}; fi"


DENYING = 'echo \'{"verdict": "deny", "reason": "MK_HELD"}\''
REWRITING = 'echo \'{"rewrite": {"prompt": "MK_MILDER"}}\''

HOOKS = config(
    witness(START, PROMPT, BEFORE, AFTER, "stop", END),
    rule("welcome", START, context="MK_WELCOME"),
    rule("hello", START, run=notice("MK_HELLO")),
    rule("back", START, match={"source": "resume"}, context="MK_BACK"),
    rule("hint", PROMPT, run=when("MK_PLAIN", "echo MK_HINT")),
    rule("note", PROMPT, run=when("MK_PLAIN", notice("MK_NOTE"))),
    rule("held", PROMPT, run=when("MK_FORBIDDEN", DENYING)),
    rule("milder", PROMPT, run=when("MK_STRONG", REWRITING)),
    rule("enough", PROMPT, run=when("MK_ENOUGH", halting("MK_HALT"))),
)


@pytest.fixture(scope="module")
def place(codex: Program) -> Iterator[Arena]:
    with guarded(codex, config=HOOKS) as made:
        yield made


@pytest.fixture(scope="module")
def spoken(place: Arena) -> Spoken:
    """One conversation, in which every second prompt is one that hooks mind."""

    def talk(it: Talk) -> Sequence[str]:
        prompts = ("MK_PLAIN", "MK_FORBIDDEN", "MK_STRONG", "MK_ENOUGH", "MK_LAST")
        return [it.say(each) for each in prompts]

    turns = (Turn(do=(Shell("touch first"),)), Turn("MK_SAID"), Turn(do=(Shell("touch last"),)))
    return speak(place, Script(prompt="MK_PLAIN", turns=turns), talk)


@pytest.fixture(scope="module")
def events(place: Arena, spoken: Spoken) -> list[str]:
    return place.natives()


@pytest.fixture(scope="module")
def resumed(place: Arena, events: list[str]) -> Session:
    return place.play(Script(prompt="MK_AGAIN"), wish=Wish(resume=True))


@pytest.mark.proves("codex", "SessionStart.fires", "SessionStart.context")
def test_context_at_the_start_is_in_the_first_request(spoken: Spoken) -> None:
    assert "MK_WELCOME" in told(spoken.session, 0)


@pytest.mark.proves("codex", "SessionStart.notice")
def test_a_notice_at_the_start_is_shown_to_the_person(spoken: Spoken) -> None:
    assert "MK_HELLO" in shown(spoken.talk, "sessionStart")
    assert "MK_HELLO" not in spoken.session.sent


@pytest.mark.proves("codex", "UserPromptSubmit.fires", "UserPromptSubmit.context")
def test_context_for_a_prompt_reaches_the_model_with_it(place: Arena, spoken: Spoken) -> None:
    assert place.ran("first")
    assert "MK_HINT" in told(spoken.session, 0)


@pytest.mark.proves("codex", "UserPromptSubmit.notice")
def test_a_notice_at_a_prompt_is_shown_to_the_person(spoken: Spoken) -> None:
    assert "MK_NOTE" in shown(spoken.talk, "userPromptSubmit")
    assert "MK_NOTE" not in spoken.session.sent


@pytest.mark.proves("codex", "UserPromptSubmit.deny")
def test_a_denied_prompt_never_reaches_the_model_and_the_next_one_does(spoken: Spoken) -> None:
    assert "MK_LAST" in spoken.session.sent
    assert "MK_FORBIDDEN" not in spoken.session.sent


@pytest.mark.proves("codex", "UserPromptSubmit.prompt=deny")
def test_a_prompt_that_a_hook_wants_otherwise_is_held_back_instead(spoken: Spoken) -> None:
    assert "MK_LAST" in spoken.session.sent
    assert "MK_STRONG" not in spoken.session.sent
    words = [each.words for each in spoken.talk.hook_runs if each.status == "blocked"]
    assert any("MK_MILDER" in each for each in words), "the person sees what was wanted"


@pytest.mark.proves("codex", "UserPromptSubmit.halt")
def test_a_halt_at_a_prompt_asks_no_model_and_the_next_prompt_is_free(
    place: Arena, spoken: Spoken
) -> None:
    assert "MK_ENOUGH" not in spoken.session.sent
    assert "stopped" in [each.status for each in spoken.talk.hook_runs]
    assert place.ran("last")
    assert len(conversation(spoken.session)) == 4, "two for each of the two prompts that went on"


@pytest.mark.proves("codex", "PreModelRequest.fires", "PostModelRequest.fires")
def test_every_request_to_the_model_fires_before_and_after(
    spoken: Spoken, events: list[str]
) -> None:
    assert events.count("PreModelRequest") == len(conversation(spoken.session))
    assert events.count("PostModelRequest") == len(conversation(spoken.session))


@pytest.mark.proves("codex", "SessionEnd.fires", "Stop.fires")
def test_the_end_of_a_turn_and_of_the_session_fire(events: list[str]) -> None:
    assert events.count("Stop") == 2
    assert events[-1] == "SessionEnd"


@pytest.mark.proves("codex", "resume.context")
def test_a_session_that_goes_on_is_known_as_one(spoken: Spoken, resumed: Session) -> None:
    assert "MK_PLAIN" in resumed.sent
    assert "MK_BACK" in resumed.sent
    assert "MK_BACK" not in spoken.session.sent


ENDING = config(rule("no session", START, run=halting("MK_CLOSED")))


@pytest.mark.proves("codex", "SessionStart.halt")
def test_a_halt_at_the_start_asks_no_model_at_all(codex: Program) -> None:
    with guarded(codex, config=ENDING) as closed:
        played = closed.play(commands("touch never"))
        assert conversation(played) == []
        assert played.changed == {}
        closed.write_config(config())
        assert set(closed.play(commands("touch ever")).changed) == {"ever"}


def silent(event: str, answer: str) -> dict[str, object]:
    return dict(rule(f"{event} says", event, run=f"echo '{answer}'"))


IGNORED = config(
    silent(BEFORE, '{"context": ["MK_IGNORED"], "notice": ["MK_IGNORED"]}'),
    silent(AFTER, '{"notice": ["MK_IGNORED"]}'),
    silent(END, '{"notice": ["MK_IGNORED"]}'),
    rule(
        "other words",
        BEFORE,
        run='echo \'{"rewrite": {"messages": [{"role": "user", "content": "MK_IGNORED"}]}}\'',
    ),
    rule("variables", START, rewrite={"env": {"MK_NAME": "MK_IGNORED"}}),
    rule("no call", BEFORE, run='echo \'{"verdict": "deny", "reason": "MK_IGNORED"}\''),
    rule("no answer", AFTER, run='echo \'{"verdict": "deny", "reason": "MK_IGNORED"}\''),
)


@pytest.mark.proves(
    "codex",
    "PreModelRequest.deny=none",
    "PreModelRequest.context=none",
    "PreModelRequest.notice=none",
    "PreModelRequest.messages=none",
    "PostModelRequest.deny=none",
    "PostModelRequest.notice=none",
    "SessionEnd.notice=none",
    "SessionStart.env=none",
)
def test_what_cannot_be_said_round_a_request_to_the_model_changes_nothing(codex: Program) -> None:
    with guarded(codex, config=IGNORED) as place:
        spoken = speak(place, commands("touch anyway", "printenv MK_NAME"))
    assert set(spoken.session.changed) == {"anyway"}
    assert "exited with code 1" in heard(spoken.session, "printenv MK_NAME")
    assert "MK_IGNORED" not in spoken.session.sent
    assert "MK_IGNORED" not in spoken.session.stdout.decode()
